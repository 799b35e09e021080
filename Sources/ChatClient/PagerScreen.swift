import ChatModel
import Control

/// A window on the transcript's rows, without its terminal: lines in, what is seen out.
struct PagerScreen {
    private struct Row {
        var text: String
        /// Index of its line among the models.
        var model: Int
    }

    static let hint = "space: older   b: newer   q: quit"

    private var rendering: LineRendering
    private var models: [LineView] = []
    /// The newest first.
    private var rows: [Row] = []
    /// Rows below the window.
    private var scroll = 0
    /// Rows that were scrolled beyond what is loaded, to be made up for when it is.
    private var owed = 0
    private var columns: Int
    private var height: Int
    private var status = ""

    /// - Parameters:
    ///   - rendering: Knows whose names have to be told apart.
    ///   - columns: The terminal's width.
    ///   - rows: The terminal's height.
    init(_ rendering: LineRendering, columns: Int, rows: Int) {
        self.rendering = rendering
        self.columns = columns
        height = rows
    }

    /// Leaves one row to the status.
    private var window: Int { max(1, height - 1) }
    private var furthest: Int { max(0, rows.count - window) }

    /// Whether everything is seen at once.
    var fits: Bool { rows.count <= window }

    /// The oldest line that is seen, as an index into the models; 0 if there is none.
    var oldestSeen: Int { rows.isEmpty ? 0 : rows[min(scroll + window, rows.count) - 1].model }

    /// All that is seen, from above, the status last.
    var seen: [String] {
        let shown = rows[scroll..<min(scroll + window, rows.count)].map(\.text)
        return shown.reversed() + [DisplayWidth.truncated(status, to: columns - 1)]
    }

    mutating func take(_ state: LogPaging.State) {
        for model in state.models.dropFirst(models.count) {
            models.append(model)
            lay(model)
        }
        move(by: 0)
        if state.nextPageOffset == nil { owed = 0 }
        status =
            if let failure = state.failure { "* \(failure.message)" } else if state.fetchOffset != nil {
                "loading..."
            } else if state.nextPageOffset == nil, scroll == furthest { "the beginning   b: newer   q: quit" } else {
                Self.hint
            }
    }

    mutating func resize(columns: Int, rows height: Int) {
        (self.columns, self.height) = (columns, height)
        rows = []
        for (index, model) in models.enumerated() { lay(model, as: index) }
        scroll = min(scroll, furthest)
    }

    /// - Returns: Whether the key means to leave.
    mutating func press(_ key: Key) -> Bool {
        switch key {
        case .interrupt, .endOfInput: return true
        case .text(let keys): return keys.contains { press($0) }
        case .up: move(by: 1)
        case .down, .enter: move(by: -1)
        case .pageUp: move(by: window)
        case .pageDown: move(by: -window)
        case .home: move(by: furthest)
        case .end: move(by: -scroll)
        default: break
        }
        return false
    }

    private mutating func press(_ key: Character) -> Bool {
        switch key {
        case "q", "Q": return true
        case " ", "u": move(by: window)
        case "b", "d": move(by: -window)
        case "k": move(by: 1)
        case "j": move(by: -1)
        case "G": move(by: -scroll)
        default: break
        }
        return false
    }

    private mutating func move(by rows: Int) {
        let wanted = max(0, scroll + (rows < 0 ? 0 : owed) + rows)
        scroll = min(wanted, furthest)
        owed = wanted - scroll
    }

    private mutating func lay(_ line: LineView, as index: Int? = nil) {
        let model = index ?? models.count - 1
        let texts = rendering.terminalLines(line).flatMap { wrapped($0) }
        rows += texts.reversed().map { Row(text: $0, model: model) }
    }

    /// One column stays free, so that the terminal never wraps.
    private func wrapped(_ line: String) -> [String] {
        let width = max(4, columns - 1)
        var rows = [""]
        var used = 0
        for cluster in line {
            let columns = DisplayWidth.columns(of: cluster)
            if used + columns > width {
                rows.append("")
                used = 0
            }
            rows[rows.count - 1].append(cluster)
            used += columns
        }
        return rows
    }
}

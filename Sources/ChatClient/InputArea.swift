import ChatModel

/// The edited line broken into rows of a terminal, and where its cursor is; pure.
struct InputArea: Equatable {
    static let prompt = "> "

    var rows: [String]
    var cursorRow: Int
    /// Columns from the left edge.
    var cursorColumn: Int

    /// - Parameters:
    ///   - buffer: What is being typed.
    ///   - columns: The terminal's width. One column stays free, so that no row ever wraps.
    ///   - height: How many rows there is room for; the rows around the cursor are shown.
    init(_ buffer: EditBuffer, columns: Int, height: Int) {
        rows = [Self.prompt]
        cursorRow = 0
        cursorColumn = DisplayWidth.columns(of: Self.prompt)
        lay(buffer, width: max(4, columns - 1))
        crop(to: max(1, height))
    }

    private mutating func lay(_ buffer: EditBuffer, width: Int) {
        var used = cursorColumn
        for (index, cluster) in buffer.clusters.enumerated() {
            let shown = Self.shown(cluster)
            let columns = DisplayWidth.columns(of: shown)
            if used + columns > width {
                rows.append("")
                used = 0
            }
            if index == buffer.cursor { (cursorRow, cursorColumn) = (rows.count - 1, used) }
            rows[rows.count - 1] += shown
            used += columns
        }
        if buffer.cursor == buffer.clusters.count { (cursorRow, cursorColumn) = (rows.count - 1, used) }
    }

    private mutating func crop(to height: Int) {
        guard rows.count > height else { return }
        let first = min(max(0, cursorRow - height + 1), rows.count - height)
        rows = Array(rows[first..<first + height])
        cursorRow -= first
    }

    private static func shown(_ cluster: Character) -> String {
        switch cluster {
        case "\n": "⏎"
        case "\t": LineRendering.tab
        default: SafeText.line(String(cluster))
        }
    }
}

/// What stands below the transcript: bars, then the edited line.
struct BottomArea: Equatable {
    var bars: [String]
    var input: InputArea

    var rows: [String] { bars + input.rows }
    var cursorRow: Int { bars.count + input.cursorRow }
}

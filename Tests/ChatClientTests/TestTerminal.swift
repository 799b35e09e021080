import ChatModel

/// Enough of a VT100 to see what a user would see: text with wrapping, a few cursor moves, erasing, scrolling.
struct TestTerminal {
    let columns: Int
    let rows: Int
    private(set) var screen: [[Character?]]
    private(set) var scrollback: [String] = []
    private(set) var row = 0
    private(set) var column = 0
    /// What it was asked that it doesn't know.
    private(set) var unknown: [String] = []

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        screen = Array(repeating: Array(repeating: nil, count: columns), count: rows)
    }

    var lines: [String] { screen.map(Self.text) }

    private static func text(_ cells: [Character?]) -> String {
        // The right half of a wide character holds a NUL.
        let text = String(cells.compactMap { $0 == "\0" ? nil : ($0 ?? " ") })
        return String(text.reversed().drop { $0 == " " }.reversed())
    }

    mutating func feed(_ output: String) {
        var scalars = Array(output.unicodeScalars)[...]
        while let scalar = scalars.first {
            switch scalar {
            case "\u{1b}": escape(&scalars)
            case "\r":
                column = 0
                scalars.removeFirst()
            case "\n":
                lineFeed()
                scalars.removeFirst()
            default:
                var text = String.UnicodeScalarView()
                while let next = scalars.first, next.value >= 0x20 {
                    text.append(next)
                    scalars.removeFirst()
                }
                if text.isEmpty {
                    unknown.append("\(scalars.removeFirst())")
                } else {
                    for cluster in String(text) { put(cluster) }
                }
            }
        }
    }

    private mutating func put(_ cluster: Character) {
        let width = DisplayWidth.columns(of: cluster)
        if column + width > columns {
            column = 0
            lineFeed()
        }
        screen[row][column] = cluster
        if width == 2 { screen[row][column + 1] = "\0" }
        column += width
    }

    private mutating func lineFeed() {
        if row < rows - 1 {
            row += 1
        } else {
            scrollback.append(Self.text(screen.removeFirst()))
            screen.append(Array(repeating: nil, count: columns))
        }
    }

    private mutating func escape(_ scalars: inout ArraySlice<Unicode.Scalar>) {
        var sequence = ""
        while let scalar = scalars.popFirst() {
            sequence.unicodeScalars.append(scalar)
            if sequence.unicodeScalars.count > 2, (0x40...0x7E).contains(scalar.value) { break }
        }
        let number = Int(sequence.dropFirst(2).dropLast()) ?? 1
        switch sequence.last {
        case "A": row = max(0, row - number)
        case "C": column = min(columns - 1, column + number)
        case "J" where sequence == "\u{1b}[J": eraseBelow()
        case "h", "l": break
        default: unknown.append(sequence)
        }
    }

    private mutating func eraseBelow() {
        for index in column..<columns { screen[row][index] = nil }
        for below in (row + 1)..<max(rows, row + 1) { screen[below] = Array(repeating: nil, count: columns) }
    }
}

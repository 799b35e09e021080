import ChatModel

/// Turns what is to be seen into bytes for a terminal; pure, it only remembers what it drew.
///
/// New lines of the transcript are printed where the bottom area was, and the bottom area is drawn once below them.
struct ScreenPainter {
    static let start: StaticString = "\u{1b}[?2004h"
    /// Paste mode off, cursor shown.
    static let finish: StaticString = "\u{1b}[?2004l\u{1b}[?25h"

    private var drawn: BottomArea?
    private var columns = 0

    /// - Returns: Nothing when nothing changed.
    mutating func paint(_ lines: [String], _ bottom: BottomArea, columns: Int) -> String {
        if lines.isEmpty, bottom == drawn, columns == self.columns { return "" }
        var output = erase(columns: columns)
        for line in lines { output += line + "\r\n" }
        output += bottom.rows.joined(separator: "\r\n") + "\r"
        let up = bottom.rows.count - 1 - bottom.cursorRow
        if up > 0 { output += "\u{1b}[\(up)A" }
        if bottom.input.cursorColumn > 0 { output += "\u{1b}[\(bottom.input.cursorColumn)C" }
        drawn = bottom
        self.columns = columns
        return output
    }

    /// Takes the bottom area away and leaves the cursor where it began.
    mutating func erase(columns: Int) -> String {
        guard let drawn else { return "" }
        self.drawn = nil
        // A narrower terminal has wrapped the rows above the cursor meanwhile.
        let above = drawn.rows.prefix(drawn.cursorRow).reduce(0) { sum, row in
            sum + max(1, (DisplayWidth.columns(of: row) + columns - 1) / max(1, columns))
        }
        let within = drawn.input.cursorColumn / max(1, columns)
        let up = above + within
        return (up > 0 ? "\u{1b}[\(up)A" : "") + "\r\u{1b}[J"
    }
}

extension OptionTable {
    /// The first line of the help, such as `usage: chat send [OPTIONS] TEXT...`.
    public var usage: String {
        "usage: " + [command, "[OPTIONS]", operands].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// All that `--help` prints, ending in a line end.
    public var help: String {
        var sections = [[usage, summary + "."]]
        if !subcommands.isEmpty {
            sections.append(["Commands:"] + Self.columns(subcommands.map { ($0.synopsis, $0.summary) }))
        }
        sections.append(["Options:"] + Self.columns(options.map { ($0.synopsis, $0.help) }))
        sections += notes.map { [$0] }
        return sections.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var synopsis: String { operands.isEmpty ? word : "\(word) \(operands)" }

    private static func columns(_ rows: [(left: String, right: String)]) -> [String] {
        let width = rows.map(\.left.count).max() ?? 0
        return rows.map { "  \($0.left)\(String(repeating: " ", count: width - $0.left.count))  \($0.right)" }
    }
}

extension CommandOption {
    fileprivate var synopsis: String {
        let short = letter.map { "-\($0), " } ?? ""
        return short + "--\(name)" + (value.map { " \($0)" } ?? "")
    }
}

/// One option of a command: a flag, or a name with a value.
public struct CommandOption: Sendable, Hashable {
    /// Without the hyphens.
    public let name: String
    /// A one-letter form, such as `n` for `-n`.
    public let letter: Character?
    /// What stands for the value in help, such as `DIR`; `nil` for a flag.
    public let value: String?
    public let isRepeatable: Bool
    public let help: String

    /// - Parameters:
    ///   - name: Without the hyphens.
    ///   - letter: A one-letter form.
    ///   - value: What stands for the value in help; `nil` makes a flag.
    ///   - isRepeatable: Whether it may be given more than once; else the last one counts.
    ///   - help: One sentence without a full stop.
    public init(
        _ name: String, letter: Character? = nil, value: String? = nil, isRepeatable: Bool = false, help: String
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.isRepeatable = isRepeatable
        self.help = help
    }

    public static let help = CommandOption("help", help: "Print this help")
    public static let version = CommandOption("version", help: "Print the version")
}

/// What a command takes: its help and its parser both come from here.
public struct OptionTable: Sendable {
    /// As typed, such as `chat send`.
    public let command: String
    /// One sentence without a full stop.
    public let summary: String
    /// What follows the options in the usage line, such as `TEXT...`.
    public let operands: String
    /// Paragraphs after the options.
    public let notes: [String]
    public let options: [CommandOption]
    public let subcommands: [OptionTable]

    /// `--help` and `--version` are added to the options.
    public init(
        _ command: String, summary: String, operands: String = "", options: [CommandOption] = [],
        notes: [String] = [], subcommands: [OptionTable] = []
    ) {
        self.command = command
        self.summary = summary
        self.operands = operands
        self.notes = notes
        self.options = options + [.help, .version]
        self.subcommands = subcommands
    }

    /// The last word of ``command``.
    public var word: String { command.split(separator: " ").last.map(String.init) ?? command }

    /// An error that points to this command's help.
    public func error(_ message: String) -> UsageError { UsageError(message, help: "\(command) --help") }

    /// Sorts words into options and operands.
    ///
    /// Parsing stops at the first operand (`-` is one) or after `--`; what follows are operands as they stand.
    /// Both `--name=value` and `--name value` work, and `-n value` and `-nvalue`.
    public func parse(_ arguments: some Sequence<String>) throws(UsageError) -> ParsedArguments {
        var parsed = ParsedArguments()
        var rest = Array(arguments)[...]
        while let word = rest.first, word.hasPrefix("-"), word != "-" {
            rest = rest.dropFirst()
            if word == "--" { break }
            try take(word, &rest, into: &parsed)
        }
        parsed.operands = Array(rest)
        return parsed
    }

    private func take(
        _ word: String, _ rest: inout ArraySlice<String>, into parsed: inout ParsedArguments
    ) throws(UsageError) {
        let (option, attached) = try find(word)
        guard option.value != nil else {
            if attached != nil { throw error("option '--\(option.name)' takes no value") }
            return parsed.add(option, "")
        }
        if let attached { return parsed.add(option, attached) }
        guard let value = rest.popFirst() else { throw error("option '\(word)' needs a value") }
        parsed.add(option, value)
    }

    private func find(_ word: String) throws(UsageError) -> (option: CommandOption, attached: String?) {
        if word.hasPrefix("--") {
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let option = options.first(where: { $0.name == parts[0] }) {
                return (option, parts.count > 1 ? String(parts[1]) : nil)
            }
            throw error("unknown option '--\(visible(parts[0]))'")
        }
        let letter = word[word.index(after: word.startIndex)]
        guard let option = options.first(where: { $0.letter == letter }) else {
            throw error("unknown option '\(visible(word))'")
        }
        let attached = word.dropFirst(2)
        return (option, attached.isEmpty ? nil : String(attached))
    }
}

/// Options and operands of one command line.
public struct ParsedArguments: Sendable, Equatable {
    private var given: [String: [String]] = [:]
    public var operands: [String] = []

    mutating func add(_ option: CommandOption, _ value: String) { given[option.name, default: []].append(value) }

    /// Whether the option was given.
    public func has(_ option: CommandOption) -> Bool { given[option.name] != nil }
    /// The last value given.
    public subscript(_ option: CommandOption) -> String? { given[option.name]?.last }
    /// All values given, in order.
    public func all(_ option: CommandOption) -> [String] { given[option.name] ?? [] }

    /// Adds what another command line says; its values are the later ones.
    public func merging(_ other: ParsedArguments) -> ParsedArguments {
        var merged = self
        merged.given.merge(other.given) { $0 + $1 }
        merged.operands = other.operands
        return merged
    }
}

/// A word of the user's own for an error line: control characters become `?`.
func visible(_ word: some StringProtocol) -> String {
    String(
        String.UnicodeScalarView(
            word.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: "?"
                default: scalar
                }
            }))
}

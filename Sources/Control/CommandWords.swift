/// The process's arguments as it got them.
///
/// `CommandLine.arguments` repairs what isn't UTF-8 in silence.
public enum CommandWords {
    /// - Returns: The arguments without the program's name.
    /// - Throws: With ``ExitStatus/badData`` when one isn't UTF-8.
    public static func ofProcess() throws(CommandFailure) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[index] else { break }
            guard let text = String(validatingCString: word) else {
                throw CommandFailure(.badData, "argument \(index) is not UTF-8")
            }
            words.append(text)
        }
        return words
    }
}

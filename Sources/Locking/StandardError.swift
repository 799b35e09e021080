import Glibc

/// Writes a line to standard error, at once and in one piece.
public func writeToStandardError(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

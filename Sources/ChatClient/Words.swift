import ChatModel

/// A word of the user's own for an error line.
func safeWord(_ word: String) -> String { DisplayWidth.truncated(SafeText.line(word), to: 60) }

/// A word as it has to be typed in a shell.
func shellQuoted(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy { scalar in
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-_./:,+@%".unicodeScalars.contains(scalar)
    }
    let safe = SafeText.line(word)
    return plain && !word.isEmpty
        ? safe
        : "'"
            + safe.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
}

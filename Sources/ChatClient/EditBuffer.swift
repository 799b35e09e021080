/// The line being typed: a pure buffer over grapheme clusters with a cursor between two of them.
struct EditBuffer: Equatable {
    private(set) var clusters: [Character] = []
    /// From 0, before the first cluster, to their number.
    private(set) var cursor = 0

    init(_ text: String = "") {
        clusters = Array(text)
        cursor = clusters.count
    }

    var text: String { String(clusters) }
    var isEmpty: Bool { clusters.isEmpty }

    /// Puts text in at the cursor; a mark joins the cluster before it.
    mutating func insert(_ text: String) {
        let before = String(clusters[..<cursor]) + text
        let after = String(clusters[cursor...])
        clusters = Array(before + after)
        cursor = min(before.count, clusters.count)
    }

    mutating func moveLeft() { cursor = max(0, cursor - 1) }
    mutating func moveRight() { cursor = min(clusters.count, cursor + 1) }
    mutating func moveHome() { cursor = 0 }
    mutating func moveEnd() { cursor = clusters.count }
    mutating func moveWordLeft() { cursor = wordStart() }

    mutating func moveWordRight() {
        while cursor < clusters.count, clusters[cursor].isWhitespace { cursor += 1 }
        while cursor < clusters.count, !clusters[cursor].isWhitespace { cursor += 1 }
    }

    mutating func backspace() { if cursor > 0 { remove(cursor - 1..<cursor) } }
    mutating func delete() { if cursor < clusters.count { remove(cursor..<cursor + 1) } }
    mutating func killToEnd() { remove(cursor..<clusters.count) }
    mutating func killToStart() { remove(0..<cursor) }
    mutating func killWord() { remove(wordStart()..<cursor) }

    private func wordStart() -> Int {
        var start = cursor
        while start > 0, clusters[start - 1].isWhitespace { start -= 1 }
        while start > 0, !clusters[start - 1].isWhitespace { start -= 1 }
        return start
    }

    private mutating func remove(_ range: Range<Int>) {
        let before = String(clusters[..<range.lowerBound])
        clusters = Array(before + String(clusters[range.upperBound...]))  // what meets may join
        cursor = min(before.count, clusters.count)
    }
}

/// Lines typed before, newest last, and where in them the user is.
struct InputHistory: Equatable {
    private static let limit = 500

    private var lines: [String] = []
    private var position = 0
    private var draft = ""

    mutating func add(_ line: String) {
        if lines.last != line { lines.append(line) }
        if lines.count > Self.limit { lines.removeFirst() }
        position = lines.count
        draft = ""
    }

    /// The line before, or `nil` at the oldest.
    ///
    /// What was being typed is kept.
    mutating func previous(leaving line: String) -> String? {
        guard position > 0 else { return nil }
        if position == lines.count { draft = line }
        position -= 1
        return lines[position]
    }

    /// The line after, at last what was being typed; `nil` there.
    mutating func next() -> String? {
        guard position < lines.count else { return nil }
        position += 1
        return position == lines.count ? draft : lines[position]
    }
}

import Control
import Testing

struct LineSplitterTests {
    private func lines(_ chunks: [[UInt8]], limit: Int = 100) -> [String] {
        var splitter = LineSplitter(limit: limit)
        var lines: [String] = []
        for chunk in chunks {
            splitter.append(chunk)
            while let line = splitter.next() { lines.append(String(decoding: line.bytes, as: UTF8.self)) }
        }
        if let last = splitter.finish() { lines.append(String(decoding: last.bytes, as: UTF8.self)) }
        return lines
    }

    @Test func `CR LF and LF both end a line`() {
        #expect(lines([Array("a\r\nb\n".utf8)]) == ["a", "b"])
    }

    @Test func `the last line needs no end`() {
        #expect(lines([Array("a\nb".utf8)]) == ["a", "b"])
    }

    @Test func `an empty line is one, and the end of the stream isn't`() {
        #expect(lines([Array("a\n\nb\n".utf8)]) == ["a", "", "b"])
    }

    @Test func `other line separators don't split`() {
        #expect(lines([Array("a\u{2028}b\u{85}c\u{b}d\n".utf8)]) == ["a\u{2028}b\u{85}c\u{b}d"])
    }

    @Test func `it doesn't matter where reads cut`() {
        let text = Array("héllo 🧑‍🌾 한글\r\nnext\n".utf8)
        for cut in 0...text.count {
            #expect(lines([Array(text[..<cut]), Array(text[cut...])]) == ["héllo 🧑‍🌾 한글", "next"])
        }
        #expect(lines(text.map { [$0] }) == ["héllo 🧑‍🌾 한글", "next"])
    }

    @Test func `a line of exactly the limit passes, one byte more doesn't`() {
        #expect(lines([Array("abcde\r\n".utf8)], limit: 5) == ["abcde"])

        var splitter = LineSplitter(limit: 5)
        splitter.append(Array("ok\nabcdef\n".utf8))

        #expect(splitter.next()?.bytes.count == 2)
        #expect(splitter.next() == nil)
        #expect(splitter.isOverLimit)
    }

    @Test func `a line without an end is over the limit before it ends`() {
        var splitter = LineSplitter(limit: 5)
        splitter.append(Array("abcdefgh".utf8))

        #expect(splitter.next() == nil)
        #expect(splitter.isOverLimit)
        #expect(splitter.finish() == nil)
    }
}

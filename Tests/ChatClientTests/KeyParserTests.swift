import Testing

@testable import ChatClient

struct KeyParserTests {
    private func keys(_ text: String) -> [Key] {
        var parser = KeyParser()
        return parser.take(Array(text.utf8))
    }

    @Test func `characters that come at once are one key`() {
        #expect(keys("héllo 🧑‍🌾") == [.text("héllo 🧑‍🌾")])
    }

    @Test func `a character cut by reads is whole`() {
        var parser = KeyParser()
        var text = ""
        for byte in "é한🧑".utf8 {
            for case .text(let part) in parser.take([byte]) { text += part }
        }
        #expect(text == "é한🧑")
    }

    @Test func `bytes that are no character are dropped`() {
        var parser = KeyParser()
        #expect(parser.take([0x61, 0xFF, 0x62]) == [.text("ab")])
        #expect(parser.take([0x61, 0xC2, 0x9B, 0x62]) == [.text("ab")])
    }

    @Test(arguments: [
        ("\u{1b}[D", Key.left), ("\u{1b}OC", .right), ("\u{1b}[H", .home), ("\u{1b}[4~", .end), ("\u{1b}[3~", .delete),
        ("\u{1b}[A", .up), ("\u{1b}[1;5D", .wordLeft), ("\r", .enter), ("\n", .enter), ("\u{7f}", .backspace),
        ("\u{3}", .interrupt), ("\u{4}", .endOfInput), ("\u{b}", .killToEnd),
    ])
    func `a sequence is its key`(sequence: String, key: Key) {
        #expect(keys("a\(sequence)b") == [.text("a"), key, .text("b")])
    }

    @Test(arguments: ["\u{1b}[99;99R", "\u{1b}[?1;2c", "\u{1b}[<0;1;1M", "\u{1b}[201~", "\u{1b}x"])
    func `an unknown sequence, or a paste's end alone, does nothing`(sequence: String) {
        #expect(keys("a\(sequence)b") == [.text("a"), .text("b")])
    }

    @Test func `a sequence cut by reads is whole`() {
        var parser = KeyParser()
        #expect(parser.take(Array("\u{1b}".utf8)).isEmpty)
        #expect(parser.take(Array("[1;".utf8)).isEmpty)
        #expect(parser.take(Array("5C".utf8)) == [.wordRight])
    }

    @Test func `an escape alone is over after a moment`() {
        var parser = KeyParser()
        _ = parser.take([0x1B])
        #expect(parser.patience == KeyParser.escapeLimit)
        #expect(parser.flush() == [])
        #expect(parser.take(Array("[A".utf8)) == [.text("[A")])
    }

    @Test(arguments: ["one\rtwo", "one\r\ntwo", "one\ntwo"])
    func `a paste is one key with its line ends`(pasted: String) {
        #expect(keys("\u{1b}[200~\(pasted)\u{1b}[201~x") == [.paste("one\ntwo"), .text("x")])
    }

    @Test func `a paste keeps no control characters`() {
        #expect(keys("\u{1b}[200~a\u{1b}[2Jb\u{7}\t\u{9b}c\u{1b}[201~") == [.paste("a[2Jb\tc")])
    }

    @Test func `a paste whose end was lost is over after half a second`() {
        var parser = KeyParser()
        #expect(parser.take(Array("\u{1b}[200~hello".utf8)).isEmpty)
        #expect(parser.patience == 500)
        #expect(parser.flush() == [.paste("hello")])
        #expect(parser.take(Array("abc\r".utf8)) == [.text("abc"), .enter])
        #expect(parser.patience == nil)
    }
}

import ChatModel
import Testing

struct SafeTextTests {
    @Test(arguments: [
        ("\u{1b}[2J", "\\x1b[2J"), ("\u{1b}]0;pwn\u{7}", "\\x1b]0;pwn\\x07"), ("a\r\nb", "a\\x0d\\x0ab"),
        ("a\tb", "a\\x09b"), ("\u{8}\u{8}", "\\x08\\x08"), ("\u{9b}2J", "\\x9b2J"), ("\u{7f}", "\\x7f"),
        ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
        ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"), ("a\u{2028}b", "a\\u{2028}b"), ("\u{fff9}", "\\u{fff9}"),
        ("\u{e0041}", "\\u{e0041}"), ("\u{ad}", "\\xad"), ("\u{3164}", "\\u{3164}"), ("\u{200f}", "\\u{200f}"),
        ("ad\u{200d}min", "ad\\u{200d}min"), ("\u{200d}", "\\u{200d}"), ("\u{ffff}", "\\u{ffff}"),
    ])
    func `what could act on a terminal or hide is shown as an escape`(text: String, shown: String) {
        #expect(SafeText.line(text) == shown)
    }

    @Test(arguments: [
        "lunch?", "héllo e\u{301}", "שלום مرحبا", "🧑‍🌾 👨‍👩‍👧‍👦 🏳️‍🌈 🅱️ 🇩🇪 👍🏽 1️⃣", "한글 漢字", "ශ්‍රී", "می‌خواهم", "C:\\temp",
        "हिन्दी क्षत्रिय", "\u{6dd}",
    ])
    func `what people write stays byte for byte`(text: String) {
        #expect(Array(SafeText.line(text).utf8) == Array(text.utf8))
    }

    @Test func `marks on one base are capped, and that is shown`() {
        let zalgo = "a" + String(repeating: "\u{301}", count: 50) + "b"

        #expect(SafeText.line(zalgo) == "a\u{301}\u{301}\u{301}\u{301}\\u{…}b")
    }

    @Test func `a block keeps its lines and tabs, and takes CR LF for one end`() {
        #expect(SafeText.block("a\tb\r\nc\rd\n") == ["a\tb", "c\\x0dd", ""])
        #expect(SafeText.block("a\r") == ["a\\x0d"])
    }

    @Test func `a block has two hundred lines, then the number of the others`() {
        let all = SafeText.block((1...200).map(String.init).joined(separator: "\n"))
        let more = SafeText.block((1...203).map(String.init).joined(separator: "\n"))

        #expect(all.count == 200)
        #expect(more.count == 201)
        #expect(more.last == "[3 more lines]")
    }

    @Test func `a name is cut at a cluster's edge`() {
        let name = SafeText.name(String(repeating: "👨‍👩‍👧‍👦", count: 40))

        #expect(name == String(repeating: "👨‍👩‍👧‍👦", count: 31) + "…")
    }

    @Test func `no random text gets anything dangerous through`() {
        var generator = SplitMix64(seed: 42)
        for _ in 0..<20_000 {
            let scalars = (0..<12).compactMap { _ -> Unicode.Scalar? in
                let limits: [UInt32] = [0x100, 0x2100, 0x110000]
                return Unicode.Scalar(UInt32(generator.next() % UInt64(limits[Int(generator.next() % 3)])))
            }
            let text = String(String.UnicodeScalarView(scalars))
            for scalar in SafeText.line(text).unicodeScalars { #expect(!Self.isDangerous(scalar.value), "\(scalars)") }
            let block = SafeText.block(text).joined()
            for scalar in block.unicodeScalars where scalar != "\t" {
                #expect(!Self.isDangerous(scalar.value), "\(scalars)")
            }
        }
    }

    private static func isDangerous(_ value: UInt32) -> Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xE0000...0xE007F,
            0xFFF9...0xFFFB:
            true
        default: false
        }
    }
}

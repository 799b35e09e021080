import Testing

@testable import ChatModel

/// `isValid(displayName:serviceType:)` as written has 12 decisions: seven `if`s and two `else if`s, two loops, and one
/// `where`. So its cyclomatic complexity is 13, and the 13 paths here are a basis of it: each takes an edge, or an
/// edge once more, that none before it takes.
struct IsValidBasisPathTests {
    @Test func `path 1: an empty display name`() {
        #expect(!Names.isValid(displayName: "", serviceType: "lab"))
    }

    @Test func `path 2: a display name of 64 bytes`() {
        #expect(!Names.isValid(displayName: String(repeating: "x", count: 64), serviceType: "lab"))
    }

    @Test func `path 3: a display name whose first character is forbidden`() {
        #expect(!Names.isValid(displayName: "\u{202e}", serviceType: "lab"))
    }

    @Test func `path 4: an allowed character, once round the loop, and an empty service type`() {
        #expect(!Names.isValid(displayName: "a", serviceType: ""))
    }

    @Test func `path 5: twice round the loop over the display name, and an empty service type`() {
        #expect(!Names.isValid(displayName: "ab", serviceType: ""))
    }

    @Test func `path 6: a service type of 16 characters`() {
        #expect(!Names.isValid(displayName: "a", serviceType: String(repeating: "x", count: 16)))
    }

    @Test func `path 7: one letter`() {
        #expect(Names.isValid(displayName: "a", serviceType: "x"))
    }

    @Test func `path 8: two letters, twice round the loop over the service type`() {
        #expect(Names.isValid(displayName: "a", serviceType: "xy"))
    }

    @Test func `path 9: a hyphen first`() {
        #expect(!Names.isValid(displayName: "a", serviceType: "-"))
    }

    @Test func `path 10: a hyphen after a letter, and last`() {
        #expect(!Names.isValid(displayName: "a", serviceType: "x-"))
    }

    @Test func `path 11: a hyphen between letters`() {
        #expect(Names.isValid(displayName: "a", serviceType: "x-y"))
    }

    @Test func `path 12: a digit, and no letter`() {
        #expect(!Names.isValid(displayName: "a", serviceType: "7"))
    }

    @Test func `path 13: neither letter nor hyphen nor digit`() {
        #expect(!Names.isValid(displayName: "a", serviceType: "_"))
    }
}

struct NamesTests {
    @Test(arguments: [
        (String(repeating: "a", count: 63), true), (String(repeating: "a", count: 64), false),
        (String(repeating: "é", count: 31), true), (String(repeating: "é", count: 32), false),
        (String(repeating: "漢", count: 21), true), (String(repeating: "漢", count: 22), false),
        (String(repeating: "👩‍👩‍👧‍👦", count: 2), true), (String(repeating: "👩‍👩‍👧‍👦", count: 5), false),
        ("Zoë O'Neil-Smith (2nd)", true), ("שרה", true), ("a\u{7f}", false), ("a\tb", false), ("a\u{85}b", false),
        ("\u{200f}a", false), ("a\u{2066}", false), ("a\u{2029}", false), ("a\r\n", false), ("a\u{61c}", false),
    ]) func `a display name has 1 to 63 bytes and nothing that moves text`(name: String, isValid: Bool) {
        #expect(Names.isValid(displayName: name, serviceType: "lab") == isValid)
        #expect((Names.complaint(displayName: name) == nil) == isValid)
    }

    @Test(arguments: [
        ("lab", true), ("a", true), ("1-a", true), ("room-23", true), (String(repeating: "x", count: 15), true),
        ("", false), (String(repeating: "x", count: 16), false), ("1234", false), ("a--b", false), ("-a", false),
        ("a-", false), ("1-2", false), ("Lab", false), ("é", false), ("a b", false), ("a.b", false), ("a/b", false),
        ("a\0", false), ("ａ", false),
    ]) func `a room's name is one of RFC 6335`(room: String, isValid: Bool) {
        #expect(Names.isValid(displayName: "alice", serviceType: room) == isValid)
        #expect((Names.complaint(room: room) == nil) == isValid)
    }

    @Test func `a complaint names the limit and what was counted`() {
        #expect(
            Names.complaint(displayName: String(repeating: "é", count: 32))
                == "the name has 64 bytes; the limit is 63")
        #expect(
            Names.complaint(room: String(repeating: "x", count: 16))
                == "room 'xxxxxxxxxxxxxxxx' has 16 characters; the limit is 15")
        // 10 characters in 20 bytes: their count is not what is wrong.
        #expect(
            Names.complaint(room: String(repeating: "é", count: 10))
                == "room 'éééééééééé': use letters, digits and single hyphens between them, with at least one letter")
    }

    @Test(arguments: [("Lab", "lab"), ("LAB-2", "lab-2"), ("É", "É"), ("", ""), ("[A]", "[a]")])
    func `a room's name is folded to lower case, letters of ASCII alone`(room: String, folded: String) {
        #expect(Names.folded(room: room) == folded)
    }

    @Test(arguments: [
        "../../.ssh/authorized_keys", "/etc/passwd", "a/b.png", "..", ".", "", "x\0.png", "./ok.png", "...", "/",
        "a\u{2f}", String(repeating: "x", count: 256),
    ]) func `an image's name that could be a path is refused`(name: String) {
        #expect(Names.fileName(forImageNamed: name) == nil)
    }

    @Test(arguments: [
        ("ok.png", "ok.png"), (".bashrc", "bashrc"), ("..hidden..png", "hidden..png"), ("a\\b.png", "a_b.png"),
        ("a\nb.png", "a_b.png"), ("a\r\nb.png", "a__b.png"), ("gpj\u{202e}.png", "gpj_.png"), ("漢.png", "漢.png"),
        ("\u{1b}[2J.png", "_[2J.png"), (".\u{301}bashrc", "\u{301}bashrc"), (" a.png", " a.png"),
        (String(repeating: "x", count: 255), String(repeating: "x", count: 255)),
    ]) func `another image's name becomes a visible file's name without control characters`(
        name: String, label: String
    ) {
        #expect(Names.fileName(forImageNamed: name) == label)
    }

    @Test func `no name, whatever it is made of, becomes a path, a hidden file or an overlong one`() {
        let pieces = ["/", ".", "..", "\0", "\\", "a", "é", "\u{301}", "\u{202e}", "\n", "~", " ", "-", "👩‍👧"]
        var samples = Samples(seed: 5)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...8, using: &samples.random)
            let name = (0..<count).compactMap { _ in pieces.randomElement(using: &samples.random) }.joined()
            guard let label = Names.fileName(forImageNamed: name) else { continue }
            let bytes = Array(label.utf8)
            #expect(!bytes.isEmpty && bytes.count <= 255 && bytes[0] != UInt8(ascii: "."), "\(name.debugDescription)")
            #expect(!bytes.contains(0) && !bytes.contains(UInt8(ascii: "/")), "\(name.debugDescription)")
        }
    }
}

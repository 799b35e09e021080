import ChatModel
import Testing

struct DisplayWidthTests {
    @Test(arguments: [
        ("🧑‍🌾", 2), ("🅱️", 2), ("🇩🇪", 2), ("👍🏽", 2), ("한", 2), ("e\u{301}", 1), ("\u{200B}", 0), ("a", 1), ("漢", 2),
        ("1️⃣", 2), ("©", 1), ("ｱ", 1), ("Ａ", 2), ("\u{1100}\u{1161}\u{11A8}", 2), ("a\u{301}\u{302}\u{303}", 1),
        ("⌚", 2), ("ш", 1), ("\u{1b}", 0), ("ש", 1),
    ])
    func `a cluster takes the columns that terminals give it`(cluster: String, columns: Int) {
        #expect(cluster.count == 1)
        #expect(DisplayWidth.columns(of: cluster) == columns)
    }

    @Test func `fifty marks are no wider than none`() {
        #expect(DisplayWidth.columns(of: "a" + String(repeating: "\u{301}", count: 50)) == 1)
    }

    @Test func `text is cut at a cluster's edge and never wider than its limit`() {
        let name = String(repeating: "🧑‍🌾", count: 10)
        for limit in 0...22 {
            let cut = DisplayWidth.truncated(name, to: limit)
            #expect(DisplayWidth.columns(of: cut) <= limit)
            #expect(cut.allSatisfy { $0 == "🧑‍🌾" || $0 == "…" })
        }
        #expect(DisplayWidth.truncated(name, to: 20) == name)
        #expect(DisplayWidth.truncated(name, to: 6) == "🧑‍🌾🧑‍🌾…")
    }

    @Test func `padded text has exactly its width`() {
        #expect(DisplayWidth.padded("한a", to: 5) == "한a  ")
        #expect(DisplayWidth.columns(of: DisplayWidth.padded("한한한", to: 4)) == 4)
    }
}

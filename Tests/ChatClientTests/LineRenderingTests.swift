import ChatModel
import Control
import Glibc
import Testing

@testable import ChatClient

struct LineRenderingTests {
    private static let noon = 1_700_000_000_000
    private var rendering = LineRendering(now: { noon })
    private let minute = Clock.fields(noon).minute

    private func row(
        _ kind: LineView.Kind, name: String = "alice", author: String = "aa", suffix: String = "3f9a2c",
        text: String? = nil, image: ImageView? = nil, time: Int = noon
    ) -> LineView {
        LineView(
            direction: .receive, kind: kind, author: author, suffix: suffix, name: name, text: text, image: image,
            time: time)
    }

    private func image(
        _ state: ImageView.State, name: String = "plan.png", reason: String? = nil, path: String? = nil
    ) -> LineView {
        row(
            .image,
            image: ImageView(
                name: name, mediaType: "image/png", size: 53_248, width: 640, height: 400, root: "00", state: state,
                reason: reason, path: path))
    }

    @Test mutating func `a text is time, name and words`() {
        #expect(rendering.lines(row(.text, text: "lunch?")) == ["\(minute) alice: lunch?"])
    }

    @Test(
        arguments: [
            (61_000, "1 min"), (725_000, "12 min"), (7_200_000, "2 h"), (90_000_000, "25 h"), (172_800_000, "2 days"),
        ]) mutating func `a text that came late says so, and one whose clock is ahead too`(span: Int, words: String)
    {
        var line = row(.text, text: "a\nb")
        line.late = span
        #expect(rendering.lines(line) == ["\(minute) alice: a", "      b (arrived \(words) late)"])
        line.late = nil
        line.ahead = span
        #expect(rendering.lines(line).last == "      b (its clock is \(words) ahead)")
    }

    @Test mutating func `where messages are missing, a line before says how many of whose`() {
        var line = row(.text, name: "al\u{1b}ice", text: "back")
        line.missing = 12
        let lines = rendering.lines(line)
        #expect(lines.count == 2 && lines[1].hasSuffix("back"))
        #expect(lines[0] == "\(minute) * 12 messages of al\\x1bice missing here")
        line.missing = 1
        #expect(rendering.lines(line)[0].contains(" 1 message of "))
    }

    @Test mutating func `a row of another day has its date`() {
        let earlier = Self.noon - 3 * 86_400_000
        let date = Clock.fields(earlier).date

        #expect(rendering.lines(row(.text, text: "x", time: earlier)) == ["\(date) \(minute) alice: x"])
    }

    @Test mutating func `no line of a text can pass for another's`() {
        let lines = rendering.lines(row(.text, text: "a\n\(minute) bob: fake\r\(minute) carol: fake"))

        #expect(lines == ["\(minute) alice: a", "      \(minute) bob: fake\\x0d\(minute) carol: fake"])
    }

    @Test mutating func `two peers of one name are told apart by their keys`() {
        rendering.note(row(.text))
        #expect(rendering.lines(row(.text, text: "x"))[0].hasSuffix(" alice: x"))

        rendering.note(row(.text, author: "bb", suffix: "bbbbbb"))

        #expect(rendering.lines(row(.text, text: "x"))[0].hasSuffix(" alice (3f9a2c): x"))
    }

    @Test mutating func `a notice has a star`() {
        #expect(rendering.lines(row(.notice, text: "'bob' is Connected")) == ["\(minute) * 'bob' is Connected"])
    }

    @Test mutating func `a received image says where it is`() {
        #expect(
            rendering.lines(image(.received, path: "/home/bob/Downloads/chat/lab/plan.png")) == [
                "\(minute) alice sent plan.png (640x400, 52 KiB) -> /home/bob/Downloads/chat/lab/plan.png"
            ])
    }

    @Test mutating func `an image that didn't come says why`() {
        #expect(
            rendering.lines(image(.failed, reason: "the disk is full")) == [
                "\(minute) alice sent plan.png (640x400, 52 KiB): failed: the disk is full"
            ])
    }

    @Test(arguments: [
        "\u{1b}[2J", "\u{1b}]0;pwn\u{7}", "\u{1b}]52;c;eA==\u{7}", "\ralice: fake", "\u{8}\u{8}", "\u{9b}2J",
        "\u{202e}gpj.exe", "\u{1b}[?1000h",
    ])
    mutating func `nothing from a peer drives the terminal, wherever it stands`(payload: String) {
        let peer = PeerView(
            peer: "aa", name: payload, suffix: payload, state: .connected, endpoint: payload, since: Self.noon)
        let transfer = TransferView(
            transfer: "t", name: payload, direction: .send, completed: 1, total: 2, state: .failed, reason: payload,
            peers: [.init(peer: "aa", name: payload, completed: 1, total: 2, state: .failed, reason: payload)])
        var shown = rendering.lines(row(.text, name: payload, text: payload))
        shown += rendering.lines(row(.notice, text: payload))
        shown += rendering.lines(image(.received, name: payload, path: payload))
        shown += rendering.lines(image(.refused, reason: payload))
        shown += rendering.peers([peer]) + Bars.lines(transfer, columns: 80)
        shown += Bars.failures(transfer) + [Bars.summary(transfer)]

        for scalar in shown.joined().unicodeScalars {
            #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar.value != 0x202E)
        }
    }

    @Test(arguments: [
        (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"), (53_248, "52 KiB"),
        (41_943_040, "40 MiB"), (33_554_432, "32 MiB"), (1 << 40, "1 TiB"),
    ])
    func `sizes are short`(bytes: Int, text: String) {
        #expect(ByteCount.text(bytes) == text)
    }

    @Test mutating func `peers stand in columns`() {
        let peers = [
            PeerView(
                peer: "a", name: "bob", suffix: "a", state: .connected, endpoint: "10.0.0.2:4242", since: Self.noon),
            PeerView(peer: "b", name: "김철수", suffix: "b", state: .away, since: Self.noon),
        ]

        #expect(
            rendering.peers(peers) == [
                "bob     connected  10.0.0.2:4242  since \(minute)", "김철수  away       -              since \(minute)",
            ])
    }
}

struct BarsTests {
    private func view(_ peers: [TransferView.Peer], _ state: TransferView.State = .running) -> TransferView {
        TransferView(
            transfer: "t", name: "plan.png", direction: .send, completed: peers.reduce(0) { $0 + $1.completed },
            total: peers.reduce(0) { $0 + $1.total }, state: state, peers: peers)
    }

    private func peer(
        _ name: String, _ completed: Int, _ state: TransferView.State = .running, reason: String? = nil
    ) -> TransferView.Peer {
        .init(peer: name, name: name, completed: completed, total: 100, state: state, reason: reason)
    }

    @Test func `every receiver has a bar, and the total`() {
        let lines = Bars.lines(view([peer("bob", 50), peer("carol", 100, .done)]), columns: 60)

        #expect(
            lines == [
                "  bob                [###############---------------]  50%",
                "  carol              [##############################] 100%",
                "plan.png             [######################--------]  75%",
            ])
    }

    @Test func `only what is complete is 100 percent`() {
        #expect(Bars.percent(999_999, of: 1_000_000, isDone: false) == 99)
        #expect(Bars.percent(15, of: 10, isDone: false) == 99)
        #expect(Bars.percent(0, of: 0, isDone: false) == 0)
        #expect(Bars.percent(0, of: 0, isDone: true) == 100)
    }

    @Test func `no bar is wider than the terminal`() {
        for columns in 1...100 {
            for line in Bars.lines(view([peer("한한한한한한한한한한한한", 3), peer("b", 2)]), columns: columns) {
                #expect(DisplayWidth.columns(of: line) <= columns)
            }
        }
    }

    @Test func `a peer that failed is named with the reason`() {
        let reason = "40 MiB is over its limit of 32 MiB"

        #expect(
            Bars.failures(view([peer("bob", 0, .failed, reason: reason), peer("carol", 100, .done)], .done)) == [
                "bob: 40 MiB is over its limit of 32 MiB"
            ])
    }
}

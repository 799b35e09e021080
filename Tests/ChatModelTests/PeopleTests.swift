import Identity
import Testing

@testable import ChatModel

struct PeopleTests {
    // MARK: Names that look alike

    @Test(arguments: [
        ("alice", "аlice"), ("alice", "Alice"), ("alice", "al\u{200D}ice"), ("alice", "a\u{0406}ice"),
        ("paypal", "раураl"), ("Οlga", "olga"), ("ｂｏｂ", "bob"), ("𝐛𝐨𝐛", "bob"), ("modem", "modern"), ("lan", "Ian"),
        ("root", "r00t"), (" bob ", "bob"), ("bob smith", "bob\u{00A0}\u{2003}smith"), ("MAKC", "макс"),
        ("e\u{301}ve", "\u{E9}ve"), ("bob", "bo\u{00AD}b"),
    ])
    func `names that look alike have one skeleton`(one: String, other: String) {
        #expect(Names.skeleton(of: one) == Names.skeleton(of: other))
    }

    @Test(arguments: [
        ("alice", "alicia"), ("bob", "rob"), ("eve", "éve"), ("anna", "hanna"), ("bob1", "bob2"), ("김철수", "김영희"),
        ("Ольга", "Олег"), ("🦊", "🐻"),
    ])
    func `names that differ to the eye have two`(one: String, other: String) {
        #expect(Names.skeleton(of: one) != Names.skeleton(of: other))
    }

    // MARK: Codes

    @Test func `a pair's code is the same from both sides, and has thirty digits in groups of five`() {
        let (alice, bob) = (Samples.key(1).peer, Samples.key(2).peer)
        let code = PairCode.text(of: alice, and: bob)

        #expect(code == PairCode.text(of: bob, and: alice))
        #expect(code.split(separator: " ").map(\.count) == [5, 5, 5, 5, 5, 5])
        #expect(code.allSatisfy { $0 == " " || ("0"..."9").contains($0) })
    }

    /// A5: 10^5 pairs of keys, none of whose codes collide even in their first three groups' worth of chance.
    @Test func `codes of different pairs differ`() {
        var random = Samples(seed: 5)
        let anchor = Samples.key(1).peer
        let peers = (0..<400).compactMap { _ in SigningKey(seed: random.bytes(32))?.peer }
        let codes = Set(peers.map { PairCode.text(of: anchor, and: $0) })

        #expect(codes.count == peers.count)
        #expect(Set(codes.map { $0.prefix(5) }).count > 390)
    }

    // MARK: Who is meant

    @Test func `a key, the beginning of one, or a name that only one has says who is meant`() {
        let (alice, bob, other) = (Samples.key(1).peer, Samples.key(2).peer, Samples.key(3).peer)
        let names = [alice: "alice", bob: "bob", other: "bob"]

        #expect(PeerQuery.find("alice", among: names) == .one(alice))
        #expect(PeerQuery.find(alice.suffix, among: names) == .one(alice))
        #expect(PeerQuery.find(alice.suffix.uppercased(), among: names) == .one(alice))
        #expect(PeerQuery.find(alice.description, among: [:]) == .one(alice))
        #expect(PeerQuery.find("bob", among: names) == .several([bob, other].sorted()))
        #expect(PeerQuery.find(String(bob.description.prefix(5)), among: names) == .nobody)
        #expect(PeerQuery.find("carol", among: names) == .nobody)
        #expect(PeerQuery.find("", among: names) == .nobody)
    }

    @Test func `a name of hexadecimal digits doesn't hide the key that begins so`() {
        let (alice, bob) = (Samples.key(1).peer, Samples.key(2).peer)
        let answer = PeerQuery.find(alice.suffix, among: [alice: "alice", bob: alice.suffix])

        #expect(answer == .several([alice, bob].sorted()))
    }

    @Test func `candidates are listed with as many digits as tell them apart`() {
        let (alice, bob) = (Samples.key(1).peer, Samples.key(2).peer)

        #expect(
            PeerQuery.list([alice, bob], names: [alice: "al\u{1b}", bob: ""])
                == "al\\x1b (\(alice.suffix)), \(bob.suffix)")
    }
}

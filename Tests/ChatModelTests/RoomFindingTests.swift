import Addressing
import Identity
import Testing

@testable import ChatModel

/// Finding peers when multicast is silent, or lies.
struct RoomFindingTests {
    private static func endpoint(_ number: Int) -> Endpoint {
        Endpoint(address: .v4(0x0a4d_6300 + UInt32(number)), port: 4_242)
    }

    // MARK: Remembered addresses

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `known peers come back within 5 s after a restart, though nobody is announced`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob", "carol")
        for host in network.hosts { host.givesHints = true }
        network.startAll()
        network.run(for: 5_000)
        for host in network.hosts {
            for other in network.hosts where other !== host { network.hide(host, other) }
            for other in network.hosts where other !== host {
                #expect(host.disk.records[other.key.peer]?.addresses == [other.endpoint])
            }
        }
        let alice = network.hosts[0]
        alice.crash()
        network.run(for: 60_000)

        alice.start()

        #expect(network.run(within: 5_000) { alice.said.suffix(2).allSatisfy { $0.hasSuffix("is Connected") } })
        #expect(Set(alice.said.suffix(2)) == ["'bob' is Connected", "'carol' is Connected"])
    }

    @Test func `who is blocked is remembered, and not dialled`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.hide(alice, bob)
        alice.disk.records[bob.key.peer] = PeerRecord(
            name: "bob", firstSeen: 1, lastSeen: 1, verdict: .blocked, addresses: [bob.endpoint])
        alice.start()
        network.run(for: 10_000)

        #expect(alice.dialTimes.isEmpty)
    }

    @Test func `where known peers were, they are expected from the start, those seen last at the end`() {
        let network = RoomNetwork(seed: 1, "alice")
        let alice = network.hosts[0]
        let at = { (numbers: Int...) in numbers.map(Self.endpoint) }
        let (bob, mallory) = (SigningKey().peer, SigningKey().peer)
        let records = [
            SigningKey().peer: PeerRecord(name: "carol", firstSeen: 1, lastSeen: 9, addresses: at(1, 2)),
            bob: PeerRecord(name: "bob", firstSeen: 1, lastSeen: 5, addresses: at(3, 4)),
            mallory: PeerRecord(name: "mallory", firstSeen: 1, lastSeen: 7, verdict: .blocked, addresses: at(5)),
            SigningKey().peer: PeerRecord(name: "never met", lastSeen: 8, addresses: at(6)),
        ]
        alice.disk.records = records

        alice.start()

        #expect(alice.expected == at(4, 3, 2, 1).map(\.address))
        alice.take(.decide(mallory, .unblock, CommandID(value: 1)))
        #expect(alice.expected.last == Self.endpoint(5).address)
    }

    @Test func `of a peer's addresses the four latest are kept, without interfaces`() {
        var record = PeerRecord(name: "bob")
        for number in [1, 2, 3, 4, 5, 3] { record.reached(at: Self.endpoint(number)) }
        #expect(record.addresses == [3, 5, 4, 2].map(Self.endpoint))

        record.reached(at: Endpoint(address: .v6(high: 0xfe80 << 48, low: 1, scope: 7), port: 1))

        #expect(record.addresses.first?.address == .v6(high: 0xfe80 << 48, low: 1, scope: 0))
    }

    @Test func `of many known peers those seen last are dialled at the start, few at once`() {
        let network = RoomNetwork(seed: 1, "alice")
        let alice = network.hosts[0]
        for number in 1...100 {
            alice.disk.records[SigningKey().peer] = PeerRecord(
                name: "gone", firstSeen: 1, lastSeen: UInt64(number), addresses: [Self.endpoint(number)])
        }
        alice.start()

        #expect(alice.room.dials.count == RoomLimits().dialsOnMemory)
        #expect(alice.room.waitingDials.count == RoomLimits().maximumRemembered - RoomLimits().dialsOnMemory)
        network.run(for: 2_000)
        #expect(alice.dialTimes.count >= RoomLimits().maximumRemembered / 3)
    }

    // MARK: Forged adverts

    @Test func `of thousands of forged peers few are kept and fewer dialled, and a true one among them is found`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.hide(alice, bob)
        network.startAll()
        for number in 1...3_000 {
            alice.take(.found(SigningKey().peer, instance: "f\(number)", endpoints: [Self.endpoint(number % 9)]))
            #expect(alice.room.dials.count <= RoomLimits().dialsOnRumour)
            if number == 2_900 {
                alice.take(.found(bob.key.peer, instance: "bob", endpoints: [bob.endpoint]))
            }
            if number.isMultiple(of: 10) { network.run(for: 100) }
        }

        #expect(alice.said == ["'bob' is Connected"])
        #expect(alice.room.peers.count <= RoomLimits().maximumNewcomers + 1)
        #expect(alice.statuses.count <= RoomLimits().maximumNewcomers + 1)
        #expect(alice.room.waitingDials.count <= RoomLimits().maximumNewcomers)
    }

    @Test func `a forged peer whose record goes is forgotten, and a known one isn't`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 2_000)
        let fake = SigningKey().peer
        alice.take(.found(fake, instance: "fake", endpoints: [Self.endpoint(1)]))
        alice.take(.lost(fake))
        alice.take(.lost(bob.key.peer))
        network.run(for: 2_000)

        #expect(alice.room.peers[fake] == nil && alice.statuses[fake] == nil)
        #expect(alice.statuses[bob.key.peer]?.state == .connected)
    }

    @Test func `a known peer doesn't wait for rumours, nor a rumour for long for what is gone`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.hide(alice, bob)
        for number in 1...20 {
            alice.disk.records[SigningKey().peer] = PeerRecord(
                name: "gone", firstSeen: 1, lastSeen: UInt64(number), addresses: [Self.endpoint(number)])
        }
        alice.disk.records[bob.key.peer] = PeerRecord(
            name: "bob", firstSeen: 1, lastSeen: 30, addresses: [bob.endpoint])
        network.startAll()
        for number in 1...60 {
            alice.take(.found(SigningKey().peer, instance: "f\(number)", endpoints: [Self.endpoint(number)]))
        }

        #expect(network.run(within: 500) { alice.said == ["'bob' is Connected"] })
        #expect(alice.room.dials.count <= RoomLimits().dialsAtOnce)
    }

    // MARK: Hints

    @Test func `who knows one member is told of the others, and linked with them`() {
        let network = RoomNetwork(seed: 1, (0..<12).map { "host\($0)" })
        for host in network.hosts { host.givesHints = true }
        let last = network.hosts[11]
        for host in network.hosts.dropLast() { network.hide(host, last) }
        last.places = [network.hosts[4].name]
        for host in network.hosts.dropLast() { host.start() }
        network.run(for: 3_000)

        last.start()

        #expect(network.run(within: 3_000) { last.said.count == 11 })
        #expect(last.said.allSatisfy { $0.hasSuffix("is Connected") })
        #expect(Set(last.hinted).isSuperset(of: network.hosts.dropLast().map(\.endpoint.address)))
    }

    @Test func `a member that tells lies about others has few of them dialled, and none kept`() {
        let network = RoomNetwork(seed: 1, "alice", "mallory")
        let (alice, mallory) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 2_000)
        let known = alice.dialTimes.count
        let keys = (0..<40).map { _ in SigningKey() }
        let lies = keys.compactMap {
            PeerHint(signing: [Self.endpoint(1)], counter: mallory.hint?.counter ?? 0, in: network.id, by: $0)
        }
        for _ in 1...3 {
            alice.take(.message(mallory.key.peer, .hints(Hints(hints: lies))))
            network.run(for: 10_000)
        }

        #expect((1...RoomLimits().hintDials).contains(alice.dialTimes.count - known))
        network.run(for: 600_000)
        #expect(alice.room.peers.count <= RoomLimits().maximumNewcomers + 1)
        #expect(alice.disk.records.keys.sorted() == [mallory.key.peer])
    }

    @Test func `a hint that its subject hasn't signed, for another room, too old or from the future leads nowhere`() {
        let network = RoomNetwork(seed: 1, "alice", "mallory")
        let (alice, mallory) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 2_000)
        let known = alice.dialTimes.count
        let counter = mallory.hint?.counter ?? 0
        let victim = SigningKey()
        let sign = { PeerHint(signing: [Self.endpoint(1)], counter: $0, in: $1, by: victim) }
        var changed = sign(counter, network.id)
        changed?.endpoints = [Self.endpoint(2)]
        var foreign = sign(counter, network.id)
        foreign?.key = SigningKey().peer.key
        let week = RoomLimits().hintLife + 60_000
        let bad = [
            changed, foreign, sign(counter, RoomID(openRoom: "other")), sign(counter - week, network.id),
            sign(counter + week, network.id),
        ]
        for hint in bad.compactMap(\.self) {
            alice.take(.message(mallory.key.peer, .hints(Hints(hints: [hint]))))
            network.run(for: 1_000)
        }

        #expect(alice.dialTimes.count == known)
        #expect(alice.room.peers.count == 1)
        #expect(Set(alice.hinted).isDisjoint(with: [1, 2].map { Self.endpoint($0).address }))
    }

    @Test func `only addresses of this site are told, eight at most`() throws {
        let public_ = Endpoint(address: .v4(0x0808_0808), port: 1)
        let key = Samples.key(1)
        #expect(PeerHint(signing: [public_], counter: 1, in: Samples.lab, by: key) == nil)

        let all = [public_] + (1...20).map(Self.endpoint)
        let hint = try #require(PeerHint(signing: all, counter: 1, in: Samples.lab, by: key))

        #expect(hint.endpoints == (1...8).map(Self.endpoint))
        #expect(hint.author(in: Samples.lab) == key.peer)
        var body = Hints(hints: [hint]).encoded
        body.replaceSubrange(43..<47, with: [8, 8, 8, 8])
        #expect(throws: WireError.self) { try Hints(decoding: body) }
    }
}

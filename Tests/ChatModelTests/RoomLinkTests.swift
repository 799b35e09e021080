import Identity
import Testing

@testable import ChatModel

struct RoomLinkTests {
    /// Cases B04 and B10: both dial in the same instant.
    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `two hosts that dial each other at once show one Connected and no Not Connected`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        alice.say("from alice")
        bob.say("from bob")
        network.run(for: 5_000)

        #expect(alice.said == ["'bob' is Connected"])
        #expect(bob.said == ["'alice' is Connected"])
        #expect(alice.texts.sorted() == ["from alice", "from bob"])
        #expect(bob.texts.sorted() == ["from alice", "from bob"])
        #expect(alice.kept[1] === bob.kept[0] && alice.kept[1] != nil)
    }

    @Test func `who is announced again while linked isn't dialled, and no record that goes ends a link`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        let dials = alice.dialTimes.count
        for _ in 1...4 { alice.take(.found(bob.key.peer, instance: "bob", endpoints: [bob.endpoint])) }
        alice.take(.lost(bob.key.peer))
        network.run(for: 5_000)

        #expect(alice.dialTimes.count == dials)
        #expect(alice.said == ["'bob' is Connected"])
    }

    @Test func `a member that is only sighted is dialled until it is linked, and again when its link breaks`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.start()
        alice.take(.sighted(instance: "0123456789abcdef", endpoints: [bob.endpoint]))
        network.run(for: 5_000)
        #expect(alice.dialTimes.count > 1 && alice.said.isEmpty)

        bob.start()
        network.run(for: 5_000)
        #expect(alice.said == ["'bob' is Connected"])
        let dials = alice.dialTimes.count
        alice.take(.sighted(instance: "0123456789abcdef", endpoints: [bob.endpoint]))
        network.run(for: 5_000)
        #expect(alice.dialTimes.count == dials)

        network.reset(alice, bob)
        network.run(for: 5_000)
        #expect(alice.dialTimes.count > dials && alice.said == ["'bob' is Connected"])
        alice.take(.vanished(instance: "0123456789abcdef"))
        #expect(alice.room.sightings.isEmpty && alice.room.peers[bob.key.peer]?.endpoints == [])
    }

    /// Case B23.
    @Test func `nobody finds itself, under whatever instance its record comes`() {
        let network = RoomNetwork(seed: 1, "alice")
        let alice = network.hosts[0]
        alice.start()
        alice.take(.found(alice.key.peer, instance: "alicia-000000", endpoints: [alice.endpoint]))
        network.run(for: 30_000)

        #expect(alice.dialTimes.isEmpty)
        #expect(alice.room.peers.isEmpty)
    }

    @Test func `a link that breaks and is back within the grace shows nothing, and loses no line`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        for number in 1...20 {
            network.reset(alice, bob)
            alice.say("line \(number)")
            network.run(for: network.chance(10...1_000))
        }
        network.run(for: 3_000)

        #expect(alice.said == ["'bob' is Connected"])
        #expect(bob.said == ["'alice' is Connected"])
        #expect(bob.texts == (1...20).map { "line \($0)" })
    }

    @Test func `a goodbye shows Not Connected at once, and coming back shows Connected`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)

        bob.leave()
        #expect(network.run(within: 30) { alice.said.last == "'bob' is Not Connected" })
        network.run(for: 10_000)
        bob.start()
        network.run(for: 1_000)

        #expect(alice.said == ["'bob' is Connected", "'bob' is Not Connected", "'bob' is Connected"])
    }

    @Test func `a process that dies is away as soon as its port refuses`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        bob.crash()

        #expect(network.run(within: 200) { alice.said.last == "'bob' is Not Connected" })
        network.run(for: 60_000)
        #expect(alice.said.count == 2)
    }

    @Test func `a link that closes on a host which no dial reaches is away after 1.5 s`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        network.reset(alice, bob)
        network.cut(alice, bob)
        let start = network.now

        #expect(network.run(within: 5_000) { alice.said.last == "'bob' is Not Connected" })
        #expect((1_500...1_530).contains(network.now - start))
    }

    @Test func `a silence of ten seconds shows nothing, and what was said meanwhile arrives`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        network.cut(alice, bob)
        alice.say("are you there?")
        network.run(for: 10_000)
        network.heal(alice, bob)

        #expect(network.run(within: 3_000) { bob.texts == ["are you there?"] })
        network.run(for: 10_000)
        #expect(alice.said == ["'bob' is Connected"])
        #expect(bob.said == ["'alice' is Connected"])
        #expect(bob.texts.count == 1)
    }

    @Test func `a silence of fifteen seconds is one Not Connected, and its end one Connected`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        network.cut(alice, bob)
        network.run(for: 60_000)
        #expect(alice.said == ["'bob' is Connected", "'bob' is Not Connected"])
        network.heal(alice, bob)
        network.run(for: 3_000)

        #expect(alice.said == ["'bob' is Connected", "'bob' is Not Connected", "'bob' is Connected"])
        #expect(bob.said == ["'alice' is Connected", "'alice' is Not Connected", "'alice' is Connected"])
    }

    @Test func `dials of an absent host slow down to one a second, and to two a minute after ten minutes`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        bob.crash()
        let start = network.now
        network.run(for: 3_600_000)

        let early = alice.dialTimes.filter { $0 > start && $0 <= start + 60_000 }.count
        let late = alice.dialTimes.filter { $0 > start + 660_000 }
        #expect((50...150).contains(early))
        #expect((90...220).contains(late.count))
    }

    /// Case B33, version 99.
    @Test func `an incompatible version is noticed once, and dialled once a minute at most`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        bob.versions = 99...99
        network.hide(alice, bob)  // else bob, who is none of a later version in truth, would dial on his own
        alice.places = ["bob"]
        network.startAll()
        network.run(for: 2_000)
        let start = alice.dialTimes.count
        for _ in 1...100 {
            alice.take(.found(bob.key.peer, instance: "bob", endpoints: [bob.endpoint]))
            network.run(for: 6_000)
        }

        #expect(alice.said == ["'bob' speaks an incompatible version"])
        #expect(alice.dialTimes.count - start <= 11)
        #expect(alice.dialTimes.count - start >= 9)
    }

    @Test func `links that close as soon as they are up are not dialled in a rush`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let bob = network.hosts[1]
        bob.versions = 99...99  // alice closes each link; bob sees it up and closed
        network.startAll()
        network.run(for: 60_000)

        #expect((20...130).contains(bob.dialTimes.count))
    }

    @Test func `an incompatible host that was replaced by a compatible one is Connected`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        bob.versions = 99...99
        network.startAll()
        network.run(for: 5_000)
        bob.crash()
        bob.versions = 1...2
        bob.start()

        #expect(network.run(within: 5_000) { alice.said.last == "'bob' is Connected" })
        #expect(alice.said == ["'bob' speaks an incompatible version", "'bob' is Connected"])
    }

    @Test func `a place given by hand is dialled though nothing is announced, and again after it was away`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.hide(alice, bob)
        alice.places = ["bob"]
        alice.start()
        network.run(for: 5_000)
        #expect(alice.dialTimes.count > 3)
        bob.start()
        #expect(network.run(within: 2_000) { alice.said.last == "'bob' is Connected" })
        bob.leave()
        network.run(for: 5_000)
        bob.start()
        #expect(network.run(within: 2_500) { alice.said.last == "'bob' is Connected" && alice.said.count == 3 })
    }

    @Test func `a clone is noticed once, however often it knocks`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        for _ in 1...10 {
            alice.take(.clone(bob.key.peer))
            alice.take(.clone(alice.key.peer))
        }
        #expect(alice.said.count == 3)
    }

    @Test func `a host that sends garbage is cut off`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        alice.take(.message(bob.key.peer, .batch([1, 2, 3])))
        network.run(for: 100)
        #expect(alice.said.dropFirst().first == "'bob' is Not Connected")
    }

    @Test func `a timer that is due is not late because a later one was set in the same moment`() {
        var timers = RoomTimers()
        _ = timers.set(.flushHave, at: 100)
        _ = timers.set(.dialPlace(1), at: 200)
        #expect(timers.take(until: 100) == [.flushHave])
        #expect(timers.set(.dialPlace(2), at: 5_000) == 5_000)
        #expect(timers.rearm() == 200)
        #expect(timers.take(until: 6_000) == [.dialPlace(1), .dialPlace(2)])
        #expect(timers.rearm() == nil)
    }

    @Test func `timers of one time are due in the order in which they were set`() {
        var timers = RoomTimers()
        let order = (0..<50).shuffled()
        for index in order { _ = timers.set(.dialPlace(index), at: 7) }
        #expect(timers.take(until: 7) == order.map { .dialPlace($0) })
    }
}

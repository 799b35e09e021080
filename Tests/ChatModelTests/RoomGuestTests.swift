import Identity
import Testing

@testable import ChatModel

/// What is kept of peers that come once and leave nothing.
struct RoomGuestTests {
    @Test func `of those who came and said nothing the latest are kept, and whoever wrote or was judged`() {
        var limits = RoomLimits()
        limits.maximumGuests = 2
        let names = ["alice", "writer", "friend", "foe"] + (1...6).map { "guest \($0)" }
        let network = RoomNetwork(seed: 1, names, limits: limits)
        let (alice, writer, friend, foe) = (network.hosts[0], network.hosts[1], network.hosts[2], network.hosts[3])
        alice.start()

        for host in network.hosts.dropFirst() {
            host.start()
            #expect(network.run(within: 3_000) { alice.room.peers[host.key.peer]?.isPresent == true })
            if host === writer { writer.say("hello") }
            if host === friend { alice.decide(.trust, friend) }
            network.run(for: 2_000)
            if host === foe { alice.decide(.block, foe) }
            host.leave()
            network.run(for: 2_000)
        }

        // The last who came wasn't gone yet when it was counted.
        let kept = [writer, friend, foe] + network.hosts.suffix(3)
        #expect(Set(alice.disk.records.keys) == Set(kept.map(\.key.peer)))
        #expect(Set(alice.room.peers.keys) == Set(kept.map(\.key.peer)))
        #expect(Set(alice.statuses.keys).isSubset(of: Set(kept.map(\.key.peer))))
    }
}

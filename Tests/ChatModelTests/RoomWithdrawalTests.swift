import Identity
import Testing

@testable import ChatModel

/// Images whose senders cancel them.
struct RoomWithdrawalTests {
    private static let byItsSender = ImageState.failed("cancelled by the sender")

    private let picture: [UInt8]
    private let root: BlobRoot

    init() {
        picture = (0..<1 << 19).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0 >> 8), count: 16) }
        root = RoomDisk.Blob(picture).root
    }

    /// Alice sends the picture and cancels it while others fetch it.
    private func cancelled(_ network: RoomNetwork, _ alice: RoomHost) throws -> EventID {
        let id = try begun(network, alice)
        alice.take(.cancel(id))
        return id
    }

    /// Alice sends the picture, and all who are there have some of it.
    private func begun(_ network: RoomNetwork, _ alice: RoomHost) throws -> EventID {
        alice.share("plan.png", picture)
        let receivers = network.hosts.filter { $0 !== alice && $0.isRunning }
        let hasBegun = network.run(within: 1_000) {
            receivers.allSatisfy { $0.disk.blobs[root].map { !$0.chunks.isEmpty } == true }
        }
        try #require(hasBegun && receivers.allSatisfy { $0.disk.blobs[root]?.chunks.count != 8 })
        return try #require(alice.id(ofImage: "plan.png"))
    }

    private func isEmpty(_ host: RoomHost) -> Bool { host.room.fetches.isEmpty && host.disk.blobs.isEmpty }

    @Test func `receivers of an image that its sender cancels stop, say so, and keep nothing of it`() throws {
        let (network, alice, bob, carol) = RoomNetwork.three()
        let id = try cancelled(network, alice)
        network.run(for: 100)

        for host in [bob, carol] {
            #expect(host.images["plan.png"] == Self.byItsSender)
            #expect(host.progress(of: id).last == .failed(alice.key.peer, reason: "cancelled by the sender"))
            let isGone = isEmpty(host)
            #expect(isGone)
        }
        let wants = { (host: RoomHost) in host.messagesSent[SessionMessage.Kind.blobWant.rawValue] }
        let asked = [bob, carol].map(wants)
        network.run(for: 30_000)
        #expect([bob, carol].map(wants) == asked)
        #expect(alice.images["plan.png"] == .cancelled)
    }

    @Test func `who comes later doesn't fetch it, from its sender's next start on either`() throws {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol", "dave")
        let (alice, bob, carol, dave) = (network.hosts[0], network.hosts[1], network.hosts[2], network.hosts[3])
        alice.start()
        bob.start()
        network.run(for: 1_000)
        _ = try cancelled(network, alice)
        network.run(for: 1_000)
        bob.leave()

        carol.start()
        #expect(network.run(within: 5_000) { carol.images["plan.png"] == Self.byItsSender })
        network.run(for: 100)
        carol.leave()
        alice.crash()
        network.run(for: 1_000)
        alice.start()
        dave.start()
        #expect(network.run(within: 5_000) { dave.images["plan.png"] == Self.byItsSender })
        network.run(for: 1_000)
        let areGone = [bob, carol, dave].allSatisfy(isEmpty)
        #expect(areGone)
    }

    @Test func `the same bytes under another image arrive nevertheless`() throws {
        let (network, alice, bob, carol) = RoomNetwork.three()
        alice.share("plan.png", picture)
        bob.share("same.png", picture)
        #expect(network.run(within: 1_000) { carol.room.arrivals.count == 2 })
        alice.take(.cancel(try #require(alice.id(ofImage: "plan.png"))))
        network.run(for: 20_000)

        #expect(carol.images["same.png"] == .received(path: "/downloads/same.png"))
        #expect(carol.images["plan.png"] == Self.byItsSender)

        alice.share("again.png", picture)
        network.run(for: 20_000)
        #expect(carol.images["again.png"] == .received(path: "/downloads/again.png"))
    }

    @Test func `nobody but its sender takes an image back`() throws {
        let (network, alice, bob, carol) = RoomNetwork.three()
        let id = try begun(network, alice)
        carol.take(.message(bob.key.peer, .blobState(BlobState(root: root, progress: .withdrawn(id)))))

        #expect(network.run(within: 10_000) { carol.images["plan.png"] == .received(path: "/downloads/plan.png") })
    }

    @Test func `a receiver's own cancel leaves nothing on its disk`() throws {
        let (network, alice, bob, carol) = RoomNetwork.three()
        bob.take(.cancel(try begun(network, alice)))
        network.run(for: 10_000)

        let isGone = isEmpty(bob)
        #expect(bob.images["plan.png"] == .cancelled && isGone)
        #expect(carol.images["plan.png"] == .received(path: "/downloads/plan.png"))
    }
}

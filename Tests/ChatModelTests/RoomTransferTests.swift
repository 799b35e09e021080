import Identity
import Testing

@testable import ChatModel

struct RoomTransferTests {
    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 7) } }

    private func room(_ seed: UInt64 = 1, _ limits: RoomLimits = RoomLimits()) -> (
        network: RoomNetwork, alice: RoomHost, bob: RoomHost, carol: RoomHost
    ) {
        let network = RoomNetwork(seed: seed, "alice", "bob", "carol", limits: limits)
        network.startAll()
        network.run(for: 1_000)
        return (network, network.hosts[0], network.hosts[1], network.hosts[2])
    }

    /// Case B05 among them.
    @Test(arguments: [0, 1, 1 << 20, 7 << 19])
    func `an image of any size reaches two receivers with rising progress, and ends at finished`(size: Int) throws {
        let (network, alice, bob, carol) = room()
        let bytes = bytes(size)

        alice.share("plan.png", bytes)
        #expect(network.run(within: 10_000) { alice.images["plan.png"] == .sent })

        let id = try #require(alice.id(ofImage: "plan.png"))
        for host in [bob, carol] {
            #expect(host.images["plan.png"] == .received(path: "/downloads/plan.png"))
            #expect(host.disk.blobs[RoomDisk.Blob(bytes).root]?.bytes == bytes)
            let chunks = BlobRoot.chunkCount(size: UInt64(size))
            expectRising(alice.progress(of: id), of: host.key.peer, size: UInt64(size), steps: max(chunks - 1, 0))
            expectRising(host.progress(of: id), of: alice.key.peer, size: UInt64(size), steps: max(chunks - 1, 0))
        }
        #expect(alice.disk.outcomes[id] == .sent)
        #expect(bob.disk.outcomes[id] == .received(path: "/downloads/plan.png"))
        network.run(for: 30_000)
        #expect(alice.progress(of: id).filter { $0 == .finished(bob.key.peer) }.count == 1)
        #expect(alice.room.transfers.isEmpty && bob.room.fetches.isEmpty && bob.room.arrivals.isEmpty)
    }

    private func expectRising(_ changes: [TransferChange], of peer: PeerID, size: UInt64, steps: Int) {
        guard case .started(_, "plan.png", size, let peers)? = changes.first, peers[peer] != nil else {
            return #expect(Bool(false), "no start")
        }
        let sizes = changes.compactMap { change -> UInt64? in
            if case .advanced(peer, let count) = change { count } else { nil }
        }
        #expect(sizes.count == steps)
        #expect(sizes == Array(Set(sizes)).sorted() && sizes.allSatisfy { $0 > 0 && $0 < size })
        let last = changes.last {
            switch $0 {
            case .advanced(let other, _), .finished(let other), .failed(let other, _): other == peer
            default: false
            }
        }
        #expect(last == .finished(peer))
    }

    @Test func `with nobody there the total completes at once, and the image arrives when somebody comes`() throws {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.start()
        alice.share("plan.png", bytes(100))
        #expect(network.run(within: 10) { alice.images["plan.png"] == .sent })
        let id = try #require(alice.id(ofImage: "plan.png"))
        #expect(alice.progress(of: id) == [.started(direction: .send, name: "plan.png", size: 100, peers: [:])])

        bob.start()
        #expect(network.run(within: 2_000) { bob.images["plan.png"] == .received(path: "/downloads/plan.png") })
    }

    @Test(
        arguments: [
            (40 << 20, 32 << 20, "40 MiB is over its limit of 32 MiB"),
            (32 << 20 + 1, 32 << 20, "33 MiB is over its limit of 32 MiB"),
            (5_000, 1_000, "5000 bytes is over its limit of 1000 bytes"),
            (1, 0, "1 bytes is over its limit of 0 bytes"),
        ] as [(UInt64, UInt64, String)]) func `an image over the limit is refused with both sizes`(
            size: UInt64, limit: UInt64, reason: String
        ) throws
    {
        var limits = RoomLimits()
        limits.autoFetch = limit
        let (network, alice, bob, carol) = room(1, limits)
        alice.share("big.png", bytes(10), claiming: size)
        network.run(for: 1_000)

        let id = try #require(alice.id(ofImage: "big.png"))
        #expect(alice.progress(of: id).contains(.failed(bob.key.peer, reason: reason)))
        guard case .failed(let told)? = alice.images["big.png"] else { return #expect(Bool(false), "not failed") }
        #expect(told.split(separator: "; ").sorted() == ["bob: \(reason)", "carol: \(reason)"])
        #expect(bob.images["big.png"] == .refused(reason))
        #expect(carol.messagesSent[SessionMessage.Kind.blobWant.rawValue] == nil)
    }

    @Test func `an image of exactly the limit is fetched`() {
        var limits = RoomLimits()
        limits.autoFetch = 1_000
        let (network, alice, _, _) = room(1, limits)
        alice.share("ok.png", bytes(1_000))
        #expect(network.run(within: 3_000) { alice.images["ok.png"] == .sent })
    }

    /// Case B07.
    @Test(arguments: ["../../.ssh/authorized_keys", "/etc/passwd", "a/b.png", "..", ".", "", "x\0.png", "./ok.png"])
    func `an image whose name is no file's name is refused, and the next one arrives`(name: String) {
        let (network, alice, bob, _) = room()
        alice.share(name, bytes(10))
        alice.share("ok.png", bytes(20))
        #expect(network.run(within: 3_000) { bob.images["ok.png"] == .received(path: "/downloads/ok.png") })

        #expect(bob.images[name] == .refused("its name is not a file's name"))
        #expect(Array(bob.placed.values) == ["ok.png"])
    }

    /// Case B40.
    @Test func `three at once and the same one twice all arrive, each with its own progress`() throws {
        let (network, alice, bob, carol) = room()
        for name in ["1.png", "2.png", "3.png"] { alice.share(name, bytes(1 << 20 + name.utf8.count * 1_000)) }
        alice.share("again.png", bytes(9))
        alice.share("again.png", bytes(9))
        network.run(for: 20_000)

        for host in [bob, carol] {
            #expect(host.placed.values.sorted() == ["1.png", "2.png", "3.png", "again.png", "again.png"])
        }
        let started = alice.changes.filter { if case .started = $0.change { true } else { false } }
        #expect(Set(started.map(\.id)).count == 5)
        for (id, _) in started {
            #expect(alice.progress(of: id).contains(.finished(bob.key.peer)))
            #expect(alice.progress(of: id).contains(.finished(carol.key.peer)))
        }
        #expect(alice.room.transfers.isEmpty)
    }

    @Test func `a receiver that can't store it fails alone, and within two seconds`() throws {
        let (network, alice, bob, carol) = room()
        bob.disk.refusesPlaces = true
        alice.share("plan.png", bytes(1_000))
        #expect(network.run(within: 2_000) { alice.images["plan.png"] == .sent })

        let id = try #require(alice.id(ofImage: "plan.png"))
        #expect(alice.progress(of: id).contains(.failed(bob.key.peer, reason: "can't be stored")))
        #expect(alice.progress(of: id).contains(.finished(carol.key.peer)))
        #expect(bob.images["plan.png"] == .failed("can't be stored"))
    }

    @Test func `a receiver that goes away in the middle fails alone`() throws {
        let (network, alice, bob, carol) = room()
        alice.share("plan.png", bytes(8 << 20))
        #expect(network.run(within: 5_000) { bob.disk.blobs.values.contains { $0.chunks.count >= 2 } })
        bob.leave()
        #expect(network.run(within: 10_000) { alice.images["plan.png"] == .sent })

        let id = try #require(alice.id(ofImage: "plan.png"))
        #expect(alice.progress(of: id).contains(.failed(bob.key.peer, reason: "no longer connected")))
        #expect(alice.progress(of: id).last == .finished(carol.key.peer))
    }

    @Test func `when all receivers go away the transfer fails, and says for each why`() throws {
        let (network, alice, bob, carol) = room()
        alice.share("plan.png", bytes(8 << 20))
        network.run(for: 100)
        bob.leave()
        carol.leave()
        network.run(for: 1_000)
        #expect(alice.room.transfers.isEmpty)
        guard case .failed(let reason)? = alice.images["plan.png"] else { return #expect(Bool(false), "not failed") }
        #expect(reason.split(separator: "; ").sorted() == ["bob: no longer connected", "carol: no longer connected"])
    }

    @Test func `when the author leaves in the middle another holder gives the rest`() {
        let (network, alice, bob, carol) = room()
        network.cut(alice, bob)
        network.run(for: 20_000)
        alice.share("plan.png", bytes(5 << 20))
        #expect(network.run(within: 10_000) { carol.images["plan.png"] == .received(path: "/downloads/plan.png") })
        network.heal(alice, bob)
        #expect(network.run(within: 20_000) { bob.disk.blobs.values.contains { $0.chunks.count >= 2 } })
        alice.leave()

        #expect(network.run(within: 10_000) { bob.images["plan.png"] == .received(path: "/downloads/plan.png") })
    }

    @Test func `a receiver that began from one who hadn't it all asks again when that one has`() {
        // Bob and carol both fetch from alice, who leaves in the middle; each then has what the other lacks, or waits.
        let (network, alice, bob, carol) = room()
        alice.share("plan.png", bytes(6 << 20))
        #expect(network.run(within: 10_000) { bob.disk.blobs.values.contains { $0.chunks.count >= 2 } })
        alice.leave()
        network.run(for: 20_000)
        alice.start()

        let received = ImageState.received(path: "/downloads/plan.png")
        #expect(
            network.run(within: 70_000) { bob.images["plan.png"] == received && carol.images["plan.png"] == received })
    }

    @Test func `with no other holder it waits, says so, and goes on when its author is back`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        alice.share("plan.png", bytes(5 << 20))
        #expect(network.run(within: 10_000) { bob.disk.blobs.values.contains { $0.chunks.count >= 2 } })
        alice.leave()
        network.run(for: 1_000)
        let waiting = ImageState.waiting("nobody here delivers it; it goes on when 'alice' does")
        #expect(bob.images["plan.png"] == waiting)
        network.run(for: 30_000)
        let before = alice.bytesSent[bob.key.peer] ?? 0

        alice.start()
        #expect(network.run(within: 10_000) { bob.images["plan.png"] == .received(path: "/downloads/plan.png") })
        let states = bob.updates.compactMap { if case .image(_, let state) = $0.content { state } else { nil } }
        #expect(states == [waiting, .receiving, .received(path: "/downloads/plan.png")])
        #expect((alice.bytesSent[bob.key.peer] ?? 0) - before < 4 << 20, "what was here was fetched again")
    }

    @Test func `wrong bytes from one holder turn the receiver to another`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        alice.start()
        carol.start()
        network.run(for: 1_000)
        alice.share("plan.png", bytes(3 << 20))
        #expect(network.run(within: 10_000) { carol.images["plan.png"] == .received(path: "/downloads/plan.png") })
        alice.tamper = { _, message in
            guard case .blobData(var data) = message, data.chunk == 1 else { return message }
            data.bytes[0] ^= 1
            return .blobData(data)
        }
        bob.start()

        #expect(network.run(within: 10_000) { bob.images["plan.png"] == .received(path: "/downloads/plan.png") })
        #expect(bob.disk.blobs.values.first?.bytes == bytes(3 << 20))
    }

    @Test func `wrong hashes from the only holder end nothing, and when it is honest the image arrives`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        alice.tamper = { _, message in
            guard case .blobHashes(var page) = message else { return message }
            page.hashes = [.zero]
            return .blobHashes(page)
        }
        alice.share("plan.png", bytes(100))
        network.run(for: 60_000)
        #expect(bob.messagesSent[SessionMessage.Kind.blobWant.rawValue] ?? 0 < 12, "a liar is asked over and over")
        alice.tamper = { $1 }

        #expect(network.run(within: 61_000) { alice.images["plan.png"] == .sent })
    }

    @Test func `a source that stalls is left after ten seconds, and asked again`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        alice.tamper = { if case .blobData = $1 { nil } else { $1 } }
        alice.share("plan.png", bytes(100))
        network.run(for: 12_000)
        alice.tamper = { $1 }

        #expect(network.run(within: 15_000) { bob.images["plan.png"] == .received(path: "/downloads/plan.png") })
    }

    @Test func `a blob link that breaks again and again delays an image, and stops nothing`() {
        let (network, alice, bob, _) = room()
        alice.share("plan.png", bytes(6 << 20))
        for _ in 1...5 {
            network.run(for: 150)
            network.resetBlobLink(alice, bob)
        }
        #expect(network.run(within: 20_000) { alice.images["plan.png"] == .sent })
        #expect(bob.images["plan.png"] == .received(path: "/downloads/plan.png"))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a chat link that breaks at the end of a transfer doesn't leave the sender waiting`(seed: UInt64) {
        let (network, alice, bob, carol) = room(seed)
        alice.share("plan.png", bytes(1_000))
        let end = network.chance(20...150)
        network.run(for: end)
        network.reset(alice, bob)
        network.reset(alice, carol)

        #expect(network.run(within: 10_000) { alice.images["plan.png"] == .sent })
        #expect(alice.said.allSatisfy { !$0.contains("Not") })
    }

    @Test func `a receiver restarted in the middle goes on where it was`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        alice.share("plan.png", bytes(8 << 20))
        #expect(network.run(within: 10_000) { bob.disk.blobs.values.contains { $0.chunks.count >= 4 } })
        bob.crash()
        network.run(for: 5_000)
        let before = alice.bytesSent[bob.key.peer] ?? 0
        bob.start()

        #expect(network.run(within: 10_000) { bob.images["plan.png"] == .received(path: "/downloads/plan.png") })
        #expect((alice.bytesSent[bob.key.peer] ?? 0) - before < 5 << 20, "what was here was fetched again")
        #expect(bob.disk.blobs.values.first?.bytes == bytes(8 << 20))
    }

    @Test func `a sender's cancel ends its transfer, once`() throws {
        let (network, alice, bob, _) = room()
        alice.share("plan.png", bytes(8 << 20))
        network.run(for: 100)
        let id = try #require(alice.id(ofImage: "plan.png"))
        alice.take(.cancel(id))
        alice.take(.cancel(id))
        network.run(for: 10_000)

        #expect(alice.progress(of: id).last == .cancelled)
        #expect(alice.progress(of: id).filter { $0 == .cancelled }.count == 1)
        #expect(alice.images["plan.png"] == .cancelled)
        #expect(bob.room.fetches.isEmpty)
    }

    @Test func `a receiver's cancel ends its part on both sides, and it asks for nothing more`() throws {
        let (network, alice, bob, carol) = room()
        alice.share("plan.png", bytes(8 << 20))
        network.run(for: 100)
        let id = try #require(bob.id(ofImage: "plan.png"))
        bob.take(.cancel(id))
        let asked = bob.messagesSent[SessionMessage.Kind.blobWant.rawValue]
        #expect(network.run(within: 10_000) { alice.images["plan.png"] == .sent })

        #expect(bob.images["plan.png"] == .cancelled)
        #expect(bob.progress(of: id).last == .cancelled)
        #expect(alice.progress(of: id).contains(.failed(bob.key.peer, reason: "cancelled by the receiver")))
        #expect(alice.progress(of: id).contains(.finished(carol.key.peer)))
        #expect(bob.messagesSent[SessionMessage.Kind.blobWant.rawValue] == asked)
        #expect(bob.room.fetches.isEmpty)
    }

    /// Case B06.
    @Test(arguments: [[42, 0, 1 << 19, 7], [7, 42, 0], [0, 42], [1 << 19, 0, 42], [3 << 20, 1, 2, 42]])
    func `of the same bytes announced with several sizes the right one arrives, wherever it stands`(sizes: [UInt64]) {
        let (network, alice, bob, _) = room()
        for size in sizes { alice.share("\(size).png", bytes(42), claiming: size) }
        network.run(for: 5_000)

        #expect(bob.images["42.png"] == .received(path: "/downloads/42.png"))
        #expect(bob.placed.values.sorted() == ["42.png"])
        for size in sizes where size != 42 {
            #expect(bob.images["\(size).png"].map { if case .failed = $0 { true } else { false } } == true, "\(size)")
        }
        #expect(bob.room.fetches.isEmpty)
    }

    @Test func `a state that claims more than there is, or goes back, moves a bar neither beyond its end nor back`()
        throws
    {
        let (network, alice, bob, carol) = room()
        for host in [bob, carol] { host.tamper = { if case .blobWant = $1 { nil } else { $1 } } }
        alice.share("plan.png", bytes(1_000))
        network.run(for: 200)
        let id = try #require(alice.id(ofImage: "plan.png"))
        let root = RoomDisk.Blob(bytes(1_000)).root
        for count in [500, 400, .max, 3] as [UInt64] {
            alice.take(.message(bob.key.peer, .blobState(BlobState(root: root, progress: .verified(count)))))
        }

        #expect(alice.progress(of: id).dropFirst() == [.advanced(bob.key.peer, to: 500), .finished(bob.key.peer)])
    }
}

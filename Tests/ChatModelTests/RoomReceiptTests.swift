import Identity
import Testing

@testable import ChatModel

/// Who is known to have stored what, on links and past them.
struct RoomReceiptTests {
    private let receipt = SessionMessage.Kind.receipt.rawValue

    private func id(_ host: RoomHost, _ command: CommandID) -> (log: LogID, number: UInt64)? {
        guard case .stored(_, let number, _)? = host.replies[command] else { return nil }
        return (host.disk.ownLog, number)
    }

    private func count(_ host: RoomHost, _ command: CommandID) -> DeliveryCount? {
        id(host, command).flatMap { host.book.count(of: $0.number, in: $0.log) }
    }

    private func holders(_ host: RoomHost, _ command: CommandID, of author: RoomHost? = nil) -> [String] {
        guard let (log, number) = id(author ?? host, command) else { return [] }
        return host.book.holders(of: number, in: log).compactMap { peer in
            host.network.hosts.first { $0.key.peer == peer }?.name
        }.sorted()
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `where all are linked each knows who has stored it, and nobody needs a receipt`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob", "carol")
        network.startAll()
        network.run(for: 2_000)

        let command = network.hosts[0].say("lunch?")
        #expect(network.run(within: 1_000) { count(network.hosts[0], command) == DeliveryCount(stored: 2, members: 2) })
        network.run(for: 5_000)

        #expect(network.hosts.allSatisfy { ($0.messagesSent[receipt] ?? 0) == 0 })
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `who reach each other through a third know of each other's disks by receipts`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.separate(alice, carol)
        network.startAll()
        network.run(for: 1_000)
        carol.say("I am here")
        network.run(for: 5_000)

        let command = alice.say("lunch?")

        #expect(network.run(within: 3_000) { holders(alice, command) == ["bob", "carol"] })
        #expect(count(alice, command) == DeliveryCount(stored: 2, members: 2))
        #expect(holders(bob, command, of: alice).contains("carol"))
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `a receipt goes down a chain of four, at most one a second of each holder over each link`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob", "carol", "dave")
        for (one, other) in [(0, 2), (0, 3), (1, 3)] { network.separate(network.hosts[one], network.hosts[other]) }
        network.startAll()
        network.run(for: 3_000)
        network.hosts[3].say("hello from the end")
        network.run(for: 10_000)
        let before = network.hosts.map { $0.messagesSent[receipt] ?? 0 }

        var last: CommandID?
        for number in 1...100 {
            last = network.hosts[0].say("line \(number)")
            network.run(for: 100)
        }
        guard let last else { return }
        #expect(network.run(within: 5_000) { holders(network.hosts[0], last) == ["bob", "carol", "dave"] })

        // 10 to 15 s: the ends send their own over one link, those between their own over two and others' over one each.
        let sent = zip(network.hosts, before).map { ($0.messagesSent[receipt] ?? 0) - $1 }
        #expect(sent[0] <= 17 && sent[3] <= 17 && sent[1] <= 17 * 5 && sent[2] <= 17 * 5)
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `what is sent with nobody there counts who comes`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.start()
        let command = alice.say("hello?")
        network.run(for: 100)
        #expect(count(alice, command) == DeliveryCount(stored: 0, members: 0))

        bob.start()

        #expect(network.run(within: 2_000) { count(alice, command) == DeliveryCount(stored: 1, members: 1) })
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `who is away is a member for a week, and is counted when it comes back`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob", "carol")
        let (alice, carol) = (network.hosts[0], network.hosts[2])
        network.startAll()
        network.run(for: 2_000)
        carol.leave()
        network.run(for: 1_000)

        let command = alice.say("lunch?")
        network.run(for: 2_000)
        #expect(count(alice, command) == DeliveryCount(stored: 1, members: 2))
        network.run(for: RoomLimits().memberPeriod)
        let later = alice.say("still there?")
        network.run(for: 2_000)
        #expect(count(alice, later) == DeliveryCount(stored: 1, members: 1))

        carol.start()
        #expect(network.run(within: 60_000) { count(alice, command) == DeliveryCount(stored: 2, members: 2) })
        #expect(count(alice, later) == DeliveryCount(stored: 1, members: 1))
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `a receipt waits with somebody else for an author who was away`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.startAll()
        network.run(for: 2_000)
        bob.crash()
        network.run(for: 5_000)
        let command = alice.say("for bob")
        network.run(for: 2_000)
        let place = id(alice, command)
        alice.crash()
        bob.start()
        #expect(network.run(within: 60_000) { bob.texts == ["for bob"] })
        network.run(for: 5_000)
        // The word on bob's disk is with carol, on hers.
        bob.crash()
        carol.crash()
        network.run(for: 5_000)
        carol.start()
        alice.start()

        #expect(
            network.run(within: 60_000) {
                place.map { alice.book.holders(of: $0.number, in: $0.log).contains(bob.key.peer) } == true
            })
    }

    @Test func `a receipt that isn't its holder's word is the end of the link that it came over`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.separate(alice, carol)
        bob.tamper = { _, message in
            guard case .receipt(let receipt) = message, receipt.holder == carol.key.peer else { return message }
            var bytes = receipt.bytes
            bytes[bytes.count - 1] ^= 1
            return (try? Receipt(decoding: bytes)).map { .receipt($0) }
        }
        network.startAll()
        network.run(for: 1_000)
        carol.say("I am here")
        network.run(for: 4_000)
        let command = alice.say("lunch?")
        network.run(for: 10_000)

        #expect(!holders(alice, command).contains("carol"))
        #expect(alice.said.contains("'bob' is Not Connected"))
    }

    @Test func `an old receipt tells nothing, whoever brings it`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        let carol = Samples.key(9)
        network.startAll()
        network.run(for: 2_000)
        func receipt(_ counter: UInt64, _ last: UInt64) -> Receipt {
            let range = EventRange(numbers: 1...last, lastID: .none)
            let entry = Have.Entry(log: alice.disk.ownLog, ranges: [range])
            return Receipt(
                signing: .init(counter: counter, name: "carol", links: [], entries: [entry]), in: network.id,
                with: carol)
        }

        for (counter, last) in [(5, 3), (4, 9), (5, 9), (9, 2), (8, 9)] as [(UInt64, UInt64)] {
            alice.take(.message(bob.key.peer, .receipt(receipt(counter, last))))
            network.run(for: 100)
        }

        #expect(alice.book.holders(of: 2, in: alice.disk.ownLog).contains(carol.peer))
        #expect(!alice.book.holders(of: 3, in: alice.disk.ownLog).contains(carol.peer))
    }

    @Test func `receipts of ever more keys take bounded memory`() {
        var limits = RoomLimits()
        limits.maximumStrangers = 8
        let network = RoomNetwork(seed: 1, "alice", "bob", limits: limits)
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 2_000)

        for number in 10..<60 {
            let receipt = Receipt(
                signing: .init(counter: 1, name: "x", links: [], entries: []), in: network.id, with: Samples.key(number)
            )
            alice.take(.message(bob.key.peer, .receipt(receipt)))
        }
        network.run(for: 2_000)

        #expect(alice.disk.receipts.count <= 8)
    }
}

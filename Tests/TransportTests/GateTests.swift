import Addressing
import Dispatch
import Testing

@testable import Transport

@Suite struct GateTests {
    private let far = IPAddress.v4(0xc0a8_0001)
    private let own = IPAddress.v4(0xc0a8_0002)
    private let networks = LocalNetworks(
        addresses: [.v4(0xc0a8_0002)], prefixes: [0xfd00_0000_0000_0001],
        subnets: [.init(of: 0xc0a8_0002, mask: 0xffff_0000), .init(of: 0x0a00_0001, mask: 0xff00_0000)])
    private let start = SuspendingClock.now

    /// How many get in at one moment, by chances that are never bad luck.
    private func admitted(_ addresses: [IPAddress], _ limits: TransportLimits = .init(), chance: Double = 0.999) -> Int
    {
        var gate = Gate(limits)
        return addresses.filter { refusal(of: $0, by: &gate, chance: chance) == nil }.count
    }

    private func enter(_ address: IPAddress, _ gate: inout Gate, chance: Double = 0.999) throws -> Gate.Ticket {
        try gate.enter(address, networks: networks, chance: chance, now: start)
    }

    private func refusal(
        of address: IPAddress, by gate: inout Gate, chance: Double = 0.999, after time: Duration = .zero
    ) -> Gate.Refusal? {
        do throws(Gate.Refusal) {
            _ = try gate.enter(address, networks: networks, chance: chance, now: start.advanced(by: time))
            return nil
        } catch { return error }
    }

    private func hosts(_ high: UInt64, _ count: UInt64) -> [IPAddress] {
        (1...count).map { .v6(high: high, low: $0, scope: 2) }
    }

    private func hosts(_ count: UInt32) -> [IPAddress] { (1...count).map { .v4(0x0a00_0000 + $0) } }

    @Test func `one address gets four, our own as many as there are`() {
        #expect(admitted(Array(repeating: far, count: 10)) == 4)
        #expect(admitted(Array(repeating: hosts(0xfe80 << 48, 1)[0], count: 10)) == 4)
        #expect(admitted(Array(repeating: own, count: 100)) == 48)
        #expect(admitted(Array(repeating: .loopback, count: 100)) == 48)
    }

    @Test func `an IPv6 network gets 40 if it is ours or link-local, else 4, and none unless that is wanted`() {
        var routed = TransportLimits()
        routed.takesRouted = true
        #expect(admitted(hosts(0xfd00_0000_0000_0001, 50)) == 40)
        #expect(admitted(hosts(0xfe80 << 48, 50)) == 40)
        #expect(admitted(hosts(0xfd00_0000_0000_0002, 50), routed) == 4)
        #expect(admitted(hosts(0xfd00_0000_0000_0002, 50)) == 0)
    }

    @Test func `48 strangers are the most, 64 are with those who are known, and who leaves makes room`() throws {
        var gate = Gate(TransportLimits())
        let known = (1...20).map { IPAddress.v4(0xc0a8_0100 + $0) }
        gate.know(known.dropLast())
        gate.met(at: known[19])
        var tickets = hosts(70).compactMap { try? enter($0, &gate) }
        #expect(tickets.count == 48 && !tickets[0].isKnown)

        gate.know([own])
        #expect(refusal(of: own, by: &gate) == .crowded)
        let more = known.compactMap { try? enter($0, &gate) }
        #expect(more.count == 16 && more[0].isKnown && gate.total == 64)

        gate.leave(tickets.removeLast())
        #expect(refusal(of: far, by: &gate) == .crowded)
        #expect(refusal(of: known[19], by: &gate) == nil)
    }

    @Test func `word of an address lets in from there, and reserves nothing`() throws {
        var gate = Gate(TransportLimits())
        let beyond = (1...600).map { IPAddress.v4(0xac10_0000 + $0) }
        gate.hint(beyond)

        #expect(refusal(of: beyond[87], by: &gate) == .offLink)
        let tickets = beyond.suffix(512).compactMap { try? enter($0, &gate) }
        #expect(tickets.count == 48 && tickets.allSatisfy { !$0.isKnown })
    }

    /// A host with an address that others could be behind.
    private static let outer = Transport.ownAddresses().first

    @Test(.enabled(if: outer != nil, "needs an interface beside lo"), arguments: [false, true])
    func `a peer beyond our links is reset, and linked where one was met or is hinted`(isHinted: Bool) throws {
        let (alice, bob) = (try Node(), try Node())
        let address = try #require(Self.outer)
        alice.transport.core.queue.sync { alice.transport.core.askNetworks = { Self.elsewhere } }
        let refused = bob.transport.dial([Endpoint(address: address, port: alice.port)], expecting: alice.peer)
        try bob.wait { $0.result(of: refused) != nil }
        try alice.wait { $0.refusals == ["not on a network of ours; --peer or --routed would let it in"] }
        #expect(alice.sockets.isEmpty)

        if isHinted { alice.transport.admit(from: [address]) } else { alice.transport.expect(at: [address]) }
        bob.transport.dial([Endpoint(address: address, port: alice.port)], expecting: alice.peer)

        try alice.wait { $0.isUp(bob.peer) }
    }

    /// What a host on none of this machine's networks has.
    private static let elsewhere = LocalNetworks(addresses: [.loopback])

    @Test func `strangers are refused by chance, the more the fewer places there are`() {
        let counts = [0, 0.25, 0.5, 0.75].map { admitted(hosts(70), chance: $0) }

        #expect(counts == [32, 36, 40, 44])
    }

    @Test func `from beyond our networks only who is known or hinted gets in`() {
        var gate = Gate(TransportLimits())
        for beyond in [IPAddress.v4(0x0808_0808), .v4(0xac10_0001), .v6(high: 0x2001 << 48, low: 1, scope: 0)] {
            #expect(refusal(of: beyond, by: &gate) == .offLink)
            gate.know([beyond])
            #expect(refusal(of: beyond, by: &gate) == nil)
        }
        #expect(refusal(of: .v4(0xac10_0002), by: &gate) == .offLink)
        gate.hint([.v4(0xac10_0002)])
        #expect(refusal(of: .v4(0xac10_0002), by: &gate) == nil)
        for near in [own, far, .v4(0x0a01_0203), .v4(0xa9fe_0001), .loopback, hosts(0xfe80 << 48, 1)[0]] {
            #expect(refusal(of: near, by: &gate) == nil)
        }
        #expect(LocalNetworks().isOnLink(.v4(0x0808_0808)))
    }

    @Test func `this host's interfaces are known with their networks`() {
        let networks = LocalNetworks.current()

        #expect(networks.isOwn(.loopback) && networks.isOnLink(.v4(0x7f01_0203)))
        #expect(networks.subnets.contains(.init(of: 0x7f00_0001, mask: 0xff00_0000)))
    }

    // MARK: Back-off

    /// Fails so often at a time.
    private func fail(_ address: IPAddress, _ count: Int, _ gate: inout Gate, at time: Duration) throws {
        for _ in 0..<count {
            let now = start.advanced(by: time)
            let ticket = try gate.enter(address, networks: networks, chance: 0.999, now: now)
            gate.failed(ticket, now: now)
            gate.leave(ticket)
        }
    }

    private func isBarred(_ address: IPAddress, _ gate: Gate, at time: Duration) -> Bool {
        var gate = gate
        return refusal(of: address, by: &gate, after: time) == .barred
    }

    @Test func `who fails too often is barred, twice as long each time, and nobody else is`() throws {
        var gate = Gate(TransportLimits())
        try fail(far, 8, &gate, at: .zero)
        #expect(!isBarred(far, gate, at: .zero))
        var time = Duration.zero
        var expected = Duration.seconds(1)
        try fail(far, 1, &gate, at: time)
        for _ in 1...8 {
            #expect(isBarred(far, gate, at: time + expected - .milliseconds(1)))
            #expect(!isBarred(far, gate, at: time + expected))
            #expect(!isBarred(.v4(0xc0a8_0005), gate, at: time) && !isBarred(own, gate, at: time))
            time += expected
            expected = min(expected * 2, .seconds(60))
            try fail(far, 9, &gate, at: time)
        }
        #expect(expected == .seconds(60))
    }

    @Test func `failures are forgotten: one a second, all when a peer is there, and the pauses after a quiet time`()
        throws
    {
        var gate = Gate(TransportLimits())
        for second in 0..<100 { try fail(far, 1, &gate, at: .seconds(second)) }
        #expect(!isBarred(far, gate, at: .seconds(100)))
        try fail(far, 9, &gate, at: .seconds(200))
        try fail(far, 9, &gate, at: .seconds(201))
        #expect(isBarred(far, gate, at: .milliseconds(202_900)))
        try fail(far, 9, &gate, at: .seconds(300))
        #expect(!isBarred(far, gate, at: .seconds(301)))
        try fail(far, 8, &gate, at: .seconds(301))
        gate.met(at: far)
        try fail(far, 8, &gate, at: .seconds(301))
        #expect(!isBarred(far, gate, at: .seconds(301)))
    }

    @Test func `where a peer is, somebody else's failures bar for a second at most`() throws {
        var gate = Gate(TransportLimits())
        gate.met(at: far)
        for second in stride(from: 0, to: 20, by: 2) {
            try fail(far, 9, &gate, at: .seconds(second))
            #expect(isBarred(far, gate, at: .milliseconds(second * 1000 + 999)))
            #expect(!isBarred(far, gate, at: .seconds(second + 1)))
        }
    }

    @Test func `our own addresses are never barred`() throws {
        var gate = Gate(TransportLimits())
        try fail(own, 100, &gate, at: .zero)
        #expect(!isBarred(own, gate, at: .zero))
    }

    @Test func `what is remembered of failures and of addresses is bounded`() {
        let limits = TransportLimits()
        var (offences, known) = (Offences(limits), KnownAddresses(limit: 100))
        for host in hosts(5_000) {
            for _ in 0..<9 { offences.note(host, isKnown: false, now: start) }
            known.insert(host)
        }
        offences.note(far, isKnown: false, now: start + .seconds(600))

        #expect(offences.count == 1)
        #expect(known.contains(hosts(5_000)[4_900]) && !known.contains(hosts(4_900)[4_899]))
    }

    @Test func `a refusal is news once an interval, for each cause and address`() {
        var log = RefusalLog(interval: .seconds(60))
        let now = start

        let first = [log.isNews("a", from: far, now: now), log.isNews("a", from: far, now: now + .seconds(59))]
        let others = [log.isNews("b", from: far, now: now), log.isNews("a", from: .loopback, now: now)]
        let later = log.isNews("a", from: far, now: now + .seconds(60))

        #expect(first == [true, false])
        #expect(others == [true, true])
        #expect(later)
    }

    @Test func `of a flood from many addresses a few refusals are told`() {
        var log = RefusalLog(interval: .seconds(60))

        let told = hosts(5_000).filter { log.isNews("a", from: $0, now: start) }.count
        let isLaterNews = log.isNews("a", from: far, now: start + .seconds(61))

        #expect(told == 256)
        #expect(isLaterNews)
    }
}

import Addressing
import Identity
import Testing

@testable import Discovery

struct AdvertTableTests {
    private let own = SigningKey().peer
    private let bob = SigningKey().peer
    private let carol = SigningKey().peer
    private var table: AdvertTable

    init() { table = AdvertTable(own: own, room: "lab") }

    private func key(_ interface: Int32, _ family: RecordKey.Family, _ instance: String = "bob") -> RecordKey {
        RecordKey(interface: interface, family: family, instance: Array(instance.utf8))
    }

    private func resolution(_ peer: PeerID, _ endpoint: Endpoint, onLoopback: Bool = false) -> Resolution {
        Resolution(
            endpoint: endpoint, text: AdvertText.strings(room: "lab", peer: peer), isLoopback: onLoopback)
    }

    private let wired = Endpoint(address: .v4(0x0a00_0002), port: 7311)
    private let wireless = Endpoint(address: .v4(0x0a01_0002), port: 7311)
    private let linkLocal = Endpoint(address: .v6(high: 0xfe80 << 48, low: 2, scope: 2), port: 7311)

    @Test mutating func `a peer with four records is found once and lost with the last of them`() {
        var events: [[DiscoveryEvent]] = []

        events.append(table.resolved(key(2, .v4), to: resolution(bob, wired)))
        events.append(table.resolved(key(2, .v6), to: resolution(bob, linkLocal)))
        events.append(table.resolved(key(3, .v4), to: resolution(bob, wireless)))
        events.append(table.resolved(key(2, .v4), to: resolution(bob, wired)))
        events.append(table.removed(key(2, .v6)))
        events.append(table.removed(key(3, .v4)))
        events.append(table.removed(key(2, .v4)))

        #expect(
            events == [
                [.found(bob, instance: "bob", endpoints: [wired])],
                [.found(bob, instance: "bob", endpoints: [wired, linkLocal])],
                [.found(bob, instance: "bob", endpoints: [wired, wireless, linkLocal])],
                [],
                [.found(bob, instance: "bob", endpoints: [wired, wireless])],
                [.found(bob, instance: "bob", endpoints: [wired])],
                [.lost(bob)],
            ])
        #expect(table.removed(key(2, .v4)) == [])
    }

    @Test mutating func `one address heard on two interfaces is one endpoint`() {
        _ = table.resolved(key(2, .v4), to: resolution(bob, wired))
        #expect(table.resolved(key(3, .v4), to: resolution(bob, wired)) == [])
        #expect(table.removed(key(2, .v4)) == [])
        #expect(table.removed(key(3, .v4)) == [.lost(bob)])
    }

    @Test mutating func `we aren't found, by whatever name and on whatever port`() {
        let elsewhere = Endpoint(address: .v4(0x0a00_0009), port: 1)
        #expect(table.resolved(key(2, .v4, "me"), to: resolution(own, wired)) == [])
        #expect(table.resolved(key(2, .v4, "somebody"), to: resolution(own, elsewhere)) == [])
        #expect(table.removed(key(2, .v4, "me")) == [])
    }

    @Test mutating func `another peer under our very instance name is found by its PeerID`() {
        #expect(table.resolved(key(2, .v4, "me"), to: resolution(own, wired)) == [])
        #expect(
            table.resolved(key(3, .v4, "me"), to: resolution(bob, wireless)) == [
                .found(bob, instance: "me", endpoints: [wireless])
            ])
    }

    @Test mutating func `a peer that comes back under another name is the same peer, by its new name`() {
        let restarted = Endpoint(address: wired.address, port: 7312)
        _ = table.resolved(key(2, .v4, "alice"), to: resolution(bob, wired))

        let renamed = table.resolved(key(2, .v4, "alicia"), to: resolution(bob, restarted))
        let heardAgain = table.resolved(key(2, .v4, "alice"), to: resolution(bob, wired))
        let expired = table.removed(key(2, .v4, "alice"))

        #expect(renamed == [.found(bob, instance: "alicia", endpoints: [restarted, wired])])
        #expect(heardAgain == [])
        #expect(expired == [.found(bob, instance: "alicia", endpoints: [restarted])])
    }

    @Test mutating func `a record that passes to another peer leaves the first`() {
        _ = table.resolved(key(2, .v4), to: resolution(bob, wired))
        #expect(
            table.resolved(key(2, .v4), to: resolution(carol, wired)) == [
                .lost(bob), .found(carol, instance: "bob", endpoints: [wired]),
            ])
    }

    @Test mutating func `a record whose text turns invalid is gone`() {
        _ = table.resolved(key(2, .v4), to: resolution(bob, wired))
        #expect(table.resolved(key(2, .v4), to: Resolution(endpoint: wired, text: [])) == [.lost(bob)])
    }

    @Test mutating func `two instances whose names are equal only to Unicode are two`() {
        _ = table.resolved(key(2, .v4, "e\u{301}"), to: resolution(bob, wired))
        _ = table.resolved(key(2, .v4, "\u{e9}"), to: resolution(carol, wired))

        #expect(table.removed(key(2, .v4, "\u{e9}")) == [.lost(carol)])
        #expect(table.removed(key(2, .v4, "e\u{301}")) == [.lost(bob)])
    }

    @Test(arguments: [
        IPAddress.anyV4, .anyV6, .v4(0xe000_00fb), .v4(0xffff_ffff), .v4(1),
        .v6(high: 0xff02 << 48, low: 0xfb, scope: 0),
        .v6(high: 0xfe80 << 48, low: 1, scope: 0), .v6(high: 0, low: 0xffff_0a00_0001, scope: 0), .loopback,
        .v6(high: 0, low: 1, scope: 0),
    ]) mutating func `an address that no other host can have is no endpoint`(address: IPAddress) {
        #expect(table.resolved(key(2, .v4), to: resolution(bob, Endpoint(address: address, port: 7311))) == [])
        #expect(table.resolved(key(2, .v4), to: resolution(bob, Endpoint(address: wired.address, port: 0))) == [])
    }

    @Test mutating func `a loopback address counts where only this host speaks, and comes first`() {
        let loopback = Endpoint(address: .loopback, port: 7311)
        _ = table.resolved(key(2, .v4), to: resolution(bob, wired))
        #expect(
            table.resolved(key(1, .v4), to: resolution(bob, loopback, onLoopback: true)) == [
                .found(bob, instance: "bob", endpoints: [loopback, wired])
            ])
    }

    @Test mutating func `a thousand forged records of one peer give few endpoints`() {
        var last: [DiscoveryEvent] = []
        for index in 0..<1000 {
            let endpoint = Endpoint(address: .v4(0x0a00_0000 + UInt32(index)), port: 7311)
            let told = table.resolved(key(2, .v4, "fake\(index)"), to: resolution(bob, endpoint))
            if !told.isEmpty { last = told }
        }
        guard case .found(bob, _, let endpoints) = last.last else {
            Issue.record("bob isn't found: \(last)")
            return
        }
        #expect(endpoints.count == AdvertTable.maximumEndpoints)
    }

    @Test mutating func `after a new beginning, what is heard again stays and the rest goes`() {
        _ = table.resolved(key(2, .v4), to: resolution(bob, wired))
        _ = table.resolved(key(2, .v6), to: resolution(bob, linkLocal))
        _ = table.resolved(key(2, .v4, "carol"), to: resolution(carol, wireless))

        table.beginGeneration()
        let heardAgain = table.resolved(key(2, .v4), to: resolution(bob, wired))
        let swept = table.sweep()

        #expect(heardAgain == [])
        #expect(
            Set(swept.map { "\($0)" })
                == Set(
                    [DiscoveryEvent.found(bob, instance: "bob", endpoints: [wired]), .lost(carol)].map { "\($0)" }))
    }

    @Test mutating func `what one stack hears no more, another may still hear`() {
        var second = key(2, .v4)
        second.lane = 1
        _ = table.resolved(key(2, .v4), to: resolution(bob, wired))
        #expect(table.resolved(second, to: resolution(bob, wired)) == [])

        table.beginGeneration(0)
        #expect(table.sweep(0) == [])
        #expect(table.removed(second) == [.lost(bob)])
    }
}

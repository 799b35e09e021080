import Addressing
import Dispatch
import Glibc
import HostilePeer
import Identity
import SystemCalls
import Testing

@testable import Transport

@Suite struct DialTests {
    private let bob = Keyring.newPeer()

    /// A port that nobody listens on: bound, so that nobody else gets it.
    private func withClosedPort(_ body: (Endpoint) throws -> Void) throws {
        let descriptor = try FakePeer.newSocket(.loopback)
        defer { close(descriptor) }
        try systemCall("bind", "127.0.0.1") {
            SocketAddress.with(Endpoint(address: .loopback, port: 0)) { bind(descriptor, $0, $1) }
        }
        try body(try #require(SocketAddress.filled { getsockname(descriptor, $0, $1) }.1))
    }

    private func failure(_ node: Node, _ dial: DialID) throws -> (reason: String, refused: Bool) {
        try node.wait { if case .failed = $0.result(of: dial) { true } else { false } }
        guard case .failed(let reason, let refused) = node.events.result(of: dial) else { throw FakePeer.Ended() }
        return (reason, refused)
    }

    @Test func `a refused dial fails at once and says so`() throws {
        let alice = try Node()
        try withClosedPort { endpoint in
            let start = ContinuousClock.now

            let (reason, refused) = try failure(alice, alice.transport.dial([endpoint], expecting: bob))

            #expect(reason == "connect \(endpoint): Connection refused (errno 111)")
            #expect(refused)
            #expect(ContinuousClock.now - start < .seconds(1))
        }
    }

    @Test func `a dial of no address fails`() throws {
        let alice = try Node()

        let (reason, refused) = try failure(alice, alice.transport.dial([], expecting: bob))

        #expect(reason == "no address" && !refused)
    }

    @Test func `an address that says nothing fails in time, and isn't a refusal`() throws {
        var limits = TransportLimits()
        limits.opening = .milliseconds(300)
        let alice = try Node(limits: limits)
        let silent = try FakeListener()

        let (reason, refused) = try failure(alice, alice.transport.dial([silent.endpoint], expecting: bob))

        #expect(reason == "no answer in time" && !refused)
        try eventually { alice.sockets.isEmpty }
    }

    @Test func `an address that is refused or says nothing doesn't keep the next from being tried`() throws {
        let (alice, other) = (try Node(), try Node())
        let silent = try FakeListener()
        try withClosedPort { closed in
            let start = ContinuousClock.now

            let dial = alice.transport.dial([closed, silent.endpoint, other.endpoint], expecting: other.peer)

            try alice.wait { $0.result(of: dial) == .linked(other.peer) }
            let taken = ContinuousClock.now - start
            #expect(taken >= .milliseconds(190) && taken < .seconds(2))
        }
        try eventually { alice.sockets.count == 1 }
    }

    @Test func `several addresses of one peer give one link`() throws {
        var limits = TransportLimits()
        limits.stagger = .zero
        let (alice, other) = (try Node(limits: limits), try Node())
        let sixth = Endpoint(address: .v6(high: 0, low: 1, scope: 0), port: other.port)

        let dial = alice.transport.dial([other.endpoint, sixth, other.endpoint], expecting: other.peer)

        try alice.wait { $0.result(of: dial) == .linked(other.peer) }
        try eventually { alice.sockets.count == 1 && other.sockets == alice.sockets }
        #expect(other.events.count { if case .linkUp = $0 { true } else { false } } == 1)
    }

    @Test func `another peer than the expected one fails the dial and gets no link`() throws {
        let (alice, other) = (try Node(), try Node())

        let (reason, refused) = try failure(alice, alice.transport.dial([other.endpoint], expecting: bob))

        #expect(reason == "\(other.endpoint): another peer answers, \(other.peer.suffix)")
        #expect(!refused)
        try eventually { other.sockets.isEmpty }
        #expect(!other.events.isUp(alice.peer))
    }

    @Test func `a dial that expects nobody takes whom it finds`() throws {
        let (alice, other) = (try Node(), try Node())

        let dial = alice.transport.dial([other.endpoint], expecting: nil)

        try alice.wait { $0.result(of: dial) == .linked(other.peer) }
    }

    @Test func `a peer of another room fails the dial`() throws {
        let (alice, other) = (try Node(), try Node(room: RoomKey(openRoom: RoomID(openRoom: "den"))))

        let (reason, refused) = try failure(alice, alice.dial(other))

        #expect(reason == "\(other.endpoint) closed the connection")
        #expect(!refused)
    }

    @Test func `a taken port can't be listened on`() throws {
        let node = try Node()

        #expect {
            try node.transport.listen(on: .everywhere(port: node.port))
        } throws: {
            ($0 as? SystemCallError)?.code == EADDRINUSE
        }
    }

    @Test func `names and addresses are resolved`() throws {
        #expect(try Endpoint.resolve(host: "127.0.0.1", port: 7) == [Endpoint(address: .loopback, port: 7)])
        #expect(
            try Endpoint.resolve(host: "::1", port: 7) == [Endpoint(address: .v6(high: 0, low: 1, scope: 0), port: 7)])
        #expect(throws: ResolutionError(host: "not an address", code: EAI_NONAME)) {
            try Endpoint.resolve(host: "not an address", port: 7)
        }
    }
}

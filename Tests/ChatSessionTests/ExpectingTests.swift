import Addressing
import ChatModel
import Dispatch
import Identity
import ResourceCounting
import Rx
import Testing

@testable import ChatSession
@testable import Transport

@Suite(.countsResources) struct ExpectingTests {
    /// A host on none of the addresses' networks.
    private static let networks = LocalNetworks(addresses: [.loopback])

    @Test func `where peers were, and where they say that they are, Transport lets them in from`() {
        let transport = Transport(
            room: RoomKey(openRoom: RoomID(openRoom: "lab")), key: SigningKey(),
            greeting: { Frame(kind: Frame.firstSessionKind, body: []) }, frameLimit: { _ in nil })
        let links = LinksLoop(transport, CallbackAnswers { _ in true }, Intake { _, _ in })
        let (was, says, other) = (IPAddress.v4(0x0a00_0001), IPAddress.v4(0x0a00_0002), IPAddress.v4(0x0a00_0003))

        links.perform(.expect([was]))
        links.perform(.admit([says]))

        let isKnown = transport.core.queue.sync {
            [was, says, other].map { address in
                try? transport.core.gate.enter(address, networks: Self.networks, chance: 0, now: .now).isKnown
            }
        }
        #expect(isKnown == [true, false, nil])
    }
}

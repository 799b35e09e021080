import ChatModel
import Control

/// `chat peers`.
enum PeersCommand {
    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.refuseOperands(of: ClientOptions.peers)
        let daemon = try invocation.connect()
        let peers = try daemon.client.call(.peers, NoFields()).peers
        if invocation.options.has(ClientOptions.json) {
            for peer in peers { try invocation.console.write(jsonLine(peer)) }
            return .success
        }
        var rendering = LineRendering()
        rendering.names.note(peers)
        let isLong = invocation.options.has(GateOptions.long)
        try invocation.console.print(
            isLong ? peers.flatMap { PeerDetails.lines($0, rendering) } : rendering.peers(peers))
        if peers.isEmpty {
            invocation.console.complain("nobody else is in \(SafeText.name(daemon.hello.room)) yet")
        }
        return .success
    }
}

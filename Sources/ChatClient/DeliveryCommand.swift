import ChatModel
import Control

/// `chat delivery`.
enum DeliveryCommand {
    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let words = invocation.options.operands
        if words.count > 1 { throw DeliveryOptions.delivery.error("unexpected '\(safeWord(words[1]))'") }
        let daemon = try invocation.connect()
        let id = try words.first ?? newestOwn(daemon)
        let view = try daemon.client.call(.delivery, DeliveryParameters(id: id))
        if invocation.options.has(ClientOptions.json) {
            try invocation.console.write(jsonLine(view))
        } else {
            try invocation.console.print(DeliveryTable(names: try daemon.names()).lines(view))
        }
        return .success
    }

    private static func newestOwn(_ daemon: Daemon) throws -> String {
        var wanted = LogParameters(count: 1)
        wanted.from = daemon.hello.peer
        guard let id = try daemon.client.call(.log, wanted).lines.last?.id else {
            throw CommandFailure(.usage, "nothing was sent from here yet; which message? chat log --json prints ids")
        }
        return id
    }
}

/// Who has stored a message, for people.
struct DeliveryTable {
    var names: NameBook
    var rendering = LineRendering()

    init(names: NameBook) { self.names = names }

    func lines(_ view: DeliveryView) -> [String] {
        if view.peers.isEmpty { return ["stored here; nobody else was in the room yet"] }
        let rows = view.peers.map { peer in
            [names.label(peer.name, suffix: peer.suffix), peer.state.rawValue, remark(peer)]
        }
        let widths = (0..<2).map { column in rows.map { DisplayWidth.columns(of: $0[column]) }.max() ?? 0 }
        return ["stored by \(view.count.stored) of \(view.count.members)"]
            + rows.map { row in
                let cells = [
                    DisplayWidth.padded(row[0], to: widths[0]),
                    row[2].isEmpty ? row[1] : DisplayWidth.padded(row[1], to: widths[1]), row[2],
                ]
                return "  " + cells.filter { !$0.isEmpty }.joined(separator: "  ")
            }
    }

    private func remark(_ peer: DeliveryView.Peer) -> String {
        switch (peer.state, peer.isMember) {
        case (.stored, true): ""
        case (.stored, false): "it came later"
        case (.pending, _): presence(peer)
        case (.unknown, _): "its author is told"
        }
    }

    /// Such as `bob, carol (away since 14:03)`: those who don't have it yet.
    func missing(_ view: DeliveryView) -> String {
        view.peers.filter { $0.state == .pending }.map { peer in
            "\(names.label(peer.name, suffix: peer.suffix)) (\(presence(peer)))"
        }.joined(separator: ", ")
    }

    private func presence(_ peer: DeliveryView.Peer) -> String {
        if peer.presence == .connected { return "connected" }
        // Others pass on what it gets, and its word that it has it.
        if peer.presence == .away, peer.since == nil { return "not linked with this host" }
        return peer.presence.rawValue + (peer.since.map { " since \(rendering.time($0))" } ?? "")
    }
}

/// The command lines of who has what.
enum DeliveryOptions {
    static let delivery = OptionTable(
        "chat delivery", summary: "List who has stored a message, and who hasn't yet", operands: "[ID]",
        options: [ClientOptions.json, ClientOptions.stateDirectory, ClientOptions.room],
        notes: [
            """
            ID is what chat send --print-id and chat log --json print; without it: the newest message sent from here.
            A message is for those who were in the room when it was sent, or in the seven days before.
            """
        ])
}

import ChatModel
import Control

/// `chat trust`, `block`, `unblock`, `accept`, `refuse`.
enum DecideCommand {
    static func run(_ decision: PeerDecision, _ table: OptionTable, _ invocation: Invocation) throws -> ExitStatus {
        let word = try invocation.onlyPeer(of: table)
        let daemon = try invocation.connect()
        let result = try daemon.client.call(.decide, DecideParameters(peer: word, decision: decision.rawValue))
        try invocation.console.print("\(SafeText.name(result.name)) (\(result.suffix)) is \(participle(decision))")
        return .success
    }

    private static func participle(_ decision: PeerDecision) -> String {
        switch decision {
        case .trust: "trusted"
        case .block: "blocked"
        case .unblock: "not blocked any more"
        case .accept: "let in"
        case .refuse: "turned away"
        }
    }
}

/// `chat verify-peer`.
enum VerifyPeerCommand {
    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let word = try invocation.onlyPeer(of: GateOptions.verifyPeer)
        let daemon = try invocation.connect()
        let result = try daemon.client.call(.verifyPeer, PeerParameters(peer: word))
        if invocation.options.has(ClientOptions.json) {
            try invocation.console.write(jsonLine(result))
        } else {
            try invocation.console.print(result.code)
        }
        return .success
    }
}

/// `chat status`.
enum StatusCommand {
    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.refuseOperands(of: GateOptions.status)
        let daemon = try invocation.connect()
        let status = try daemon.client.call(.status, NoFields())
        if invocation.options.has(ClientOptions.json) {
            try invocation.console.write(jsonLine(status))
        } else {
            try invocation.console.print(lines(status))
        }
        return .success
    }

    static func lines(_ status: StatusResult) -> [String] {
        let seconds = status.uptime / 1000
        var lines = [
            "chatd \(SafeText.line(status.version)), process \(status.pid), up \(seconds / 3600) h \(seconds / 60 % 60) min",
            "room '\(SafeText.line(status.room))' as '\(SafeText.name(status.name))', port \(status.port)",
            "key \(SafeText.line(status.peer))",
            "discovery \(SafeText.line(status.discovery)), admission \(SafeText.line(status.admission))",
            "memory \(ByteCount.text(status.memory)), \(status.descriptors) descriptors, \(status.threads) threads",
            "history \(ByteCount.text(status.history)), images \(ByteCount.text(status.blobs))"
                + " in \(SafeText.line(status.stateDirectory))",
            "linked \(status.peers.count)",
        ]
        lines.insert(contentsOf: (status.troubles ?? []).map { "trouble: \(SafeText.line($0))" }, at: lines.count - 1)
        for peer in status.peers {
            let name = "\(SafeText.name(peer.name)) (\(SafeText.line(peer.suffix)))"
            let pause = peer.isPaused ? ", read no further for now" : ""
            lines.append(
                "  \(name): \(ByteCount.text(peer.queued)) to send, \(ByteCount.text(peer.inHand)) in hand\(pause)")
        }
        return lines
    }
}

extension Invocation {
    /// The one operand of a command about a peer.
    func onlyPeer(of table: OptionTable) throws(UsageError) -> String {
        guard let word = options.operands.first else { throw table.error("which peer?") }
        guard options.operands.count == 1 else {
            throw table.error("unexpected '\(safeWord(options.operands[1]))'; quote a name that has spaces")
        }
        return word
    }
}

/// `chat peers --long`: a few lines for each.
enum PeerDetails {
    static func lines(_ peer: PeerView, _ rendering: LineRendering) -> [String] {
        var lines = ["\(rendering.names.label(peer.name, suffix: peer.suffix))  \(peer.state.rawValue)"]
        func add(_ what: String, _ value: String?) {
            if let value { lines.append("  \(what): \(SafeText.line(value))") }
        }
        add("key", groups(peer.peer))
        add("address", peer.endpoint)
        add("first seen", peer.firstSeen.map(rendering.time))
        add("last seen", peer.state == .connected ? "now" : peer.lastSeen.map(rendering.time))
        add("verdict", peer.verdict)
        add("warning", peer.warning)
        add("clock", peer.clockOffset.map(offset))
        add("last failure", peer.failure)
        return lines
    }

    /// The fingerprint: all digits of the key, four at a time.
    private static func groups(_ key: String) -> String {
        stride(from: 0, to: key.count, by: 4).map { String(key.dropFirst($0).prefix(4)) }.joined(separator: " ")
    }

    private static func offset(_ milliseconds: Int) -> String {
        let tenths = abs(milliseconds) / 100
        if tenths == 0 { return "as here" }
        return "\(tenths / 10).\(tenths % 10) s \(milliseconds > 0 ? "ahead" : "behind")"
    }
}

import ChatModel
import Control

/// `chat verify`.
enum VerifyCommand {
    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.refuseOperands(of: VerifyOptions.verify)
        let timeout = try invocation.options[VerifyOptions.timeout].map { word throws(UsageError) -> Int in
            guard let seconds = Double(word), seconds > 0, seconds <= 3_600 else {
                throw VerifyOptions.verify.error("'\(safeWord(word))' is not a number of seconds up to 3600")
            }
            return Int(seconds * 1_000)
        }
        let daemon = try invocation.connect()
        let result = try daemon.client.call(.verify, VerifyParameters(timeout: timeout))
        if invocation.options.has(ClientOptions.json) {
            try invocation.console.write(jsonLine(result))
        } else {
            try invocation.console.print(lines(result, try daemon.names()))
        }
        return status(result)
    }

    /// What differs is worse than what isn't known.
    static func status(_ result: VerifyResult) -> ExitStatus {
        if result.peers.contains(where: { $0.state == .different }) { return .different }
        return result.peers.contains { $0.state == .same } && !result.peers.contains { $0.state == .silent }
            ? .success : .tryAgain
    }

    static func lines(_ result: VerifyResult, _ names: NameBook) -> [String] {
        let messages = result.messages == 1 ? "1 message" : "\(result.messages) messages"
        let label = { (peer: VerifyResult.Peer) in names.label(peer.name, suffix: peer.suffix) }
        if result.peers.isEmpty { return ["nobody else is linked; this host holds \(messages)"] }
        var lines: [String] = []
        let same = result.peers.filter { $0.state == .same }
        if !same.isEmpty {
            let isAll = same.count == result.peers.count
            let count = isAll ? same.count == 1 ? "both" : "all \(same.count + 1)" : "\(same.count + 1)"
            lines.append("\(count) hold the same \(messages): this host, \(same.map(label).joined(separator: ", "))")
        } else {
            lines.append("this host holds \(messages)")
        }
        for peer in result.peers where peer.state == .different {
            lines += peer.ranges.map { line($0, label(peer), names) }
        }
        for peer in result.peers where peer.state == .silent { lines.append("\(label(peer)) did not answer in time") }
        for author in result.forked {
            lines.append("\(SafeText.line(author)) has two histories under one key: those messages were not compared")
        }
        return lines
    }

    private static func line(_ range: VerifyResult.Range, _ peer: String, _ names: NameBook) -> String {
        let numbers = range.first == range.last ? "\(range.first)" : "\(range.first) to \(range.last)"
        let what = "\(numbers) of \(names.label(range.name, suffix: range.suffix))"
        return switch range.kind {
        case .lackedThere: "\(peer) lacks \(what)"
        case .lackedHere: "this host lacks \(what), which \(peer) has"
        case .other: "\(peer) has other messages among \(what)"
        }
    }
}

enum VerifyOptions {
    static let timeout = CommandOption(
        "timeout", value: "S", help: "Seconds for the others to answer and to catch up (default 5)")
    static let verify = OptionTable(
        "chat verify", summary: "Compare what is stored here with what all others store who are in the room now",
        options: [timeout, ClientOptions.json, ClientOptions.stateDirectory, ClientOptions.room],
        notes: [
            """
            Each host reads its disk and tells, for each author's messages, their numbers and a digest; what differs is
            listed. The status is 0 if all hold the same, 1 if something differs, 75 if somebody did not answer in time or
            nobody is there. What is said while it runs doesn't count.
            """
        ])
}

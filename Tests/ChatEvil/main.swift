import ChatModel
import Control
import Foundation
import Glibc
import HostilePeer
import Identity

/// A hostile peer: one attack, or a storm of them, on one chatd. Not installed.
enum ChatEvil {
    static let rate = CommandOption("rate", value: "N", help: "Attack N times a second")
    static let time = CommandOption("for", value: "SECONDS", help: "Go on for so long; needs --rate")
    static let connections = CommandOption(
        "connections", value: "N", help: "Hold at most N connections at once; 64 by default")
    static let from = CommandOption(
        "from", value: "FIRST+COUNT", help: "Come from COUNT addresses of this host in turn, such as 10.77.64.1+1000")
    static let room = CommandOption("room", value: "ROOM", help: "Know this open room, as anybody does; lab by default")
    static let keyFile = CommandOption("key-file", value: "FILE", help: "Have this room's key")
    static let table = OptionTable(
        "chat-evil", summary: "Attack a chatd, and tell whether it did as docs/security.md promises",
        operands: "ATTACK|all ADDR:PORT", options: [rate, time, connections, from, room, keyFile],
        notes: [
            "Attacks:\n" + Attack.allCases.map { "  \($0.rawValue): \($0.summary)" }.joined(separator: "\n"),
            "Without --rate it attacks once, and exits 0 if the other end did as promised, else 1.",
        ])

    static func run(_ words: [String]) throws -> Bool {
        let parsed = try table.parse(words)
        if parsed.has(.help) {
            say(table.help)
            return true
        }
        guard parsed.operands.count == 2 else { throw table.error("needs an attack and ADDR:PORT") }
        let key = try Aim.room(parsed[room] ?? "lab", keyFile: parsed[keyFile])
        guard let key else { throw table.error("needs a room") }
        let attacker = Attacker(target: try Aim.endpoint(parsed.operands[1]), room: key)
        if let text = parsed[rate] {
            guard let attack = Attack(rawValue: parsed.operands[0]), let rate = Double(text), rate > 0,
                let seconds = Double(parsed[time] ?? ""), let most = Int(parsed[connections] ?? "64"), most > 0
            else { throw table.error("--rate needs one attack, a number, and --for SECONDS") }
            let sources = try parsed[from].map { try Aim.sources($0) } ?? []
            let storm = Storm(
                attack, by: attacker, from: sources, rate: rate, connections: most, for: .seconds(seconds))
            let tally = storm.run()
            say(
                "\(attack.rawValue): \(tally.attempts) attempts, \(tally.connected) connected, "
                    + "\(tally.refused) cut off, \(tally.open) open at once")
            return true
        }
        let attacks = parsed.operands[0] == "all" ? Attack.allCases : Attack(rawValue: parsed.operands[0]).map { [$0] }
        guard let attacks else { throw table.error("no attack '\(SafeText.line(parsed.operands[0]))'") }
        var isAsPromised = true
        for attack in attacks {
            let finding = try attacker.attempt(attack)
            let isRight = finding.isAsPromised(of: attack)
            isAsPromised = isAsPromised && isRight
            say(
                "\(attack.rawValue): \(finding.isClosed ? "closed" : "still open"), "
                    + "\(finding.heard) application bytes heard: \(isRight ? "as promised" : "NOT as promised")")
        }
        return isAsPromised
    }
}

signal(SIGPIPE, SIG_IGN)
do {
    exit(try ChatEvil.run(try CommandWords.ofProcess()) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("chat-evil: \(error)\n".utf8))
    exit(error is UsageError || error is UsageProblem ? 64 : 69)
}

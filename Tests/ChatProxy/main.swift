import Addressing
import Control
import Foundation
import Glibc
import HostilePeer
import Identity

/// A proxy between a chatd and another, with faults, or a man in the middle. Not installed.
enum ChatProxy {
    static let delay = CommandOption("delay", value: "MS", help: "Hold each piece for so long")
    static let cut = CommandOption("cut", value: "BYTES", help: "Reset each connection after so many bytes one way")
    static let flip = CommandOption("flip", value: "BYTE", help: "Change a bit of this byte of each direction")
    static let drop = CommandOption("drop", value: "BYTES", help: "Swallow what comes after so many bytes one way")
    static let drip = CommandOption(
        "drip", value: "BYTES", help: "Pass on so many at once, one such piece every --delay")
    static let middle = CommandOption(
        "middle", help: "End TLS on both sides under an identity of its own, and pass on what they say")
    static let changing = CommandOption("changing", help: "With --middle: another identity for each connection")
    static let room = CommandOption(
        "room", value: "ROOM", help: "With --middle: know this open room, and prove for itself")
    static let keyFile = CommandOption("key-file", value: "FILE", help: "With --middle: have this room's key")
    static let table = OptionTable(
        "chat-proxy", summary: "Stand between two chatd", operands: "LISTEN-ADDR:PORT TARGET-ADDR:PORT",
        options: [delay, cut, flip, drop, drip, middle, changing, room, keyFile],
        notes: ["Runs until it is ended, and tells what came by, every second that something did."])

    static func run(_ words: [String]) throws {
        let parsed = try table.parse(words)
        if parsed.has(.help) { return say(table.help) }
        guard parsed.operands.count == 2 else { throw table.error("needs two times ADDR:PORT") }
        let (here, there) = (try Aim.endpoint(parsed.operands[0]), try Aim.endpoint(parsed.operands[1]))
        if parsed.has(middle) {
            let identity = parsed.has(changing) ? nil : SigningKey()
            let key = try Aim.room(parsed[room], keyFile: parsed[keyFile])
            let middleman = try Middleman(on: here, before: there, room: key, as: identity)
            say("waiting on \(middleman.endpoint)\(identity.map { " as \($0.peer)" } ?? "")")
            tell {
                let report = middleman.report
                return "\(report.connections) connections, \(report.proofs) proofs, application bytes "
                    + "\(report.fromDiallers) from diallers, \(report.fromAcceptors) from acceptors"
            }
        }
        var faults = TCPProxy.Faults()
        faults.delay = .milliseconds(try number(parsed, delay) ?? 0)
        faults.cut = try number(parsed, cut)
        faults.flip = try number(parsed, flip)
        faults.drop = try number(parsed, drop)
        faults.drip = try number(parsed, drip)
        let proxy = try TCPProxy(on: here, to: there, faults)
        say("waiting on \(proxy.endpoint)")
        tell { "\(proxy.connections) connections" }
    }

    private static func number(_ parsed: ParsedArguments, _ option: CommandOption) throws -> Int? {
        guard let text = parsed[option] else { return nil }
        guard let number = Int(text), number >= 0 else { throw table.error("--\(option.name) needs a number") }
        return number
    }

    private static func tell(_ text: () -> String) -> Never {
        var last = ""
        while true {
            let now = text()
            if now != last { say(now) }
            last = now
            sleep(1)
        }
    }
}

signal(SIGPIPE, SIG_IGN)
do {
    try ChatProxy.run(try CommandWords.ofProcess())
} catch {
    FileHandle.standardError.write(Data("chat-proxy: \(error)\n".utf8))
    exit(error is UsageError || error is UsageProblem ? 64 : 74)
}

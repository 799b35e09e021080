import ChatModel
import Control
import Dispatch

/// What `chat send --wait` waits for.
enum WantedDelivery: Equatable {
    case all, any
    case count(Int)

    init?(_ word: String) {
        switch word {
        case "all": self = .all
        case "any": self = .any
        default:
            guard let count = Int(word), count > 0 else { return nil }
            self = .count(count)
        }
    }

    /// One other host at least, whatever is wanted.
    func isMet(by view: DeliveryView) -> Bool {
        let stored = view.peers.count { $0.state == .stored }
        return switch self {
        case .all: view.count.stored == view.count.members && stored > 0
        case .any: stored > 0
        case .count(let count): stored >= count
        }
    }
}

/// Waits until others have stored what was sent.
struct DeliveryWait {
    let wanted: WantedDelivery
    /// When to give up.
    let deadline: DispatchTime?
    let mailbox: Mailbox<ControlClientEvent>

    private static let silence = 2_000  // milliseconds before it says for whom it waits

    /// - Throws: ``ExitStatus/tryAgain`` when the time is over: it is stored here all the same.
    func wait(for id: String, _ daemon: Daemon) throws {
        var view = try daemon.client.call(.delivery, DeliveryParameters(id: id, follow: true))
        var hasSpoken = false
        while !wanted.isMet(by: view) {
            switch next(isFirst: !hasSpoken) {
            case .event(.notification(.delivery(let news))): if news.id == id { view = news }
            case .event(.notification(.gap)), .event(.ended):
                throw CommandFailure(.unavailable, "chatd went away; the message is stored")
            case .event: break
            case .silence:
                hasSpoken = true
                daemon.console.complain("stored; \(try standing(view, daemon)); waiting")
            case .over: throw CommandFailure(.tryAgain, "stored here; \(try standing(view, daemon))")
            }
        }
    }

    private enum Next { case event(ControlClientEvent), silence, over }

    private func next(isFirst: Bool) -> Next {
        let left = deadline.map { deadline -> Int in
            let (now, end) = (DispatchTime.now().uptimeNanoseconds, deadline.uptimeNanoseconds)
            return end > now ? Int(clamping: (end - now + 999_999) / 1_000_000) : 0
        }
        if left == 0, let event = mailbox.take(within: 0) { return .event(event) }
        if left == 0 { return .over }
        let patience = isFirst ? min(left ?? .max, Self.silence) : left
        guard let patience else { return mailbox.take().map { .event($0) } ?? .event(.ended) }
        if let event = mailbox.take(within: patience) { return .event(event) }
        return patience == left ? .over : .silence
    }

    private func standing(_ view: DeliveryView, _ daemon: Daemon) throws -> String {
        let missing = DeliveryTable(names: try daemon.names()).missing(view)
        if view.peers.isEmpty { return "nobody else is in the room yet" }
        return "\(view.count.stored) of \(view.count.members) have it"
            + (missing.isEmpty ? ", nobody more" : ", not yet \(missing)")
    }
}

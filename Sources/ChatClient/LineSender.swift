import ChatModel
import Control
import Dispatch
import Locking

/// Sends texts in order, several in hand at a time, and counts what was acknowledged.
///
/// `send` and `finish` are for one thread.
final class LineSender: Sendable {
    /// Requests that may be unanswered: enough for the daemon to commit them together.
    private static let window = 128

    private struct State {
        var open = 0
        var stored = 0
        var linked: Int?
        var failure: CommandFailure?
        var ids: [String] = []
    }

    private let client: ControlClient
    private let keepsIDs: Bool
    private let state = Locked(State())
    private let changed = DispatchSemaphore(value: 0)

    init(_ client: ControlClient, keepsIDs: Bool = false) {
        self.client = client
        self.keepsIDs = keepsIDs
    }

    /// Messages that are on disk for sure.
    var stored: Int { state.withLock { $0.stored } }
    /// How many peers were linked at the last acknowledgement.
    var linked: Int? { state.withLock { $0.linked } }
    /// Ids since the last call, in order; only if they are kept.
    func takeIDs() -> [String] {
        state.withLock { state in
            defer { state.ids = [] }
            return state.ids
        }
    }

    /// Hands one text over; waits while too many are unanswered.
    ///
    /// - Throws: The first failure of a text before.
    func send(_ text: String, nonce: String? = nil) throws(CommandFailure) {
        try wait(untilFewerThan: Self.window)
        state.withLock { $0.open += 1 }
        client.request(.send, SendParameters(text: text, nonce: nonce)) { [self] result in
            state.withLock { state in
                state.open -= 1
                switch result {
                case .success(let answer):
                    state.stored += 1
                    state.linked = answer.linked
                    if keepsIDs { state.ids.append(answer.id) }
                case .failure(let failure): state.failure = state.failure ?? failure
                }
            }
            changed.signal()
        }
    }

    /// Waits until every text was answered.
    func finish() throws(CommandFailure) { try wait(untilFewerThan: 1) }

    private func wait(untilFewerThan limit: Int) throws(CommandFailure) {
        while true {
            let (open, failure) = state.withLock { ($0.open, $0.failure) }
            if let failure, open == 0 || limit > 1 { throw failure }
            if open < limit { return }
            changed.wait()
        }
    }
}

/// What may be sent, checked before anything is.
enum TextCheck {
    static func text(_ bytes: some Collection<UInt8>, called what: String) throws(CommandFailure) -> String {
        let limit = EventBody.maximumTextLength
        guard bytes.count <= limit else {
            throw CommandFailure(.badData, "\(what) has \(bytes.count) bytes; the limit is \(limit) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.badData, "\(what) is not UTF-8")
        }
        return text
    }
}

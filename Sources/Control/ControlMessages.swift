public import ChatModel
import Locking

/// Calls of `send` that a client made at once, each to be answered once, from any thread.
///
/// Those that are let go unanswered are answered with an error.
public final class ControlMessages: Sendable {
    /// What became of a message.
    public enum Outcome: Sendable {
        case sent(EventID, number: UInt64, linked: Int)
        case failed(ControlError)
    }

    public let parameters: [SendParameters]
    private let ids: [RequestID?]
    private let isAnswered: Locked<[Bool]>
    /// Takes how many requests are answered by these lines.
    private let deliver: @Sendable (Int, OutputLines) -> Void

    init(
        _ messages: [(id: RequestID?, parameters: SendParameters)],
        _ deliver: @escaping @Sendable (Int, OutputLines) -> Void
    ) {
        parameters = messages.map(\.parameters)
        ids = messages.map(\.id)
        isAnswered = Locked(Array(repeating: false, count: messages.count))
        self.deliver = deliver
    }

    deinit {
        let rest = isAnswered.withLock { isAnswered in isAnswered.indices.filter { !isAnswered[$0] } }
        if !rest.isEmpty { answer(rest.map { ($0, .failed(.unanswered)) }) }
    }

    /// Answers some, each by its index; a second answer is ignored.
    public func answer(_ outcomes: [(index: Int, outcome: Outcome)]) {
        var writer = JSONWriter()
        writer.reserve(outcomes.count * 192)
        var (count, lines) = (0, 0)
        for (index, outcome) in outcomes where take(index) {
            count += 1
            guard let id = ids[index] else { continue }
            lines += 1
            switch outcome {
            case .sent(let event, let number, let linked):
                writer.appendAnswer(to: id, event.digest, number: Int(clamping: number), linked: linked)
            case .failed(let error):
                if let line = try? JSONLine.encode(Failure(id: id, error: error)) { writer.append(raw: line) }
            }
        }
        if count > 0 { deliver(count, OutputLines(bytes: writer.bytes, count: lines, isNotification: false)) }
    }

    /// Answers one that was handled as a call of its own.
    func answer(_ index: Int, _ answer: ControlReply.Answer) {
        guard take(index) else { return }
        let line = ids[index].flatMap { try? answer.encoded($0) } ?? []
        deliver(1, OutputLines(bytes: line, count: line.isEmpty ? 0 : 1, isNotification: false))
    }

    /// - Returns: Whether it wasn't answered yet.
    private func take(_ index: Int) -> Bool {
        isAnswered.withLock { isAnswered in
            defer { isAnswered[index] = true }
            return !isAnswered[index]
        }
    }
}

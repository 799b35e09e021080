import Locking

/// The answer to one request: given once, from any thread, at any time.
///
/// A reply that is let go unused answers with an error, so that no client waits for ever.
public final class ControlReply: Sendable {
    enum Answer: Sendable {
        case success(any Encodable & Sendable)
        case failure(ControlError)
    }

    private let deliver: Locked<(@Sendable (Answer) -> Void)?>

    init(_ deliver: @escaping @Sendable (Answer) -> Void) { self.deliver = Locked(deliver) }

    deinit { give(.failure(.unanswered)) }

    /// Answers with the method's result; a second answer is ignored.
    public func succeed(_ result: some Codable & Sendable) { give(.success(result)) }

    /// Answers with an error; a second answer is ignored.
    public func fail(_ error: ControlError) { give(.failure(error)) }

    private func give(_ answer: Answer) {
        let deliver = deliver.withLock { $0.take() }
        deliver?(answer)
    }
}

extension ControlReply.Answer {
    func encoded(_ id: RequestID) throws -> [UInt8] {
        switch self {
        case .success(let result as SendResult):
            var writer = JSONWriter()
            writer.append(result, to: id)
            return writer.bytes
        case .success(let result): return try success(result, id)
        case .failure(let error): return try JSONLine.encode(Failure(id: id, error: error))
        }
    }

    private func success(_ result: some Encodable, _ id: RequestID) throws -> [UInt8] {
        try JSONLine.encode(Success(id: id, result: result))
    }
}

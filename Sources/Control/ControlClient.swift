import Dispatch
import Glibc
import Locking
public import SystemCalls

/// What a daemon says to its client unasked.
public enum ControlClientEvent: Sendable, Equatable {
    case notification(ControlNotification)
    /// The connection is over; told once, nothing comes after.
    case ended
}

/// A client's connection to its daemon.
///
/// `@unchecked`: `input` is only touched on `reading`; all else is immutable or locked.
public final class ControlClient: @unchecked Sendable {
    private typealias Completion = @Sendable (Result<ArraySlice<UInt8>, CommandFailure>) -> Void

    private struct State {
        var next = 0
        var waiting: [Int: Completion] = [:]
        var end: CommandFailure?
    }

    /// Answers are ours to trust; this only bounds a broken daemon.
    private static let longestAnswer = 256 * 1024 * 1024

    private let socket: Descriptor
    private let events: @Sendable (ControlClientEvent) -> Void
    private let state = Locked(State())
    private let reading = DispatchQueue(label: "chat.client.reading")
    private let writing = DispatchQueue(label: "chat.client.writing")
    private let source: any DispatchSourceRead
    private var input = LineSplitter(limit: longestAnswer)

    init(_ socket: Descriptor, events: @escaping @Sendable (ControlClientEvent) -> Void) {
        self.socket = socket
        self.events = events
        source = DispatchSource.makeReadSource(fileDescriptor: socket.number, queue: reading)
        source.setEventHandler { [weak self] in self?.read() }
        source.setCancelHandler { withExtendedLifetime(socket) {} }
        source.resume()
    }

    deinit { source.cancel() }

    /// Ends the connection: what waits for an answer fails.
    public func close() { shutdown(socket.number, CInt(SHUT_RDWR)) }

    /// Asks, and waits for the answer.
    ///
    /// - Parameters:
    ///   - method: What to ask.
    ///   - parameters: The method's own.
    ///   - descriptor: An open file to pass along; held until it went.
    ///   - limit: How long to wait in milliseconds; `nil` waits as long as the daemon lives.
    /// - Returns: The method's result.
    /// - Throws: The daemon's error with its status; ``ExitStatus/unavailable`` when the daemon went away;
    ///   ``ExitStatus/tryAgain`` when the time is over.
    public func call<Parameters, Answer>(
        _ method: ControlMethod<Parameters, Answer>, _ parameters: Parameters, descriptor: Descriptor? = nil,
        within limit: Int? = nil
    ) throws(CommandFailure) -> Answer {
        let isAnswered = DispatchSemaphore(value: 0)
        let answer = Locked<Result<Answer, CommandFailure>?>(nil)
        request(method, parameters, descriptor: descriptor) { result in
            answer.withLock { $0 = result }
            isAnswered.signal()
        }
        if let limit {
            _ = isAnswered.wait(timeout: .now() + .milliseconds(limit))
        } else {
            isAnswered.wait()
        }
        guard let result = answer.withLock({ $0 }) else {
            throw CommandFailure(.tryAgain, "chatd did not answer within \(limit.map { $0 / 1000 } ?? 0) s")
        }
        return try result.get()
    }

    /// Asks without waiting; requests go out in the order of the calls.
    ///
    /// - Parameters:
    ///   - method: What to ask.
    ///   - parameters: The method's own.
    ///   - descriptor: An open file to pass along; held until it went.
    ///   - completion: Called once, on the client's queue; answers come in the daemon's order.
    public func request<Parameters, Answer>(
        _ method: ControlMethod<Parameters, Answer>, _ parameters: Parameters, descriptor: Descriptor? = nil,
        completion: @escaping @Sendable (Result<Answer, CommandFailure>) -> Void
    ) {
        let registered = state.withLock { state -> Result<Int, CommandFailure> in
            if let end = state.end { return .failure(end) }
            state.next += 1
            state.waiting[state.next] = { line in completion(line.flatMap { Self.decode($0) }) }
            return .success(state.next)
        }
        switch registered {
        case .failure(let failure): completion(.failure(failure))
        case .success(let number):
            let request = Request(id: .number(number), method: method.name, params: parameters)
            guard let line = try? JSONLine.encode(request) else {
                return settle(number, .failure(CommandFailure(.software, "a request could not be encoded")))
            }
            writing.async { [self] in write(line, descriptor) }
        }
    }

    private static func decode<Answer: Decodable>(
        _ line: ArraySlice<UInt8>
    ) -> Result<Answer, CommandFailure> {
        do {
            return .success(try JSONLine.decode(AnswerBody<Answer>.self, from: line).result)
        } catch {
            return .failure(CommandFailure(.software, "chatd gave an answer that this chat doesn't understand"))
        }
    }

    // MARK: Writing

    /// Runs on `writing`, which may wait; a broken connection shows when reading.
    private func write(_ line: [UInt8], _ descriptor: Descriptor?) {
        var rest = line[...]
        var descriptor = descriptor
        while !rest.isEmpty {
            do throws(SystemCallError) {
                rest = rest.dropFirst(try writeSome(Array(rest), descriptor))
                descriptor = nil
            } catch {
                guard error.code == EAGAIN else { return }
                var request = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, -1)
            }
        }
    }

    private func writeSome(_ bytes: [UInt8], _ descriptor: Descriptor?) throws(SystemCallError) -> Int {
        if let descriptor {
            return try sendDescriptor(descriptor.number, with: bytes, over: socket.number, to: "chatd")
        }
        return try systemCall("send", "chatd") {
            send(socket.number, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        }
    }

    // MARK: Reading

    private func read() {
        while true {
            do throws(SystemCallError) {
                let received = try receiveDescriptor(atMost: 64 * 1024, over: socket.number, from: "chatd")
                if received.bytes.isEmpty { return end() }
                input.append(received.bytes)
                while let line = input.next() { take(line.bytes) }
                if input.isOverLimit { return end() }
            } catch {
                if error.code != EAGAIN { end() }
                return
            }
        }
    }

    private func take(_ line: ArraySlice<UInt8>) {
        guard let head = try? JSONLine.decode(AnswerHead.self, from: line) else { return }
        if let method = head.method {
            guard let notification = try? ControlNotification.decode(method, line) else { return }
            events(.notification(notification))
        } else if case .number(let number) = head.id {
            settle(number, head.error.map { .failure(Self.failure($0)) } ?? .success(line))
        } else if let error = head.error {
            end(Self.failure(error))
        }
    }

    private static func failure(_ error: ControlError) -> CommandFailure { CommandFailure(error.exit, error.message) }

    private func settle(_ number: Int, _ result: Result<ArraySlice<UInt8>, CommandFailure>) {
        let completion = state.withLock { $0.waiting.removeValue(forKey: number) }
        completion?(result)
    }

    private func end(_ reason: CommandFailure = CommandFailure(.unavailable, "chatd went away")) {
        source.cancel()
        let waiting = state.withLock { state -> [Int: Completion]? in
            if state.end != nil { return nil }
            state.end = reason
            defer { state.waiting = [:] }
            return state.waiting
        }
        guard let waiting else { return }
        for (_, completion) in waiting.sorted(by: { $0.key < $1.key }) { completion(.failure(reason)) }
        events(.ended)
    }
}

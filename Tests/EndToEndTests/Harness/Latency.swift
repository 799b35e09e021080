import Control
import Foundation
import Locking

/// How long lines take from one member's client to another's, measured as they are said one after another.
///
/// Both are of this user, on this machine's clock.
final class Latency: Sendable {
    private static let pause = Duration.milliseconds(20)

    private let speaker: ControlClient
    private let listener: ControlClient
    private let sent = Locked<[String: ContinuousClock.Instant]>([:])
    private let times = Locked<[Duration]>([])

    init(from speaker: Member, to listener: Member) throws {
        let locate = { (member: Member) in DaemonLocator(stateDirectory: member.state, room: nil, environment: [:]) }
        self.speaker = try ControlClient.connect(to: locate(speaker), waiting: {}, events: { _ in })
        self.listener = try ControlClient.connect(to: locate(listener), waiting: {}) { [sent, times] event in
            guard case .notification(.line(let line)) = event, let text = line.text,
                let began = sent.withLock({ $0.removeValue(forKey: text) })
            else { return }
            let time = ContinuousClock.now - began
            times.withLock { $0.append(time) }
        }
        _ = try self.listener.call(.watch, LogParameters(count: 0), within: 10_000)
    }

    deinit {
        speaker.close()
        listener.close()
    }

    /// Says lines until `work` is done.
    ///
    /// - Returns: The times of all that came, shortest first; nothing that was said is missing.
    func during(_ work: @escaping @Sendable () async throws -> Void) async throws -> [Duration] {
        times.withLock { $0 = [] }
        let working = Task { try await work() }
        let isOver = Locked(false)
        let watching = Task {
            _ = await working.result
            isOver.withLock { $0 = true }
        }
        var count = 0
        while !isOver.withLock({ $0 }) {
            count += 1
            let text = "latency \(UUID())"
            sent.withLock { $0[text] = .now }
            _ = try speaker.call(.send, SendParameters(text: text), within: 10_000)
            try await Task.sleep(for: Self.pause)
        }
        await watching.value
        try await working.value
        let expected = count
        guard await eventually(within: .seconds(15), { times.withLock { $0.count } == expected }) else {
            throw TimedOut("\(times.withLock { $0.count }) of \(count) lines came", within: .seconds(15))
        }
        return times.withLock { $0.sorted() }
    }
}

/// Puts percentiles of sorted times into the tests' output.
func measured(_ what: String, _ times: [Duration]) {
    guard let last = times.last else { return print("measured: \(what): nothing") }
    let microseconds = { (time: Duration) in Int(time / .microseconds(1)) }
    let at = { (percent: Int) in microseconds(times[min(times.count - 1, times.count * percent / 100)]) }
    print(
        "measured: \(what): \(times.count) lines, p50 \(at(50)) us, p99 \(at(99)) us, most \(microseconds(last)) us")
}

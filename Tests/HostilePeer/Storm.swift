package import Addressing
import Foundation
import Glibc
import Locking
import SystemCalls

/// Many attacks of one kind, at a rate, from one or many addresses.
package final class Storm: Sendable {
    /// What all of them came to.
    package struct Tally: Equatable, Sendable {
        /// Connections that were tried.
        package var attempts = 0
        /// Of these, the ones that came about.
        package var connected = 0
        /// Of these, the ones that the other end ended before we did anything about it.
        package var refused = 0
        /// The most that were open at once.
        package var open = 0
    }

    private let attacker: Attacker
    private let attack: Attack
    private let sources: [IPAddress]
    private let rate: Double
    private let connections: Int
    private let state: Locked<(tally: Tally, next: Int, open: Int)>
    private let end: ContinuousClock.Instant
    private let begin = ContinuousClock.now

    /// - Parameters:
    ///   - sources: Where they come from, in turn; none: from wherever the system chooses.
    ///   - rate: Connections a second, at most.
    ///   - connections: Connections held at once, at most.
    ///   - duration: How long it goes on.
    package init(
        _ attack: Attack, by attacker: Attacker, from sources: [IPAddress] = [], rate: Double, connections: Int,
        for duration: Duration
    ) {
        (self.attack, self.attacker, self.sources, self.rate) = (attack, attacker, sources, rate)
        self.connections = connections
        state = Locked((Tally(), 0, 0))
        end = begin + duration
    }

    /// Attacks until the time is over; blocks.
    package func run() -> Tally {
        let done = DispatchGroup()
        for _ in 0..<connections {
            done.enter()
            let thread = Thread { [self] in
                while let attacker = next() { attackOnce(attacker) }
                done.leave()
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
        done.wait()
        return state.withLock { $0.tally }
    }

    /// Waits for its turn; `nil` when the time is over.
    private func next() -> Attacker? {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        let due = begin + .seconds(Double(number) / rate)
        let wait = min(due, end) - .now
        if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
        guard due < end, ContinuousClock.now < end else { return nil }
        var attacker = attacker
        if !sources.isEmpty { attacker.source = sources[number % sources.count] }
        return attacker
    }

    private func attackOnce(_ attacker: Attacker) {
        state.withLock { $0.tally.attempts += 1 }
        guard let peer = try? attacker.dial() else { return }
        state.withLock { state in
            state.tally.connected += 1
            state.open += 1
            state.tally.open = max(state.tally.open, state.open)
        }
        let isRefused = attacker.isCutOff(attack, on: peer)
        state.withLock { state in
            state.open -= 1
            if isRefused { state.tally.refused += 1 }
        }
    }
}

package import Addressing
import Foundation
import Glibc
import Locking
package import SystemCalls

/// A proxy of bytes between a port of ours and another one, with faults.
package final class TCPProxy: Sendable {
    /// What happens to the bytes of each connection, in each direction.
    package struct Faults: Equatable, Sendable {
        /// How long each piece waits before it goes on.
        package var delay: Duration = .zero
        /// After how many bytes the connection is reset.
        package var cut: Int?
        /// Which byte has its lowest bit changed, counted from 0.
        package var flip: Int?
        /// After how many bytes all that follows is swallowed, while the connection stays.
        package var drop: Int?
        /// How many bytes go on at once, one such piece every ``delay``.
        package var drip: Int?

        package init() {}
    }

    package let endpoint: Endpoint
    private let listener: WireListener
    private let target: Endpoint
    private let faults: Locked<Faults>
    private let count = Locked(0)

    package init(
        on address: Endpoint = Endpoint(address: .loopback, port: 0), to target: Endpoint, _ faults: Faults = .init()
    ) throws(SystemCallError) {
        listener = try WireListener(on: address, patience: 0)
        endpoint = listener.endpoint
        self.target = target
        self.faults = Locked(faults)
        Thread.detachNewThread { [weak self, listener] in
            while let one = try? listener.accept(patience: 0), let self { connect(one) }
        }
    }

    deinit { listener.end() }

    /// How many connections it has taken.
    package var connections: Int { count.withLock { $0 } }

    private func connect(_ one: WirePeer) {
        count.withLock { $0 += 1 }
        Thread.detachNewThread { [self] in
            guard let other = try? WirePeer.dial(target, patience: 0) else { return one.reset() }
            Thread.detachNewThread { self.pass(from: other, to: one) }
            pass(from: one, to: other)
        }
    }

    private func pass(from one: WirePeer, to other: WirePeer) {
        let faults = faults.withLock { $0 }
        var passed = 0
        while let bytes = try? one.readRaw(faults.drip ?? 65_536), !bytes.isEmpty {
            if faults.delay > .zero { usleep(UInt32(faults.delay / .microseconds(1))) }
            let range = passed..<passed + bytes.count
            passed += bytes.count
            if let drop = faults.drop, range.upperBound > drop { continue }
            var changed = bytes
            if let flip = faults.flip, range.contains(flip) { changed[flip - range.lowerBound] ^= 1 }
            if (try? other.writeRaw(changed)) == nil { break }
            if let cut = faults.cut, passed >= cut {
                one.reset()
                return other.reset()
            }
        }
        other.cut()
    }
}

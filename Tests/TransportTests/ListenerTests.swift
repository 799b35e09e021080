import Addressing
import Dispatch
import Glibc
import HostilePeer
import Locking
import SystemCalls
import Testing

@testable import Transport

@Suite struct ListenerTests {
    /// Case B56: what accept(2) says when there are no descriptors is said by the test.
    @Test func `a listener that has run out of descriptors waits, tries again, and loses no connection`() throws {
        let queue = DispatchQueue(label: "test")
        let listener = try Listener(on: .everywhere(port: 0))
        let (tries, failures, taken) = (Locked(0), Locked(0), Locked<[Endpoint]>([]))
        let start = ContinuousClock.now
        listener.start(on: queue, pause: .milliseconds(100)) { listener throws(SystemCallError) in
            let count = tries.withLock { tries in
                tries += 1
                return tries
            }
            if count <= 3 { throw SystemCallError(call: "accept", subject: "a listener", code: EMFILE) }
            return try Listener.accept(from: listener)
        } accepted: { _, remote in
            taken.withLock { $0.append(remote) }
        } failed: { _ in
            failures.withLock { $0 += 1 }
        }

        let fake = try FakePeer.dial(listener.port)

        try eventually { taken.withLock { $0.count } == 1 }
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        #expect(failures.withLock { $0 } == 3)
        queue.sync { listener.cancel() }
        _ = fake
    }

    @Test func `a listener can be closed while it waits`() throws {
        let (fake, port) = try closedWhileWaiting()

        #expect(try fake.readToEnd() == [])
        try eventually { (try? FakePeer.dial(port)) == nil }
    }

    private func closedWhileWaiting() throws -> (FakePeer, port: UInt16) {
        let queue = DispatchQueue(label: "test")
        let listener = try Listener(on: .only(Endpoint(address: .loopback, port: 0)))
        let failures = Locked(0)
        listener.start(on: queue, pause: .seconds(100)) { _ throws(SystemCallError) in
            throw SystemCallError(call: "accept", subject: "a listener", code: EMFILE)
        } accepted: { _, _ in
        } failed: { _ in
            failures.withLock { $0 += 1 }
        }
        let fake = try FakePeer.dial(listener.port)
        try eventually { failures.withLock { $0 } == 1 }

        queue.sync { listener.cancel() }
        return (fake, listener.port)
    }
}

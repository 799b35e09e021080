import Foundation
import Glibc
package import Addressing
package import Identity
import Locking
package import SystemCalls
import Transport

/// Somebody in the middle: ends TLS on both sides, and tries to be believed by each of them.
///
/// Without a room's key it passes each side's proof on to the other. With one, as anybody has of an open room, it proves
/// for itself, and passes everything on that the two say to each other.
package final class Middleman: Sendable {
    /// What it came to know, of all connections.
    package struct Report: Equatable, Sendable {
        package var connections = 0
        /// Connections whose dialler went on after it had seen our certificate.
        package var proofs = 0
        /// Application bytes of the dialler, beside its proofs.
        package var fromDiallers = 0
        /// Application bytes of the acceptor, its proofs among them.
        package var fromAcceptors = 0
    }

    package let endpoint: Endpoint
    private let listener: WireListener
    private let target: Endpoint
    private let room: RoomKey?
    private let identity: SigningKey?
    private let result = Locked(Report())

    /// Starts to wait for victims.
    ///
    /// - Parameters:
    ///   - target: Whom it pretends to be.
    ///   - room: What it knows of the room, if anything.
    ///   - identity: Who it is; `nil` for somebody else on each connection.
    package init(
        on address: Endpoint = Endpoint(address: .loopback, port: 0), before target: Endpoint, room: RoomKey? = nil,
        as identity: SigningKey? = nil
    ) throws(SystemCallError) {
        listener = try WireListener(on: address, patience: 0)
        endpoint = listener.endpoint
        (self.target, self.room, self.identity) = (target, room, identity)
        Thread.detachNewThread { [weak self, listener] in
            while let victim = try? listener.accept(), let self {
                Thread.detachNewThread { self.meet(victim) }
            }
        }
    }

    deinit { listener.end() }

    package var report: Report { result.withLock { $0 } }

    private func meet(_ dialler: WirePeer) {
        result.withLock { $0.connections += 1 }
        let key = identity ?? SigningKey()
        let context = TLSContext(key)
        do {
            let acceptor = try WirePeer.dial(target)
            if let room {
                try dialler.open(room, as: key.peer, context, isDialler: false)
                try acceptor.open(room, as: key.peer, context, isDialler: true)
                result.withLock { $0.proofs += 1 }
            } else {
                try dialler.encrypt(context, isDialler: false)
                try acceptor.encrypt(context, isDialler: true)
                let proof = try dialler.read(RoomProof.length)
                result.withLock { $0.proofs += 1 }
                try acceptor.write(proof)
            }
            Thread.detachNewThread { self.pass(from: acceptor, to: dialler, \.fromAcceptors) }
            pass(from: dialler, to: acceptor, \.fromDiallers)
        } catch {}  // one of them didn't believe us
        dialler.end()
    }

    /// Passes on what one says until it ends, then ends the other.
    private func pass(from one: WirePeer, to other: WirePeer, _ count: any WritableKeyPath<Report, Int> & Sendable) {
        while true {
            do {
                let bytes = try one.readSome(65_536)
                if bytes.isEmpty { break }
                result.withLock { $0[keyPath: count] += bytes.count }
                try other.write(bytes)
            } catch let error as SystemCallError where error.code == EAGAIN {
                continue  // nothing was said for a while
            } catch { break }
        }
        one.end()
        other.end()
    }
}

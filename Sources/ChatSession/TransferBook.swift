public import ChatModel
import Foundation
public import Identity
import Rx

/// A transfer as others see it, at one moment.
public struct TransferSnapshot: Hashable, Sendable {
    /// How a transfer, or one peer's part of it, stands.
    public enum State: Hashable, Sendable {
        case running, done, cancelled
        case failed(String)

        public var isOver: Bool { self != .running }
    }

    /// One peer's part: a receiver, or the author where this host receives.
    public struct Part: Hashable, Sendable {
        public var peer: PeerID
        public var name: String
        /// In bytes.
        public var progress: ProgressSnapshot
        public var state: State
    }

    public var id: EventID
    public var direction: Transcript.Direction
    /// The image's.
    public var name: String
    /// In bytes, over all parts.
    public var progress: ProgressSnapshot
    public var state: State
    /// In the order of the peers' keys.
    public var parts: [Part]
}

/// The progress of every transfer, moved by what the room says of it.
///
/// `@unchecked`: `entries` and `finished` are only touched on the session's queue.
final class TransferBook: @unchecked Sendable {
    private struct Entry {
        let direction: Transcript.Direction
        let name: String
        let total: ReportingProgress
        let parts: [PeerID: (name: String, progress: ReportingProgress)]
    }

    private static let finishedLimit = 256  // transfers kept to be asked about

    private var entries: [EventID: Entry] = [:]
    private var finished: [EventID] = []
    private let changes = PublishSubject<TransferSnapshot>()

    /// Each change of each transfer; delivered on the session's queue.
    var snapshots: Observable<TransferSnapshot> { changes.asObservable() }

    func take(_ change: TransferChange, of id: EventID) {
        switch change {
        case .started(let direction, let name, let size, let peers): start(id, direction, name, size, peers)
        case .advanced(let peer, let count): entries[id]?.parts[peer]?.progress.completedUnitCount = Int64(count)
        case .finished(let peer): entries[id]?.parts[peer]?.progress.finish()
        case .failed(let peer, let reason): entries[id]?.parts[peer]?.progress.fail(reason)
        case .cancelled: entries[id]?.total.cancel()
        }
        guard let snapshot = snapshot(of: id) else { return }
        changes.onNext(snapshot)
        if snapshot.state.isOver { retire(id) }
    }

    func snapshot(of id: EventID) -> TransferSnapshot? {
        guard let entry = entries[id] else { return nil }
        let parts = entry.parts.sorted { $0.key < $1.key }.map { peer, part in
            TransferSnapshot.Part(
                peer: peer, name: part.name, progress: part.progress.snapshot, state: part.progress.state)
        }
        return TransferSnapshot(
            id: id, direction: entry.direction, name: entry.name, progress: entry.total.snapshot,
            state: entry.total.state, parts: parts)
    }

    /// The progress of a transfer, to be watched through `changed`; use it on the session's queue.
    func progress(of id: EventID) -> ReportingProgress? { entries[id]?.total }

    private func start(
        _ id: EventID, _ direction: Transcript.Direction, _ name: String, _ size: UInt64, _ peers: [PeerID: String]
    ) {
        let parts = peers.mapValues { name in
            (name, ReportingProgress(totalUnitCount: Int64(clamping: size), waitsForFinish: true))
        }
        let total = ReportingProgress(of: parts.sorted { $0.key < $1.key }.map { $0.value.1 })
        entries[id] = Entry(direction: direction, name: name, total: total, parts: parts)
    }

    private func retire(_ id: EventID) {
        finished.append(id)
        if finished.count > Self.finishedLimit { entries[finished.removeFirst()] = nil }
    }
}

extension ReportingProgress {
    fileprivate var state: TransferSnapshot.State {
        switch failure {
        case .cancelled: .cancelled
        case .failed(let reason): .failed(reason)
        case nil: isComplete ? .done : .running
        }
    }
}

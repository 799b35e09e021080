public import Foundation
public import Rx

/// How far something is, at one moment.
public struct ProgressSnapshot: Hashable, Sendable {
    public var completedUnitCount: Int64
    public var totalUnitCount: Int64

    public var isComplete: Bool

    /// 0 to 1; 1 exactly when complete.
    public var fractionCompleted: Double {
        if isComplete { return 1 }
        return totalUnitCount == 0 ? 0 : Double(completedUnitCount) / Double(totalUnitCount)
    }
}

/// Why a progress ended before it was complete.
public enum ProgressError: Error, Hashable, Sendable, CustomStringConvertible {
    case cancelled
    case failed(String)

    public var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .failed(let reason): reason
        }
    }
}

/// A progress that can be watched on Linux, where Foundation's has no key-value observing.
///
/// Its total is fixed at birth and its count stays within it. It ends once: complete, cancelled or failed. Children tell
/// their parent themselves, because Foundation's never calls an overridden setter of it, and leaves a parent unfinished
/// for ever when one child is cancelled.
///
/// `@unchecked`: used on one queue at a time, its owner's; everybody else gets ``ProgressSnapshot``s.
public final class ReportingProgress: Progress, @unchecked Sendable {
    private enum State {
        case running, complete
        case ended(ProgressError)
    }

    private let waitsForFinish: Bool
    private var state = State.running
    private let steps = PublishSubject<ProgressSnapshot>()
    private weak var owner: ReportingProgress?
    private var parts: [ReportingProgress] = []

    /// Starts at 0.
    ///
    /// Where `waitsForFinish`, a full count isn't the end: ``finish()`` is. Else an empty progress is complete at once.
    public init(totalUnitCount: Int64, waitsForFinish: Bool = false) {
        precondition(totalUnitCount >= 0)
        self.waitsForFinish = waitsForFinish
        super.init(parent: nil, userInfo: nil)
        super.totalUnitCount = totalUnitCount
        completeIfFull()
    }

    /// Makes the whole of some parts, to be told of their steps.
    ///
    /// It completes when every part has ended and one at least is complete, or when there are none; it fails when all
    /// failed.
    public init(of parts: [ReportingProgress]) {
        waitsForFinish = true
        super.init(parent: nil, userInfo: nil)
        super.totalUnitCount = parts.reduce(0) { $0 + $1.totalUnitCount }
        self.parts = parts
        for part in parts { part.owner = self }
        partChanged()
    }

    /// In units; for a transfer, bytes.
    ///
    /// Fixed: a new value is ignored.
    public override var totalUnitCount: Int64 {
        get { super.totalUnitCount }
        set {}
    }

    /// In units, 0 to the total.
    ///
    /// A value out of that range is taken for its end; after the end nothing changes it.
    public override var completedUnitCount: Int64 {
        get { super.completedUnitCount }
        set {
            guard case .running = state, newValue != super.completedUnitCount else { return }
            super.completedUnitCount = max(0, min(newValue, totalUnitCount))
            if !completeIfFull() { report() }
        }
    }

    /// Whether it ended with all done.
    ///
    /// Foundation's `isFinished` and `fractionCompleted` can't say so of an empty progress, nor be overridden.
    public var isComplete: Bool { if case .complete = state { true } else { false } }

    public override var isIndeterminate: Bool { false }

    public var snapshot: ProgressSnapshot {
        ProgressSnapshot(
            completedUnitCount: completedUnitCount, totalUnitCount: totalUnitCount, isComplete: isComplete)
    }

    /// Why it ended without being complete.
    public var failure: ProgressError? { if case .ended(let error) = state { error } else { nil } }

    /// Whether it ended, in whichever way.
    public var isOver: Bool { if case .running = state { false } else { true } }

    /// Fills the count and completes.
    public func finish() {
        guard case .running = state else { return }
        super.completedUnitCount = totalUnitCount
        end(.complete)
    }

    /// Ends it, and the parts that are still running, as cancelled.
    public override func cancel() { end(.ended(.cancelled)) }

    public func fail(_ reason: String) { end(.ended(.failed(reason))) }

    /// The steps from now on, where they are made.
    ///
    /// Sends a snapshot for each change of the count but the last, completes when the progress does (at once if it has),
    /// and fails with a ``ProgressError``.
    public var changed: Observable<ProgressSnapshot> {
        .deferred { [self] in
            switch state {
            case .running: steps.asObservable()
            case .complete: .empty()
            case .ended(let error): .error(error)
            }
        }
    }

    @discardableResult private func completeIfFull() -> Bool {
        guard !waitsForFinish, super.completedUnitCount == totalUnitCount else { return false }
        end(.complete)
        return true
    }

    private func report() {
        steps.onNext(snapshot)
        owner?.partChanged()
    }

    private func end(_ ending: State) {
        guard case .running = state else { return }
        state = ending
        switch ending {
        case .running: break
        case .complete: steps.onCompleted()
        case .ended(let error):
            if error == .cancelled {
                super.cancel()
                for part in parts { part.cancel() }
            }
            steps.onError(error)
        }
        owner?.partChanged()
    }

    private func partChanged() {
        guard case .running = state else { return }
        if parts.allSatisfy(\.isOver) { return endWithParts() }
        let count = parts.reduce(0) { $0 + $1.completedUnitCount }
        guard count != super.completedUnitCount else { return }
        super.completedUnitCount = count
        report()
    }

    private func endWithParts() {
        if parts.isEmpty || parts.contains(where: \.isComplete) { return finish() }
        let reasons = parts.compactMap(\.failure)
        let isCancelled = reasons.allSatisfy { $0 == .cancelled }
        end(.ended(isCancelled ? .cancelled : .failed(reasons.map(\.description).joined(separator: "; "))))
    }
}

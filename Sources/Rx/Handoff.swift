public import Locking

/// Takes inputs from any thread, and handles them on a scheduler, one at a time and in order.
///
/// The scheduler is woken for the first input only; a turn then handles what has come meanwhile. Two buffers take turns,
/// so nothing is allocated for an input.
///
/// `@unchecked`: `batch` and `next` are only touched by the turn that runs, and turns follow one another.
@usableFromInline final class Handoff<Input: Sendable>: @unchecked Sendable {
    @frozen @usableFromInline struct Waiting: Sendable {
        @usableFromInline var inputs: [Input] = []
        @usableFromInline var isTurnDue: Bool

        @inlinable init(isTurnDue: Bool) { self.isTurnDue = isTurnDue }
    }

    @usableFromInline let waiting: Locked<Waiting>
    @usableFromInline let scheduler: any ImmediateSchedulerType
    @usableFromInline let limit: Int
    @usableFromInline let handle: @Sendable (Input) -> Void
    @usableFromInline let turn = SerialDisposable()  // the next one, while it can be cancelled
    @exclusivity(unchecked) @usableFromInline var batch: [Input] = []
    @exclusivity(unchecked) @usableFromInline var next = 0  // index in `batch`

    /// Makes a handoff.
    ///
    /// - Parameters:
    ///   - scheduler: Must run one turn after the other.
    ///   - limit: Most inputs a turn handles before others may use the scheduler.
    ///   - isHeld: Whether inputs wait for `release()`.
    ///   - handle: Runs on the scheduler for each input.
    @inlinable init(
        to scheduler: any ImmediateSchedulerType, limit: Int, isHeld: Bool = false,
        _ handle: @escaping @Sendable (Input) -> Void
    ) {
        self.scheduler = scheduler
        self.limit = limit
        self.handle = handle
        waiting = Locked(Waiting(isTurnDue: isHeld))
    }

    @inlinable func send(_ input: Input) {
        let wasDue = waiting.withLock { waiting in
            waiting.inputs.append(input)
            return exchange(&waiting.isTurnDue, with: true)
        }
        if !wasDue { scheduleTurn() }
    }

    /// Lets a held one begin.
    @usableFromInline func release() { scheduleTurn() }

    @usableFromInline func scheduleTurn() {
        if let serial = scheduler as? SerialDispatchQueueScheduler { return serial.runTurn { [self] in takeTurn() } }
        let next = SingleAssignmentDisposable()
        turn.disposable = next  // before it can run and put another one in its place
        next.setDisposable(
            scheduler.schedule(()) { [self] in
                takeTurn()
                return Disposables.create()
            })
    }

    @inlinable func takeTurn() {
        for _ in 0..<limit {
            guard hasNext() else { return }
            let input = batch[next]
            next += 1
            handle(input)
        }
        if hasNext() { scheduleTurn() }
    }

    @inlinable func hasNext() -> Bool {
        if next < batch.count { return true }
        batch.removeAll(keepingCapacity: batch.count <= 4_096)
        next = 0
        return waiting.withLock { waiting in
            swap(&waiting.inputs, &batch)
            waiting.isTurnDue = !batch.isEmpty
            return waiting.isTurnDue
        }
    }
}

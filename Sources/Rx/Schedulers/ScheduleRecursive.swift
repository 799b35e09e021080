extension ImmediateSchedulerType {
    /// Schedules work that may schedule itself again.
    ///
    /// - Parameters:
    ///   - state: Handed to the first run.
    ///   - action: The work; calls `recurse` with a state for each further run it wants.
    /// - Returns: Stops the work.
    public func scheduleRecursive<State: Sendable>(
        _ state: State,
        action: @escaping @Sendable (_ state: State, _ recurse: @Sendable (State) -> Void) -> Void
    ) -> any Disposable {
        let work = RecursiveWork(self, action)
        work.schedule(state)
        return work.runs
    }
}

private final class RecursiveWork<State: Sendable>: Sendable {
    let runs = CompositeDisposable()  // those that are due
    private let scheduler: any ImmediateSchedulerType
    private let action: @Sendable (State, @Sendable (State) -> Void) -> Void

    init(
        _ scheduler: any ImmediateSchedulerType,
        _ action: @escaping @Sendable (State, @Sendable (State) -> Void) -> Void
    ) {
        self.scheduler = scheduler
        self.action = action
    }

    func schedule(_ state: State) {
        let run = SingleAssignmentDisposable()
        guard let key = runs.insert(run) else { return }
        run.setDisposable(
            scheduler.schedule(state) { [self] state in
                runs.remove(for: key)
                if !runs.isDisposed { action(state) { self.schedule($0) } }
                return Disposables.create()
            })
    }
}

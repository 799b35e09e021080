extension SerialDisposable {
    /// Schedules work in place of what is held.
    ///
    /// The work's own disposable is held before the scheduler has it, so it can put another one in its place.
    @usableFromInline func start(
        after dueTime: RxTimeInterval, on scheduler: any SchedulerType, _ work: @escaping @Sendable () -> Void
    ) {
        let run = SingleAssignmentDisposable()
        disposable = run
        run.setDisposable(
            scheduler.scheduleRelative((), dueTime: dueTime) {
                work()
                return Disposables.create()
            })
    }
}

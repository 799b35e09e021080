/// Runs work on the thread that schedules it: at once if none is running there yet, else when its turn has come.
///
/// Each outermost `subscribe` on a thread counts as work, so sources that loop on this scheduler take turns.
public final class CurrentThreadScheduler: ImmediateSchedulerType {
    /// The one there is; each thread has its own turns.
    public static let instance = CurrentThreadScheduler()

    private init() {}

    /// Whether work scheduled now, on this thread, would run at once.
    public static var isScheduleRequired: Bool { !Trampoline.current.pointee.isRunning }

    /// Runs work as soon as it can; see ``ImmediateSchedulerType/schedule(_:action:)``.
    public func schedule<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        let lifetime = Lifetime()
        Trampoline.add {
            if !lifetime.isStopped { lifetime.own(action(state)) }
            return false
        }
        return lifetime
    }
}

/// An observer that hands elements to an object, which it doesn't keep alive.
///
/// It takes no errors: what is bound must not fail. A completion is ignored.
public struct Binder<Value: Sendable>: ObserverType {
    private let handler: @Sendable (Event<Value>) -> Void

    /// Makes a binder.
    ///
    /// - Parameters:
    ///   - target: Held weakly; once it has gone, elements are dropped.
    ///   - scheduler: Where `binding` runs; at once if that is the main queue and it is free.
    ///   - binding: Runs for each element.
    public init<Target: AnyObject & Sendable>(
        _ target: Target, scheduler: any ImmediateSchedulerType = MainScheduler.instance,
        binding: @escaping @Sendable (Target, Value) -> Void
    ) {
        let reference = WeakReference(target)
        handler = { event in
            switch event {
            case .next(let value):
                _ = scheduler.schedule(value) { value in
                    if let target = reference.object { binding(target, value) }
                    return Disposables.create()
                }
            case .error(let error): assertionFailure("a binding failed: \(error)")
            case .completed: break
            }
        }
    }

    /// Takes an event.
    public func on(_ event: Event<Value>) { handler(event) }
}

import Locking
import Synchronization

/// What is done about errors that nobody handles.
public enum Hooks {
    /// Gets where the subscription was made and the error.
    public typealias DefaultErrorHandler = @Sendable (_ subscriptionCallStack: [String], _ error: any Error) -> Void
    /// Says where it is called from, innermost first.
    public typealias CustomCaptureSubscriptionCallstack = @Sendable () -> [String]

    /// Runs on the thread that came second.
    public typealias OverlapHandler = @Sendable () -> Void

    private struct Settings {
        var errorHandler: DefaultErrorHandler = { callStack, error in
            let place = callStack.isEmpty ? "" : "\n" + callStack.joined(separator: "\n")
            debugPrint("Unhandled error happened: \(error)\(place)")
        }
        var capture: CustomCaptureSubscriptionCallstack = { [] }
        var overlapHandler: OverlapHandler? = {
            writeToStandardError("Rx: a source made by create sends from two threads at once")
        }
    }

    private static let settings = Locked(Settings())

    static let records = Atomic<Bool>(false)  // apart, because each subscription asks

    /// Whether `subscribe(onNext:...)` without `onError` notes where it was called, for the error handler.
    public static var recordCallStackOnError: Bool {
        get { records.load(ordering: .acquiring) }
        set { records.store(newValue, ordering: .releasing) }
    }

    /// Runs for an error that reaches `subscribe(onNext:...)` without `onError`; prints it unless set otherwise.
    public static var defaultErrorHandler: DefaultErrorHandler {
        get { settings.withLock { $0.errorHandler } }
        set { _ = settings.withLock { exchange(&$0.errorHandler, with: newValue) } }
    }

    /// Notes where `subscribe(onNext:...)` was called, if ``recordCallStackOnError`` says so; notes nothing unless set.
    public static var customCaptureSubscriptionCallstack: CustomCaptureSubscriptionCallstack {
        get { settings.withLock { $0.capture } }
        set { _ = settings.withLock { exchange(&$0.capture, with: newValue) } }
    }

    /// Runs in debug builds when a source made by `create` sends from two threads at once, once a subscription; says so on
    /// standard error unless set otherwise.
    public static var overlapHandler: OverlapHandler? {
        get { settings.withLock { $0.overlapHandler } }
        set { _ = settings.withLock { exchange(&$0.overlapHandler, with: newValue) } }
    }

    /// Takes an error that nobody handles.
    @usableFromInline static func report(_ error: any Error, _ subscription: Lifetime) {
        defaultErrorHandler(subscription.callStack, error)
    }
}

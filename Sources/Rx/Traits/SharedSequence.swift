/// How a shared sequence serves several subscribers.
public protocol SharingStrategyProtocol: Sendable {
    static func share<Element: Sendable>(_ source: Observable<Element>) -> Observable<Element>
}

/// A sequence for what people see: it doesn't fail, its work is done once for all subscribers, and it is delivered on a
/// scheduler that its maker names.
///
/// ``Driver`` and ``Signal`` are the two kinds. The scheduler must run one thing after the other. It is
/// ``MainScheduler`` only where none is given, as code written for RxCocoa expects; a process whose main thread waits has
/// to name one. Subscribing and disposing happen on the scheduler as well, so a replayed value comes from there too.
public struct SharedSequence<Strategy: SharingStrategyProtocol, Element: Sendable>: InfallibleType {
    /// Where everything is delivered.
    public let scheduler: any SchedulerType
    let source: Observable<Element>

    /// Takes a sequence that doesn't fail and is delivered on `scheduler` already.
    init(_ source: Observable<Element>, on scheduler: any SchedulerType) {
        self.scheduler = scheduler
        self.source = Strategy.share(source)
    }

    /// Brings a sequence that doesn't fail to a scheduler.
    init(bringing source: Observable<Element>, to scheduler: any SchedulerType) {
        self.init(source.observe(on: scheduler), on: scheduler)
    }

    /// The same as an ordinary sequence, subscribed to and delivered on ``scheduler``.
    public func asObservable() -> Observable<Element> { source.subscribe(on: scheduler) }

    func derive<Result: Sendable>(
        _ change: (Observable<Element>) -> Observable<Result>
    ) -> SharedSequence<Strategy, Result> {
        SharedSequence<Strategy, Result>(change(source), on: scheduler)
    }
}

/// Shares with the latest element first.
public enum DriverSharingStrategy: SharingStrategyProtocol {
    /// Shares one subscription, as this kind of sequence does.
    public static func share<Element: Sendable>(_ source: Observable<Element>) -> Observable<Element> {
        source.share(replay: 1, scope: .whileConnected)
    }
}

/// Shares what comes, and replays nothing.
public enum SignalSharingStrategy: SharingStrategyProtocol {
    /// Shares one subscription, as this kind of sequence does.
    public static func share<Element: Sendable>(_ source: Observable<Element>) -> Observable<Element> {
        source.share(replay: 0, scope: .whileConnected)
    }
}

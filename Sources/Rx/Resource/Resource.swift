import Locking

/// Something that is acquired with a subscription, and released with it.
///
/// Each subscriber acquires one of its own. It is released exactly once, whatever ends the subscription: a completion, an
/// error, a disposal. As a sequence it sends what was acquired and then nothing, so that it is held until somebody
/// disposes; ``values(_:)`` is for what comes out of it.
public struct Resource<Asset: Sendable>: ObservableType {
    private let acquire: @Sendable () throws -> Asset
    private let release: @Sendable (Asset) -> Void

    /// Describes a resource; nothing is acquired yet.
    ///
    /// - Parameters:
    ///   - acquire: Runs inside `subscribe`. What it throws is the sequence's error, and nothing is released.
    ///   - release: Runs where the subscription ends, after what came out of the resource has been let go of.
    public init(
        acquire: @escaping @Sendable () throws -> Asset, release: @escaping @Sendable (Asset) -> Void
    ) {
        self.acquire = acquire
        self.release = release
    }

    /// Values out of the resource; it is released when they end.
    ///
    /// - Parameter output: Makes them. What it throws is the sequence's error.
    /// - Returns: A cold sequence.
    public func values<Value: Sendable>(
        _ output: @escaping @Sendable (Asset) throws -> Observable<Value>
    ) -> Observable<Value> {
        .using({ [acquire, release] in Held(try acquire(), release) }, observableFactory: { try output($0.asset) })
    }

    /// Values into the resource, and values out of it.
    ///
    /// - Parameters:
    ///   - input: Subscribed to once the resource is there, and let go of before it is released. Its completion means
    ///     nothing, its error ends the sequence.
    ///   - take: Hands the resource one of them, where it arrives.
    ///   - output: Makes the values that come out.
    /// - Returns: A cold sequence, which ends as the output does.
    public func values<Input: ObservableConvertibleType, Value: Sendable>(
        taking input: Input, by take: @escaping @Sendable (Asset, Input.Element) -> Void,
        _ output: @escaping @Sendable (Asset) throws -> Observable<Value>
    ) -> Observable<Value> {
        values { asset in
            let values = try output(asset)
            return .create { observer in
                let inputs = input.asObservable().subscribe(
                    onNext: { take(asset, $0) }, onError: { observer.onError($0) })
                return Disposables.create(inputs, values.subscribe(observer))
            }
        }
    }

    /// The same as an ``Observable``.
    public func asObservable() -> Observable<Asset> { values { .just($0).concat(.never()) } }

    /// Subscribes an observer; see ``ObservableType``.
    public func subscribe<Observer: ObserverType>(_ observer: Observer) -> any Disposable
    where Observer.Element == Asset { asObservable().subscribe(observer) }

    private final class Held: Disposable {
        let asset: Asset
        private let release: Locked<(@Sendable (Asset) -> Void)?>

        init(_ asset: Asset, _ release: @escaping @Sendable (Asset) -> Void) {
            self.asset = asset
            self.release = Locked(release)
        }

        func dispose() { release.withLock { exchange(&$0, with: nil) }?(asset) }
    }
}

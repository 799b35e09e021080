/// A value that many requests need and that wears out, such as a token or a room's key: when requests fail because of it,
/// it is renewed once for all of them.
///
/// A request names the failures that the value is to blame for. They wait for one renewal and then try again with the new
/// value, each a bounded number of times; every other error passes. A request that failed with an older value than the
/// present one tries again at once.
public final class AcquisitionService<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value
        /// Counts the values.
        var version = 0
        /// Counts the renewals that failed.
        var failures = 0
        var error: (any Error)?
    }

    /// What a request found when it failed; it asks for a renewal of just that.
    private struct Asked: Sendable, Equatable {
        var version: Int
        var failures: Int

        init(_ state: State, version: Int) {
            self.version = version
            failures = state.failures
        }
    }

    /// A failure with the version of the value that it is to be blamed on.
    private struct WornOut: Error {
        var version: Int
        var cause: any Error
    }

    private let state: BehaviorRelay<State>
    private let asked = PublishRelay<Asked>()
    private let limit: Int
    private let bag = DisposeBag()

    /// Makes a service; nothing is renewed before a request fails.
    ///
    /// - Parameters:
    ///   - initial: The first value.
    ///   - limit: How many renewals a request waits for before it fails for good.
    ///   - scheduler: Where renewals are started and their results taken; must run one thing after the other.
    ///   - renew: Makes a new value from the one that wore out; its first element counts. One runs at a time.
    public init(
        initial: Value, limit: Int = 3, scheduler: any ImmediateSchedulerType,
        renew: @escaping @Sendable (Value) -> Observable<Value>
    ) {
        state = BehaviorRelay(value: State(value: initial))
        self.limit = limit
        // The end of a renewal is one turn of the scheduler, so no request falls between its result and its completion.
        asked.observe(on: scheduler)
            .filter { [state] asked in Asked(state.value, version: state.value.version) == asked }
            .flatMapFirst { [state] _ in
                renew(state.value.value).map(Result.success)
                    .concat(.just(.failure(RxError.noElements)))
                    .catch { .just(.failure($0)) }
                    .take(1).observe(on: scheduler).take(1)
            }
            .subscribe(onNext: { [state] in state.accept(Self.next(state.value, $0)) })
            .disposed(by: bag)
    }

    private static func next(_ state: State, _ result: Result<Value, any Error>) -> State {
        var state = state
        switch result {
        case .success(let value):
            state.value = value
            state.version += 1
        case .failure(let error):
            state.error = error
            state.failures += 1
        }
        return state
    }

    /// The present value, then each new one.
    public var values: Observable<Value> { state.distinctUntilChanged(\.version).map(\.value) }

    /// Makes requests that need the value.
    ///
    /// - Parameters:
    ///   - isWornOut: Whether the value is to blame for an error.
    ///   - request: Makes one attempt, with the value as it is then.
    /// - Returns: A cold sequence of what the attempts send. It fails with the renewal's error if that fails, with the
    ///   request's own once the limit is reached, and with any error that the value isn't to blame for.
    public func request<Answer: Sendable>(
        isWornOut: @escaping @Sendable (any Error) -> Bool,
        _ request: @escaping @Sendable (Value) -> Observable<Answer>
    ) -> Observable<Answer> {
        Observable.deferred { [state] in
            let used = state.value
            return request(used.value).catch { error in
                .error(isWornOut(error) ? WornOut(version: used.version, cause: error) : error)
            }
        }
        .retry(when: { [self] errors in
            errors.enumerated().flatMap { [self] count, error in
                guard let wornOut = error as? WornOut else { return Observable<Void>.error(error) }
                if count >= limit { return .error(wornOut.cause) }
                return renewal(of: wornOut.version)
            }
        })
    }

    /// Sends one element once there is a newer value than that of a version, or fails with the renewal.
    private func renewal(of version: Int) -> Observable<Void> {
        .deferred { [self] in
            let found = Asked(state.value, version: version)
            let outcome = state.compactMap { state -> Result<Void, any Error>? in
                if state.version > found.version { return .success(()) }
                if state.failures > found.failures { return .failure(state.error ?? RxError.unknown) }
                return nil
            }
            return .create { [asked] observer in
                let subscription = outcome.take(1).map { try $0.get() }.subscribe(observer)
                asked.accept(found)
                return subscription
            }
        }
    }
}

import Synchronization

extension ObservableType {
    /// Runs side effects on the way.
    ///
    /// - Parameters:
    ///   - onNext: Runs before an element is passed on. What it throws ends the sequence.
    ///   - afterNext: Runs after an element is passed on. What it throws ends the sequence.
    ///   - onError: Runs before an error is passed on. What it throws takes the error's place.
    ///   - afterError: Runs after an error is passed on. What it throws is lost: the sequence has ended.
    ///   - onCompleted: Runs before the completion is passed on. What it throws takes its place.
    ///   - afterCompleted: Runs after the completion is passed on. What it throws is lost: the sequence has ended.
    ///   - onSubscribe: Runs before the source is subscribed to.
    ///   - onSubscribed: Runs after the source is subscribed to.
    ///   - onDispose: Runs once, when the source has been let go of, for whatever reason.
    /// - Returns: A sequence with the source's events. ReactiveX: Do.
    @inlinable public func `do`(
        onNext: (@Sendable (Element) throws -> Void)? = nil, afterNext: (@Sendable (Element) throws -> Void)? = nil,
        onError: (@Sendable (any Error) throws -> Void)? = nil,
        afterError: (@Sendable (any Error) throws -> Void)? = nil,
        onCompleted: (@Sendable () throws -> Void)? = nil, afterCompleted: (@Sendable () throws -> Void)? = nil,
        onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
        onDispose: (@Sendable () -> Void)? = nil
    ) -> Observable<Element> {
        let source = asObservable()
        let before = SideEffects(next: onNext, error: onError, completed: onCompleted)
        let after = SideEffects(next: afterNext, error: afterError, completed: afterCompleted)
        return Observable { sink in
            onSubscribe?()
            let lifetime = Lifetime(), end = SecondCall(onDispose)
            sink.lifetime.own {
                lifetime.dispose()
                end.call()
            }
            source.attach(
                Sink(lifetime) { event in
                    lifetime.admit(event) { event in
                        do { try before.run(for: event) } catch { return sink.on(.error(error)) }
                        sink.on(event)
                        do { try after.run(for: event) } catch { sink.on(.error(error)) }
                    }
                })
            onSubscribed?()
            end.call()
        }
    }
}

/// Runs an action the second time it is called: once a subscription has been made, and has ended.
@usableFromInline final class SecondCall: Sendable {
    private let action: (@Sendable () -> Void)?
    private let isSecond = Atomic<Bool>(false)

    @usableFromInline init(_ action: (@Sendable () -> Void)?) { self.action = action }

    @usableFromInline func call() {
        if isSecond.exchange(true, ordering: .acquiringAndReleasing) { action?() }
    }
}

@frozen @usableFromInline struct SideEffects<Element: Sendable>: Sendable {
    @usableFromInline let next: (@Sendable (Element) throws -> Void)?
    @usableFromInline let error: (@Sendable (any Error) throws -> Void)?
    @usableFromInline let completed: (@Sendable () throws -> Void)?

    @inlinable init(
        next: (@Sendable (Element) throws -> Void)?, error: (@Sendable (any Error) throws -> Void)?,
        completed: (@Sendable () throws -> Void)?
    ) {
        self.next = next
        self.error = error
        self.completed = completed
    }

    @inlinable func run(for event: Event<Element>) throws {
        switch event {
        case .next(let element): try next?(element)
        case .error(let error): try self.error?(error)
        case .completed: try completed?()
        }
    }
}

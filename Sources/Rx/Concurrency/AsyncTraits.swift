import Locking

extension PrimitiveSequenceType where Trait == SingleTrait {
    /// A single of what an asynchronous function returns or throws.
    ///
    /// - Parameters:
    ///   - detached: Whether the task inherits nothing from where it is subscribed to.
    ///   - priority: The task's.
    ///   - work: Runs in a task for each subscription; disposing cancels it.
    /// - Returns: A cold single, delivered on the task's thread.
    public static func create(
        detached: Bool = false, priority: TaskPriority? = nil,
        work: @escaping @Sendable () async throws -> Element
    ) -> Single<Element> {
        .create { observer in
            let run = { @Sendable in
                do { observer(.success(try await work())) } catch { observer(.failure(error)) }
            }
            let task =
                detached ? Task.detached(priority: priority, operation: run) : Task(priority: priority, operation: run)
            return Disposables.create { task.cancel() }
        }
    }

    /// Subscribes, and waits for the element.
    ///
    /// Throws its error, and `CancellationError` when the task is cancelled, which disposes of the subscription.
    public var value: Element {
        get async throws {
            guard let element = try await primitiveSequence.source.outcome() else { throw RxError.noElements }
            return element
        }
    }
}

extension PrimitiveSequenceType where Trait == MaybeTrait {
    /// Subscribes, and waits for the element; `nil` if there is none.
    ///
    /// Throws its error, and `CancellationError` when the task is cancelled, which disposes of the subscription.
    public var value: Element? {
        get async throws { try await primitiveSequence.source.outcome() }
    }
}

extension PrimitiveSequenceType where Trait == CompletableTrait, Element == Never {
    /// Subscribes, and waits for the completion.
    ///
    /// Throws its error, and `CancellationError` when the task is cancelled, which disposes of the subscription.
    public var value: Void {
        get async throws { _ = try await primitiveSequence.source.outcome() }
    }
}

extension Observable {
    /// - Returns: The first element, `nil` if it completes before.
    fileprivate func outcome() async throws -> Element? {
        let subscription = SingleAssignmentDisposable()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiting = Locked<CheckedContinuation<Element?, any Error>?>(continuation)
                let resume = { @Sendable (outcome: Result<Element?, any Error>) in
                    waiting.withLock { $0.take() }?.resume(with: outcome)
                }
                subscription.setDisposable(
                    subscribe(
                        onNext: { resume(.success($0)) }, onError: { resume(.failure($0)) },
                        onCompleted: { resume(.success(nil)) },
                        onDisposed: { resume(.failure(CancellationError())) }))
            }
        } onCancel: {
            subscription.dispose()
        }
    }
}

extension ObservableConvertibleType {
    /// The elements for `for try await`.
    ///
    /// Subscribes when it is read, and anew each time it is. What comes faster than it is read waits in memory, without
    /// limit. Leaving the loop, or cancelling its task, disposes of the subscription.
    public var values: AsyncThrowingStream<Element, any Error> {
        AsyncThrowingStream(bufferingPolicy: .unbounded) { continuation in
            let subscription = asObservable().subscribe(
                onNext: { continuation.yield($0) }, onError: { continuation.finish(throwing: $0) },
                onCompleted: { continuation.finish() },
                onDisposed: { continuation.finish(throwing: CancellationError()) })
            continuation.onTermination = { _ in subscription.dispose() }
        }
    }
}

extension InfallibleType {
    /// The elements for `for await`; see ``ObservableConvertibleType/values``.
    public var values: AsyncStream<Element> {
        AsyncStream(bufferingPolicy: .unbounded) { continuation in
            let subscription = subscribe(
                onNext: { continuation.yield($0) }, onCompleted: { continuation.finish() },
                onDisposed: { continuation.finish() })
            continuation.onTermination = { _ in subscription.dispose() }
        }
    }
}

extension AsyncSequence where Element: Sendable, Self: Sendable {
    /// Reads an asynchronous sequence in a task.
    ///
    /// - Parameter priority: The task's.
    /// - Returns: A cold sequence: each subscription starts a task, disposing cancels it. Fails with what reading throws.
    ///   Delivered on the task's thread.
    public func asObservable(priority: TaskPriority? = nil) -> Observable<Element> {
        .create { observer in
            let task = Task(priority: priority) {
                do {
                    for try await element in self { observer.onNext(element) }
                    observer.onCompleted()
                } catch { observer.onError(error) }
            }
            return Disposables.create { task.cancel() }
        }
    }
}

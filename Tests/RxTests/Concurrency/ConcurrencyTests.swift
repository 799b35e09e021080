import Locking
import ResourceCounting
import Rx
import Testing

@Suite(.countsResources) struct ConcurrencyTests {
    @Test func `values are the elements, then the ending`() async throws {
        var seen: [Int] = []
        for try await value in Observable.of(1, 2, 3).values { seen.append(value) }
        #expect(seen == [1, 2, 3])
        await #expect(throws: Failure.self) {
            for try await _ in Observable<Int>.of(1).concat(.error(Failure())).values {}
        }
        var others: [Int] = []
        for await value in Infallible.of(4, 5).values { others.append(value) }
        #expect(others == [4, 5])
    }

    @Test func `leaving the loop disposes of the subscription`() async throws {
        let subject = BehaviorSubject(value: 1)
        for try await value in subject.values where value == 1 { break }
        #expect(await comesTrue { !subject.hasObservers })
    }

    @Test func `cancelling the task disposes of the subscription`() async {
        let subject = PublishSubject<Int>()
        let task = Task { for try await _ in subject.values {} }
        #expect(await comesTrue { subject.hasObservers })
        task.cancel()
        _ = await task.result
        #expect(await comesTrue { !subject.hasObservers })
    }

    @Test func `an asynchronous sequence becomes an observable`() async throws {
        let stream = AsyncStream<Int> { continuation in
            for number in 1...3 { continuation.yield(number) }
            continuation.finish()
        }
        let all = try await stream.asObservable().toArray().value
        #expect(all == [1, 2, 3])
        let failing = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: Failure()) }
        await #expect(throws: Failure.self) { try await failing.asObservable().toArray().value }
    }

    @Test func `disposing cancels the task that reads a sequence`() async {
        let isCancelled = Locked(false)
        let stream = AsyncStream<Int> { continuation in
            continuation.onTermination = { _ in isCancelled.withLock { $0 = true } }
        }
        let subscription = stream.asObservable().subscribe()
        subscription.dispose()
        #expect(await comesTrue { isCancelled.withLock { $0 } })
    }

    @Test func `traits have a value`() async throws {
        #expect(try await Single.just(1).value == 1)
        await #expect(throws: Failure.self) { try await Single<Int>.error(Failure()).value }
        #expect(try await Maybe.just(1).value == 1)
        #expect(try await Maybe<Int>.empty().value == nil)
        try await Completable.empty().value
        await #expect(throws: Failure.self) { try await Completable.error(Failure()).value }
    }

    @Test func `a cancelled task no longer waits for a value`() async {
        let isDisposed = Locked(false)
        let single = Single<Int>.create { _ in Disposables.create { isDisposed.withLock { $0 = true } } }
        let task = Task { try await single.value }
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(isDisposed.withLock { $0 })
    }

    @Test func `a single of an asynchronous function`() async throws {
        #expect(try await Single<Int>.create { 1 }.value == 1)
        #expect(try await Single<Int>.create(detached: true, priority: .high) { 2 }.value == 2)
        await #expect(throws: Failure.self) { try await Single<Int>.create { throw Failure() }.value }
    }

    @Test func `disposing of a single cancels its function`() async {
        let isCancelled = Locked(false)
        let single = Single<Int>.create {
            while !Task.isCancelled { await Task.yield() }
            isCancelled.withLock { $0 = true }
            return 1
        }
        single.subscribe().dispose()
        #expect(await comesTrue { isCancelled.withLock { $0 } })
    }
}

import Dispatch
import Foundation
import Locking
import ResourceCounting
import Rx
import Testing

/// One after the other: the hooks are the process's.
@Suite(.serialized, .countsResources) struct HooksTests {
    @Test func `an error that nobody handles goes to the handler, with where the subscription was made`() {
        let log = Log<String>()
        let before = (Hooks.defaultErrorHandler, Hooks.customCaptureSubscriptionCallstack, Hooks.recordCallStackOnError)
        defer {
            Hooks.defaultErrorHandler = before.0
            Hooks.customCaptureSubscriptionCallstack = before.1
            Hooks.recordCallStackOnError = before.2
        }
        struct Unhandled: Error {}
        Hooks.defaultErrorHandler = { callStack, error in if error is Unhandled { log.add("\(callStack) \(error)") } }
        Hooks.customCaptureSubscriptionCallstack = { ["here"] }
        _ = Observable<Int>.error(Unhandled()).subscribe()
        Hooks.recordCallStackOnError = true
        _ = Observable<Int>.error(Unhandled()).subscribe(onNext: { _ in })
        _ = Single<Int>.error(Unhandled()).subscribe(onSuccess: { _ in })
        _ = Observable<Int>.error(Unhandled()).subscribe(onError: { _ in log.add("handled") })
        #expect(log.all == ["[] Unhandled()", "[\"here\"] Unhandled()", "[\"here\"] Unhandled()", "handled"])
    }

    @Test func `an error that nobody handles and a disposal may meet`() {
        let before = Hooks.defaultErrorHandler
        defer { Hooks.defaultErrorHandler = before }
        Hooks.defaultErrorHandler = { callStack, error in if !(error is Failure) { before(callStack, error) } }
        let ended = Locked(0)
        for _ in 0..<2_000 {
            let subject = PublishSubject<Int>()
            let subscription = subject.subscribe(onNext: { _ in }, onDisposed: { ended.withLock { $0 += 1 } })
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { subject.onError(Failure()) } else { subscription.dispose() }
            }
        }
        #expect(ended.withLock { $0 } == 2_000)
    }

    @Test func `debug builds report a source that sends from two threads at once, once`() {
        let before = Hooks.overlapHandler
        defer { Hooks.overlapHandler = before }
        let count = Locked(0)
        Hooks.overlapHandler = { count.withLock { $0 += 1 } }
        let isInside = DispatchSemaphore(value: 0), mayGoOn = DispatchSemaphore(value: 0)
        let seen = Log<Int>()
        let source = Observable<Int>.create { observer in
            DispatchQueue.global().async { observer.onNext(1) }
            isInside.wait()
            observer.onNext(2)
            observer.onNext(3)
            mayGoOn.signal()
            return Disposables.create()
        }
        _ = source.subscribe(onNext: { number in
            seen.add(number)
            if number != 1 { return }
            isInside.signal()
            mayGoOn.wait()
        })
        #expect(becomesTrue { seen.all == [1, 2, 3] })
        #if DEBUG
            #expect(count.withLock { $0 } == 1)
        #else
            #expect(count.withLock { $0 } == 0)
        #endif
    }

    @Test func `unless it is set, the handler prints`() {
        Hooks.defaultErrorHandler(["here"], Failure())
        #expect(Hooks.customCaptureSubscriptionCallstack() == [])
    }
}

/// `@unchecked`: the name is behind a lock.
private final class Person: ReactiveCompatible, @unchecked Sendable {
    private let guarded = Locked("")
    var name: String {
        get { guarded.withLock { $0 } }
        set { guarded.withLock { $0 = newValue } }
    }
}

@Suite(.countsResources) struct BinderTests {
    @Test func `a binder sets what it is bound to, and doesn't keep it`() {
        let log = Log<Int>()
        let binder: Binder<Int>
        do {
            let target = Canary()
            binder = Binder(target, scheduler: CurrentThreadScheduler.instance) { _, value in log.add(value) }
            _ = Observable.of(1, 2).bind(to: binder)
        }
        binder.onNext(3)
        binder.asObserver().onCompleted()
        #expect(log.all == [1, 2])
    }

    @Test func `rx binds properties on the main scheduler`() {
        let person = Person()
        _ = Observable.just("Ada").bind(to: person.rx.name)
        #expect(becomesTrue { person.name == "Ada" })
    }
}

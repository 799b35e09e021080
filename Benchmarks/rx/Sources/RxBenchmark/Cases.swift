import Dispatch
import Rx

/// One way of using Rx.
///
/// An event counts once, however many observers get it.
struct Case: Sendable {
    let name: String
    let push: @Sendable (_ events: Int) -> Void
}

/// What the observers do: add up, so that no delivery can be left out.
///
/// `@unchecked`: one event is delivered after the other.
final class Total: @unchecked Sendable {
    var sum = 0
}

extension Case {
    static let all = [
        Case(name: "publish1") { events in
            let subject = PublishSubject<Int>(), total = Total()
            let subscription = subject.subscribe(onNext: { total.sum &+= $0 })
            for number in 0..<events { subject.onNext(number) }
            subscription.dispose()
            use(total.sum)
        },
        Case(name: "publish10") { events in
            let subject = PublishSubject<Int>(), total = Total()
            let subscriptions = (0..<10).map { _ in subject.subscribe(onNext: { total.sum &+= $0 }) }
            for number in 0..<events { subject.onNext(number) }
            for subscription in subscriptions { subscription.dispose() }
            use(total.sum)
        },
        Case(name: "mapFilterScan") { events in
            let subject = PublishSubject<Int>(), total = Total()
            let subscription = subject.map { $0 &+ 1 }.filter { $0 & 7 != 0 }.scan(0) { $0 &+ $1 }
                .subscribe(onNext: { total.sum &+= $0 })
            for number in 0..<events { subject.onNext(number) }
            subscription.dispose()
            use(total.sum)
        },
        Case(name: "merge8") { events in
            let subjects = (0..<8).map { _ in PublishSubject<Int>() }, total = Total()
            let subscription = Observable.merge(subjects.map { $0.asObservable() })
                .subscribe(onNext: { total.sum &+= $0 })
            for number in 0..<events { subjects[number & 7].onNext(number) }
            subscription.dispose()
            use(total.sum)
        },
        Case(name: "observeOnSerial") { events in
            let subject = PublishSubject<Int>(), count = Total()
            let done = DispatchSemaphore(value: 0)
            let scheduler = SerialDispatchQueueScheduler(
                queue: DispatchQueue(label: "benchmark"), internalSerialQueueName: "benchmark")
            let subscription = subject.observe(on: scheduler).subscribe(onNext: { _ in
                count.sum += 1
                if count.sum == events { done.signal() }
            })
            for number in 0..<events { subject.onNext(number) }
            done.wait()
            subscription.dispose()
        },
        Case(name: "observeOnPingPong") { events in
            let subject = PublishSubject<Int>(), done = DispatchSemaphore(value: 0)
            let scheduler = SerialDispatchQueueScheduler(
                queue: DispatchQueue(label: "benchmark"), internalSerialQueueName: "benchmark")
            let subscription = subject.observe(on: scheduler).subscribe(onNext: { _ in done.signal() })
            for number in 0..<events {
                subject.onNext(number)
                done.wait()
            }
            subscription.dispose()
        },
        Case(name: "flatMapJust") { events in
            let subject = PublishSubject<Int>(), total = Total()
            let subscription = subject.flatMap { Observable.just($0) }.subscribe(onNext: { total.sum &+= $0 })
            for number in 0..<events { subject.onNext(number) }
            subscription.dispose()
            use(total.sum)
        },
        Case(name: "concatMapJust") { events in
            let subject = PublishSubject<Int>(), total = Total()
            let subscription = subject.concatMap { Observable.just($0) }.subscribe(onNext: { total.sum &+= $0 })
            for number in 0..<events { subject.onNext(number) }
            subscription.dispose()
            use(total.sum)
        },
        Case(name: "combineLatest4") { events in
            let subjects = (0..<4).map { _ in PublishSubject<Int>() }, total = Total()
            let subscription = Observable.combineLatest(subjects[0], subjects[1], subjects[2], subjects[3]) {
                $0 &+ $1 &+ $2 &+ $3
            }.subscribe(onNext: { total.sum &+= $0 })
            for number in 0..<events { subjects[number & 3].onNext(number) }
            subscription.dispose()
            use(total.sum)
        },
        Case(name: "shareReplay1x4") { events in
            let subject = PublishSubject<Int>(), total = Total()
            let shared = subject.map { $0 &+ 1 }.share(replay: 1)
            let subscriptions = (0..<4).map { _ in shared.subscribe(onNext: { total.sum &+= $0 }) }
            for number in 0..<events { subject.onNext(number) }
            for subscription in subscriptions { subscription.dispose() }
            use(total.sum)
        },
        Case(name: "createEmit") { events in
            let total = Total()
            let source = Observable<Int>.create { observer in
                for number in 0..<events { observer.onNext(number) }
                observer.onCompleted()
                return Disposables.create()
            }
            source.subscribe(onNext: { total.sum &+= $0 }).dispose()
            use(total.sum)
        },
        Case(name: "createSubscribe") { events in
            let total = Total()
            for number in 0..<events {
                Observable<Int>.create { observer in
                    observer.onNext(number)
                    observer.onCompleted()
                    return Disposables.create()
                }.subscribe(onNext: { total.sum &+= $0 }).dispose()
            }
            use(total.sum)
        },
        Case(name: "subscribeDisposeChain") { events in
            let subject = PublishSubject<Int>(), total = Total()
            let chain = subject.map { $0 &+ 1 }.filter { $0 & 7 != 0 }.scan(0) { $0 &+ $1 }
            for _ in 0..<events { chain.subscribe(onNext: { total.sum &+= $0 }).dispose() }
            use(total.sum)
        },
        Case(name: "subscribeDispose") { events in
            let subject = PublishSubject<Int>(), total = Total()
            for _ in 0..<events { subject.subscribe(onNext: { total.sum &+= $0 }).dispose() }
            use(total.sum)
        },
    ]
}

/// Keeps the optimizer from seeing that a result isn't needed.
@inline(never) func use(_ sum: Int) {}

import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct UnaryTests {
    let scheduler = TestScheduler()

    var numbers: TestableObservable<Int> {
        scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
    }

    @Test func `map transforms each element where it comes`() {
        expectPassingOn([.next(210, "1"), .next(220, "2"), .next(230, "3")]) { $0.map { "\($0)" } }
    }

    @Test func `filter keeps what satisfies`() {
        expectPassingOn([.next(210, 1), .next(230, 3)]) { $0.filter { $0 != 2 } }
    }

    @Test func `compactMap leaves out nil`() {
        expectPassingOn([.next(210, 10), .next(230, 30)]) { $0.compactMap { $0 == 2 ? nil : $0 * 10 } }
    }

    @Test func `scan sends each result, each subscription from the seed`() {
        expectPassingOn([.next(210, 101), .next(220, 103), .next(230, 106)]) { $0.scan(100) { $0 + $1 } }
        let sums = Observable.of(1, 2).scan(0) { $0 + $1 }
        for _ in 0..<2 {
            let log = Log<Int>()
            _ = sums.subscribe(onNext: { log.add($0) })
            #expect(log.all == [1, 3])
        }
    }

    @Test func `scan into changes the result in place`() {
        expectPassingOn([.next(210, [1]), .next(220, [1, 2]), .next(230, [1, 2, 3])]) {
            $0.scan(into: []) { $0.append($1) }
        }
    }

    @Test func `distinctUntilChanged leaves out equal neighbours, not equal elements further apart`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.distinctUntilChanged() }
        expectPassingOn([.next(210, 0), .next(220, 1)]) { $0.map { $0 / 2 }.distinctUntilChanged() }
        expectPassingOn([.next(210, 1), .next(220, 0), .next(230, 1)]) { $0.map { $0 % 2 }.distinctUntilChanged() }
        expectPassingOn([.next(210, 1), .next(220, 2)]) { $0.distinctUntilChanged { $0 / 2 } }
        expectPassingOn([.next(210, 1), .next(230, 3)]) { $0.distinctUntilChanged { $1 - $0 == 1 } }
        expectPassingOn([.next(210, [1])]) { $0.map { [$0] }.distinctUntilChanged(at: \.count) }
    }

    @Test func `startWith sends its elements inside subscribe, in order`() {
        expectPassingOn([.next(200, 7), .next(200, 8), .next(210, 1), .next(220, 2), .next(230, 3)]) {
            $0.startWith(7, 8)
        }
    }

    @Test func `startWith stops where its subscriber does, and leaves the source alone`() {
        let subject = PublishSubject<Int>()
        let log = Log<Int>()
        _ = subject.startWith(1, 2, 3).take(2).subscribe(onNext: { log.add($0) })
        #expect(log.all == [1, 2])
        #expect(!subject.hasObservers)
    }

    @Test func `take ends with its last element, at that element's time`() {
        let source = numbers
        let seen = scheduler.start { source.take(2) }
        #expect(seen.events == [.next(210, 1), .next(220, 2), .completed(220)])
        #expect(source.subscriptions == [Subscription(200, 220)])
    }

    @Test func `take of more than there is ends with the source`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.take(4) }
    }

    @Test func `take 0 completes at once and never subscribes`() {
        let source = numbers
        let seen = scheduler.start { source.take(0) }
        #expect(seen.events == [.completed(200)])
        #expect(source.subscriptions == [])
    }

    @Test func `take 1 completes once, also when its observer sends into the source`() {
        let subject = PublishSubject<Int>()
        let log = Log<String>()
        _ = subject.take(1).subscribe { event in
            log.add("\(event)")
            if case .next(1) = event { subject.onNext(2) }
        }
        subject.onNext(1)
        #expect(log.all == ["next(1)", "completed"])
    }

    @Test(arguments: [
        "map", "filter", "compactMap", "scan", "scan into", "key", "comparer", "flatMap", "flatMapLatest", "do",
    ])
    func `what a closure throws ends the sequence and lets go of the source`(name: String) {
        let source = numbers
        let check: @Sendable (Int) throws -> Void = { if $0 == 2 { throw Failure() } }
        let seen = scheduler.start { () -> Observable<Int> in
            switch name {
            case "map":
                source.map {
                    try check($0); return $0
                }
            case "filter":
                source.filter {
                    try check($0); return true
                }
            case "compactMap":
                source.compactMap {
                    try check($0); return $0
                }
            case "scan":
                source.scan(0) {
                    try check($1); return $1
                }
            case "scan into":
                source.scan(into: 0) {
                    try check($1); $0 = $1
                }
            case "key":
                source.distinctUntilChanged { number -> Int in
                    try check(number); return number
                }
            case "comparer":
                source.distinctUntilChanged {
                    try check($1); return false
                }
            case "flatMap":
                source.flatMap { number -> Observable<Int> in
                    try check(number); return .just(number)
                }
            case "flatMapLatest":
                source.flatMapLatest { number -> Observable<Int> in
                    try check(number); return .just(number)
                }
            default: source.do(onNext: check)
            }
        }
        #expect(seen.events == [.next(210, 1), .error(220, Failure())])
        #expect(source.subscriptions == [Subscription(200, 220)])
    }
}

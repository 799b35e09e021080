import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct ClassicSystemTests {
    private let scheduler = TestScheduler()

    @Test func `each state goes to every loop and then to the subscriber, the initial one first`() {
        let log = Log<String>()
        let system = Observable.system(
            initialState: "s", reduce: { (state: String, event: String) in state + event }, scheduler: scheduler,
            feedback: { states in
                states.do(onNext: { log.add("1:\($0)") }).compactMap { $0 == "s" ? "a" : nil }
            },
            { states in
                states.do(onNext: { log.add("2:\($0)") }).compactMap { $0 == "sa" ? "b" : nil }
            })

        let subscription = system.subscribe(onNext: { log.add("out:\($0)") })
        #expect(log.all == [], "nothing happens inside subscribe")
        scheduler.start()
        subscription.dispose()

        #expect(log.all == ["s", "sa", "sab"].flatMap { ["1:\($0)", "2:\($0)", "out:\($0)"] })
    }

    @Test func `who subscribes to the states late gets the present one first`() {
        let clicks = scheduler.createHotObservable([.next(210, 1), .next(220, 10)])
        let late = Log<Int>()

        _ = scheduler.start(disposed: 230) { [scheduler] in
            Observable.system(
                initialState: 0, reduce: { (sum: Int, event: Int) in sum + event }, scheduler: scheduler,
                feedback: { _ in clicks.asObservable() },
                { states in
                    Observable<Int>.timer(.seconds(15), scheduler: scheduler)
                        .flatMap { _ in states }.do(onNext: { late.add($0) })
                        .flatMap { _ in Observable<Int>.empty() }
                })
        }

        #expect(late.all == [1, 11])
    }

    @Test func `disposing ends every loop, an error ends all with it, and all completions complete`() {
        let endless = scheduler.createColdObservable([.next(5, 1)])
        let failing = scheduler.createColdObservable([.next(10, 1), .error(20, Failure())])
        let add: @Sendable (Int, Int) -> Int = { $0 + $1 }

        let failed = scheduler.start { [scheduler] in
            Observable.system(
                initialState: 0, reduce: add, scheduler: scheduler,
                feedback: { _ in endless.asObservable() }, { _ in failing.asObservable() })
        }
        #expect(failed.events == [.next(201, 0), .next(206, 1), .next(211, 2), .error(221, Failure())])
        #expect(endless.subscriptions == [Subscription(200, 221)])

        let ended = Log<Event<Int>>()
        _ = Observable.system(
            initialState: 0, reduce: add, scheduler: scheduler, feedback: { _ in .of(1, 2) }, { $0.take(1) }
        ).subscribe { ended.add($0) }
        scheduler.start()
        #expect(ended.all == [.next(0), .next(1), .next(3), .next(3), .completed])
    }

    /// The system of a request: an event asks, an event takes it back.
    private func seen(
        _ clicks: TestableObservable<Int>, _ loop: @escaping Feedback<Int, Int>
    ) -> [Recorded<Event<Int>>] {
        scheduler.start { [scheduler] in
            Observable.system(
                initialState: 0, reduce: { (_: Int, event: Int) in event }, scheduler: scheduler,
                feedback: { _ in clicks.asObservable() }, loop)
        }.events
    }

    @Test func `an equal request goes on, another one takes its place, none ends it`() {
        let clicks = scheduler.createHotObservable([.next(210, 7), .next(230, 7), .next(240, 8), .next(260, -1)])
        let effect = scheduler.createColdObservable([Recorded<Event<Int>>]())
        let asked = Log<Int>()

        _ = seen(
            clicks,
            react(
                request: { $0 > 0 ? $0 : nil },
                effects: { request in
                    asked.add(request)
                    return effect.asObservable()
                }))

        #expect(asked.all == [7, 8])
        #expect(effect.subscriptions == [Subscription(211, 241), Subscription(241, 261)])
    }

    private struct Opaque: Sendable { var number: Int }

    @Test func `a request that can't be compared goes on until there is none`() {
        let clicks = scheduler.createHotObservable([.next(210, 7), .next(220, 8), .next(230, -1), .next(240, 9)])
        let effect = scheduler.createColdObservable([Recorded<Event<Int>>]())
        let asked = Log<Int>()

        _ = seen(
            clicks,
            react(
                request: { $0 > 0 ? Opaque(number: $0) : nil },
                effects: { request in
                    asked.add(request.number)
                    return effect.asObservable()
                }))

        #expect(asked.all == [7, 9])
        #expect(effect.subscriptions == [Subscription(211, 231), Subscription(241, 1_000)])
    }

    @Test func `requests of a set run side by side, each as long as it is in the set`() {
        let sets: [Set<String>] = [[], ["a"], ["a", "b"], ["b"], ["a", "b"]]
        let clicks = scheduler.createHotObservable([
            .next(210, 1), .next(220, 2), .next(230, 3), .next(240, 4), .next(250, 0),
        ])
        let spans = Log<String>()
        let scheduler = scheduler

        _ = seen(
            clicks,
            react(
                requests: { sets[$0] },
                effects: { request in
                    Observable<Int>.never().do(
                        onSubscribe: { spans.add("+\(request) \(scheduler.clock)") },
                        onDispose: { spans.add("-\(request) \(scheduler.clock)") })
                }))

        #expect(
            spans.all.sorted { $0.suffix(3) < $1.suffix(3) }.prefix(4)
                == ["+a 211", "+b 221", "-a 231", "+a 241"])
        #expect(Set(spans.all.suffix(2)) == ["-a 251", "-b 251"])
    }

    @Test func `an effect that is over isn't made anew until its request has been away, and its error is the system's`()
    {
        let clicks = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 0), .next(240, 1)])
        let asked = Log<Int>()

        let events = seen(
            clicks,
            react(
                requests: { $0 > 0 ? ["x"] : [] as Set<String> },
                effects: { _ -> Observable<Int> in
                    asked.add(1)
                    return asked.all.count == 2 ? .error(Failure()) : .empty()
                }))

        #expect(asked.all.count == 2)
        #expect(events.last == .error(241, Failure()))
    }

    @Test func `bindings show states, tell events, and end with the system`() {
        let clicks = scheduler.createHotObservable([.next(210, 1), .completed(215)])
        let shown = Log<Int>()

        let seen = scheduler.start(disposed: 300) { [scheduler] in
            Observable.system(
                initialState: 0, reduce: { (sum: Int, event: Int) in sum + event }, scheduler: scheduler,
                feedback: bind { states in
                    Bindings(
                        subscriptions: [states.subscribe(onNext: { shown.add($0) })], events: [clicks.asObservable()])
                })
        }

        #expect(seen.events == [.next(201, 0), .next(211, 1)], "the user's events don't end the system")
        #expect(shown.all == [0, 1])
        #expect(clicks.subscriptions == [Subscription(200, 215)])
    }

    private final class View: Sendable {}

    @Test func `bindings to a view that has gone are silent and keep it not alive`() {
        weak var gone: View?
        let loop: Feedback<Int, Int>
        do {
            let view = View()
            gone = view
            loop = bind(view) { _, _ in Bindings(subscriptions: [], events: [.just(1)]) }
        }
        #expect(gone == nil)

        let seen = scheduler.start { [scheduler] in
            Observable.system(
                initialState: 0, reduce: { (sum: Int, event: Int) in sum + event }, scheduler: scheduler,
                feedback: loop)
        }
        #expect(seen.events == [.next(201, 0)])
    }
}

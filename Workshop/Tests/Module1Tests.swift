import Course
import Dispatch
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct Module1Tests {
    private let scheduler = TestScheduler()

    @Test func `1.1 only the latest query's results are sent`() {
        let queries = scheduler.createHotObservable([.next(210, "r"), .next(220, "rx"), .next(300, "swift")])

        let seen = scheduler.start { [scheduler] in
            search(queries.asObservable()) { query in
                Observable<Int>.timer(.seconds(30), scheduler: scheduler).map { _ in ["about \(query)"] }
            }
        }

        #expect(seen.events == [.next(250, ["about rx"]), .next(330, ["about swift"])])
    }

    @Test func `1.2 a tap while it loads means nothing`() {
        let taps = scheduler.createHotObservable([.next(210, ()), .next(220, ()), .next(250, ())])

        let seen = scheduler.start { [scheduler] in
            refreshes(taps.asObservable()) {
                Observable<Int>.timer(.seconds(30), scheduler: scheduler).map { _ in "loaded" }
            }
        }

        #expect(seen.events == [.next(240, "loaded"), .next(280, "loaded")])
    }

    @Test func `1.3 files are uploaded in their order, one after the other`() {
        let files = scheduler.createHotObservable([.next(210, "big"), .next(211, "small")])
        let durations = ["big": 50, "small": 10]

        let seen = scheduler.start { [scheduler] in
            uploads(files.asObservable()) { file in
                Observable<Int>.timer(.seconds(durations[file] ?? 0), scheduler: scheduler).map { _ in "\(file) is up" }
            }
        }

        #expect(seen.events == [.next(260, "big is up"), .next(270, "small is up")])
    }

    @Test func `1.4 one word comes a second`() {
        let seen = scheduler.start { [scheduler] in slowly(.of("one", "two", "three"), on: scheduler) }

        #expect(seen.events.prefix(3) == [.next(201, "one"), .next(202, "two"), .next(203, "three")])
        #expect(seen.events.count(where: { !$0.value.isStopEvent }) == 3)
    }

    @Test func `1.5 actions are counted`() {
        let plus = scheduler.createHotObservable([.next(210, ()), .next(220, ()), .next(250, ())])
        let minus = scheduler.createHotObservable([.next(230, ())])
        let reset = scheduler.createHotObservable([.next(240, ())])

        let seen = scheduler.start {
            counter(plus: plus.asObservable(), minus: minus.asObservable(), reset: reset.asObservable())
        }

        #expect(seen.events == [.next(210, 1), .next(220, 2), .next(230, 1), .next(240, 0), .next(250, 1)])
    }

    @Test func `1.6 a greeting follows all that it is made of`() {
        let greeting = scheduler.createHotObservable([.next(240, "good evening")])
        let first = scheduler.createHotObservable([.next(210, "Ada")])
        let last = scheduler.createHotObservable([.next(220, "Byron"), .next(230, "Lovelace")])

        let seen = scheduler.start {
            salutation(greeting: greeting.asObservable(), first: first.asObservable(), last: last.asObservable())
        }

        #expect(
            seen.events == [
                .next(220, "hello, Ada Byron"), .next(230, "hello, Ada Lovelace"),
                .next(240, "good evening, Ada Lovelace"),
            ])
    }
}

import Dispatch
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct ResourceTests {
    private final class Screen: Sendable {
        let lines = Log<String>()
        let keys = PublishSubject<Character>()
    }

    private let scheduler = TestScheduler()
    private let log = Log<String>()

    private var screen: Rx.Resource<Screen> {
        Rx.Resource(
            acquire: { [log] in
                log.add("open")
                return Screen()
            },
            release: { [log] screen in log.add("close after \(screen.lines.all)") })
    }

    @Test func `every subscriber acquires one of its own, and it is held until somebody disposes`() {
        let screen = screen
        #expect(log.all == [])

        let first = screen.subscribe(onCompleted: { [log] in log.add("completed") })
        let second = screen.subscribe()
        #expect(log.all == ["open", "open"])
        first.dispose()
        first.dispose()

        #expect(log.all == ["open", "open", "close after []"])
        second.dispose()
    }

    enum Ending: CaseIterable { case completion, failure, disposal, failedOutput, failedInput }

    @Test(arguments: Ending.allCases)
    func `it is released once, after what came out of it, whatever ends it`(ending: Ending) {
        let log = log
        let input = PublishSubject<String>()
        let output = PublishSubject<Int>()

        let values = screen.values(taking: input, by: { $0.lines.add($1) }) { _ -> Observable<Int> in
            if ending == .failedOutput { throw Failure() }
            return output.do(onDispose: { log.add("let go") })
        }
        let subscription = values.subscribe { log.add("\($0.map { "\($0)" })") }
        input.onNext("hi")
        output.onNext(1)
        switch ending {
        case .completion: output.onCompleted()
        case .failure: output.onError(Failure())
        case .disposal: subscription.dispose()
        case .failedInput: input.onError(Failure())
        case .failedOutput: break
        }
        subscription.dispose()

        if ending == .failedOutput {
            #expect(log.all == ["open", "error(Failure())", "close after []"])
        } else {
            #expect(log.all.first == "open")
            #expect(log.all[1] == "next(1)")
            #expect(log.all.suffix(2) == ["let go", "close after [\"hi\"]"])
            #expect(log.all.filter { $0.hasPrefix("close") }.count == 1)
        }
    }

    @Test func `what can't be acquired is an error, and nothing is released`() {
        let broken = Rx.Resource<Int>(acquire: { throw Failure() }, release: { [log] _ in log.add("closed") })

        #expect(scheduler.start { broken }.events == [.error(200, Failure())])
        #expect(log.all == [])
    }

    @Test func `the input's completion means nothing`() {
        let seen = scheduler.start { [screen, scheduler] in
            screen.values(taking: Observable.of("a", "b"), by: { $0.lines.add($1) }) { screen in
                Observable<Int>.timer(.seconds(10), scheduler: scheduler).map { _ in screen.lines.all }
            }
        }

        #expect(seen.events == [.next(210, ["a", "b"]), .completed(210)])
    }
}

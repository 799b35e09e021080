import Foundation
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct MoreDisposableTests {
    @Test func `a boolean disposable remembers`() {
        let disposable = BooleanDisposable()
        #expect(!disposable.isDisposed)
        disposable.dispose()
        #expect(disposable.isDisposed && BooleanDisposable(isDisposed: true).isDisposed)
    }

    @Test func `a counted disposable waits for all that retain it`() {
        let log = Log<Int>()
        let counted = RefCountDisposable(disposable: Disposables.create { log.add(1) })
        let first = counted.retain(), second = counted.retain()
        counted.dispose()
        counted.dispose()
        first.dispose()
        first.dispose()
        #expect(log.all == [] && !counted.isDisposed)
        second.dispose()
        #expect(log.all == [1] && counted.isDisposed)
        counted.retain().dispose()
        #expect(log.all == [1])
        let unused = RefCountDisposable(disposable: Disposables.create { log.add(2) })
        unused.retain().dispose()
        #expect(log.all == [1])
        unused.dispose()
        #expect(log.all == [1, 2])
    }

    @Test func `a scheduled disposable is disposed of on its scheduler`() {
        let scheduler = TestScheduler()
        let log = Log<Int>()
        let disposable = ScheduledDisposable(
            scheduler: scheduler, disposable: Disposables.create { log.add(scheduler.clock) })
        scheduler.scheduleAt(300) { disposable.dispose() }
        scheduler.scheduleAt(400) { disposable.dispose() }
        #expect(!disposable.isDisposed)
        scheduler.start()
        #expect(log.all == [301])
        #expect(disposable.isDisposed)
    }

    @Test func `bags take lists and blocks`() {
        let log = Log<Int>()
        let make = { @Sendable (number: Int) in Disposables.create { log.add(number) } }
        do {
            let bags = [
                DisposeBag(disposing: make(1), make(2)), DisposeBag(disposing: [make(3)]),
                DisposeBag {
                    make(4)
                    make(5)
                },
            ]
            bags[0].insert([make(6)])
            bags[0].insert {
                make(7)
                make(8)
            }
            withExtendedLifetime(bags) { #expect(log.all == []) }
        }
        #expect(log.all.sorted() == Array(1...8))
    }

    @Test func `do tells of the disposal after the source has been let go of`() {
        let log = Log<String>()
        let source = Observable<Int>.create { observer in
            observer.onCompleted()
            return Disposables.create { log.add("source") }
        }
        _ = source.do(onSubscribed: { log.add("subscribed") }, onDispose: { log.add("disposed") }).subscribe()
        #expect(log.all == ["source", "subscribed", "disposed"])
    }

    @Test func `resources are counted in debug builds`() {
        let before = Resources.incrementTotal()
        #expect(before >= 1)
        #expect(Resources.total >= 1)
        Resources.decrementTotal()
    }
}

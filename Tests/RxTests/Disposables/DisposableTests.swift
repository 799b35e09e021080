import Dispatch
import Locking
import ResourceCounting
import Testing

@testable import Rx

@Suite(.countsResources) struct DisposableTests {
    @Test func `an action runs once, and is let go of then`() {
        let log = Log<Int>()
        weak var observed: Canary?
        let action: any Cancelable
        do {
            let canary = Canary()
            observed = canary
            action = Disposables.create { withExtendedLifetime(canary) { log.add(1) } }
        }
        #expect(!action.isDisposed && observed != nil)
        action.dispose()
        action.dispose()
        #expect(action.isDisposed && observed == nil)
        #expect(log.all == [1])
    }

    @Test func `onDisposed runs once, last, and is let go of with the subscription still held`() {
        let log = Log<String>()
        weak var observed: Canary?
        let subscription: any Disposable
        do {
            let canary = Canary()
            observed = canary
            subscription = Observable.just(1).subscribe(
                onCompleted: { log.add("completed") },
                onDisposed: { withExtendedLifetime(canary) { log.add("disposed") } })
        }
        subscription.dispose()
        #expect(log.all == ["completed", "disposed"])
        #expect(observed == nil)
    }

    @Test func `several are disposed of in order`() {
        let log = Log<Int>()
        let all = Disposables.create(
            Disposables.create { log.add(1) }, Disposables.create(), Disposables.create { log.add(2) })
        all.dispose()
        all.dispose()
        #expect(log.all == [1, 2])
    }

    @Test func `a serial disposable disposes of the last when the next comes, and of all that come after its end`() {
        let log = Log<Int>()
        let serial = SerialDisposable()
        serial.disposable = Disposables.create { log.add(1) }
        serial.disposable = Disposables.create { log.add(2) }
        #expect(log.all == [1])
        serial.dispose()
        serial.dispose()
        serial.disposable = Disposables.create { log.add(3) }
        #expect(log.all == [1, 2, 3])
        #expect(serial.isDisposed)
    }

    @Test func `a single assignment disposes of what it has, or of what comes later`() {
        let log = Log<Int>()
        let first = SingleAssignmentDisposable(), second = SingleAssignmentDisposable()
        first.setDisposable(Disposables.create { log.add(1) })
        #expect(!first.isDisposed)
        first.dispose()
        second.dispose()
        second.setDisposable(Disposables.create { log.add(2) })
        second.dispose()
        #expect(log.all == [1, 2])
        #expect(first.isDisposed && second.isDisposed)
    }

    @Test func `a composite disposes of its members, and at once of who comes later`() throws {
        let log = Log<Int>()
        let composite = CompositeDisposable(Disposables.create { log.add(1) }, Disposables.create { log.add(2) })
        let key = try #require(composite.insert(Disposables.create { log.add(3) }))
        #expect(composite.count == 3)
        composite.remove(for: key)
        composite.remove(for: key)
        #expect(log.all == [3])
        composite.dispose()
        #expect(log.all == [3, 1, 2])
        #expect(composite.insert(Disposables.create { log.add(4) }) == nil)
        #expect(log.all == [3, 1, 2, 4])
        #expect(composite.isDisposed && composite.count == 0)
    }

    @Test func `a bag that is filled while a member of it is disposed of loses nobody`() {
        let log = Log<Int>()
        do {
            let bag = DisposeBag()
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                for number in 0..<500 {
                    let action = Disposables.create { log.add(number) }
                    action.disposed(by: bag)
                    if number % 2 == 0 { action.dispose() }
                }
            }
            bag.insert(Disposables.create { log.add(-1) }, Disposables.create { log.add(-1) })
        }
        #expect(log.all.count == 2_002)
    }
}

import Dispatch
import Foundation
import ResourceCounting
import Rx
import RxBlocking
import Testing

@Suite(.countsResources) struct BlockingTests {
    private let later = SerialDispatchQueueScheduler(qos: .default)

    @Test func `the elements, the first, the last, the only one`() throws {
        let three = Observable.range(start: 1, count: 3, scheduler: later)
        #expect(try three.toBlocking(timeout: 20).toArray() == [1, 2, 3])
        #expect(try three.toBlocking(timeout: 20).first() == 1)
        #expect(try three.toBlocking().last() == 3)
        #expect(try three.toBlocking().single { $0 == 2 } == 2)
        #expect(try Observable<Int>.empty().toBlocking().first() == nil)
        #expect(try Single.just(1).toBlocking().single() == 1)
        #expect(throws: RxError.self) { try three.toBlocking().single() }
        #expect(throws: RxError.self) { try Observable<Int>.empty().toBlocking().single() }
        #expect(throws: Failure.self) { try three.toBlocking().single { _ in throw Failure() } }
    }

    @Test func `errors are thrown, or told with the elements`() {
        let failing = Observable.range(start: 1, count: 2, scheduler: later).concat(.error(Failure()))
        #expect(throws: Failure.self) { try failing.toBlocking().toArray() }
        #expect(throws: Failure.self) { try failing.toBlocking().last() }
        guard case .failed(let elements, let error) = failing.toBlocking().materialize() else {
            Issue.record("it doesn't fail")
            return
        }
        #expect(elements == [1, 2] && error is Failure)
        guard case .completed(let all) = Observable.of(1, 2).toBlocking().materialize() else {
            Issue.record("it fails")
            return
        }
        #expect(all == [1, 2])
    }

    @Test func `waiting too long is an error, and ends the subscription`() {
        let subject = PublishSubject<Int>()
        #expect(throws: RxError.self) { try subject.toBlocking(timeout: 0.01).first() }
        #expect(!subject.hasObservers)
    }
}

import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

/// A server without a network: takes one token, and says 401 to every other.
private final class Server: Sendable {
    struct Unauthorized: Error {}

    private let valid: Locked<Set<Int>>
    let requests = Log<Int>()

    init(accepting tokens: Set<Int>) { valid = Locked(tokens) }

    func get(_ token: Int, after delay: Int, on scheduler: any SchedulerType) -> Observable<String> {
        Observable<Int>.timer(.seconds(delay), scheduler: scheduler).map { [self] _ in
            requests.add(token)
            if valid.withLock({ $0.contains(token) }) { return "ok \(token)" }
            throw Unauthorized()
        }
    }
}

@Suite(.countsResources) struct AcquisitionServiceTests {
    private let scheduler = TestScheduler()
    private let renewals = Log<Int>()

    /// Counts up, each renewal in 50 ticks.
    private func counting(limit: Int = 3) -> AcquisitionService<Int> {
        AcquisitionService(initial: 1, limit: limit, scheduler: scheduler) { [scheduler, renewals] old in
            renewals.add(old)
            return Observable<Int>.timer(.seconds(50), scheduler: scheduler).map { _ in old + 1 }
        }
    }

    private func get(
        _ server: Server, _ service: AcquisitionService<Int>, after delay: Int = 10
    ) -> Observable<String> {
        service.request(isWornOut: { $0 is Server.Unauthorized }) { [scheduler] token in
            server.get(token, after: delay, on: scheduler)
        }
    }

    @Test func `a hundred streams that fail at once cause one renewal, and all go on with its value`() {
        let server = Server(accepting: [2])
        let service = counting()
        let answers = Log<String>()

        for _ in 0..<100 { _ = get(server, service).subscribe(onNext: { answers.add($0) }) }
        scheduler.start()

        #expect(renewals.all == [1])
        #expect(answers.all == Array(repeating: "ok 2", count: 100))
        #expect(server.requests.all == Array(repeating: 1, count: 100) + Array(repeating: 2, count: 100))
    }

    @Test func `who fails with the old value after the renewal tries again at once`() {
        let server = Server(accepting: [2])
        let service = counting()
        let answers = Log<String>()

        _ = get(server, service, after: 10).subscribe(onNext: { answers.add($0) })
        _ = get(server, service, after: 100).subscribe(onNext: { answers.add($0) })
        scheduler.start()

        #expect(renewals.all == [1])
        #expect(answers.all == ["ok 2", "ok 2"])
    }

    @Test func `a renewal that fails reaches all that wait, and the next failure asks again`() {
        let fails = Locked(true)
        let service = AcquisitionService(initial: 1, scheduler: scheduler) { [scheduler, renewals] old in
            renewals.add(old)
            return Observable<Int>.timer(.seconds(50), scheduler: scheduler).map { _ in
                if fails.withLock({ exchange(&$0, false) }) { throw Failure() }
                return 2
            }
        }
        let server = Server(accepting: [2])
        let seen = Log<Event<String>>()

        for _ in 0..<100 { _ = get(server, service).subscribe { seen.add($0) } }
        scheduler.start()
        #expect(seen.all == Array(repeating: .error(Failure()), count: 100))
        #expect(renewals.all == [1])

        _ = get(server, service).subscribe { seen.add($0) }
        scheduler.start()
        #expect(seen.all.suffix(2) == [.next("ok 2"), .completed])
        #expect(renewals.all == [1, 1])
    }

    @Test(arguments: [false, true])
    func `a renewal that fails at once is one renewal too`(isEmpty: Bool) {
        let service = AcquisitionService(initial: 1, scheduler: scheduler) { [renewals] old -> Observable<Int> in
            renewals.add(old)
            return isEmpty ? .empty() : .error(Failure())
        }
        let server = Server(accepting: [])
        let seen = Log<Event<String>>()

        for _ in 0..<100 { _ = get(server, service).subscribe { seen.add($0) } }
        scheduler.start()

        #expect(renewals.all == [1])
        let error: any Error = isEmpty ? RxError.noElements : Failure()
        #expect(seen.all == Array(repeating: .error(error), count: 100))
    }

    @Test func `a renewal that succeeds with a bad value is tried a bounded number of times`() {
        let server = Server(accepting: [])
        let service = counting(limit: 3)
        let seen = Log<Event<String>>()

        _ = get(server, service).subscribe { seen.add($0) }
        scheduler.start()

        #expect(renewals.all == [1, 2, 3])
        #expect(server.requests.all == [1, 2, 3, 4])
        #expect(seen.all == [.error(Server.Unauthorized())], "the request's own error")
    }

    @Test func `late subscribers get the latest value first`() {
        let server = Server(accepting: [2])
        let service = counting()
        let early = Log<Int>()
        let late = Log<Int>()

        _ = service.values.subscribe(onNext: { early.add($0) })
        _ = get(server, service).subscribe()
        scheduler.start()
        _ = service.values.subscribe(onNext: { late.add($0) })
        let answers = Log<String>()
        _ = get(server, service).subscribe(onNext: { answers.add($0) })
        scheduler.start()

        #expect(early.all == [1, 2])
        #expect(late.all == [2])
        #expect(answers.all == ["ok 2"])
        #expect(renewals.all == [1])
    }

    @Test func `other errors pass and renew nothing`() {
        let seen = Log<Event<String>>()

        _ = counting().request(isWornOut: { $0 is Server.Unauthorized }) { _ in Observable<String>.error(Failure()) }
            .subscribe { seen.add($0) }
        scheduler.start()

        #expect(seen.all == [.error(Failure())])
        #expect(renewals.all == [])
    }

    @Test func `who is disposed of while waiting asks for nothing more`() {
        let server = Server(accepting: [2])
        let service = counting()
        let seen = Log<Event<String>>()

        let subscription = get(server, service).subscribe { seen.add($0) }
        scheduler.advanceTo(30)
        subscription.dispose()
        scheduler.start()

        #expect(seen.all == [])
        #expect(server.requests.all == [1])
    }

    @Test func `threads that fail at once cause one renewal a value`() {
        let queue = SerialDispatchQueueScheduler(qos: .default, internalSerialQueueName: "keys")
        let renewed = Log<Int>()
        let service = AcquisitionService(initial: 0, limit: 10, scheduler: queue) { old in
            renewed.add(old)
            return .just(old + 1, scheduler: queue)
        }
        let answers = Log<Int>()

        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            _ = service.request(isWornOut: { $0 is Failure }) { value in
                value >= 5 ? Observable.just(value) : .error(Failure())
            }
            .subscribe(onNext: { answers.add($0) })
        }

        #expect(becomesTrue { answers.all.count == 64 })
        #expect(answers.all == Array(repeating: 5, count: 64))
        #expect(renewed.all == [0, 1, 2, 3, 4])
    }
}

private func exchange(_ value: inout Bool, _ new: Bool) -> Bool {
    defer { value = new }
    return value
}

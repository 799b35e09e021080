import Locking
import ResourceCounting
import Rx
import Testing

/// Something that asks through callbacks, as a C library would; it knows nothing of Rx.
private final class Doorkeeper: Sendable {
    struct Callbacks: Sendable {
        /// Passes a value.
        var didHear: @Sendable (String) -> Void = { _ in }
        /// Returns a value.
        var patience: @Sendable () -> Int = { 30 }
        /// Passes one and returns one: the question whether somebody may come in.
        var mayEnter: @Sendable (String) -> Bool = { _ in false }
        /// Must compute on the spot: what is shown depends on the moment.
        var greeting: @Sendable (_ hour: Int) -> String = { _ in "" }
    }

    let callbacks = Locked(Callbacks())

    func set(_ change: (inout Callbacks) -> Void) { callbacks.withLock { change(&$0) } }

    func knock(_ name: String) -> String {
        let callbacks = callbacks.withLock { $0 }
        callbacks.didHear(name)
        return callbacks.mayEnter(name) ? callbacks.greeting(9) : "wait \(callbacks.patience()) s"
    }
}

@Suite(.countsResources) struct CallbackTests {
    private let doorkeeper = Doorkeeper()

    @Test func `what a callback is passed becomes elements, as long as somebody is subscribed`() {
        let doorkeeper = doorkeeper
        let heard = Observable<String>.callback { callback in
            doorkeeper.set { $0.didHear = callback }
            return Disposables.create { doorkeeper.set { $0.didHear = { _ in } } }
        }
        let seen = Log<String>()

        _ = doorkeeper.knock("nobody listens")
        let subscription = heard.subscribe(onNext: { seen.add($0) })
        _ = doorkeeper.knock("bob")
        subscription.dispose()
        _ = doorkeeper.knock("carol")

        #expect(seen.all == ["bob"])
    }

    @Test func `a callback that can't be set up is an error`() {
        let seen = Log<Event<Int>>()

        _ = Observable<Int>.callback { _ in throw Failure() }.subscribe { seen.add($0) }

        #expect(seen.all == [.error(Failure())])
    }

    @Test func `a callback returns the latest value that was bound, at first the caller's default`() {
        let patience = CallbackValue(default: 30)
        doorkeeper.set { $0.patience = { patience() } }
        #expect(doorkeeper.knock("bob") == "wait 30 s")

        let source = PublishRelay<Int>()
        let subscription = source.bind(to: patience.binder)
        source.accept(5)
        #expect(doorkeeper.knock("bob") == "wait 5 s")

        subscription.dispose()
        source.accept(60)
        #expect(doorkeeper.knock("bob") == "wait 5 s")
    }

    @Test func `the admission question is answered from a dictionary, and an unknown one is passed on`() {
        let admission = CallbackAnswers<String, Bool>(["alice": true]) { _ in false }
        doorkeeper.set {
            $0.mayEnter = { admission($0) }
            $0.greeting = { hour in hour < 12 ? "good morning" : "hello" }
        }
        let asked = Log<String>()
        let known = Locked(["alice": true])
        // A member says yes to bob, whoever he is; carol hears nothing yet.
        let decisions = admission.unanswered.do(onNext: { asked.add($0) })
            .filter { $0 == "bob" }
            .map { name in
                known.withLock {
                    $0[name] = true
                    return $0
                }
            }
        let subscription = decisions.bind(to: admission.binder)

        #expect(doorkeeper.knock("alice") == "good morning")
        #expect(doorkeeper.knock("bob") == "wait 30 s", "the default, as nobody had thought about bob")
        #expect(doorkeeper.knock("bob") == "good morning")
        #expect(doorkeeper.knock("carol") == "wait 30 s")

        #expect(asked.all == ["bob", "carol"])
        subscription.dispose()
    }
}

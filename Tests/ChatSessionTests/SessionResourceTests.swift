import ChatModel
import Dispatch
import Glibc
import Identity
import Locking
import ResourceCounting
import Rx
import Testing

@testable import ChatSession

/// One after the other: a signal reaches all that wait for it.
@Suite(.serialized, .countsResources) struct SessionResourceTests {
    private struct Broken: Error {}

    enum Ending: CaseIterable { case failure, disposal, signal }

    @Test(arguments: Ending.allCases)
    func `whatever ends the subscription leaves the room once`(ending: Ending) throws {
        let (aliceState, bobState) = (try StateFolder(), try StateFolder())
        let seen = Locked<[String]>([])
        let completions = Locked(0)
        let joined = Locked<SessionContainer?>(nil)
        let key = SigningKey()
        let room = SessionContainer.resource(
            displayName: "alice", room: "lab", configuration: aliceState.configuration(key: key),
            prepare: { session in
                _ = session.received.subscribe(onCompleted: { completions.withLock { $0 += 1 } })
            })
        let stay = room.values { session -> Observable<Transcript> in
            joined.withLock { $0 = session }
            guard ending == .failure else { return session.received }
            return session.received.map { line in
                if case .text = line.content { throw Broken() }
                return line
            }
        }
        .take(until: Observable<Void>.callback { signalled in Self.onSignal(signalled) })
        #expect(joined.withLock { $0 == nil }, "nothing happens before somebody subscribes")

        let isOver = DispatchSemaphore(value: 0)
        let subscription = stay.subscribe(onError: { _ in }, onDisposed: { isOver.signal() })
        let port = try #require(joined.withLock { $0?.port })
        let bob = try SessionContainer(
            displayName: "bob", room: "lab", configuration: bobState.configuration(dialling: port))
        defer { bob.leave() }
        let notices = bob.received.subscribe(onNext: { line in
            if case .notice(let text) = line.content { seen.withLock { $0.append(text) } }
        })
        defer { notices.dispose() }
        _ = try bob.join()
        #expect(eventually { seen.withLock { $0 } == ["'alice' is Connected"] })
        switch ending {
        case .failure: _ = bob.send(message: "what ends it").subscribe()
        case .disposal: subscription.dispose()
        case .signal: kill(getpid(), SIGUSR2)
        }

        #expect(isOver.wait(timeout: .now() + 20) == .success)
        subscription.dispose()
        #expect(eventually { completions.withLock { $0 } == 1 })
        #expect(eventually { seen.withLock { $0.count } == 2 })
        #expect(seen.withLock { $0 } == ["'alice' is Connected", "'alice' is Not Connected"])
        joined.withLock { $0 = nil }
        // Nothing is held any more: the same state opens again.
        let again = SessionContainer.resource(
            displayName: "alice", room: "lab", configuration: aliceState.configuration(key: key))
        let entered = Locked(false)
        again.subscribe(onNext: { _ in entered.withLock { $0 = true } }).dispose()
        #expect(entered.withLock { $0 })
    }

    /// Once: each source puts a handler of its own in this one's place.
    private static let survivesSignal: Void = { signal(SIGUSR2, SIG_IGN) }()

    private static func onSignal(_ report: @escaping @Sendable (()) -> Void) -> any Disposable {
        _ = survivesSignal
        let source = DispatchSource.makeSignalSource(signal: SIGUSR2, queue: DispatchQueue(label: "signal"))
        source.setEventHandler { report(()) }
        source.activate()
        return Cancelling(source: source)
    }

    /// `@unchecked`: a dispatch source may be cancelled from any thread.
    private struct Cancelling: Disposable, @unchecked Sendable {
        let source: any DispatchSourceSignal
        func dispose() { source.cancel() }
    }

    @Test func `a room that can't be entered is an error, and nothing stays open`() throws {
        let state = try StateFolder()
        let seen = Locked<[String]>([])
        let first = SessionContainer.resource(
            displayName: "alice", room: "lab", configuration: state.configuration())
        let bad = SessionContainer.resource(
            displayName: "alice", room: "no room", configuration: state.configuration())

        _ = bad.subscribe(onError: { error in seen.withLock { $0.append("\(error)") } })
        #expect(seen.withLock { $0.count } == 1)
        let port = Locked<UInt16>(0)
        let subscription = first.subscribe(onNext: { session in port.withLock { $0 = session.port } })
        defer { subscription.dispose() }
        #expect(port.withLock { $0 } > 0)
    }
}

import ChatModel
import Identity
import Locking
import ResourceCounting
import Testing

@testable import ChatSession

@Suite(.countsResources) struct IntakeTests {
    private let pauses = Locked<[Bool]>([])
    private let peer = SigningKey().peer

    @Test func `who sends faster than it is dealt with is paused, once, and read again when little is left`() {
        let intake = Intake { [pauses] _, isPaused in pauses.withLock { $0.append(isPaused) } }
        let batch = SessionMessage.batch([UInt8](repeating: 0, count: 48 << 10))

        for _ in 1...100 { intake.came(batch, from: peer) }
        #expect(pauses.withLock { $0 } == [true])
        #expect(intake.load(of: peer).isPaused && intake.load(of: peer).bytes > 4 << 20)

        for _ in 1...100 { intake.done(batch, from: peer) }
        #expect(pauses.withLock { $0 } == [true, false])
        #expect(intake.load(of: peer) == Intake.Load())
    }

    @Test func `what the room doesn't pass on is dealt with at once, and what it does once that is done`() {
        let intake = Intake { _, _ in }
        let batch = SessionMessage.batch([1, 2, 3])
        intake.came(batch, from: peer)
        intake.came(.waiting(.over), from: peer)
        let both = intake.load(of: peer).bytes

        intake.reduced(.message(peer, .waiting(.over)), [])
        intake.reduced(.message(peer, batch), [.store([1, 2, 3], from: peer)])
        #expect(intake.load(of: peer).bytes < both && intake.load(of: peer).bytes > 0)

        intake.done(batch, from: peer)
        #expect(intake.load(of: peer).bytes == 0)

        intake.came(batch, from: peer)
        intake.reduced(.message(peer, batch), [])
        #expect(intake.load(of: peer).bytes == 0)
    }
}

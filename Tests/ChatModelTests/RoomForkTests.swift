import Addressing
import Identity
import Testing

@testable import ChatModel

struct RoomForkTests {
    private let alice = Samples.key(1), bob = Samples.key(2), mallory = Samples.key(3)
    private let endpoint = Endpoint(address: .v4(0x0a00_0001), port: 7_311)

    private func room(isNewIncarnation: Bool = false, ranges: [LogID: EventRanges] = [:]) -> RoomState {
        var start = RoomState.Start(me: alice.peer, displayName: "alice", ownLog: Samples.log(of: alice))
        start.isNewIncarnation = isNewIncarnation
        start.ranges = ranges
        return RoomState(start)
    }

    private func take(_ event: RoomEvent, at now: UInt64, by room: inout RoomState) -> [RoomEffect] {
        RoomState.reduce(into: &room, RoomInput(event, now: now, wall: 1_700_000_000_000))
    }

    private func say(_ text: String, _ number: UInt64) -> RoomEvent {
        .say([Saying(.text(text), nonce: Nonce(UInt128(number)), command: CommandID(value: number))])
    }

    private func appends(_ effects: [RoomEffect]) -> Int {
        effects.count { if case .append = $0 { true } else { false } }
    }

    /// What a room sends and serves to a peer.
    private func told(_ peer: PeerID, _ effects: [RoomEffect]) -> (batches: [[UInt8]], served: [Want], wants: [Want]) {
        var batches: [[UInt8]] = [], served: [Want] = [], wants: [Want] = []
        for effect in effects {
            if case .serve(let want, peer) = effect { served.append(want) }
            guard case .send(peer, let messages) = effect else { continue }
            for message in messages {
                if case .batch(let bytes) = message { batches.append(bytes) }
                if case .want(let want) = message { wants.append(want) }
            }
        }
        return (batches, served, wants)
    }

    private func link(_ peer: PeerID, with have: Have, to room: inout RoomState) -> [RoomEffect] {
        _ = take(.linkUp(peer, endpoint: endpoint, isDialler: false), at: 1_000, by: &room)
        let hello = Hello(displayName: "bob", instance: "", wallTime: 1_700_000_000_000, autoFetchLimit: 0)
        _ = take(.message(peer, .hello(hello)), at: 1_000, by: &room)
        return take(.message(peer, .have(have)), at: 1_000, by: &room)
    }

    private func entry(_ batch: Batch) -> Have.Entry {
        .init(log: batch.log, ranges: [EventRange(numbers: 1...batch.last, lastID: batch.lastID)])
    }

    private func batch(_ text: String, by key: SigningKey) -> Batch {
        Batch(
            sealing: [Samples.text(text)], in: Samples.log(of: key), of: Samples.lab, first: 1, previous: .none,
            with: key)
    }

    @Test func `the first own event after a start waits two seconds for somebody's word, and no longer`() {
        var room = room()
        _ = take(.tick, at: 1_000, by: &room)

        let effects = take(say("hello", 1), at: 1_500, by: &room)
        #expect(appends(effects) == 0)
        #expect(effects.contains { if case .wake(at: 3_000) = $0 { true } else { false } })
        #expect(appends(take(.tick, at: 2_999, by: &room)) == 0)
        #expect(appends(take(.tick, at: 3_000, by: &room)) == 1)
        #expect(appends(take(say("more", 2), at: 3_001, by: &room)) == 1)
    }

    @Test func `it goes out as soon as a peer has told that it knows no more of us`() {
        var room = room()
        _ = take(.tick, at: 1_000, by: &room)
        _ = take(say("hello", 1), at: 1_000, by: &room)

        #expect(appends(link(bob.peer, with: Have(entries: []), to: &room)) == 1)
    }

    @Test func `it waits for own events that a peer has, and goes into the log that was opened then`() {
        var room = room()
        let lost = batch("lost", by: alice)
        _ = take(.tick, at: 1_000, by: &room)
        _ = take(say("hello", 1), at: 1_000, by: &room)

        #expect(appends(link(bob.peer, with: Have(entries: [entry(lost)]), to: &room)) == 0)
        let stored = StoredBatch(batch: lost, result: .stored([NewEvents(lost.numbers)]))
        #expect(appends(take(.stored(from: bob.peer, [stored]), at: 1_100, by: &room)) == 1)

        let log = LogID(author: alice.peer, incarnation: Incarnation(8))
        let new = Batch(
            sealing: [Samples.text("hello")], in: log, of: Samples.lab, first: 1, previous: .none, with: alice)
        let pushed = told(bob.peer, take(.appended([], [new]), at: 1_110, by: &room)).batches
        #expect(room.ownLog == log)
        #expect(pushed == [new.bytes])
    }

    @Test func `a new incarnation waits for nobody`() {
        var room = room(isNewIncarnation: true)
        _ = take(.tick, at: 1_000, by: &room)
        #expect(appends(take(say("hello", 1), at: 1_000, by: &room)) == 1)
    }

    @Test
    func
        `another id at our last number is asked for, and the proof goes to whoever has the log until it says it knows`()
    {
        let ours = batch("one", by: mallory), theirs = batch("another", by: mallory)
        var room = room(ranges: [ours.log: EventRanges([EventRange(numbers: 1...1, lastID: ours.lastID)])])
        _ = take(.tick, at: 1_000, by: &room)
        let carol = Samples.key(4).peer
        _ = link(carol, with: Have(entries: [entry(ours)]), to: &room)

        let asked = told(bob.peer, link(bob.peer, with: Have(entries: [entry(theirs)]), to: &room)).wants
        #expect(asked == [Want(log: ours.log, numbers: 1...1)])

        let forked = StoredBatch(batch: theirs, result: .forked)
        let effects = take(.stored(from: bob.peer, [forked]), at: 1_100, by: &room)
        for peer in [bob.peer, carol] {
            #expect(told(peer, effects).batches == [theirs.bytes])
            #expect(told(peer, effects).served == [Want(log: ours.log, numbers: 1...1)])
        }
        let again = take(.stored(from: bob.peer, [forked]), at: 1_200, by: &room)
        #expect(told(carol, again).batches.isEmpty)
        let said = take(.message(carol, .have(Have(entries: [entry(ours)]))), at: 1_300, by: &room)
        #expect(told(carol, said).batches.isEmpty && told(carol, said).wants.isEmpty)

        #expect(told(carol, take(.tick, at: 6_099, by: &room)).batches.isEmpty)
        #expect(told(carol, take(.tick, at: 6_100, by: &room)).batches == [theirs.bytes])
        let knowing = Have.Entry(log: ours.log, ranges: entry(ours).ranges, isForked: true)
        _ = take(.message(carol, .have(Have(entries: [knowing]))), at: 6_200, by: &room)
        let late = take(.tick, at: 60_000, by: &room)
        #expect(told(carol, late).batches.isEmpty && told(bob.peer, late).batches == [theirs.bytes])
        // Whoever is back may have forgotten.
        let back = link(carol, with: Have(entries: [entry(ours)]), to: &room)
        #expect(told(carol, back).batches == [theirs.bytes])
    }

    @Test func `a host that holds a proof says so, also to whoever holds the same events`() {
        let ours = batch("one", by: mallory), theirs = batch("another", by: mallory)
        var room = room(ranges: [ours.log: EventRanges([EventRange(numbers: 1...1, lastID: ours.lastID)])])
        _ = take(.tick, at: 1_000, by: &room)
        _ = link(bob.peer, with: Have(entries: [entry(ours)]), to: &room)

        _ = take(.stored(from: bob.peer, [StoredBatch(batch: theirs, result: .forked)]), at: 1_100, by: &room)
        let said = take(.tick, at: 1_300, by: &room).compactMap { effect -> [SessionMessage]? in
            if case .send(bob.peer, let messages) = effect { messages } else { nil }
        }
        let knowing = Have.Entry(log: ours.log, ranges: entry(ours).ranges, isForked: true)
        #expect(said.contains([.have(Have(entries: [knowing]))]))
    }

    @Test func `of one author 64 logs are taken, further ones only if it is trusted`() {
        var room = room()
        _ = take(.tick, at: 1_000, by: &room)
        _ = link(mallory.peer, with: Have(entries: []), to: &room)
        let batches = (0..<66).map { number in
            Batch(
                sealing: [Samples.text("\(number)")],
                in: LogID(author: mallory.peer, incarnation: Incarnation(UInt128(number))), of: Samples.lab, first: 1,
                previous: .none, with: mallory)
        }
        func stores(_ batch: Batch) -> Bool {
            take(.message(mallory.peer, .batch(batch.bytes)), at: 1_100, by: &room).contains {
                if case .store = $0 { true } else { false }
            }
        }
        #expect(batches.map(stores) == Array(repeating: true, count: 64) + [false, false])
        #expect(stores(batches[63]))
        _ = take(.decide(mallory.peer, .trust, CommandID(value: 1)), at: 1_200, by: &room)
        #expect(stores(batches[65]))
    }

    @Test func `logs of which only forgeries came hold no place against their author's own`() {
        var room = room()
        _ = take(.tick, at: 1_000, by: &room)
        _ = link(mallory.peer, with: Have(entries: []), to: &room)
        func stores(_ number: Int) -> Bool {
            let log = LogID(author: bob.peer, incarnation: Incarnation(UInt128(number)))
            let batch = Batch(
                sealing: [Samples.text("x")], in: log, of: Samples.lab, first: 1, previous: .none, with: bob)
            return take(.message(mallory.peer, .batch(batch.bytes)), at: 1_100, by: &room).contains {
                if case .store = $0 { true } else { false }
            }
        }
        for number in 0..<64 { #expect(stores(number)) }
        #expect(!stores(64))
        _ = take(.batchRefused(from: mallory.peer, .seal), at: 1_200, by: &room)
        #expect(stores(64))
    }
}

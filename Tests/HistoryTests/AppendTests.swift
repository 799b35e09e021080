import Addressing
import ChatModel
import Foundation
import Identity
import Testing

@testable import History

struct AppendTests {
    let scratch: Scratch
    let key = SigningKey()

    init() throws { scratch = try Scratch() }

    func open() throws -> (History, HistoryOpened) { try History.open(directory: scratch.path, room: lab, key: key) }

    @Test func `what was appended is there after a restart, in the same log`() throws {
        let (history, opened) = try open()
        let results = try history.append(text("one"), text("two", at: 5_000))
        history.on { $0.close() }

        let (again, reopened) = try open()

        #expect(opened.ranges.isEmpty && opened.isNewIncarnation && opened.notice == nil)
        #expect(results.map(\.id).count == 2)
        #expect(reopened.ownLog == opened.ownLog && !reopened.isNewIncarnation)
        #expect(
            reopened.ranges[opened.ownLog]
                == EventRanges([EventRange(numbers: 1...2, lastID: try #require(results[1].id))]))
        #expect(reopened.latestClock == HybridTime(milliseconds: 5_000))
        #expect(try again.texts() == ["one", "two"])
        #expect(
            try again.append(text("three")).first.map { if case .appended(_, 3) = $0 { true } else { false } } == true)
    }

    @Test func `the same nonce with the same text is the same event, also after a restart`() throws {
        let (history, _) = try open()
        let first = try history.append(text("pay", nonce: 7), text("pay", nonce: 7), text("pay twice", nonce: 7))
        history.on { $0.close() }

        let (again, _) = try open()
        let second = try again.append(text("pay", nonce: 7), text("other", nonce: 7))

        let id = try #require(first[0].id)
        #expect(first == [.appended(id, number: 1), .repeated(id), .nonceTaken])
        #expect(second == [.repeated(id), .nonceTaken])
        #expect(try again.texts() == ["pay"])
    }

    @Test func `events are split at 256, and at 48 KiB`() throws {
        let (history, _) = try open()
        let long = String(repeating: "x", count: 16_000)

        let (_, many) = try history.on { try $0.append((1...600).map { text("\($0)") }) }
        let (_, big) = try history.on { try $0.append((1...4).map { _ in text(long) }) }

        #expect(many.map(\.events.count) == [256, 256, 88])
        #expect(big.map(\.events.count) == [3, 1])
        #expect((many + big).allSatisfy { $0.bytes.count <= Batch.maximumLength })
        #expect(big.last?.last == 604)
        for batch in many + big { _ = try Batch(verifying: batch.bytes, in: lab, reader: key.peer) }
        #expect(zip(many + big, (many + big).dropFirst()).allSatisfy { $0.lastID == $1.previous })
        #expect(try history.texts(last: 2).map(\.count) == [16_000, 16_000])
    }

    @Test func `nothing is written for no events`() throws {
        let (history, opened) = try open()

        let (results, batches) = try history.on { try $0.append([]) }

        #expect(results.isEmpty && batches.isEmpty)
        #expect(try history.on { try $0.batches(of: opened.ownLog, covering: 1...9, atMost: 100) }.isEmpty)
    }

    @Test func `a copied database begins a new incarnation, and keeps the old one's lines`() throws {
        let (history, opened) = try open()
        _ = try history.append(text("before"))
        history.on { $0.close() }
        let copy = try Scratch()
        try FileManager.default.copyItem(atPath: "\(scratch.path)/history.db", toPath: "\(copy.path)/history.db")

        let (copied, other) = try History.open(directory: copy.path, room: lab, key: key)
        let result = try copied.append(text("after"))
        copied.on { $0.close() }
        let (_, reopened) = try History.open(directory: copy.path, room: lab, key: key)

        #expect(other.ownLog != opened.ownLog && other.isNewIncarnation)
        #expect(other.ownLog.author == opened.ownLog.author)
        #expect(result == [.appended(try #require(result[0].id), number: 1)])
        #expect(try Set(History.open(directory: copy.path, room: lab, key: key).0.texts()) == ["before", "after"])
        #expect(reopened.ownLog == other.ownLog && !reopened.isNewIncarnation)
        #expect(Set(reopened.ranges.keys) == [opened.ownLog, other.ownLog])
    }

    @Test func `another room's history isn't opened`() throws {
        let (history, _) = try open()
        history.on { $0.close() }

        #expect(throws: HistoryError.self) {
            try History.open(directory: scratch.path, room: RoomID(openRoom: "other"), key: key)
        }
    }

    @Test func `after closing, nothing is taken`() throws {
        let (history, _) = try open()
        history.on { $0.close() }

        #expect(throws: HistoryError.self) { try history.append(text("late")) }
        #expect(history.on { $0.setting("port") } == nil)
    }

    @Test func `settings and peers are remembered until they change`() throws {
        let (history, _) = try open()
        let bob = SigningKey().peer
        try history.on {
            try $0.set("port", "7311")
            try $0.set("gone", "x")
            try $0.set("gone", nil)
            try $0.remember(bob, PeerRecord(name: "bob", firstSeen: 1, lastSeen: 1))
            try $0.remember(bob, PeerRecord(name: "Bob", firstSeen: 1, namedSince: 2, lastSeen: 2, verdict: .blocked))
            $0.close()
        }

        let (again, _) = try open()

        #expect(again.on { $0.setting("port") } == "7311")
        #expect(again.on { $0.setting("gone") } == nil)
        #expect(
            again.on { $0.knownPeers() } == [
                KnownPeer(
                    peer: bob,
                    record: PeerRecord(name: "Bob", firstSeen: 1, namedSince: 2, lastSeen: 2, verdict: .blocked))
            ])
    }

    @Test func `of a peer that was neither met nor judged nothing is kept`() throws {
        let (history, _) = try open()
        let bob = Author().key.peer
        try history.on {
            try $0.remember(bob, PeerRecord(name: "bob", firstSeen: 1, lastSeen: 1))
            try $0.remember(bob, PeerRecord(name: "bob"))
        }
        #expect(history.on { $0.knownPeers() }.isEmpty)
        try history.on { try $0.remember(bob, PeerRecord(name: "", verdict: .blocked)) }
        #expect(history.on { $0.knownPeers() }.map(\.record.verdict) == [.blocked])
    }

    @Test func `where peers were reached is remembered of those seen last`() throws {
        let (history, _) = try open()
        let peers = (0..<History.peersWithAddresses + 4).map { _ in SigningKey().peer }
        let addresses = [
            Endpoint(address: .v4(0x0a4d_0001), port: 7_311),
            Endpoint(address: .v6(high: 0xfe80 << 48, low: 0x1234, scope: 0), port: 65_535),
        ]
        let records = peers.enumerated().map { index, peer in
            (peer, PeerRecord(name: "p", firstSeen: 1, lastSeen: UInt64(index), addresses: addresses))
        }
        try history.on { history in
            try history.remember(Dictionary(uniqueKeysWithValues: records))
            history.close()
        }

        let (again, _) = try open()
        let known = again.on { $0.knownPeers() }

        #expect(known.map(\.peer) == peers.reversed())
        #expect(known.dropLast(4).allSatisfy { $0.record.addresses == addresses })
        #expect(known.suffix(4).allSatisfy { $0.record.addresses.isEmpty })
    }
}

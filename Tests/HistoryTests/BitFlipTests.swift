import ChatModel
import Foundation
import Glibc
import Identity
import SystemCalls
import Testing

@testable import History

/// Bits that rot on the disk: BIT_FLIPS of them, by default 200.
struct BitFlipTests {
    private let scratch: Scratch
    private let key = SigningKey()
    private let count = ProcessInfo.processInfo.environment["BIT_FLIPS"].flatMap(Int.init) ?? 200

    init() throws {
        scratch = try Scratch(in: FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp")
    }

    private func open() throws -> (History, HistoryOpened) {
        try History.open(directory: scratch.path, room: lab, key: key)
    }

    /// What a line says, and who says it.
    private struct Saying: Equatable {
        var log: LogID
        var number: UInt64
        var kind: EventKind
        var clock: HybridTime
        var wallTime: UInt64
        var body: [UInt8]

        init(_ line: StoredLine) {
            (log, number, kind) = (line.log, line.number, line.kind)
            (clock, wallTime, body) = (line.clock, line.wallTime, line.body)
        }
    }

    /// What opening a database with one wrong bit comes to.
    private enum Finding: String {
        case harmless, refused, setAside, missing
    }

    private func write() throws -> [EventID: Saying] {
        let (history, _) = try open()
        var authors = [Author(incarnation: 1), Author(incarnation: 2)]
        for number in 1...60 {
            _ = try history.append(text("mine \(number) " + String(repeating: "m", count: number * 3)))
            let place = number % 2
            _ = try history.store(authors[place].say("theirs \(number)", "and \(number)"))
        }
        try history.on { history in
            try history.remember(authors[0].key.peer, PeerRecord(name: "bob", firstSeen: 1))
            try history.set("port", "7311")
            try history.note(EventID(SHA256.digest(of: [1])), image: .received("/tmp/a.png"))
        }
        let lines = try history.on { try $0.lines(last: .max) }
        history.on { $0.close() }
        return Dictionary(uniqueKeysWithValues: lines.map { ($0.id, Saying($0)) })
    }

    @Test func `a bit that rots in the database is found or does no harm`() throws {
        let sayings = try write()
        let path = "\(scratch.path)/history.db"
        let sound = try #require(FileManager.default.contents(atPath: path))
        var dice = SplitMix64(seed: UInt64.random(in: 0...(.max)))
        var findings: [Finding: Int] = [:]
        for _ in 0..<count {
            let bit = Int.random(in: 0..<sound.count * 8, using: &dice)
            var bytes = sound
            bytes[bit / 8] ^= 1 << (bit % 8)
            for name in try scratch.names() { try FileManager.default.removeItem(atPath: "\(scratch.path)/\(name)") }
            try bytes.write(to: URL(fileURLWithPath: path))

            let (finding, complaint) = try find(sayings)

            findings[finding, default: 0] += 1
            #expect(complaint == nil, "bit \(bit) of \(sound.count * 8)")
            if complaint != nil { return }
        }
        print("\(count) flips in the database: \(findings.map { "\($0.value) \($0.key)" }.sorted())")
        #expect(findings.values.reduce(0, +) == count)
        #expect((findings[.setAside] ?? 0) > 0 && (findings[.harmless] ?? 0) > 0)
    }

    /// Opens the database and reads all of it.
    ///
    /// - Returns: What became of it, and what was shown or passed on that nobody said.
    private func find(_ sayings: [EventID: Saying]) throws -> (Finding, complaint: String?) {
        let opening: (History, HistoryOpened)
        do throws(HistoryError) {
            opening = try History.open(directory: scratch.path, room: lab, key: key)
        } catch { return (.refused, nil) }
        let (history, opened) = opening
        return history.on { history in
            defer { history.close() }
            if opened.notice != nil { return (.setAside, opened.ranges.isEmpty ? nil : "it isn't new") }
            let lines = (try? history.lines(last: .max)) ?? []
            if Set(lines.map(\.id)).count != lines.count { return (.harmless, "a line is there twice") }
            for line in lines where sayings[line.id] != Saying(line) { return (.harmless, "line \(line.said)") }
            for (log, state) in history.logs {
                let served = (try? history.batches(of: log, covering: 1...state.ranges.last, atMost: .max)) ?? []
                for bytes in served {
                    guard let batch = try? Batch(verifying: bytes, in: lab, reader: key.peer), batch.log == log else {
                        return (.harmless, "a batch that peers refuse")
                    }
                }
            }
            return (lines.count == sayings.count ? .harmless : .missing, nil)
        }
    }

    @Test func `a bit that rots in a blob's files never reaches anybody`() throws {
        let bytes = (0..<(2 << 20) + 12_345).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let source = "\(scratch.path)/source"
        try Data(bytes).write(to: URL(fileURLWithPath: source))
        let root = try BlobStore(directory: scratch.path).on { store in
            try store.adopt(Descriptor(owning: Glibc.open(source, O_RDONLY))).root
        }
        let blobs = "\(scratch.path)/blobs"
        let sound = try [root.name, root.hashesName].map {
            try Data(contentsOf: URL(fileURLWithPath: "\(blobs)/\($0)"))
        }
        var dice = SplitMix64(seed: UInt64.random(in: 0...(.max)))
        var found = 0
        for round in 0..<max(40, count / 10) {
            let file = round % 8 == 0 ? 1 : 0
            let bit = Int.random(in: 0..<sound[file].count * 8, using: &dice)
            var rotten = sound
            rotten[file][bit / 8] ^= 1 << (bit % 8)
            try? FileManager.default.removeItem(atPath: "\(blobs)/\(root.partName)")
            for (name, content) in zip([root.name, root.hashesName], rotten) {
                try content.write(to: URL(fileURLWithPath: "\(blobs)/\(name)"))
            }
            let store = try BlobStore(directory: scratch.path)
            let isPlacing = round % 2 == 0
            store.on { store in
                do {
                    if isPlacing {
                        let path = try store.place(root, named: "a.png", in: "\(scratch.path)/out\(round)")
                        #expect(FileManager.default.contents(atPath: path) == Data(bytes), "bit \(bit) of file \(file)")
                    } else {
                        var read: [UInt8] = []
                        for index in 0..<3 { read += try store.read(chunk: index, of: root) ?? [] }
                        #expect(read == bytes, "bit \(bit) of file \(file)")
                    }
                } catch { found += 1 }
            }
            try? FileManager.default.removeItem(atPath: "\(scratch.path)/out\(round)")
        }
        // A list of hashes that rotted is made anew; a chunk that did is found.
        #expect(found >= 30)
    }
}

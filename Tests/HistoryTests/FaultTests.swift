import ChatModel
import Foundation
import Identity
import Locking
import Testing

@testable import History

/// The helper executable in a process of its own.
struct Probe {
    let process = Process()
    let output = Pipe()

    /// Runs it by a shell, after `preparation` there; its standard input is `input`.
    init(_ action: String, in scratch: Scratch, key: SigningKey, preparation: String = ":", input: String = "/dev/null")
        throws
    {
        let here = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let probe = URL(fileURLWithPath: here).deletingLastPathComponent().appendingPathComponent("HistoryProbe").path
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "\(preparation); exec \"$0\" \"$@\" < '\(input)'", probe, action, scratch.path, key.seed.hexadecimal,
        ]
        process.standardOutput = output
        try process.run()
    }

    /// The next output; empty at its end.
    func read() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }

    /// All further output, and the end of the process.
    func finish() -> [Substring] {
        let rest = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: rest, as: UTF8.self).split(separator: "\n")
    }

    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }
}

struct FaultTests {
    let scratch: Scratch
    let key = SigningKey()

    init() throws { scratch = try Scratch() }

    func open(_ scratch: Scratch? = nil) throws -> (History, HistoryOpened) {
        try History.open(directory: (scratch ?? self.scratch).path, room: lab, key: key)
    }

    func database() throws -> Database { try Database(path: "\(scratch.path)/history.db", access: .writing) }

    @Test func `no acknowledged event is lost when the process is killed, 30 times`() throws {
        var acknowledged: [Substring] = []
        for round in 0..<30 {
            let probe = try Probe("append", in: scratch, key: key)
            var text = probe.read()
            for _ in 0..<round * 7 % 40 { text += probe.read() }
            probe.kill()
            let lines = (text + probe.finish().joined(separator: "\n")).split(separator: "\n")
            acknowledged += lines
        }

        let (history, opened) = try open()

        let lines = try history.on { try $0.lines(last: .max) }
        let stored = Set(lines.map { "\($0.number) \($0.id)" })
        let whole = acknowledged.map(String.init).filter { $0.split(separator: " ").last?.count == 64 }
        #expect(whole.count > 30)
        #expect(whole.filter { !stored.contains($0) }.isEmpty)
        #expect(lines.map(\.number) == Array(1...UInt64(lines.count)))
        #expect(opened.notice == nil && opened.ranges.count == 1)
    }

    @Test func `after a write that failed nothing more is taken, reading goes on, and opening anew heals`() throws {
        // The file size limit makes write(2) fail (EFBIG) like a broken disk; the signal for it is ignored.
        let probe = try Probe("fail", in: scratch, key: key, preparation: "trap '' XFSZ; ulimit -f 300")

        let output = probe.finish()
        let acknowledged = output.filter { $0.first?.isNumber == true }
        let (history, _) = try open()

        #expect(output.first { $0.hasPrefix("first") }?.contains("disk I/O error") == true)
        let second = output.first { $0.hasPrefix("second") } ?? ""
        #expect(second.contains("an earlier write failed") || second.contains("disk I/O error"), "\(second)")
        #expect(output.last == "lines \(acknowledged.count)")
        #expect(acknowledged.count > 1)
        let stored = Set(try history.on { try $0.lines(last: .max) }.map { "\($0.number) \($0.id)" })
        #expect(acknowledged.allSatisfy { stored.contains(String($0)) })
        #expect(try history.append(text("healed")).count == 1)
    }

    @Test func `files are 0600 and directories 0700, whatever the umask`() throws {
        let input = "\(scratch.path)/input"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: input))
        let home = try Scratch()
        try FileManager.default.removeItem(atPath: home.path)
        let probe = try Probe("files", in: home, key: key, preparation: "umask 000", input: input)
        var said = probe.read()
        while !said.isEmpty, !said.contains("done") { said += probe.read() }

        let files = try #require(FileManager.default.enumerator(atPath: home.path)).compactMap { $0 as? String }
        let modes = try files.map { name in
            let isDirectory = ["blobs", "downloads", "downloads/lab"].contains(name)
            return try home.mode(name) == (isDirectory ? 0o700 : 0o600) ? nil : name
        }
        let own = try home.mode("")
        probe.kill()
        _ = probe.finish()

        #expect(said.contains("done"))
        #expect(own == 0o700)
        #expect(modes.compactMap(\.self).isEmpty)
        #expect(Set(files).isSuperset(of: ["history.db", "history.db-wal", "history.db-shm", "downloads/lab/a.png"]))
        #expect(files.contains { $0.hasSuffix(".part") } && files.contains { $0.hasSuffix(".hashes") })
    }

    @Test(arguments: ["garbage", "page", "unread page", "log"])
    func `a damaged database is set aside and a new one begun`(
        damage: String
    ) throws {
        let (history, before) = try open()
        _ = try history.on { try $0.append((1...300).map { text("\($0)") }) }
        history.on { $0.close() }
        let path = "\(scratch.path)/history.db"
        let unread = try database().first("SELECT rootpage FROM sqlite_schema WHERE name = 'setting'", []) {
            UInt64($0.integer(0))
        }
        switch damage {
        case "garbage": try Data("this is no database at all".utf8).write(to: URL(fileURLWithPath: path))
        case "page", "unread page":
            let page = damage == "page" ? 2 : try #require(unread)
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.seek(toOffset: (page - 1) * 4096)
            try file.write(contentsOf: Data(repeating: 0xee, count: 4096))
            try file.close()
        default: try database().run("UPDATE log SET author = x'00'")
        }
        let damaged = FileManager.default.contents(atPath: path)

        let (again, opened) = try open()

        #expect(opened.notice?.contains("history-damaged-1.db") == true)
        #expect(opened.ranges.isEmpty && opened.isNewIncarnation && opened.ownLog != before.ownLog)
        if damage != "log" {
            #expect(FileManager.default.contents(atPath: "\(scratch.path)/history-damaged-1.db") == damaged)
        }
        #expect(try again.append(text("new")).count == 1)
        again.on { $0.close() }
        #expect(try open().1.notice == nil)
    }

    @Test func `a log without its database doesn't meet the new one`() throws {
        try Data("old".utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/history.db-wal"))

        let (history, _) = try open()

        #expect(try history.append(text("new")).count == 1)
        #expect(FileManager.default.contents(atPath: "\(scratch.path)/history-damaged-1.db-wal") == Data("old".utf8))
    }

    @Test func `another program's database is left as it is`() throws {
        let (history, _) = try open()
        history.on { $0.close() }
        try database().run("PRAGMA application_id = 1")

        #expect { try open() } throws: { error in
            if case .cannotOpen(let text)? = error as? HistoryError {
                text.contains("another program's")
            } else {
                false
            }
        }
        #expect(try scratch.names() == ["history.db"])
    }

    @Test func `bytes that rotted are neither shown nor passed on`() throws {
        let (history, opened) = try open()
        for word in ["one", "two", "three"] { _ = try history.append(text(word)) }
        try history.on { history in
            let bytes = try #require(
                try history.reader.first("SELECT bytes FROM batch WHERE first = 2", [], { $0.blob(0) }))
            var rotten = bytes
            rotten[bytes.count - Signature.length - 1] ^= 1
            try history.writer.run("UPDATE batch SET bytes = ? WHERE first = 2", [.blob(rotten)])
        }

        #expect(try history.texts() == ["one", "three"])
        let front = try history.on { try $0.batches(of: opened.ownLog, covering: 1...3, atMost: .max) }
        #expect(front.count == 1)
        #expect(throws: HistoryError.self) {
            try history.on { try $0.batches(of: opened.ownLog, covering: 2...3, atMost: .max) }
        }
    }

    @Test func `a batch that is filed under another log isn't served as that log's`() throws {
        let (history, _) = try open()
        var (bob, carol) = (Author(incarnation: 1), Author(incarnation: 2))
        _ = try history.store(bob.say("bob's"))
        _ = try history.store(carol.say("carol's", "too"))
        try history.on { try $0.writer.run("UPDATE batch SET log = 3 - log") }

        for log in [bob.log, carol.log] {
            #expect(throws: HistoryError.self) {
                try history.on { try $0.batches(of: log, covering: 1...1, atMost: .max) }
            }
        }
    }

    @Test func `a database that is removed while in use takes nothing more`() throws {
        let (history, _) = try open()
        _ = try history.append(text("before"))
        try FileManager.default.removeItem(atPath: "\(scratch.path)/history.db")

        #expect { try history.append(text("after")) } throws: { error in
            if case .damaged? = error as? HistoryError { true } else { false }
        }
        #expect(try history.texts() == ["before"])
    }

    @Test func `lines are read also while the order index can't be written`() throws {
        var bob = Author()
        let (history, _) = try open()
        _ = try history.store(bob.say("indexed", "also", at: 5))
        _ = try history.texts()
        let late = bob.seal([text("first", at: 1), image("a.png", at: 9)])
        _ = try history.store(late)
        let reference = try database()
        try reference.run("BEGIN IMMEDIATE")

        let texts = try history.texts(last: 4)
        let found = history.on { $0.line(late.ids[0]) }
        let unfinished = try history.on { try $0.unfinishedImages() }
        let clock = try history.on { try $0.latestClock() }
        try reference.run("ROLLBACK")

        #expect(texts == ["first", "indexed", "also", "?"])
        #expect(found?.said == "first")
        #expect(unfinished.map(\.id) == [late.ids[1]])
        #expect(clock == HybridTime(milliseconds: 9))
        #expect(try history.texts() == texts)
    }
}

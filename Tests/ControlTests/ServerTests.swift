import ChatModel
import Control
import Dispatch
import Foundation
import Glibc
import Identity
import Locking
import SystemCalls
import Testing

struct ServerTests {
    private static let hello = HelloResult(
        pid: 1, room: "lab", roomID: "00", name: "alice", peer: "11", discovery: "none", port: 7, stateDirectory: "/s",
        downloads: "/d", linked: 0)

    private static let echo: Handler.Answer = { call, _, reply in
        switch call {
        case .hello: reply.succeed(hello)
        case .send(let parameters): reply.succeed(SendResult(id: parameters.text, number: 1, linked: 0))
        case .sendImage(let parameters, let descriptor):
            var status = stat()
            fstat(descriptor.number, &status)
            reply.succeed(
                SendImageResult(id: "\(status.st_ino)", transfer: parameters.name, receivers: []))
        default: reply.fail(ControlError(.unavailable, "not here"))
        }
    }

    @Test func `messages that come at once are answered in order, between other calls, each once`() throws {
        final class Session: ControlHandler {
            func handle(_ call: ControlCall, from connection: ControlConnection, reply: ControlReply) {
                reply.fail(ControlError(.usage, "a call"))
            }

            func handle(_ messages: ControlMessages, from connection: ControlConnection) {
                let outcomes = messages.parameters.enumerated().map { index, parameters in
                    let outcome: ControlMessages.Outcome =
                        parameters.text == "bad"
                        ? .failed(ControlError(.badData, "bad"))
                        : .sent(EventID(SHA256.digest(of: Array(parameters.text.utf8))), number: 7, linked: 2)
                    return (index: index, outcome: outcome)
                }
                // The last one is forgotten where there are several.
                messages.answer(outcomes.count > 1 ? outcomes.dropLast() : outcomes)
                messages.answer([outcomes[0]])
            }

            func connectionClosed(_ connection: ControlConnection) {}
        }
        let directory = TemporaryDirectory()
        let state = StateDirectory(at: "\(directory.path)/state")
        try state.prepare()
        let server = try ControlServer(for: state, holding: try state.lock(), handler: Session())
        defer { server.close() }
        let client = try RawClient(state.socket)
        func request(_ id: String, _ text: String) -> String {
            "{\"jsonrpc\":\"2.0\",\(id)\"method\":\"send\",\"params\":{\"text\":\"\(text)\"}}\n"
        }

        client.write(
            request("\"id\":1,", "one") + request("\"id\":2,", "bad") + request("", "unasked")
                + request("\"id\":3,", "lost")
                + "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"peers\"}\n" + request("\"id\":5,", "last"))

        let digest = SHA256.digest(of: Array("one".utf8)).hexadecimal
        client.endWriting()
        let answers = client.readToEnd()
        try #require(answers.count == 5)
        #expect(
            answers[0] == "{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":{\"id\":\"\(digest)\",\"linked\":2,\"number\":7}}")
        #expect(answers[1].contains("\"id\":2") && answers[1].contains("\"error\""))
        #expect(answers[2].contains("\"id\":3") && answers[2].contains("\"error\""))
        #expect(answers[3].contains("\"id\":4") && answers[4].contains("\"id\":5"))
    }

    @Test func `a script gets its answer by the id that it chose`() throws {
        let daemon = try Daemon(Self.echo)
        let client = try RawClient(daemon.state.socket)

        client.write(#"{"jsonrpc":"2.0","id":"x","method":"send","params":{"text":"hi"}}"# + "\n")
        client.endWriting()

        #expect(client.readToEnd() == [#"{"id":"x","jsonrpc":"2.0","result":{"id":"hi","linked":0,"number":1}}"#])
    }

    @Test func `what a terminal could act on is escaped in answers`() throws {
        let daemon = try Daemon(Self.echo)
        let client = try RawClient(daemon.state.socket)

        client.write(
            #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"\u001b[2J\u009b\u202e\udb40\udc41é"}}"# + "\n")
        client.endWriting()

        #expect(client.readToEnd()[0].contains(#""id":"\u001b[2J\u009b\u202e\udb40\udc41é""#))
    }

    @Test(arguments: [
        ("nonsense", -32700), ("[]", -32600), ("{}", -32600), (#"{"jsonrpc":"1.0","id":1,"method":"hello"}"#, -32600),
        (#"{"jsonrpc":"2.0","id":1,"method":"bogus"}"#, -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":"send"}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":1}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"x","nonce":"12"}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"sendImage","params":{"name":"x"}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"log","params":{"count":-1}}"#, -32602),
        (String(repeating: "[", count: 100_000), -32700),
    ])
    func `a bad request gets the right code, and the next one works`(request: String, code: Int) throws {
        let daemon = try Daemon(Self.echo)
        let client = try RawClient(daemon.state.socket)

        client.write(request + "\n" + #"{"jsonrpc":"2.0","id":9,"method":"hello"}"# + "\n")
        client.endWriting()

        let lines = client.readToEnd()
        #expect(codes(lines) == [code])
        #expect(lines.count == 2)
    }

    @Test func `bytes that are not UTF-8 are a parse error`() throws {
        let daemon = try Daemon(Self.echo)
        let client = try RawClient(daemon.state.socket)

        let bytes: [UInt8] = [0x22, 0xFF, 0x22, 0x0A]
        send(client.socket.number, bytes, bytes.count, 0)
        client.endWriting()

        #expect(codes(client.readToEnd()) == [-32700])
    }

    @Test func `a request without an id gets no answer`() throws {
        let daemon = try Daemon(Self.echo)
        let client = try RawClient(daemon.state.socket)

        client.write(#"{"jsonrpc":"2.0","method":"bogus"}"# + "\n" + #"{"jsonrpc":"2.0","method":"hello"}"# + "\n")
        client.endWriting()

        #expect(client.readToEnd() == [])
    }

    @Test func `a client that writes and closes at once loses nothing`() throws {
        let texts = Locked<[String]>([])
        let daemon = try Daemon { call, _, reply in
            if case .send(let parameters) = call { texts.withLock { $0.append(parameters.text) } }
            reply.succeed(NoFields())
        }
        let text = String(repeating: "x", count: 100_000)

        do {
            let client = try RawClient(daemon.state.socket)
            client.write(#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"\#(text)"}}"# + "\n")
            client.write(#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"no line end"}}"#)
        }

        #expect(eventually { daemon.handler.closed.withLock { $0 } == 1 })
        #expect(texts.withLock { $0.map(\.utf8.count) } == [100_000, 11])
    }

    @Test func `a line over the limit is an error, and the end`() throws {
        var limits = ControlLimits()
        limits.requestLength = 1000
        let daemon = try Daemon(limits: limits, Self.echo)
        let client = try RawClient(daemon.state.socket)

        client.write(String(repeating: "x", count: 5000))

        #expect(codes(client.readToEnd()) == [-32600])
    }

    @Test func `descriptors go with the requests that they came with`() throws {
        let daemon = try Daemon(Self.echo)
        let client = try daemon.client()
        let files = try (0..<8).map { _ in try Self.makeFile(in: daemon.directory.path) }
        let answers = Locked<[String]>([])

        for (index, file) in files.enumerated() {
            client.request(.hello, NoFields()) { _ in }
            client.request(.sendImage, SendImageParameters(name: "\(index)"), descriptor: file) { result in
                answers.withLock { $0.append((try? result.get().id) ?? "failed") }
            }
            client.request(.peers, NoFields()) { _ in }
        }

        let inodes = files.map { file in
            var status = stat()
            fstat(file.number, &status)
            return "\(status.st_ino)"
        }
        #expect(eventually { answers.withLock { $0.count } == files.count })
        #expect(answers.withLock { $0 } == inodes)
    }

    @Test func `one more client than the limit is told so, and a place is free again after`() throws {
        var limits = ControlLimits()
        limits.clients = 2
        let daemon = try Daemon(limits: limits, Self.echo)
        let first = try daemon.client()
        let second = try daemon.client()
        _ = try first.call(.hello, NoFields())
        _ = try second.call(.hello, NoFields())

        let failure = #expect(throws: CommandFailure.self) { try daemon.client().call(.hello, NoFields()) }
        first.close()

        #expect(failure == CommandFailure(.tryAgain, "chatd serves 2 clients already"))
        #expect(eventually { (try? daemon.client().call(.hello, NoFields())) != nil })
    }

    @Test func `clients that have gone while the daemon was busy hold no places`() throws {
        var limits = ControlLimits()
        limits.clients = 3
        let queue = DispatchQueue(label: "busy")
        let daemon = try Daemon(limits: limits, on: queue, Self.echo)
        queue.suspend()
        for _ in 0..<20 { _ = try RawClient(daemon.state.socket) }
        let client = try RawClient(daemon.state.socket)
        client.write(#"{"jsonrpc":"2.0","id":1,"method":"hello"}"# + "\n")
        client.endWriting()
        queue.resume()

        #expect(client.readToEnd().contains { $0.contains("\"alice\"") })
    }

    @Test func `a client that never reads blocks nobody and is let go`() throws {
        let watchers = Locked<[ControlConnection]>([])
        let daemon = try Daemon { call, connection, reply in
            if case .watch = call { watchers.withLock { $0.append(connection) } }
            reply.succeed(NoFields())
        }
        let lazy = try RawClient(daemon.state.socket)
        lazy.write(#"{"jsonrpc":"2.0","id":1,"method":"watch","params":{"count":0}}"# + "\n")
        let other = try daemon.client()
        #expect(eventually { watchers.withLock { $0.count } == 1 })

        for _ in 0..<3000 { watchers.withLock { $0[0] }.notify(longLine) }
        _ = try other.call(.cancelTransfer, TransferParameters(transfer: "x"), within: 5000)

        #expect(eventually { daemon.handler.closed.withLock { $0 } == 1 })
    }

    @Test func `a client that fell behind gets a gap as its last notification`() throws {
        let watchers = Locked<[ControlConnection]>([])
        var limits = ControlLimits()
        limits.farewell = 60_000  // this test reads only after all was said, however slow that is
        let daemon = try Daemon(limits: limits) { call, connection, reply in
            watchers.withLock { $0.append(connection) }
            reply.succeed(NoFields())
        }
        let slow = try RawClient(daemon.state.socket)
        slow.write(#"{"jsonrpc":"2.0","id":1,"method":"hello"}"# + "\n")
        #expect(eventually { watchers.withLock { $0.count } == 1 })

        for _ in 0..<3000 { watchers.withLock { $0[0] }.notify(longLine) }
        let lines = slow.readToEnd()

        #expect(lines.last == #"{"jsonrpc":"2.0","method":"gap","params":{}}"#)
        #expect(lines.dropLast().allSatisfy { $0.hasSuffix("}") })
        #expect(lines.count < 3000)
    }

    @Test func `who waits until a client has read what it was told never makes it fall behind`() throws {
        let watchers = Locked<[ControlConnection]>([])
        let daemon = try Daemon { _, connection, reply in
            watchers.withLock { $0.append(connection) }
            reply.succeed(NoFields())
        }
        let slow = try RawClient(daemon.state.socket)
        slow.write(#"{"jsonrpc":"2.0","id":1,"method":"hello"}"# + "\n")
        #expect(eventually { watchers.withLock { $0.count } == 1 })
        let connection = watchers.withLock { $0[0] }
        let told = Locked(0)
        @Sendable func tell() {
            while told.withLock({ $0 }) < 3_000 {
                if connection.isBehind { return connection.whenRead { tell() } }
                told.withLock { $0 += 1 }
                connection.notify(longLine)
            }
            connection.close()
        }

        tell()
        let before = told.withLock { $0 }
        let lines = slow.readToEnd()

        #expect(before < 3_000)
        #expect(lines.count == 3_001 && !lines.contains { $0.contains("gap") })
    }

    @Test func `requests of a client that doesn't read its answers wait and all get answered`() throws {
        let handled = Locked(0)
        let daemon = try Daemon { call, _, reply in
            handled.withLock { $0 += 1 }
            guard case .send(let parameters) = call else { return }
            reply.succeed(SendResult(id: parameters.text, number: 0, linked: 0))
        }
        let client = try RawClient(daemon.state.socket)
        let text = String(repeating: "x", count: 10_000)

        let writer = Thread {
            for _ in 0..<1000 {
                client.write(#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"\#(text)"}}"# + "\n")
            }
            client.endWriting()
        }
        writer.start()
        #expect(eventually { handled.withLock { $0 } > 100 })
        #expect(handled.withLock { $0 } < 1000)

        #expect(client.readToEnd().count == 1000)
    }

    @Test func `a reply that is let go unused is an error`() throws {
        let daemon = try Daemon { _, _, _ in }

        let failure = #expect(throws: CommandFailure.self) { try daemon.client().call(.hello, NoFields()) }

        #expect(failure?.exit == .software)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func `another user is told so, even where the files would let it in`() throws {
        let daemon = try Daemon(Self.echo)
        for path in [daemon.directory.path, daemon.state.path, daemon.state.socket] { chmod(path, 0o777) }
        let stranger = Process()
        stranger.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        let script = """
            $SIG{PIPE} = "IGNORE";
            my $s = IO::Socket::UNIX->new(Peer => shift) or die $!;
            print $s qq({"jsonrpc":"2.0","id":1,"method":"hello"}\n); print <$s>
            """
        stranger.arguments = [
            "--reuid=65534", "--regid=65534", "--clear-groups", "perl", "-MIO::Socket::UNIX", "-e", script,
            daemon.state.socket,
        ]
        let pipe = Pipe()
        stranger.standardOutput = pipe
        try stranger.run()
        let answer = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        stranger.waitUntilExit()

        #expect(answer.contains(#""data":{"exit":77},"message":"this chatd belongs to another user""#))
        #expect(!answer.contains("alice"))
    }

    static func makeFile(in directory: String) throws -> Descriptor {
        let path = "\(directory)/\(UInt64.random(in: 0 ... .max))"
        return Descriptor(owning: try systemCall("open", path) { open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600) })
    }

    @Test func `what is asked of the log reaches the daemon as it was asked`() throws {
        let daemon = try Daemon { call, _, reply in
            guard case .log(let parameters) = call else { return reply.fail(ControlError(.software, "not asked")) }
            let wanted = "\(parameters.count) \(parameters.after ?? "-") \(parameters.since ?? 0)"
            reply.succeed(
                LogResult(
                    lines: [], earlier: "\(wanted) \(parameters.until ?? 0) \(parameters.from ?? "-")", more: true,
                    cursor: "c"))
        }
        let client = try daemon.client()
        var parameters = LogParameters(count: 3, after: "cursor")
        (parameters.since, parameters.until, parameters.from) = (1, 2, "bob")

        let result = try client.call(.log, parameters)

        #expect(result == LogResult(lines: [], earlier: "3 cursor 1 2 bob", more: true, cursor: "c"))
    }

    @Test(arguments: [
        #"{"count":-1}"#, #"{"count":1,"before":"12"}"#, #"{"count":1,"since":-1}"#, #"{"count":1,"until":-1}"#,
        #"{"count":1,"after":"c","before":"\#(String(repeating: "0", count: 64))"}"#,
    ])
    func `what can't be meant about the log is refused before the daemon sees it`(parameters: String) throws {
        let daemon = try Daemon { _, _, reply in reply.succeed(LogResult(lines: [])) }
        let client = try RawClient(daemon.state.socket)

        client.write(#"{"jsonrpc":"2.0","id":1,"method":"log","params":\#(parameters)}"# + "\n")
        client.endWriting()

        #expect(codes(client.readToEnd()) == [-32602])
    }
}

import Foundation
import Glibc
import Testing

/// What comes in on the Unix socket: a bad request gets an answer, and nobody else notices.
@Suite(.fewAtOnce) struct SocketTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func isWell(_ alice: LocalPeer) async throws {
        #expect(alice.daemon.process.exit == nil)
        let outcome = try await alice.client.run("send", "still here")
        #expect(outcome.exit == .status(0))
        #expect(outcome.duration < promised(.seconds(1)))
    }

    @Test(
        arguments: [
            ("nonsense", -32_700, 65), ("{", -32_700, 65), ("[]", -32_600, 65), ("42", -32_600, 65),
            ("null", -32_600, 65), ("{}", -32_600, 65), (#"{"jsonrpc":"1.0","id":1,"method":"hello"}"#, -32_600, 65),
            (#"[{"jsonrpc":"2.0","id":1,"method":"hello"}]"#, -32_600, 65),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"hello"}"#, -32_600, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32_600, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"\u001b[2J"}"#, -32_601, 64),
            (#"{"jsonrpc":"2.0","id":1,"method":"send"}"#, -32_602, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"send","params":[]}"#, -32_602, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":7}}"#, -32_602, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":""}}"#, -32_000, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"\ud800"}}"#, -32_602, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"x","nonce":"x"}}"#, -32_602, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"sendImage","params":{"name":"x.png"}}"#, -32_602, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"log","params":{"count":-1}}"#, -32_602, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"log","params":{"count":1e30}}"#, -32_602, 65),
            (#"{"jsonrpc":"2.0","id":1,"method":"followTransfer","params":{"transfer":"xyz"}}"#, -32_000, 64),
            (#"{"jsonrpc":"2.0","id":1,"method":"cancelTransfer","params":{"transfer":""}}"#, -32_000, 64),
        ])
    func `a request that makes no sense gets an error, and the next one its answer`(
        request: String, code: Int, status: Int
    ) async throws {
        struct Answer: Decodable {
            struct Failure: Decodable {
                struct Details: Decodable { var exit: Int }
                var code: Int
                var message: String
                var data: Details
            }
            var error: Failure
        }
        let alice = try await LocalPeer.start("alice", in: scratch)
        let socket = try RawSocket(path: "\(alice.daemon.state)/chatd.sock")

        try socket.write(Array("\(request)\r\n".utf8))
        let answer = try JSONDecoder().decode(Answer.self, from: Data(try socket.readLine().utf8)).error
        try socket.write(Array("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"hello\"}\n".utf8))

        #expect(answer.code == code)
        #expect(answer.data.exit == status)
        #expect(!answer.message.isEmpty && answer.message.unicodeScalars.allSatisfy { $0.value >= 32 })
        #expect(try socket.readLine().contains(#""room":"lab""#))
    }

    @Test func `noise, nesting and endless lines end in an error, and take no memory`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let path = "\(alice.daemon.state)/chatd.sock"
        let before = alice.memory
        for seed in 1...20 {
            let socket = try RawSocket(path: path)
            try? socket.write(picture(100_000, seed: UInt64(seed)))
            socket.endOutput()
            _ = try socket.readToEnd()
        }
        for nested in ["[", "{\"a\":", "[[{\"jsonrpc\":"] {
            let socket = try RawSocket(path: path)
            let line = String(repeating: nested, count: 1_000_000 / nested.utf8.count)
            try socket.write(Array("\(line)\n".utf8))
            #expect(try socket.readLine().contains(#""code":-32"#))
        }
        let endless = try RawSocket(path: path)
        let block = [UInt8](repeating: 120, count: 1 << 20)
        for _ in 1...200 { if (try? endless.write(block)) == nil { break } }
        let answer = String(decoding: try endless.readToEnd(), as: UTF8.self)
        #expect(answer.contains("a request has at most 1048576 bytes"))
        #expect(alice.memory - before < 32_768)
        try await isWell(alice)
    }

    @Test func `requests in pieces are answered whole`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let socket = try RawSocket(path: "\(alice.daemon.state)/chatd.sock")
        let request = #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"héllo 🧑‍🌾 \#u{2028} 한글"}}"#

        for byte in Array("\(request)\r\n".utf8) { try socket.write([byte]) }
        #expect(try socket.readLine().contains(#""number":1"#))
        try socket.write(Array("\(request)\n\n\r\n\(request)".utf8))
        socket.endOutput()

        let rest = String(decoding: try socket.readToEnd(), as: UTF8.self).split(separator: "\n")
        #expect(rest.count == 2)
        #expect(try await alice.texts() == [String](repeating: "héllo 🧑‍🌾 \u{2028} 한글", count: 3))
    }

    @Test func `a count beyond all lines is all lines`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "-", input: "a\nb\nc").exit == .status(0))

        for count in ["3", "4", "1000000000", "\(Int.max)"] {
            let outcome = try await alice.client.run("log", "-n", count)
            #expect(outcome.exit == .status(0))
            #expect(outcome.lines.count == 3, "\(count): \(outcome.errors)")
        }
        #expect(try await alice.client.run("log", "-n", "2").lines.count == 2)
        #expect(try await alice.client.run("log", "-n", "0").output == "")
        #expect(try await alice.client.run("log", "-n", "99999999999999999999").exit == .status(64))
        try await isWell(alice)
    }

    @Test func `one client too many is told so, and a place is free again after`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let path = "\(alice.daemon.state)/chatd.sock"
        let before = alice.descriptors
        var clients = try (1...32).map { _ in try RawSocket(path: path) }
        #expect(await eventually { alice.descriptors >= before + clients.count })

        let outcome = try await alice.client.run("send", "hi")
        #expect(outcome.exit == .status(75))
        #expect(outcome.errors == "chat: chatd serves 32 clients already\n")

        clients = []
        #expect(await eventually(within: promised(.seconds(2))) { alice.descriptors <= before })
        try await isWell(alice)
    }

    @Test func `with no descriptor left nothing spins, and all is well when there are some again`() async throws {
        let state = scratch("state")
        let place = Place.new()
        let process = try Subprocess(
            [
                "bash", "-c", "ulimit -n 64; exec \"$0\" \"$@\"", Programs.built.chatd, "--state-dir", state, "--room",
                "lab", "--name", "alice",
            ] + LocalPeer.options(place))
        _ = try await process.errors.line("how to talk", within: .seconds(20)) { $0.contains("try: chat ") }
        var clients = (1...100).compactMap { _ in try? RawSocket(path: "\(state)/chatd.sock") }
        var peers = (1...40).compactMap { _ in try? RawSocket(place) }
        let fds = "/proc/\(process.pid)/fd"
        #expect(clients.count + peers.count >= 64)
        #expect(
            await eventually { (try? FileManager.default.contentsOfDirectory(atPath: fds).count) ?? 0 >= 55 })

        let busy = try await spent(by: process.pid, in: .seconds(2))
        #expect(busy < .milliseconds(200) * 2)
        let told = process.errors.lines.count { $0.contains("Too many open files") }
        #expect(told <= 2)
        (clients, peers) = ([], [])

        var outcome = try await Client(state: state).run("send", "hi")
        _ = try await eventually(within: promised(.seconds(2))) {
            outcome = try await Client(state: state).run("send", "hi")
            return outcome.exit == .status(0)
        }
        #expect(outcome.exit == .status(0), "\(outcome.errors)")
        #expect(process.exit == nil)
    }

    @Test func `sends that fail and peers that come and go leave no descriptor behind`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))
        let before = alice.descriptors
        let path = "\(alice.daemon.state)/chatd.sock"
        for _ in 1...200 {
            let socket = try RawSocket(path: path)
            try socket.write(
                Array(#"{"jsonrpc":"2.0","id":1,"method":"sendImage","params":{"name":"../x.png"}}"#.utf8) + [10])
            #expect(try socket.readLine().contains("error"))
        }
        for _ in 1...100 { try FakePeer.join("brief", dialling: alice.place).end() }
        for _ in 1...200 { _ = try RawSocket(alice.place) }

        #expect(await eventually(within: .seconds(15)) { alice.descriptors <= before + 2 })
        try await isWell(alice)
    }

    /// The processor time that a process takes within a while.
    private func spent(by pid: pid_t, in while: Duration) async throws -> Duration {
        let before = processorTime(of: pid)
        try await Task.sleep(for: `while`)
        return processorTime(of: pid) - before
    }

    private func processorTime(of pid: pid_t) -> Duration {
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return .zero }
        return .milliseconds((user + system) * 1000 / sysconf(CInt(_SC_CLK_TCK)))
    }
}

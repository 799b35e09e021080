import ChatClient
import Control
import Dispatch
import Foundation
import Glibc
import Locking
import SystemCalls
import Testing

/// An empty directory with mode 0700, gone with this object.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        path = "/tmp/chat-test-\(UInt64.random(in: 0 ... .max))"
        mkdir(path, 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Waits until a condition holds; the limit only ends a failing test.
func eventually(within seconds: Double = 10, _ condition: () -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while Date() < deadline {
        if condition() { return true }
        usleep(2000)
    }
    return condition()
}

/// What a daemon does as its client sees it: stores in memory, echoes to watchers, moves images as the test says.
final class FakeDaemon: Sendable {
    /// What the server keeps in place of the daemon, which keeps the server.
    ///
    /// `@unchecked`: a weak reference that nobody sets may be read on any thread.
    private final class Handler: ControlHandler, @unchecked Sendable {
        private weak var daemon: FakeDaemon?

        init(of daemon: FakeDaemon) { self.daemon = daemon }

        func handle(_ call: ControlCall, from connection: ControlConnection, reply: ControlReply) {
            daemon?.handle(call, from: connection, reply: reply)
        }

        func connectionClosed(_ connection: ControlConnection) { daemon?.state.withLock { $0.closed += 1 } }
    }

    struct State {
        var texts: [String] = []
        var nonces: [String?] = []
        var images: [(name: String, bytes: [UInt8])] = []
        var watchers: [ControlConnection] = []
        var followers: [ControlConnection] = []
        var lines: [LineView] = []
        var peers: [PeerView] = []
        var linked = 1
        var refusal: ControlError?
        var receivers: [SendImageResult.Receiver] = [.init(peer: "bb", name: "bob")]
        var transfer: TransferView?
        var closed = 0
        var pages: [LogParameters] = []
        var decisions: [String] = []
        var comparison = VerifyResult(messages: 0, peers: [])
        var timeouts: [Int?] = []
        var delivery: DeliveryView?
        /// Who follows it.
        var waiting: [ControlConnection] = []
    }

    let directory = TemporaryDirectory()
    let state = Locked(State())
    let place: StateDirectory
    private let server = Locked<ControlServer?>(nil)

    init() throws {
        place = StateDirectory(at: "\(directory.path)/state")
        try place.prepare()
        let lock = try place.lock()
        let started = try ControlServer(for: place, holding: lock, handler: Handler(of: self))
        server.withLock { $0 = started }
    }

    deinit { server.withLock { $0.take() }?.close() }

    func stop() { server.withLock { $0.take() }?.close() }

    private func handle(_ call: ControlCall, from connection: ControlConnection, reply: ControlReply) {
        switch call {
        case .hello: reply.succeed(Self.hello(linked: state.withLock { $0.linked }))
        case .send(let parameters): send(parameters, reply)
        case .sendImage(let parameters, let descriptor): sendImage(parameters, descriptor, reply)
        case .followTransfer:
            let view = state.withLock { state in
                state.followers.append(connection)
                return state.transfer
            }
            if let view { reply.succeed(TransferResult(transfer: view)) }
        case .cancelTransfer: reply.succeed(NoFields())
        case .peers: reply.succeed(PeersResult(peers: state.withLock { $0.peers }))
        case .log(let parameters):
            if let refusal = state.withLock({ $0.refusal }) {
                reply.fail(refusal)
            } else {
                reply.succeed(page(parameters))
            }
        case .watch(let parameters): watch(parameters, connection, reply)
        case .verify(let parameters):
            let result = state.withLock { state in
                state.timeouts.append(parameters.timeout)
                return state.comparison
            }
            reply.succeed(result)
        case .delivery: deliver(connection, reply)
        case .gate(let call): gate(call, reply)
        }
    }

    private func deliver(_ connection: ControlConnection, _ reply: ControlReply) {
        let view = state.withLock { state in
            state.waiting.append(connection)
            return state.delivery
        }
        if let view { reply.succeed(view) } else { reply.fail(ControlError(.usage, "there is no line")) }
    }

    func deliver(_ view: DeliveryView) {
        let waiting = state.withLock { state in
            state.delivery = view
            return state.waiting
        }
        for connection in waiting { connection.notify(.delivery(view)) }
    }

    private func gate(_ call: GateCall, _ reply: ControlReply) {
        switch call {
        case .decide(let parameters):
            if let refusal = state.withLock({ $0.refusal }) { return reply.fail(refusal) }
            state.withLock { $0.decisions.append("\(parameters.decision) \(parameters.peer)") }
            reply.succeed(PeerResult(peer: "bb", name: parameters.peer, suffix: "bbbbbb"))
        case .verifyPeer(let parameters):
            reply.succeed(VerifyPeerResult(peer: "bb", name: parameters.peer, suffix: "bbbbbb", code: "00001 00002"))
        case .status:
            reply.succeed(
                StatusResult(
                    pid: 1, room: "lab", name: "alice", peer: "aa", port: 1, discovery: "none", admission: "ask",
                    peers: [
                        .init(peer: "bb", name: "b\u{1b}b", suffix: "bbbbbb", queued: 2048, inHand: 1, isPaused: true)
                    ],
                    uptime: 3_660_000, memory: 1 << 20, descriptors: 9, threads: 4, history: 4096, blobs: 0,
                    stateDirectory: "/s"))
        }
    }

    static func hello(linked: Int) -> HelloResult {
        HelloResult(
            pid: 1, room: "lab", roomID: "00", name: "alice", peer: "aa", discovery: "none", port: 1,
            stateDirectory: "/s", downloads: "/d", linked: linked)
    }

    static func line(_ text: String, name: String = "bob", author: String = "bb", id: String? = nil) -> LineView {
        LineView(
            id: id, direction: .receive, kind: .text, author: author, suffix: "\(author)0000", name: name, text: text,
            time: Int(Date().timeIntervalSince1970 * 1000))
    }

    func say(_ line: LineView) {
        let watchers = state.withLock { state in
            state.lines.append(line)
            return state.watchers
        }
        for watcher in watchers { watcher.notify(.line(line)) }
    }

    func report(_ view: TransferView) {
        let followers = state.withLock { $0.followers }
        for follower in followers { follower.notify(.transfer(view)) }
    }

    /// Lines without an id go with the next one that has one, as a daemon's notices do.
    private func page(_ parameters: LogParameters) -> LogResult {
        state.withLock { state in
            state.pages.append(parameters)
            if let after = parameters.after.flatMap({ Int($0) }) {
                return page(after: after, parameters.count, state.lines)
            }
            let end = parameters.before.flatMap { id in state.lines.firstIndex { $0.id == id } } ?? state.lines.count
            let lines = Array(state.lines[..<end].suffix(parameters.count))
            return LogResult(
                lines: lines, earlier: lines.count < parameters.count ? nil : lines.first { $0.id != nil }?.id)
        }
    }

    private func watch(_ parameters: LogParameters, _ connection: ControlConnection, _ reply: ControlReply) {
        let page = page(parameters)
        if page.more != true { state.withLock { $0.watchers.append(connection) } }
        reply.succeed(page)
    }

    /// Cursors are counts of lines.
    private func page(after cursor: Int, _ count: Int, _ lines: [LineView]) -> LogResult {
        let rest = lines.dropFirst(cursor)
        let page = rest.prefix(count).enumerated().map { index, line in
            var line = line
            line.cursor = "\(cursor + index + 1)"
            return line
        }
        return LogResult(lines: page, more: rest.count > count, cursor: "\(cursor + page.count)")
    }

    private func send(_ parameters: SendParameters, _ reply: ControlReply) {
        let answer = state.withLock { state -> Result<SendResult, ControlError> in
            if let refusal = state.refusal { return .failure(refusal) }
            state.texts.append(parameters.text)
            state.nonces.append(parameters.nonce)
            return .success(SendResult(id: "id\(state.texts.count)", number: state.texts.count, linked: state.linked))
        }
        switch answer {
        case .success(let result):
            say(Self.line(parameters.text, name: "alice", author: "aa"))
            reply.succeed(result)
        case .failure(let error): reply.fail(error)
        }
    }

    private func sendImage(_ parameters: SendImageParameters, _ descriptor: Descriptor, _ reply: ControlReply) {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(descriptor.number, &bytes, bytes.count)
        let receivers = state.withLock { state in
            state.images.append((parameters.name, Array(bytes[..<max(0, count)])))
            return state.receivers
        }
        reply.succeed(SendImageResult(id: "image", transfer: "t", receivers: receivers))
    }
}

/// What a command did.
struct Outcome: Equatable {
    var status: CInt
    var output: String
    var complaints: String
}

/// Runs a command line with pipes as its streams.
struct Command {
    var environment: [String: String] = [:]
    var patience = ConnectPatience()

    init(_ daemon: FakeDaemon? = nil) {
        if let daemon { environment["CHAT_STATE_DIR"] = daemon.place.path }
    }

    func callAsFunction(_ arguments: String..., input: [UInt8] = []) -> Outcome { run(arguments, input: input) }

    func run(_ arguments: [String], input: [UInt8]) -> Outcome {
        // Each end is held by one side alone, so that the other sees it close.
        let (inputEnd, feed) = Self.rawPipe()
        let (output, outputEnd) = Self.rawPipe()
        let (complaints, complaintsEnd) = Self.rawPipe()
        let group = DispatchGroup()
        DispatchQueue(label: "feed").async(group: group) { Self.write(input, to: feed) }
        let status = Locked<CInt>(-1)
        DispatchQueue(label: "run").async(group: group) { [environment, patience] in
            let result = ClientCommand.run(
                arguments, environment: environment, input: inputEnd, output: outputEnd, error: complaintsEnd,
                patience: patience)
            status.withLock { $0 = result }
            for end in [inputEnd, outputEnd, complaintsEnd] { close(end) }
        }
        let texts = Locked(["", ""])
        for (index, end) in [output, complaints].enumerated() {
            DispatchQueue(label: "read").async(group: group) {
                let text = Self.readAll(Descriptor(owning: end))
                texts.withLock { $0[index] = text }
            }
        }
        group.wait()
        return Outcome(
            status: status.withLock { $0 }, output: texts.withLock { $0[0] }, complaints: texts.withLock { $0[1] })
    }

    private static func write(_ bytes: [UInt8], to end: CInt) {
        let descriptor = Descriptor(owning: end)
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
            if written <= 0 { return }
            rest = rest.dropFirst(written)
        }
    }

    private static func rawPipe() -> (CInt, CInt) {
        var ends: [CInt] = [-1, -1]
        _ = Glibc.pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    static func pipe() -> (Descriptor, Descriptor) {
        let (reading, writing) = rawPipe()
        return (Descriptor(owning: reading), Descriptor(owning: writing))
    }

    private static func readAll(_ descriptor: Descriptor) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor.number, &buffer, buffer.count)
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Runs a command on given streams, and waits for it.
enum ClientCommandRunner {
    static func run(
        _ arguments: [String], _ environment: [String: String], _ input: Descriptor, _ output: Descriptor,
        _ errors: Descriptor
    ) -> CInt {
        ClientCommand.run(
            arguments, environment: environment, input: input.number, output: output.number, error: errors.number)
    }
}

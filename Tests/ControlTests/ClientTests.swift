import Control
import Foundation
import Glibc
import Identity
import Locking
import Testing

struct ClientTests {
    private static let answerAll: Handler.Answer = { _, _, reply in reply.succeed(NoFields()) }
    private let directory = TemporaryDirectory()

    private func quick() -> ConnectPatience {
        var patience = ConnectPatience()
        patience.notice = 20
        patience.limit = 60
        patience.pause = 5
        return patience
    }

    private func connect(
        stateDirectory: String? = nil, room: String? = nil, _ environment: [String: String] = [:],
        patience: ConnectPatience? = nil, waiting: () -> Void = {}
    ) throws -> ControlClient {
        try ControlClient.connect(
            to: DaemonLocator(stateDirectory: stateDirectory, room: room, environment: environment),
            patience: patience ?? quick(), waiting: waiting, events: { _ in })
    }

    private func serve(_ rooms: [String], _ environment: [String: String]) throws -> [ControlServer] {
        try rooms.map { room in
            let state = StateDirectory(room: room, id: RoomID(openRoom: room), environment: environment)
            try state.prepare()
            return try ControlServer(for: state, holding: state.lock(), handler: Handler(Self.answerAll))
        }
    }

    @Test func `an error of the daemon comes with its status`() throws {
        let daemon = try Daemon { _, _, reply in reply.fail(ControlError(.badData, "the text is too long")) }

        #expect(throws: CommandFailure(.badData, "the text is too long")) {
            try daemon.client().call(.send, SendParameters(text: "x"))
        }
    }

    @Test func `notifications come in order, between answers`() throws {
        let daemon = try Daemon { _, connection, reply in
            for number in 0..<100 {
                connection.notify(
                    .transfer(
                        TransferView(
                            transfer: "t", name: "n", direction: .send, completed: number, total: 100, state: .running,
                            peers: [])))
            }
            reply.succeed(NoFields())
            connection.notify(.gap)
        }
        let seen = Locked<[Int]>([])
        let client = try daemon.client { event in
            if case .notification(.transfer(let view)) = event { seen.withLock { $0.append(view.completed) } }
            if case .notification(.gap) = event { seen.withLock { $0.append(-1) } }
        }

        _ = try client.call(.cancelTransfer, TransferParameters(transfer: "t"))

        #expect(eventually { seen.withLock { $0.count } == 101 })
        #expect(seen.withLock { $0 } == Array(0..<100) + [-1])
    }

    @Test func `the daemon's end fails what waits, and is told once`() throws {
        let held = Locked<[ControlReply]>([])
        let daemon = try Daemon { _, _, reply in held.withLock { $0.append(reply) } }
        let ends = Locked(0)
        let client = try daemon.client { event in if event == .ended { ends.withLock { $0 += 1 } } }
        let failures = Locked<[CommandFailure]>([])
        client.request(.hello, NoFields()) { result in
            if case .failure(let failure) = result { failures.withLock { $0.append(failure) } }
        }
        #expect(eventually { held.withLock { $0.count } == 1 })

        daemon.server.close()

        #expect(eventually { ends.withLock { $0 } == 1 })
        #expect(failures.withLock { $0 } == [CommandFailure(.unavailable, "chatd went away")])
        #expect(throws: CommandFailure(.unavailable, "chatd went away")) { try client.call(.hello, NoFields()) }
    }

    @Test func `an answer that doesn't come in time is status 75`() throws {
        let held = Locked<[ControlReply]>([])
        let daemon = try Daemon { _, _, reply in held.withLock { $0.append(reply) } }
        let client = try daemon.client()

        let failure = #expect(throws: CommandFailure.self) { try client.call(.hello, NoFields(), within: 50) }

        #expect(failure?.exit == .tryAgain)
    }

    @Test func `without a daemon it waits, says so once, and then says how to start one`() throws {
        let notices = Locked(0)

        let failure = #expect(throws: CommandFailure.self) {
            try connect(stateDirectory: directory.path, waiting: { notices.withLock { $0 += 1 } })
        }

        #expect(
            failure
                == CommandFailure(.unavailable, "no chatd is running; start one: chatd --room ROOM --name NAME"))
        #expect(notices.withLock { $0 } == 1)
    }

    @Test func `a daemon that comes a little later is found`() throws {
        let state = StateDirectory(at: "\(directory.path)/late")
        let server = Locked<ControlServer?>(nil)
        Thread.detachNewThread {
            usleep(100_000)
            try? state.prepare()
            guard let lock = try? state.lock() else { return }
            let late = try? ControlServer(for: state, holding: lock, handler: Handler(Self.answerAll))
            server.withLock { $0 = late }
        }

        #expect(throws: Never.self) { try connect(stateDirectory: state.path, patience: ConnectPatience()) }
        server.withLock { $0 }?.close()
    }

    @Test func `the only running daemon is found, in either place`() throws {
        for runtime in [directory.path, "/nowhere"] {
            let environment = ["XDG_STATE_HOME": "\(directory.path)/state", "XDG_RUNTIME_DIR": runtime]
            let servers = try serve(["lab"], environment)

            #expect(throws: Never.self) { try connect(environment) }
            for server in servers { server.close() }
        }
    }

    @Test func `of several daemons the room decides, in any case of letters`() throws {
        let environment = ["XDG_STATE_HOME": directory.path]
        let servers = try serve(["lab", "ship"], environment)
        defer { for server in servers { server.close() } }

        #expect(throws: Never.self) { try connect(room: "LAB", environment) }
        #expect(throws: Never.self) { try connect(environment.merging(["CHAT_ROOM": "ship"]) { $1 }) }
        #expect(
            throws: CommandFailure(.usage, "2 chatd are running: lab, ship; say which with --room")
        ) { try connect(environment) }
    }

    @Test func `a room that nobody serves is status 69, one that can't be is 64`() throws {
        let environment = ["XDG_STATE_HOME": directory.path]
        let servers = try serve(["lab"], environment)
        defer { for server in servers { server.close() } }

        #expect(#expect(throws: CommandFailure.self) { try connect(room: "ship", environment) }?.exit == .unavailable)
        #expect(
            #expect(throws: CommandFailure.self) { try connect(room: "a-room-of-16-chr", environment) }?.exit == .usage)
    }

    @Test func `the state directory may come from the environment`() throws {
        let daemon = try Daemon(Self.answerAll)

        #expect(throws: Never.self) { try connect(["CHAT_STATE_DIR": daemon.state.path]) }
    }

    @Test func `a socket path that is too long names the limit`() {
        let failure = #expect(throws: CommandFailure.self) {
            try connect(stateDirectory: "/" + String(repeating: "x", count: 120))
        }

        #expect(failure?.message.contains("at most 107 bytes") == true)
    }
}

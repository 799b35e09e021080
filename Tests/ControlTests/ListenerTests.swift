import Control
import Foundation
import Glibc
import Identity
import Locking
import SystemCalls
import Testing

struct ListenerTests {
    private let directory = TemporaryDirectory()
    private let handler = Handler { _, _, reply in reply.succeed(NoFields()) }

    private func listen(_ state: StateDirectory) throws -> ControlServer {
        try state.prepare()
        return try ControlServer(for: state, holding: state.lock(), handler: handler)
    }

    @Test func `only the owner can use the socket, from its first moment`() throws {
        let server = try listen(StateDirectory(at: directory.path))
        defer { server.close() }

        #expect(mode("\(directory.path)/chatd.sock") == 0o600)
    }

    @Test func `closing takes the socket away`() throws {
        try listen(StateDirectory(at: directory.path)).close()

        #expect(inode("\(directory.path)/chatd.sock") == nil)
    }

    @Test func `a stale socket is replaced`() throws {
        let path = "\(directory.path)/chatd.sock"
        try Self.leaveStaleSocket(path)
        let stale = try #require(inode(path))

        let server = try listen(StateDirectory(at: directory.path))
        defer { server.close() }

        #expect(throws: Never.self) { try RawClient(path) }
        #expect(stale != 0)
    }

    @Test func `a socket that somebody answers is kept, whoever holds the state`() throws {
        let runtime = "\(directory.path)/runtime"
        mkdir(runtime, 0o700)
        let states = ["a", "b"].map {
            StateDirectory(
                room: "lab", id: .init(openRoom: "lab"),
                environment: ["XDG_STATE_HOME": "\(directory.path)/\($0)", "XDG_RUNTIME_DIR": runtime])
        }
        let server = try listen(states[0])
        defer { server.close() }
        let before = inode(states[0].socket)

        let failure = #expect(throws: CommandFailure.self) { try listen(states[1]) }

        #expect(failure?.exit == .tryAgain)
        #expect(inode(states[0].socket) == before)
    }

    @Test func `of many that start at once one gets the socket`() throws {
        let runtime = "\(directory.path)/runtime"
        mkdir(runtime, 0o700)
        try Self.leaveStaleSocket("\(directory.path)/stale")
        for round in 0..<20 {
            let servers = (0..<4).map { _ in ServerBox() }
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                let state = StateDirectory(
                    room: "lab", id: .init(openRoom: "lab"),
                    environment: ["XDG_STATE_HOME": "\(directory.path)/\(round)-\(index)", "XDG_RUNTIME_DIR": runtime])
                servers[index].value.withLock { $0 = try? listen(state) }
            }
            let running = servers.compactMap { $0.value.withLock { $0 } }
            #expect(running.count == 1)
            for server in running { server.close() }
        }
    }

    @Test(arguments: ["file", "directory"])
    func `what isn't a socket is refused and left alone`(kind: String) throws {
        let path = "\(directory.path)/chatd.sock"
        if kind == "file" {
            try "precious".write(toFile: path, atomically: false, encoding: .utf8)
        } else {
            mkdir(path, 0o700)
        }
        let before = inode(path)

        let failure = #expect(throws: CommandFailure.self) { try listen(StateDirectory(at: directory.path)) }

        #expect(failure?.exit == .cannotCreate)
        #expect(failure?.message == "\(path) is not a socket; it is left as it is")
        #expect(inode(path) == before)
    }

    @Test func `a path that is too long is an error that names the limit`() throws {
        let long = "\(directory.path)/\(String(repeating: "x", count: 100))"

        let failure = #expect(throws: CommandFailure.self) { try listen(StateDirectory(at: long)) }

        #expect(failure?.message.contains("at most 107 bytes") == true)
    }

    private static func leaveStaleSocket(_ path: String) throws {
        let number = try systemCall("socket", "") { Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0) }
        let socket = Descriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try systemCall("bind", path) {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
}

import Control
import Dispatch
import Foundation
import Locking
import SystemCalls
import Testing

/// An empty directory with mode 0700, gone with this object.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        path =
            strdup("/tmp/chat-test-XXXXXX").map { template in
                defer { free(template) }
                return mkdtemp(template) == nil ? "" : String(cString: template)
            } ?? ""
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Waits until a condition holds; the limit only ends a failing test.
func eventually(within seconds: Double = 5, _ condition: () -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while Date() < deadline {
        if condition() { return true }
        usleep(2000)
    }
    return condition()
}

/// Answers every request by a closure, and records who left.
final class Handler: ControlHandler {
    typealias Answer = @Sendable (ControlCall, ControlConnection, ControlReply) -> Void
    let answer: Answer
    let closed = Locked(0)

    init(_ answer: @escaping Answer) { self.answer = answer }

    func handle(_ call: ControlCall, from connection: ControlConnection, reply: ControlReply) {
        answer(call, connection, reply)
    }

    func connectionClosed(_ connection: ControlConnection) { closed.withLock { $0 += 1 } }
}

/// A server in a directory of its own.
final class Daemon: Sendable {
    let directory = TemporaryDirectory()
    let state: StateDirectory
    let lock: StateLock
    let server: ControlServer
    let handler: Handler

    init(
        limits: ControlLimits = ControlLimits(), on target: DispatchQueue? = nil, _ answer: @escaping Handler.Answer
    ) throws {
        state = StateDirectory(at: "\(directory.path)/state")
        try state.prepare()
        lock = try state.lock()
        handler = Handler(answer)
        server = try ControlServer(for: state, holding: lock, limits: limits, on: target, handler: handler)
    }

    deinit { server.close() }

    func client(
        _ events: @escaping @Sendable (ControlClientEvent) -> Void = { _ in }
    ) throws -> ControlClient {
        let locator = DaemonLocator(stateDirectory: state.path, room: nil, environment: [:])
        return try ControlClient.connect(to: locator, waiting: {}, events: events)
    }
}

/// A plain socket, as any script would use it.
final class RawClient: Sendable {
    let socket: Descriptor

    init(_ path: String) throws {
        let number = try systemCall("socket", "") { Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0) }
        socket = Descriptor(owning: number)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        try systemCall("connect", path) {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }

    /// Writes everything, or as much as the other side takes before it closes.
    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let bytes = Array(rest)
            let count = send(socket.number, bytes, bytes.count, CInt(MSG_NOSIGNAL))
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    func endWriting() { shutdown(socket.number, CInt(SHUT_WR)) }

    /// All lines up to the end of the stream.
    func readToEnd() -> [String] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(socket.number, &buffer, buffer.count, 0)
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

/// The statuses of the errors in answers.
func codes(_ lines: [String]) -> [Int] {
    struct Answer: Decodable {
        struct Failure: Decodable { let code: Int }
        let error: Failure?
    }
    return lines.compactMap { try? JSONDecoder().decode(Answer.self, from: Data($0.utf8)).error?.code }
}

/// A notification of about 2 KiB.
let longLine = ControlNotification.line(
    LineView(
        direction: .receive, kind: .text, author: "a", suffix: "b", name: "c",
        text: String(repeating: "x", count: 2000),
        time: 0))

func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}

func inode(_ path: String) -> ino_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_ino : nil
}

final class ServerBox: Sendable {
    let value = Locked<ControlServer?>(nil)
}

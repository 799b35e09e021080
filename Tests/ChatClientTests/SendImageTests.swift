import Control
import Foundation
import Glibc
import Locking
import SystemCalls
import Testing

struct SendImageTests {
    private let daemon: FakeDaemon
    private let command: Command
    private let directory = TemporaryDirectory()

    init() throws {
        daemon = try FakeDaemon()
        command = Command(daemon)
    }

    private func file(_ name: String, _ text: String = "bytes") throws -> String {
        let path = "\(directory.path)/\(name)"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    private func view(
        _ completed: Int, _ state: TransferView.State, peer: TransferView.State? = nil, reason: String? = nil
    ) -> TransferView {
        TransferView(
            transfer: "t", name: "plan.png", direction: .send, completed: completed, total: 100, state: state,
            peers: [
                .init(
                    peer: "bb", name: "bob", completed: completed, total: 100, state: peer ?? state, reason: reason)
            ])
    }

    @Test func `the open file crosses, with its name alone`() throws {
        daemon.state.withLock { $0.transfer = view(100, .done) }

        let outcome = command("send-image", try file("plan.png"))

        #expect(outcome == Outcome(status: 0, output: "plan.png: bob has it\n", complaints: ""))
        let image = daemon.state.withLock { $0.images[0] }
        #expect(image.name == "plan.png")
        #expect(String(decoding: image.bytes, as: UTF8.self) == "bytes")
    }

    @Test func `it returns when the receivers are done, not before`() throws {
        daemon.state.withLock { $0.transfer = view(0, .running) }
        let daemon = daemon
        let views = [view(50, .running), view(100, .done)]
        Thread.detachNewThread {
            _ = eventually { daemon.state.withLock { !$0.followers.isEmpty } }
            for view in views { daemon.report(view) }
        }

        #expect(command("send-image", try file("plan.png")).output == "plan.png: bob has it\n")
    }

    @Test func `a failure is a line for each peer and status 75`() throws {
        daemon.state.withLock {
            $0.transfer = view(0, .failed, reason: "40 MiB is over its limit of 32 MiB")
        }

        #expect(
            command("send-image", try file("plan.png"))
                == Outcome(
                    status: 75, output: "plan.png: nobody has it yet\n",
                    complaints: "bob: 40 MiB is over its limit of 32 MiB\n"))
    }

    @Test func `alone in the room it is stored`() throws {
        daemon.state.withLock { $0.receivers = [] }

        #expect(
            command("send-image", try file("plan.png"))
                == Outcome(status: 0, output: "", complaints: "stored; nobody else is in lab yet\n"))
    }

    @Test func `without waiting it ends once it is stored`() throws {
        daemon.state.withLock { $0.transfer = view(0, .running) }

        #expect(
            command("send-image", "--no-wait", "--print-id", try file("plan.png"))
                == Outcome(status: 0, output: "image\n", complaints: ""))
    }

    @Test func `what is no readable file is named as what it is, and nothing is offered`() throws {
        let base = directory.path
        mkdir("\(base)/directory", 0o700)
        mkfifo("\(base)/fifo", 0o600)
        let good = try file("good.png")
        let cases = [
            ("\(base)/missing.png", "\(base)/missing.png: No such file or directory"),
            ("\(base)/directory", "\(base)/directory is a directory, not a file"),
            ("\(base)/fifo", "\(base)/fifo is a FIFO, not a file"), ("/dev/zero", "/dev/zero is a device, not a file"),
            ("\(daemon.place.socket)", "\(daemon.place.socket) is a socket, not a file"),
        ]

        for (path, complaint) in cases {
            let start = Date()
            let outcome = command("send-image", good, path)
            #expect(outcome == Outcome(status: 66, output: "", complaints: "chat: \(complaint)\n"))
            #expect(Date().timeIntervalSince(start) < 1)
        }
        #expect(daemon.state.withLock { $0.images.isEmpty })
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func `a file that may not be read is status 66`() throws {
        let path = try file("secret.png")
        chmod(path, 0)

        #expect(command("send-image", path).complaints == "chat: \(path): Permission denied\n")
    }
}

import Foundation
import Testing

/// What needs several hosts. One lab at a time: two cores carry no more.
@Suite(.serialized, .rootOnly) struct LabTests {
    @Test func `hosts of a lab have names and daemons of their own, reach each other until cut, and end with it`()
        async throws
    {
        let name = try await useLab()
        #expect(!FileManager.default.fileExists(atPath: "/run/netns/\(name)-h1"))
        #expect(!FileManager.default.fileExists(atPath: "/tmp/chat-lab-\(name)"))
    }

    private func useLab() async throws -> String {
        let lab = try await Lab.up(2, avahi: .only([1]))
        #expect(try await run("hostname", on: lab[2]).output.text == "h2\n")
        #expect(try await run("avahi-daemon --check", on: lab[1]).exit == .status(0))
        #expect(try await run("avahi-daemon --check", on: lab[2]).exit != .status(0))

        let listener = try Subprocess(["python3", "-u", "-c", Self.listening], on: lab[2])
        _ = try await listener.output.line("ready") { $0 == "ready" }
        let reach = "timeout 1 bash -c 'read -r line </dev/tcp/10.77.0.2/4242 && echo $line'"
        #expect(try await run(reach, on: lab[1]).output.text == "here\n")
        try await lab.cut(2)
        #expect(try await run(reach, on: lab[1]).output.text == "")
        try await lab.heal()
        #expect(try await run(reach, on: lab[1]).output.text == "here\n")

        return lab.name
    }

    private func run(_ script: String, on host: Host) async throws -> Subprocess {
        let child = try Subprocess(["sh", "-c", script], on: host)
        _ = try await child.exit(within: .seconds(10))
        return child
    }

    private static let listening = """
        import socket
        server = socket.create_server(("", 4242))
        print("ready")
        while True:
            with server.accept()[0] as guest:
                guest.sendall(b"here\\n")
        """
}

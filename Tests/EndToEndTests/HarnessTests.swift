import Foundation
import Glibc
import Testing

/// The tests' own tools, tried on a shell.
struct HarnessTests {
    @Test func `a child's outputs, status and input are its own`() async throws {
        let child = try Subprocess(
            ["sh", "-c", "cat; echo to errors >&2; exit 7"], input: .bytes(Array("two\nlines".utf8)))

        #expect(try await child.exit(within: .seconds(10)) == .status(7))
        #expect(child.output.lines == ["two", "lines"])
        #expect(child.errors.text == "to errors\n")
    }

    @Test func `a line is found as soon as it is there, and a missing one is an error that shows the others`()
        async throws
    {
        let child = try Subprocess(["sh", "-c", "echo one; read go; echo two; exec cat"], input: .open)

        #expect(try await child.output.line("one") { $0 == "one" } == "one")
        await #expect {
            try await child.output.line("two", within: .milliseconds(50)) { $0 == "two" }
        } throws: {
            "\($0)".contains("one")
        }
        try child.write("go\n")
        #expect(try await child.output.line("two") { $0 == "two" } == "two")
        child.closeInput()
        #expect(try await child.exit(within: .seconds(10)) == .status(0))
    }

    @Test func `a child that reads nothing leaves the tests alive`() async throws {
        let child = try Subprocess(["true"], input: .bytes([UInt8](repeating: 120, count: 1 << 20)))
        #expect(try await child.exit(within: .seconds(10)) == .status(0))

        let open = try Subprocess(["sleep", "60"], input: .open)
        open.signal(SIGKILL)
        #expect(try await open.exit(within: .seconds(10)) == .signal(SIGKILL))
        #expect(throws: (any Error).self) { try open.write("nobody reads this\n") }
    }

    @Test func `a child is stopped, continued and killed by its own process id`() async throws {
        let child = try Subprocess(["sh", "-c", "echo $$; exec cat"], input: .open)
        let pid = try await child.output.line("the process id") { !$0.isEmpty }
        #expect(pid == "\(child.pid)")

        child.signal(SIGSTOP)
        #expect(await eventually { state(of: child.pid) == "T" })
        child.signal(SIGCONT)
        #expect(await eventually { state(of: child.pid) == "S" })
        child.signal(SIGKILL)
        #expect(try await child.exit(within: .seconds(10)) == .signal(SIGKILL))
    }

    @Test func `what a child started goes with it`() async throws {
        var child: Subprocess? = try Subprocess(["sh", "-c", "sleep 1000 & echo $!; wait"])
        let line = try await child?.output.line("the process id") { !$0.isEmpty }
        let grandchild = try #require(line.flatMap(pid_t.init))
        #expect(state(of: grandchild) != nil)

        child = nil

        #expect(await eventually { [nil, "Z"].contains(state(of: grandchild)) })
    }

    @Test func `a child outlives the thread that asked for it, and asks to die with the tests`() async throws {
        let child = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try Subprocess(["cat"], input: .open) }) }
        }
        try await Task.sleep(for: .milliseconds(200))
        #expect(child.exit == nil)

        // Asked of a second one, which runs what was asked for and tells (setpriv(1)).
        let asked = try Subprocess(["setpriv", "--dump"])
        _ = try await asked.exit(within: .seconds(10))
        #expect(asked.output.text.contains("Parent death signal: KILL"))
    }

    @Test func `a program that doesn't exist is an error that names it`() async throws {
        let missing = try Subprocess(["/nonexistent/program"])
        #expect(try await missing.exit(within: .seconds(10)) == .status(127))
        #expect(missing.errors.text.contains("/nonexistent/program"))
    }

    @Test func `a child that takes too long is an error, and killed`() async throws {
        var child: Subprocess? = try Subprocess(["sleep", "1000"])
        let pid = try #require(child?.pid)

        await #expect(throws: TimedOut.self) { try await child?.exit(within: .milliseconds(100)) }
        child = nil

        #expect(await eventually { state(of: pid) == nil })
    }

    @Test func `a scratch directory is private, and removed with its files`() throws {
        var scratch: Scratch? = try Scratch()
        let path = try #require(scratch?.path)
        let file = try #require(try scratch?.file("a", [1, 2]))
        _ = try scratch?.directory("b/c")
        #expect(FileManager.default.contents(atPath: file) == Data([1, 2]))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)

        scratch = nil

        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `chatd and chat are those of this build`() {
        #expect(FileManager.default.isExecutableFile(atPath: Programs.built.chatd))
        #expect(FileManager.default.isExecutableFile(atPath: Programs.built.chat))
    }

    @Test func `a lonely host has one interface, and others see none of it`() async throws {
        let lonely = try await Lonely()
        let child = try Subprocess(
            ["sh", "-c", "hostname; ls /sys/class/net /run; cat /proc/net/dev"], on: .lonely(lonely))

        #expect(try await child.exit(within: .seconds(10)) == .status(0))
        #expect(child.output.lines.first == "lonely")
        #expect(
            child.output.lines.filter { $0.contains(":") && !$0.hasPrefix("/") }.map { $0.prefix { $0 != ":" } } == [
                "    lo"
            ])
    }

    @Test func `an unprivileged user has no right, and may run chatd and write where it is open to all`() async throws {
        let scratch = try Scratch(isOpenToAll: true)
        let host = Host.unprivileged(.here, try await Programs.built.copied(into: scratch))
        let script = "id -u; grep CapEff /proc/self/status; test -x \(host.programs.chatd) && mkdir \(scratch("state"))"
        let child = try Subprocess(["sh", "-c", script], on: host)

        #expect(try await child.exit(within: .seconds(10)) == .status(0), "\(child.errors.text)")
        #expect(child.output.lines == ["\(geteuid() == 0 ? 65534 : geteuid())", "CapEff:\t0000000000000000"])
        #expect(FileManager.default.fileExists(atPath: scratch("state")))
    }

    private func state(of pid: pid_t) -> String? {
        guard let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return nil }
        let text = String(decoding: stat, as: UTF8.self)
        return text.range(of: ") ", options: .backwards).map { String(text[$0.upperBound...].prefix(1)) }
    }
}

import Control
import Foundation
import Glibc
import Identity
import Testing

struct StateDirectoryTests {
    private let directory = TemporaryDirectory()
    private let id = RoomID(openRoom: "lab")

    private func defaultState(_ environment: [String: String]) -> StateDirectory {
        StateDirectory(room: "lab", id: id, environment: environment)
    }

    @Test func `state is under XDG_STATE_HOME and the socket under XDG_RUNTIME_DIR`() {
        let state = defaultState(["XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": directory.path, "HOME": "/h"])

        #expect(state.path == "/s/chat/lab-\(id.suffix)")
        #expect(state.identity == "/s/chat/identity")
        #expect(state.last == "/s/chat/last")
        #expect(state.socket == "\(directory.path)/chat/lab-\(id.suffix).sock")
    }

    @Test(arguments: [nil, "", "relative"])
    func `a state home that isn't absolute doesn't count`(home: String?) {
        let state = defaultState(["XDG_STATE_HOME": home ?? "", "HOME": "/h"])

        #expect(state.path == "/h/.local/state/chat/lab-\(id.suffix)")
    }

    @Test(arguments: [nil, "relative", "/nowhere/at/all", "/etc/passwd"])
    func `without a runtime directory of ours the socket is beside the state`(runtime: String?) {
        var environment = ["XDG_STATE_HOME": "/s"]
        environment["XDG_RUNTIME_DIR"] = runtime

        #expect(defaultState(environment).socket == "/s/chat/run/lab-\(id.suffix).sock")
    }

    @Test func `with a state directory of its own everything is in it`() {
        let state = StateDirectory(at: "/d/")

        #expect(state.path == "/d")
        #expect(state.identity == "/d/identity")
        #expect(state.last == "/d/last")
        #expect(state.socket == "/d/chatd.sock")
    }

    @Test func `directories are made for their owner alone, whatever the umask`() throws {
        let state = defaultState(["XDG_STATE_HOME": "\(directory.path)/a/b"])

        try state.prepare()

        for path in ["a", "a/b/chat", "a/b/chat/run"].map({ "\(directory.path)/\($0)" }) + [state.path] {
            #expect(mode(path) == 0o700, "\(path)")
        }
    }

    @Test func `a directory that others can write to is refused`() throws {
        chmod(directory.path, 0o777)

        let failure = #expect(throws: CommandFailure.self) { try StateDirectory(at: directory.path).prepare() }

        #expect(failure?.exit == .cannotCreate)
        #expect(failure?.message == "others can write to \(directory.path); try: chmod 700 \(directory.path)")
    }

    @Test func `a symbolic link is refused as state directory`() throws {
        let link = "\(directory.path)/link"
        symlink("/tmp", link)

        let failure = #expect(throws: CommandFailure.self) { try StateDirectory(at: link).prepare() }

        #expect(failure?.message == "\(link) is a symbolic link; refusing to use it")
    }

    @Test func `a directory that can't be made is status 73`() {
        let failure = #expect(throws: CommandFailure.self) { try StateDirectory(at: "/proc/none").prepare() }

        #expect(failure?.exit == .cannotCreate)
    }

    @Test func `a second holder is told that one is running`() throws {
        let state = StateDirectory(at: directory.path)
        let lock = try state.lock()

        let failure = withExtendedLifetime(lock) { #expect(throws: CommandFailure.self) { try state.lock() } }

        #expect(failure?.exit == .tryAgain)
        #expect(failure?.message == "already running (process \(getpid())) in \(directory.path)")
    }

    @Test func `the lock goes with its holder`() throws {
        let state = StateDirectory(at: directory.path)
        _ = try state.lock()

        #expect(throws: Never.self) { try state.lock() }
        #expect(mode("\(directory.path)/lock") == 0o600)
    }

    @Test func `a stopped process still holds its lock`() throws {
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        holder.arguments = ["--no-fork", "\(directory.path)/lock", "sleep", "60"]
        try holder.run()
        defer { kill(holder.processIdentifier, SIGKILL) }
        let state = StateDirectory(at: directory.path)
        #expect(eventually { (try? state.lock()) == nil })

        kill(holder.processIdentifier, SIGSTOP)

        #expect(throws: CommandFailure.self) { try state.lock() }
    }
}

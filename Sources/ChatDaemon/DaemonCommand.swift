import CMalloc
import ChatModel
import ChatSession
import Control
import Discovery
import Glibc
import History
import Identity
import Rx
import SystemCalls
import Transport

/// The `chatd` command: from arguments to an exit status.
public enum DaemonCommand {
    /// Runs the process's own command line; see ``run(_:environment:say:complain:)``.
    public static func main(
        environment: [String: String], say: (String) -> Void, complain: (String) -> Void
    ) -> CInt {
        holdStandardDescriptors()
        signal(SIGPIPE, SIG_IGN)
        // Eight heaps a core, as is the default, keep tens of megabytes that a catch-up needed once.
        mallopt(M_ARENA_MAX, 2)
        // What one batch needed, the next one needs again: a megabyte isn't given back to the system and asked for anew.
        mallopt(M_TRIM_THRESHOLD, 1 << 20)
        mallopt(M_MMAP_THRESHOLD, 1 << 20)
        do throws(CommandFailure) {
            return run(try CommandWords.ofProcess(), environment: environment, say: say, complain: complain)
        } catch {
            complain("chatd: \(error)")
            return error.exit.rawValue
        }
    }

    /// Runs a daemon until a signal ends it.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - environment: Where `HOME`, `XDG_STATE_HOME` and `XDG_RUNTIME_DIR` are looked up.
    ///   - say: Prints help on standard output.
    ///   - complain: Prints an error on standard error.
    /// - Returns: As sysexits(3); 0 after SIGTERM, SIGINT or SIGHUP.
    public static func run(
        _ arguments: [String], environment: [String: String], say: (String) -> Void, complain: (String) -> Void
    ) -> CInt {
        do {
            let parsed = try DaemonOptions.table.parse(arguments)
            if parsed.has(.help) { return answer(DaemonOptions.table.help, say) }
            if parsed.has(.version) { return answer("chatd \(chatVersion)\n", say) }
            try Daemon(DaemonOptions(parsed), environment).run()
            return ExitStatus.success.rawValue
        } catch let error as UsageError {
            complain(error.lines(program: "chatd"))
            return ExitStatus.usage.rawValue
        } catch let error as CommandFailure {
            complain("chatd: \(error)")
            return error.exit.rawValue
        } catch HistoryError.otherRoom(let path) {
            complain("chatd: \(HistoryError.otherRoom(path: path))")
            return ExitStatus.usage.rawValue
        } catch {
            complain("chatd: \(error)")
            return ExitStatus.inputOutput.rawValue
        }
    }

    private static func answer(_ text: String, _ say: (String) -> Void) -> CInt {
        say(text)
        return ExitStatus.success.rawValue
    }
}

/// One daemon in one room.
struct Daemon: Sendable {
    private let options: DaemonOptions
    private let membership: Membership
    private let state: StateDirectory
    private let lastFile: String
    private let downloads: String
    private let log = DaemonLog()

    init(_ options: DaemonOptions, _ environment: [String: String]) throws(CommandFailure) {
        lastFile = options.stateDirectory.map { StateDirectory(at: $0).last } ?? StateDirectory.last(environment)
        let remembered = Membership(rememberedIn: lastFile)
        membership = try Membership.choose(options, remembered: remembered, environment: environment)
        let room = membership.room
        state =
            options.stateDirectory.map { StateDirectory(at: $0) }
            ?? StateDirectory(room: room, id: membership.id, environment: environment)
        downloads = options.downloads ?? StateDirectory.downloads(room: room, environment: environment)
        self.options = options
    }

    func run() throws {
        let signals = EndingSignals()
        openTimerDescriptor()
        umask(0o077)
        try hardenProcess()
        try state.prepare()
        let lock = try state.lock()
        let bag = DisposeBag()
        let ending = signals.arrivals.do(onNext: { _ in log("leaving '\(membership.room)'") })
        try room(bag).values { session in
            server(of: session, lock).values { _ in
                try membership.remember(in: lastFile)
                introduce(session, session.port, bag)
                return Observable<Void>.never()
            }
        }
        .take(until: ending).waitForEnd()
        log.flush()
    }

    private func room(_ bag: DisposeBag) throws -> Resource<SessionContainer> {
        var configuration = SessionConfiguration(
            stateDirectory: state.path, downloads: downloads, key: try IdentityFile.open(state.identity))
        configuration.discovery = options.discovery
        configuration.places = options.places
        configuration.admission = options.admission
        configuration.transportLimits.takesRouted = options.takesRouted
        configuration.roomKey = membership.key?.roomKey
        if let limit = options.autoFetch { configuration.limits.autoFetch = limit }
        return SessionContainer.resource(
            displayName: membership.name, room: membership.room, configuration: configuration, on: options.listen,
            prepare: { follow($0, bag) })
    }

    private func server(of session: SessionContainer, _ lock: StateLock) -> Resource<ControlServer> {
        let facts = DaemonHandler.Facts(
            port: session.port, stateDirectory: state.path, downloads: downloads, admission: options.admission)
        return Resource(
            acquire: {
                try ControlServer(for: state, holding: lock, on: session.queue, handler: DaemonHandler(session, facts))
            },
            release: { $0.close() })
    }

    /// Notices about peers, trouble, and which discovery is in use, as they come.
    private func follow(_ session: SessionContainer, _ bag: DisposeBag) {
        session.receivedTogether.subscribe(onNext: { [log] lines in
            for line in lines { if case .notice(let text) = line.content { log(SafeText.line(text)) } }
        }).disposed(by: bag)
        session.log.subscribe(onNext: { [log] in log(SafeText.line($0)) }).disposed(by: bag)
    }

    /// Says who and where this is, before anything that has happened since.
    private func introduce(_ session: SessionContainer, _ port: UInt16, _ bag: DisposeBag) {
        let room = membership.room
        let place = options.stateDirectory == nil ? "--room \(room)" : "--state-dir \(state.path)"
        log.begin(
            with: [
                session.notice,
                "'\(SafeText.line(membership.name))' (\(session.peer.suffix)) in room '\(room)', port \(port)",
                options.discovery == .none ? "discovery: none; peers are dialled by --peer alone" : nil,
                membership.key != nil
                    ? "keyed: only who has the room's key can join"
                    : options.admission == .open ? "open: anybody on this network can join" : nil,
                "try: chat \(place) send hello",
            ].compactMap(\.self))
        session.discoveryProvider.asObservable().compactMap { $0 }
            .subscribe(onNext: { [log] in log("discovery: \($0)") })
            .disposed(by: bag)
    }
}

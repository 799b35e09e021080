import Control
import Dispatch
import Foundation
import Glibc
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@testable import ChatClient

/// Paging through the transcript as the paginated list: its state, its events, its two loops, under virtual time.
@Suite(.countsResources) struct LogPagingTests {
    private static let count = 100_000
    private static let pageSize = 50

    private let scheduler = TestScheduler()
    private let loads = Locked<[LogPaging.Offset]>([])

    private static func line(_ number: Int) -> LineView {
        FakeDaemon.line("line \(number)", id: "\(number)")
    }

    /// A daemon with a hundred thousand lines, each page 10 ticks away.
    private func load(_ offset: LogPaging.Offset) -> Observable<LogPaging.Event> {
        loads.withLock { $0.append(offset) }
        let end: Int = if case .before(let id) = offset { (Int(id) ?? 1) - 1 } else { Self.count }
        let first = max(1, end - Self.pageSize + 1)
        let page = LogResult(
            lines: end < 1 ? [] : (first...end).map(Self.line), earlier: first == 1 ? nil : "\(first)")
        return Observable<Int>.timer(.seconds(10), scheduler: scheduler).map { _ in .response(page) }
    }

    private func run(
        _ scrolls: [Recorded<Event<Int>>], load: (@Sendable (LogPaging.Offset) -> Observable<LogPaging.Event>)? = nil
    ) -> [LogPaging.State] {
        let view = scheduler.createHotObservable(scrolls)
        let states = scheduler.start { [self] in
            LogPaging.states(
                from: LogPaging.State(pageSize: Self.pageSize), scheduler: scheduler,
                view: bind { _ in
                    Bindings(subscriptions: [], events: [view.asObservable().map(LogPaging.Event.scrolledTo)])
                },
                load: load ?? self.load)
        }
        return states.events.compactMap { if case .next(let state) = $0.value { state } else { nil } }
    }

    @Test func `only pages that were scrolled to are loaded`() throws {
        let states = run([.next(300, 0), .next(400, 10), .next(500, 99)])

        #expect(loads.withLock { $0 } == [.newest, .before("99951"), .before("99901")])
        let last = try #require(states.last)
        #expect(last.models.map(\.id) == (0..<150).map { "\(Self.count - $0)" })
        #expect(last.nextPageOffset == .before("99851"))
        #expect(states.map(\.models.count).max() == 150)
    }

    @Test func `a page is asked for once however often one scrolls while it is on its way`() {
        _ = run([.next(300, 49), .next(302, 49), .next(304, 49)])

        #expect(loads.withLock { $0 } == [.newest, .before("99951")])
    }

    @Test func `at the beginning nothing more is asked for`() throws {
        let beginning = LogResult(lines: [Self.line(1)], earlier: nil)

        let states = run([.next(300, 0), .next(400, 0)]) { [loads] offset in
            loads.withLock { $0.append(offset) }
            return .just(.response(beginning))
        }

        #expect(loads.withLock { $0 } == [.newest])
        #expect(states.last?.nextPageOffset == nil)
        #expect(states.last?.models.map(\.id) == ["1"])
    }

    @Test func `an error is shown, and scrolling tries again`() {
        let failure = CommandFailure(.inputOutput, "disk I/O error")
        let states = run([.next(300, 0)]) { [loads, scheduler] offset in
            let isFirst = loads.withLock { loads in
                loads.append(offset)
                return loads.count == 1
            }
            let page = LogResult(lines: [Self.line(1)])
            return .just(isFirst ? .error(failure) : .response(page), scheduler: scheduler)
        }

        #expect(loads.withLock { $0 } == [.newest, .newest])
        #expect(states.contains { $0.failure == failure && $0.fetchOffset == nil })
        #expect(states.last?.failure == nil)
        #expect(states.last?.models.count == 1)
    }

    @Test func `what stands before a page's oldest stored line comes with the next page`() {
        let (notice, seventh) = (FakeDaemon.line("notice"), Self.line(7))
        let page = LogResult(lines: [notice, seventh, notice], earlier: "7")
        let start = LogPaging.State(pageSize: 3)

        #expect(LogPaging.reduce(start, .response(page)).models == [notice, seventh])
        let beginning = LogResult(lines: page.lines, earlier: nil)
        #expect(LogPaging.reduce(start, .response(beginning)).models.count == 3)
    }

    @Test func `the window moves by rows, and a line that is too long takes several`() {
        var screen = PagerScreen(LineRendering(), columns: 21, rows: 4)
        var state = LogPaging.State(pageSize: 10)
        state = LogPaging.reduce(
            state, .response(LogResult(lines: (1...9).map(Self.line) + [FakeDaemon.line("a text that wraps")])))
        screen.take(state)

        #expect(screen.seen.dropLast().map { String($0.suffix(6)) } == ["line 9", "ext th", " wraps"])
        #expect(screen.oldestSeen == 1)
        var quits = [screen.press(.pageUp)]
        #expect(screen.seen.dropLast().map { $0.dropFirst(6) } == ["bob: line 6", "bob: line 7", "bob: line 8"])
        quits.append(screen.press(.text("G")))
        #expect(screen.oldestSeen == 1)
        quits.append(screen.press(.home))
        screen.take(state)
        #expect(screen.seen.first?.dropFirst(6) == "bob: line 1")
        #expect(screen.seen.last?.hasPrefix("the beginning") == true)
        quits.append(screen.press(.text("q")))
        #expect(quits == [false, false, false, true])
    }
}

/// The real program on a real terminal.
@Suite(.countsResources) struct LogPagerTests {
    private let daemon: FakeDaemon

    init() throws { daemon = try FakeDaemon() }

    private func fill(_ count: Int) {
        daemon.state.withLock { state in
            state.lines = (1...count).map { number in
                let digits = String(number)
                return FakeDaemon.line("line \(number)", id: String(repeating: "0", count: 64 - digits.count) + digits)
            }
        }
    }

    private func start() throws -> TerminalSession {
        try TerminalSession(["log"], ["CHAT_STATE_DIR": daemon.place.path, "TERM": "xterm-256color", "TZ": "UTC"])
    }

    @Test func `chat log shows the end, older pages by key, and puts the terminal back`() throws {
        fill(1_000)
        let session = try start()
        let before = session.before
        #expect(session.shows("line 1000"))
        #expect(!session.output.contains("line 990"))

        for _ in 0..<3 { session.type("\u{1b}[5~") }
        #expect(session.shows("line 973"))
        session.type("q")

        #expect(session.status() == 0)
        #expect(session.shows("\u{1b}[?1049l"))
        #expect(session.mode == before)
        #expect(daemon.state.withLock { $0.pages.count } < 6, "what nobody scrolled to isn't loaded")
    }

    @Test func `a transcript that fits is printed`() throws {
        fill(3)
        let session = try start()

        #expect(session.status() == 0)
        #expect(session.shows("line 3"))
        #expect(!session.output.contains("\u{1b}"))
    }

    @Test func `a daemon that goes away while paging is told of, and the terminal is put back`() throws {
        fill(1_000)
        let session = try start()
        #expect(session.shows("line 1000"))

        daemon.stop()
        for _ in 0..<8 { session.type(" ") }

        #expect(session.shows("chatd went away"))
        session.type("q")
        #expect(session.status() == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `a signal puts the terminal back`(number: CInt) throws {
        fill(1_000)
        let session = try start()
        let before = session.before
        #expect(session.shows("line 1000"))

        kill(session.process, number)

        #expect(session.status() == 128 + number)
        #expect(session.mode == before)
        #expect(session.shows("\u{1b}[?1049l"))
    }
}

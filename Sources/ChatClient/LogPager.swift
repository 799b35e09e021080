import Control
import Dispatch
import Glibc
import Locking
import Rx

/// `chat log` on a terminal: the transcript page by page, from its end.
///
/// `@unchecked`: `screen` and `keys` are only touched on `queue`, the terminal's size is asked anywhere.
final class LogPager: @unchecked Sendable {
    private static let start: StaticString = "\u{1b}[?1049h\u{1b}[?25l"  // xterm: the alternate screen, no cursor
    private static let finish: StaticString = "\u{1b}[?25h\u{1b}[?1049l"

    private enum Input: Sendable { case bytes([UInt8]), silence, resized }
    private enum End: Sendable { case left, signal(CInt), failed(any Error) }

    private let console: Console
    private let client: ControlClient
    /// Which lines, whatever the page.
    private let wanted: LogParameters
    private let queue = DispatchQueue(label: "chat.log")
    private let scheduler: SerialDispatchQueueScheduler
    private let inputs = PublishSubject<Input>()
    /// Replayed: a signal may come before anybody waits.
    private let end = ReplaySubject<End>.create(bufferSize: 1)
    private var screen: PagerScreen
    private var keys = KeyParser()

    init(_ daemon: Daemon, _ rendering: LineRendering, _ wanted: LogParameters) {
        self.wanted = wanted
        console = daemon.console
        client = daemon.client
        scheduler = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "chat.log.serial")
        screen = PagerScreen(rendering, columns: console.size.columns, rows: console.size.rows)
    }

    /// Pages from the newest page on; a transcript that fits on the screen is printed instead.
    func run() throws -> ExitStatus {
        let pageSize = max(20, console.size.rows)  // lines
        var first = wanted
        first.count = pageSize
        let newest = try client.call(.log, first)
        let start = LogPaging.reduce(LogPaging.State(pageSize: pageSize), .response(newest))
        screen.take(start)
        if start.nextPageOffset == nil, screen.fits {
            try console.print(screen.seen.dropLast())
            return .success
        }
        return try console.takeOver(
            start: Self.start, finish: Self.finish,
            report: { [inputs, end] event in
                switch event {
                case .signal(let number): end.onNext(.signal(number))
                case .resized: inputs.onNext(.resized)
                }
            }
        ) { try page(from: start) }
    }

    private func page(from start: LogPaging.State) throws -> ExitStatus {
        let ending = Locked<End?>(nil)
        let isOver = DispatchSemaphore(value: 0)
        let ended = end.subscribe(onNext: { end in
            ending.withLock { $0 = $0 ?? end }
            isOver.signal()
        })
        let paging = LogPaging.states(from: start, scheduler: scheduler, view: bind(self) { $0.bindings(to: $1) }) {
            [client, wanted, pageSize = start.pageSize] in client.page($0, of: wanted, count: pageSize)
        }.subscribe(onError: { [end] in end.onNext(.failed($0)) })
        // Replayed: the first bytes may come before anybody can let the next ones come.
        let taken = ReplayRelay<Void>.create(bufferSize: 1)
        let pump = try InputPump(console.input) { [inputs, end] bytes in
            bytes.isEmpty ? end.onNext(.left) : inputs.onNext(.bytes(bytes))
            taken.accept(())
        }
        let going = taken.subscribe(onNext: { pump.proceed() })
        isOver.wait()
        for subscription in [going, paging, ended] { subscription.dispose() }
        pump.stop()
        queue.sync {}
        switch ending.withLock({ $0 }) {
        case .signal(SIGINT): return .interrupted
        case .signal(let number): throw Killed(signal: number)
        case .failed(let error): throw error
        case .left, nil: return .success
        }
    }

    /// The loop through the terminal: shows what is there, tells where the keys scrolled to.
    private func bindings(to states: ObservableSchedulerContext<LogPaging.State>) -> Bindings<LogPaging.Event> {
        let shown = states.subscribe(onNext: { [self] state in
            screen.take(state)
            paint()
        })
        let scrolls = inputs.flatMapLatest { [scheduler] input -> Observable<Input> in
            guard case .bytes = input else { return .just(input) }
            return Observable<Int>.timer(.milliseconds(KeyParser.escapeLimit), scheduler: scheduler)
                .map { _ in .silence }.startWith(input)
        }
        .observe(on: scheduler)
        .compactMap { [self] in take($0) }
        // A new page may be scrolled into at once, or hold less than is to be ahead.
        let pages = states.map(\.models.count).distinctUntilChanged().map { [self] _ in screen.oldestSeen }
        return Bindings(
            subscriptions: [shown], events: [scrolls, pages].map { $0.map(LogPaging.Event.scrolledTo) })
    }

    /// - Returns: The oldest line that is seen then, `nil` when nothing moved.
    private func take(_ input: Input) -> Int? {
        let before = screen.seen
        switch input {
        case .bytes(let bytes): press(keys.take(bytes))
        case .silence: press(keys.flush())
        case .resized: screen.resize(columns: console.size.columns, rows: console.size.rows)
        }
        if screen.seen == before { return nil }
        paint()
        return screen.oldestSeen
    }

    private func press(_ keys: [Key]) {
        for key in keys where screen.press(key) { end.onNext(.left) }
    }

    private func paint() {
        let rows = screen.seen.map { "\($0)\u{1b}[K" }
        do {
            try console.write("\u{1b}[H" + rows.joined(separator: "\r\n") + "\u{1b}[J")
        } catch { end.onNext(.failed(error)) }
    }
}

import Dispatch
import Identity
import Locking
import Rx

/// One subscription to ``Discovery/run(_:mode:)``: the stack in use, and what it has told.
///
/// `@unchecked`: the variables are only touched on `queue`, but for `current`, which has a lock.
final class DiscoverySession: @unchecked Sendable {
    private static let answerLimit = DispatchTimeInterval.seconds(1)  // for the daemon, in mode auto
    private static let disposeLimit = DispatchTimeInterval.seconds(1)
    private static let sweepDelay = DispatchTimeInterval.seconds(10)
    private static let tick = DispatchTimeInterval.seconds(1)
    private static let ticksPerCheck = 10

    private enum Current {
        case stack(any MulticastDNS)
        case nothing, stopped
    }

    private let queue = DispatchQueue(label: "chat.discovery")
    private let announcement: Announcement
    private let mode: DiscoveryMode
    private let report: @Sendable (DiscoveryEvent) -> Void
    private let current = Locked(Current.nothing)

    private var stack: (any MulticastDNS)?
    private var epoch = 0  // counts the stacks, so that an old one's events aren't taken for the new one's
    private var hasAnswered = false
    private var health = Health.starting
    private var table: AdvertTable
    private var pool = ResolverPool()
    private var browses = 0
    private var timer: (any DispatchSourceTimer)?
    private var ticks = 0

    private enum Health { case starting, working, stuck, troubled }

    init(
        _ announcement: Announcement, mode: DiscoveryMode, report: @escaping @Sendable (DiscoveryEvent) -> Void
    ) {
        self.announcement = announcement
        self.mode = mode
        self.report = report
        table = AdvertTable(
            own: announcement.peer, room: announcement.room, concealment: announcement.concealment)
    }

    func start() {
        queue.async { [self] in
            mode == .embedded ? use(EmbeddedResponder.init) : use(AvahiDaemon.init)
            startTimer()
            guard mode == .auto else { return }
            queue.asyncAfter(deadline: .now() + Self.answerLimit) { [weak self] in self?.fallBack() }
        }
    }

    /// From any thread, also from within an event's delivery.
    func stop() {
        guard case .stack(let stack) = current.withLock({ exchange(&$0, with: .stopped) }) else { return }
        let isOver = DispatchSemaphore(value: 0)
        stack.stop { isOver.signal() }
        queue.async { [self] in
            timer?.cancel()
            timer = nil
            self.stack = nil
        }
        _ = isOver.wait(timeout: .now() + Self.disposeLimit)
    }

    // MARK: The stack in use

    private func use(_ make: (Announcement, @escaping StackReport) -> any MulticastDNS) {
        epoch += 1
        // What references the session runs on its queue alone, so that it never ends on a stack's thread.
        let handler: @Sendable (StackEvent) -> Void = { [weak self, epoch] in self?.take($0, from: epoch) }
        let next = make(announcement) { [queue] event in queue.async { handler(event) } }
        let previous = current.withLock { current -> Current in
            if case .stopped = current { return .stopped }
            return exchange(&current, with: .stack(next))
        }
        switch previous {
        case .stopped: return
        case .stack(let previous): previous.stop {}
        case .nothing: break
        }
        stack = next
        next.start()
    }

    /// In mode auto: the daemon hasn't answered, so a stack of our own does for the rest.
    private func fallBack() {
        guard !hasAnswered, stack is AvahiDaemon else { return }
        use(EmbeddedResponder.init)
    }

    private func take(_ event: StackEvent, from epoch: Int) {
        guard epoch == self.epoch, let stack else { return }
        switch event {
        case .answered: hasAnswered = true
        case .absent(let why): mode == .auto && !hasAnswered ? fallBack() : complain("\(why); waiting for it")
        case .wentAway(let why):
            pool.reset()
            complain("\(why); waiting for it")
        case .announced: recover(stack)
        case .browsing: startOver()
        case .appeared(let record): obey(pool.appeared(record, at: Self.now))
        case .vanished(let record):
            obey(pool.vanished(record, at: Self.now))
            tell(table.removed(record))
        case .resolved(let record, let resolution): resolved(record, resolution)
        case .unresolved(let record):
            guard pool.isActive(record) else { return }
            obey(pool.failed(record, at: Self.now))
            tell(table.removed(record))
        }
    }

    private func recover(_ stack: any MulticastDNS) {
        guard health != .working else { return }
        health = .working
        tell([.using(stack.name)])
    }

    /// Tells of a trouble once, until the stack works again.
    private func complain(_ line: String) {
        let isTold = health == .troubled || health == .stuck
        health = .troubled
        if !isTold { tell([.trouble(line)]) }
    }

    /// A call waits for its answer: it may still come, and then nothing was lost.
    private func notice(stuck stack: any MulticastDNS) {
        guard health == .starting || health == .working else { return }
        health = .stuck
        tell([.trouble("\(stack.name) doesn't answer; waiting for it")])
    }

    // MARK: Records

    /// What isn't heard again within 10 s of a new beginning is gone.
    private func startOver() {
        pool.reset()
        table.beginGeneration()
        browses += 1
        queue.asyncAfter(deadline: .now() + Self.sweepDelay) { [weak self, browses] in
            guard let self, browses == self.browses else { return }
            tell(table.sweep())
        }
    }

    private func resolved(_ record: RecordKey, _ resolution: Resolution) {
        guard pool.isActive(record) else { return }
        obey(pool.resolved(record, isPeer: table.subject(of: record, resolution) != nil, at: Self.now))
        tell(table.resolved(record, to: resolution))
    }

    private func obey(_ commands: [ResolverPool.Command]) {
        for command in commands {
            switch command {
            case .start(let record): stack?.resolve(record)
            case .stop(let record): stack?.stopResolving(record)
            }
        }
    }

    private func tell(_ events: [DiscoveryEvent]) { for event in events { report(event) } }

    // MARK: Time

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000_000 }

    private func startTimer() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + Self.tick, repeating: Self.tick, leeway: .milliseconds(200))
        timer.setEventHandler { [weak self] in self?.passTime() }
        timer.resume()
        self.timer = timer
    }

    private func passTime() {
        guard let stack else { return }
        obey(pool.tick(at: Self.now))
        if stack.isStuck { return notice(stuck: stack) }
        if health == .stuck { recover(stack) }
        ticks += 1
        guard ticks.isMultiple(of: Self.ticksPerCheck) else { return }
        stack.check()
    }
}

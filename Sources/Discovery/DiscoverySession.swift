import Dispatch
import Identity
import Locking
import Rx

/// One subscription to ``Discovery/run(_:mode:renewal:)``: the stacks in use, and what they have told.
///
/// `@unchecked`: the variables are only touched on `queue`, but for `current`, which has a lock.
final class DiscoverySession: @unchecked Sendable {
    private static let answerLimit = DispatchTimeInterval.seconds(1)  // for the daemon, in mode auto
    private static let disposeLimit = DispatchTimeInterval.seconds(1)
    private static let sweepDelay = DispatchTimeInterval.seconds(10)
    private static let tick = DispatchTimeInterval.seconds(1)
    private static let ticksPerCheck = 10
    private static let patience: UInt64 = 3_000  // ms that a daemon may be gone before we watch ourselves

    private enum Current {
        case stacks([any MulticastDNS])
        case stopped
    }

    private let queue = DispatchQueue(label: "chat.discovery")
    private var announcement: Announcement
    private let mode: DiscoveryMode
    private let renewal: UInt64  // ms
    private let report: @Sendable (DiscoveryEvent) -> Void
    private let current = Locked(Current.stacks([]))

    /// The stack that announces us.
    private var main: Lane?
    /// Watches beside an avahi-daemon that can't be relied on.
    private var second: Lane?
    private var epoch = 0
    private var table: AdvertTable
    private var timer: (any DispatchSourceTimer)?
    private var ticks = 0
    private var renewedAt = now

    init(
        _ announcement: Announcement, mode: DiscoveryMode, renewal: Duration,
        report: @escaping @Sendable (DiscoveryEvent) -> Void
    ) {
        self.announcement = announcement
        self.mode = mode
        self.renewal = UInt64(max(1, renewal / .milliseconds(1)))
        self.report = report
        table = AdvertTable(
            own: announcement.peer, room: announcement.room, concealment: announcement.concealment)
    }

    func start() {
        queue.async { [self] in
            mode == .embedded ? useEmbedded() : useDaemon()
            startTimer()
            guard mode == .auto else { return }
            queue.asyncAfter(deadline: .now() + Self.answerLimit) { [weak self] in self?.fallBack() }
        }
    }

    /// From any thread, also from within an event's delivery.
    func stop() {
        guard case .stacks(let stacks) = current.withLock({ exchange(&$0, with: .stopped) }) else { return }
        let isOver = DispatchSemaphore(value: 0)
        for stack in stacks { stack.stop { isOver.signal() } }
        queue.async { [self] in
            timer?.cancel()
            timer = nil
            main = nil
            second = nil
        }
        let deadline = DispatchTime.now() + Self.disposeLimit
        for _ in stacks { _ = isOver.wait(timeout: deadline) }
    }

    // MARK: The stacks in use

    private func useDaemon() { main = begin(number: 0) { AvahiDaemon(announcement, report: $0) } }

    private func useEmbedded() {
        main = begin(number: 0) { EmbeddedResponder(announcement, isAnnouncing: true, report: $0) }
    }

    /// In mode auto: the daemon hasn't answered, so a stack of our own does for the rest.
    private func fallBack() {
        guard let daemon = main, !daemon.hasAnswered, daemon.stack is AvahiDaemon else { return }
        end(daemon)
        useEmbedded()
    }

    /// In mode auto: the daemon may not tell of everybody, so a stack of our own watches too, for the rest.
    private func watchOurselves(_ why: String) {
        guard mode == .auto, second == nil, main?.stack is AvahiDaemon else { return }
        second = begin(number: 1) { EmbeddedResponder(announcement, isAnnouncing: false, report: $0) }
        if second != nil { tell([.trouble("\(why); watching by embedded mDNS too")]) }
    }

    private func begin(number: UInt8, _ make: (@escaping StackReport) -> any MulticastDNS) -> Lane? {
        epoch += 1
        // What references the session runs on its queue alone, so that it never ends on a stack's thread.
        let handler: @Sendable (StackEvent) -> Void = { [weak self, epoch] in self?.take($0, from: epoch) }
        let stack = make { [queue] event in queue.async { handler(event) } }
        let isGoing = current.withLock { current in
            guard case .stacks(let stacks) = current else { return false }
            current = .stacks(stacks + [stack])
            return true
        }
        guard isGoing else { return nil }
        stack.start()
        return Lane(stack, number: number, epoch: epoch)
    }

    private func end(_ lane: Lane) {
        current.withLock { current in
            guard case .stacks(let stacks) = current else { return }
            current = .stacks(stacks.filter { $0 !== lane.stack })
        }
        lane.stack.stop {}
    }

    private func take(_ event: StackEvent, from epoch: Int) {
        guard let lane = [main, second].compactMap(\.self).first(where: { $0.epoch == epoch }) else { return }
        switch event {
        case .answered: lane.hasAnswered = true
        case .absent(let why): absent(lane, why)
        case .wentAway(let why):
            lane.reset()
            complain(lane, "\(why); waiting for it")
        case .announced: recover(lane)
        case .browsing: startOver(lane)
        case .crowded: watchOurselves("more than \(Crowd.limit) peers are announced, so avahi-daemon may be full")
        case .appeared(let record): forget(lane.appeared(lane.own(record), at: Self.now))
        case .vanished(let record): vanished(lane.own(record), lane)
        case .resolved(let record, let resolution): resolved(lane.own(record), resolution, lane)
        case .unresolved(let record): unresolved(lane.own(record), lane)
        }
    }

    private func absent(_ lane: Lane, _ why: String) {
        if mode == .auto, !lane.hasAnswered, lane.stack is AvahiDaemon { return fallBack() }
        complain(lane, "\(why); waiting for it")
    }

    private func recover(_ lane: Lane) {
        lane.failingSince = nil
        guard lane.health != .working else { return }
        lane.health = .working
        tell([.using(lane.stack.name)])
    }

    /// Tells of a trouble once, until the stack works again.
    private func complain(_ lane: Lane, _ line: String) {
        let isTold = lane.health == .troubled || lane.health == .stuck
        lane.health = .troubled
        lane.failingSince = lane.failingSince ?? Self.now
        if !isTold { tell([.trouble(line)]) }
    }

    /// A call waits for its answer: it may still come, and then nothing was lost.
    private func notice(stuck lane: Lane) {
        lane.failingSince = lane.failingSince ?? Self.now
        guard lane.health == .starting || lane.health == .working else { return }
        lane.health = .stuck
        tell([.trouble("\(lane.stack.name) doesn't answer; waiting for it")])
    }

    // MARK: Records

    /// What isn't heard again within 10 s of a new beginning is gone.
    private func startOver(_ lane: Lane) {
        lane.beginBrowsing()
        table.beginGeneration(lane.number)
        queue.asyncAfter(deadline: .now() + Self.sweepDelay) {
            [weak self, epoch = lane.epoch, browses = lane.browses] in
            guard let self, let lane = [main, second].compactMap(\.self).first(where: { $0.epoch == epoch }),
                browses == lane.browses
            else { return }
            tell(table.sweep(lane.number))
        }
    }

    private func vanished(_ record: RecordKey, _ lane: Lane) {
        forget(lane.vanished(record, at: Self.now))
        tell(table.removed(record))
    }

    private func resolved(_ record: RecordKey, _ resolution: Resolution, _ lane: Lane) {
        guard lane.isActive(record) else { return }
        let isPeer = table.subject(of: record, resolution) != nil
        forget(lane.resolved(record, isPeer: isPeer, at: Self.now))
        tell(table.resolved(record, to: resolution))
    }

    private func unresolved(_ record: RecordKey, _ lane: Lane) {
        guard lane.isActive(record) else { return }
        forget(lane.failed(record, at: Self.now))
        tell(table.removed(record))
    }

    private func forget(_ records: [RecordKey]) { for record in records { tell(table.removed(record)) } }

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
        for lane in [main, second].compactMap(\.self) { forget(lane.tick(at: Self.now)) }
        guard let main else { return }
        if let since = main.failingSince, Self.now - since >= Self.patience {
            watchOurselves("\(main.stack.name) doesn't work")
        }
        if main.stack.isStuck { return notice(stuck: main) }
        if main.health == .stuck { recover(main) }
        renewIfDue(main)
        ticks += 1
        guard ticks.isMultiple(of: Self.ticksPerCheck) else { return }
        main.stack.check()
    }

    /// Goes by another instance and host label, so that nobody can follow a keyed room's member for longer than a day.
    private func renewIfDue(_ main: Lane) {
        guard let old = announcement.concealment, Self.now - renewedAt >= renewal else { return }
        renewedAt = Self.now
        let new = Concealment(old.key)
        announcement.concealment = new
        table.renamed(new.instance)
        tell([.renamed(instance: new.instance)])
        main.stack.announce(announcement)
    }
}

import ChatModel
import Dispatch
import History
import Identity
import Locking
import Rx
import Transport

/// Keeps the room's events on disk: commits in groups, verifies what peers send, serves what they want.
final class StorageLoop: FeedbackLoop {
    private struct Waiting {
        var drafts: [Draft] = []
        var arrivals: [Arrival] = []
        /// Bytes of the batches among these.
        var arrivalBytes = 0
        /// What is known of peers, the newest alone.
        var records: [PeerID: PeerRecord] = [:]
        var pace = CommitPace()
        var isScheduled = false
        /// Whether a commit is due that waits for nothing.
        var isUrgent = false

        /// Whether gathering more would help nobody: a batch is full, or somebody asks for more once this is stored.
        var isEnough: Bool {
            if drafts.count >= Batch.maximumCount || arrivals.count >= StorageLoop.enoughArrivals { return true }
            if arrivalBytes >= StorageLoop.enoughBytes { return true }
            if case .answered? = arrivals.last { return true }
            return false
        }

        /// - Returns: When to commit, in nanoseconds from now; `nil` if that is seen to.
        mutating func schedule(now: UInt64) -> UInt64? {
            let delay = isEnough ? 0 : pace.delay(now: now)
            if isUrgent || isScheduled && delay > 0 { return nil }
            isScheduled = true
            isUrgent = delay == 0
            return delay
        }
    }

    /// What peers sent, kept in order: an answer counts as complete only after its batches.
    private enum Arrival {
        case batch([UInt8], from: PeerID)
        case answered(Want, by: PeerID)
    }

    private static let enoughArrivals = 16  // batches
    private static let enoughBytes = 24 * 1024  // of batches; half a full one
    private static let answerLength = 1 << 20  // bytes sent for one request

    private let history: History
    private let room: RoomID
    private let me: PeerID
    private let transport: Transport
    private let intake: Intake
    private let waiting = Locked(Waiting())
    private let results = PublishSubject<RoomEvent>()
    private let notes = PublishSubject<String>()
    /// Why the last commit failed; `nil` if it didn't.
    private let failure = Locked<String?>(nil)
    private let serving: Serving<Want>

    init(_ history: History, room: RoomID, me: PeerID, transport: Transport, _ intake: Intake) {
        self.history = history
        self.room = room
        self.me = me
        self.transport = transport
        self.intake = intake
        history.queue.sync { [notes] in history.report = { notes.onNext($0) } }
        serving = Self.serving(history, transport, notes)
    }

    var events: Observable<RoomEvent> { results.asObservable() }

    /// Why nothing can be stored now; `nil` if something can, as far as is known.
    var trouble: String? { failure.withLock { $0 } }

    /// Lines for the log.
    var log: Observable<String> { notes.asObservable() }

    func perform(_ effect: RoomEffect) {
        switch effect {
        case .append(let drafts): enqueue { $0.drafts += drafts }
        case .store(let bytes, let peer):
            enqueue { waiting in
                waiting.arrivals.append(.batch(bytes, from: peer))
                waiting.arrivalBytes += bytes.count
            }
        case .settle(let want, let peer): enqueue { $0.arrivals.append(.answered(want, by: peer)) }
        case .serve(let want, let peer): serving.add(want, of: peer)
        case .remember(let peer, let record): enqueue { $0.records[peer] = record }
        case .judge(let peer, let record, let command):
            waiting.withLock { $0.records[peer] = nil }  // or it would undo the verdict
            history.queue.async { [self] in judge(peer, record, command) }
        case .note(let id, let state):
            if let outcome = ImageOutcome(state) {
                later { history throws(HistoryError) in try history.note(id, image: outcome) }
            }
        default: break
        }
    }

    /// Whatever comes while a commit is under way is in the next one, and where they are many, what comes soon.
    private func enqueue(_ add: (inout Waiting) -> Void) {
        let now = DispatchTime.now().uptimeNanoseconds
        let delay = waiting.withLock { waiting in
            add(&waiting)
            return waiting.schedule(now: now)
        }
        switch delay {
        case nil: break
        case 0?: history.queue.async { [self] in commit() }
        case let delay?:
            history.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay))) { [self] in commit() }
        }
    }

    /// Writes what waits; on the history's queue.
    func commit() {
        let now = DispatchTime.now().uptimeNanoseconds
        let batch = waiting.withLock { waiting in
            let batch = waiting
            waiting = Waiting()
            waiting.pace = batch.pace
            if batch.isScheduled { waiting.pace.began(now: now) }
            return batch
        }
        append(batch.drafts)
        store(batch.arrivals)
        remember(batch.records)
        for case .batch(let bytes, let peer) in batch.arrivals { intake.done(.batch(bytes), from: peer) }
    }

    private func append(_ drafts: [Draft]) {
        if drafts.isEmpty { return }
        do throws(HistoryError) {
            let (outcomes, batches) = try history.append(drafts.map(\.event), new: drafts.map(\.isNonceNew))
            let arrivals = batches.map { ($0.numbers, history.arrival(of: $0)) }
            var appended: [Appended] = []
            appended.reserveCapacity(drafts.count)
            for (draft, outcome) in zip(drafts, outcomes) {
                switch outcome {
                case .appended(let id, let number):
                    var entry = Appended(command: draft.command, id: id, number: number, isRepeated: false)
                    entry.arrival = arrivals.first { $0.0.contains(number) }.flatMap { numbers, first in
                        first.map { $0 + Int64(number - numbers.lowerBound) }
                    }
                    appended.append(entry)
                case .repeated(let id):
                    let number = history.line(id)?.number ?? 0
                    appended.append(Appended(command: draft.command, id: id, number: number, isRepeated: true))
                case .nonceTaken: results.onNext(.appendFailed([draft.command], .nonceTaken))
                }
            }
            results.onNext(.appended(appended, batches))
            tell(nil)
        } catch {
            tell(error)
            results.onNext(.appendFailed(drafts.map(\.command), .storage("\(error)")))
        }
    }

    /// Logs when storing begins to fail, and when it works again; every failure would fill the disk that is full.
    private func tell(_ error: HistoryError?) {
        let text = error.map { "\($0)" }
        let before = failure.withLock { failure in
            defer { failure = text }
            return failure
        }
        if let text, before == nil { notes.onNext("nothing can be stored: \(text)") }
        if text == nil, before != nil { notes.onNext("the history is stored again") }
    }

    private func store(_ arrivals: [Arrival]) {
        var verified: [(batch: Batch, peer: PeerID)] = []
        for arrival in arrivals {
            switch arrival {
            case .batch(let bytes, let peer):
                do throws(BatchError) {
                    verified.append((try Batch(verifying: bytes, in: room, reader: me), peer))
                } catch { results.onNext(.batchRefused(from: peer, error)) }
            case .answered(let want, let peer):
                store(verified)
                verified = []
                results.onNext(.answered(by: peer, want))
            }
        }
        store(verified)
    }

    private func store(_ batches: [(batch: Batch, peer: PeerID)]) {
        if batches.isEmpty { return }
        do throws(HistoryError) {
            let outcomes = try history.store(batches.map(\.batch))
            for ((batch, peer), outcome) in zip(batches, outcomes) {
                results.onNext(.stored(from: peer, [StoredBatch(batch: batch, result: outcome.result)]))
            }
            tell(nil)
        } catch { tell(error) }  // nothing of it is shown or counted; it is asked for again
    }

    private static func serving(
        _ history: History, _ transport: Transport, _ notes: PublishSubject<String>
    ) -> Serving<Want> {
        Serving(transport, over: .chat, on: history.queue) { want, peer in
            transport.send([SessionMessage.answered(want).frame], to: peer, over: .chat)
        } serve: { want, peer in
            var messages: [SessionMessage] = []
            do throws(HistoryError) {
                messages = try history.batches(of: want.log, covering: want.numbers, atMost: answerLength)
                    .map { .batch($0) }
            } catch { notes.onNext("a peer's request was not answered: \(error)") }
            transport.send((messages + [.answered(want)]).map(\.frame), to: peer, over: .chat)
        }
    }

    private func remember(_ records: [PeerID: PeerRecord]) {
        if records.isEmpty { return }
        do throws(HistoryError) {
            try history.remember(records)
            tell(nil)
        } catch { tell(error) }
    }

    private func judge(_ peer: PeerID, _ record: PeerRecord, _ command: CommandID) {
        do throws(HistoryError) {
            try history.remember(peer, record)
            results.onNext(.judged(command))
            tell(nil)
        } catch {
            tell(error)
            results.onNext(.appendFailed([command], .storage("\(error)")))
        }
    }

    private func later(_ work: @escaping @Sendable (History) throws(HistoryError) -> Void) {
        history.queue.async { [self] in
            do throws(HistoryError) { try work(history) } catch { tell(error) }
        }
    }
}

extension StoreResult {
    fileprivate var result: StoredBatch.Result {
        switch self {
        case .stored(let news): .stored(news)
        case .known: .known
        case .gap: .gap
        case .forked: .forked
        }
    }
}

extension ImageOutcome {
    /// How it is kept that this host's user cancelled.
    static let cancelled = "cancelled"

    /// What of an image's state outlasts this run.
    init?(_ state: ImageState) {
        switch state {
        case .sent: self = .sent
        case .received(let path): self = .received(path)
        case .refused(let reason): self = .refused(reason)
        case .failed(let reason): self = .failed(reason)
        case .cancelled: self = .failed(Self.cancelled)
        case .sending, .receiving, .waiting: return nil
        }
    }
}

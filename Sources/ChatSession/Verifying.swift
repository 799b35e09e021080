public import ChatModel
import Dispatch
import History
public import Identity
import Locking
public import Rx

/// Whether all linked members hold the same messages as this host.
public struct VerifyReport: Hashable, Sendable {
    /// How many messages this host held when it asked.
    public var messages: UInt64
    /// Those who hold the same.
    public var agreed: [PeerID] = []
    /// Those who don't; what differs.
    public var differing: [PeerID: [Difference]] = [:]
    /// Those who didn't answer in time.
    public var silent: [PeerID] = []
    /// Logs that weren't compared: their authors gave one number to two events.
    public var forked: [LogID] = []
}

extension SessionContainer {
    /// Asks all linked peers what is on their disks, and compares that with ours.
    ///
    /// What is on its way when it is asked gets time to arrive; what is said later doesn't count.
    ///
    /// - Parameter limit: In milliseconds.
    /// - Returns: A cold sequence of one report; fails with `HistoryError`.
    public func verify(within limit: Int) -> Observable<VerifyReport> {
        .create { [self] observer in
            let verification = Verification(self, within: limit) { result in
                switch result {
                case .success(let report):
                    observer.onNext(report)
                    observer.onCompleted()
                case .failure(let error): observer.onError(error)
                }
            }
            verification.start()
            return Disposables.create { verification.stop() }
        }
    }
}

/// One comparison with all who are linked, in rounds until all agree or the time is over.
///
/// `@unchecked`: everything is only touched on `queue`.
private final class Verification: @unchecked Sendable {
    /// What one peer has answered.
    private struct Answer {
        /// What the pages answer, and the pages of the answer that is coming.
        var question: UInt64?
        var pages: [Verified.Entry] = []
        /// The first whole answer: what we have to have too.
        var first: [Verified.Entry]?
        var lackedThere: [Difference] = []
        var lackedHere: [Difference] = []
        /// Whether it has all that we had.
        var isComplete = false
        var agrees: Bool { isComplete && lackedHere.isEmpty }
    }

    private static let pause = 250  // milliseconds between two rounds
    private static let pageLimit = 65_536  // logs of one answer

    private let session: SessionContainer
    private let history: History
    private let limit: Int  // milliseconds, from when our own disk has been read
    private let queue = DispatchQueue(label: "chat.session.verify")
    private var end: ((Result<VerifyReport, any Error>) -> Void)?
    private var subscription: (any Disposable)?
    /// What this host had at the start.
    private var ours: [LogID: EventRanges] = [:]
    private var forked: Set<LogID> = []
    private var blocked: Set<PeerID> = []
    private var answers: [PeerID: Answer] = [:]
    private var questions: Set<UInt64> = []
    private var isWaiting = false

    init(
        _ session: SessionContainer, within limit: Int,
        end: @escaping @Sendable (Result<VerifyReport, any Error>) -> Void
    ) {
        self.session = session
        history = session.parts.history
        self.limit = limit
        self.end = end
    }

    func start() {
        subscription = session.verifications.subscribe(onNext: { [weak self] effect in
            guard let self else { return }
            queue.async { self.take(effect) }
        })
        queue.async { [self] in
            do {
                try history.queue.sync {
                    blocked = Set(history.knownPeers().filter { $0.record.verdict == .blocked }.map(\.peer))
                    let all = try history.rangesOnDisk().filter { !blocked.contains($0.key.author) }
                    forked = Set(all.keys.filter { history.isForked($0) })
                    ours = all.filter { !forked.contains($0.key) }
                }
                // The others read their disks at the same time.
                ask(nil)
                try session.parts.audit.run()
                ours = try history.queue.sync { try history.withoutDamage(ours) }
            } catch { return finish(.failure(error)) }
            queue.asyncAfter(deadline: .now() + .milliseconds(limit)) { [self] in timeIsOver() }
        }
    }

    private func timeIsOver() {
        if end == nil { return }
        do { try compareHere() } catch { return finish(.failure(error)) }
        report()
    }

    func stop() {
        queue.async { [self] in
            end = nil
            subscription?.dispose()
        }
    }

    private func finish(_ result: Result<VerifyReport, any Error>) {
        end?(result)
        end = nil
        subscription?.dispose()
    }

    private func ask(_ peers: Set<PeerID>?) {
        let question = UInt64.random(in: .min ... .max)
        questions.insert(question)
        session.commands.onNext(.verify(question, peers))
    }

    private func take(_ effect: RoomEffect) {
        if end == nil { return }
        switch effect {
        case .asked(let question, let peers) where questions.contains(question):
            for peer in peers where answers[peer] == nil { answers[peer] = Answer() }
            // A peer that answered somebody here a moment ago drops the question.
            if answers.isEmpty { report() } else { waitForRound() }
        case .verified(let peer, let page) where questions.contains(page.question): take(page, from: peer)
        default: break
        }
    }

    private func take(_ page: Verified, from peer: PeerID) {
        guard let answer = answers[peer], answer.pages.count < Self.pageLimit, !answer.isComplete else { return }
        if answer.question != page.question {
            answers[peer]?.question = page.question
            answers[peer]?.pages = []
        }
        answers[peer]?.pages += page.entries
        if page.isContinued { return }
        do { try compare(peer) } catch { return finish(.failure(error)) }
        if answers.values.allSatisfy(\.isComplete) { goOn() } else { waitForRound() }
    }

    /// Looks what a peer's whole answer lacks of what we had.
    private func compare(_ peer: PeerID) throws {
        guard var answer = answers[peer] else { return }
        let theirs = answer.pages
        answer.pages = []
        answer.first = answer.first ?? theirs
        forked.formUnion(theirs.filter(\.isForked).map(\.have.log))
        answer.lackedThere = try history.queue.sync {
            try Comparison.missing(of: ours, in: theirs) { try history.id(of: $1, in: $0) }
        }
        answer.isComplete = answer.lackedThere.isEmpty
        answers[peer] = answer
    }

    /// Looks whether what others had when they answered first has come here too.
    private func compareHere() throws {
        let now = try history.queue.sync { try history.withoutDamage(history.rangesOnDisk()) }
        for (peer, answer) in answers {
            answers[peer]?.lackedHere = Comparison.missing(here: now, of: answer.first ?? []) { log in
                log.isForRoom && !forked.contains(log) && !blocked.contains(log.author)
            }
        }
    }

    /// All have what we had: now we have to have what they had.
    private func goOn() {
        do { try compareHere() } catch { return finish(.failure(error)) }
        if answers.values.allSatisfy(\.agrees) { report() } else { waitForRound() }
    }

    private func waitForRound() {
        if isWaiting { return }
        isWaiting = true
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.pause)) { [self] in
            isWaiting = false
            if end == nil { return }
            // Who has left meanwhile is nobody to agree with.
            let linked = linked
            answers = answers.filter { linked.contains($0.key) }
            let behind = Set(answers.filter { !$0.value.isComplete }.keys)
            if behind.isEmpty { return goOn() }
            ask(behind)
            waitForRound()
        }
    }

    private var linked: Set<PeerID> { Set(session.peers.filter { $0.state == .connected }.map(\.peer)) }

    private func report() {
        var report = VerifyReport(
            messages: ours.values.reduce(0) { $0 + $1.count },
            forked: forked.sorted { $0.author < $1.author })
        for (peer, answer) in answers.sorted(by: { $0.key < $1.key }) {
            if answer.agrees {
                report.agreed.append(peer)
            } else if answer.first == nil {
                report.silent.append(peer)
            } else {
                report.differing[peer] = answer.lackedThere + answer.lackedHere
            }
        }
        finish(.success(report))
    }
}

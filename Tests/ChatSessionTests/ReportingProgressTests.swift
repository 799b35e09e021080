import ChatSession
import Foundation
import Locking
import ResourceCounting
import Rx
import Testing

/// What `changed` told: counts, then how it ended.
private final class Steps: Sendable {
    private let seen = Locked<[String]>([])
    let bag = DisposeBag()

    init(_ progress: ReportingProgress) {
        progress.changed.subscribe(
            onNext: { [seen] step in seen.withLock { $0.append("\(step.completedUnitCount)") } },
            onError: { [seen] error in seen.withLock { $0.append("error \(error)") } },
            onCompleted: { [seen] in seen.withLock { $0.append("completed") } }
        ).disposed(by: bag)
    }

    var all: [String] { seen.withLock { $0 } }
}

@Suite(.countsResources) struct ReportingProgressTests {
    @Test func `B54 the last step completes instead of being one more step`() {
        let progress = ReportingProgress(totalUnitCount: 3)
        let steps = Steps(progress)

        for count in 1...3 { progress.completedUnitCount = Int64(count) }

        #expect(steps.all == ["1", "2", "completed"])
        #expect(progress.isComplete)
        #expect(progress.snapshot.fractionCompleted == 1)
    }

    @Test func `B54 nothing follows a cancel, and two cancels are one error`() {
        let progress = ReportingProgress(totalUnitCount: 3)
        let steps = Steps(progress)

        progress.completedUnitCount = 1
        progress.cancel()
        progress.cancel()
        progress.completedUnitCount = 2

        #expect(steps.all == ["1", "error cancelled"])
        #expect(progress.isCancelled)
        #expect(progress.completedUnitCount == 1)
    }

    @Test func `B54 a late subscriber learns the ending at once`() {
        let finished = ReportingProgress(totalUnitCount: 1)
        finished.completedUnitCount = 1
        let cancelled = ReportingProgress(totalUnitCount: 1)
        cancelled.cancel()
        let failed = ReportingProgress(totalUnitCount: 1)
        failed.fail("disk full")

        #expect(Steps(finished).all == ["completed"])
        #expect(Steps(cancelled).all == ["error cancelled"])
        #expect(Steps(failed).all == ["error disk full"])
    }

    @Test func `B54 a last step of one in five thousand million still completes`() {
        let progress = ReportingProgress(totalUnitCount: 5_000_000_000)
        progress.completedUnitCount = 4_999_999_999
        let steps = Steps(progress)

        progress.completedUnitCount += 1

        #expect(steps.all == ["completed"])
    }

    @Test func `B54 cancelling one part leaves the whole and its other parts running`() {
        let parts = (0..<3).map { _ in ReportingProgress(totalUnitCount: 10) }
        let whole = ReportingProgress(of: parts)
        let steps = Steps(whole)

        parts[0].cancel()
        parts[1].completedUnitCount = 4

        #expect(!whole.isOver)
        #expect(!parts[1].isOver && !parts[2].isOver)
        #expect(steps.all == ["4"])
    }

    @Test func `B54 cancelling the whole cancels the parts that are still running`() {
        let parts = (0..<3).map { _ in ReportingProgress(totalUnitCount: 10) }
        let whole = ReportingProgress(of: parts)
        parts[0].completedUnitCount = 10

        whole.cancel()

        #expect(whole.isCancelled)
        #expect(parts[0].isComplete && !parts[0].isCancelled)
        #expect(parts[1].isCancelled && parts[2].isCancelled)
    }

    @Test func `the whole completes when all parts ended and one is verified`() {
        let parts = (0..<3).map { _ in ReportingProgress(totalUnitCount: 10, waitsForFinish: true) }
        let whole = ReportingProgress(of: parts)
        let steps = Steps(whole)

        parts[0].fail("bob: disk full")
        parts[1].cancel()
        parts[2].completedUnitCount = 10
        #expect(!whole.isOver)
        parts[2].finish()

        #expect(whole.isComplete)
        #expect(whole.snapshot.fractionCompleted == 1)
        #expect(steps.all.last == "completed")
    }

    @Test func `the whole fails when every part failed, and is cancelled when every part was`() {
        let failing = (0..<2).map { _ in ReportingProgress(totalUnitCount: 10) }
        let failed = ReportingProgress(of: failing)
        failing[0].fail("disk full")
        failing[1].cancel()
        #expect(failed.failure == .failed("disk full; cancelled"))

        let cancelling = (0..<2).map { _ in ReportingProgress(totalUnitCount: 10) }
        let cancelled = ReportingProgress(of: cancelling)
        for part in cancelling { part.cancel() }
        #expect(cancelled.failure == .cancelled)
    }

    @Test func `with nobody to receive, the whole is complete at once`() {
        #expect(ReportingProgress(of: []).isComplete)
    }

    @Test func `B05 a transfer of no bytes completes`() {
        #expect(Steps(ReportingProgress(totalUnitCount: 0)).all == ["completed"])

        let verified = ReportingProgress(totalUnitCount: 0, waitsForFinish: true)
        let steps = Steps(verified)
        #expect(steps.all == [])
        #expect(verified.snapshot.fractionCompleted == 0)
        verified.finish()
        #expect(steps.all == ["completed"])
        #expect(verified.snapshot.fractionCompleted == 1)
    }

    @Test func `B06 the total can't be changed, and a count beyond it is its end`() {
        let progress = ReportingProgress(totalUnitCount: 10)
        progress.totalUnitCount = 0  // traps in Foundation on Linux
        #expect(progress.totalUnitCount == 10)

        progress.completedUnitCount = 15

        #expect(progress.completedUnitCount == 10)
        #expect(progress.isComplete)
        #expect(progress.snapshot.fractionCompleted == 1)
    }
}

import ChatModel
import Identity

/// Which of an author's drafts are new, and what becomes of each.
struct AppendPlan {
    private enum Fate {
        case fresh(index: Int)
        case repeats(index: Int)
        case decided(AppendResult)
    }

    /// Those to append, each nonce once.
    private(set) var fresh: [BatchEvent] = []
    /// For each of these whether nobody can come with its nonce again.
    private(set) var isNew: [Bool] = []
    private var fates: [Fate] = []

    /// `known` finds the event that was stored earlier under a nonce.
    init(
        _ drafts: [BatchEvent], new: [Bool] = [],
        known: (Nonce) throws(HistoryError) -> (id: EventID, event: BatchEvent)?
    ) throws(HistoryError) {
        var places: [Nonce: Int] = [:]
        for (index, draft) in drafts.enumerated() {
            if new.indices.contains(index), new[index] {
                fates.append(.fresh(index: fresh.count))
                fresh.append(draft)
                isNew.append(true)
            } else if let earlier = try known(draft.nonce) {
                fates.append(.decided(draft.says(earlier.event) ? .repeated(earlier.id) : .nonceTaken))
            } else if let place = places[draft.nonce] {
                fates.append(draft.says(fresh[place]) ? .repeats(index: place) : .decided(.nonceTaken))
            } else {
                places[draft.nonce] = fresh.count
                fates.append(.fresh(index: fresh.count))
                fresh.append(draft)
                isNew.append(false)
            }
        }
    }

    func sealed(in log: LogID, of room: RoomID, after head: LogHead, with key: SigningKey) -> [Batch] {
        var batches: [Batch] = []
        var rest = fresh[...]
        while !rest.isEmpty {
            let count = Batch.fitting(rest)
            precondition(count > 0, "an event longer than a batch")
            batches.append(
                Batch(
                    sealing: Array(rest.prefix(count)), in: log, of: room, first: (batches.last?.last ?? head.last) + 1,
                    previous: batches.last?.lastID ?? head.lastID, with: key))
            rest = rest.dropFirst(count)
        }
        return batches
    }

    /// What to answer, in the drafts' order, now that ``fresh`` got these ids and the numbers after `last`.
    func results(ids: [EventID], after last: UInt64) -> [AppendResult] {
        fates.map { fate in
            switch fate {
            case .fresh(let index): .appended(ids[index], number: last + UInt64(index) + 1)
            case .repeats(let index): .repeated(ids[index])
            case .decided(let result): result
            }
        }
    }
}

extension BatchEvent {
    fileprivate func says(_ other: BatchEvent) -> Bool { kind == other.kind && content == other.content }
}

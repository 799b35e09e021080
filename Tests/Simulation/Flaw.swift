/// A bug that is planted on purpose, to prove that a simulation would see it.
///
/// All are in the simulation's own loops and stores, or change what the room asks of them.
public enum Flaw: String, CaseIterable, Sendable {
    // Commits
    /// An own event is acknowledged and pushed before it is on the disk.
    case acknowledgedBeforeCommit
    /// An own batch is sent to peers before it is on the disk.
    case pushedBeforeCommit
    /// A peer's event is shown and confirmed before it is on the disk.
    case shownBeforeCommit
    /// A commit returns without having reached the disk.
    case unsyncedCommit
    /// A crash loses whether a nonce was used.
    case forgottenNonce
    /// A nonce with another text is taken for the same message.
    case confusedNonce
    /// Drafts that come while a commit is under way are dropped.
    case droppedDraft

    // Logs
    /// What is there already counts as new.
    case noDeduplication
    /// A batch that contradicts ours counts as known.
    case ignoredFork
    /// A seal is never looked at.
    case unverifiedSeal
    /// A part of a batch is kept under the whole batch's seal.
    case keptInnerSeal
    /// What is beyond a gap is stored, and the gap forgotten.
    case forgottenGap
    /// A batch that overlaps what is there is stored as a whole.
    case storedOverlap
    /// Lines of one time stand as they came.
    case wrongTieBreak
    /// A restored database goes on numbering where it was.
    case forgottenBirth

    // Starting
    /// The first own event waits for nobody's word.
    case hastyAppend
    /// The latest event is not known after a restart.
    case staleHead
    /// The clock starts anew with every process.
    case staleClock
    /// A clock from far ahead is believed.
    case unboundedClock

    // Talking
    /// What was asked for once is never asked for again.
    case lostWantRetry
    /// What is missing before what is there is never asked for.
    case lostFill
    /// The last batch of an answer is left out.
    case shortAnswer
    /// A bit of what is sent from the disk is wrong.
    case rottenAnswer
    /// The proof of a fork is kept to oneself.
    case unsentProof
    /// More is claimed than is there.
    case boastfulHave
    /// What others have is only learnt when a link comes up.
    case lostHaveUpdate
    /// The end of a link goes unnoticed.
    case lostLinkDown
}

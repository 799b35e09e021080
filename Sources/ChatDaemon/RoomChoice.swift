import ChatModel
import Rx

/// Whether a room can be entered under a name, as two chains: what to enter, and what to complain about.
///
/// A view model as a function: inputs and outputs are sequences, and nothing is kept.
///
/// - Parameters:
///   - displayName: The name as it is chosen.
///   - serviceType: The room as it is chosen, in lower case.
///   - done: Each element means that the choice stands.
/// - Returns: For each `done` an element of one of the two, once both names have been chosen.
func canCreateChatRoom(
    displayName: Observable<String>, serviceType: Observable<String>, done: Observable<Void>
) -> (create: Observable<Membership>, complaint: Observable<String>) {
    let chosen = done.withLatestFrom(
        Observable.combineLatest(displayName, serviceType) { Membership(room: $1, name: $0) })
    return (
        create: chosen.filter { Names.isValid(displayName: $0.name, serviceType: $0.room) },
        complaint: chosen.compactMap { Names.complaint(room: $0.room) ?? Names.complaint(displayName: $0.name) }
    )
}

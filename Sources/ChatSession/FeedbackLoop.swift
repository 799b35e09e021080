import ChatModel
import Rx

/// A part of the outside world: carries out the effects that concern it, and tells what happened.
protocol FeedbackLoop: Sendable {
    /// Delivered from any thread; never fails.
    var events: Observable<RoomEvent> { get }

    /// Called on the session's queue: must not wait. Ignores effects that are others' to carry out.
    func perform(_ effect: RoomEffect)
}

extension FeedbackLoop {
    /// The form that ``Rx/ObservableType/system(initialState:reduce:scheduler:feedback:)`` takes.
    var feedback: @Sendable (Observable<RoomEffect>) -> Observable<RoomEvent> {
        { effects in
            .create { observer in
                // Events first, so that the answer to the first effect finds somebody.
                let answers = events.subscribe(observer)
                return Disposables.create(answers, effects.subscribe(onNext: perform))
            }
        }
    }
}

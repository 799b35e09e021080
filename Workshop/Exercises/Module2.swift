// Module 2: binding to a view (docs/workshop.md). A view model is functions: inputs are sequences, so is each output.
import Dispatch
public import Rx

/// A view with something to show; any thread may ask it.
public protocol TitledView: AnyObject, Sendable {
    func show(title: String)
}

/// 2.1 Whether the send button is enabled: there is a text other than spaces, and somebody is connected.
///
/// Sends changes only.
public func sendEnabled(text: Observable<String>, peers: Observable<Int>) -> Observable<Bool> {
    .never()
}

/// 2.2 The texts to send: what stands in the field at each tap, if it isn't empty.
public func textSent(text: Observable<String>, taps: Observable<Void>) -> Observable<String> {
    .never()
}

/// 2.3 What the field shall show from outside: nothing, after each text that was sent.
public func textCleared(sent: Observable<String>) -> Observable<String> {
    .never()
}

/// 2.4 Drafts to keep: the text once nobody has typed for 2 seconds, and only if it isn't the last draft again.
public func drafts(text: Observable<String>, on scheduler: any SchedulerType) -> Observable<String> {
    .never()
}

/// 2.5 The title, such as "3 peers", "1 peer" or "alone", for several views at once; "offline" after an error.
///
/// Delivered on the scheduler; the source is subscribed to once.
public func title(peers: Observable<Int>, on scheduler: any SchedulerType) -> Driver<String> {
    .never(on: scheduler)
}

/// 2.6 An observer that shows a view's title on the scheduler, and doesn't keep the view alive.
public func titleBinder<View: TitledView>(of view: View, on scheduler: any SchedulerType) -> Binder<String> {
    Binder(view, scheduler: scheduler) { _, _ in }
}

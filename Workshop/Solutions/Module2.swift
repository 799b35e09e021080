import Dispatch
public import Rx

public protocol TitledView: AnyObject, Sendable {
    func show(title: String)
}

public func sendEnabled(text: Observable<String>, peers: Observable<Int>) -> Observable<Bool> {
    Observable.combineLatest(text, peers) { text, peers in text.contains { $0 != " " } && peers > 0 }
        .distinctUntilChanged()
}

public func textSent(text: Observable<String>, taps: Observable<Void>) -> Observable<String> {
    taps.withLatestFrom(text).filter { !$0.isEmpty }
}

public func textCleared(sent: Observable<String>) -> Observable<String> { sent.map { _ in "" } }

public func drafts(text: Observable<String>, on scheduler: any SchedulerType) -> Observable<String> {
    text.debounce(.seconds(2), scheduler: scheduler).distinctUntilChanged()
}

public func title(peers: Observable<Int>, on scheduler: any SchedulerType) -> Driver<String> {
    peers.map { count in
        switch count {
        case 0: "alone"
        case 1: "1 peer"
        default: "\(count) peers"
        }
    }
    .asDriver(onErrorJustReturn: "offline", on: scheduler)
}

public func titleBinder<View: TitledView>(of view: View, on scheduler: any SchedulerType) -> Binder<String> {
    Binder(view, scheduler: scheduler) { view, title in view.show(title: title) }
}

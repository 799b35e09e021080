/// A sequence that is also an observer: it passes on what it is sent.
public protocol SubjectType: ObservableType {
    associatedtype Observer: ObserverType
    func asObserver() -> Observer
}

import Control
import Rx

/// Paging through the transcript, the newest lines first: a state, what happens to it, and two loops.
///
/// Only pages that somebody scrolled to are loaded.
enum LogPaging {
    /// Where a page begins.
    enum Offset: Hashable, Sendable {
        case newest
        /// At the line before this event's.
        case before(String)
    }

    struct State: Equatable, Sendable {
        /// The newest first.
        var models: [LineView] = []
        /// `nil` once the beginning is there.
        var nextPageOffset: Offset? = .newest
        var shouldLoadNextPage = true
        /// Why the last page didn't come.
        var failure: CommandFailure?
        /// In lines; so many stay loaded ahead of what is seen.
        let pageSize: Int

        init(pageSize: Int) { self.pageSize = pageSize }

        /// The page to load now.
        var fetchOffset: Offset? { shouldLoadNextPage ? nextPageOffset : nil }
    }

    enum Event: Sendable {
        /// The oldest line that is seen, as an index into the models.
        case scrolledTo(Int)
        case response(LogResult)
        case error(CommandFailure)
    }

    static func reduce(_ state: State, _ event: Event) -> State {
        var state = state
        switch event {
        case .scrolledTo(let index):
            if index + state.pageSize >= state.models.count { state.shouldLoadNextPage = true }
        case .response(let page):
            // What this host said before the oldest stored line comes with the page that ends there.
            let lines = page.lines.drop { page.earlier != nil && $0.id == nil }
            state.models += lines.reversed()
            state.nextPageOffset = page.earlier.map(Offset.before)
            state.shouldLoadNextPage = false
            state.failure = nil
        case .error(let failure):
            state.failure = failure
            state.shouldLoadNextPage = false
        }
        return state
    }

    /// The states as somebody pages.
    ///
    /// - Parameters:
    ///   - start: Usually ``State/init(pageSize:)``.
    ///   - scheduler: Where all of it happens; must run one thing after the other.
    ///   - view: Shows the states, and tells where it was scrolled to.
    ///   - load: Loads a page, and answers with a response or an error.
    /// - Returns: A cold sequence; it never ends by itself.
    static func states(
        from start: State, scheduler: any ImmediateSchedulerType, view: @escaping Feedback<State, Event>,
        load: @escaping @Sendable (Offset) -> Observable<Event>
    ) -> Observable<State> {
        Observable.system(
            initialState: start, reduce: reduce, scheduler: scheduler,
            feedback: view, react(request: { $0.fetchOffset }, effects: load))
    }
}

extension ControlClient {
    /// One page of the transcript; lets go of the answer when it is disposed of.
    func page(_ offset: LogPaging.Offset, of wanted: LogParameters, count: Int) -> Observable<LogPaging.Event> {
        .create { observer in
            var parameters = wanted
            parameters.count = count
            if case .before(let id) = offset { parameters.before = id }
            self.request(.log, parameters) { result in
                switch result {
                case .success(let page): observer.onNext(.response(page))
                case .failure(let failure): observer.onNext(.error(failure))
                }
                observer.onCompleted()
            }
            return Disposables.create()
        }
    }
}

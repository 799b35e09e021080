import Dispatch
public import Rx

public struct TimedOut: Error {
    public init() {}
}

public protocol Connection: Sendable {
    func send(_ text: String)
    var answers: Observable<String> { get }
    func close()
}

public func profile(name: Observable<String>, posts: Observable<Int>) -> Observable<String> {
    Observable.zip(name, posts) { "\($0): \($1) posts" }
}

public func impatient(_ request: Observable<String>, on scheduler: any SchedulerType) -> Observable<String> {
    request.timeout(.seconds(5), other: Observable<String>.error(TimedOut()), scheduler: scheduler)
}

public func persistent(_ request: Observable<String>, on scheduler: any SchedulerType) -> Observable<String> {
    request.retry { (errors: Observable<any Error>) in
        errors.enumerated().flatMap { index, error -> Observable<Int> in
            index < 3 ? .timer(.seconds(1 << index), scheduler: scheduler) : .error(error)
        }
    }
}

public func talk(
    _ texts: Observable<String>, over open: @escaping @Sendable () throws -> any Connection
) -> Observable<String> {
    Resource(acquire: open, release: { $0.close() }).values(taking: texts, by: { $0.send($1) }) { $0.answers }
}

public func authorized(
    by tokens: AcquisitionService<String>, _ request: @escaping @Sendable (String) -> Observable<String>
) -> Observable<String> {
    tokens.request(isWornOut: { ($0 as? Status)?.code == 401 }, request)
}

public struct Status: Error, Equatable {
    public let code: Int
    public init(_ code: Int) { self.code = code }
}

public struct Pages: Sendable, Equatable {
    public var items: [String] = []
    public var next: Int? = 1
    public var isLoading = true
    public init() {}
}

private enum Happening: Sendable { case scrolledToEnd, loaded([String]) }

public func pages(
    scrolledToEnd: Observable<Void>, on scheduler: any SchedulerType,
    load: @escaping @Sendable (Int) -> Observable<[String]>
) -> Observable<Pages> {
    Observable.system(
        initialState: Pages(), reduce: reduce, scheduler: scheduler,
        feedback: { _ in scrolledToEnd.map { Happening.scrolledToEnd }.concat(.never()) },
        react(request: { $0.isLoading ? $0.next : nil }, effects: { load($0).map(Happening.loaded) }))
}

@Sendable private func reduce(_ state: Pages, _ happening: Happening) -> Pages {
    var state = state
    switch happening {
    case .scrolledToEnd: state.isLoading = state.next != nil
    case .loaded(let items):
        state.items += items
        state.next = items.isEmpty ? nil : state.next.map { $0 + 1 }
        state.isLoading = false
    }
    return state
}

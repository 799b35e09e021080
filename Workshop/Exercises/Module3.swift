// Module 3: reactive networking (docs/workshop.md). No network: the tests answer.
import Dispatch
public import Rx

/// A request that took too long.
public struct TimedOut: Error {
    public init() {}
}

/// A connection that somebody has to close.
public protocol Connection: Sendable {
    func send(_ text: String)
    var answers: Observable<String> { get }
    func close()
}

/// 3.1 A profile line of two requests that run side by side, such as "Ada: 3 posts"; fails with the first that does.
public func profile(name: Observable<String>, posts: Observable<Int>) -> Observable<String> {
    .never()
}

/// 3.2 The request's answer, or after 5 seconds without one the error ``TimedOut``.
public func impatient(_ request: Observable<String>, on scheduler: any SchedulerType) -> Observable<String> {
    .never()
}

/// 3.3 Tries a request that fails again after 1, 2 and 4 seconds; its fourth error is the result's.
public func persistent(_ request: Observable<String>, on scheduler: any SchedulerType) -> Observable<String> {
    .never()
}

/// 3.4 Says something over a connection of its own and gives its answers, and closes it whatever ends them.
public func talk(
    _ texts: Observable<String>, over open: @escaping @Sendable () throws -> any Connection
) -> Observable<String> {
    .never()
}

/// 3.5 An answer that needs a token: one that is worn out fails with 401, and then all wait for one new token.
public func authorized(
    by tokens: AcquisitionService<String>, _ request: @escaping @Sendable (String) -> Observable<String>
) -> Observable<String> {
    .never()
}

/// How a server says no.
public struct Status: Error, Equatable {
    public let code: Int
    public init(_ code: Int) { self.code = code }
}

/// What a list of pages is made of.
public struct Pages: Sendable, Equatable {
    public var items: [String] = []
    /// The number of the page to load next, `nil` after the last.
    public var next: Int? = 1
    public var isLoading = true
    public init() {}
}

/// 3.6 The states of a list: the first page is loaded at once, each further one when somebody scrolled to the end.
///
/// A page without items is after the last one. Write it as a feedback system: what happens, how the state changes, and a
/// loop that loads while the state says so.
public func pages(
    scrolledToEnd: Observable<Void>, on scheduler: any SchedulerType,
    load: @escaping @Sendable (Int) -> Observable<[String]>
) -> Observable<Pages> {
    .never()
}

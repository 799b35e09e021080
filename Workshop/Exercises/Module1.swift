// Module 1: operators (docs/workshop.md). Each function's comment says what it shall do.
import Dispatch
public import Rx

/// 1.1 Sends what was found for the latest query; what an older one still finds is left out.
public func search(
    _ queries: Observable<String>, find: @escaping @Sendable (String) -> Observable<[String]>
) -> Observable<[String]> {
    .never()
}

/// 1.2 Loads on a tap; taps while it loads mean nothing.
public func refreshes(
    _ taps: Observable<Void>, load: @escaping @Sendable () -> Observable<String>
) -> Observable<String> {
    .never()
}

/// 1.3 Uploads files in their order, one after the other, and sends each one's receipt.
public func uploads(
    _ files: Observable<String>, upload: @escaping @Sendable (String) -> Observable<String>
) -> Observable<String> {
    .never()
}

/// 1.4 Sends one word a second, the first after a second.
public func slowly(_ words: Observable<String>, on scheduler: any SchedulerType) -> Observable<String> {
    .never()
}

/// 1.5 Counts from 0: one up for each `plus`, one down for each `minus`, to 0 with `reset`; sends each count.
///
/// Make one sequence of an enum of actions first.
public func counter(
    plus: Observable<Void>, minus: Observable<Void>, reset: Observable<Void>
) -> Observable<Int> {
    .never()
}

/// 1.6 Sends a greeting such as "hello, Ada Lovelace" whenever one of the names changes.
///
/// The greeting is "hello" as long as nobody said which to use.
public func salutation(
    greeting: Observable<String>, first: Observable<String>, last: Observable<String>
) -> Observable<String> {
    .never()
}

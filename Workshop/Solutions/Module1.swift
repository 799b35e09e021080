import Dispatch
public import Rx

public func search(
    _ queries: Observable<String>, find: @escaping @Sendable (String) -> Observable<[String]>
) -> Observable<[String]> {
    queries.flatMapLatest(find)
}

public func refreshes(
    _ taps: Observable<Void>, load: @escaping @Sendable () -> Observable<String>
) -> Observable<String> {
    taps.flatMapFirst { load() }
}

public func uploads(
    _ files: Observable<String>, upload: @escaping @Sendable (String) -> Observable<String>
) -> Observable<String> {
    files.concatMap(upload)
}

public func slowly(_ words: Observable<String>, on scheduler: any SchedulerType) -> Observable<String> {
    Observable.zip(words, Observable<Int>.interval(.seconds(1), scheduler: scheduler)) { word, _ in word }
}

private enum Action: Sendable { case plus, minus, reset }

public func counter(
    plus: Observable<Void>, minus: Observable<Void>, reset: Observable<Void>
) -> Observable<Int> {
    Observable.merge(plus.map { Action.plus }, minus.map { Action.minus }, reset.map { Action.reset })
        .scan(0) { count, action in
            switch action {
            case .plus: count + 1
            case .minus: count - 1
            case .reset: 0
            }
        }
}

public func salutation(
    greeting: Observable<String>, first: Observable<String>, last: Observable<String>
) -> Observable<String> {
    Observable.combineLatest(greeting.startWith("hello"), first, last) { "\($0), \($1) \($2)" }
}

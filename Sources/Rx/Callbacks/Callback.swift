// Callbacks come in four kinds; docs/callbacks.md says which of these is for which.

extension ObservableType {
    /// What a callback is passed: the kind that tells something and wants no answer.
    ///
    /// - Parameter register: Sets the callback up for one subscription, and returns what takes it away again. The callback
    ///   may be called on any thread, inside `register` too. What this throws is the sequence's error.
    /// - Returns: A cold sequence, delivered where the callback is called; it never completes by itself.
    public static func callback(
        _ register: @escaping @Sendable (_ callback: @escaping @Sendable (Element) -> Void) throws -> any Disposable
    ) -> Observable<Element> {
        .create { observer in
            do {
                return try register { observer.onNext($0) }
            } catch {
                observer.onError(error)
                return Disposables.create()
            }
        }
    }
}

/// What a callback returns: the kind that is passed nothing and wants a value at once.
///
/// Whoever calls gets the latest value that was bound, before the first one the default.
public final class CallbackValue<Value: Sendable>: Sendable {
    private let relay: BehaviorRelay<Value>

    /// Makes an answer.
    ///
    /// - Parameter default: What the caller would use without a callback.
    public init(default: Value) { relay = BehaviorRelay(value: `default`) }

    /// Takes the values to answer with, on the thread that sends them.
    ///
    /// Doesn't keep this object.
    public var binder: Binder<Value> {
        Binder(relay, scheduler: CurrentThreadScheduler.instance) { relay, value in relay.accept(value) }
    }

    /// Answers; from any thread.
    public func callAsFunction() -> Value { relay.value }
}

/// What a callback returns for what it is passed: the kind that asks a question out of a set that is known before.
///
/// Whoever calls gets the answer from the latest dictionary that was bound, the default for a question that isn't in it.
public final class CallbackAnswers<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
    private let relay: BehaviorRelay<[Question: Answer]>
    private let asked = PublishRelay<Question>()
    private let fallback: @Sendable (Question) -> Answer

    /// Makes answers.
    ///
    /// - Parameters:
    ///   - answers: Those known from the start.
    ///   - default: Answers what isn't known, as the caller would without a callback.
    public init(_ answers: [Question: Answer] = [:], default: @escaping @Sendable (Question) -> Answer) {
        relay = BehaviorRelay(value: answers)
        fallback = `default`
    }

    /// Takes all answers anew, on the thread that sends them.
    ///
    /// Doesn't keep this object.
    public var binder: Binder<[Question: Answer]> {
        Binder(relay, scheduler: CurrentThreadScheduler.instance) { relay, answers in relay.accept(answers) }
    }

    /// The questions that had no answer but the default, so that somebody can think about them; hot.
    public var unanswered: Observable<Question> { asked.asObservable() }

    /// Answers; from any thread.
    public func callAsFunction(_ question: Question) -> Answer {
        if let answer = relay.value[question] { return answer }
        asked.accept(question)
        return fallback(question)
    }
}

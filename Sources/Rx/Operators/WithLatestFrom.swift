extension ObservableType {
    /// Combines each element with the latest one of another sequence.
    ///
    /// - Parameters:
    ///   - second: Subscribed to before the source. Its error ends the sequence; its completion doesn't.
    ///   - resultSelector: Runs for each element that comes once `second` has sent one. What it throws ends the sequence.
    /// - Returns: What it made of both; elements before the first one of `second` are left out. Ends as the source does.
    ///   ReactiveX: CombineLatest, in its WithLatestFrom form.
    @inlinable public func withLatestFrom<Source: ObservableConvertibleType, Result: Sendable>(
        _ second: Source, resultSelector: @escaping @Sendable (Element, Source.Element) throws -> Result
    ) -> Observable<Result> {
        let source = asObservable(), other = second.asObservable()
        return Observable { sink in
            let node = WithLatestNode(sink, resultSelector)
            let lifetime = Lifetime(), otherLifetime = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, otherLifetime]))
            other.attach(otherLifetime) { node.take(.other($0)) }
            if !lifetime.isStopped { source.attach(lifetime) { node.take(.source($0)) } }
        }
    }

    /// The latest element of another sequence for each element of this one; see ``withLatestFrom(_:resultSelector:)``.
    @inlinable public func withLatestFrom<Source: ObservableConvertibleType>(
        _ second: Source
    ) -> Observable<Source.Element> {
        withLatestFrom(second) { $1 }
    }
}

/// `@unchecked`: `latest` is only touched inside `queue`.
@usableFromInline final class WithLatestNode<Element: Sendable, Other: Sendable, Result: Sendable>: @unchecked Sendable
{
    @usableFromInline enum Input: Sendable { case source(Event<Element>), other(Event<Other>) }

    @usableFromInline let sink: Sink<Result>
    @usableFromInline let combine: @Sendable (Element, Other) throws -> Result
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var latest: Other?

    @inlinable init(_ sink: Sink<Result>, _ combine: @escaping @Sendable (Element, Other) throws -> Result) {
        self.sink = sink
        self.combine = combine
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .other(.next(let element)): latest = element
            case .other(.completed): break
            case .other(.error(let error)), .source(.error(let error)): sink.on(.error(error))
            case .source(.completed): sink.on(.completed)
            case .source(.next(let element)):
                guard let latest else { return }
                do { sink.on(.next(try combine(element, latest))) } catch { sink.on(.error(error)) }
            }
        }
    }
}

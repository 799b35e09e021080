import Locking

/// Disposes of something once it has been disposed of itself and nobody retains it any more.
public final class RefCountDisposable: Cancelable {
    private struct State {
        var disposable: (any Disposable)?  // nil once disposed of
        var retained = 0
        var isPrimaryDisposed = false

        /// - Returns: What is to be disposed of, if its time has come.
        mutating func takeIfDue() -> (any Disposable)? {
            guard isPrimaryDisposed, retained == 0 else { return nil }
            return exchange(&disposable, with: nil)
        }
    }

    private let state: Locked<State>

    /// Takes over something to be disposed of.
    public init(disposable: any Disposable) { state = Locked(State(disposable: disposable)) }

    /// Whether what it was made for has been disposed of.
    public var isDisposed: Bool { state.withLock { $0.disposable == nil } }

    /// Keeps what it was made for from being disposed of.
    ///
    /// - Returns: Gives it free again; does nothing if it has been disposed of already.
    public func retain() -> any Disposable {
        let isAlive = state.withLock { state in
            if state.disposable != nil { state.retained += 1 }
            return state.disposable != nil
        }
        return isAlive ? Disposables.create { self.release() } : Disposables.create()
    }

    /// Disposes of what it was made for as soon as nobody retains it.
    public func dispose() {
        let due = state.withLock { state in
            state.isPrimaryDisposed = true
            return state.takeIfDue()
        }
        due?.dispose()
    }

    private func release() {
        let due = state.withLock { state in
            state.retained -= 1
            return state.takeIfDue()
        }
        due?.dispose()
    }
}

import Locking

/// Takes one disposable, once; disposed of before, it disposes what it is given.
public final class SingleAssignmentDisposable: Cancelable {
    private enum State { case empty, holding(any Disposable), disposed, disposedEmpty }
    private let state = Locked<State>(.empty)

    /// Makes one that waits for what is to be disposed of.
    public init() {}

    /// Whether it has been disposed of.
    public var isDisposed: Bool {
        switch state.withLock({ $0 }) {
        case .empty, .holding: false
        case .disposed, .disposedEmpty: true
        }
    }

    /// Hands over what is to be disposed of; a second call is a programming error.
    public func setDisposable(_ disposable: any Disposable) {
        let before = state.withLock { state in
            switch state {
            case .empty: exchange(&state, with: .holding(disposable))
            case .disposedEmpty: exchange(&state, with: .disposed)
            case .holding, .disposed: state
            }
        }
        switch before {
        case .empty: break
        case .disposedEmpty: disposable.dispose()
        case .holding, .disposed: preconditionFailure("the disposable is already set")
        }
    }

    /// Disposes of what it has been given, or will be.
    public func dispose() {
        let before = state.withLock { state in
            switch state {
            case .empty: exchange(&state, with: .disposedEmpty)
            case .holding: exchange(&state, with: .disposed)
            case .disposed, .disposedEmpty: state
            }
        }
        if case .holding(let disposable) = before { disposable.dispose() }
    }
}

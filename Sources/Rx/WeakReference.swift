/// An object that isn't kept alive.
///
/// `@unchecked`: the reference is set once, and reading a weak reference is atomic.
@usableFromInline final class WeakReference<Object: AnyObject & Sendable>: @unchecked Sendable {
    @usableFromInline weak var object: Object?

    @inlinable init(_ object: Object) { self.object = object }

    /// The closure without its first argument; does nothing once the object has gone.
    func passing<Value>(_ body: (@Sendable (Object, Value) -> Void)?) -> (@Sendable (Value) -> Void)? {
        guard let body else { return nil }
        return { [self] value in if let object { body(object, value) } }
    }

    /// The closure without its argument; does nothing once the object has gone.
    func passing(_ body: (@Sendable (Object) -> Void)?) -> (@Sendable () -> Void)? {
        guard let body else { return nil }
        return { [self] in if let object { body(object) } }
    }
}

/// A unary operator's state in one subscription.
///
/// `@unchecked`: only touched while the source delivers, and a source delivers one event at a time.
@usableFromInline final class Cell<Value: Sendable>: @unchecked Sendable {
    @exclusivity(unchecked) @usableFromInline var value: Value
    @inlinable init(_ value: Value) { self.value = value }
}

/// What an object offers to reactive code, under `object.rx`.
///
/// Modules extend `Reactive where Base: TheirType`.
@dynamicMemberLookup public struct Reactive<Base> {
    /// Whose it is.
    public let base: Base

    /// Gives an object its `rx`.
    public init(_ base: Base) { self.base = base }

    /// A binder that sets a property, on the main scheduler.
    public subscript<Property: Sendable>(
        dynamicMember keyPath: any ReferenceWritableKeyPath<Base, Property> & Sendable
    ) -> Binder<Property> where Base: AnyObject & Sendable {
        Binder(base) { base, value in base[keyPath: keyPath] = value }
    }
}

extension Reactive: Sendable where Base: Sendable {}

/// What has an `rx`.
public protocol ReactiveCompatible {
    associatedtype ReactiveBase
    static var rx: Reactive<ReactiveBase>.Type { get set }
    var rx: Reactive<ReactiveBase> { get set }
}

extension ReactiveCompatible {
    /// What the type offers to reactive code.
    public static var rx: Reactive<Self>.Type {
        get { Reactive<Self>.self }
        set {}  // so that what extends `Reactive` may set
    }

    /// What the object offers to reactive code.
    public var rx: Reactive<Self> {
        get { Reactive(self) }
        set {}  // so that what extends `Reactive` may set
    }
}

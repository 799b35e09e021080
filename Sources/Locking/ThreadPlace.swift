public import Glibc

/// A place that each thread has for itself.
@frozen public struct ThreadPlace: Sendable {
    @usableFromInline let key: pthread_key_t

    /// Makes one; there can be about a thousand in a process, and none is ever given back.
    ///
    /// - Parameter destroy: Runs as a thread ends that has put something there.
    public init(destroy: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void) {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, destroy)
        precondition(code == 0, "no thread-specific key left")
        self.key = key
    }

    /// What this thread has put there.
    @inlinable public var content: UnsafeMutableRawPointer? {
        get { pthread_getspecific(key) }
        nonmutating set { pthread_setspecific(key, newValue) }
    }
}

/// Tells the present thread from all others that live; not 0.
public var currentThread: UInt { UInt(pthread_self()) }

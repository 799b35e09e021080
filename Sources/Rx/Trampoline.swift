public import Glibc

/// Lets sources that loop on one thread take turns, instead of each running to its end inside the subscription to it.
///
/// It lies on the stack of the outermost subscription, and its thread alone reaches it.
@frozen @usableFromInline struct Trampoline {
    @usableFromInline typealias Step = () -> Bool  // returns whether it wants another turn

    @usableFromInline var waiting: [Step] = []
    @usableFromInline var first = 0  // index of the step whose turn is next

    @usableFromInline static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "no thread-specific key left")
        return key
    }()

    @inlinable init() {}

    @inlinable static var current: UnsafeMutablePointer<Trampoline>? {
        pthread_getspecific(key)?.assumingMemoryBound(to: Trampoline.self)
    }

    /// Runs `body`, and then, if it is the outermost on this thread, all turns that are left.
    @inlinable static func enter(_ body: () -> Void) {
        let key = Trampoline.key
        if pthread_getspecific(key) != nil { return body() }
        var trampoline = Trampoline()
        withUnsafeMutablePointer(to: &trampoline) { here in
            pthread_setspecific(key, here)
            body()
            if !here.pointee.waiting.isEmpty { run(here) }
            pthread_setspecific(key, nil)
        }
    }

    /// Gives `step` turns until it wants no more; before this returns, if nothing else runs on this thread.
    @usableFromInline static func add(_ step: @escaping Step) {
        enter { current?.pointee.waiting.append(step) }
    }

    @usableFromInline static func run(_ here: UnsafeMutablePointer<Trampoline>) {
        while let step = here.pointee.popFirst() {
            while step() {
                if here.pointee.waiting.isEmpty { continue }
                here.pointee.waiting.append(step)
                break
            }
        }
    }

    private mutating func popFirst() -> Step? {
        if first == waiting.count { return nil }
        let step = waiting[first]
        first += 1
        if first == waiting.count || first >= 64 {
            waiting.removeFirst(first)
            first = 0
        }
        return step
    }
}

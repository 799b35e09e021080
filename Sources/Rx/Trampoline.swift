public import Locking

/// Lets sources that loop on one thread take turns, instead of each running to its end inside the subscription to it.
///
/// A thread gets one when it first subscribes, and alone reaches it.
@frozen @usableFromInline struct Trampoline {
    /// What takes turns; a struct, because a bare closure gets a wrapper each time it goes into an array and out again.
    @frozen @usableFromInline struct Step {
        @usableFromInline let run: () -> Bool  // returns whether it wants another turn

        @inlinable init(run: @escaping () -> Bool) { self.run = run }
    }

    @usableFromInline var isRunning = false
    @usableFromInline var waiting: [Step] = []
    @usableFromInline var first = 0  // index of the step whose turn is next

    @usableFromInline static let place = ThreadPlace { content in
        guard let here = content?.assumingMemoryBound(to: Trampoline.self) else { return }
        here.deinitialize(count: 1)
        here.deallocate()
    }

    @usableFromInline init() {}

    @inlinable static var current: UnsafeMutablePointer<Trampoline> {
        place.content?.assumingMemoryBound(to: Trampoline.self) ?? make()
    }

    @usableFromInline static func make() -> UnsafeMutablePointer<Trampoline> {
        let here = UnsafeMutablePointer<Trampoline>.allocate(capacity: 1)
        here.initialize(to: Trampoline())
        place.content = UnsafeMutableRawPointer(here)
        return here
    }

    /// Runs `body`, and then, if it is the outermost on this thread, all turns that are left.
    @inlinable static func enter(_ body: () -> Void) {
        let here = current
        if here.pointee.isRunning { return body() }
        here.pointee.isRunning = true
        body()
        if !here.pointee.waiting.isEmpty { run(here) }
        here.pointee.isRunning = false
    }

    /// Gives `step` turns until it wants no more; before this returns, if nothing else runs on this thread.
    @usableFromInline static func add(_ step: @escaping () -> Bool) {
        enter { current.pointee.waiting.append(Step(run: step)) }
    }

    @usableFromInline static func run(_ here: UnsafeMutablePointer<Trampoline>) {
        while let step = here.pointee.popFirst() {
            while step.run() {
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

/// Work in order of virtual time.
struct Agenda<Converter: VirtualTimeConverterType>: Sendable {
    typealias VirtualTime = Converter.VirtualTimeUnit

    struct Item: Sendable {
        let time: VirtualTime
        let number: Int  // orders work of one time
        let lifetime: Lifetime
        let work: @Sendable () -> Void
    }

    var clock: VirtualTime
    var isRunning = false
    private let converter: Converter
    private var scheduled = 0  // ever
    private var heap: [Item] = []  // no item comes before its parent, which is at half its index

    init(clock: VirtualTime, converter: Converter) {
        self.clock = clock
        self.converter = converter
    }

    var count: Int { heap.count }

    mutating func insert(time: VirtualTime, _ lifetime: Lifetime, _ work: @escaping @Sendable () -> Void) {
        scheduled += 1
        heap.append(Item(time: time, number: scheduled, lifetime: lifetime, work: work))
        siftUp()
    }

    /// Takes the next item out and moves the clock there.
    mutating func popFirst(upTo limit: VirtualTime?) -> Item? {
        guard let first = heap.first else { return nil }
        if let limit, converter.compareVirtualTime(first.time, limit) == .greaterThan { return nil }
        let isLater = converter.compareVirtualTime(first.time, clock) == .greaterThan
        if isLater, !first.lifetime.isStopped { clock = first.time }  // cancelled work doesn't move the clock
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown()
        return first
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        switch converter.compareVirtualTime(heap[left].time, heap[right].time) {
        case .lessThan: true
        case .equal: heap[left].number < heap[right].number
        case .greaterThan: false
        }
    }

    private mutating func siftUp() {
        var child = heap.count - 1
        while child > 0, precedes(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while let child = earlierChild(of: parent), precedes(child, parent) {
            heap.swapAt(child, parent)
            parent = child
        }
    }

    private func earlierChild(of parent: Int) -> Int? {
        let left = 2 * parent + 1, right = left + 1
        if left >= heap.count { return nil }
        return right < heap.count && precedes(right, left) ? right : left
    }
}

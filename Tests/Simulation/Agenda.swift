/// What is to happen when, and of one time in the order of its asking.
struct Agenda {
    private struct Entry {
        var time: UInt64
        var order: UInt64
        var action: () -> Void
        func isBefore(_ other: Entry) -> Bool { (time, order) < (other.time, other.order) }
    }

    private var heap: [Entry] = []
    private var lastOrder: UInt64 = 0

    mutating func insert(at time: UInt64, _ action: @escaping () -> Void) {
        lastOrder += 1
        let entry = Entry(time: time, order: lastOrder, action: action)
        heap.append(entry)
        var place = heap.count - 1
        while place > 0, entry.isBefore(heap[(place - 1) / 2]) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Takes out what is next, if it is due by `end`.
    mutating func next(until end: UInt64) -> (time: UInt64, action: () -> Void)? {
        guard let first = heap.first, first.time <= end else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            if least == place { return (first.time, first.action) }
            heap.swapAt(place, least)
            place = least
        }
    }

    mutating func removeAll() { heap = [] }
}

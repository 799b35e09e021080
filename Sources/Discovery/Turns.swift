/// Elements in the order in which they were appended, taken from either end; each once.
///
/// Every call takes a constant time on average, so a flood of elements costs as much as they are, and no more.
struct Turns<Element: Hashable & Sendable>: Sendable {
    private var entries: [(element: Element, ticket: Int)] = []
    private var head = 0
    /// Of the elements that are in it: other entries are passed over.
    private var tickets: [Element: Int] = [:]
    private var lastTicket = 0

    var isEmpty: Bool { tickets.isEmpty }

    /// Puts an element at the end, unless it is in here.
    mutating func append(_ element: Element) {
        guard tickets[element] == nil else { return }
        if entries.count > 2 * tickets.count + 16 { compact() }
        lastTicket += 1
        tickets[element] = lastTicket
        entries.append((element, lastTicket))
    }

    mutating func remove(_ element: Element) { tickets[element] = nil }

    mutating func popFirst() -> Element? {
        while head < entries.count {
            let entry = entries[head]
            head += 1
            if take(entry) { return entry.element }
        }
        return nil
    }

    mutating func popLast() -> Element? {
        while head < entries.count {
            let entry = entries.removeLast()
            if take(entry) { return entry.element }
        }
        return nil
    }

    private mutating func take(_ entry: (element: Element, ticket: Int)) -> Bool {
        guard tickets[entry.element] == entry.ticket else { return false }
        tickets[entry.element] = nil
        return true
    }

    private mutating func compact() {
        entries = entries[head...].filter { tickets[$0.element] == $0.ticket }
        head = 0
    }
}

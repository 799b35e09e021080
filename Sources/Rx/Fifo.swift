/// Elements in order of arrival; taking one out costs the same however many there are.
@frozen @usableFromInline struct Fifo<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var first = 0  // index of the next one out

    @inlinable init() {}

    @inlinable var count: Int { elements.count - first }
    @inlinable var isEmpty: Bool { elements.count == first }
    @inlinable var next: Element? { isEmpty ? nil : elements[first] }

    @inlinable mutating func append(_ element: Element) { elements.append(element) }

    @inlinable mutating func popFirst() -> Element? {
        if isEmpty { return nil }
        let element = elements[first].take()
        first += 1
        if first == elements.count || first >= 64 && first > elements.count / 2 {
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}

extension Fifo: Sendable where Element: Sendable {}

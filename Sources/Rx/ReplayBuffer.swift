/// The latest elements, up to a limit.
@frozen @usableFromInline struct ReplayBuffer<Element: Sendable>: Sendable {
    @usableFromInline let limit: Int
    @usableFromInline var elements: [Element] = []
    @usableFromInline var oldest = 0  // its index, once there are `limit`

    @inlinable init(limit: Int) { self.limit = limit }

    @inlinable mutating func append(_ element: Element) {
        if limit <= 0 { return }
        if elements.count < limit { return elements.append(element) }
        elements[oldest] = element
        oldest += 1
        if oldest == limit { oldest = 0 }
    }

    @inlinable mutating func removeAll() {
        elements = []
        oldest = 0
    }

    /// In the order in which they came.
    @inlinable func forEach(_ body: (Element) -> Void) {
        for element in elements[oldest...] { body(element) }
        for element in elements[..<oldest] { body(element) }
    }
}

#if canImport(XCTest)
    public import Rx
    import XCTest

    /// Compares events; errors are equal when they read the same.
    public func XCTAssertEqual<Element: Equatable & Sendable>(
        _ left: [Event<Element>], _ right: [Event<Element>], file: StaticString = #filePath, line: UInt = #line
    ) {
        expectEqual(left, right, file, line) { $0 == $1 }
    }

    /// Compares results of singles; errors are equal when they read the same.
    public func XCTAssertEqual<Element: Equatable & Sendable>(
        _ left: [SingleEvent<Element>], _ right: [SingleEvent<Element>], file: StaticString = #filePath,
        line: UInt = #line
    ) {
        expectEqual(left.map(Event.init), right.map(Event.init), file, line) { $0 == $1 }
    }

    /// Compares outcomes of maybes; errors are equal when they read the same.
    public func XCTAssertEqual<Element: Equatable & Sendable>(
        _ left: [MaybeEvent<Element>], _ right: [MaybeEvent<Element>], file: StaticString = #filePath,
        line: UInt = #line
    ) {
        expectEqual(left, right, file, line) { $0 == $1 }
    }

    /// Compares endings of completables; errors are equal when they read the same.
    public func XCTAssertEqual(
        _ left: [CompletableEvent], _ right: [CompletableEvent], file: StaticString = #filePath, line: UInt = #line
    ) {
        expectEqual(left, right, file, line) { $0 == $1 }
    }

    /// Compares recorded events; errors are equal when they read the same.
    public func XCTAssertEqual<Element: Equatable & Sendable>(
        _ left: [Recorded<Event<Element>>], _ right: [Recorded<Event<Element>>], file: StaticString = #filePath,
        line: UInt = #line
    ) {
        expectEqual(left, right, file, line) { $0 == $1 }
    }

    /// Compares the elements of recorded events, whatever their times.
    public func XCTAssertRecordedElements<Element: Equatable & Sendable>(
        _ stream: [Recorded<Event<Element>>], _ elements: [Element], file: StaticString = #filePath, line: UInt = #line
    ) {
        let ending = stream.first { $0.value.isStopEvent }
        if let error = ending?.value.error {
            XCTFail("the stream ended with \(error)", file: file, line: line)
        }
        expectEqual(stream.compactMap(\.value.element), elements, file, line) { $0 == $1 }
    }

    private func expectEqual<Value>(
        _ left: [Value], _ right: [Value], _ file: StaticString, _ line: UInt, by areEqual: (Value, Value) -> Bool
    ) {
        if left.elementsEqual(right, by: areEqual) { return }
        XCTFail("\(left) is not equal to \(right)", file: file, line: line)
    }

    extension Event {
        fileprivate init(_ result: SingleEvent<Element>) {
            switch result {
            case .success(let element): self = .next(element)
            case .failure(let error): self = .error(error)
            }
        }
    }
#endif

import FoundationEssentials

extension ObservableType {
    /// Prints what happens, with the time, to standard output.
    ///
    /// - Parameters:
    ///   - identifier: Stands at the front of each line; file, line and function if it is `nil`.
    ///   - trimOutput: Whether only the first and last 20 characters of a long event are printed.
    ///   - file: Where the call is.
    ///   - line: Where in the file it is.
    ///   - function: In which function it is.
    /// - Returns: The source's events. What is subscribed to, sent and disposed of is printed before it happens.
    public func debug(
        _ identifier: String? = nil, trimOutput: Bool = false, file: String = #file, line: UInt = #line,
        function: String = #function
    ) -> Observable<Element> {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let log = DebugLog(identifier: identifier ?? "\(name):\(line) (\(function))", trimsOutput: trimOutput)
        let source = asObservable()
        return Observable { sink in
            log.write("subscribed")
            let lifetime = Lifetime { log.write("isDisposed") }
            sink.lifetime.own(lifetime)
            source.attach(lifetime) { event in
                log.write("Event \(log.trimmed("\(event)"))")
                sink.on(event)
            }
        }
    }
}

private struct DebugLog: Sendable {
    let identifier: String
    let trimsOutput: Bool

    func write(_ text: String) { print("\(Date().ISO8601Format()): \(identifier) -> \(text)") }

    func trimmed(_ text: String) -> String {
        let kept = 20  // characters at each end
        if !trimsOutput || text.count <= 2 * kept { return text }
        return "\(text.prefix(kept))...\(text.suffix(kept))"
    }
}

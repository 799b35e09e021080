/// `HOST:PORT` with the host in brackets where it has colons of its own.
public enum HostPort {
    /// What is wrong with such a text.
    public struct Malformed: Error, CustomStringConvertible {
        public let text: String
        public var description: String { "'\(text)' is not HOST:PORT, such as 10.0.0.7:7311 or [fe80::1%eth0]:7311" }
    }

    public static func parse(_ text: String) throws(Malformed) -> (host: String, port: UInt16) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw Malformed(text: text)
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw Malformed(text: text)
        }
        guard !host.isEmpty else { throw Malformed(text: text) }
        return (String(host), port)
    }
}

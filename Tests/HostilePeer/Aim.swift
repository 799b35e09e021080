package import Addressing
import ChatModel
import Foundation
package import Identity
import Transport

/// What `chat-evil` and `chat-proxy` take from their command lines.
package enum Aim {
    /// `ADDR:PORT`, with brackets around an IPv6 address.
    package static func endpoint(_ text: String) throws(UsageProblem) -> Endpoint {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw UsageProblem("'\(text)' is not ADDR:PORT")
        }
        let host = text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard let endpoint = Endpoint(numericHost: host, port: port) else {
            throw UsageProblem("'\(host)' is no address")
        }
        return endpoint
    }

    /// The key of an open room by its name, or what a key file holds.
    package static func room(_ name: String?, keyFile: String?) throws -> RoomKey? {
        if let keyFile {
            let text = try String(contentsOfFile: keyFile, encoding: .utf8)
            return try ChatKey(text).roomKey
        }
        return name.map { RoomKey(openRoom: RoomID(openRoom: $0.lowercased())) }
    }

    /// `FIRST+COUNT`: so many IPv4 addresses in a row.
    package static func sources(_ text: String) throws(UsageProblem) -> [IPAddress] {
        let parts = text.split(separator: "+")
        guard let first = parts.first, case .v4(let base)? = Endpoint(numericHost: String(first), port: 0)?.address,
            let count = parts.count == 2 ? UInt32(parts[1]) : 1, count > 0
        else { throw UsageProblem("'\(text)' is not FIRST+COUNT, such as 10.77.64.1+1000") }
        return (0..<count).map { .v4(base &+ $0) }
    }
}

/// A command line that means nothing.
package struct UsageProblem: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Prints a line at once, wherever standard output goes.
package func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((line.hasSuffix("\n") ? line : line + "\n").utf8))
}

import Foundation
import Glibc
import Locking
import SystemCalls

/// What a child writes to one of its outputs, read by a thread of its own to the end.
final class Captured: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isAtEnd = false
    }

    private let state = Locked(State())

    init(_ descriptor: Descriptor) {
        let thread = Thread { [state] in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
            defer { buffer.deallocate() }
            while case let count = read(descriptor.number, buffer.baseAddress, buffer.count), count != 0 {
                if count < 0 && errno != EINTR { break }
                if count > 0 { state.withLock { $0.bytes += buffer[..<count] } }
            }
            state.withLock { $0.isAtEnd = true }
        }
        thread.start()
    }

    var bytes: [UInt8] { state.withLock { $0.bytes } }

    /// Whether nobody has it open any more.
    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The complete lines so far, and what follows the last one once that is all.
    var lines: [String] {
        let (bytes, isAtEnd) = state.withLock { ($0.bytes, $0.isAtEnd) }
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        let last = lines.removeLast()
        if isAtEnd && !last.isEmpty { lines.append(last) }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The first line that has come or comes, for which `isWanted` holds.
    func line(
        _ what: String, within limit: Duration = .seconds(10), where isWanted: (String) -> Bool
    ) async throws -> String {
        try await first("a line with \(what); there is:\n\(text)", within: limit) { lines.first(where: isWanted) }
    }
}

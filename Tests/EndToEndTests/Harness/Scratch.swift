import Foundation
import Glibc
import SystemCalls

/// A directory of a test's own, removed with the last reference to it.
///
/// Its path is short, whatever TMPDIR says: a Unix socket in it has at most 107 bytes for its path.
final class Scratch: Sendable {
    let path: String

    /// - Parameter isOpenToAll: Whether any user may write in it; else only this one may look into it.
    init(isOpenToAll: Bool = false) throws(SystemCallError) {
        var template = Array("/tmp/chat-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemCallError(call: "mkdtemp", subject: "/tmp/chat-test.XXXXXX", code: errno)
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if isOpenToAll { chmod(path, 0o777) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path in it; nothing is made there.
    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a directory in it.
    func directory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true)
        return self(name)
    }

    /// Makes a file in it.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: self(name)))
        return self(name)
    }
}

import ChatModel
import Control
import Glibc
import SystemCalls

/// The file that `--key-file` names: one `chat-key:` line that nobody else can read.
enum KeyFile {
    /// Reads the key.
    ///
    /// - Throws: With status 66 where the file can't be read, 77 where others can reach it, 65 where it holds no usable
    ///   key. No error repeats any of the key.
    static func read(_ path: String) throws(CommandFailure) -> ChatKey {
        let name = SafeText.line(path)
        let file: Descriptor
        let status: FileStatus
        do throws(SystemCallError) {
            // Opening a pipe or a terminal could wait for ever.
            let number = try systemCall("open", name) { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
            file = Descriptor(owning: number)
            status = try FileStatus(of: file, name)
        } catch { throw CommandFailure(.noInput, "\(error)") }
        guard status.isRegular else {
            throw CommandFailure(.noInput, "\(name) is not a regular file")
        }
        guard status.owner == geteuid() else { throw CommandFailure(.noPermission, "\(name) belongs to another user") }
        guard status.mode & 0o077 == 0 else {
            throw CommandFailure(.noPermission, "others can reach \(name); try: chmod 600 \(name)")
        }
        return try key(in: file, name)
    }

    private static func key(in file: Descriptor, _ name: String) throws(CommandFailure) -> ChatKey {
        var bytes = [UInt8](repeating: 0, count: 2 * ChatKey.longest)
        let count: Int
        do throws(SystemCallError) {
            count = try systemCall("read", name) { Glibc.read(file.number, &bytes, bytes.count) }
        } catch { throw CommandFailure(.noInput, "\(error)") }
        do throws(ChatKeyError) { return try ChatKey(String(decoding: bytes.prefix(count), as: UTF8.self)) } catch {
            throw CommandFailure(.badData, "\(name): \(error)")
        }
    }
}

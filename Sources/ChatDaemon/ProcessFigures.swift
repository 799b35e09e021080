import Glibc
import SystemCalls

/// What this process uses, as the kernel counts it (proc(5)).
enum ProcessFigures {
    /// Resident memory in bytes; 0 where /proc isn't there.
    static var memory: Int {
        guard let text = try? readFile("/proc/self/statm", limit: 256) else { return 0 }
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Open descriptors, without the one that counts them.
    static var descriptors: Int { max(0, entries(of: "/proc/self/fd").count - 1) }

    static var threads: Int { entries(of: "/proc/self/task").count }

    /// Of the files directly in a directory whose names begin so, in bytes.
    static func length(ofFilesIn directory: String, beginning prefix: String = "") -> Int {
        entries(of: directory).filter { $0.hasPrefix(prefix) }.reduce(0) { total, name in
            guard let status = try? FileStatus(at: "\(directory)/\(name)"), status.isRegular else { return total }
            return total + Int(clamping: status.size)
        }
    }

    private static func entries(of directory: String) -> [String] { (try? names(inDirectory: directory)) ?? [] }
}

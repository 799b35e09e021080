import Glibc
import SystemCalls

/// Where the database is, and which file that is.
struct DatabaseFile {
    let directory: Directory
    /// By which of SQLite's ways to the disk; `nil` for its own.
    let vfs: String?
    var path: String { "\(directory.path)/\(Self.name)" }

    private static let name = "history.db"
    /// SQLite's own files beside a database (sqlite.org/wal.html).
    private static let companions = ["", "-wal", "-shm"]

    /// The database's birth certificate: two databases with one key never have the same, as long as neither is written
    /// over in place.
    struct Birth: Equatable {
        var file: FileBirth
        /// Of machine-id(5); empty where there is none.
        var machine: String

        /// As in the columns inode, time and machine.
        var values: [SQLValue] {
            [.integer(Int64(bitPattern: file.inode)), .integer(file.time), .text(machine)]
        }
    }

    /// Makes the directory if it is missing, mode 0700.
    init(in directory: String, vfs: String? = nil) throws(HistoryError) {
        self.vfs = vfs
        do throws(SystemCallError) {
            self.directory = try Directory(making: directory)
        } catch { throw HistoryError(error) }
    }

    func open(_ access: Database.Access) throws(HistoryError) -> Database {
        try Database(path: path, access: access, vfs: vfs)
    }

    /// Makes an empty file, mode 0600, which SQLite takes for an empty database, and copies the mode of to its own files.
    func makeIfMissing() throws(HistoryError) {
        do throws(SystemCallError) {
            if try directory.status(of: Self.name)?.isRegular == true { return }
            _ = try setAside()  // a log without its database must not meet a new one
            _ = try directory.open(Self.name, O_CREAT | O_EXCL | O_RDWR, mode: 0o600)
            try directory.synchronize()
        } catch { throw HistoryError(error) }
    }

    /// Renames the database and SQLite's files beside it, so that nothing of it is lost.
    ///
    /// - Returns: The database's new name; `nil` if there was nothing.
    func setAside() throws(SystemCallError) -> String? {
        let present = try existing(Self.name)
        if present.isEmpty { return nil }
        var number = 1
        while try !existing(Self.nameSetAside(number)).isEmpty { number += 1 }
        for suffix in present {
            try renameWithoutReplacing(
                Self.name + suffix, to: Self.nameSetAside(number) + suffix, in: directory.descriptor.number)
        }
        try directory.synchronize()
        return Self.nameSetAside(number)
    }

    /// Which of a database's files there are, by what follows its name in theirs.
    private func existing(_ name: String) throws(SystemCallError) -> [String] {
        var present: [String] = []
        for suffix in Self.companions where try directory.status(of: name + suffix) != nil { present.append(suffix) }
        return present
    }

    private static func nameSetAside(_ number: Int) -> String { "history-damaged-\(number).db" }

    func birth() throws(HistoryError) -> Birth {
        do throws(SystemCallError) {
            return Birth(file: try FileBirth(ofFileAt: path), machine: Self.machine())
        } catch { throw HistoryError(error) }
    }

    private static func machine() -> String {
        guard let file = fopen("/etc/machine-id", "re") else { return "" }
        defer { fclose(file) }
        var line = [UInt8](repeating: 0, count: 64)
        let count = fread(&line, 1, line.count, file)
        return String(decoding: line.prefix(count).prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
    }
}

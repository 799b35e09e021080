import CSQLite
import Glibc
import Identity

/// A value as SQLite keeps it.
enum SQLValue {
    case integer(Int64)
    case blob([UInt8])
    case text(String)
    case null
}

/// The row that a statement stands on; only valid inside the closure that it is given to.
struct Row {
    fileprivate let statement: OpaquePointer

    func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(statement, column) }

    func blob(_ column: CInt) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// `nil` for NULL.
    func text(_ column: CInt) -> String? {
        sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    func isNull(_ column: CInt) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
}

/// The values of a statement; only valid inside the closure that it is given to.
struct Values {
    fileprivate let statement: OpaquePointer
    /// The first failure.
    fileprivate var code = SQLITE_OK

    mutating func bind(_ number: Int64, at index: CInt) { note(sqlite3_bind_int64(statement, index, number)) }

    mutating func bind(_ bytes: [UInt8], at index: CInt) { bytes.withUnsafeBytes { bind($0, at: index) } }

    mutating func bind(_ bytes: Bytes32, at index: CInt) { bytes.withBytes { bind($0, at: index) } }

    private mutating func bind(_ bytes: UnsafeRawBufferPointer, at index: CInt) {
        note(sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), CSQLite_transient))
    }

    private mutating func note(_ code: CInt) { if self.code == SQLITE_OK { self.code = code } }
}

/// One connection to an SQLite database, with its prepared statements.
///
/// Used by one thread at a time, to which its owner sees.
final class Database {
    enum Access {
        case reading, writing
    }

    /// Whether a write failed in a way after which only opening anew tells what is on the disk.
    private(set) var isBroken = false
    private let handle: OpaquePointer
    private let path: String
    private let access: Access
    private(set) var isClosed = false
    private var statements: [String: OpaquePointer] = [:]
    /// Pages in the write-ahead log as of the last commit.
    private var pendingPages: CInt = 0

    private static let checkpointThreshold: CInt = 1_000  // pages
    private static let busyTimeout: CInt = 250  // milliseconds

    /// Opens an existing file, by SQLite's own way to the disk or the one that is registered under the name `vfs`.
    init(path: String, access: Access, vfs: String? = nil) throws(HistoryError) {
        self.path = path
        self.access = access
        let mode = access == .writing ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs)
        guard let opened, code == SQLITE_OK else {
            sqlite3_close_v2(opened)
            throw .cannotOpen("open \(path): \(String(cString: sqlite3_errstr(code))) (sqlite \(code))")
        }
        handle = opened
        sqlite3_busy_timeout(handle, Self.busyTimeout)
        // Takes the place of SQLite's own automatic checkpoint, whose errors nobody would see.
        sqlite3_wal_hook(handle, walHook, Unmanaged.passUnretained(self).toOpaque())
        for pragma in [
            "trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "mmap_size = 0",
            "cache_size = -16384",  // KiB
        ] {
            try run("PRAGMA \(pragma)")
        }
    }

    deinit { close() }

    /// Lets go of the file; the last connection to do so moves the write-ahead log into it.
    func close() {
        if isClosed { return }
        isClosed = true
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Runs a statement, and hands its rows to `body` until that says `false`.
    ///
    /// `body` must not run the same statement.
    func run(
        _ sql: String, _ values: [SQLValue] = [], each body: (Row) throws(HistoryError) -> Bool = { _ in true }
    ) throws(HistoryError) {
        let statement = try prepared(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, to: statement, at: CInt(index + 1)) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: if !(try body(Row(statement: statement))) { return }
            case SQLITE_DONE: return
            case let code: throw failure(code)
            }
        }
    }

    /// Runs a statement that gives no rows, once with each of `count` sets of values, which `body` binds.
    func run(_ sql: String, times count: Int, bind body: (Int, inout Values) -> Void) throws(HistoryError) {
        let statement = try prepared(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for index in 0..<count {
            sqlite3_reset(statement)
            var values = Values(statement: statement)
            body(index, &values)
            if values.code != SQLITE_OK { throw failure(values.code) }
            let code = sqlite3_step(statement)
            if code != SQLITE_DONE { throw failure(code) }
        }
    }

    func all<Result>(
        _ sql: String, _ values: [SQLValue] = [], _ make: (Row) throws(HistoryError) -> Result
    ) throws(HistoryError) -> [Result] {
        var results: [Result] = []
        try run(sql, values) { row throws(HistoryError) in
            results.append(try make(row))
            return true
        }
        return results
    }

    func first<Result>(
        _ sql: String, _ values: [SQLValue] = [], _ make: (Row) throws(HistoryError) -> Result
    ) throws(HistoryError) -> Result? {
        var result: Result?
        try run(sql, values) { row throws(HistoryError) in
            result = try make(row)
            return false
        }
        return result
    }

    /// Inserts a row, and tells its number.
    func insert(_ sql: String, _ values: [SQLValue]) throws(HistoryError) -> Int64 {
        try run(sql, values)
        return sqlite3_last_insert_rowid(handle)
    }

    /// Makes what `body` writes durable, all or nothing, before it returns.
    func transaction<Result>(_ body: () throws(HistoryError) -> Result) throws(HistoryError) -> Result {
        try run("BEGIN IMMEDIATE")
        let result: Result
        do throws(HistoryError) {
            result = try body()
            try run("COMMIT")
        } catch {
            if sqlite3_get_autocommit(handle) == 0 { rollBack() }
            throw error
        }
        checkpointIfDue()
        return result
    }

    /// Lets many reads see one state, and pay for getting at it once.
    func reading<Result>(_ body: () throws(HistoryError) -> Result) throws(HistoryError) -> Result {
        try run("BEGIN")
        let result: Result
        do throws(HistoryError) { result = try body() } catch {
            if sqlite3_get_autocommit(handle) == 0 { rollBack() }
            throw error
        }
        try run("COMMIT")
        return result
    }

    /// A transaction that can't even be undone leaves nothing to rely on.
    private func rollBack() {
        do throws(HistoryError) { try run("ROLLBACK") } catch { isBroken = true }
    }

    /// A failure leaves the commits in the write-ahead log, where they are safe; a grave one shows in ``isBroken``.
    private func checkpointIfDue() {
        if pendingPages < Self.checkpointThreshold { return }
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        if code != SQLITE_OK { _ = failure(code) }
    }

    fileprivate func didCommit(pages: CInt) { pendingPages = pages }

    /// Moves all commits from the write-ahead log into the file, and both to the disk, though it may have claimed before
    /// that they were there.
    func checkpoint() throws(HistoryError) {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    private func prepared(_ sql: String) throws(HistoryError) -> OpaquePointer {
        if isClosed { throw .io("read \(path): the disk failed, and the history could not be opened again") }
        if let statement = statements[sql] { return statement }
        var made: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard code == SQLITE_OK, let made else { throw failure(code) }
        statements[sql] = made
        return made
    }

    private func bind(_ value: SQLValue, to statement: OpaquePointer, at index: CInt) throws(HistoryError) {
        let code =
            switch value {
            case .integer(let number): sqlite3_bind_int64(statement, index, number)
            case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
            case .blob(let bytes): sqlite3_bind_blob64(statement, index, bytes, UInt64(bytes.count), CSQLite_transient)
            case .text(let text): sqlite3_bind_text(statement, index, text, CInt(text.utf8.count), CSQLite_transient)
            case .null: sqlite3_bind_null(statement, index)
            }
        if code != SQLITE_OK { throw failure(code) }
    }

    /// Sorts SQLite's codes (sqlite.org/rescode.html) by what can be done about them.
    private func failure(_ code: CInt) -> HistoryError {
        let action = access == .writing ? "write" : "read"
        let text = "\(action) \(path): \(String(cString: sqlite3_errmsg(handle))) (sqlite \(code))"
        // Whatever the reason, the disk may or may not have what it was to keep, and won't say so again (fsync(2)).
        if code == CSQLite_syncFailed || code == CSQLite_directorySyncFailed {
            isBroken = true
            return isDiskFull ? .full(text) : .io(text)
        }
        switch code & 0xff {
        case SQLITE_FULL: return .full(text)
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy(text)
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM: return .cannotOpen(text)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            isBroken = true
            return .damaged(text)
        case SQLITE_IOERR where code == CSQLite_sharedMemoryFull || isDiskFull: return .full(text)
        case SQLITE_IOERR where sqlite3_system_errno(handle) == EROFS: return .cannotOpen(text)
        default:
            isBroken = true
            return .io(text)
        }
    }

    private var isDiskFull: Bool { [ENOSPC, EDQUOT].contains(sqlite3_system_errno(handle)) }
}

/// SQLite's report of a commit into the write-ahead log.
private func walHook(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, name: UnsafePointer<CChar>?, pages: CInt
) -> CInt {
    if let context { Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().didCommit(pages: pages) }
    return SQLITE_OK
}

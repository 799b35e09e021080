import CSQLite
import Glibc

/// A file that SQLite has open by a ``WatchedDisk``.
///
/// Lives from xOpen to xClose, which SQLite calls in pairs; used by one thread at a time, as SQLite uses a file.
final class WatchedFile {
    /// What SQLite makes room for: its own part, and which ``WatchedFile`` this is.
    struct Handle {
        var base: sqlite3_file
        var file: Unmanaged<WatchedFile>
    }

    private let name: String
    private let disk: WatchedDisk
    private let real: UnsafeMutablePointer<sqlite3_file>
    private var methods: sqlite3_io_methods { real.pointee.pMethods.pointee }

    init(_ name: String, on disk: WatchedDisk, _ real: UnsafeMutablePointer<sqlite3_file>) {
        self.name = name
        self.disk = disk
        self.real = real
    }

    deinit { real.deallocate() }

    func attach(to file: UnsafeMutablePointer<sqlite3_file>) {
        let handle = Handle(base: sqlite3_file(pMethods: Self.table), file: Unmanaged.passRetained(self))
        UnsafeMutableRawPointer(file).initializeMemory(as: Handle.self, to: handle)
    }

    private static func of(_ file: UnsafeMutablePointer<sqlite3_file>?) -> WatchedFile {
        guard let file else { preconditionFailure("SQLite gives what it was given") }
        return UnsafeMutableRawPointer(file).assumingMemoryBound(to: Handle.self).pointee.file.takeUnretainedValue()
    }

    private func done(_ code: CInt) -> CInt {
        if code != SQLITE_OK { disk.noteSystemError() }
        return code
    }

    private func write(_ bytes: UnsafeRawPointer?, _ count: CInt, _ offset: Int64) -> CInt {
        let fault = disk.fault(in: .write)
        if let fault, fault != .short { return fault == .full ? SQLITE_FULL : CSQLite_writeFailed }
        let length = fault == .short ? count / 2 : count
        let code = done(methods.xWrite(real, bytes, length, offset))
        if code != SQLITE_OK { return code }
        disk.note(
            .write(name, at: Int(offset), Array(UnsafeRawBufferPointer(start: bytes, count: Int(length)))))
        return fault == .short ? SQLITE_FULL : SQLITE_OK
    }

    private func truncate(_ size: Int64) -> CInt {
        if disk.fault(in: .change) != nil { return CSQLite_truncateFailed }
        let code = done(methods.xTruncate(real, size))
        if code == SQLITE_OK { disk.note(.truncate(name, to: Int(size))) }
        return code
    }

    private func synchronize(_ flags: CInt) -> CInt {
        if disk.fault(in: .synchronization) != nil {
            disk.note(.synchronize(name, isDone: false))
            return CSQLite_syncFailed
        }
        let code = done(methods.xSync(real, flags))
        if code == SQLITE_OK { disk.note(.synchronize(name, isDone: true)) }
        return code
    }

    private func map(
        _ region: CInt, _ size: CInt, _ extends: CInt, _ memory: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> CInt {
        if let fault = disk.fault(in: .sharedMemory) {
            return fault == .full ? CSQLite_sharedMemoryFull : CSQLite_mapFailed
        }
        return done(methods.xShmMap(real, region, size, extends, memory))
    }

    private func close() -> CInt { methods.xClose(real) }

    /// Set once before its first use, never freed: SQLite may look at it until the process ends.
    private nonisolated(unsafe) static let table: UnsafePointer<sqlite3_io_methods> = {
        let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        table.initialize(to: sqlite3_io_methods())
        table.pointee.iVersion = 2
        table.pointee.xClose = { file in
            let watched = WatchedFile.of(file)
            let code = watched.close()
            Unmanaged.passUnretained(watched).release()
            return code
        }
        table.pointee.xRead = { file, bytes, count, offset in
            let watched = WatchedFile.of(file)
            if watched.disk.fault(in: .read) != nil { return CSQLite_readFailed }
            return watched.methods.xRead(watched.real, bytes, count, offset)
        }
        table.pointee.xWrite = { WatchedFile.of($0).write($1, $2, $3) }
        table.pointee.xTruncate = { WatchedFile.of($0).truncate($1) }
        table.pointee.xSync = { WatchedFile.of($0).synchronize($1) }
        table.pointee.xShmMap = { WatchedFile.of($0).map($1, $2, $3, $4) }
        addPlainMethods(to: table)
        return UnsafePointer(table)
    }()

    /// What is only passed on.
    private static func addPlainMethods(to table: UnsafeMutablePointer<sqlite3_io_methods>) {
        table.pointee.xFileSize = { WatchedFile.of($0).methods.xFileSize(WatchedFile.of($0).real, $1) }
        table.pointee.xLock = { WatchedFile.of($0).methods.xLock(WatchedFile.of($0).real, $1) }
        table.pointee.xUnlock = { WatchedFile.of($0).methods.xUnlock(WatchedFile.of($0).real, $1) }
        table.pointee.xCheckReservedLock = {
            WatchedFile.of($0).methods.xCheckReservedLock(WatchedFile.of($0).real, $1)
        }
        table.pointee.xFileControl = { WatchedFile.of($0).methods.xFileControl(WatchedFile.of($0).real, $1, $2) }
        table.pointee.xSectorSize = { WatchedFile.of($0).methods.xSectorSize(WatchedFile.of($0).real) }
        table.pointee.xDeviceCharacteristics = {
            WatchedFile.of($0).methods.xDeviceCharacteristics(WatchedFile.of($0).real)
        }
        table.pointee.xShmLock = { WatchedFile.of($0).methods.xShmLock(WatchedFile.of($0).real, $1, $2, $3) }
        table.pointee.xShmBarrier = { WatchedFile.of($0).methods.xShmBarrier(WatchedFile.of($0).real) }
        table.pointee.xShmUnmap = { WatchedFile.of($0).methods.xShmUnmap(WatchedFile.of($0).real, $1) }
    }
}

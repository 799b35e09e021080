import CSQLite
import Glibc
import Locking
import Testing

@testable import History

/// What SQLite did to a file of its own, whose name is that of the database and a suffix.
enum DiskStep: Sendable {
    case open(String)
    case write(String, at: Int, [UInt8])
    case truncate(String, to: Int)
    /// Without `isDone` the disk failed, and what was to be kept may never get there.
    case synchronize(String, isDone: Bool)
    case remove(String)
}

extension DiskStep {
    /// Without the bytes.
    var summary: String {
        switch self {
        case .open(let name): "open \(name)"
        case .write(let name, let offset, let bytes): "write \(name) \(offset)+\(bytes.count)"
        case .truncate(let name, let size): "truncate \(name) \(size)"
        case .synchronize(let name, let isDone): "\(isDone ? "sync" : "failed sync") \(name)"
        case .remove(let name): "remove \(name)"
        }
    }
}

/// How an operation fails.
enum DiskFault: String, CaseIterable, Sendable {
    /// Whatever it was, with EIO.
    case error
    /// A write, or growing the shared memory, with ENOSPC.
    case full
    /// A write, of which half gets there.
    case short
    /// An fsync(2), with EIO.
    case synchronization
}

/// A way for SQLite to the disk (a VFS, sqlite.org/vfs.html) that notes what is done and fails when it is told to.
///
/// Registered while it lives; outlives the databases that are opened by it. `@unchecked`: the two pointers are set once,
/// what they point to belongs to SQLite, and all else is in `state`.
final class WatchedDisk: @unchecked Sendable {
    struct State {
        var steps: [DiskStep] = []
        var fault: DiskFault?
        /// How many operations that could fail so are done before the one that fails.
        var patience = 0
        var hasFailed = false
        /// errno(3) of the last failure.
        var code: CInt = 0
    }

    enum Kind {
        case read, write, change, synchronization, sharedMemory
    }

    let name: String
    let state = Locked(State())
    private let real: UnsafeMutablePointer<sqlite3_vfs>
    private let own: UnsafeMutablePointer<sqlite3_vfs>
    private let cName: UnsafeMutablePointer<CChar>

    init() throws {
        real = try #require(sqlite3_vfs_find(nil))
        name = "watched-\(UInt64.random(in: .min ... .max))"
        cName = try #require(strdup(name))
        own = .allocate(capacity: 1)
        own.initialize(to: real.pointee)
        own.pointee.pNext = nil
        own.pointee.zName = UnsafePointer(cName)
        own.pointee.szOsFile = CInt(MemoryLayout<WatchedFile.Handle>.size)
        own.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
        own.pointee.xOpen = { vfs, path, file, flags, outFlags in
            WatchedDisk.of(vfs).open(path, file, flags, outFlags)
        }
        own.pointee.xDelete = { vfs, path, isSynchronous in WatchedDisk.of(vfs).remove(path, isSynchronous) }
        own.pointee.xGetLastError = { vfs, _, _ in WatchedDisk.of(vfs).state.withLock(\.code) }
        try #require(sqlite3_vfs_register(own, 0) == SQLITE_OK)
    }

    deinit {
        sqlite3_vfs_unregister(own)
        own.deallocate()
        free(cName)
    }

    /// The `n`-th operation, from 1, that can fail so does; none does any more with `nil`.
    func fail(_ fault: DiskFault?, at n: Int = 1) {
        state.withLock { state in
            state.fault = fault
            state.patience = n - 1
            state.hasFailed = false
        }
    }

    var hasFailed: Bool { state.withLock(\.hasFailed) }
    var steps: [DiskStep] { state.withLock(\.steps) }
    /// How many steps there were.
    var position: Int { state.withLock(\.steps.count) }

    func note(_ step: DiskStep) { state.withLock { $0.steps.append(step) } }

    /// How an operation is to fail, if it is.
    func fault(in kind: Kind) -> DiskFault? {
        state.withLock { state in
            guard let fault = state.fault, !state.hasFailed, fault.concerns(kind) else { return nil }
            state.patience -= 1
            if state.patience >= 0 { return nil }
            state.hasFailed = true
            state.code = fault == .full ? ENOSPC : fault == .short ? 0 : EIO
            return fault
        }
    }

    func noteSystemError() { state.withLock { $0.code = errno } }

    private static func of(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> WatchedDisk {
        guard let context = vfs?.pointee.pAppData else { preconditionFailure("SQLite gives what it was given") }
        return Unmanaged<WatchedDisk>.fromOpaque(context).takeUnretainedValue()
    }

    private func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: CInt,
        _ outFlags: UnsafeMutablePointer<CInt>?
    ) -> CInt {
        guard let file, let open = real.pointee.xOpen else { return SQLITE_CANTOPEN }
        file.pointee.pMethods = nil
        let underlying = UnsafeMutableRawPointer.allocate(byteCount: Int(real.pointee.szOsFile), alignment: 16)
            .bindMemory(to: sqlite3_file.self, capacity: 1)
        let code = open(real, path, underlying, flags, outFlags)
        guard code == SQLITE_OK else {
            noteSystemError()
            underlying.deallocate()
            return code
        }
        let name = Self.name(path)
        note(.open(name))
        WatchedFile(name, on: self, underlying).attach(to: file)
        return SQLITE_OK
    }

    private func remove(_ path: UnsafePointer<CChar>?, _ isSynchronous: CInt) -> CInt {
        if fault(in: .change) != nil { return CSQLite_deleteFailed }
        let code = real.pointee.xDelete(real, path, isSynchronous)
        if code == SQLITE_OK { note(.remove(Self.name(path))) } else { noteSystemError() }
        return code
    }

    private static func name(_ path: UnsafePointer<CChar>?) -> String {
        path.map { String(cString: $0).split(separator: "/").last.map(String.init) ?? "" } ?? ""
    }
}

extension DiskFault {
    fileprivate func concerns(_ kind: WatchedDisk.Kind) -> Bool {
        switch self {
        case .error: true
        case .full: kind == .write || kind == .sharedMemory
        case .short: kind == .write
        case .synchronization: kind == .synchronization
        }
    }
}

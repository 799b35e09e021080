import ChatModel
import Foundation
import Glibc

/// What a crash does to that which was written and not yet synchronised.
enum Crash: String, CaseIterable {
    /// The process ends: the system has all of it.
    case process
    /// The power fails, and none of it got to the disk.
    case power
    /// Some of the operations got there, in any order.
    case partly
    /// Some sectors got there; of others a front, or nobody knows what.
    case torn
}

/// The files of a database as far as they are on the disk, and what was done to them since.
///
/// A write that is cut off does no harm beside where it writes to, as SQLite assumes by default
/// (SQLITE_IOCAP_POWERSAFE_OVERWRITE).
struct DiskImage {
    private enum Change {
        case make
        case write(Int, [UInt8])
        case truncate(Int)
        case remove

        /// Whether it changes the directory, and not the file.
        var isOfName: Bool {
            switch self {
            case .make, .remove: true
            case .write, .truncate: false
            }
        }
    }

    private struct File {
        /// `nil` if there is none.
        var kept: [UInt8]?
        var changes: [Change] = []
        var isThere = false

        /// The directory is on the disk: what was removed stays away, what was made is there, though maybe empty.
        mutating func settleName() {
            if let place = changes.lastIndex(where: { if case .remove = $0 { true } else { false } }) {
                kept = nil
                changes.removeFirst(place + 1)
            }
            if let place = changes.firstIndex(where: \.isOfName) {
                kept = kept ?? []
                changes.remove(at: place)
            }
        }
    }

    private static let sector = 512  // bytes
    private var files: [String: File] = [:]

    /// Counts what got to the disk, or went from it.
    private(set) var keptVersion = 0
    /// Whether all that was done is on the disk, so that every crash leaves the same.
    var isSettled: Bool { files.values.allSatisfy(\.changes.isEmpty) }

    /// Which files there ever were.
    var names: [String] { files.keys.sorted() }

    mutating func follow(_ step: DiskStep) {
        switch step {
        case .open(let name): if !name.hasSuffix("-shm"), files[name]?.isThere != true { add(.make, to: name) }
        case .write(let name, let offset, let bytes): add(.write(offset, bytes), to: name)
        case .truncate(let name, let size): add(.truncate(size), to: name)
        case .remove(let name): if files[name] != nil { add(.remove, to: name) }
        // What the disk failed to keep it doesn't try to keep again: later calls say nothing about it (fsync(2)).
        case .synchronize(let name, let isDone): settle(name, isDone)
        }
    }

    private mutating func add(_ change: Change, to name: String) {
        files[name, default: File()].changes.append(change)
        if case .remove = change { files[name]?.isThere = false } else { files[name]?.isThere = true }
    }

    private mutating func settle(_ name: String, _ isDone: Bool) {
        guard var file = files[name], !file.changes.isEmpty else { return }
        keptVersion += 1
        if isDone {
            // SQLite synchronises the directory with a file that it made.
            if file.changes.contains(where: \.isOfName) { for other in files.keys { files[other]?.settleName() } }
            for change in file.changes { Self.apply(change, to: &file.kept) }
        }
        file.changes = isDone ? [] : file.changes.filter(\.isOfName)
        files[name] = file
    }

    /// A file as a crash leaves it; `nil` if there is none.
    func content(of name: String, after crash: Crash, _ dice: inout SplitMix64) -> [UInt8]? {
        guard let file = files[name] else { return nil }
        var content = file.kept
        if crash == .power { return content }
        for change in file.changes {
            switch (crash, change) {
            case (.torn, .write(let offset, let bytes)): Self.tear(bytes, at: offset, into: &content, &dice)
            case (.process, _): Self.apply(change, to: &content)
            default: if Bool.random(using: &dice) { Self.apply(change, to: &content) }
            }
        }
        return content
    }

    private static func apply(_ change: Change, to content: inout [UInt8]?) {
        switch change {
        case .make: content = content ?? []
        case .remove: content = nil
        case .truncate(let size):
            if let count = content?.count, count > size { content?.removeLast(count - size) }
        case .write(let offset, let bytes): write(bytes[...], at: offset, into: &content)
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, at offset: Int, into content: inout [UInt8]?) {
        var whole = content.take() ?? []
        if whole.count < offset + bytes.count { whole += zeros(offset + bytes.count - whole.count) }
        whole.withUnsafeMutableBytes { target in
            bytes.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + source.count]).copyMemory(from: source)
            }
        }
        content = whole
    }

    private static func zeros(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            buffer.baseAddress.map { _ = memset($0, 0, count) }
            initialized = count
        }
    }

    private static func tear(_ bytes: [UInt8], at offset: Int, into content: inout [UInt8]?, _ dice: inout SplitMix64) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, ((offset + start) / sector + 1) * sector - offset)
            switch Int.random(in: 0..<6, using: &dice) {
            case 0, 1: write(bytes[start..<end], at: offset + start, into: &content)
            case 2:
                let cut = Int.random(in: start...end, using: &dice)
                write(bytes[start..<cut], at: offset + start, into: &content)
            case 3:
                let noise = (start..<end).map { _ in UInt8.random(in: .min ... .max, using: &dice) }
                write(noise[...], at: offset + start, into: &content)
            default: break
            }
            start = end
        }
    }

    /// Makes the directory's files what a crash leaves of them; those that stay keep their inodes.
    func materialise(after crash: Crash, in directory: String, _ dice: inout SplitMix64) throws {
        let shared = "\(directory)/history.db-shm"
        if FileManager.default.fileExists(atPath: shared) { try FileManager.default.removeItem(atPath: shared) }
        for name in names {
            let path = "\(directory)/\(name)"
            let content = content(of: name, after: crash, &dice)
            // History makes the database's file itself, and synchronises the directory before SQLite sees it.
            guard let content = content ?? (name == "history.db" ? [] : nil) else {
                if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
                continue
            }
            if !FileManager.default.fileExists(atPath: path) {
                guard FileManager.default.createFile(atPath: path, contents: nil) else {
                    throw Complaint("can't make \(path)")
                }
            }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: content)
            try file.close()
        }
    }
}

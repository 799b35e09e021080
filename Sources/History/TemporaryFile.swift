import Foundation
import Glibc
import SystemCalls

/// A file that appears under its name only when it is whole, and vanishes otherwise; mode 0600.
///
/// It has no name until then, so that a crash leaves nothing; where the file system has no nameless files, it has one
/// that ends in ``suffix``.
final class TemporaryFile {
    static let suffix = ".tmp"

    let descriptor: Descriptor
    private let directory: Directory
    private var name: String?

    /// Makes the file; with a name at once if `isNamed`, also where it needs none.
    init(in directory: Directory, isNamed: Bool = false) throws(SystemCallError) {
        self.directory = directory
        if !isNamed, let nameless = try openNameless(in: directory.descriptor.number, directory.path) {
            descriptor = nameless
            return
        }
        let name = ".\(UUID().uuidString)\(Self.suffix)"
        descriptor = try directory.open(name, O_CREAT | O_EXCL | O_RDWR, mode: 0o600)
        self.name = name
    }

    deinit {
        if let name { unlinkat(directory.descriptor.number, name, 0) }
    }

    /// Gives the file its name once its content is on the disk; ``Directory/synchronize()`` puts the name there too.
    ///
    /// - Returns: Whether the name was free; nothing is ever replaced, and a symbolic link isn't followed.
    func publish(as newName: String) throws(SystemCallError) -> Bool {
        let subject = "\(directory.path)/\(newName)"
        try systemCall("fsync", subject) { fsync(descriptor.number) }
        do throws(SystemCallError) {
            if let name {
                try rename(name, to: newName)
            } else {
                try link(AT_FDCWD, "/proc/self/fd/\(descriptor.number)", to: newName)
            }
        } catch {
            if error.code == EEXIST { return false }
            throw error
        }
        name = nil
        return true
    }

    private func rename(_ name: String, to newName: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            try renameWithoutReplacing(name, to: newName, in: directory.descriptor.number)
        } catch {
            if error.code != EINVAL { throw error }
            // The file system can't promise that of a rename, but of a link; such as NFS.
            try link(directory.descriptor.number, name, to: newName)
            try directory.remove(name)
        }
    }

    private func link(_ place: CInt, _ name: String, to newName: String) throws(SystemCallError) {
        try systemCall("link", "\(directory.path)/\(newName)") {
            linkat(place, name, directory.descriptor.number, newName, place == AT_FDCWD ? AT_SYMLINK_FOLLOW : 0)
        }
    }
}

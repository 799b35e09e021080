public import ChatModel
import Dispatch
import Glibc
import SystemCalls

extension BlobStore {
    /// Puts a copy of a complete blob where its user finds it, mode 0600; nothing is ever replaced.
    ///
    /// - Parameters:
    ///   - root: Which blob.
    ///   - label: The file's name; if it is taken, ` (2)` and so on goes before its extension.
    ///   - path: The directory. Made if missing, mode 0700; may be a symbolic link to one. Links in it aren't followed.
    /// - Returns: The file's absolute path.
    /// - Throws: `unsafeName` for a label that isn't one plain name, `unknown`, `full`, `io`; `damaged` if the bytes no
    ///   longer are the blob's, which is incomplete from then on.
    public func place(
        _ root: BlobRoot, named label: String, in path: String
    ) throws(BlobError) -> String {
        dispatchPrecondition(condition: .onQueue(queue))
        guard PlaceName.isPlain(label) else { throw .unsafeName(label) }
        guard let blob = try complete(root) else { throw .unknown(root) }
        let path = try asBlobError { () throws(SystemCallError) -> String? in
            let target = try Directory(making: absolute(path))
            let copy = try TemporaryFile(in: target)
            guard try fill(copy, with: blob, in: target.path) else { return nil }
            let name = try publish(copy, named: label, in: target)
            try target.synchronize()
            return "\(target.path)/\(name)"
        }
        if let path { return path }
        try demote(root)
        throw .damaged(root)
    }

    /// - Returns: Whether the bytes are the blob's still.
    private func fill(
        _ copy: TemporaryFile, with blob: Complete, in directory: String
    ) throws(SystemCallError) -> Bool {
        let chunks = Chunks(file: copy.descriptor, size: blob.chunks.size, subject: directory)
        let isCloned = clone(blob.chunks.file.number, to: copy.descriptor.number)
        for index in 0..<chunks.count {
            let bytes = try (isCloned ? chunks : blob.chunks).read(index)
            if Chunks.hash(bytes) != blob.list.hashes[index] { return false }
            if !isCloned { try chunks.write(bytes, at: index) }
        }
        return true
    }

    private func publish(
        _ copy: TemporaryFile, named label: String, in target: Directory
    ) throws(SystemCallError) -> String {
        for number in 1...PlaceName.maximumNumber {
            let name = PlaceName.name(label, number: number)
            if try copy.publish(as: name) { return name }
        }
        throw SystemCallError(call: "link", subject: "\(target.path)/\(label)", code: EEXIST)
    }

    private func absolute(_ path: String) throws(SystemCallError) -> String {
        if path.hasPrefix("/") { return path }
        guard let current = getcwd(nil, 0) else { throw SystemCallError(call: "getcwd", subject: path, code: errno) }
        defer { free(current) }
        return "\(String(cString: current))/\(path)"
    }
}

/// Names that a file may get when the one it should have is taken.
enum PlaceName {
    static let maximumNumber = 10_000
    private static let maximumLength = 255  // bytes (NAME_MAX)
    private static let maximumExtensionLength = 32  // bytes; what is longer is no extension

    /// Whether a label is one component of a path, and not one that means a directory.
    static func isPlain(_ label: String) -> Bool {
        !["", ".", ".."].contains(label) && label.utf8.count <= maximumLength
            && !label.utf8.contains(UInt8(ascii: "/")) && !label.utf8.contains(0)
    }

    /// `plan.png`, `plan (2).png`, ...; cut at a character's edge where it would be too long.
    static func name(_ label: String, number: Int) -> String {
        if number == 1 { return label }
        let dot = label.lastIndex(of: ".").flatMap { dot in
            dot > label.startIndex && label[dot...].utf8.count <= maximumExtensionLength ? dot : nil
        }
        let end = " (\(number))\(label[(dot ?? label.endIndex)...])"
        var stem = label[..<(dot ?? label.endIndex)]
        while stem.utf8.count + end.utf8.count > maximumLength { stem.removeLast() }
        return "\(stem)\(end)"
    }
}

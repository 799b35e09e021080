public import ChatModel
import Glibc
import SystemCalls

/// Why a blob could not be taken, kept or read; one line, without the name it has for people.
public enum BlobError: Error, Equatable, CustomStringConvertible {
    /// There is no room on the disk; what was received stays, and can be gone on with.
    case full(String)
    case io(String)
    case notRegular
    /// The source was written to while it was read.
    case changed
    case tooLarge(UInt64)
    /// Bytes, hashes or a size that don't belong to the root; the peer that sent them is wrong.
    case mismatch(String)
    /// What is on the disk isn't what was written there; it is fetched again like any other.
    case damaged(BlobRoot)
    /// Neither complete nor begun.
    case unknown(BlobRoot)
    /// A file name that could mean a path.
    case unsafeName(String)

    public var description: String {
        switch self {
        case .full(let text), .io(let text), .mismatch(let text): text
        case .notRegular: "not a regular file"
        case .changed: "it changed while it was read"
        case .tooLarge(let size): "\(size) bytes; the limit is \(ImageInfo.maximumSize)"
        case .damaged(let root): "blob \(root) is damaged on the disk"
        case .unknown(let root): "blob \(root) isn't here"
        case .unsafeName(let name): "'\(name)' can't be a file's name"
        }
    }

    init(_ error: SystemCallError) {
        self = [ENOSPC, EDQUOT].contains(error.code) ? .full(error.description) : .io(error.description)
    }
}

/// Runs system calls, whose errors become the store's.
func asBlobError<Result>(_ body: () throws(SystemCallError) -> Result) throws(BlobError) -> Result {
    do throws(SystemCallError) { return try body() } catch { throw BlobError(error) }
}

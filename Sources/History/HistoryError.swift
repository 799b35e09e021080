import SystemCalls
import Glibc

/// Why the history could not be opened, read or written; the text says what was being done to which file.
public enum HistoryError: Error, Equatable, CustomStringConvertible {
    case cannotOpen(String)
    /// Another process holds the database.
    case busy(String)
    /// There is no room on the disk; what was to be written wasn't, and can be tried again later.
    case full(String)
    /// The disk failed: the history takes nothing more until it is opened anew.
    case io(String)
    /// What is on the disk isn't what was written there.
    case damaged(String)
    /// The database of another room.
    case otherRoom(path: String)
    /// A newer version of the program made this database.
    case newerSchema(path: String, found: Int, known: Int)

    public var description: String {
        switch self {
        case .cannotOpen(let text), .busy(let text), .io(let text), .damaged(let text): text
        case .full(let text): "\(text); free some room, then it goes on"
        case .otherRoom(let path): "\(path) is another room's history"
        case .newerSchema(let path, let found, let known):
            "\(path) is of a newer version (schema \(found), this one knows \(known)); it is left as it is"
        }
    }

    init(_ error: SystemCallError) {
        self =
            switch error.code {
            case ENOSPC, EDQUOT: .full(error.description)
            case EIO: .io(error.description)
            default: .cannotOpen(error.description)
            }
    }
}

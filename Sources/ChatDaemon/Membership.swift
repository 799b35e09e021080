import ChatModel
import Control
import Glibc
import Identity
import Locking
import Rx
import SystemCalls

/// Which room, under which name.
struct Membership: Equatable, Sendable {
    var room: String
    var name: String
    /// Where a keyed room's key is.
    var keyFile: String?
    /// What is in there; `nil` for an open room.
    var key: ChatKey?

    var id: RoomID { key?.roomID ?? RoomID(openRoom: room) }

    /// Takes what the command line says, else what was remembered, else the login name.
    ///
    /// A key names its room. One that was remembered counts as long as no other room is asked for.
    ///
    /// - Throws: With status 64 where no room is known, or a name can't be; as ``KeyFile/read(_:)``.
    static func choose(
        _ options: DaemonOptions, remembered: Membership?, environment: [String: String]
    ) throws(CommandFailure) -> Membership {
        let keyFile = options.keyFile ?? (options.room == nil ? remembered?.keyFile : nil)
        let key = try keyFile.map { file throws(CommandFailure) in try KeyFile.read(file) }
        guard let room = (options.room ?? key?.room ?? remembered?.room).map({ Names.folded(room: $0) }) else {
            throw CommandFailure(.usage, "which room? Try: chatd --room lab")
        }
        if let key, key.room != room {
            throw CommandFailure(.usage, "the key is of room '\(key.room)', not of '\(SafeText.line(room))'")
        }
        let name = options.name ?? remembered?.name ?? loginName(environment)
        let choice = canCreateChatRoom(displayName: .just(name), serviceType: .just(room), done: .just(()))
        // Whoever edits names in a window subscribes to both; a command line has chosen once.
        let outcome = Locked<Result<Membership, CommandFailure>?>(nil)
        _ = choice.create.subscribe(onNext: { membership in outcome.withLock { $0 = .success(membership) } })
        _ = choice.complaint.subscribe(onNext: { complaint in
            outcome.withLock { $0 = .failure(CommandFailure(.usage, SafeText.line(complaint))) }
        })
        guard let result = outcome.withLock({ $0 }) else { throw CommandFailure(.software, "no name was chosen") }
        var membership = try result.get()
        (membership.keyFile, membership.key) = (keyFile, key)
        return membership
    }

    private static func loginName(_ environment: [String: String]) -> String {
        if let user = getpwuid(geteuid()), let name = user.pointee.pw_name { return String(cString: name) }
        return environment["USER"] ?? "user\(geteuid())"
    }

    /// Reads what ``remember(in:)`` wrote; `nil` if there is nothing of use.
    init?(rememberedIn file: String) {
        guard let bytes = try? readFile(file, limit: 8_192) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 2, Names.isValid(displayName: String(lines[1]), serviceType: String(lines[0])) else {
            return nil
        }
        self.init(room: String(lines[0]), name: String(lines[1]))
        if lines.count > 2, lines[2].hasPrefix("/") { keyFile = String(lines[2]) }
    }

    init(room: String, name: String) {
        self.room = room
        self.name = name
    }

    func remember(in file: String) throws(SystemCallError) {
        try replaceFile(file, with: Array("\(room)\n\(name)\n\(keyFile.map { "\($0)\n" } ?? "")".utf8))
    }
}

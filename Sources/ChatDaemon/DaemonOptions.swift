import Addressing
import ChatModel
import ChatSession
import Control
import Discovery
import Glibc
import Transport

/// What `chatd` was asked to do.
struct DaemonOptions: Equatable {
    var room: String?
    var name: String?
    /// Absolute.
    var keyFile: String?
    var stateDirectory: String?
    var downloads: String?
    var discovery = DiscoveryMode.auto
    var places: [String] = []
    var listen: ListenAddress?
    /// In bytes.
    var autoFetch: UInt64?
    var admission = Admission.open
    var takesRouted = false

    private static let room = CommandOption(
        "room", value: "ROOM", help: "Join this room: 1 to 15 letters, digits and hyphens; remembered")
    private static let name = CommandOption(
        "name", value: "NAME", help: "Be seen under this name; the login name by default; remembered")
    private static let keyFile = CommandOption(
        "key-file", value: "FILE", help: "Join the room that this key is of, see 'chat key new'; remembered")
    private static let stateDirectory = CommandOption(
        "state-dir", value: "DIR", help: "Keep everything in DIR, the socket too")
    private static let downloads = CommandOption(
        "downloads", value: "DIR", help: "Put received images into DIR; ~/Downloads/chat/ROOM by default")
    private static let discovery = CommandOption(
        "discovery", value: "HOW", help: "Find peers by auto, avahi, embedded or none; auto by default")
    private static let peer = CommandOption(
        "peer", value: "HOST:PORT", isRepeatable: true, help: "Dial this peer too, whatever is discovered")
    private static let listen = CommandOption(
        "listen", value: "ADDR:PORT", help: "Wait for peers there; [::] and the port of last time by default")
    private static let routed = CommandOption(
        "routed",
        help: "Let all peers in from beyond this host's own networks, not only those of --peer, met or hinted")
    private static let autoFetch = CommandOption(
        "auto-fetch", value: "SIZE", help: "Fetch images up to SIZE, such as 100M, by themselves; 32M by default")

    private static let admit = CommandOption(
        "admit", value: "WHOM",
        help: "Let in everybody (open), those met before (known), or ask about others (ask); open by default")

    static let table = OptionTable(
        "chatd", summary: "Keep this host in a chat room with the others on its network",
        options: [room, name, keyFile, stateDirectory, downloads, discovery, peer, listen, routed, autoFetch, admit],
        notes: [
            "Runs until it is interrupted, and logs on standard error. Talk through it with 'chat'.",
            "A room without a key is open: anybody on this network can join and read it.",
        ])

    init(_ parsed: ParsedArguments) throws(UsageError) {
        let table = Self.table
        if let operand = parsed.operands.first { throw table.error("'\(SafeText.line(operand))' is not an option") }
        room = parsed[Self.room]
        name = parsed[Self.name]
        keyFile = try Self.path(parsed[Self.keyFile], Self.keyFile)
        stateDirectory = try Self.path(parsed[Self.stateDirectory], Self.stateDirectory)
        downloads = try Self.path(parsed[Self.downloads], Self.downloads)
        if let text = parsed[Self.discovery] {
            guard let mode = DiscoveryMode(rawValue: text) else {
                throw table.error("--discovery is one of auto, avahi, embedded, none")
            }
            discovery = mode
        }
        if let text = parsed[Self.admit] {
            guard let admission = Admission(rawValue: text) else {
                throw table.error("--admit is one of open, known, ask")
            }
            self.admission = admission
        }
        takesRouted = parsed.has(Self.routed)
        places = parsed.all(Self.peer)
        for place in places {
            do throws(HostPort.Malformed) { _ = try HostPort.parse(place) } catch {
                throw table.error("--peer: \(error)")
            }
        }
        listen = try parsed[Self.listen].map { text throws(UsageError) in try Self.listenAddress(text) }
        autoFetch = try parsed[Self.autoFetch].map { text throws(UsageError) in try Self.size(text) }
    }

    /// Absolute, so that a later change of directory means nothing.
    private static func path(_ text: String?, _ option: CommandOption) throws(UsageError) -> String? {
        guard let text else { return nil }
        if text.isEmpty { throw table.error("--\(option.name) needs a path") }
        if text.hasPrefix("/") { return text }
        guard let here = getcwd(nil, 0) else { throw table.error("the current directory is gone") }
        defer { free(here) }
        return "\(String(cString: here))/\(text)"
    }

    private static func listenAddress(_ text: String) throws(UsageError) -> ListenAddress {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw table.error("--listen needs ADDR:PORT, such as [::]:7311 or 10.0.0.7:0")
        }
        let host = text[..<colon]
        if host == "[::]" || host == "*" { return .everywhere(port: port) }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
        guard let endpoint = Endpoint(numericHost: bare, port: port) else {
            throw table.error("--listen: '\(SafeText.line(bare))' is no address")
        }
        return .only(endpoint)
    }

    /// Bytes, or with K, M or G so many KiB, MiB or GiB.
    private static func size(_ text: String) throws(UsageError) -> UInt64 {
        let units: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        let unit = text.last.flatMap { units[Character($0.uppercased())] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard let count = UInt64(digits), count <= ImageInfo.maximumSize / (unit ?? 1) else {
            throw table.error("--auto-fetch needs a size, such as 32M")
        }
        return count * (unit ?? 1)
    }
}

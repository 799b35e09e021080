import ChatModel
import Dispatch
public import Identity
import SystemCalls

extension History {
    /// Opens the room's history, or begins one.
    ///
    /// A damaged database is set aside under another name and a new one begun; ``HistoryOpened/notice`` says so. To be
    /// called from any thread but ``queue``; that one process at a time has the directory is the caller's business.
    ///
    /// - Parameters:
    ///   - directory: Made if missing, mode 0700; the database in it is `history.db`, mode 0600.
    ///   - room: Whose events these are; another room's database is refused.
    ///   - key: Signs own events; its peer is their author.
    /// - Returns: The history, and what was found in it.
    /// - Throws: `newerSchema` and `cannotOpen` leave the file as it is.
    public static func open(
        directory: String, room: RoomID, key: SigningKey
    ) throws(HistoryError) -> (History, HistoryOpened) {
        try open(DatabaseFile(in: directory), room: room, key: key)
    }

    static func open(
        _ file: DatabaseFile, room: RoomID, key: SigningKey
    ) throws(HistoryError) -> (History, HistoryOpened) {
        do throws(HistoryError) {
            return try openOnce(file, room: room, key: key)
        } catch {
            guard case .damaged(let reason) = error else { throw error }
            let name = try setAside(file)
            var (history, opened) = try openOnce(file, room: room, key: key)
            opened.notice =
                "the history was damaged and is kept as \(name); what others have of it comes back (\(reason))"
            return (history, opened)
        }
    }

    private static func setAside(_ file: DatabaseFile) throws(HistoryError) -> String {
        do throws(SystemCallError) { return try file.setAside() ?? "" } catch { throw HistoryError(error) }
    }

    private static func openOnce(
        _ file: DatabaseFile, room: RoomID, key: SigningKey
    ) throws(HistoryError) -> (History, HistoryOpened) {
        let (writer, isNew) = try Schema.openChecked(file, of: room)
        try secure(writer)
        let history = History(
            file, birth: try file.birth(), writer: writer, reader: try file.open(.reading), room: room, key: key,
            queue: DispatchQueue(label: "History"))
        let opened = history.queue.sync {
            Result { () throws(HistoryError) in try history.load(isNew: isNew) }
        }
        return (history, try opened.get())
    }

    /// Has what the last run committed written to the disk once more: it may have ended on a disk that failed.
    ///
    /// With a disk that is full it stays where it is; nothing is confirmed then anyway.
    private static func secure(_ writer: Database) throws(HistoryError) {
        do throws(HistoryError) { try writer.checkpoint() } catch {
            guard case .full = error else { throw error }
        }
    }

    /// Reads what is kept in memory.
    private func load(isNew: Bool) throws(HistoryError) -> HistoryOpened {
        let isOtherFile = try loadBirth()
        try loadLogs()
        if isOtherFile {
            try write { change throws(HistoryError) in
                try writer.run("UPDATE birth SET inode = ?, time = ?, machine = ?", birth.values)
                try openIncarnation(&change)
            }
        }
        bringOrderCurrent()
        untaggedCount = try countUntagged()
        bringTagsCurrent()
        return HistoryOpened(
            ranges: logs.mapValues(\.ranges), ownLog: ownLog, isNewIncarnation: isNew || isOtherFile,
            forks: try loadForks(),
            latestClock: try latestClock(), unfinishedImages: try unfinishedImages())
    }

    /// - Returns: Whether the file is another than the one that the row was last written in.
    private func loadBirth() throws(HistoryError) -> Bool {
        let found = try reader.first("SELECT room, incarnation, inode, time, machine, indexed, ordered FROM birth") {
            row in
            (
                room: row.blob(0), incarnation: Incarnation(row.blob(1)),
                birth: DatabaseFile.Birth(
                    file: FileBirth(inode: UInt64(bitPattern: row.integer(2)), time: row.integer(3)),
                    machine: row.text(4) ?? ""),
                tagged: row.integer(5), ordered: row.integer(6)
            )
        }
        guard let found, let incarnation = found.incarnation else {
            throw .damaged("read \(file.path): it has no birth certificate")
        }
        if found.room != room.bytes { throw .otherRoom(path: file.path) }
        ownLog.incarnation = incarnation
        (tagged, ordered) = (found.tagged, found.ordered)
        return found.birth != birth
    }

    private func loadLogs() throws(HistoryError) {
        let rows = try reader.all("SELECT row, author, incarnation, audience FROM log") { row in
            (row: row.integer(0), log: LogID(author: row.blob(1), incarnation: row.blob(2), audience: row.blob(3)))
        }
        for (row, log) in rows {
            logIDs[row] = log
            guard let log, let state = try loadState(row) else {
                throw .damaged("read \(file.path): log \(row) makes no sense")
            }
            logs[log] = state
        }
        newestRow = try reader.first("SELECT max(row) FROM batch", [], { $0.integer(0) }) ?? 0
        if tagged > newestRow || ordered > newestRow && ordered != Self.allRows { try rebuildIndex() }
        for life in try reader.all("SELECT author, incarnation FROM fork", [], { ($0.blob(0), $0.blob(1)) }) {
            guard let log = LogID(author: life.0, incarnation: life.1, audience: Bytes32.zero.bytes) else { continue }
            forked.insert(Life(log))
        }
    }

    private func loadForks() throws(HistoryError) -> [LogID: Batch] {
        let proofs = try reader.all("SELECT proof FROM fork", []) { row in try? Batch(stored: row.blob(0), in: room) }
        return proofs.reduce(into: [:]) { forks, proof in if let proof { forks[proof.log] = proof } }
    }

    /// From now on own events go into a log that nobody has seen.
    func openIncarnation(_ change: inout Change) throws(HistoryError) {
        let incarnation = Incarnation.random()
        try writer.run("UPDATE birth SET incarnation = ?", [.blob(incarnation.bytes)])
        change.ownLog = LogID(author: key.peer, incarnation: incarnation)
    }
}

extension LogID {
    fileprivate init?(author: [UInt8], incarnation: [UInt8], audience: [UInt8]) {
        guard let author = PeerID(author), let incarnation = Incarnation(incarnation), let audience = Bytes32(audience)
        else { return nil }
        self.init(author: author, incarnation: incarnation, audience: audience)
    }
}

import ChatModel
import Identity

/// The tables, and what is done to a database file before they are used.
enum Schema {
    static let version = migrations.count + 1
    /// "Chat" in ASCII, so that file(1) and we tell our databases from others' (sqlite.org/pragma.html).
    static let applicationID = 0x4368_6174

    /// What `run`, `tags` and `image.batch` hold follows from `batch`.
    ///
    /// It may be made anew at any time; all else is the truth. `birth.ordered` and `birth.indexed` are the rows of `batch`
    /// up to which the first and the second of these go.
    ///
    /// No number of a log is in two rows: `fresh` to `last` are those that were new with a row's batch, which may reach
    /// further both ways. `gap` has what is missing of a log below its highest number.
    private static let tables = [
        """
        CREATE TABLE birth (
            one INTEGER PRIMARY KEY CHECK (one = 1), room BLOB NOT NULL, incarnation BLOB NOT NULL,
            inode INTEGER NOT NULL, time INTEGER NOT NULL, machine TEXT NOT NULL, indexed INTEGER NOT NULL,
            ordered INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        """
        CREATE TABLE log (
            row INTEGER PRIMARY KEY, author BLOB NOT NULL, incarnation BLOB NOT NULL, audience BLOB NOT NULL,
            UNIQUE (author, incarnation, audience)
        ) STRICT
        """,
        """
        CREATE TABLE batch (
            row INTEGER PRIMARY KEY, log INTEGER NOT NULL REFERENCES log, first INTEGER NOT NULL,
            fresh INTEGER NOT NULL, last INTEGER NOT NULL, last_id BLOB NOT NULL, arrived INTEGER NOT NULL,
            bytes BLOB NOT NULL, UNIQUE (log, last)
        ) STRICT
        """,
        """
        CREATE TABLE nonce (nonce BLOB PRIMARY KEY, batch INTEGER NOT NULL, place INTEGER NOT NULL)
        STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE fork (
            author BLOB NOT NULL, incarnation BLOB NOT NULL, proof BLOB NOT NULL, PRIMARY KEY (author, incarnation)
        ) STRICT
        """,
        gap,
        run,
        tags,
        """
        CREATE TABLE image (id BLOB PRIMARY KEY, batch INTEGER, place INTEGER, outcome INTEGER, detail TEXT) STRICT
        """,
        "CREATE INDEX image_unfinished ON image (batch, place) WHERE outcome IS NULL",
        "CREATE TABLE peer (key BLOB PRIMARY KEY, name TEXT NOT NULL, seen INTEGER NOT NULL) STRICT",
        standing,
        address,
        "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    ]

    /// What was decided about a peer, and since when it is known by its name.
    private static let standing = """
        CREATE TABLE IF NOT EXISTS standing (
            key BLOB PRIMARY KEY, first INTEGER NOT NULL, named INTEGER NOT NULL, verdict INTEGER NOT NULL
        ) STRICT
        """

    /// Where peers have proven their keys: endpoints behind one another, as ``Endpoint/encoded`` gives them.
    private static let address = "CREATE TABLE address (key BLOB PRIMARY KEY, endpoints BLOB NOT NULL) STRICT"

    private static let gap = """
        CREATE TABLE gap (
            log INTEGER NOT NULL REFERENCES log, first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (log, first)
        ) STRICT, WITHOUT ROWID
        """

    /// One row for each ``OrderedRun``: its level, the position of its last event, and the clock of its first one.
    ///
    /// `clock`, `start`, and `tag` (of an event's id), are unsigned numbers moved so that SQLite's signed ones sort alike.
    private static let run = """
        CREATE TABLE run (
            level INTEGER NOT NULL, clock INTEGER NOT NULL, author BLOB NOT NULL, number INTEGER NOT NULL,
            tag INTEGER NOT NULL, start INTEGER NOT NULL, batch INTEGER NOT NULL, place INTEGER NOT NULL,
            count INTEGER NOT NULL, PRIMARY KEY (level, clock, author, number, tag)
        ) STRICT, WITHOUT ROWID
        """

    /// Segments of the index by id: `row` is a segment's number and a bucket's, `entries` for each event of it the first
    /// four bytes of its id, which begin with the bucket's bits, and its place in the order of arrival, a u64.
    private static let tags = "CREATE TABLE tags (row INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT"

    /// A step from one version to the next.
    typealias Migration = [String]

    /// What makes of a database of version 1 one of version 2, and so on; none is ever changed or taken away.
    private static let migrations: [Migration] = [
        [standing],  // which databases of version 1 have only if a later program wrote them
        [address],
        deliveryTables,
        [
            "DROP TABLE line", "ALTER TABLE birth ADD COLUMN ordered INTEGER NOT NULL DEFAULT 0",
            "UPDATE birth SET indexed = 0", run, tags,
        ],
        [gap],
    ]

    /// Opens the file's database for writing, with its tables, and checked as far as SQLite can.
    ///
    /// - Returns: The connection, and whether the tables are new.
    /// - Throws: `damaged` when it isn't what SQLite wrote.
    static func openChecked(
        _ file: DatabaseFile, of room: RoomID
    ) throws(HistoryError) -> (database: Database, isNew: Bool) {
        try file.makeIfMissing()
        let database = try openOurs(file)
        if try isEmpty(database) {
            let birth = try file.birth()
            try database.transaction { () throws(HistoryError) in try create(in: database, room: room, birth: birth) }
            return (database, true)
        }
        // A page that can't be read once is no damage, though the check tells it as such.
        if try complaint(about: database) != nil, let complaint = try complaint(about: database) {
            throw .damaged("check \(file.path): \(complaint)")
        }
        try migrate(database, path: file.path)
        return (database, false)
    }

    private static func complaint(about database: Database) throws(HistoryError) -> String? {
        let answer = try database.first("PRAGMA quick_check(1)", [], { $0.text(0) ?? "" }) ?? "no answer"
        return answer == "ok" ? nil : answer.split(separator: "\n").joined(separator: " ")
    }

    /// Opens the file's database for writing if it is a room's history, or empty.
    static func openOurs(_ file: DatabaseFile) throws(HistoryError) -> Database {
        let database = try file.open(.writing)
        try requireOurs(database, path: file.path)
        guard try database.first("PRAGMA journal_mode = WAL", [], { $0.text(0) ?? "" }) == "wal" else {
            throw .cannotOpen("open \(file.path): no write-ahead log can be kept there")
        }
        try database.run("PRAGMA synchronous = FULL")
        return database
    }

    /// Brings an older database up to date, wholly or not at all, by `migrations`, the first of which is from version 1.
    static func migrate(
        _ database: Database, path: String, by migrations: [Migration] = migrations
    ) throws(HistoryError) {
        let found = try userVersion(database)
        if found == migrations.count + 1 { return }
        guard (1...migrations.count).contains(found) else {
            throw .damaged("check \(path): there never was a version \(found)")
        }
        try database.transaction { () throws(HistoryError) in
            for statement in migrations[(found - 1)...].joined() { try database.run(statement) }
            try database.run("PRAGMA user_version = \(migrations.count + 1)")
        }
    }

    private static func userVersion(_ database: Database) throws(HistoryError) -> Int {
        Int(try database.first("PRAGMA user_version", [], { $0.integer(0) }) ?? 0)
    }

    private static func isEmpty(_ database: Database) throws(HistoryError) -> Bool {
        try database.first("SELECT count(*) FROM sqlite_schema", [], { $0.integer(0) }) == 0
    }

    private static func requireOurs(_ database: Database, path: String) throws(HistoryError) {
        if try isEmpty(database) { return }
        let application = try database.first("PRAGMA application_id", [], { $0.integer(0) }) ?? 0
        if application != applicationID { throw .cannotOpen("\(path) is another program's database") }
        let found = try userVersion(database)
        if found > version { throw .newerSchema(path: path, found: found, known: version) }
    }

    private static func create(
        in database: Database, room: RoomID, birth: DatabaseFile.Birth
    ) throws(HistoryError) {
        for table in tables + deliveryTables { try database.run(table) }
        try database.run("PRAGMA application_id = \(applicationID)")
        try database.run("PRAGMA user_version = \(version)")
        try database.run(
            "INSERT INTO birth VALUES (1, ?, ?, ?, ?, ?, 0, ?)",
            [.blob(room.bytes), .blob(Incarnation.random().bytes)] + birth.values + [.integer(History.allRows)])
    }
}

extension Incarnation {
    static func random() -> Incarnation { Incarnation(UInt128.random(in: .min ... .max)) }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: value)
        return bytes
    }

    /// - Returns: `nil` unless there are exactly 16 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(bytes.reduce(0) { $0 << 8 | UInt128($1) })
    }
}

extension Int64 {
    /// A number that sorts among signed ones as `value` does among unsigned ones.
    init(ordering value: UInt64) { self = Int64(bitPattern: value ^ 1 << 63) }

    /// What ``init(ordering:)`` was given.
    var unordered: UInt64 { UInt64(bitPattern: self) ^ 1 << 63 }
}

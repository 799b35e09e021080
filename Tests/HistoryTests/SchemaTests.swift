import ChatModel
import Foundation
import Identity
import Testing

@testable import History

/// Databases of other versions of the program.
struct SchemaTests {
    let scratch: Scratch
    let key = SigningKey()
    var path: String { "\(scratch.path)/history.db" }

    init() throws { scratch = try Scratch() }

    func open() throws -> (History, HistoryOpened) { try History.open(directory: scratch.path, room: lab, key: key) }

    func database() throws -> Database { try Database(path: path, access: .writing) }

    func begin(saying words: String...) throws {
        let (history, _) = try open()
        for word in words { _ = try history.append(text(word)) }
        history.on { $0.close() }
    }

    @Test func `a newer version's database is left as it is`() throws {
        try begin(saying: "kept")
        try database().run("PRAGMA user_version = 99")
        let before = FileManager.default.contents(atPath: path)

        #expect(throws: HistoryError.newerSchema(path: path, found: 99, known: Schema.version)) { try open() }

        #expect(FileManager.default.contents(atPath: path) == before)
        #expect(try scratch.names() == ["history.db"])
    }

    @Test func `a database of each older version is brought up to date, and keeps all it has`() throws {
        #expect(Database.tablesAdded.count == Schema.version - 1)
        for version in 1..<Schema.version {
            let older = try SchemaTests()
            try older.begin(saying: "one", "two")
            let database = try older.database()
            try database.setBack(to: version)
            database.close()

            let (history, opened) = try older.open()

            #expect(opened.notice == nil && !opened.isNewIncarnation)
            #expect(try history.texts() == ["one", "two"])
            let lines = try history.on { try $0.lines(last: 2) }
            #expect(history.on { history in lines.allSatisfy { history.line($0.id) == $0 } })
            _ = try history.append(text("three", at: History.now()))
            #expect(try history.texts() == ["one", "two", "three"])
            try history.on { try $0.remember(older.key.peer, PeerRecord(name: "bob", firstSeen: 1)) }
            #expect(history.on { $0.knownPeers() }.count == 1)
            let found = try history.on {
                try $0.reader.first("PRAGMA user_version", [], { $0.integer(0) })
            }
            #expect(found == Int64(Schema.version))
            history.on { $0.close() }
        }
    }

    @Test func `steps run in order from the version that is there, all of them or none`() throws {
        try begin(saying: "kept")
        let database = try database()
        try database.run("PRAGMA user_version = 2")
        let steps = [
            ["CREATE TABLE never (a) STRICT"], ["CREATE TABLE made (a INTEGER) STRICT"],
            ["INSERT INTO made VALUES (1)", "INSERT INTO made VALUES (2)"],
        ]

        #expect(throws: HistoryError.self) {
            try Schema.migrate(database, path: path, by: steps.dropLast() + [["INSERT INTO made VALUES ('x')"]])
        }
        let halfway = try database.first("SELECT count(*) FROM sqlite_schema WHERE name = 'made'", []) { $0.integer(0) }
        try Schema.migrate(database, path: path, by: steps)
        try Schema.migrate(database, path: path, by: steps)

        #expect(halfway == 0)
        #expect(try database.all("SELECT a FROM made ORDER BY a", []) { $0.integer(0) } == [1, 2])
        #expect(try database.first("PRAGMA user_version", [], { $0.integer(0) }) == 4)
    }
}

extension Database {
    /// The tables that came with each version from the second on.
    static let tablesAdded = [["standing"], ["address"], ["roster", "holding", "receipt"], ["run", "tags"], ["gap"]]

    /// Takes away what came after a version, and gives back what was there instead.
    func setBack(to version: Int) throws {
        for table in Self.tablesAdded[(version - 1)...].joined() { try run("DROP TABLE \(table)") }
        if version < 5 {
            try run("ALTER TABLE birth DROP COLUMN ordered")
            try run("UPDATE birth SET indexed = (SELECT max(row) FROM batch)")
            try run(
                """
                CREATE TABLE line (
                    clock INTEGER NOT NULL, author BLOB NOT NULL, number INTEGER NOT NULL, tag INTEGER NOT NULL,
                    batch INTEGER NOT NULL, place INTEGER NOT NULL, kind INTEGER NOT NULL,
                    PRIMARY KEY (clock, author, number, tag, batch, place)
                ) STRICT, WITHOUT ROWID
                """)
            try run("CREATE INDEX line_tag ON line (tag)")
        }
        try run("PRAGMA user_version = \(version)")
    }
}

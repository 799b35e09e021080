import ChatModel
import Identity

extension History {
    /// When a database that failed may be opened again, and whether it may at all.
    struct Recovery {
        /// Between one try and the next.
        var pause = Duration.seconds(1)
        var last: ContinuousClock.Instant?
        /// Why nothing will do but a new start.
        var verdict: HistoryError?

        /// Takes the next try.
        mutating func begin(_ path: String) throws(HistoryError) {
            if let verdict { throw verdict }
            let now = ContinuousClock.now
            if let last, now - last < pause {
                throw .io("write \(path): an earlier write failed, and the history is not yet opened again")
            }
            last = now
        }
    }

    /// Closes the database and opens it again after a failure that left open what is on the disk.
    ///
    /// Afterwards it holds exactly what was confirmed, and that is on the disk: what wasn't confirmed is taken out, as if
    /// it never was, since its author was told that it failed. When it fails, reading goes on if that is possible.
    func openAnew() throws(HistoryError) {
        try recovery.begin(file.path)
        reader.close()
        writer.close()
        do throws(HistoryError) {
            let opened = try Schema.openOurs(file)
            reader = try file.open(.reading)
            try requireTail(in: opened)
            try opened.transaction { () throws(HistoryError) in try removeUnconfirmed(from: opened) }
            try opened.checkpoint()
            (tagged, ordered) =
                try reader.first("SELECT indexed, ordered FROM birth", [], { ($0.integer(0), $0.integer(1)) }) ?? (0, 0)
            writer = opened
            report("\(file.path) is written again, and holds all that was confirmed")
        } catch {
            guard case .damaged(let text) = error else { throw error }
            recovery.verdict = .damaged("\(text); start again, so that others fill the gap")
            throw error
        }
    }

    /// Whether all ranges still end as they were confirmed to.
    private func requireTail(in database: Database) throws(HistoryError) {
        for state in logs.values {
            let ends = try state.ranges.all.map { range throws(HistoryError) in
                try storedBatch(in: database, covering: range.numbers.upperBound, of: state.row)?.range.lastID
            }
            if ends == state.ranges.all.map(\.lastID) { continue }
            // What is lost may be known to others already: its numbers are never given out twice.
            try? database.transaction { () throws(HistoryError) in
                try database.run("UPDATE birth SET incarnation = ?", [.blob(Incarnation.random().bytes)])
            }
            throw .damaged("read \(file.path): events are gone that the disk had confirmed")
        }
    }

    private func removeUnconfirmed(from database: Database) throws(HistoryError) {
        let newest = [SQLValue.integer(newestRow)]
        try database.run("DELETE FROM nonce WHERE batch > ?", newest)
        try database.run("DELETE FROM batch WHERE row > ?", newest)
        try database.run("DELETE FROM run WHERE batch > ?", newest)
        try database.run("DELETE FROM image WHERE batch > ? AND outcome IS NULL", newest)
        try database.run("UPDATE image SET batch = NULL, place = NULL WHERE batch > ?", newest)
        for state in logs.values { try keepGaps(of: state, in: database) }
        try database.run("DELETE FROM gap WHERE log NOT IN (SELECT log FROM batch)")
        try database.run("DELETE FROM log WHERE row NOT IN (SELECT log FROM batch)")
        try database.run("UPDATE birth SET incarnation = ?", [.blob(ownLog.incarnation.bytes)])
        for life in try database.all("SELECT author, incarnation FROM fork", [], { ($0.blob(0), $0.blob(1)) })
        where !forked.contains(where: { ($0.author.bytes, $0.incarnation.bytes) == life }) {
            try database.run(
                "DELETE FROM fork WHERE author = ? AND incarnation = ?", [.blob(life.0), .blob(life.1)])
        }
    }
}

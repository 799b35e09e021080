import ChatModel
import Identity

/// What must hold of all honest hosts once nothing goes wrong any more.
struct Check {
    private let world: World
    private let honest: [Host]

    init(_ world: World) {
        self.world = world
        honest = world.hosts.filter(\.isHonest)
    }

    private func isDoubtful(_ log: LogID) -> Bool {
        world.host(of: log.author).map { world.record.doubtful.contains($0.index) } ?? true
    }

    private func ranges(_ host: Host) -> [LogID: EventRanges] { host.disk.ranges.filter { !isDoubtful($0.key) } }

    var isSettled: Bool {
        // Whatever a liar still has to say would come while the others are compared.
        guard world.hosts.allSatisfy({ $0.unanswered.isEmpty && $0.isIdle }), let first = honest.first else {
            return false
        }
        let ranges = ranges(first)
        return honest.dropFirst().allSatisfy { self.ranges($0) == ranges } && ignorantOfForks.isEmpty
    }

    /// What keeps the hosts from having the same.
    var difference: String {
        for host in world.hosts where !host.unanswered.isEmpty { return "host \(host.index) didn't answer its client" }
        guard let first = honest.first else { return "nobody is honest" }
        for host in honest.dropFirst() where ranges(host) != ranges(first) {
            for log in Set(ranges(host).keys).union(ranges(first).keys) where ranges(host)[log] != ranges(first)[log] {
                let author = world.host(of: log.author)?.index ?? -1
                let apart = honest.filter { one in !one.kept.contains { $0 != nil } }.map(\.index)
                return """
                    hosts without a link: \(apart); host \(first.index) has \(first.disk.logs[log]?.count ?? 0) events of host \(author), \
                    host \(host.index) \(host.disk.logs[log]?.count ?? 0)
                    """
            }
        }
        if !ignorantOfForks.isEmpty { return "hosts \(ignorantOfForks) don't know of a fork" }
        return "some disk is at work"
    }

    func run() {
        for host in honest {
            checkLogs(of: host)
            checkScreen(of: host)
            checkCrowd(on: host)
        }
        checkAcknowledged()
        checkOrder()
        checkForks()
    }

    /// Where two hosts hold different events under one number, both know that the author has two histories.
    private func checkForks() {
        for index in ignorantOfForks { world.violated("host \(index) doesn't know of a fork that its peer shows") }
    }

    private var ignorantOfForks: [Int] {
        var ignorant: Set<Int> = []
        if world.record.doubtful.isEmpty { return [] }
        for one in honest {
            for (log, rows) in one.disk.logs where isDoubtful(log) {
                for other in honest where other.index > one.index && !world.links.areStrangers(one.index, other.index) {
                    guard let theirs = other.disk.logs[log] else { continue }
                    guard let common = rows.lastCommon(with: theirs) else { continue }
                    if rows.id(of: common) == theirs.id(of: common) { continue }
                    for host in [one, other] where host.disk.forks[log] == nil { ignorant.insert(host.index) }
                }
            }
        }
        return ignorant.sorted()
    }

    private func checkLogs(of host: Host) {
        var nonces: Set<Nonce> = []
        for (log, rows) in host.disk.logs {
            var (next, ranges): (UInt64, EventRanges) = (1, EventRanges())
            for row in rows.rows {
                guard row.numbers.lowerBound >= next, let id = row.batch.id(of: row.numbers.upperBound) else {
                    world.violated("host \(host.index) has a double in a log")
                    break
                }
                next = row.numbers.upperBound + 1
                ranges.insert(EventRange(numbers: row.numbers, lastID: id))
                for number in row.numbers {
                    check(row.batch.events[Int(number - row.batch.first)], log, on: host, &nonces)
                }
            }
            if ranges != rows.ranges { world.violated("host \(host.index) has other events than it counts") }
            if !ranges.gaps.isEmpty, !mayHaveGaps(log) { world.violated("host \(host.index) has a gap in a log") }
        }
    }

    /// Whether nobody may have events that were said before others of a log: they were lost with their author's database,
    /// or it withholds them.
    private func mayHaveGaps(_ log: LogID) -> Bool {
        guard let author = world.host(of: log.author) else { return true }
        return isDoubtful(log) || !author.isHonest || world.record.restored.contains(author.index)
    }

    private func check(_ event: BatchEvent, _ log: LogID, on host: Host, _ nonces: inout Set<Nonce>) {
        guard let author = world.host(of: log.author) else { return world.violated("a log of nobody") }
        if isDoubtful(log) || !author.isHonest { return }
        if !nonces.insert(event.nonce).inserted, !world.record.restored.contains(author.index) {
            world.violated("host \(host.index) has a message of host \(author.index) twice")
        }
        let said = world.record.said[event.nonce]
        let text = try? EventBody.decode(event.kind, event.body)
        if said?.host != author.index || text?.body != said.map({ .text($0.text) }) {
            world.violated("host \(host.index) has something that host \(author.index) never said")
        }
    }

    private func checkScreen(of host: Host) {
        let stored = host.disk.logs.values.reduce(0) { $0 + $1.count }
        if host.screen.count != stored {
            world.violated("host \(host.index) shows \(host.screen.count) events of \(stored)")
        }
    }

    private func checkCrowd(on host: Host) {
        let most = Dictionary(grouping: host.disk.logs.keys, by: \.author).map(\.value.count).max() ?? 0
        if most > RoomLimits().maximumLogsOfOne {
            world.violated("host \(host.index) holds \(most) logs of one author")
        }
    }

    private func checkAcknowledged() {
        for (id, place) in world.record.acknowledged.sorted(by: { $0.key < $1.key }) {
            if world.record.doubtful.contains(place.host) || world.record.excused.contains(id) { continue }
            if !world.hosts[place.host].isHonest { continue }
            for host in honest where !host.disk.holds(id, place.number, of: place.log) {
                world.violated("host \(host.index) lacks an acknowledged event of host \(place.host)")
            }
        }
    }

    /// All show the events whose clock is believed everywhere in one order.
    private func checkOrder() {
        let marked = Set(honest.flatMap(\.disk.marks.keys))
        var orders = honest.map { host in
            host.disk.order(flaw: world.flaw).filter { !marked.contains($0) }
        }
        let doubtful = Set(
            honest.flatMap { host in host.disk.logs.filter { isDoubtful($0.key) }.values.flatMap(\.allIDs) })
        orders = orders.map { $0.filter { !doubtful.contains($0) } }
        guard let first = orders.first, let other = orders.firstIndex(where: { $0 != first }) else { return }
        let odd = Set(first).symmetricDifference(orders[other])
        world.violated(
            odd.isEmpty
                ? "lines stand in another order on host \(honest[other].index)"
                : "hosts \(honest[0].index) and \(honest[other].index) don't show the same \(odd.count) lines")
    }
}

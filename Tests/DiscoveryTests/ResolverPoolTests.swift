import Testing

@testable import Discovery

struct ResolverPoolTests {
    private var pool = ResolverPool(
        limits: ResolverPool.Limits(
            resolvers: 2, instances: 4, refresh: 30_000, firstRetry: 5_000, lastRetry: 60_000))

    private func record(_ instance: Int, interface: Int32 = 2) -> RecordKey {
        RecordKey(interface: interface, family: .v4, instance: Array("\(instance)".utf8))
    }

    @Test mutating func `a record that appears is resolved once, until it vanishes`() {
        #expect(pool.appeared(record(1), at: 0) == [.start(record(1))])
        #expect(pool.appeared(record(1), at: 0) == [])
        #expect(pool.vanished(record(1), at: 1) == [.stop(record(1))])
        #expect(pool.vanished(record(1), at: 1) == [])
        #expect(pool.appeared(record(1), at: 2) == [.start(record(1))])
    }

    @Test mutating func `no more than the limit are resolved at once, the others in their order`() {
        for index in 1...4 { _ = pool.appeared(record(index), at: 0) }
        #expect([1, 2, 3, 4].map { pool.isActive(record($0)) } == [true, true, false, false])

        let afterFailure = pool.failed(record(1), at: 1)
        let afterStranger = pool.resolved(record(2), isPeer: false, at: 2)

        #expect(afterFailure == [.stop(record(1)), .start(record(3))])
        #expect(afterStranger == [.stop(record(2)), .start(record(4))])
    }

    @Test mutating func `a peer's record keeps its resolver until another record needs it, and gets it back`() {
        _ = pool.appeared(record(1), at: 0)
        _ = pool.appeared(record(2), at: 0)
        #expect(pool.resolved(record(1), isPeer: true, at: 10) == [])
        #expect(pool.resolved(record(2), isPeer: true, at: 20) == [])

        let needed = pool.appeared(record(3), at: 30)
        let early = pool.tick(at: 30_029)
        let settled = pool.resolved(record(3), isPeer: true, at: 30_029)
        let due = pool.tick(at: 30_030)

        #expect(needed == [.stop(record(1)), .start(record(3))])
        #expect(early == [])
        #expect(settled == [])
        #expect(due == [.stop(record(2)), .start(record(1))])
    }

    @Test mutating func `what doesn't resolve is tried again ever more slowly`() {
        _ = pool.appeared(record(1), at: 0)
        var now: UInt64 = 0
        for delay: UInt64 in [5_000, 10_000, 20_000, 40_000, 60_000, 60_000] {
            #expect(pool.failed(record(1), at: now) == [.stop(record(1))])
            #expect(pool.tick(at: now + delay - 1) == [])
            now += delay
            #expect(pool.tick(at: now) == [.start(record(1))])
        }
    }

    @Test func `of many records each is looked at again the more seldom, so that all together ask no more`() {
        var pool = ResolverPool()
        for index in 0..<1_024 { _ = pool.appeared(record(index), at: 0) }
        var starts = 0
        var waiting = (0..<1_024).filter { pool.isActive(record($0)) }
        for now in stride(from: 0, to: 3_600_000, by: 1_000) as StrideTo<UInt64> {
            var commands = pool.tick(at: now)
            for index in waiting { commands += pool.resolved(record(index), isPeer: true, at: now) }
            waiting = commands.compactMap { command in
                guard case .start(let key) = command else { return nil }
                return Int(String(decoding: key.instance, as: UTF8.self))
            }
            starts += waiting.count
        }

        #expect((1_024 * 5...1_024 * 16).contains(starts))
    }

    @Test mutating func `a full pool forgets whom it knows for a stranger, never a peer`() {
        for index in 1...4 { _ = pool.appeared(record(index), at: 0) }
        #expect(pool.appeared(record(5), at: 1) == [])
        #expect(pool.instanceCount == 4)

        _ = pool.resolved(record(1), isPeer: true, at: 2)
        _ = pool.resolved(record(2), isPeer: false, at: 2)
        _ = pool.appeared(record(5), at: 3)

        #expect(pool.instanceCount == 4)
        #expect(pool.vanished(record(2), at: 4) == [])
        #expect(pool.instanceCount == 4)
        _ = pool.vanished(record(1), at: 5)
        #expect(pool.instanceCount == 3)
    }

    @Test mutating func `the answer of a resolver that was stopped is not taken`() {
        #expect(pool.resolved(record(1), isPeer: true, at: 0) == [])
        #expect(!pool.isActive(record(1)))
        #expect(pool.failed(record(1), at: 0) == [])
    }

    @Test func `by default 64 are resolved at once and 1,024 instances remembered`() {
        var pool = ResolverPool()
        let started = (0..<3000).flatMap { pool.appeared(record($0), at: 0) }
        #expect(started.count == 64)
        #expect(pool.instanceCount == 1024)
    }

    @Test mutating func `a pool full of peers forgets the one that came first for a new one`() {
        for index in 1...4 { _ = pool.appeared(record(index), at: 0) }
        for index in 1...4 { _ = pool.resolved(record(index), isPeer: true, at: UInt64(index)) }

        let commands = pool.appeared(record(5), at: 10)

        #expect(commands == [.forget(record(1)), .stop(record(3)), .start(record(5))])
        #expect(pool.instanceCount == 4)
    }

    @Test mutating func `in a flood the newest has its turn as well as the oldest`() {
        for index in 1...4 { _ = pool.appeared(record(index), at: 0) }
        let turns = (1...2).flatMap { pool.failed(record($0), at: UInt64($0)) }

        #expect(turns.contains(.start(record(3))) && turns.contains(.start(record(4))))
        var flooded = ResolverPool(limits: ResolverPool.Limits(resolvers: 1))
        for index in 1...10 { _ = flooded.appeared(record(index), at: 0) }
        var order: [Int] = [1]
        for _ in 1...4 {
            for case .start(let next) in flooded.failed(record(order.last ?? 0), at: 1) {
                order.append(Int(String(decoding: next.instance, as: UTF8.self)) ?? 0)
            }
        }
        #expect(order == [1, 10, 2, 9, 3])
    }
}

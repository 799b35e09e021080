import Addressing
import Glibc
import Locking
import SystemCalls
import Testing

@testable import Transport

struct EndpointTests {
    private let endpoint = Endpoint(address: .v6(high: 0xfe80 << 48, low: 1, scope: 3), port: 7311)

    @Test func `a link-local address is shown with its interface's name, if that has one`() {
        #expect(endpoint.description == "[fe80::1%3]:7311")
        #expect(endpoint.text { $0 == 3 ? "eth0" : nil } == "[fe80::1%eth0]:7311")
        #expect(endpoint.text { _ in nil } == "[fe80::1%3]:7311")
    }

    @Test func `an interface's name is the kernel's`() {
        #expect(interfaceName(if_nametoindex("lo")) == "lo")
        #expect(interfaceName(.max) == nil)
    }
}

@Suite struct OutboxTests {
    private func frame(_ byte: UInt8, kind: UInt8 = 20) -> Frame { Frame(kind: kind, body: [byte, byte, byte]) }

    private func unwritten(_ outbox: Outbox) -> [UInt8] { outbox.withUnwritten { Array($0) } }

    @Test func `Transport's own frames go first, the session's in order`() {
        var outbox = Outbox()
        outbox.append([frame(1), frame(2)])
        outbox.append(control: frame(9, kind: 1))

        outbox.gather(1000)

        #expect(unwritten(outbox) == frame(9, kind: 1).encoded + frame(1).encoded + frame(2).encoded)
    }

    @Test func `what isn't begun can be taken back at every point`() {
        let whole = frame(1).encoded + frame(2).encoded + frame(3).encoded
        for written in 0...whole.count {
            var outbox = Outbox()
            outbox.append([frame(1), frame(2), frame(3)])
            outbox.gather(25)  // the first two
            var out: [UInt8] = []
            while out.count < written {
                outbox.gather(25)
                let part = Array(unwritten(outbox).prefix(written - out.count))
                _ = outbox.wrote(part.count)
                out += part
            }

            let unsent = outbox.takeUnsent()

            let finished = (written + 8) / 9 * 9
            #expect(out + unwritten(outbox) == Array(whole.prefix(finished)))
            #expect(unsent == [frame(1), frame(2), frame(3)].suffix(3 - finished / 9))
            #expect(outbox.sessionBytes == (written % 9 == 0 ? 0 : 9))
        }
    }

    @Test func `Transport's own frames stay when the session's are taken back`() {
        var outbox = Outbox()
        outbox.append([frame(1)])
        outbox.append(control: frame(9, kind: 1))
        outbox.gather(1000)

        let unsent = outbox.takeUnsent()
        outbox.gather(1000)

        #expect(unsent == [frame(1)])
        #expect(unwritten(outbox) == frame(9, kind: 1).encoded)
    }

    @Test func `the last frame goes behind all others`() {
        var outbox = Outbox()
        outbox.append(last: frame(7, kind: 3))
        outbox.append([frame(1), frame(2)])
        var out: [UInt8] = []
        while !outbox.isEmpty {
            outbox.gather(10)
            let part = unwritten(outbox)
            _ = outbox.wrote(part.count)
            out += part
        }

        #expect(out == frame(1).encoded + frame(2).encoded + frame(7, kind: 3).encoded)
    }

    @Test func `bytes are counted until they are written`() {
        var outbox = Outbox()
        outbox.append([frame(1), frame(2)])
        outbox.gather(1000)

        let counts = [outbox.sessionBytes, outbox.wrote(10), outbox.wrote(8), outbox.sessionBytes]

        #expect(counts == [18, 9, 9, 0])
    }
}

@Suite struct LivenessTests {
    private let limits = TransportLimits()
    private let start = SuspendingClock.now

    private func at(_ milliseconds: Int) -> SuspendingClock.Instant { start.advanced(by: .milliseconds(milliseconds)) }

    @Test func `who has written nothing for a second pings, once a second`() {
        var liveness = Liveness(now: start, limits: limits, isDialler: true)

        let idle = [999, 1000, 1500].map { liveness.judge(at($0), limits: limits) }
        liveness.didWrite(at(1600))
        let later = [2599, 2600].map { liveness.judge(at($0), limits: limits) }

        #expect(idle == [[], [.ping], []])
        #expect(later == [[], [.ping]])
    }

    @Test func `whoever was dialled waits half as long again before it pings`() {
        var liveness = Liveness(now: start, limits: limits, isDialler: false)

        let idle = [1000, 1499, 1500].map { liveness.judge(at($0), limits: limits) }

        #expect(idle == [[], [], [.ping]])
    }

    @Test func `a Ping may go a little early with others`() {
        var liveness = Liveness(now: start, limits: limits, isDialler: true)

        let early = [749, 750].map { liveness.judge(at($0), limits: limits, margin: .milliseconds(250)) }

        #expect(early == [[], [.ping]])
        #expect(liveness.next(limits) == at(1750))
    }

    @Test func `nothing for three seconds is silence, told each second until fifteen`() {
        var liveness = Liveness(now: start, limits: limits, isDialler: true)
        var told: [Int: [Liveness.Verdict]] = [:]
        for time in stride(from: 0, through: 15_000, by: 500) {
            liveness.didWrite(at(time))
            told[time] = liveness.judge(at(time), limits: limits)
        }

        #expect(told.filter { $0.value == [.silent] }.keys.sorted() == (3...14).map { $0 * 1000 })
        #expect(told[15_000] == [.dead])
    }

    @Test func `a byte ends the silence`() {
        var liveness = Liveness(now: start, limits: limits, isDialler: true)
        liveness.didWrite(at(4000))
        _ = liveness.judge(at(4000), limits: limits)

        liveness.didRead(at(4100), limits: limits)

        #expect(!liveness.isSilent(at(7099), limits: limits))
        #expect(liveness.isSilent(at(7100), limits: limits))
        #expect(liveness.next(limits) == at(5000))
    }
}

@Suite struct QueueLedgerTests {
    @Test func `whoever waits is told once, as soon as little enough is left`() {
        let (ledger, peer, told) = (QueueLedger(), Keyring.newPeer(), Locked<[Int]>([]))
        let wait = { (limit: Int) in
            ledger.whenAtMost(limit, to: peer, over: .chat) { told.withLock { $0.append(limit) } }
        }
        wait(0)
        ledger.add(100, to: peer, over: .chat)
        ledger.add(5, to: peer, over: .blob)
        for limit in [100, 50, 20] { wait(limit) }
        ledger.add(-5, to: peer, over: .blob)
        let before = told.withLock { $0 }
        ledger.add(-50, to: peer, over: .chat)
        ledger.add(10, to: peer, over: .chat)
        ledger.add(-10, to: peer, over: .chat)
        let half = told.withLock { $0 }
        ledger.add(-50, to: peer, over: .chat)

        #expect(before == [0, 100] && half == [0, 100, 50] && told.withLock { $0 } == [0, 100, 50, 20])
        #expect(ledger.bytes(to: peer, over: .chat) == 0)
    }
}

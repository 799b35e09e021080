import CAvahi
import Foundation
import Identity
import Locking
import Testing

@testable import Discovery

/// A station on a stack that isn't there, and the thread that a stack has.
struct StationTests {
    /// Notes which browsers there are.
    private final class Calls: AvahiCalls, Sendable {
        /// By type, with what its callbacks get.
        let browsers = Locked<[String: UInt]>([:])

        var lastError: CInt { 0 }
        func add(_ record: RawRecord, flags: AvahiPublishFlags, to group: OpaquePointer?) -> CInt { 0 }
        func makeBrowser(_ type: String, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
            browsers.withLock { $0[type] = UInt(bitPattern: context) }
            return OpaquePointer(context)
        }
        func freeBrowser(_ browser: OpaquePointer) {
            browsers.withLock { all in all = all.filter { $0.value != UInt(bitPattern: browser) } }
        }
        func makeResolver(_ record: RecordKey, _ name: String, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
            nil
        }
        func freeResolver(_ resolver: OpaquePointer) {}

        /// As a browser tells it.
        func tell(_ type: String, _ event: StackEvent) {
            guard let context = browsers.withLock({ $0[type] }).flatMap({ UnsafeRawPointer(bitPattern: $0) }) else {
                return
            }
            Unmanaged<StackContext>.fromOpaque(context).takeUnretainedValue().report(event)
        }
    }

    private static let room = "_lab._sub._groupchat._tcp"
    private static let all = "_groupchat._tcp"

    private func browsing(isCounting: Bool, _ report: @escaping StackReport = { _ in }) throws -> (Calls, Station) {
        let (calls, loop) = (Calls(), AvahiLoop())
        let announcement = Announcement(displayName: "alice", room: "lab", peer: SigningKey().peer, port: 1)
        let station = Station(calls, loop: loop, announcement: announcement, isCounting: isCounting, report: report)
        loop.perform { try? station.browse() }
        try eventually { !calls.browsers.withLock { $0.isEmpty } }
        return (calls, station)
    }

    @Test func `the instances of all rooms are counted until there are too many, and not asked for any more`() throws {
        let crowds = Locked(0)
        let (calls, station) = try browsing(isCounting: true) { event in
            if case .crowded = event { crowds.withLock { $0 += 1 } }
        }
        for number in 1...Crowd.limit + 1 {
            #expect(Set(calls.browsers.withLock { $0.keys }) == [Self.room, Self.all])
            let record = RecordKey(interface: 2, family: .v4, instance: Array("forged \(number)".utf8))
            calls.tell(Self.all, .appeared(record))
        }

        try eventually { Set(calls.browsers.withLock { $0.keys }) == [Self.room] }
        #expect(crowds.withLock { $0 } == 1)
        withExtendedLifetime(station) {}
    }

    @Test func `a stack that watches beside another one asks for the room's instances alone`() throws {
        let (calls, station) = try browsing(isCounting: false)

        #expect(Set(calls.browsers.withLock { $0.keys }) == [Self.room])
        withExtendedLifetime(station) {}
    }

    @Test func `a modest loop has a thread of low priority`() throws {
        let loop = AvahiLoop(isModest: true)
        let priorities = Locked<[Int]>([])
        loop.perform {
            _ = loop.begin { _ in OpaquePointer(bitPattern: 1) }
            priorities.withLock { $0 = Self.priorities }
            loop.end {}
        }

        try eventually { !priorities.withLock { $0.isEmpty } }
        #expect(priorities.withLock { $0.contains(10) })
    }

    /// How nice each thread of this process is (proc_pid_stat(5)).
    private static var priorities: [Int] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.compactMap { thread in
            let status = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
            return status?.split(separator: ")").last?.split(separator: " ").dropFirst(16).first.flatMap { Int($0) }
        }
    }

    private func eventually(_ condition: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(20)
        while !condition() {
            try #require(ContinuousClock.now < end)
            usleep(2_000)
        }
    }
}

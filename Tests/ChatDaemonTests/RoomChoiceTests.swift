import Control
import Dispatch
import Foundation
import Glibc
import ResourceCounting
import Rx
import RxTest
import Testing

@testable import ChatDaemon

@Suite(.countsResources) struct RoomChoiceTests {
    private let scheduler = TestScheduler()

    @Test func `when the choice stands it is created or complained about, by what was chosen last`() {
        let name = scheduler.createHotObservable([.next(210, ""), .next(230, "alice"), .next(250, "al\u{7}ice")])
        let room = scheduler.createHotObservable([.next(215, "lab"), .next(270, "-")])
        let done = scheduler.createHotObservable([205, 220, 240, 245, 260, 280].map { .next($0, ()) })
        let complaints = scheduler.createObserver(String.self)
        let choice = canCreateChatRoom(
            displayName: name.asObservable(), serviceType: room.asObservable(), done: done.asObservable())
        scheduler.scheduleAt(200) { _ = choice.complaint.subscribe(complaints) }

        let created = scheduler.start { choice.create }

        let alice = Membership(room: "lab", name: "alice")
        #expect(created.events == [.next(240, alice), .next(245, alice)])
        #expect(complaints.events.map(\.time) == [220, 260, 280])
        #expect(
            complaints.events.map(\.value) == [
                .next("the name is empty; a name has 1 to 63 bytes"),
                .next("the name has a control or text-direction character; use plain letters"),
                .next("room '-': use letters, digits and single hyphens between them, with at least one letter"),
            ])
    }

    @Test func `the command line comes before what is remembered, and that before the login name`() throws {
        var options = try DaemonOptions(DaemonOptions.table.parse([]))
        let last = Membership(room: "last", name: "remembered")

        #expect(try Membership.choose(options, remembered: last, environment: [:]) == last)
        (options.room, options.name) = ("Lab", "alice")
        #expect(
            try Membership.choose(options, remembered: last, environment: [:])
                == Membership(room: "lab", name: "alice"))
        options.name = nil
        #expect(try !Membership.choose(options, remembered: nil, environment: [:]).name.isEmpty)
    }

    @Test func `a name that can't be is a usage error, and so is no room`() throws {
        var options = try DaemonOptions(DaemonOptions.table.parse(["--name", "alice", "--room", "no room"]))

        let failure = #expect(throws: CommandFailure.self) {
            try Membership.choose(options, remembered: nil, environment: [:])
        }
        #expect(failure?.exit == .usage)
        options.room = nil
        #expect(throws: CommandFailure.self) { try Membership.choose(options, remembered: nil, environment: [:]) }
    }

    @Test func `what was chosen is remembered for the next start`() throws {
        let file = NSTemporaryDirectory() + "last-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(file) }
        let chosen = Membership(room: "lab", name: "Zoë 한글")

        try chosen.remember(in: file)

        #expect(Membership(rememberedIn: file) == chosen)
    }
}

@Suite(.countsResources) struct EndingSignalsTests {
    @Test func `a signal ends what it is awaited by, and nothing else of the process`() throws {
        let signals = EndingSignals()
        let heard = DispatchSemaphore(value: 0)
        let waiting = signals.arrivals.filter { $0 == SIGHUP }.subscribe(onNext: { _ in heard.signal() })

        // The source is ready at some moment after it was made; until then the signal is ignored.
        var isHeard = false
        for _ in 0..<100 where !isHeard {
            kill(getpid(), SIGHUP)
            isHeard = heard.wait(timeout: .now() + .milliseconds(200)) == .success
        }
        #expect(isHeard)
        waiting.dispose()

        try Observable<Void>.never().take(until: signals.arrivals).waitForEnd()
        #expect(throws: CommandFailure.self) {
            try Observable<Void>.error(CommandFailure(.usage, "no")).waitForEnd()
        }
    }
}

import ChatModel
import Dispatch
import Glibc
import Rx

/// What time it is, for the room.
enum Clock {
    /// On a clock that never jumps and goes on while the host sleeps, in milliseconds.
    static var now: UInt64 { milliseconds(CLOCK_BOOTTIME) }
    /// Since 1970, in milliseconds; may jump.
    static var wall: UInt64 { milliseconds(CLOCK_REALTIME) }

    private static func milliseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(max(time.tv_sec, 0)) * 1_000 + UInt64(max(time.tv_nsec, 0)) / 1_000_000
    }
}

/// Wakes the room when it asked to be.
struct ClockLoop: FeedbackLoop {
    private let ticks = PublishSubject<RoomEvent>()
    private let timer = SerialDisposable()
    private let scheduler: SerialDispatchQueueScheduler

    init(on scheduler: SerialDispatchQueueScheduler) { self.scheduler = scheduler }

    var events: Observable<RoomEvent> { ticks.asObservable() }

    func perform(_ effect: RoomEffect) {
        guard case .wake(let time) = effect else { return }
        let now = Clock.now
        let delay = Int(clamping: time > now ? time - now : 0)
        timer.disposable = scheduler.scheduleRelative((), dueTime: .milliseconds(delay)) { [ticks] in
            ticks.onNext(.tick)
            return Disposables.create()
        }
    }

    func stop() { timer.dispose() }
}

import Dispatch

/// Makes the dispatch library open the descriptor that all timers share, while there are descriptors to be had.
///
/// It opens one for the first timer and keeps it (timerfd_create(2)). Where none is left then, that timer is lost without
/// a word, and so a daemon that ran out of descriptors would never have come back from waiting for some.
func openTimerDescriptor() {
    let isDue = DispatchSemaphore(value: 0)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isDue.signal() }
    isDue.wait()
}

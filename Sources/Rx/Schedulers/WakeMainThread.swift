import Dispatch

/// Wakes the main thread's run loop, should it wait there.
package func wakeMainThread() { DispatchQueue.main.async {} }

import Dispatch
import History

extension SessionContainer {
    /// What is wrong with the stored history, a line each; waits for the disk.
    public var storageTroubles: [String] {
        let damaged = parts.history.queue.sync { parts.history.damagedBatches }
        return [
            notice, parts.storage.trouble.map { "nothing can be stored: \($0)" },
            damaged > 0
                ? "\(damaged) batches of events are damaged on the disk, and neither shown nor passed on" : nil,
        ].compactMap(\.self)
    }
}

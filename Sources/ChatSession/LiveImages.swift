import ChatModel
import Locking

/// How the images stand that are on their way, and the newest that no longer are.
final class LiveImages: Sendable {
    private struct Known {
        var states: [EventID: ImageState] = [:]
        /// Those whose end is on its way into the history, oldest first.
        var ended: [EventID] = []
    }

    private static let endedLimit = 256  // images

    private let known = Locked(Known())

    /// Takes a line that is new, or has changed.
    func note(_ line: Transcript) {
        guard let id = line.id, case .image(_, let state) = line.content else { return }
        known.withLock { known in
            known.states[id] = state
            guard state.isEnd else { return }
            known.ended.append(id)
            if known.ended.count > Self.endedLimit { known.states[known.ended.removeFirst()] = nil }
        }
    }

    /// A stored line as it stands now.
    func current(_ line: Transcript) -> Transcript {
        guard let id = line.id, case .image(let image, _) = line.content,
            let state = known.withLock({ $0.states[id] })
        else { return line }
        var line = line
        line.content = .image(image, state)
        return line
    }
}

extension ImageState {
    fileprivate var isEnd: Bool {
        switch self {
        case .sending, .receiving, .waiting: false
        case .sent, .received, .refused, .failed, .cancelled: true
        }
    }
}

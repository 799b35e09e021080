import ChatModel
import Control

/// Progress as lines of text.
enum Bars {
    /// A line for each peer, and one for the total when there are several.
    static func lines(_ view: TransferView, columns: Int) -> [String] {
        let name = SafeText.name(view.name)
        let total = line(name, view.completed, view.total, state: view.state, columns: columns)
        guard view.peers.count > 1 else {
            guard let peer = view.peers.first else { return [total] }
            let label = view.direction == .send ? "\(name) -> \(SafeText.name(peer.name))" : name
            return [line(label, view.completed, view.total, state: view.state, columns: columns)]
        }
        return view.peers.map { peer in
            line("  \(SafeText.name(peer.name))", peer.completed, peer.total, state: peer.state, columns: columns)
        } + [total]
    }

    /// What went wrong: a line for each peer, such as `bob: 40 MiB is over its limit of 32 MiB`.
    static func failures(_ view: TransferView) -> [String] {
        let peers = view.peers.filter { $0.state == .failed || $0.state == .cancelled }.map { peer in
            "\(SafeText.name(peer.name)): \(SafeText.line(peer.reason ?? peer.state.rawValue))"
        }
        if !peers.isEmpty || view.state == .done || view.state == .running { return peers }
        return ["\(SafeText.name(view.name)): \(SafeText.line(view.reason ?? view.state.rawValue))"]
    }

    /// What became of a transfer, in one line.
    static func summary(_ view: TransferView) -> String {
        let name = SafeText.name(view.name)
        let done = view.peers.filter { $0.state == .done }.map { SafeText.name($0.name) }
        if done.isEmpty { return "\(name): nobody has it yet" }
        return "\(name): \(done.joined(separator: ", ")) \(done.count == 1 ? "has" : "have") it"
    }

    /// 0 to 100; only what is complete is 100.
    static func percent(_ completed: Int, of total: Int, isDone: Bool) -> Int {
        if isDone { return 100 }
        guard total > 0, completed > 0 else { return 0 }
        return min(99, Int(Double(completed) / Double(total) * 100))
    }

    private static func line(
        _ label: String, _ completed: Int, _ total: Int, state: TransferView.State, columns: Int
    ) -> String {
        let percent = percent(completed, of: total, isDone: state == .done)
        let tail =
            switch state {
            case .running, .done: "\(percent < 10 ? "  " : percent < 100 ? " " : "")\(percent)%"
            case .failed: "failed"
            case .cancelled: "cancelled"
            }
        let labelWidth = min(28, max(8, columns / 3))
        let width = min(30, columns - labelWidth - DisplayWidth.columns(of: tail) - 4)
        let head = DisplayWidth.padded(label, to: labelWidth)
        guard width >= 5 else { return DisplayWidth.truncated("\(head) \(tail)", to: max(1, columns)) }
        let filled = width * percent / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        return "\(head) [\(bar)] \(tail)"
    }
}

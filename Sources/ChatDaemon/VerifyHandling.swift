import ChatModel
import ChatSession
import Control
import Dispatch
import History
import Identity
import Locking
import Rx

/// Whether all hold the same.
extension DaemonHandler {
    private static let patience = 5_000  // milliseconds, where nothing is said

    func verify(_ parameters: VerifyParameters, _ connection: ControlConnection, _ reply: ControlReply) {
        let subscription = session.verify(within: parameters.timeout ?? Self.patience).subscribe(
            onNext: { [self] report in reading.async { [self] in reply.succeed(result(report)) } },
            onError: { reply.fail(ControlError(describing: $0)) })
        bag(of: connection).insert(subscription)
    }

    private func result(_ report: VerifyReport) -> VerifyResult {
        var names = session.authors
        for known in session.knownPeers where !known.record.name.isEmpty { names[known.peer] = known.record.name }
        for status in session.peers { names[status.peer] = status.name }
        names[session.peer] = session.displayName
        func view(_ peer: PeerID, _ state: VerifyResult.Peer.State, _ ranges: [Difference] = []) -> VerifyResult.Peer {
            VerifyResult.Peer(
                peer: peer.description, name: names[peer] ?? peer.suffix, suffix: peer.suffix, state: state,
                ranges: ranges.map { VerifyResult.Range($0, by: names[$0.log.author] ?? $0.log.author.suffix) })
        }
        let peers =
            report.agreed.map { view($0, .same) } + report.silent.map { view($0, .silent) }
            + report.differing.map { view($0.key, .different, $0.value) }
        return VerifyResult(
            messages: Int(clamping: report.messages), peers: peers.sorted { $0.peer < $1.peer },
            forked: Set(report.forked.map(\.author)).sorted().map { "\(names[$0] ?? "") (\($0.suffix))" })
    }
}

extension VerifyResult.Range {
    fileprivate init(_ difference: Difference, by name: String) {
        let kind: Kind =
            switch difference.kind {
            case .lackedThere: .lackedThere
            case .lackedHere: .lackedHere
            case .other: .other
            }
        let log = difference.log
        self.init(
            kind: kind, author: log.author.description, name: name, suffix: log.author.suffix,
            incarnation: Nonce(log.incarnation.value).description, first: Int(clamping: difference.numbers.lowerBound),
            last: Int(clamping: difference.numbers.upperBound))
    }
}

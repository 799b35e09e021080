import ChatModel
import ChatSession
import Control
import Identity
import Locking
import Rx

/// Who has stored a message.
extension DaemonHandler {
    func delivery(_ parameters: DeliveryParameters, _ connection: ControlConnection, _ reply: ControlReply) {
        guard let id = EventID(hexadecimal: parameters.id) else {
            return reply.fail(ControlError(.usage, "a message's id has 64 hexadecimal digits"))
        }
        guard parameters.follow == true else { return read(reply) { DeliveryView(try $0.session.delivery(of: id)) } }
        let isFirst = Locked(true)
        let subscription = session.deliveries(of: id).subscribe(
            onNext: { delivery in
                let view = DeliveryView(delivery)
                let isAnswer = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if isAnswer { reply.succeed(view) } else { connection.notify(.delivery(view)) }
            }, onError: { reply.fail(ControlError(describing: $0)) })
        bag(of: connection).insert(subscription)
    }
}

extension DeliveryView {
    init(_ delivery: Delivery) {
        self.init(
            id: delivery.id.description, author: delivery.author.description, count: DeliveryCountView(delivery.count),
            peers: delivery.parts.map { part in
                Peer(
                    peer: part.peer.description, name: part.name, suffix: part.peer.suffix,
                    state: part.isStored ? .stored : delivery.isOwn ? .pending : .unknown, isMember: part.isMember,
                    presence: PeerView.State(part.state), since: part.since == 0 ? nil : Int(clamping: part.since))
            })
    }
}

extension DeliveryCountView {
    init(_ count: DeliveryCount) { self.init(stored: count.stored, members: count.members) }
}

extension PeerView.State {
    init(_ state: PeerStatus.State) {
        switch state {
        case .connected: self = .connected
        case .away: self = .away
        case .connecting: self = .connecting
        case .waiting: self = .waiting
        case .undecided: self = .undecided
        }
    }
}

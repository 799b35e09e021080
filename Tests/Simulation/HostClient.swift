import ChatModel
import Identity

/// Its client, who says everything until it is acknowledged.
extension Host {
    func say(_ text: String) {
        let nonce = Nonce(UInt128(world.chance.next()) << 64 | UInt128(world.chance.next()))
        world.record.said[nonce] = Record.Said(host: index, text: text)
        unanswered.append((nonce, text, nil))
        if isRunning, !isStopped { say(unanswered.count - 1) }
    }

    private func say(_ place: Int) {
        lastCommand += 1
        let command = CommandID(value: lastCommand)
        unanswered[place].command = command
        let nonce = unanswered[place].nonce
        later(20_000) { host in
            if host.unanswered.contains(where: { $0.nonce == nonce && $0.command == command }) {
                host.world.violated("host \(host.index) doesn't answer a client for 20 s")
            }
        }
        take(.say([Saying(.text(unanswered[place].text), nonce: nonce, command: command)]))
    }

    func sayAgain() {
        for nonce in unanswered.filter({ $0.command == nil }).map(\.nonce) {
            guard let place = unanswered.firstIndex(where: { $0.nonce == nonce }) else { continue }
            say(place)
        }
    }

    /// Uses a nonce of before for another text, which must be refused.
    func confuse(_ nonce: Nonce) {
        lastCommand += 1
        take(.say([Saying(.text("another text"), nonce: nonce, command: CommandID(value: 1 << 40 + lastCommand))]))
    }

    func reply(_ command: CommandID, _ reply: CommandReply) {
        if command.value >= 1 << 40 {
            if case .stored = reply { world.violated("host \(index) took another text under a used nonce") }
            return
        }
        guard let place = unanswered.firstIndex(where: { $0.command == command }) else {
            return world.violated("host \(index) replied to a command twice")
        }
        switch reply {
        case .stored(let id, let number, _):
            let log = durable.logs.first { $0.value.id(of: number) == id }?.key
            guard let log, log.author == peer else {
                return world.violated("host \(index) acknowledged what isn't on its disk")
            }
            unanswered.remove(at: place)
            world.record.acknowledged[id] = (index, log, number)
            world.note(2, UInt64(index), number)
        case .failed:
            unanswered[place].command = nil
            later(world.chance.among(500...3_000)) { $0.sayAgain() }
        case .done: world.violated("host \(index) answered a message as if it were a verdict")
        }
    }
}

import Dispatch

/// One timer for all that is due on links, dials and blob links.
extension Core {
    /// Makes sure that the timer runs at `instant` or before.
    func note(_ instant: Instant?) {
        guard let instant, !isClosing || !links.isEmpty else { return }
        if let due = timerDue, due <= instant { return }
        timerDue = instant
        let timer = self.timer ?? makeTimer()
        let wait = max(.zero, instant - .now)
        timer.schedule(deadline: .now() + .nanoseconds(wait.nanoseconds), leeway: .milliseconds(5))
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.timerFired() }
        timer.resume()
        self.timer = timer
        return timer
    }

    private func timerFired() {
        guard let due = timerDue.take() else { return }
        let now = Instant.now
        if now - due > limits.stall {
            // We weren't running: what the peers wrote meanwhile waits in the sockets.
            for link in Array(links.values) { link.read() }
            return note(now.advanced(by: limits.afterStall))
        }
        judgeLinks(now)
        judgeDials(now)
        judgeBlobs(now)
        noteNext()
    }

    private func noteNext() {
        let due =
            links.values.compactMap(\.nextDeadline) + dials.values.compactMap(\.nextDeadline)
            + neighbours.values.compactMap(\.blobDeadline)
        note(due.min())
    }

    private func judgeLinks(_ now: Instant) {
        for link in Array(links.values) {
            switch link.phase {
            case .up: link.purpose == .chat ? judgeChat(link, now) : judgeBlob(link, now)
            case .closed: break
            default: if let deadline = link.deadline, deadline <= now { expired(link) }
            }
        }
    }

    private func expired(_ link: Link) {
        switch link.phase {
        case .probing: probeExpired(link)
        case .draining, .discarding: drop(link)
        case .connecting: attemptEnded(link, "connect to \(link.endpoint): no answer in time")
        default: abandon(link, "nothing to tell who it is in time")
        }
    }

    private func judgeChat(_ link: Link, _ now: Instant) {
        // It is silent because we don't listen.
        if link.isHeld { link.liveness.didRead(now, limits: limits) }
        for verdict in link.liveness.judge(now, limits: limits, margin: limits.pingAfter / 4) {
            switch verdict {
            case .ping: link.send(.ping(UInt64.random(in: .min ... .max)))
            case .silent:
                guard let peer = link.peer, neighbours[peer]?.chat.kept === link else { continue }
                tell(.silent(peer))
            case .dead: ended(link, .silent)
            }
        }
    }

    private func judgeBlob(_ link: Link, _ now: Instant) {
        if let due = link.nextDeadline, due <= now { retire(link, saying: .idle, limits.drain, end: .closed) }
    }

    private func judgeDials(_ now: Instant) {
        for dial in Array(dials.values) {
            if let deadline = dial.deadline, deadline <= now {
                dialExpired(dial)
            } else if let start = dial.nextStart, start <= now {
                startNext(dial)
            }
        }
    }

    private func judgeBlobs(_ now: Instant) {
        for neighbour in Array(neighbours.values) {
            if let deadline = neighbour.blobDeadline, deadline <= now { blobEnded(neighbour) }
        }
    }
}

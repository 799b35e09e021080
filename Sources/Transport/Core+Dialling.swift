import Addressing
import Glibc
import Identity
import SystemCalls

/// Dialling: addresses in parallel, each a little after the one before, and at once when that one failed.
extension Core {
    func begin(_ dial: Dial) {
        if isClosing { return }
        dial.untried = dial.untried.flatMap(localNetworks().scoped)[...]
        dials[ObjectIdentifier(dial)] = dial
        dial.deadline = Instant.now.advanced(by: dial.replacesSilent ? limits.redial : limits.opening)
        note(dial.deadline)
        startNext(dial)
    }

    func startNext(_ dial: Dial) {
        dial.nextStart = nil
        guard dial.winner == nil else { return }
        while let endpoint = dial.untried.popFirst() {
            do throws(SystemCallError) {
                let stream = try SocketStream.connect(to: endpoint, limits: limits, queue: queue)
                let link = Link(stream, core: self, dial: dial)
                link.deadline = Instant.now.advanced(by: limits.connecting)
                dial.attempts.append(link)
                begin(link)
                if dial.untried.isEmpty { return }
                dial.nextStart = Instant.now.advanced(by: limits.stagger)
                return note(dial.nextStart)
            } catch { dial.fail(error.description, Self.failure(error)) }
        }
        if dial.attempts.isEmpty { failed(dial) }
    }

    private static func failure(_ error: SystemCallError) -> Dial.Failure {
        switch error.code {
        case ECONNREFUSED: .refused
        case ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL: .unreachable
        default: .other
        }
    }

    func connectFailed(_ link: Link, _ error: SystemCallError) {
        attemptEnded(link, error.description, Self.failure(error))
    }

    /// The first attempt whose peer answers is gone on with; the others never say more than their first bytes.
    func win(_ dial: Dial, _ link: Link) {
        dial.winner = link
        dial.nextStart = nil
        dial.untried = []
        for other in dial.attempts where other !== link { drop(other) }
        dial.attempts = [link]
    }

    func attemptEnded(_ link: Link, _ reason: String, _ failure: Dial.Failure = .other) {
        if link.phase != .discarding { drop(link) }
        guard let dial = link.dial, dials[ObjectIdentifier(dial)] != nil else { return }
        dial.attempts.removeAll { $0 === link }
        dial.fail(reason, failure)
        if dial.winner === link { failed(dial) } else { startNext(dial) }
    }

    func dialExpired(_ dial: Dial) {
        if dial.winner?.phase == .probing {
            dial.deadline = nil
            return
        }
        dial.fail("no answer in time", .other)
        failed(dial)
    }

    private func failed(_ dial: Dial) {
        let reason = dial.failures.isEmpty ? "no address" : dial.failures.joined(separator: "; ")
        finish(dial, .failed(reason, refused: dial.isRefused))
    }

    func finish(_ dial: Dial, _ result: DialResult) {
        guard dials.removeValue(forKey: ObjectIdentifier(dial)) != nil else { return }
        for link in dial.attempts where link.phase != .up && link.phase != .draining { drop(link) }
        dial.attempts = []
        // The link keeps its dial, and a dial that kept the link would keep its descriptor open.
        dial.winner = nil
        if let id = dial.id { tell(.dialled(id, result)) }
        if dial.purpose == .blob, case .failed = result, let peer = dial.expecting { blobDialFailed(peer) }
    }
}

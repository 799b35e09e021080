import Identity

// Who is known to have stored what (docs/protocol.md, "Receipts")
extension RoomState {
    /// Takes a peer's own word, given on a link of ours.
    mutating func holds(_ peer: PeerID, _ logs: [LogID]) {
        for log in logs { hold(peer, log, peers[peer]?.have[log]?.all.map(\.numbers) ?? []) }
    }

    /// Takes what it has signed, and others have passed on.
    private mutating func holds(_ peer: PeerID, signed entries: [Have.Entry]) {
        for entry in entries where entry.log.isForRoom { hold(peer, entry.log, entry.ranges.map(\.numbers)) }
    }

    /// On a new link a peer has said all that it has: what it said before and not now, it has lost.
    mutating func holdsNoMore(_ peer: PeerID, than logs: Set<LogID>) {
        for log in (holdings[peer] ?? [:]).keys.sorted() where !logs.contains(log) { hold(peer, log, []) }
    }

    /// What a receipt of an earlier run tells of logs that aren't our own.
    mutating func recall(_ receipt: Receipt) {
        holds(receipt.holder, signed: receipt.content.entries.filter { holdings[receipt.holder]?[$0.log] == nil })
    }

    private mutating func hold(_ peer: PeerID, _ log: LogID, _ numbers: [ClosedRange<UInt64>]) {
        let before = holdings[peer]?[log] ?? []
        guard before != numbers, !before.isEmpty || (holdings[peer]?.count ?? 0) < limits.maximumLogs else { return }
        holdings[peer, default: [:]][log] = numbers.isEmpty ? nil : numbers
        effects.append(.held(peer, log, numbers))
    }

    /// Those whom a message is for: linked, seen lately, or heard of lately, by their receipts or by what they wrote.
    var members: [PeerID] {
        let since = wall - min(wall, limits.memberPeriod)
        let met = peers.filter { _, peer in
            peer.isLinked || (peer.record?.isMet == true && (peer.record?.lastSeen ?? 0) >= since)
        }.keys
        let heard = receipts.filter { $0.value.counter >= since }.keys
        let wrote = lastWords.filter { $0.value >= since && $0.value <= wall.adding(limits.memberPeriod) }.keys
        return Set(met).union(heard).union(wrote).filter { $0 != me && !isBlocked($0) && !shutOut.contains($0) }
            .sorted()
    }

    /// Takes note of when an author wrote, by its own clock.
    mutating func wrote(_ author: PeerID, at time: UInt64) {
        if author != me, time > lastWords[author] ?? 0 { lastWords[author] = time }
    }

    /// Tells for whom own events are from now on, if that has changed.
    mutating func enroll(from number: UInt64) {
        let now = members
        guard enrolled?.log != ownLog || enrolled?.members != now else { return }
        enrolled = (ownLog, now)
        effects.append(.enroll(ownLog, from: number, now))
    }
}

// Our own receipts
extension RoomState {
    /// What we have of a log has changed.
    mutating func noteForReceipt(_ log: LogID) {
        guard log.isForRoom else { return }
        lastStamp += 1
        stamps[log] = lastStamp
        receiptDue()
    }

    /// Gives a receipt soon, at most one a second.
    mutating func receiptDue() {
        isReceiptDue = true
        guard !timers.isSet(.receipt) else { return }
        let next = max(now.adding(limits.haveDelay), lastReceipt.map { $0.adding(limits.receiptPause) } ?? 0)
        set(.receipt, after: next - now)
    }

    /// With nobody linked, or nobody who would need it, it stays due.
    mutating func giveReceipt() {
        guard isReceiptDue, !linked.isEmpty, isReceiptNeeded else { return }
        isReceiptDue = false
        lastReceipt = now
        let changed = logs.keys.filter { $0.isForRoom }.sorted { left, right in
            let stamps = (stamps[left] ?? 0, stamps[right] ?? 0)
            return stamps.0 == stamps.1 ? left < right : stamps.0 > stamps.1
        }
        receiptCounter = max(receiptCounter.adding(1), wall)
        effects.append(
            .signReceipt(
                Receipt.Content(
                    counter: receiptCounter, name: displayName, links: linked.map { Receipt.Mark($0) },
                    entries: changed.prefix(Receipt.maximumEntries).compactMap(entry))))
    }

    /// Only where somebody lacks a link with us are others asked to pass on our word.
    private var isReceiptNeeded: Bool { members.contains { peers[$0]?.isLinked != true } }
}

/// A receipt whose signature is being checked, and the newest one of that holder that came meanwhile.
struct ReceiptCheck {
    var counter: UInt64
    var next: (receipt: Receipt, sender: PeerID)?
}

// Receipts on their way
extension RoomState {
    mutating func receipt(_ receipt: Receipt, from peer: PeerID) {
        let holder = receipt.holder
        told(receipt, peer)
        guard receipt.counter > receipts[holder]?.counter ?? 0, !isBlocked(holder) else { return }
        guard let check = checks[holder] else {
            if isCounted(holder) { self.check(receipt, from: peer) }
            return
        }
        if receipt.counter > max(check.counter, check.next?.receipt.counter ?? 0) {
            checks[holder]?.next = (receipt, peer)
        }
    }

    private mutating func check(_ receipt: Receipt, from peer: PeerID) {
        checks[receipt.holder] = ReceiptCheck(counter: receipt.counter)
        effects.append(.verifyReceipt(receipt, from: peer))
    }

    private mutating func told(_ receipt: Receipt, _ peer: PeerID) {
        let known = peers[peer]?.receiptsTold[receipt.holder] ?? 0
        peers[peer]?.receiptsTold[receipt.holder] = max(known, receipt.counter)
    }

    /// Holders never met on a link of ours are bounded as such authors are.
    private func isCounted(_ holder: PeerID) -> Bool {
        if holder == me || receipts[holder] != nil || peers[holder]?.record?.isMet == true { return true }
        return Set(receipts.keys).union(checks.keys).count { peers[$0]?.record?.isMet != true }
            < limits.maximumStrangers
    }

    mutating func receiptVerified(_ receipt: Receipt) {
        let holder = receipt.holder
        if receipt.counter > receipts[holder]?.counter ?? 0 {
            receipts[holder] = receipt
            effects.append(.keepReceipt(receipt))
            if holder == me {
                receiptCounter = max(receiptCounter, receipt.counter)
            } else if peers[holder]?.isLinked != true {
                holds(holder, signed: receipt.content.entries)
            }
            passReceiptsSoon(after: 0)
        }
        checkNext(of: receipt)
    }

    mutating func receiptRefused(_ receipt: Receipt, from peer: PeerID) {
        effects.append(.disconnect(peer, reason: "a receipt whose signature doesn't hold"))
        checkNext(of: receipt)
    }

    private mutating func checkNext(of receipt: Receipt) {
        guard let check = checks[receipt.holder], check.counter == receipt.counter else { return }
        checks[receipt.holder] = nil
        if let next = check.next { self.receipt(next.receipt, from: next.sender) }
    }

    /// Passes on what is new soon, at most once a second.
    mutating func passReceiptsSoon(after delay: UInt64) {
        guard !timers.isSet(.passReceipts) else { return }
        let next = max(now.adding(delay), lastPass.map { $0.adding(limits.receiptPause) } ?? 0)
        set(.passReceipts, after: next - now)
    }

    mutating func passReceipts() {
        lastPass = now
        var isSomebodyNew = false
        for peer in linked {
            guard let known = peers[peer], known.isIntroduced else { continue }
            // Who has just come is about to be linked with others too, whose word it then has from themselves.
            if now - known.linkedSince < limits.receiptPatience { isSomebodyNew = true; continue }
            let mark = Receipt.Mark(peer)
            let news = receipts.values.filter { receipt in
                receipt.holder != peer && (known.receiptsTold[receipt.holder] ?? 0) < receipt.counter
                    && (receipt.holder == me || !receipt.content.links.contains(mark)) && !isBlocked(receipt.holder)
            }.sorted { $0.holder < $1.holder }
            if news.isEmpty { continue }
            for receipt in news { told(receipt, peer) }
            effects.append(.send(peer, news.map { .receipt($0) }))
        }
        if isSomebodyNew { passReceiptsSoon(after: limits.receiptPatience) }
    }
}

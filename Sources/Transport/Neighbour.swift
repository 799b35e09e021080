import Identity

/// A peer that has a link: its links by purpose, and what waits for a blob link.
///
/// Only touched on the core's queue.
final class Neighbour {
    /// The links of one purpose that are up.
    struct Lane {
        var table: LinkTable
        var links: [LinkName: Link] = [:]

        var kept: Link? { table.kept.flatMap { links[$0] } }
    }

    let peer: PeerID
    var chat: Lane
    var blob: Lane
    var waiting: [Frame] = []
    var waitingBytes = 0
    /// Until when a blob link that is being opened may take.
    var blobDeadline: Instant?

    init(_ peer: PeerID, own: PeerID) {
        self.peer = peer
        chat = Lane(table: LinkTable(own: own))
        blob = Lane(table: LinkTable(own: own))
    }

    subscript(purpose: LinkPurpose) -> Lane {
        get { purpose == .chat ? chat : blob }
        set { if purpose == .chat { chat = newValue } else { blob = newValue } }
    }

    var links: [Link] { Array(chat.links.values) + Array(blob.links.values) }
}

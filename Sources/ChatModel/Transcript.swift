public import Identity

/// One line of the conversation.
public struct Transcript: Hashable, Sendable {
    /// Which way it went.
    public enum Direction: String, Sendable {
        case send, receive
        /// Said by this host about the room, to its own user only.
        case local
    }

    /// What the line says.
    public enum Content: Hashable, Sendable {
        case text(String)
        indirect case image(ImageInfo, ImageState)
        case notice(String)
        /// An event of a known kind whose body its author got wrong.
        case unreadable(String)
    }

    public var direction: Direction
    /// Who said it, or whom a notice is about.
    public var peer: PeerID
    /// The peer's display name then.
    public var name: String
    public var content: Content
    /// The author's wall clock in milliseconds since 1970.
    public var time: UInt64
    /// The event behind the line, which also names an image's transfer; `nil` behind a notice.
    public var id: EventID?
    /// Where the event is in the order of arrival on our disk, as far as that is known.
    public var arrival: Int64?
    /// What is odd about the times of an event from a peer.
    public var timing = Timing.usual
    /// How many of its author's messages directly before it we don't have; where the transcript is read.
    public var missing: UInt64 = 0
    /// By how many it is stored; of own events, where the transcript is read.
    public var delivery: DeliveryCount?

    public init(
        direction: Direction, peer: PeerID, name: String, content: Content, time: UInt64, id: EventID? = nil
    ) {
        self.direction = direction
        self.peer = peer
        self.name = name
        self.content = content
        self.time = time
        self.id = id
    }

    /// The line for an event; `nil` for a kind that this version doesn't know.
    public init?(_ event: BatchEvent, id: EventID, by author: PeerID, isOwn: Bool, image state: ImageState? = nil) {
        var former = EventBody.FormerName()
        self.init(event, id: id, by: author, isOwn: isOwn, image: state, &former)
    }

    /// The line for an event that may have the same name in it as the one before.
    init?(
        _ event: BatchEvent, id: EventID, by author: PeerID, isOwn: Bool, image state: ImageState? = nil,
        _ former: inout EventBody.FormerName
    ) {
        direction = isOwn ? .send : .receive
        peer = author
        time = event.wallTime
        self.id = id
        do throws(WireError) {
            guard let decoded = try EventBody.decode(event.kind, event.content, &former) else { return nil }
            name = decoded.authorName
            content =
                switch decoded.body {
                case .text(let text): .text(text)
                case .image(let image): .image(image, state ?? (isOwn ? .sent : .receiving))
                }
        } catch {
            name = ""
            content = .unreadable("\(error)")
        }
    }
}

extension Transcript {
    public var isImage: Bool { if case .image = content { true } else { false } }

    /// How an event's clock and its arrival here go together.
    ///
    /// The hybrid clock counts, not the label: it is never behind what the author had seen.
    public enum Timing: Hashable, Sendable {
        case usual
        /// It came so much later than it was said, in milliseconds: history that is handed on, not news.
        case late(by: UInt64)
        /// Its clock was so far ahead of ours, in milliseconds, that it stands where it arrived.
        case ahead(by: UInt64)

        /// How long an event may be under way without a word about it, in milliseconds.
        public static let usualDelay: UInt64 = 60_000

        /// Judges an event by the time of its arrival, in milliseconds since 1970, and by how far ahead of that its clock
        /// may be.
        public init(of clock: HybridTime, arrived: UInt64, clockLead: UInt64) {
            let said = clock.milliseconds
            self =
                if said > arrived.adding(clockLead) {
                    .ahead(by: said - arrived)
                } else if arrived > said.adding(Self.usualDelay) {
                    .late(by: arrived - said)
                } else { .usual }
        }
    }
}

/// How far an image is, on this host.
public enum ImageState: Hashable, Sendable {
    case sending, sent, receiving
    /// Whole, verified, and at this path.
    case received(path: String)
    /// Not whole, and goes on when somebody who has it is linked; why it stopped.
    case waiting(String)
    case refused(String)
    case failed(String)
    case cancelled
}

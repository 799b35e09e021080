public import Addressing
public import Identity
public import Rx

/// Which multicast DNS stack speaks for us.
public enum DiscoveryMode: String, Sendable, CaseIterable {
    /// The host's avahi-daemon if it answers within a second, else a stack in this process for as long as it runs.
    case auto
    /// The host's avahi-daemon, waited for as long as it takes.
    case avahi
    /// A stack in this process, beside any other on the host.
    case embedded
    /// No announcement, no browsing, no traffic.
    case none
}

/// What is heard about the peers of a room, and about the stack that hears it.
public enum DiscoveryEvent: Sendable, Equatable {
    /// A stack announces us and browses: at first, and again after a time without one.
    case using(String)
    /// One line for the log, such as `avahi-daemon went away; waiting for it`.
    case trouble(String)
    /// A peer is announced: at first, and again when its endpoints or its instance change.
    ///
    /// `instance` is text from the network. The endpoints are without duplicates, those of the newest instance first.
    case found(PeerID, instance: String, endpoints: [Endpoint])
    /// The last record of a peer went; it may well be there still.
    case lost(PeerID)
    /// A member of a keyed room is announced: who it is only a link tells. Again when its endpoints change.
    case sighted(instance: String, endpoints: [Endpoint])
    /// The last record of such an instance went.
    case vanished(instance: String)
    /// In a keyed room: we are about to be announced by another instance.
    case renamed(instance: String)
}

/// Announces a peer over multicast DNS, and tells who else is announced in its room (RFC 6762, RFC 6763).
///
/// A hint, never the truth: records are forged, lag behind and outlive their peers. Only a link tells who is there.
public enum Discovery {
    /// How long a keyed room's member goes by one instance.
    public static let renewal = Duration.seconds(86_400)

    /// Announces a peer and watches its room.
    ///
    /// In mode auto, a stack in this process watches beside the host's avahi-daemon as soon as that doesn't answer, is
    /// gone, or may be full of forged records.
    ///
    /// - Parameters:
    ///   - announcement: What is announced at first.
    ///   - mode: By which stack.
    ///   - renewal: How long a keyed room's member goes by one instance and host label.
    /// - Returns: A cold sequence, delivered on a serial queue of its own. It never ends by itself and never fails:
    ///   what goes wrong is told as ``DiscoveryEvent/trouble(_:)`` and tried again. Our own announcement is left out.
    ///   Disposing withdraws the announcement and returns once that is sent, or after a second.
    public static func run(
        _ announcement: Announcement, mode: DiscoveryMode, renewal: Duration = renewal
    ) -> Observable<DiscoveryEvent> {
        .callback { report in
            guard mode != .none else { return Disposables.create() }
            let session = DiscoverySession(announcement, mode: mode, renewal: renewal, report: report)
            session.start()
            return Disposables.create { session.stop() }
        }
    }

    /// The DNS-SD instance of a peer: its display name, `-`, and the first six digits of its PeerID.
    ///
    /// - Returns: At most 63 bytes of UTF-8 (RFC 6763, 4.1.1). A longer display name is cut between two characters.
    public static func instanceName(displayName: String, peer: PeerID) -> String {
        InstanceName.make(displayName: displayName, peer: peer, digits: InstanceName.usualDigits)
    }
}

public import Identity

/// How a peer of a keyed room is announced: by names that say nothing, and a tag that only members can judge.
public struct Concealment: Sendable, Equatable {
    let key: RoomKey
    /// The DNS-SD instance: 16 random digits, others at every start.
    public let instance: String
    /// The label of the host that the advert names, as random.
    let host: String

    public init(_ key: RoomKey) {
        self.key = key
        instance = randomBytes(8).hexadecimal
        host = randomBytes(8).hexadecimal
    }
}

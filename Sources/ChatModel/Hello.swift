import Identity

/// What a peer says of itself first on every chat link (docs/protocol.md, "Hello").
public struct Hello: Hashable, Sendable {
    public static let version: UInt16 = 1
    static let maximumInstanceLength = 63  // bytes: one DNS label

    /// The protocol versions that the peer speaks.
    public var versions: ClosedRange<UInt16>
    /// Bits for features that may be used if both sides have them, and ``saysWaiting``.
    public var features: UInt32
    public var displayName: String
    /// The peer's own DNS-SD instance, so that one whom we are linked with isn't dialled again; empty if it has none.
    public var instance: String
    /// The peer's wall clock in milliseconds since 1970.
    public var wallTime: UInt64
    /// The largest image that the peer fetches by itself, in bytes.
    public var autoFetchLimit: UInt64

    public init(
        versions: ClosedRange<UInt16> = version...version, features: UInt32 = 0, displayName: String, instance: String,
        wallTime: UInt64, autoFetchLimit: UInt64
    ) {
        self.versions = versions
        self.features = features
        self.displayName = displayName
        self.instance = instance
        self.wallTime = wallTime
        self.autoFetchLimit = autoFetchLimit
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: versions.lowerBound)
        bytes.append(bigEndian: versions.upperBound)
        bytes.append(bigEndian: features)
        bytes.append(short: displayName)
        bytes.append(short: instance)
        bytes.append(bigEndian: wallTime)
        bytes.append(bigEndian: autoFetchLimit)
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let lowest: UInt16 = try reader.integer()
        let highest: UInt16 = try reader.integer()
        guard lowest <= highest else { throw .invalid(what: "the version range") }
        versions = lowest...highest
        features = try reader.integer()
        displayName = try reader.text(Int(reader.byte()), "the display name")
        if let complaint = Names.complaint(displayName: displayName) { throw .invalid(what: complaint) }
        let length = Int(try reader.byte())
        guard length <= Self.maximumInstanceLength else { throw .invalid(what: "the instance") }
        instance = try reader.text(length, "the instance")
        wallTime = try reader.integer()
        autoFetchLimit = try reader.integer()
        try reader.finish()
    }
}

/// What may be a room's name, a display name and an image's name.
public enum Names {
    public static let maximumRoomLength = 15  // characters (RFC 6335, 5.1)
    public static let maximumDisplayNameLength = 63  // bytes: one DNS label (RFC 6763, 4.1.1)
    public static let maximumImageNameLength = 255  // bytes: one path component (NAME_MAX)

    /// Whether a chat room can be made with these two names.
    ///
    /// A display name is 1 to 63 bytes of UTF-8 without control or bidirectional formatting characters. A service type
    /// names the room: 1 to 15 lower-case letters, digits and hyphens, at least one letter, no hyphen at an end, no two
    /// in a row (RFC 6335, 5.1).
    public static func isValid(displayName: String, serviceType: String) -> Bool {
        if displayName.isEmpty { return false }
        if displayName.utf8.count > maximumDisplayNameLength { return false }
        for scalar in displayName.unicodeScalars where isForbidden(scalar) { return false }
        if serviceType.isEmpty { return false }
        if serviceType.utf8.count > maximumRoomLength { return false }
        var hasLetter = false
        var previous: UInt8 = hyphen
        for byte in serviceType.utf8 {
            if isLetter(byte) {
                hasLetter = true
            } else if byte == hyphen {
                if previous == hyphen { return false }
            } else if !isDigit(byte) {
                return false
            }
            previous = byte
        }
        if previous == hyphen { return false }
        return hasLetter
    }

    /// A room's name as it is compared: letters in lower case.
    public static func folded(room: String) -> String {
        String(decoding: room.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// Why a room can't have this name, after folding; `nil` if it can.
    public static func complaint(room: String) -> String? {
        if isValid(displayName: "x", serviceType: room) { return nil }
        if room.isEmpty { return "a room's name has 1 to \(maximumRoomLength) characters" }
        if room.count > maximumRoomLength {
            return "room '\(room)' has \(room.count) characters; the limit is \(maximumRoomLength)"
        }
        return "room '\(room)': use letters, digits and single hyphens between them, with at least one letter"
    }

    /// Why nobody can have this display name; `nil` if somebody can.
    public static func complaint(displayName: String) -> String? {
        if isValid(displayName: displayName, serviceType: "x") { return nil }
        if displayName.isEmpty { return "the name is empty; a name has 1 to \(maximumDisplayNameLength) bytes" }
        let length = displayName.utf8.count
        if length > maximumDisplayNameLength {
            return "the name has \(length) bytes; the limit is \(maximumDisplayNameLength)"
        }
        return "the name has a control or text-direction character; use plain letters"
    }

    /// The label that a received image's name is stored under, in a directory of our choice.
    ///
    /// A name that could mean a path is nobody's good will, so it is refused rather than bent into shape.
    ///
    /// - Returns: `nil` for an empty name, one over 255 bytes, `.` and `..`, and any with a slash or a NUL. Else the name
    ///   without leading dots, and with `_` for control characters and backslashes.
    public static func fileName(forImageNamed name: String) -> String? {
        if name.isEmpty || name.utf8.count > maximumImageNameLength { return nil }
        if name.unicodeScalars.contains(where: { $0 == "/" || $0 == "\0" }) { return nil }
        let label = name.unicodeScalars.drop { $0 == "." }
        if label.isEmpty { return nil }
        var safe = String.UnicodeScalarView()
        for scalar in label { safe.append(isForbidden(scalar) || scalar == "\\" ? "_" : scalar) }
        return String(safe)
    }

    private static let hyphen = UInt8(ascii: "-")
    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Control characters, line and paragraph separators, and what reorders text (Unicode TR9: marks, embeddings,
    /// overrides, isolates).
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1f, 0x7f...0x9f, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}

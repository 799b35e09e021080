import CAvahi

/// An Avahi call that failed: what was asked, and libavahi's own words for why.
struct AvahiError: Error, Equatable, CustomStringConvertible {
    let action: String
    /// An `AVAHI_ERR_…` code (avahi-common/error.h).
    let code: CInt

    var description: String { "\(action): \(String(cString: avahi_strerror(code))) (avahi \(code))" }
}

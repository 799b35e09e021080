/// Encrypted bytes that wait for the socket to take them.
struct Sealed: Sendable {
    private var bytes: [UInt8] = []
    private var written = 0

    var isEmpty: Bool { written == bytes.count }

    mutating func append(_ more: [UInt8]) {
        if bytes.isEmpty { bytes = more } else { bytes += more }
    }

    func withUnwritten<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
    }

    /// Notes what a write took.
    mutating func wrote(_ count: Int) {
        written += count
        guard written == bytes.count else { return }
        bytes = []
        written = 0
    }
}

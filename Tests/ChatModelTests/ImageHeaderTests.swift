import ChatModel
import Testing

struct ImageHeaderTests {
    static let png: [UInt8] =
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8)
        + [0, 0, 1, 0x40, 0, 0, 0, 0xf0, 8, 6, 0, 0, 0]
    static let gif: [UInt8] = Array("GIF89a".utf8) + [0x40, 0x01, 0xf0, 0x00, 0x80, 0, 0]
    /// An APP0 segment of 16 bytes, a fill byte, an APP1 segment of 300, then a progressive frame of 320 x 240.
    static let jpeg: [UInt8] =
        [0xff, 0xd8, 0xff, 0xe0, 0, 16] + [UInt8](repeating: 0xc0, count: 14) + [0xff, 0xff, 0xe1, 0x01, 0x2c]
        + [UInt8](repeating: 0xff, count: 298) + [0xff, 0xc2, 0, 17, 8, 0, 0xf0, 0x01, 0x40, 3]

    static func webp(_ kind: String, _ data: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + [0x40, 0, 0, 0] + Array("WEBP\(kind)".utf8) + [10, 0, 0, 0] + data
    }

    static let webps: [[UInt8]] = [
        webp("VP8 ", [0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x40, 0x41, 0xf0, 0x40]),  // with scaling bits
        webp("VP8L", [0x2f, 0x3f, 0xc1, 0x3b, 0x10]),
        webp("VP8X", [0x10, 0, 0, 0, 0x3f, 0x01, 0x00, 0xef, 0x00, 0x00]),
    ]

    static let images: [(bytes: [UInt8], mediaType: String)] =
        [(png, "image/png"), (gif, "image/gif"), (jpeg, "image/jpeg")] + webps.map { ($0, "image/webp") }

    @Test(arguments: images) func `the type and size are found`(bytes: [UInt8], mediaType: String) {
        let header = ImageHeader(front: bytes)

        #expect(header.mediaType == mediaType)
        #expect([header.width, header.height] == [320, 240])
    }

    @Test(arguments: images) func `a header that was cut off tells nothing false`(bytes: [UInt8], mediaType: String) {
        for count in bytes.indices {
            let header = ImageHeader(front: Array(bytes.prefix(count)))
            #expect([mediaType, "application/octet-stream"].contains(header.mediaType))
            #expect([[320, 240], [0, 0]].contains([header.width, header.height]))
        }
    }

    @Test(arguments: [[], Array("plain text".utf8), Array("%PDF-1.7".utf8), Array("RIFF....WAVEfmt ".utf8)])
    func `what is no image is an octet stream`(bytes: [UInt8]) {
        let header = ImageHeader(front: bytes)

        #expect(header.mediaType == "application/octet-stream")
        #expect([header.width, header.height] == [0, 0])
    }

    @Test(
        arguments: [
            [0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1],  // the scan begins before any frame
            [0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1],  // a segment shorter than its length
            [0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff],
            [0xff, 0xd8, 0xff, 0xff, 0xff, 0xff],
            [0xff, 0xd8, 0xff, 0xd0, 0x00, 0xc0],
        ] as [[UInt8]])
    func `a JPEG without a frame has no size`(bytes: [UInt8]) {
        let header = ImageHeader(front: bytes)

        #expect(header.mediaType == "image/jpeg")
        #expect([header.width, header.height] == [0, 0])
    }

    @Test func `flipped and random bytes never trap`() {
        var random = SystemRandomNumberGenerator()
        for (bytes, _) in Self.images {
            for _ in 0..<2_000 {
                var bytes = bytes
                for _ in 0..<3 { bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255) }
                _ = ImageHeader(front: bytes)
            }
        }
        #expect(ImageHeader(front: [UInt8](repeating: 0xff, count: 1 << 20)).width == 0)
    }
}

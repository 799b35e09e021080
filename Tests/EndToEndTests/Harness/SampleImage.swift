import Foundation
import Identity

/// An image file of a size, with a header of its kind and noise for the rest.
enum SampleImage {
    static let width = 4_000
    static let height = 3_000

    /// A JPEG as far as its frame header goes (ITU T.81, B.2.2).
    static func jpeg(size: Int) throws -> [UInt8] {
        let start: [UInt8] = [0xff, 0xd8]
        let application = [0xff, 0xe0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
        let frame: [UInt8] =
            [0xff, 0xc0, 0, 17, 8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
            + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
        let front = start + application + frame
        return front + (try noise(size - front.count - 2)) + [0xff, 0xd9]
    }

    private static func noise(_ count: Int) throws -> [UInt8] {
        let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        return Array(try source.read(upToCount: count) ?? Data())
    }
}

/// The SHA-256 of a file; `nil` if there is none.
func checksum(ofFile path: String?) -> Bytes32? {
    path.flatMap { FileManager.default.contents(atPath: $0) }.map { SHA256.digest(of: Array($0)) }
}

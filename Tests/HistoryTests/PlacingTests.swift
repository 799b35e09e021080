import ChatModel
import Foundation
import Identity
import SystemCalls
import Testing

@testable import History

struct PlacingTests {
    let scratch: Scratch
    let store: BlobStore
    let blob: AdoptedBlob
    var downloads: String { "\(scratch.path)/downloads" }

    init() throws {
        scratch = try Scratch()
        store = try BlobStore(directory: scratch.path)
        blob = try store.adopt(Array("image".utf8), in: scratch)
    }

    func place(_ label: String, in directory: String? = nil) throws -> String {
        let path = try store.on { try $0.place(blob.root, named: label, in: directory ?? downloads) }
        return String(path.dropFirst("\(directory ?? downloads)/".count))
    }

    func contents(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `a taken name is never replaced, the next free one is used`() throws {
        #expect(try place("plan.png") == "plan.png")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(downloads)/plan.png"))

        #expect(try place("plan.png") == "plan (2).png")
        #expect(try place("plan.png") == "plan (3).png")
        #expect(try place("README") == "README")
        #expect(try place("README") == "README (2)")
        #expect(try place("a.tar.gz") == "a.tar.gz")
        #expect(try place("a.tar.gz") == "a.tar (2).gz")
        #expect(contents("\(downloads)/plan.png") == "mine")
        #expect(contents("\(downloads)/plan (3).png") == "image")
    }

    @Test func `a symbolic link to a directory is followed, one in it is not`() throws {
        let secret = "\(scratch.path)/secret"
        try Data("secret".utf8).write(to: URL(fileURLWithPath: secret))
        try FileManager.default.createDirectory(atPath: "\(scratch.path)/real", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: downloads, withDestinationPath: "\(scratch.path)/real")
        try FileManager.default.createSymbolicLink(atPath: "\(downloads)/photo.png", withDestinationPath: secret)
        try FileManager.default.createSymbolicLink(atPath: "\(downloads)/dangling.png", withDestinationPath: "nowhere")

        #expect(try place("photo.png") == "photo (2).png")
        #expect(try place("dangling.png") == "dangling (2).png")
        #expect(contents(secret) == "secret")
        #expect(contents("\(scratch.path)/real/photo (2).png") == "image")
        #expect(!scratch.exists("real/nowhere"))
    }

    @Test(arguments: ["", ".", "..", "a/b", "../a", "/etc/passwd", "a\0b", String(repeating: "x", count: 256)])
    func `a label that isn't one name is refused`(label: String) throws {
        #expect(throws: BlobError.unsafeName(label)) { try place(label) }
        #expect(!scratch.exists("downloads"))
    }

    @Test func `a long name is cut at a character to make room for its number`() throws {
        let label = String(repeating: "ü", count: 125) + ".jpeg"  // 255 bytes
        #expect(try place(label) == label)

        let second = try place(label)

        #expect(second == String(repeating: "ü", count: 123) + " (2).jpeg")
        #expect(second.utf8.count <= 255)
    }

    @Test func `a directory that can't be written to is an error with a reason`() throws {
        try Data().write(to: URL(fileURLWithPath: downloads))

        #expect { try place("a.png") } throws: { error in
            (error as? BlobError).map { "\($0)".contains("Not a directory") } ?? false
        }
    }

    @Test func `without nameless files a temporary one is renamed, and goes when it isn't`() throws {
        let directory = try Directory(making: downloads)
        do {
            let file = try TemporaryFile(in: directory, isNamed: true)
            #expect(try directory.names().contains { $0.hasSuffix(TemporaryFile.suffix) })
            #expect(try file.publish(as: "a"))
            let other = try TemporaryFile(in: directory, isNamed: true)
            #expect(try !other.publish(as: "a"))
        }

        #expect(try FileManager.default.contentsOfDirectory(atPath: downloads) == ["a"])
        #expect(try scratch.mode("downloads/a") == 0o600)
    }
}

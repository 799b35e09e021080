import Identity
import Testing

@testable import ChatModel

struct EventBodyTests {
    @Test(arguments: [
        "x", "héllo 🧑‍🌾 한글", "שלום \u{202b}", "e\u{301}", "a\r\nb\u{2028}c", String(repeating: "x", count: 16 * 1_024),
    ]) func `a text arrives byte for byte`(text: String) throws {
        let body = try EventBody.decode(.text, EventBody.text(text).encoded(authorName: "alice"))

        #expect(body?.authorName == "alice")
        guard case .text(let arrived)? = body?.body else { return #expect(Bool(false), "not a text") }
        #expect(Array(arrived.utf8) == Array(text.utf8))
    }

    @Test func `a text one byte over its limit is refused with both figures`() {
        let body = EventBody.text(String(repeating: "x", count: 16 * 1_024 + 1)).encoded(authorName: "alice")
        #expect(throws: WireError.tooLong(what: "text", length: 16_385, limit: 16_384)) {
            try EventBody.decode(.text, body)
        }
    }

    @Test func `a text cut inside a character is refused, at every byte`() {
        let bytes = EventBody.text("é🧑‍🌾한").encoded(authorName: "a")
        var cuts = 0
        for count in 3..<bytes.count where bytes[count] & 0xc0 == 0x80 {
            cuts += 1
            #expect(throws: WireError.notUTF8(what: "the text")) { try EventBody.decode(.text, Array(bytes[..<count])) }
        }
        #expect(cuts == 11)
    }

    @Test func `a kind of a later version is nobody's error`() throws {
        #expect(try EventBody.decode(EventKind(3), [1, 2, 3]) == nil)
    }

    @Test func `an image's body arrives as it was sent, and nothing may follow it`() throws {
        let image = Samples.image("plan.png", size: ImageInfo.maximumSize, root: BlobRoot(size: 0, chunkHashes: []))
        let bytes = EventBody.image(image).encoded(authorName: "alice")

        #expect(try EventBody.decode(.image, bytes)?.body == .image(image))
        #expect(throws: WireError.trailingBytes(1)) { try EventBody.decode(.image, bytes + [0]) }
        for count in 0..<bytes.count {
            #expect(throws: WireError.self) { try EventBody.decode(.image, Array(bytes[..<count])) }
        }
    }

    @Test(arguments: [1 << 40 + 1, 1 << 63, .max] as [UInt64])
    func `an image of a size that nobody has is refused`(size: UInt64) {
        let bytes = EventBody.image(Samples.image("a.png", size: size)).encoded(authorName: "alice")
        #expect(throws: WireError.invalid(what: "the image's size")) { try EventBody.decode(.image, bytes) }
    }

    @Test func `a body that its author got wrong is shown as unreadable`() {
        let event = BatchEvent(
            kind: .text, nonce: Nonce(1), clock: HybridTime(value: 1), wallTime: 5, body: [1, 97, 0xff])
        let line = Transcript(event, id: .none, by: Samples.key(1).peer, isOwn: false)
        #expect(line?.content == .unreadable("the text is not UTF-8"))
    }

    @Test(
        arguments: [
            (0, 0), (1, 1), (1 << 20, 1), (1 << 20 + 1, 2), (7 << 19, 4), (1 << 40, 1 << 20), (1 << 63, 1 << 43),
            (.max, 1 << 44),
        ] as [(UInt64, Int)]) func `a blob has a chunk for each started MiB, and their lengths add up to its size`(
            size: UInt64, count: Int
        )
    {
        #expect(BlobRoot.chunkCount(size: size) == count)
        #expect(BlobRoot.length(ofChunk: count, size: size) == 0)
        #expect(BlobRoot.length(ofChunk: -1, size: size) == 0)
        #expect(BlobRoot.length(ofChunk: .max, size: size) == 0)
        if count > 0 {
            let last = UInt64(BlobRoot.length(ofChunk: count - 1, size: size))
            #expect(UInt64(count - 1) << 20 + last == size)
        }
        if count > 1 { #expect(BlobRoot.length(ofChunk: 0, size: size) == 1 << 20) }
    }

    @Test func `a hybrid time saturates at both of its ends`() {
        #expect(HybridTime(milliseconds: .max).milliseconds == 1 << 48 - 1)
        #expect(HybridTime(milliseconds: 5, counter: 7) > HybridTime(milliseconds: 5))
        #expect(HybridTime(value: .max).next == HybridTime(value: .max))
        #expect(HybridTime(milliseconds: 5, counter: .max).next == HybridTime(milliseconds: 6))
    }
}

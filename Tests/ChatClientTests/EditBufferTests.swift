import Testing

@testable import ChatClient

struct EditBufferTests {
    private func buffer(_ text: String, at cursor: Int) -> EditBuffer {
        var buffer = EditBuffer(text)
        for _ in cursor..<buffer.clusters.count { buffer.moveLeft() }
        return buffer
    }

    @Test func `text goes in at the cursor`() {
        var buffer = buffer("helo", at: 2)

        buffer.insert("l")

        #expect(buffer.text == "hello")
        #expect(buffer.cursor == 3)
    }

    @Test func `the cursor moves by clusters and stops at both ends`() {
        var buffer = EditBuffer("a🧑‍🌾é")

        for _ in 0..<5 { buffer.moveLeft() }
        #expect(buffer.cursor == 0)
        buffer.moveRight()
        buffer.moveRight()
        #expect(buffer.cursor == 2)
        buffer.backspace()
        #expect(buffer.text == "aé")
    }

    @Test func `a mark that is typed joins its base`() {
        var buffer = EditBuffer("e")

        buffer.insert("\u{301}")

        #expect(buffer.clusters.count == 1)
        #expect(buffer.cursor == 1)
    }

    @Test func `delete and backspace take the cluster on their side`() {
        var buffer = buffer("abc", at: 1)

        buffer.delete()
        #expect(buffer.text == "ac")
        buffer.backspace()
        #expect(buffer.text == "c")
        buffer.backspace()
        #expect(buffer.text == "c")
        buffer.moveEnd()
        buffer.delete()
        #expect(buffer.text == "c")
    }

    @Test func `killing takes what is to the end, to the start, or the word`() {
        var end = buffer("one two", at: 3)
        end.killToEnd()
        #expect(end.text == "one")

        var start = buffer("one two", at: 4)
        start.killToStart()
        #expect(start.text == "two")
        #expect(start.cursor == 0)

        var word = EditBuffer("one two  ")
        word.killWord()
        #expect(word.text == "one ")
    }

    @Test func `words are skipped in both directions`() {
        var buffer = EditBuffer("one two")

        buffer.moveWordLeft()
        #expect(buffer.cursor == 4)
        buffer.moveWordLeft()
        buffer.moveWordRight()
        #expect(buffer.cursor == 3)
    }

    @Test func `history goes back, and forth to what was being typed`() {
        var history = InputHistory()
        history.add("one")
        history.add("two")
        history.add("two")

        #expect(history.previous(leaving: "draft") == "two")
        #expect(history.previous(leaving: "two") == "one")
        #expect(history.previous(leaving: "one") == nil)
        #expect(history.next() == "two")
        #expect(history.next() == "draft")
        #expect(history.next() == nil)
    }
}

import Testing

@testable import ChatModel

struct CursorTests {
    @Test func `a cursor reads as it is written`() {
        let cursor = Cursor(birth: Incarnation(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef), arrival: 4_711)

        #expect(cursor.description == "0123456789abcdef0123456789abcdef-4711")
        #expect(Cursor(cursor.description) == cursor)
        #expect(Cursor(Cursor(birth: Incarnation(0), arrival: .max).description)?.arrival == .max)
    }

    @Test(arguments: [
        "", "-", "4711", "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef-",
        "0123456789abcdef0123456789abcdef--1", "0123456789abcdef0123456789abcdef-+1",
        "0123456789abcdef0123456789abcdef-01", "0123456789abcdef0123456789abcdef-1-2",
        "0123456789abcdef0123456789abcdeg-1", "0123456789abcdef-1",
        "0123456789abcdef0123456789abcdef-9223372036854775808",
    ])
    func `what is no cursor is refused`(text: String) { #expect(Cursor(text) == nil) }
}

import Testing

@testable import Control

/// The hand-written ways of writing and reading JSON do what the general ones do.
struct JSONWriterTests {
    private static let texts = [
        "", "lunch?", "a/b", "\"quoted\" \\ and\ttab\r\n", "\u{0}\u{1}\u{8}\u{c}\u{b}\u{1f}\u{7f}", "größer ж 漢 🎉",
        "👨‍👩‍👧", "\u{202e}\u{2028}\u{85}\u{e000}\u{ad}\u{e0001}", "x\u{301}", String(repeating: "long ", count: 300),
    ]

    private static func line(_ text: String) -> LineView {
        var line = LineView(
            id: "0a", direction: .receive, kind: .text, author: "0b", suffix: "0c", name: text, text: text, time: -7,
            transfer: text)
        line.cursor = text
        (line.late, line.ahead, line.missing) = (90_000, 400_000, 7)
        return line
    }

    @Test(arguments: texts) func `a line is written as the encoder does`(text: String) throws {
        var bare = Self.line(text)
        (bare.id, bare.text, bare.transfer, bare.cursor) = (nil, nil, nil, nil)
        (bare.late, bare.ahead, bare.missing) = (nil, nil, nil)
        var counted = Self.line(text)
        counted.delivery = DeliveryCountView(stored: 3, members: 4)
        bare.kind = .notice

        for line in [Self.line(text), bare, counted] {
            let expected = try JSONLine.encode(Request(method: "line", params: LineField(line: line)))
            #expect(try ControlNotification.line(line).encoded() == expected)
        }
    }

    @Test func `the writer knows every field of a line and of a result`() {
        // With a field more JSONWriter has to write it, and the tests beside this one to fill it.
        #expect(Mirror(reflecting: Self.line("")).children.count == 15)
        #expect(Mirror(reflecting: SendResult(id: "", number: 0, linked: 0)).children.count == 3)
    }

    @Test(arguments: [RequestID.number(-12), .number(.max), .string("a\"b"), .null])
    func `an answer to send is written as the encoder does`(id: RequestID) throws {
        let result = SendResult(id: "0a", number: 1, linked: 31)

        #expect(
            try ControlReply.Answer.success(result).encoded(id) == JSONLine.encode(Success(id: id, result: result)))
    }

    @Test(arguments: [
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"hello"}}"#,
        #" { "params" : {"nonce":"n", "text" : "größer 🎉"} ,"method":"send", "jsonrpc":"2.0" } "#,
        #"{"jsonrpc":"2.0","id":"x","method":"send","params":{"text":""}}"#,
        #"{"jsonrpc":"2.0","id":0,"method":"send","params":{"text":"}{][,:"}}"#,
    ]) func `a plain send is scanned as the decoder reads it`(request: String) throws {
        let line = Array(request.utf8)
        let scanned = try #require(SendScanner.scan(line[...]))

        #expect(scanned.id == (try JSONLine.decode(RequestHead.self, from: line)).id)
        #expect(scanned.parameters == (try JSONLine.decode(RequestBody<SendParameters>.self, from: line)).params)
    }

    @Test(arguments: [
        "", "{", "{}", "[]", "null",
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"hello"}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"hello"}}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"hello"},}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"hello"}} x"#,
        #"{"jsonrpc":"1.0","id":1,"method":"send","params":{"text":"hello"}}"#,
        #"{"jsonrpc":"2.0","id":01,"method":"send","params":{"text":"hello"}}"#,
        #"{"jsonrpc":"2.0","id":1.5,"method":"send","params":{"text":"hello"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"sent","params":{"text":"hello"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"a\nb"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"a","text":"b"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":"a","more":1}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"send","params":{"text":7}}"#,
        #"{"jsonrpc":"2.0","id":1,"id":2,"method":"send","params":{"text":"a"}}"#,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"send\",\"params\":{\"text\":\"a\u{1}\"}}",
    ]) func `all else is left to the decoder`(request: String) {
        #expect(SendScanner.scan(Array(request.utf8)[...]) == nil)
    }
}

struct OutputQueueTests {
    private static func lines(_ text: String, notification: Bool = true) -> OutputLines {
        OutputLines(bytes: Array(text.utf8), count: text.count { $0 == "\n" }, isNotification: notification)
    }

    private static func text(_ queue: inout OutputQueue) -> String {
        var bytes: [UInt8] = []
        while !queue.isEmpty {
            queue.withFront { bytes += $0.prefix(3) }
            queue.drop(min(3, queue.withFront(\.count)))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `what is put in comes out in order, in whatever pieces`() {
        var queue = OutputQueue()
        for part in [Self.lines("one\n"), Self.lines("two\nthree\n"), Self.lines("answer\n", notification: false)] {
            queue.append(part)
        }
        queue.append(Self.lines("four\n"))

        #expect(queue.notifications == 4)
        #expect(queue.answerBytes == 7)
        #expect(Self.text(&queue) == "one\ntwo\nthree\nanswer\nfour\n")
        #expect(queue.notifications == 0 && queue.notificationBytes == 0 && queue.answerBytes == 0)
    }

    @Test(arguments: [
        (0, "answer\n"), (2, "e\nanswer\n"), (4, "answer\n"), (5, "wo\nanswer\n"), (9, "hree\nanswer\n"),
        (16, "swer\n"),
    ]) func `dropped notifications leave one that is half written`(written: Int, left: String) {
        var queue = OutputQueue()
        queue.append(Self.lines("one\ntwo\nthree\n"))
        queue.append(Self.lines("answer\n", notification: false))
        queue.append(Self.lines("four\n"))
        var rest = written
        while rest > 0 {
            let step = min(rest, queue.withFront(\.count))
            queue.drop(step)
            rest -= step
        }

        queue.dropNotifications()
        #expect(queue.notifications == (left.hasPrefix("a") || left.hasPrefix("s") ? 0 : 1))
        #expect(Self.text(&queue) == left)
        #expect(queue.notificationBytes == 0 && queue.answerBytes == 0)
    }
}

import ChatModel
import Dispatch
import Glibc
import History
import Identity
import SystemCalls

// What tests and benchmarks need a process of its own for. Arguments: what to do, the state directory, the key's seed in
// hexadecimal; for "chat" and "monologue" how many texts.
let arguments = CommandLine.arguments
guard arguments.count >= 4, let seed = [UInt8](hexadecimal: arguments[3]), let key = SigningKey(seed: seed) else {
    exit(EX_USAGE)
}

func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(EX_IOERR) }
}

func append(_ history: History) throws {
    let event = BatchEvent(
        kind: .text, nonce: Nonce(UInt128.random(in: .min ... .max)), clock: HybridTime(milliseconds: 1), wallTime: 1,
        body: EventBody.text("hello").encoded(authorName: "probe"))
    let result = try history.queue.sync { try history.append([event]).results[0] }
    guard case .appended(let id, let number) = result else { exit(EX_SOFTWARE) }
    say("\(number) \(id)")
}

/// Fills a history with what others have said, who aren't here, each text under a seal of its own and of about 100 bytes.
func chat(_ count: Int, in history: History) throws {
    let room = RoomID(openRoom: "lab")
    let keys = (1...8).map { (name: "author \($0)", key: SigningKey()) }
    var logs = keys.map { (log: LogID(author: $0.key.peer, incarnation: Incarnation(1)), last: EventID.none) }
    let start = UInt64(time(nil) - count - 86_400) * 1_000
    for from in stride(from: 0, to: count, by: 1_000) {
        let batches = (from..<min(from + 1_000, count)).map { number in
            let place = number % keys.count
            let text = "message \(number + 1) ".padded(to: 100)
            let event = BatchEvent(
                kind: .text, nonce: Nonce(UInt128(number)),
                clock: HybridTime(milliseconds: start + UInt64(number) * 1_000),
                wallTime: start + UInt64(number) * 1_000,
                body: EventBody.text(text).encoded(authorName: keys[place].name))
            let batch = Batch(
                sealing: [event], in: logs[place].log, of: room, first: UInt64(number / keys.count) + 1,
                previous: logs[place].last, with: keys[place].key)
            logs[place].last = batch.lastID
            return batch
        }
        _ = try history.queue.sync { try history.store(batches) }
    }
    say("\(count) texts")
}

/// Fills it with what its owner has said, each text under a seal of its own and of about 100 bytes.
func speak(_ count: Int, in history: History) throws {
    for number in 1...max(count, 1) {
        let text = "message \(number) ".padded(to: 100)
        let now = UInt64(time(nil)) * 1_000
        let event = BatchEvent(
            kind: .text, nonce: Nonce(UInt128(number)), clock: HybridTime(milliseconds: now, counter: 0), wallTime: now,
            body: EventBody.text(text).encoded(authorName: "alice"))
        _ = try history.queue.sync { try history.append([event], new: [true]) }
    }
    say("\(count) texts")
}

extension String {
    func padded(to length: Int) -> String { self + String(repeating: "x", count: max(length - utf8.count, 0)) }
}

let (history, _) = try History.open(directory: arguments[2], room: RoomID(openRoom: "lab"), key: key)
switch arguments[1] {
case "append":  // one event after the other, each printed once it is acknowledged, until killed
    while true { try append(history) }
case "fail":  // until a write fails and fails again; then what was said, and how many lines can be read
    var last: String?
    while true {
        do {
            try append(history)
            last = nil
        } catch {
            if let last {
                say("first \(last)")
                say("second \(error)")
                break
            }
            last = "\(error)"
        }
    }
    say("lines \(try history.queue.sync { try history.lines(last: .max).count })")
case "chat", "monologue":
    guard let count = arguments.dropFirst(4).first.flatMap({ Int($0) }) else { exit(EX_USAGE) }
    if arguments[1] == "chat" { try chat(count, in: history) } else { try speak(count, in: history) }
    history.queue.sync { history.close() }
case "files":  // one of each file that is ever made, of the blob on the standard input
    try append(history)
    let blobs = try BlobStore(directory: arguments[2])
    try blobs.queue.sync {
        let blob = try blobs.adopt(Descriptor(owning: dup(STDIN_FILENO)))
        _ = try blobs.place(blob.root, named: "a.png", in: "\(arguments[2])/downloads/lab")
        let hashes = [SHA256.digest(of: [1]), SHA256.digest(of: [2])]
        let other = BlobRoot(size: 1 << 20 + 1, chunkHashes: hashes)
        _ = try blobs.begin(root: other, size: 1 << 20 + 1)
        try blobs.setHashes(root: other, size: 1 << 20 + 1, hashes: hashes)
    }
    say("done")
    pause()
default: exit(EX_USAGE)
}

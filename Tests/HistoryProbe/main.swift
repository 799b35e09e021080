import ChatModel
import Dispatch
import Glibc
import History
import Identity
import SystemCalls

// What tests need a process of its own for. Arguments: what to do, the state directory, the key's seed in hexadecimal.
let arguments = CommandLine.arguments
guard arguments.count == 4, let seed = [UInt8](hexadecimal: arguments[3]), let key = SigningKey(seed: seed) else {
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

import ChatModel
import Dispatch
import Glibc
import History
import Identity

// Appends one event after the other, and prints each number once it is acknowledged; to be killed at any time.
// Arguments: the directory, and the key's seed in hexadecimal digits.
let arguments = CommandLine.arguments
guard arguments.count == 3, let seed = [UInt8](hexadecimal: arguments[2]), let key = SigningKey(seed: seed) else {
    exit(EX_USAGE)
}
let (history, _) = try History.open(directory: arguments[1], room: RoomID(openRoom: "lab"), key: key)
while true {
    let event = BatchEvent(
        kind: .text, nonce: Nonce(UInt128.random(in: .min ... .max)), clock: HybridTime(milliseconds: 1), wallTime: 1,
        body: EventBody.text("hello").encoded(authorName: "probe"))
    let result = try history.queue.sync { try history.append([event]).results[0] }
    guard case .appended(let id, let number) = result else { exit(EX_SOFTWARE) }
    let line = Array("\(number) \(id)\n".utf8)
    guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(EX_IOERR) }
}

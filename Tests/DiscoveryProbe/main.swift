import Addressing
import Discovery
import Dispatch
import Glibc
import Identity
import Rx

// discovery-probe MODE ROOM NAME PORT [SEED [SECRET MILLISECONDS]]: announces a peer and prints a line for each event, after the milliseconds of
// the monotonic clock. Ends with its standard input, and prints `withdrawn` then.
let arguments = CommandLine.arguments
guard arguments.count >= 5, let mode = DiscoveryMode(rawValue: arguments[1]), let port = UInt16(arguments[4]),
    let key = arguments.count > 5 ? [UInt8](hexadecimal: arguments[5]).flatMap(SigningKey.init(seed:)) : SigningKey()
else {
    print("usage: discovery-probe MODE ROOM NAME PORT [SEED]")
    exit(64)
}

@Sendable func say(_ line: String) {
    let bytes = Array("\(DispatchTime.now().uptimeNanoseconds / 1_000_000) \(line)\n".utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)  // unbuffered: whoever reads waits for the line
}

@Sendable func line(_ event: DiscoveryEvent) -> String {
    switch event {
    case .using(let stack): "using \(stack)"
    case .trouble(let why): "trouble \(why)"
    case .found(let peer, let instance, let endpoints):
        "found \(peer) \(endpoints.map(\.description).joined(separator: ",")) \(instance)"
    case .lost(let peer): "lost \(peer)"
    case .sighted(let instance, let endpoints):
        "sighted \(instance) \(endpoints.map(\.description).joined(separator: ","))"
    case .vanished(let instance): "vanished \(instance)"
    case .renamed(let instance): "renamed \(instance)"
    }
}

say("started \(key.peer)")
var announcement = Announcement(displayName: arguments[3], room: arguments[2], peer: key.peer, port: port)
var renewal = Discovery.renewal
// In a keyed room, whose members take another name after so long.
if arguments.count > 7, let secret = [UInt8](hexadecimal: arguments[6]), let milliseconds = Int(arguments[7]),
    let roomKey = RoomKey(room: RoomID(openRoom: arguments[2]), secret: secret)
{
    announcement.concealment = Concealment(roomKey)
    renewal = .milliseconds(milliseconds)
    say("concealed \(announcement.concealment?.instance ?? "")")
}
let subscription = Discovery.run(announcement, mode: mode, renewal: renewal).subscribe(onNext: { say(line($0)) })
while readLine() != nil {}
subscription.dispose()
say("withdrawn")

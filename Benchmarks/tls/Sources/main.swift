import Foundation
import Glibc
import Identity
import Transport

/// CPU time of openings between two ends on one thread over memory, in microseconds each: `measure-openings COUNT`.
enum MeasureOpenings {
    static func open(_ room: RoomKey, _ dialler: End, _ acceptor: End) {
        let one = Opening(TLSStream(dialler.context, isDialler: true), key: room, own: dialler.peer, isDialler: true)
        let other = Opening(
            TLSStream(acceptor.context, isDialler: false), key: room, own: acceptor.peer, isDialler: false)
        var said = one.feed([])
        while true {
            let answer = other.feed(said.output)
            said = one.feed(answer.output)
            if said.step == .opened(acceptor.peer) { return }
            guard said.step == .wait, answer.step == .wait else { fatalError("\(said.step), \(answer.step)") }
        }
    }

    struct End {
        let context: TLSContext
        let peer: PeerID

        init() {
            let key = SigningKey()
            (context, peer) = (TLSContext(key), key.peer)
        }
    }

    static var cpu: Double {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return Double(now.tv_sec) * 1e6 + Double(now.tv_nsec) / 1e3
    }
}

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 500
let room = RoomKey(openRoom: RoomID(openRoom: "lab"))
let (dialler, acceptor) = (MeasureOpenings.End(), MeasureOpenings.End())
for _ in 0..<20 { MeasureOpenings.open(room, dialler, acceptor) }
let begin = MeasureOpenings.cpu
for _ in 0..<count { MeasureOpenings.open(room, dialler, acceptor) }
print(String(format: "%.1f", (MeasureOpenings.cpu - begin) / Double(count)))

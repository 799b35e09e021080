import ChatModel
import Control
import Glibc

/// `chat send-image FILE...`.
enum SendImageCommand {
    private enum Input: Sendable {
        case transfer(TransferView)
        case interrupted
        case ended
    }

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let paths = invocation.options.operands
        if paths.isEmpty { throw ClientOptions.sendImage.error("no file") }
        if paths.count > 1, invocation.options.has(ClientOptions.nonce) {
            throw ClientOptions.sendImage.error("--nonce names one image")
        }
        let nonce = try invocation.nonce(ClientOptions.sendImage)
        for path in paths { _ = try ImageFile(path) }  // all are looked at before any is sent
        let mailbox = Mailbox<Input>()
        let daemon = try invocation.connect { event in
            switch event {
            case .notification(.transfer(let view)): mailbox.put(.transfer(view))
            case .notification: break
            case .ended: mailbox.put(.ended)
            }
        }
        let sent = try paths.map { try send($0, nonce, daemon.client, invocation) }
        if sent.allSatisfy(\.receivers.isEmpty) { daemon.tellIfAlone(0) }
        let followed = sent.filter { !$0.receivers.isEmpty }
        if invocation.options.has(ClientOptions.noWait) || followed.isEmpty { return .success }
        let signals = SignalWatch([SIGINT]) { _ in mailbox.put(.interrupted) }
        defer { signals.stop() }
        return try follow(followed.map(\.transfer), daemon.client, mailbox, invocation.console)
    }

    private static func send(
        _ path: String, _ nonce: String?, _ client: ControlClient, _ invocation: Invocation
    ) throws -> SendImageResult {
        let file = try ImageFile(path)
        let parameters = SendImageParameters(name: file.name, nonce: nonce)
        let result = try client.call(.sendImage, parameters, descriptor: file.descriptor)
        if invocation.options.has(ClientOptions.printID) { try invocation.console.print(result.id) }
        return result
    }

    private static func follow(
        _ transfers: [String], _ client: ControlClient, _ mailbox: Mailbox<Input>, _ console: Console
    ) throws -> ExitStatus {
        var board = TransferBoard(transfers)
        var drawing = BarDrawing(console)
        for transfer in transfers {
            board.take(try client.call(.followTransfer, TransferParameters(transfer: transfer)).transfer)
        }
        try drawing.draw(board)
        while !board.isOver {
            switch mailbox.take() {
            case .transfer(let view):
                board.take(view)
                try drawing.draw(board)
            case .interrupted:
                console.complain("chat: detached; the transfer goes on")
                return .interrupted
            case .ended, nil:
                throw CommandFailure(.unavailable, "chatd went away; the transfer goes on when it is back")
            }
        }
        try drawing.finish(board)
        let failures = board.views.flatMap { Bars.failures($0) }
        for line in failures { console.complain(line) }
        return failures.isEmpty ? .success : .tryAgain
    }
}

/// Where some transfers are; pure.
struct TransferBoard {
    /// In the order of the files.
    private(set) var views: [TransferView] = []
    private let order: [String]

    init(_ transfers: [String]) { order = transfers }

    /// Others' transfers, and what comes after an end, don't count.
    mutating func take(_ view: TransferView) {
        guard order.contains(view.transfer) else { return }
        if let index = views.firstIndex(where: { $0.transfer == view.transfer }) {
            if views[index].state == .running { views[index] = view }
        } else {
            views.append(view)
        }
    }

    var isOver: Bool { views.count == Set(order).count && views.allSatisfy { $0.state != .running } }
}

/// Bars redrawn in place on a terminal; elsewhere one line at the end.
struct BarDrawing {
    private let console: Console
    private var drawn: [String] = []

    init(_ console: Console) { self.console = console }

    mutating func draw(_ board: TransferBoard) throws {
        guard console.isOutputTerminal else { return }
        let size = console.size
        let all = board.views.flatMap { Bars.lines($0, columns: size.columns - 1) }
        let lines = Array(all.suffix(max(1, size.rows - 2)))
        if lines == drawn { return }
        let up = drawn.isEmpty ? "" : "\u{1b}[\(drawn.count)A"
        try console.write(up + "\r\u{1b}[J" + lines.map { $0 + "\n" }.joined())
        drawn = lines
    }

    mutating func finish(_ board: TransferBoard) throws {
        if !console.isOutputTerminal { try console.print(board.views.map { Bars.summary($0) }) }
    }
}

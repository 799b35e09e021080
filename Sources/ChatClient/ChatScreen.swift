import ChatModel
import Control

/// What happens to the interactive client.
enum ScreenInput: Sendable, Equatable {
    case bytes([UInt8])
    /// Nothing more came for as long as ``ChatScreen/patience`` said.
    case silence
    case line(LineView)
    case update(LineView)
    case transfer(TransferView)
    case peers([PeerView])
    /// Something of our own to tell, such as an error; one line, safe.
    case note(String)
    case resized(columns: Int, rows: Int)
}

/// What the client shall do about it.
enum ScreenEffect: Equatable, Sendable {
    case print([String])
    case send(String)
    case sendImage(path: String)
    case listPeers
    /// Draw everything anew.
    case redraw
    case quit(ExitStatus)
}

/// The interactive client without its terminal, turning inputs into lines, prompt and bars.
struct ChatScreen: Sendable {
    static let help = [
        "/peers        who is in the room", "/image FILE   send an image", "/help         this list",
        "/quit         leave; also Ctrl-D on an empty line", "//text        send a line that begins with /",
    ]

    var rendering = LineRendering()
    private var columns: Int
    private var height: Int
    private var parser = KeyParser()
    private var buffer = EditBuffer()
    private var history = InputHistory()
    private var transfers: [TransferView] = []
    /// How many lines were taken out of the input by Enter.
    private(set) var entered = 0

    init(columns: Int, rows: Int) {
        self.columns = columns
        height = rows
    }

    /// Whether Enter would take the line.
    var canEnter: Bool { !buffer.isEmpty && buffer.text.utf8.count <= EventBody.maximumTextLength }

    /// In how many milliseconds without another byte ``ScreenInput/silence`` is due; `nil` for never.
    var patience: Int? { parser.patience }

    /// Leaves at least one row to the transcript.
    var bottom: BottomArea {
        let bars = barLines()
        return BottomArea(
            bars: bars, input: InputArea(buffer, columns: columns, height: max(1, height - 1 - bars.count)))
    }

    mutating func take(_ input: ScreenInput) -> [ScreenEffect] {
        switch input {
        case .bytes(let bytes): return parser.take(bytes).flatMap { press($0) }
        case .silence: return parser.flush().flatMap { press($0) }
        case .line(let line), .update(let line): return [.print(rendering.terminalLines(line))]
        case .transfer(let view): return track(view)
        case .peers(let peers): return list(peers)
        case .note(let text): return [.print(["* \(text)"])]
        case .resized(let columns, let rows):
            (self.columns, height) = (columns, rows)
            return []
        }
    }

    // MARK: From the daemon

    private mutating func track(_ view: TransferView) -> [ScreenEffect] {
        transfers.removeAll { $0.transfer == view.transfer }
        if view.state == .running {
            transfers.append(view)
            return []
        }
        let failures = view.direction == .send ? Bars.failures(view) : []
        return failures.isEmpty ? [] : [.print(failures.map { "* \(SafeText.name(view.name)) for \($0)" })]
    }

    private mutating func list(_ peers: [PeerView]) -> [ScreenEffect] {
        rendering.names.note(peers)
        let lines = rendering.peers(peers).map { "* \($0)" }
        return [.print(lines.isEmpty ? ["* nobody else is here yet"] : lines)]
    }

    private func barLines() -> [String] {
        let width = max(10, columns - 1)
        let all = transfers.flatMap { Bars.lines($0, columns: width) }.map { DisplayWidth.truncated($0, to: width) }
        let limit = max(1, height / 3)
        if all.count <= limit { return all }
        let totals = transfers.compactMap { Bars.lines($0, columns: width).last }
        let shown = totals.prefix(limit == 1 || totals.count <= limit ? limit : limit - 1)
        return shown.count < totals.count && limit > 1
            ? shown + ["and \(totals.count - shown.count) more"] : Array(shown)
    }

    // MARK: From the keyboard

    private mutating func press(_ key: Key) -> [ScreenEffect] {
        switch key {
        case .text(let text), .paste(let text): buffer.insert(text)
        case .enter: return enter()
        case .up: if let line = history.previous(leaving: buffer.text) { buffer = EditBuffer(line) }
        case .down: if let line = history.next() { buffer = EditBuffer(line) }
        case .endOfInput:
            if buffer.isEmpty { return [.quit(.success)] }
            buffer.delete()
        case .interrupt: return [.quit(.interrupted)]
        case .redraw: return [.redraw]
        default: edit(key)
        }
        return []
    }

    private mutating func edit(_ key: Key) {
        switch key {
        case .backspace: buffer.backspace()
        case .delete: buffer.delete()
        case .left: buffer.moveLeft()
        case .right: buffer.moveRight()
        case .wordLeft: buffer.moveWordLeft()
        case .wordRight: buffer.moveWordRight()
        case .home: buffer.moveHome()
        case .end: buffer.moveEnd()
        case .killToEnd: buffer.killToEnd()
        case .killToStart: buffer.killToStart()
        case .killWord: buffer.killWord()
        default: break
        }
    }

    private mutating func enter() -> [ScreenEffect] {
        let text = buffer.text
        if text.isEmpty { return [] }
        let length = text.utf8.count
        if length > EventBody.maximumTextLength {
            let limit = EventBody.maximumTextLength
            return [.print(["* not sent: the text has \(length) bytes; the limit is \(limit) bytes"])]
        }
        buffer = EditBuffer()
        entered += 1
        history.add(text)
        return run(text)
    }

    private func run(_ text: String) -> [ScreenEffect] {
        guard text.hasPrefix("/"), !text.contains("\n") else { return [.send(text)] }
        if text.hasPrefix("//") { return [.send(String(text.dropFirst()))] }
        let words = text.split(separator: " ", maxSplits: 1)
        let operand = words.count > 1 ? words[1].trimmingSpaces : ""
        switch words[0] {
        case "/quit": return [.quit(.success)]
        case "/help": return [.print(Self.help.map { "* \($0)" })]
        case "/peers": return [.listPeers]
        case "/image":
            return operand.isEmpty ? [.print(["* /image needs a file"])] : [.sendImage(path: Self.unquoted(operand))]
        default:
            let word = SafeText.name(String(words[0]))
            return [.print(["* no command \(word); /help lists them, and //\(word.dropFirst()) sends it as text"])]
        }
    }

    /// A path as terminals paste one that was dropped on them.
    private static func unquoted(_ path: String) -> String {
        guard path.count > 1, let quote = path.first, quote == "'" || quote == "\"", path.last == quote else {
            return path
        }
        return String(path.dropFirst().dropLast())
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

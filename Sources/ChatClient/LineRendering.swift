import ChatModel
import Control
import Glibc

/// Who has which display name: two peers whose names are one, or look like it, are told apart by their keys.
struct NameBook: Equatable {
    /// The keys of those whose names look alike.
    private var peers: [String: Set<String>] = [:]
    /// The digits of keys whose name is another's.
    private var doubtful: Set<String> = []

    mutating func note(_ name: String, peer: String) { peers[Names.skeleton(of: name), default: []].insert(peer) }

    /// Takes a listing, with its warnings in place of those before.
    mutating func note(_ views: [PeerView]) {
        for view in views { note(view.name, peer: view.peer) }
        doubtful = Set(views.filter { $0.warning != nil }.map(\.suffix))
    }

    /// The name, with digits of the key if somebody else has it too or it is doubtful whose it is.
    func label(_ name: String, suffix: String) -> String {
        let isShared = (peers[Names.skeleton(of: name)]?.count ?? 0) > 1 || doubtful.contains(suffix)
        let name = SafeText.name(name)
        return isShared ? "\(name) (\(SafeText.line(suffix)))" : name
    }
}

/// Rows of the transcript as lines of text; all remote text goes through ``SafeText``.
struct LineRendering {
    /// What a tab is shown as.
    static let tab = "    "

    var names = NameBook()
    /// The time now, in milliseconds since 1970: rows of other days show their date.
    var now: @Sendable () -> Int = { Clock.now() }

    mutating func note(_ line: LineView) {
        if line.kind != .notice { names.note(line.name, peer: line.author) }
    }

    /// The row as lines of a terminal, without line ends; all but the first are indented.
    mutating func lines(_ line: LineView) -> [String] {
        note(line)
        return gap(before: line) + rows(line)
    }

    private func rows(_ line: LineView) -> [String] {
        switch line.kind {
        case .notice: noticeLines(line)
        case .text: textLines(line, remark(line) + counted(line))
        case .image: ["\(time(line.time)) \(image(line))\(remark(line))\(counted(line))"]
        }
    }

    /// That messages are missing which others have, or had.
    private func gap(before line: LineView) -> [String] {
        guard let missing = line.missing, missing > 0 else { return [] }
        let label = names.label(line.name, suffix: line.suffix)
        return ["\(time(line.time)) * \(missing) message\(missing == 1 ? "" : "s") of \(label) missing here"]
    }

    /// As ``lines(_:)``, for a terminal: a tab would move to a column that depends on where the line begins.
    mutating func terminalLines(_ line: LineView) -> [String] {
        lines(line).map { $0.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: Self.tab) }
    }

    private func noticeLines(_ line: LineView) -> [String] {
        let head = "\(time(line.time)) * "
        return SafeText.block(line.text ?? "").enumerated().map { ($0 == 0 ? head : "        ") + $1 }
    }

    /// Of how many others it is known that they have it.
    private func counted(_ line: LineView) -> String {
        guard let count = line.delivery, count.members > 0 else { return "" }
        return "  \(count.stored)/\(count.members)"
    }

    private func textLines(_ line: LineView, _ end: String) -> [String] {
        let head = "\(time(line.time)) \(names.label(line.name, suffix: line.suffix)): "
        let lines = SafeText.block(line.text ?? "").enumerated().map { ($0 == 0 ? head : "      ") + $1 }
        return lines.dropLast() + lines.suffix(1).map { $0 + end }
    }

    /// What is odd about the line's time, such as ` (arrived 12 min late)`.
    private func remark(_ line: LineView) -> String {
        if let late = line.late { return " (arrived \(TimeSpan.text(late)) late)" }
        if let ahead = line.ahead { return " (its clock is \(TimeSpan.text(ahead)) ahead)" }
        return ""
    }

    private func image(_ line: LineView) -> String {
        let author = names.label(line.name, suffix: line.suffix)
        guard let image = line.image else { return "\(author) sent an image" }
        let what = "\(SafeText.name(image.name)) (\(details(image)))"
        let reason = image.reason.map { ": \(SafeText.line($0))" } ?? ""
        return switch image.state {
        case .sending, .receiving: "\(author) is sending \(what)"
        case .sent: "\(author) sent \(what)"
        case .received: "\(author) sent \(what)" + (image.path.map { " -> \(SafeText.line($0))" } ?? "")
        case .waiting: "\(author) sent \(what): waiting for it\(reason)"
        case .refused: "\(author) sent \(what): refused\(reason)"
        case .failed: "\(author) sent \(what): failed\(reason)"
        case .cancelled: "\(author) sent \(what): cancelled\(reason)"
        }
    }

    private func details(_ image: ImageView) -> String {
        let size = ByteCount.text(image.size)
        guard let width = image.width, let height = image.height, width > 0, height > 0 else { return size }
        return "\(width)x\(height), \(size)"
    }

    func time(_ milliseconds: Int) -> String {
        let time = Clock.fields(milliseconds)
        let today = Clock.fields(now())
        return time.date == today.date ? time.minute : "\(time.date) \(time.minute)"
    }

    private func remarks(_ peer: PeerView) -> String {
        let remarks = [peer.verdict, peer.warning, peer.state == .waiting ? "chat accept or refuse" : nil]
        return remarks.compactMap { $0.map { "; \(SafeText.line($0))" } }.joined()
    }

    /// `bob  connected  [::1]:4242  since 14:03`, in columns.
    func peers(_ peers: [PeerView]) -> [String] {
        let rows = peers.map { peer in
            [
                names.label(peer.name, suffix: peer.suffix), peer.state.rawValue,
                SafeText.line(peer.endpoint ?? "-"), "since \(time(peer.since))\(remarks(peer))",
            ]
        }
        let widths = (0..<3).map { column in rows.map { DisplayWidth.columns(of: $0[column]) }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { DisplayWidth.padded($0, to: $1) }.joined(separator: "  ") + "  " + row[3]
        }
    }
}

/// Spans of time as people read them, rounded down.
enum TimeSpan {
    static func text(_ milliseconds: Int) -> String {
        let minutes = milliseconds / 60_000
        if minutes < 1 { return "\(milliseconds / 1_000) s" }
        if minutes < 120 { return "\(minutes) min" }
        let hours = minutes / 60
        return hours < 48 ? "\(hours) h" : "\(hours / 24) days"
    }
}

/// Sizes as people read them.
enum ByteCount {
    static func text(_ bytes: Int) -> String {
        if bytes < 1024 { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        var tenths = bytes * 10 / 1024
        for unit in ["KiB", "MiB", "GiB", "TiB"] {
            if tenths < 100, !tenths.isMultiple(of: 10) { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            if tenths < 10240 || unit == "TiB" { return "\(tenths / 10) \(unit)" }
            tenths /= 1024
        }
        return "\(bytes) bytes"
    }
}

/// Wall time.
enum Clock {
    /// Milliseconds since 1970.
    static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
    }

    /// Date and minute in the local time zone, such as `2024-05-01` and `14:03`.
    static func fields(_ milliseconds: Int) -> (date: String, minute: String) {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return (
            "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))",
            "\(two(parts.tm_hour)):\(two(parts.tm_min))"
        )
    }
}

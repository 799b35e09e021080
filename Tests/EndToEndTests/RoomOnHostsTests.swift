import ChatModel
import Control
import Foundation
import Testing

/// How hosts of the shared lab find one another; 1 to 3 have an avahi-daemon, 4 to 6 none.
enum Meeting: String, CaseIterable, CustomTestStringConvertible {
    case avahi, embedded, places, mixed

    static let port = 7_311

    var hosts: [Int] {
        switch self {
        case .avahi: [1, 2, 3]
        case .embedded, .places: [4, 5, 6]
        case .mixed: [1, 4, 5]
        }
    }

    /// What each chatd says of its discovery.
    var providers: [String] {
        switch self {
        case .avahi: Array(repeating: "discovery: avahi-daemon", count: 3)
        case .embedded: Array(repeating: "discovery: embedded mDNS", count: 3)
        case .places: Array(repeating: "discovery: none; peers are dialled by --peer alone", count: 3)
        case .mixed: ["discovery: avahi-daemon"] + Array(repeating: "discovery: embedded mDNS", count: 2)
        }
    }

    /// Without discovery each dials those before it: one direction for each pair.
    func arguments(_ index: Int) -> [String] {
        guard self == .places else { return [] }
        return ["--discovery", "none", "--listen", "[::]:\(Self.port)"]
            + hosts[..<index].flatMap { ["--peer", "10.77.0.\($0):\(Self.port)"] }
    }

    var testDescription: String {
        switch self {
        case .avahi: "all with avahi-daemon"
        case .embedded: "none with avahi-daemon"
        case .places: "no discovery, a --peer for each pair"
        case .mixed: "one with avahi-daemon, two without"
        }
    }
}

extension LabTests {
    /// What a room on several hosts is for.
    @Suite(.sharedLab(6, avahi: .only([1, 2, 3]))) struct RoomOnHosts {
        private static let names = ["alice", "bob", "carol"]
        private static let imageSize = 20 << 20

        private let scratch = try? Scratch()

        @Test(arguments: Meeting.allCases)
        func `three hosts see one another within 3 s, and texts and an image of 20 MiB come whole to all`(
            meeting: Meeting
        ) async throws {
            let lab = try await SharedLab.healed()
            let scratch = try #require(scratch)
            let members = zip(Self.names, meeting.hosts).enumerated().map { index, place in
                Member(place.0, in: meeting.rawValue, on: lab[place.1], keeping: scratch, meeting.arguments(index))
            }

            try await meet(members, meeting)
            try await exchangeTexts(members)
            try await exchangeImage(members, scratch, meeting)

            for member in members {
                for other in members where other !== member {
                    #expect(try member.arrivals(of: other.name) == 1)
                    #expect(try member.departures(of: other.name) == 0)
                }
            }
            try await leave(members)
        }

        private func meet(_ members: [Member], _ meeting: Meeting) async throws {
            for member in members { try member.start() }
            let began = ContinuousClock.now
            try await awaitMeeting(members)
            let duration = ContinuousClock.now - began
            measured("all see all, \(meeting.testDescription)", duration)
            #expect(duration < .seconds(3))
            for (member, provider) in zip(members, meeting.providers) {
                #expect(try member.daemon.log.contains("chatd: \(provider)"))
                let peers = try await member.peers()
                #expect(Set(peers.map(\.name)) == Set(Self.names).subtracting([member.name]))
                #expect(peers.count == 2 && peers.allSatisfy { $0.state == .connected && $0.endpoint != nil })
            }
        }

        private func exchangeTexts(_ members: [Member]) async throws {
            let texts = ["!", String(repeating: "x", count: EventBody.maximumTextLength), Self.manyScripts]
            try await members[0].send(texts[0])
            let long = try await members[1].client.run("send", "-", input: texts[1] + "\n")
            #expect(long.exit == .status(0) && long.output.isEmpty && long.errors.isEmpty)
            try await members[2].send(texts[2])

            for member in members {
                try await member.awaitTexts(texts)
                let lines = try await member.lines().filter { $0.kind == .text }
                // Strings are equal whatever their normal form; bytes are what was sent.
                #expect(Set(lines.map { Array(($0.text ?? "").utf8) }) == Set(texts.map { Array($0.utf8) }))
                #expect(lines.count == texts.count)
                for (author, text) in zip(Self.names, texts) {
                    let line = try #require(lines.first { $0.text == text })
                    #expect(line.name == author)
                    #expect(line.direction == (author == member.name ? .send : .receive))
                }
            }
        }

        private static let manyScripts =
            "family \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}, flag \u{1f1fa}\u{1f1f3}, "
            + "e\u{301} is not \u{e9}, a\u{323}\u{307}\u{308}, \u{5e9}\u{5dc}\u{5d5}\u{5dd}, "
            + "\u{645}\u{631}\u{62d}\u{628}\u{627} 123, \u{202b}embedded\u{202c}, tab\tand\nnew line"

        private func exchangeImage(_ members: [Member], _ scratch: Scratch, _ meeting: Meeting) async throws {
            let bytes = try SampleImage.jpeg(size: Self.imageSize)
            let file = try scratch.file("plan.jpg", bytes)
            let watches = try members.map { try Watch($0) }

            let outcome = try await members[0].client.run("send-image", file)

            measured("20 MiB to two, \(meeting.testDescription)", outcome.duration)
            #expect(outcome.exit == .status(0) && outcome.errors.isEmpty)
            #expect(["plan.jpg: bob, carol have it\n", "plan.jpg: carol, bob have it\n"].contains(outcome.output))
            for member in members.dropFirst() { try await expectReceived(file, by: member, size: Self.imageSize) }
            for (watch, copies) in zip(watches, [2, 1, 1]) {
                #expect(await eventually { watch.transfers.last?.state == .done })
                expectRising(watch.transfers, to: copies * Self.imageSize)
            }
        }

        private func expectReceived(_ file: String, by member: Member, size: Int) async throws {
            let image = try await first("the image at \(member.name)") {
                try await member.lines().compactMap(\.image).first { $0.state == .received }
            }
            #expect(image.name == "plan.jpg" && image.mediaType == "image/jpeg" && image.size == size)
            #expect(image.width == SampleImage.width && image.height == SampleImage.height)
            #expect(image.path == "\(member.downloads)/plan.jpg")
            #expect(checksum(ofFile: image.path) == checksum(ofFile: file))
        }

        /// 20 chunks of 1 MiB to each receiver; steps may be told together.
        private func expectRising(_ steps: [TransferView], to total: Int) {
            let counts = steps.map(\.completed)
            #expect(counts == counts.sorted(), "progress never falls")
            #expect(Set(counts).count > 5, "it is seen on its way: \(counts)")
            #expect(steps.allSatisfy { $0.total == total })
            #expect(steps.last?.completed == total)
            for peer in steps.last?.peers ?? [] { #expect(peer.completed == peer.total && peer.state == .done) }
        }
    }
}

import ChatModel
import Control
import Foundation
import Locking
import Testing

extension LabTests {
    /// Five who talk while cables come out and chatd is killed: nothing acknowledged is lost, nothing comes twice.
    ///
    /// MESSAGES, KILLS and SEED choose a longer or another run: `MESSAGES=10000 KILLS=300`.
    @Suite(.sharedLab(5, avahi: .only([1, 2, 3]))) struct Endurance {
        private static let messages = setting("MESSAGES") ?? 200
        private static let kills = setting("KILLS") ?? 5
        private static let seed = setting("SEED").map(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
        private static let names = ["alice", "bob", "carol", "dave", "eve"]

        private let scratch = try? Scratch()

        @Test(.timeLimit(.minutes(60)))
        func `through cuts and kills, each acknowledged text is on every host once, in one order`() async throws {
            print("endurance: \(Self.messages) messages, \(Self.kills) kills, SEED=\(Self.seed)")
            let lab = try await SharedLab.healed()
            let scratch = try #require(scratch)
            let members = Self.names.enumerated().map { index, name in
                Member(name, in: "endurance", on: lab[index + 1], keeping: scratch)
            }
            for member in members { try member.start() }
            try await awaitMeeting(members)

            let said = try await talk(members, in: lab)
            try await lab.heal()
            let healed = ContinuousClock.now
            try await expectAgreement(of: members, on: said)
            measured("all agree after the last fault", ContinuousClock.now - healed)
            try await leave(members)
        }

        private struct Said: Sendable {
            /// `chat send` ended with 0.
            var acknowledged: [String] = []
            /// It did not: the text may be stored, or not.
            var inFlight: [String] = []
        }

        /// Everybody talks, each at his own pace, until all is said and all faults have been.
        private func talk(_ members: [Member], in lab: Lab) async throws -> Said {
            let (said, isOver) = (Locked(Said()), Locked(false))
            try await withThrowingTaskGroup { group in
                for member in members {
                    let count = Self.messages / members.count
                    group.addTask {
                        for number in 1...count { try await say("\(member.name) \(number)", by: member, said) }
                    }
                }
                group.addTask { try await kill(members) }
                let cables = Task { try await pullCables(of: members.count, in: lab) { isOver.withLock { $0 } } }
                try await group.waitForAll()
                isOver.withLock { $0 = true }
                try await cables.value
            }
            return said.withLock { $0 }
        }

        private func say(_ text: String, by member: Member, _ said: Locked<Said>) async throws {
            // The socket is a file that all hosts of a lab share: no need to go there.
            let outcome = try await Client(state: member.state).run("send", "--", text, within: .seconds(60))
            said.withLock { said in
                if outcome.exit == .status(0) { said.acknowledged.append(text) } else { said.inFlight.append(text) }
            }
        }

        private func kill(_ members: [Member]) async throws {
            var random = SplitMix64(seed: Self.seed)
            for _ in 0..<Self.kills {
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...1_500, using: &random)))
                guard let member = members.randomElement(using: &random) else { return }
                try await member.kill()
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
                try member.start()
            }
        }

        /// One fault at a time: a host alone, or two that don't reach each other while others reach both.
        private func pullCables(of count: Int, in lab: Lab, until isOver: () -> Bool) async throws {
            var random = SplitMix64(seed: ~Self.seed)
            while !isOver() {
                let hosts = (1...count).shuffled(using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: try await lab.cut(hosts[0])
                case 1: try await lab.unplug(hosts[0])
                default:
                    try await lab.drop(hosts[0], hosts[1])
                    try await lab.drop(hosts[2], hosts[3])
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 200...4_000, using: &random)))
                try await lab.heal()
                try await Task.sleep(for: .milliseconds(Int.random(in: 200...4_000, using: &random)))
            }
        }

        private func expectAgreement(of members: [Member], on said: Said) async throws {
            print("endurance: \(said.acknowledged.count) acknowledged, \(said.inFlight.count) in flight")
            #expect(said.acknowledged.count > said.inFlight.count)
            var transcripts: [[String]] = []
            let agree = try await eventually(within: .seconds(60)) {
                transcripts = []
                for member in members { transcripts.append(try await member.texts()) }
                return transcripts.allSatisfy { $0 == transcripts[0] }
                    && Set(said.acknowledged).isSubset(of: transcripts[0])
            }
            #expect(agree, "\(transcripts.map(\.count)) lines; seed \(Self.seed)")
            for (member, texts) in zip(members, transcripts) {
                let times = Dictionary(texts.map { ($0, 1) }, uniquingKeysWith: +)
                #expect(said.acknowledged.allSatisfy { times[$0] == 1 }, "\(member.name), seed \(Self.seed)")
                #expect(said.inFlight.allSatisfy { times[$0, default: 0] <= 1 }, "\(member.name), seed \(Self.seed)")
                #expect(times.count <= said.acknowledged.count + said.inFlight.count)
            }
            try await expectVerified(members, count: transcripts[0].count)
        }

        /// `chat verify` on each host says that all hold the same, and that nobody has two histories.
        private func expectVerified(_ members: [Member], count: Int) async throws {
            for member in members {
                var verdict: Outcome?
                let isSame = try await eventually(within: .seconds(60)) {
                    let outcome = try await member.client.run("verify", "--timeout", "30", within: .seconds(60))
                    verdict = outcome
                    return outcome.exit == .status(0)
                        && outcome.output.hasPrefix("all \(members.count) hold the same \(count) messages: ")
                }
                print("endurance: \(member.name): \(verdict?.output ?? "")", terminator: "")
                #expect(isSame, "\(member.name), seed \(Self.seed): \(verdict?.errors ?? "")")
                #expect(verdict?.lines.count == 1 && verdict?.errors == "")
            }
        }
    }
}

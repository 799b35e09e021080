import Foundation
import Simulation
import Testing

struct SimulationTests {
    private func again(_ outcome: Simulation.Outcome, _ options: Simulation.Options = .init()) -> Comment {
        "\(outcome.violations.joined(separator: "; ")); again: make simulate SEED=\(outcome.seed)"
    }

    @Test(arguments: 0..<2 as Range<UInt64>)
    func `whatever goes wrong, all hosts end with the same and nothing is lost or comes twice`(part: UInt64) {
        for seed in part * 50 + 1...part * 50 + 50 {
            let outcome = Simulation.run(seed: seed)

            #expect(outcome.violations.isEmpty, again(outcome))
            #expect(outcome.hosts >= 3 && outcome.messages >= 20 && outcome.faults >= 5 && outcome.crashes >= 1)
        }
    }

    @Test func `with real seals and encodings it ends so too`() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let outcome = Simulation.run(seed: seed, .init(isGenuine: true))
            #expect(outcome.violations.isEmpty, again(outcome))
        }
    }

    @Test(arguments: Flaw.allCases) func `a planted bug is found within 2,000 schedules`(flaw: Flaw) {
        #expect(Simulation.seed(finding: flaw) != nil)
    }

    @Test func `one seed is one course of events, and another seed another`() {
        let traces = (1...10).map { Simulation.run(seed: $0).trace }

        #expect((1...10).map { Simulation.run(seed: $0).trace } == traces)
        #expect(Set(traces).count == 10)
    }

    @Test func `no module of the product takes batches under a seal of zeros`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
            .standardizedFileURL
        var count = 0
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        where file.pathExtension == "swift" {
            count += 1
            #expect(
                !(try String(contentsOf: file, encoding: .utf8)).contains("@_spi(Simulation) import"), "\(file.path)")
        }
        #expect(count > 100)
    }
}

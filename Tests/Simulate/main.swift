import Dispatch
import Foundation
import Locking
import Simulation

/// What the command line asks for.
struct Request {
    var first: UInt64 = 1
    var count: UInt64 = 1_000
    var jobs = ProcessInfo.processInfo.activeProcessorCount
    var options = Simulation.Options()
    var isReplay = false
    var isForFlaws = false

    static let usage = """
        usage: simulate [--seeds N] [--first SEED] [--seed SEED] [--hosts N] [--jobs N] [--genuine] [--flaw NAME]
          --seeds N      run N schedules (1000), from --first on (1)
          --seed SEED    run one schedule, and tell what came of it
          --genuine      sign and verify for real, and encode every message
          --flaw NAME    plant a bug, to see whether it is found
          --flaws        plant each bug in turn, and tell which seed finds it
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--genuine" {
                options.isGenuine = true
                continue
            }
            if argument == "--flaws" {
                isForFlaws = true
                continue
            }
            guard let value = rest.popFirst() else { throw Unusable(why: Self.usage) }
            if argument == "--flaw" {
                guard let flaw = Flaw(rawValue: value) else { throw Unusable(why: "no flaw is called \(value)") }
                options.flaw = flaw
                continue
            }
            guard let number = UInt64(value) else { throw Unusable(why: "\(argument) wants a number") }
            switch argument {
            case "--seeds": count = number
            case "--first": first = number
            case "--seed": (first, count, isReplay) = (number, 1, true)
            case "--hosts": options.hosts = Int(min(max(number, 3), 100))
            case "--jobs": jobs = Int(max(1, min(number, 256)))
            default: throw Unusable(why: Self.usage)
            }
        }
    }

    /// The one command that runs this seed again.
    func replay(_ seed: UInt64) -> String {
        var flags: [String] = []
        if let hosts = options.hosts { flags.append("--hosts \(hosts)") }
        if options.isGenuine { flags.append("--genuine") }
        if let flaw = options.flaw { flags.append("--flaw \(flaw)") }
        let more = flags.isEmpty ? "" : " SIMULATE_FLAGS='\(flags.joined(separator: " "))'"
        return "make simulate SEED=\(seed)\(more)"
    }
}

struct Unusable: Error { var why: String }

struct Totals {
    var next: UInt64
    var done = 0
    var failed = 0
    var steps = 0
    var span: UInt64 = 0
    var trace: UInt64 = 0
}

func report(_ outcome: Simulation.Outcome, _ request: Request) {
    for violation in outcome.violations { print("seed \(outcome.seed): \(violation)") }
    if !outcome.violations.isEmpty { print("  again: \(request.replay(outcome.seed))") }
    guard request.isReplay else { return }
    print(
        """
        seed \(outcome.seed): \(outcome.hosts) hosts, \(outcome.messages) messages, \(outcome.faults) faults, \
        \(outcome.crashes) crashes, \(outcome.steps) steps, \(outcome.span / 1_000) s, \
        trace \(String(outcome.trace, radix: 16))
        """)
}

func run(_ request: Request) -> Int32 {
    let start = DispatchTime.now()
    let totals = Locked(Totals(next: request.first))
    let end = request.first + request.count
    DispatchQueue.concurrentPerform(iterations: request.jobs) { _ in
        while true {
            let seed = totals.withLock { totals -> UInt64? in
                guard totals.next < end, totals.failed < 20 else { return nil }
                totals.next += 1
                return totals.next - 1
            }
            guard let seed else { return }
            let outcome = Simulation.run(seed: seed, request.options)
            totals.withLock { totals in
                totals.done += 1
                totals.steps += outcome.steps
                totals.span += outcome.span
                totals.trace ^= outcome.trace
                if !outcome.violations.isEmpty { totals.failed += 1 }
                report(outcome, request)
            }
        }
    }
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
    let all = totals.withLock { $0 }
    let rate = Int(Double(all.done) / seconds)
    print(
        """
        \(all.done) schedules, \(all.failed) failed; \(rate) a second on \(request.jobs) threads; \
        \(all.steps / max(1, all.done)) steps each, \(all.span / 3_600_000) hours in all; \
        trace \(String(all.trace, radix: 16))
        """)
    return all.failed == 0 ? 0 : 1
}

func findFlaws() -> Int32 {
    var missed = 0
    for flaw in Flaw.allCases {
        if let (seed, violation) = Simulation.seed(finding: flaw) {
            print("\(flaw): found by seed \(seed): \(violation)")
        } else {
            print("\(flaw): not found")
            missed += 1
        }
    }
    return missed == 0 ? 0 : 1
}

do {
    let request = try Request(Array(CommandLine.arguments.dropFirst()))
    exit(request.isForFlaws ? findFlaws() : run(request))
} catch let error as Unusable {
    FileHandle.standardError.write(Data((error.why + "\n").utf8))
    exit(64)
}

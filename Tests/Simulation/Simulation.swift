/// Schedules of faults under virtual time, against the room's reducer and a store that fails.
public enum Simulation {
    /// How to run a schedule.
    public struct Options: Sendable {
        /// `nil`: 3 to 10, by the seed.
        public var hosts: Int?
        public var flaw: Flaw?
        /// Signs and verifies for real, and passes every message through its encoding.
        public var isGenuine = false

        public init(hosts: Int? = nil, flaw: Flaw? = nil, isGenuine: Bool = false) {
            self.hosts = hosts
            self.flaw = flaw
            self.isGenuine = isGenuine
        }
    }

    /// What came of one schedule.
    public struct Outcome: Sendable {
        public var seed: UInt64
        public var hosts: Int
        public var messages: Int
        public var faults: Int
        public var crashes: Int
        public var steps: Int
        /// Virtual time that passed, in milliseconds.
        public var span: UInt64
        /// The same for the same seed and options, whatever the process.
        public var trace: UInt64
        /// What must never happen and did; empty if all is well.
        public var violations: [String]
    }

    /// Runs one schedule to its end; seeds and options alone decide on all of it.
    public static func run(seed: UInt64, _ options: Options = Options()) -> Outcome {
        let schedule = Schedule(
            seed: seed, hosts: options.hosts, flaw: options.flaw, isGenuine: options.isGenuine)
        schedule.run()
        let world = schedule.world
        world.end()
        return Outcome(
            seed: seed, hosts: world.hosts.count, messages: world.record.said.count, faults: world.record.faults,
            crashes: world.record.crashes, steps: world.steps, span: world.now, trace: world.trace,
            violations: world.record.violations)
    }

    /// Looks for a planted bug.
    ///
    /// - Returns: The first seed of 1 to `limit` that finds it, and what it finds.
    public static func seed(finding flaw: Flaw, limit: UInt64 = 2_000) -> (seed: UInt64, violation: String)? {
        for seed in 1...limit {
            if let violation = run(seed: seed, Options(flaw: flaw)).violations.first { return (seed, violation) }
        }
        return nil
    }
}

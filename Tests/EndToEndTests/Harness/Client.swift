import SystemCalls

/// What a run of `chat` came to.
struct Outcome: Sendable {
    let output: String
    let errors: String
    let exit: Exit
    let duration: Duration

    /// The output's lines.
    var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) }
}

/// Runs `chat` for one state directory.
struct Client: Sendable {
    let state: String
    let host: Host

    init(state: String, on host: Host = .here) {
        self.state = state
        self.host = host
    }

    /// Runs `chat` to its end; one that takes longer than the limit is killed, and an error.
    func run(
        _ arguments: String..., input: String? = nil, environment: [String: String] = [:],
        within limit: Duration = .seconds(20)
    ) async throws -> Outcome {
        try await run(arguments, input: input, environment: environment, within: limit)
    }

    func run(
        _ arguments: [String], input: String? = nil, environment: [String: String] = [:],
        within limit: Duration = .seconds(20)
    ) async throws -> Outcome {
        let begin = ContinuousClock.now
        let process = try Subprocess(
            command(arguments), on: host, environment: environment,
            input: input.map { .bytes(Array($0.utf8)) } ?? .nothing)
        let exit = try await process.exit(within: limit)
        return Outcome(
            output: process.output.text, errors: process.errors.text, exit: exit,
            duration: ContinuousClock.now - begin)
    }

    /// Starts `chat`, to be written to and read from as it goes.
    func start(_ arguments: String..., environment: [String: String] = [:]) throws(SystemCallError) -> Subprocess {
        try Subprocess(command(arguments), on: host, environment: environment, input: .open)
    }

    private func command(_ arguments: [String]) -> [String] { [host.programs.chat, "--state-dir", state] + arguments }
}

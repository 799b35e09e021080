import ChatDaemon
import Foundation

exit(
    DaemonCommand.run(
        Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment,
        say: { print($0, terminator: "") },
        // A reader that is gone is no reason to fail differently.
        complain: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) }))

import ChatDaemon
import Foundation

exit(
    DaemonCommand.main(
        environment: ProcessInfo.processInfo.environment,
        say: { try? FileHandle.standardOutput.write(contentsOf: Data($0.utf8)) },
        // A reader that is gone is no reason to fail differently.
        complain: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) }))

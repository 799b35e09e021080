import Foundation

/// The programs under test.
struct Programs: Sendable {
    /// Those beside the running test bundle: of the same build.
    static let built: Programs = {
        let bundle = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return Programs(
            directory: URL(fileURLWithPath: bundle ?? ".build/debug/tests").deletingLastPathComponent().path)
    }()

    let directory: String

    var chatd: String { "\(directory)/chatd" }
    var chat: String { "\(directory)/chat" }

    /// Copies them to where any user may run them; the sources may lie where only their owner may look.
    ///
    /// A child does it: what this process has open for writing, another child could hold open when it is to run.
    func copied(into scratch: Scratch) async throws -> Programs {
        let copies = Programs(directory: try scratch.directory("bin"))
        let copying = try Subprocess(["cp", chatd, chat, copies.directory])
        let exit = try await copying.exit(within: .seconds(20))
        guard exit == .status(0) else { throw LabFailure("cp: \(exit): \(copying.errors.text)") }
        return copies
    }
}

/// The scripts of `Tests/lab`.
enum LabScripts {
    static let lab = "\(directory)/lab"
    static let mdnsForge = "\(directory)/mdns-forge"
    static let capture = "\(directory)/capture"

    private static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("lab").path
}

import Foundation

/// Where the programs under test and the lab are.
enum Programs {
    static let chatd = "\(built)/chatd"
    static let chat = "\(built)/chat"
    static let lab = "\(package)/Tests/lab/lab"
    static let mdnsForge = "\(package)/Tests/lab/mdns-forge"

    /// The directory of the running test bundle: chatd and chat come from the same build.
    private static let built: String = {
        let bundle = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: bundle ?? ".build/debug/tests").deletingLastPathComponent().path
    }()

    private static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .path
}

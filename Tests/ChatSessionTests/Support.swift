import ChatSession
import Discovery
import Foundation
import Glibc
import Identity

/// A directory for a session's state, gone with this object.
final class StateFolder: Sendable {
    let path = NSTemporaryDirectory() + "chat-session-\(UInt64.random(in: 0 ... .max))"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Without discovery, so that a test meets nobody it doesn't know.
    func configuration(dialling port: UInt16? = nil, key: SigningKey = SigningKey()) -> SessionConfiguration {
        var configuration = SessionConfiguration(stateDirectory: path, downloads: path + "/downloads", key: key)
        configuration.discovery = .none
        configuration.places = port.map { ["127.0.0.1:\($0)"] } ?? []
        return configuration
    }
}

/// Waits until a condition holds; the limit only ends a failing test.
func eventually(within seconds: Double = 20, _ condition: () -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while Date() < deadline {
        if condition() { return true }
        usleep(2_000)
    }
    return condition()
}

public import Rx
public import Transport

extension SessionContainer {
    /// Being in a room, for as long as somebody is subscribed.
    ///
    /// Subscribing opens what is stored and joins; whatever ends the subscription leaves, once, before it returns. That
    /// takes up to 2 s. Each subscriber is a member of its own, so a second one with the same state fails.
    ///
    /// - Parameters:
    ///   - displayName: What people see; 1 to 63 bytes.
    ///   - room: The room's name, in lower case.
    ///   - configuration: Where things are kept, and how peers are found.
    ///   - address: Where to wait for peers, as ``join(on:)`` takes it.
    ///   - prepare: Gets the session before it joins, to subscribe to what may happen at once.
    /// - Returns: A resource that is the joined session, with its ``port``. Its errors are those of the initializer and of
    ///   ``join(on:)``.
    public static func resource(
        displayName: String, room: String, configuration: SessionConfiguration, on address: ListenAddress? = nil,
        prepare: @escaping @Sendable (SessionContainer) -> Void = { _ in }
    ) -> Resource<SessionContainer> {
        Resource(
            acquire: {
                let session = try SessionContainer(
                    displayName: displayName, room: room, configuration: configuration)
                prepare(session)
                do {
                    _ = try session.join(on: address)
                } catch {
                    session.leave()
                    throw error
                }
                return session
            },
            release: { $0.leave() })
    }
}

public import ChatModel
import Dispatch
import Glibc
import History
public import Identity
public import Rx
public import SystemCalls

/// What was sent: on this host's disk, and on its way.
public struct Sent: Hashable, Sendable {
    /// The event, and the transfer of an image.
    public var id: EventID
    /// In this host's log.
    public var number: UInt64
    /// Who was linked at the send.
    public var receivers: [PeerID: String]
}

extension Nonce {
    /// A new one: 48 bits of milliseconds since 1970, then 80 bits of the system's randomness.
    ///
    /// By time, so that the history's table of nonces grows at one end and a commit touches few of its pages.
    public static func random() -> Nonce { random(1)[0] }

    /// Several new ones.
    static func random(_ count: Int) -> [Nonce] {
        let (time, bytes) = (UInt128(Clock.wall & (1 << 48 - 1)), randomBytes(10 * count))
        return (0..<count).map { index in
            Nonce(bytes[10 * index..<10 * index + 10].reduce(time) { $0 << 8 | UInt128($1) })
        }
    }
}

extension SessionContainer {
    /// Says something to the room.
    ///
    /// - Parameters:
    ///   - message: 1 to 16,384 bytes of UTF-8.
    ///   - nonce: The same one with the same message is the same event: to try again after a crash is safe.
    /// - Returns: A cold sequence: subscribing sends. One element once the event is committed, then it completes; fails
    ///   with ``SessionError`` or `AppendFailure`, and then nothing was stored.
    public func send(message: String, nonce: Nonce = .random()) -> Observable<Sent> {
        if let complaint = Self.complaint(about: message) { return .error(complaint) }
        return command { .say([Saying(.text(message), nonce: nonce, command: $0)]) }
    }

    /// Says several things to the room, in their order, as ``send(message:nonce:)`` would each.
    ///
    /// - Parameters:
    ///   - messages: Those without a nonce get one.
    ///   - answer: Told what became of each, by its index; from any thread, as often as something becomes of some.
    public func send(
        messages: [(text: String, nonce: Nonce?)],
        answer: @escaping @Sendable ([(index: Int, result: Result<Sent, any Error>)]) -> Void
    ) {
        let complaints = messages.enumerated().compactMap { index, message in
            Self.complaint(about: message.text).map { (index, Result<Sent, any Error>.failure($0)) }
        }
        if !complaints.isEmpty { answer(complaints) }
        let good = messages.enumerated().filter { Self.complaint(about: $1.text) == nil }
        if good.isEmpty { return }
        let places = good.map(\.offset)
        let ids = replies.expect(good.count) { replies in
            answer(
                replies.compactMap { index, reply in
                    switch reply {
                    case .stored(let id, let number, let receivers):
                        (places[index], .success(Sent(id: id, number: number, receivers: receivers)))
                    case .failed(let failure): (places[index], .failure(failure))
                    case .done: nil
                    }
                })
        }
        let nonces = Nonce.random(good.count)
        commands.onNext(
            .say(
                good.indices.map { index in
                    let message = good[index].element
                    return Saying(
                        .text(message.text), nonce: message.nonce ?? nonces[index], isNonceNew: message.nonce == nil,
                        command: ids[index])
                }))
    }

    private static func complaint(about text: String) -> SessionError? {
        let length = text.utf8.count
        if length == 0 { return .empty }
        return length > EventBody.maximumTextLength
            ? .tooLong(length: length, limit: EventBody.maximumTextLength) : nil
    }

    /// Sends an image file to the room; see ``send(image:named:nonce:)``.
    ///
    /// - Parameter path: A regular file; its last component is the name that others see.
    /// - Returns: As there; fails with `SystemCallError` if the file can't be opened.
    public func send(imageAt path: String) -> Observable<Sent> {
        .deferred { [self] in
            // O_NONBLOCK: opening a FIFO must not wait for a writer.
            let file = Descriptor(
                owning: try systemCall("open", path) { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) })
            return send(image: file, named: path.split(separator: "/").last.map(String.init) ?? path)
        }
    }

    /// Sends an open file to the room as an image.
    ///
    /// - Parameters:
    ///   - image: A regular file; what it holds now is sent, whatever becomes of it.
    ///   - name: What others see.
    ///   - nonce: As in ``send(message:nonce:)``.
    /// - Returns: A cold sequence: subscribing sends. One element once the event is committed, then it completes;
    ///   ``transfers`` tells of the rest. Fails with ``SessionError``, `BlobError` or `AppendFailure`.
    public func send(image: Descriptor, named name: String, nonce: Nonce = .random()) -> Observable<Sent> {
        guard Names.fileName(forImageNamed: name) != nil else {
            return .error(SessionError.invalid("'\(name)' can't be an image's name"))
        }
        return adopt(image).flatMap { [self] blob in
            let info = ImageInfo(
                name: name, mediaType: blob.mediaType, size: blob.size, width: blob.width, height: blob.height,
                root: blob.root)
            return command { .say([Saying(.image(info), nonce: nonce, command: $0)]) }
        }
    }

    /// Ends a transfer that is under way, in either direction.
    public func cancel(_ transfer: EventID) { commands.onNext(.cancel(transfer)) }

    /// Takes a snapshot of a file into the blob store.
    private func adopt(_ file: Descriptor) -> Observable<AdoptedBlob> {
        let blobs = parts.blobs
        return .create { observer in
            blobs.queue.async {
                do throws(BlobError) {
                    observer.onNext(try blobs.adopt(file))
                    observer.onCompleted()
                } catch { observer.onError(error) }
            }
            return Disposables.create()
        }
    }

    private func command(_ event: @escaping @Sendable (CommandID) -> RoomEvent) -> Observable<Sent> {
        .create { [replies, commands] observer in
            let id = replies.expect { reply in
                switch reply {
                case .stored(let id, let number, let receivers):
                    observer.onNext(Sent(id: id, number: number, receivers: receivers))
                    observer.onCompleted()
                case .done: observer.onCompleted()
                case .failed(let failure): observer.onError(failure)
                }
            }
            commands.onNext(event(id))
            return Disposables.create()
        }
    }
}

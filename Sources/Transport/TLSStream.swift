import COpenSSL
package import Identity

/// TLS 1.3 over memory: OpenSSL sees neither socket nor clock.
///
/// `@unchecked`: used by one thread at a time, first ``HandshakeQueue``'s, then the link's.
package final class TLSStream: SecureStream, @unchecked Sendable {
    private static let exporterLabel = "EXPERIMENTAL groupchat room v1"
    /// How often a peer may renew its keys on one connection: each costs us more than it.
    private static let mostKeyUpdates = 16
    private static let keyUpdate: UInt8 = 24  // RFC 8446, 4

    private let context: TLSContext
    package let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let expecting: PeerID?
    private var peer: PeerID?
    private var refusal: OpeningRefusal?
    private var isDone = false
    private var keyUpdates = 0
    private var violation: String?

    /// The stream of a connection that came in, or that we dialled.
    ///
    /// - Parameters:
    ///   - context: What this peer shows of itself.
    ///   - isDialler: Whether this end speaks first.
    ///   - expecting: Whom we dial: anybody else isn't told who we are.
    package init(_ context: TLSContext, isDialler: Bool, expecting: PeerID? = nil) {
        guard let ssl = SSL_new(context.pointer), let incoming = BIO_new(BIO_s_mem()),
            let outgoing = BIO_new(BIO_s_mem())
        else { preconditionFailure("out of memory") }
        self.context = context
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        self.expecting = expecting
        COpenSSL_setEnded(incoming, 0)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if isDialler { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    }

    deinit { SSL_free(ssl) }

    package func feed(_ bytes: UnsafeRawBufferPointer) {
        if !bytes.isEmpty { BIO_write(incoming, bytes.baseAddress, CInt(bytes.count)) }
    }

    // MARK: Handshake

    package func handshake() -> Handshake {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else {
            if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return .wait }
            return .refused(refusal ?? .notAPeer(TLSContext.reason()))
        }
        guard isOurProtocol else { return .refused(.notAPeer("another protocol")) }
        guard let peer else { return .refused(.certificate(.count(0))) }
        isDone = true
        return .done(peer)
    }

    private var isOurProtocol: Bool {
        var start: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &length)
        return UnsafeBufferPointer(start: start, count: Int(length)).elementsEqual(TLSContext.protocolName)
    }

    package func exportedKey() -> [UInt8] {
        var key = [UInt8](repeating: 0, count: 32)
        let label = Self.exporterLabel
        guard SSL_export_keying_material(ssl, &key, key.count, label, label.utf8.count, nil, 0, 0) == 1 else {
            preconditionFailure("OpenSSL exports no key: \(TLSContext.reason())")
        }
        return key
    }

    /// OpenSSL's question whether a peer's certificates are right; the peer hasn't yet shown that it holds the key.
    static func verify(_ store: OpaquePointer?) -> CInt {
        guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
            let stream = stream(of: OpaquePointer(ssl))
        else { return 0 }
        stream.refusal = stream.judge(store)
        return stream.refusal == nil ? 1 : 0
    }

    private func judge(_ store: OpaquePointer) -> OpeningRefusal? {
        let count = Int(COpenSSL_certificateCount(store))
        guard count == 1, let certificate = X509_STORE_CTX_get0_cert(store) else { return .certificate(.count(count)) }
        do throws(CertificateProblem) {
            let peer = try PeerCertificate.peer(of: certificate)
            if let expecting, expecting != peer { return .anotherPeer(peer) }
            self.peer = peer
            return nil
        } catch { return .certificate(error) }
    }

    // MARK: After the handshake

    /// A handshake message came: once the handshake is done, only new keys may.
    static func heard(_ type: UInt8, on ssl: OpaquePointer?) {
        guard let stream = ssl.flatMap({ stream(of: $0) }), stream.isDone else { return }
        stream.keyUpdates += 1
        if type != keyUpdate {
            stream.violation = "a handshake message of type \(type) after the handshake"
        } else if stream.keyUpdates > mostKeyUpdates {
            stream.violation = "too many new keys"
        }
    }

    private static func stream(of ssl: OpaquePointer) -> TLSStream? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSStream>.fromOpaque($0).takeUnretainedValue() }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Plaintext {
        ERR_clear_error()
        let count = SSL_read(ssl, buffer.baseAddress, CInt(buffer.count))
        if let violation { return .failed(violation) }
        if count > 0 { return .bytes(Int(count)) }
        switch SSL_get_error(ssl, count) {
        case SSL_ERROR_WANT_READ: return .wait
        case SSL_ERROR_ZERO_RETURN: return .end
        default: return .failed(TLSContext.reason())
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) {
        ERR_clear_error()
        if !bytes.isEmpty { SSL_write(ssl, bytes.baseAddress, CInt(bytes.count)) }
    }

    package func writeEnd() {
        ERR_clear_error()
        SSL_shutdown(ssl)
    }

    package var hasOutput: Bool { BIO_ctrl_pending(outgoing) > 0 }

    package func takeOutput() -> [UInt8] {
        let count = BIO_ctrl_pending(outgoing)
        // An array of no room is the one that all threads share, and its length would be written.
        if count == 0 { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, Int(BIO_read(outgoing, buffer.baseAddress, CInt(count))))
        }
    }
}

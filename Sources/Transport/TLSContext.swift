import COpenSSL
package import Identity

/// How this peer speaks TLS: one certificate, and no choice of anything.
///
/// TLS 1.3 alone, X25519, Ed25519, ALPN `groupchat/1`; both sides show exactly one certificate; no tickets, no resumption,
/// no early data, no certificate after the handshake (RFC 8446; docs/protocol.md, "Connection").
///
/// `@unchecked`: an SSL_CTX may be used by many threads as long as nobody changes it, and nobody does.
package final class TLSContext: @unchecked Sendable {
    static let protocolName = Array("groupchat/1".utf8)
    private static let longestCertificate = 2048  // bytes
    private static let ciphers = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"

    package let pointer: OpaquePointer

    package init(_ key: SigningKey) {
        guard let pointer = SSL_CTX_new(TLS_method()), Self.configure(pointer), Self.identify(pointer, as: key) else {
            preconditionFailure("OpenSSL can't speak TLS 1.3 with Ed25519: \(TLSContext.reason())")
        }
        self.pointer = pointer
    }

    deinit { SSL_CTX_free(pointer) }

    private static func configure(_ context: OpaquePointer) -> Bool {
        SSL_CTX_set_options(context, COpenSSL_noTicket)
        SSL_CTX_clear_options(context, COpenSSL_middleboxCompatibility)
        COpenSSL_setLongestCertificate(context, longestCertificate)
        COpenSSL_keepNothing(context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(context, { store, _ in TLSStream.verify(store) }, nil)
        SSL_CTX_set_msg_callback(context) { isWritten, _, type, bytes, count, ssl, _ in
            guard isWritten == 0, type == SSL3_RT_HANDSHAKE, count > 0, let bytes else { return }
            TLSStream.heard(bytes.load(as: UInt8.self), on: ssl)
        }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, length, offered, count, _ in
                TLSContext.choose(chosen, length, among: UnsafeBufferPointer(start: offered, count: Int(count)))
            }, nil)
        let offer = [UInt8(protocolName.count)] + protocolName
        return COpenSSL_setVersions(context, TLS1_3_VERSION, TLS1_3_VERSION) == 1
            && SSL_CTX_set_ciphersuites(context, ciphers) == 1 && COpenSSL_setGroups(context, "X25519") == 1
            && COpenSSL_setSignatures(context, "ed25519") == 1 && SSL_CTX_set_num_tickets(context, 0) == 1
            && SSL_CTX_set_max_early_data(context, 0) == 1
            && SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count)) == 0
    }

    private static func identify(_ context: OpaquePointer, as key: SigningKey) -> Bool {
        guard let (certificate, secret) = PeerCertificate.make(for: key) else { return false }
        defer {
            X509_free(certificate)
            EVP_PKEY_free(secret)
        }
        return SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, secret) == 1
    }

    /// Picks our protocol out of those that a dialler offers (RFC 7301, 3.1: each with its length before it).
    private static func choose(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<UInt8>?,
        among offered: UnsafeBufferPointer<UInt8>
    ) -> CInt {
        var index = 0
        while index < offered.count {
            let start = index + 1
            index = start + Int(offered[index])
            guard index <= offered.count else { break }
            if offered[start..<index].elementsEqual(protocolName) {
                chosen?.pointee = offered.baseAddress.map { $0 + start }
                length?.pointee = UInt8(protocolName.count)
                return SSL_TLSEXT_ERR_OK
            }
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    /// What OpenSSL failed with last on this thread.
    static func reason() -> String {
        let code = ERR_peek_error()
        return ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    }
}

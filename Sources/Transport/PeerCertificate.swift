import COpenSSL
package import Identity

/// What is wrong with a peer's certificate.
package enum CertificateProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// There must be exactly one.
    case count(Int)
    /// It holds no Ed25519 key of the prime-order group.
    case key
    /// It isn't signed by that key.
    case signature

    package var description: String {
        switch self {
        case .count(let count): "\(count) certificates"
        case .key: "a certificate without a proper Ed25519 key"
        case .signature: "a certificate that its own key didn't sign"
        }
    }
}

/// The certificates that stand for peers in TLS: X.509 around an Ed25519 key, signed by it.
///
/// Nothing else in one means anything; its dates are those that RFC 5280, 4.1.2.5 gives for 'no date'.
package enum PeerCertificate {
    /// A peer's certificate and secret key, as OpenSSL takes them; the caller frees both.
    package static func make(for key: SigningKey) -> (certificate: OpaquePointer, key: OpaquePointer)? {
        guard let secret = EVP_PKEY_new_raw_private_key(NID_ED25519, nil, key.seed, SigningKey.seedLength) else {
            return nil
        }
        guard let certificate = X509_new() else {
            EVP_PKEY_free(secret)
            return nil
        }
        let isMade =
            X509_set_version(certificate, 2) == 1  // version 3
            && ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "19700101000000Z") == 1
            && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1
            && X509_set_pubkey(certificate, secret) == 1 && X509_sign(certificate, secret, nil) > 0
        guard isMade else {
            X509_free(certificate)
            EVP_PKEY_free(secret)
            return nil
        }
        return (certificate, secret)
    }

    /// Whose certificate it is.
    ///
    /// libsodium judges, for OpenSSL takes keys of small order, under which one signature fits every message.
    static func peer(of certificate: OpaquePointer) throws(CertificateProblem) -> PeerID {
        guard let peer = publicKey(of: certificate).flatMap({ PeerID($0) }) else { throw .key }
        guard let signature = signature(of: certificate), let signed = signedPart(of: certificate),
            peer.verifies(signature, of: signed)
        else { throw .signature }
        return peer
    }

    private static func publicKey(of certificate: OpaquePointer) -> [UInt8]? {
        guard let key = X509_get0_pubkey(certificate), EVP_PKEY_get_id(key) == NID_ED25519 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 32)
        var length = bytes.count
        return EVP_PKEY_get_raw_public_key(key, &bytes, &length) == 1 && length == 32 ? bytes : nil
    }

    private static func signature(of certificate: OpaquePointer) -> Signature? {
        var bits: UnsafePointer<ASN1_BIT_STRING>?
        X509_get0_signature(&bits, nil, certificate)
        guard X509_get_signature_nid(certificate) == NID_ED25519, let bits, let start = bits.pointee.data else {
            return nil
        }
        return Signature(UnsafeBufferPointer(start: start, count: Int(bits.pointee.length)))
    }

    private static func signedPart(of certificate: OpaquePointer) -> [UInt8]? {
        var start: UnsafeMutablePointer<UInt8>?
        let length = i2d_re_X509_tbs(certificate, &start)
        guard length > 0, let start else { return nil }
        defer { CRYPTO_free(start, nil, 0) }
        return Array(UnsafeBufferPointer(start: start, count: Int(length)))
    }
}

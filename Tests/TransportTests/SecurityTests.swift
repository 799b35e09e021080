import COpenSSL
import Glibc
import HostilePeer
import Identity
import Testing

@testable import Transport

/// Peers that don't speak as they should, on real connections (threats A2 to A4, A10, A12).
@Suite struct SecurityTests {
    private let mallory = Keyring.newPeer()

    private func limits() -> TransportLimits {
        var limits = TransportLimits()
        limits.opening = .seconds(20)
        return limits
    }

    private func keyedRoom(_ byte: UInt8) throws -> RoomKey {
        try #require(
            RoomKey(room: RoomID(openRoom: "keyed"), secret: [UInt8](repeating: byte, count: RoomKey.length)))
    }

    /// Says something in place of the proof, and expects to be closed without a byte.
    private func propose(_ proof: (FakePeer) throws -> [UInt8], to node: Node) throws {
        let fake = try FakePeer.dial(node.port)
        try fake.encrypt(as: mallory, isDialler: true)
        try fake.write(try proof(fake))
        #expect(try fake.readToEnd() == [])
    }

    // MARK: Room proof

    @Test func `a room's key lets in, another key, no key and the room's name alone don't`() throws {
        let node = try Node(room: try keyedRoom(1), limits: limits())
        let wrong = [try keyedRoom(2), RoomKey(openRoom: node.room.room), RoomKey(openRoom: RoomID(openRoom: "lab"))]
        for key in wrong {
            try propose({ try $0.proof(key, as: mallory, isDialler: true).initiator }, to: node)
        }
        try propose({ _ in randomBytes(RoomProof.length) }, to: node)
        try node.wait { $0.refusals == ["no proof that it is in this room"] }
        #expect(node.events.count == 1)

        _ = try FakePeer.link(to: node, as: mallory)

        try node.wait { $0.isUp(mallory) }
    }

    @Test func `peers with different keys for one room don't link, whoever dials`() throws {
        let (alice, bob) = (try Node(room: try keyedRoom(1)), try Node(room: try keyedRoom(2)))

        let dials = [(alice, alice.dial(bob)), (bob, bob.dial(alice))]

        for (node, dial) in dials {
            try node.wait { if case .failed(_, refused: false) = $0.result(of: dial) { true } else { false } }
        }
        #expect(!alice.events.isUp(bob.peer) && !bob.events.isUp(alice.peer))
    }

    @Test func `a proof from another connection is refused`() throws {
        let node = try Node(limits: limits())
        let first = try FakePeer.dial(node.port)
        try first.encrypt(as: mallory, isDialler: true)
        let recorded = try first.proof(node.room, as: mallory, isDialler: true).initiator

        try propose({ _ in recorded }, to: node)

        try first.write(recorded)
        #expect(try first.read(RoomProof.length).count == 32)
    }

    @Test func `the acceptor's proof said by the dialler is refused`() throws {
        let node = try Node(limits: limits())

        try propose({ try $0.proof(node.room, as: mallory, isDialler: true).responder }, to: node)
    }

    @Test func `a dialler whose proof is sent back to it fails, and says nothing more`() throws {
        let (node, listener) = (try Node(limits: limits()), try FakeListener())
        let dial = node.transport.dial([listener.endpoint], expecting: mallory)
        let fake = try listener.accept()
        try fake.encrypt(as: mallory, isDialler: false)

        try fake.write(try fake.read(RoomProof.length))

        try node.wait {
            $0.result(of: dial)
                == .failed("\(listener.endpoint): no proof that it is in this room", refused: false)
        }
        #expect(try fake.readToEnd() == [])
    }

    @Test func `a man in the middle who ends TLS on both sides can't pass the proofs on`() throws {
        let (alice, bob, listener) = (try Node(limits: limits()), try Node(limits: limits()), try FakeListener())
        let dial = alice.transport.dial([listener.endpoint], expecting: nil)
        let (toAlice, toBob) = (try listener.accept(), try FakePeer.dial(bob.port))
        try toAlice.encrypt(as: mallory, isDialler: false)
        try toBob.encrypt(as: mallory, isDialler: true)

        try toBob.write(try toAlice.read(RoomProof.length))

        #expect(try toBob.readToEnd() == [])
        try bob.wait { $0.refusals == ["no proof that it is in this room"] }
        try toAlice.halfClose()
        try alice.wait { if case .failed = $0.result(of: dial) { true } else { false } }
    }

    @Test func `who expects somebody else isn't told who we are`() throws {
        let (node, listener) = (try Node(limits: limits()), try FakeListener())
        node.transport.dial([listener.endpoint], expecting: Keyring.newPeer())
        let fake = try listener.accept()

        #expect(throws: FakePeer.Ended.self) { try fake.encrypt(as: mallory, isDialler: false) }
    }

    // MARK: TLS

    private func expectRefused(
        _ reason: String?, by node: Node, at place: SourceLocation = #_sourceLocation,
        _ change: (TLSContext) throws -> Void
    ) throws {
        let context = TLSContext(try Keyring.key(of: mallory))
        try change(context)
        let fake = try FakePeer.dial(node.port)
        // A dialler ends its part of the handshake before the acceptor has judged it.
        try? fake.encrypt(as: mallory, isDialler: true, context)
        #expect(try fake.readToEnd() == [], sourceLocation: place)
        if let reason { try node.wait(at: place) { $0.refusals == [reason] } }
    }

    @Test func `an older TLS is refused`() throws {
        try expectRefused("not a groupchat peer: unsupported protocol", by: try Node(limits: limits())) { context in
            #expect(COpenSSL_setVersions(context.pointer, TLS1_2_VERSION, TLS1_2_VERSION) == 1)
        }
    }

    @Test func `another application protocol, or none, is refused`() throws {
        let other = [UInt8(11)] + Array("groupchat/2".utf8)
        let node = try Node(limits: limits())
        try expectRefused("not a groupchat peer: no application protocol", by: node) { context in
            #expect(SSL_CTX_set_alpn_protos(context.pointer, other, UInt32(other.count)) == 0)
        }
        try expectRefused("not a groupchat peer: another protocol", by: try Node(limits: limits())) { context in
            #expect(SSL_CTX_set_alpn_protos(context.pointer, nil, 0) == 0)
        }
    }

    @Test func `another group or signature algorithm is refused`() throws {
        try expectRefused("not a groupchat peer: no suitable key share", by: try Node(limits: limits())) { context in
            #expect(COpenSSL_setGroups(context.pointer, "P-256") == 1)
        }
        try expectRefused(
            "not a groupchat peer: no shared signature algorithms", by: try Node(limits: limits())
        ) { context in
            #expect(COpenSSL_setSignatures(context.pointer, "ECDSA+SHA256") == 1)
        }
    }

    @Test func `two certificates are refused`() throws {
        let more = try certificate()
        try expectRefused("not a groupchat peer: 2 certificates", by: try Node(limits: limits())) { context in
            #expect(COpenSSL_addCertificate(context.pointer, more) == 1)
        }
    }

    @Test func `a certificate of more than 2 KiB is refused, one just below isn't`() throws {
        for (length, isTaken) in [(1500, true), (2000, false)] {
            let node = try Node(limits: limits())
            let large = try certificate { certificate in
                var rest = length
                while rest > 0 {
                    let text = [UInt8](repeating: 0x78, count: min(rest, 500))
                    #expect(
                        X509_NAME_add_entry_by_txt(
                            X509_get_subject_name(certificate), "description", MBSTRING_ASC, text, CInt(text.count), -1,
                            0) == 1)
                    rest -= text.count
                }
            }
            defer { X509_free(large) }
            if isTaken {
                let context = TLSContext(try Keyring.key(of: mallory))
                #expect(SSL_CTX_use_certificate(context.pointer, large) == 1)
                let fake = try FakePeer.dial(node.port)
                try fake.encrypt(as: mallory, isDialler: true, context)
                try fake.write(try fake.proof(node.room, as: mallory, isDialler: true).initiator)
                #expect(try fake.read(RoomProof.length).count == RoomProof.length)
            } else {
                try expectRefused("not a groupchat peer: excessive message size", by: node) { context in
                    #expect(SSL_CTX_use_certificate(context.pointer, large) == 1)
                }
            }
        }
    }

    @Test func `who shows no certificate is refused`() throws {
        let node = try Node(limits: limits())
        let fake = try FakePeer.dial(node.port)
        let stream = TLSStream(try Keyring.context(of: mallory), isDialler: true)
        SSL_certs_clear(stream.ssl)
        while case .wait = stream.handshake() {
            try fake.flush(stream)
            let bytes = try fake.readRaw(4096)
            bytes.withUnsafeBytes { stream.feed($0) }
        }
        try fake.flush(stream)

        #expect(try fake.readToEnd() == [])
        try node.wait { $0.refusals == ["not a groupchat peer: peer did not return a certificate"] }
    }

    /// A certificate of mallory's, changed and signed again.
    private func certificate(_ change: (OpaquePointer) throws -> Void = { _ in }) throws -> OpaquePointer {
        let (certificate, key) = try #require(PeerCertificate.make(for: try Keyring.key(of: mallory)))
        defer { EVP_PKEY_free(key) }
        try change(certificate)
        #expect(X509_sign(certificate, key, nil) > 0)
        return certificate
    }

    // MARK: The link

    @Test func `a stream that is cut off inside a frame gives no part of it`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)
        let frame = Frame(kind: Node.text, body: [UInt8](repeating: 1, count: 1000)).encoded

        try fake.write(Frame(kind: Node.text, body: [1]))
        try fake.write(Array(frame.dropLast()))
        fake.cut()

        try node.wait { $0.down(mallory) == [.closed] }
        #expect(node.texts(from: mallory) == [[1]])
    }

    @Test func `a changed byte ends the link and nothing behind it counts`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)
        let tls = try #require(fake.tls)
        Frame(kind: Node.text, body: [1]).encoded.withUnsafeBytes { tls.write($0) }
        var bytes = tls.takeOutput()

        bytes[bytes.count / 2] ^= 1
        try fake.writeRaw(bytes)
        try fake.write(Frame(kind: Node.text, body: [2]))

        try node.wait { if case .violated = $0.down(mallory).first { true } else { false } }
        #expect(node.texts(from: mallory) == [])
    }

    @Test func `a record that is sent twice ends the link`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)
        let tls = try #require(fake.tls)
        Frame(kind: Node.text, body: [1]).encoded.withUnsafeBytes { tls.write($0) }
        let bytes = tls.takeOutput()

        try fake.writeRaw(bytes + bytes)

        try node.wait { if case .violated = $0.down(mallory).first { true } else { false } }
        #expect(node.texts(from: mallory) == [[1]])
    }

    @Test func `a peer may renew its keys, but not for ever`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)
        let tls = try #require(fake.tls)
        for index in 0..<16 {
            #expect(SSL_key_update(tls.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
            try fake.write(Frame(kind: Node.text, body: [UInt8(index)]))
        }
        try node.wait { _ in node.texts(from: mallory).count == 16 }
        try fake.write(.ping(7))
        #expect(try TransportMessage(try fake.readFrame()) == .pong(7))

        #expect(SSL_key_update(tls.ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
        try fake.write(Frame(kind: Node.text, body: [99]))

        try node.wait { $0.down(mallory) == [.violated("too many new keys")] }
        #expect(node.texts(from: mallory).count == 16)
    }

    @Test func `a session ticket ends the link`() throws {
        let (node, listener) = (try Node(), try FakeListener())
        let dial = node.transport.dial([listener.endpoint], expecting: mallory)
        let fake = try listener.accept()
        _ = try fake.answer(node.room, as: mallory, instance: .init())
        try node.wait { $0.result(of: dial) == .linked(mallory) }

        let tls = try #require(fake.tls)
        #expect(SSL_new_session_ticket(tls.ssl) == 1)
        try fake.write(Frame(kind: Node.text, body: [1]))

        try node.wait {
            $0.down(mallory) == [.violated("a handshake message of type 4 after the handshake")]
        }
    }

    @Test func `who leaves says so at the level of TLS too`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)

        node.transport.close()

        #expect(try fake.readToEnd() == TransportMessage.goodbye(.leaving).frame.encoded)
        #expect(SSL_get_shutdown(try #require(fake.tls).ssl) == SSL_RECEIVED_SHUTDOWN)
    }
}

@Suite struct PeerCertificateTests {
    private func peer(ofEncoded bytes: [UInt8]) throws -> PeerID {
        let certificate = try #require(
            bytes.withUnsafeBufferPointer { buffer in
                var start = buffer.baseAddress
                return d2i_X509(nil, &start, bytes.count)
            })
        defer { X509_free(certificate) }
        return try PeerCertificate.peer(of: certificate)
    }

    private func encoded(_ key: SigningKey) throws -> [UInt8] {
        let (certificate, secret) = try #require(PeerCertificate.make(for: key))
        defer {
            X509_free(certificate)
            EVP_PKEY_free(secret)
        }
        var bytes = [UInt8](repeating: 0, count: Int(i2d_X509(certificate, nil)))
        bytes.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            i2d_X509(certificate, &start)
        }
        return bytes
    }

    private func replaced(_ bytes: [UInt8], _ old: [UInt8], by new: [UInt8]) throws -> [UInt8] {
        let starts = bytes.indices.filter { bytes[$0...].starts(with: old) }
        let start = try #require(starts.first)
        return Array(bytes[..<start]) + new + bytes[(start + old.count)...]
    }

    @Test func `a certificate names the peer whose key it holds, and is the same at every start`() throws {
        let key = SigningKey()

        #expect(try peer(ofEncoded: try encoded(key)) == key.peer)
        #expect(try encoded(key) == encoded(key))
        #expect(try encoded(key).count < 400)
    }

    @Test func `a key of small order is refused, though OpenSSL would take its signature for anything`() throws {
        let key = SigningKey()
        let identity = [1] + [UInt8](repeating: 0, count: 31)
        let bytes = try replaced(try encoded(key), key.peer.bytes, by: identity)
        let forged = Array(bytes.dropLast(64)) + identity + [UInt8](repeating: 0, count: 32)

        let certificate = try #require(
            forged.withUnsafeBufferPointer { buffer in
                var start = buffer.baseAddress
                return d2i_X509(nil, &start, forged.count)
            })
        defer { X509_free(certificate) }

        #expect(X509_verify(certificate, X509_get0_pubkey(certificate)) == 1)
        #expect(throws: CertificateProblem.key) { try PeerCertificate.peer(of: certificate) }
    }

    @Test func `a certificate that another key signed, or that was changed, is refused`() throws {
        let (key, other) = (SigningKey(), SigningKey())
        let bytes = try encoded(key)
        let foreign = try replaced(bytes, key.peer.bytes, by: other.peer.bytes)
        var later = bytes
        later[try #require(bytes.indices.first { bytes[$0...].starts(with: Array("9999".utf8)) })] = 0x38

        #expect(throws: CertificateProblem.signature) { try peer(ofEncoded: foreign) }
        #expect(throws: CertificateProblem.signature) { try peer(ofEncoded: later) }
    }

    @Test func `a certificate of another kind of key is refused`() throws {
        let key = try #require(EVP_PKEY_new_raw_private_key(NID_ED448, nil, randomBytes(57), 57))
        defer { EVP_PKEY_free(key) }
        let (certificate, secret) = try #require(PeerCertificate.make(for: SigningKey()))
        defer {
            X509_free(certificate)
            EVP_PKEY_free(secret)
        }
        #expect(X509_set_pubkey(certificate, key) == 1)
        #expect(X509_sign(certificate, key, nil) > 0)

        #expect(throws: CertificateProblem.key) { try PeerCertificate.peer(of: certificate) }
    }
}

import Identity
import Testing

struct SHA256Tests {
    /// FIPS 180-4's examples, as NIST publishes them.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]) func `the standard's examples hash as it says`(text: String, digest: String) {
        #expect(SHA256.digest(of: Array(text.utf8)).hexadecimal == digest)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 200]) func `it doesn't matter in which pieces bytes come`(cut: Int) {
        let bytes = (0..<200).map { UInt8($0) }
        var hash = SHA256()
        bytes[..<cut].withUnsafeBytes { hash.add($0) }
        let beginning = hash
        bytes[cut...].withUnsafeBytes { hash.add($0) }

        #expect(hash.digest == SHA256.digest(of: bytes))
        #expect(hash.digest == hash.digest)
        #expect(beginning.digest == SHA256.digest(of: Array(bytes[..<cut])))
    }
}

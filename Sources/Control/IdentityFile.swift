import Glibc
public import Identity
import SystemCalls

/// Where the secret key is kept.
public enum IdentityFile {
    /// Reads the key, or makes one at the first start; the file is for its owner alone from its first moment.
    ///
    /// - Throws: With status 74 where the file is there and can't be used, 73 where it can't be made: a lost key is never
    ///   replaced in silence, for it is who this host is.
    public static func open(_ file: String) throws(CommandFailure) -> SigningKey {
        var seed: [UInt8]
        do throws(SystemCallError) {
            seed = try readFile(file, limit: SigningKey.seedLength + 1)
        } catch {
            if error.code == ENOENT { return try make(file) }
            throw CommandFailure(.inputOutput, "\(error)")
        }
        defer { seed.wipe() }
        guard let key = SigningKey(seed: seed) else {
            throw CommandFailure(.inputOutput, "\(file) holds no key; move it away to become somebody new")
        }
        return key
    }

    private static func make(_ file: String) throws(CommandFailure) -> SigningKey {
        let key = SigningKey()
        do throws(SystemCallError) {
            // Two first starts in one instant end with one key: whoever comes second finds the first one's.
            var seed = key.seed
            defer { seed.wipe() }
            try createFile(file, with: seed)
            return key
        } catch {
            if error.code == EEXIST { return try open(file) }
            throw CommandFailure(.cannotCreate, "\(error)")
        }
    }
}

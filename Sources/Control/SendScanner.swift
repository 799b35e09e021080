/// Reads the request that a busy client makes most often, a plain `send`, without a general JSON decoder.
///
/// Takes less than JSON allows: what it doesn't take, the decoder looks at, so that all else and every error is its.
struct SendScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    /// - Returns: `nil` for anything but a call of `send` in UTF-8 without escapes in its strings, each key once.
    static func scan(_ line: ArraySlice<UInt8>) -> (id: RequestID?, parameters: SendParameters)? {
        line.withUnsafeBufferPointer { bytes in
            var scanner = SendScanner(bytes: bytes)
            return scanner.request()
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private mutating func request() -> (id: RequestID?, parameters: SendParameters)? {
        var (id, version, method): (RequestID?, String?, String?)
        var parameters: SendParameters?
        let isObject = object { scanner, key in
            switch key {
            case "jsonrpc" where version == nil:
                version = scanner.string()
                return version == "2.0"
            case "method" where method == nil:
                method = scanner.string()
                return method == "send"
            case "id" where id == nil:
                id = scanner.requestID()
                return id != nil
            case "params" where parameters == nil:
                parameters = scanner.sendParameters()
                return parameters != nil
            default: return false
            }
        }
        skipSpace()
        guard isObject, position == bytes.count, version != nil, method != nil, let parameters else { return nil }
        return (id, parameters)
    }

    private mutating func sendParameters() -> SendParameters? {
        var (text, nonce): (String?, String?)
        let isObject = object { scanner, key in
            switch key {
            case "text" where text == nil:
                text = scanner.string()
                return text != nil
            case "nonce" where nonce == nil:
                nonce = scanner.string()
                return nonce != nil
            default: return false
            }
        }
        guard isObject, let text else { return nil }
        return SendParameters(text: text, nonce: nonce)
    }

    private mutating func requestID() -> RequestID? {
        skipSpace()
        guard position < bytes.count else { return nil }
        if bytes[position] == UInt8(ascii: "\"") { return string().map { .string($0) } }
        let start = position
        var number = 0
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            number = number &* 10 &+ Int(digit)
            position += 1
        }
        let count = position - start
        guard (1...18).contains(count), count == 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        return .number(number)
    }

    /// Hands each key to `field`, which takes its value, or says that it doesn't.
    private mutating func object(_ field: (inout SendScanner, String) -> Bool) -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard let key = string(), take(":"), field(&self, key) else { return false }
        } while take(",")
        return take("}")
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                defer { position += 1 }
                let text = UnsafeBufferPointer(rebasing: bytes[start..<position]).span
                do { return String(copying: try UTF8Span(validating: text)) } catch { return nil }
            case UInt8(ascii: "\\"), 0..<0x20: return nil
            default: position += 1
            }
        }
        return nil
    }

    /// Takes a character behind any space, if it is this one.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }
}

/// What ties an answer to its request (JSON-RPC 2.0, section 4).
enum RequestID: Codable, Hashable, Sendable {
    case number(Int)
    case string(String)
    case null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .string(let string): try container.encode(string)
        case .null: try container.encodeNil()
        }
    }
}

/// The part of a request that is the same for all methods.
struct RequestHead: Decodable {
    enum Key: String, CodingKey { case jsonrpc, id, method }

    /// `nil` when the client wants no answer.
    var id: RequestID?
    var method: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        id = container.contains(.id) ? try container.decode(RequestID.self, forKey: .id) : nil
        method = try container.decode(String.self, forKey: .method)
        guard try container.decode(String.self, forKey: .jsonrpc) == "2.0" else {
            throw DecodingError.dataCorruptedError(forKey: .jsonrpc, in: container, debugDescription: "not 2.0")
        }
    }
}

struct RequestBody<Parameters: Decodable>: Decodable { var params: Parameters }

struct Request<Parameters: Encodable>: Encodable {
    var jsonrpc = "2.0"
    var id: RequestID?
    var method: String
    var params: Parameters
}

struct Success<Result: Encodable>: Encodable {
    var jsonrpc = "2.0"
    var id: RequestID
    var result: Result
}

struct Failure: Encodable {
    enum Key: String, CodingKey { case jsonrpc, id, error }

    var id: RequestID
    var error: ControlError

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("2.0", forKey: .jsonrpc)
        try container.encode(id, forKey: .id)
        try container.encode(error, forKey: .error)
    }
}

/// The part of what a daemon says that is the same for answers and notifications.
struct AnswerHead: Decodable {
    var id: RequestID?
    var method: String?
    var error: ControlError?
}

struct AnswerBody<Result: Decodable>: Decodable { var result: Result }

struct LineField: Codable { var line: LineView }
struct TransferField: Codable { var transfer: TransferView }

extension ControlNotification {
    func encoded() throws -> [UInt8] {
        switch self {
        case .line(let line) where line.image == nil && line.delivery == nil:
            var writer = JSONWriter()
            writer.append("line", line)
            return writer.bytes
        case .line(let line): return try JSONLine.encode(Request(method: "line", params: LineField(line: line)))
        case .update(let line): return try JSONLine.encode(Request(method: "update", params: LineField(line: line)))
        case .transfer(let view):
            return try JSONLine.encode(Request(method: "transfer", params: TransferField(transfer: view)))
        case .delivery(let view):
            return try JSONLine.encode(Request(method: "delivery", params: DeliveryField(delivery: view)))
        case .gap: return try JSONLine.encode(Request(method: "gap", params: NoFields()))
        }
    }

    /// - Returns: `nil` for a method that this version doesn't know.
    static func decode(_ method: String, _ line: some Sequence<UInt8>) throws -> ControlNotification? {
        switch method {
        case "line": .line(try JSONLine.decode(RequestBody<LineField>.self, from: line).params.line)
        case "update": .update(try JSONLine.decode(RequestBody<LineField>.self, from: line).params.line)
        case "transfer": .transfer(try JSONLine.decode(RequestBody<TransferField>.self, from: line).params.transfer)
        case "delivery": .delivery(try JSONLine.decode(RequestBody<DeliveryField>.self, from: line).params.delivery)
        case "gap": .gap
        default: nil
        }
    }
}

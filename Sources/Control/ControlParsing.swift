import SystemCalls

/// A request's line, understood as far as it goes.
struct ParsedRequest {
    /// `nil` when the client wants no answer.
    let id: RequestID?
    let call: Result<ControlCall, ControlError>

    init(_ line: LineSplitter.Line) {
        if let (id, parameters) = SendScanner.scan(line.bytes) {
            let call = Result { () throws(ControlError) in ControlCall.send(try Self.valid(parameters)) }
            self.init(id: id, call: call)
            return
        }
        guard String(validating: line.bytes, as: UTF8.self) != nil else {
            self.init(refusing: .parse("the request is not UTF-8"))
            return
        }
        do {
            let head = try JSONLine.decode(RequestHead.self, from: line.bytes)
            self.init(id: head.id, call: Result { () throws(ControlError) in try Self.call(head.method, line) })
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            self.init(refusing: .parse("the request is not JSON"))
        } catch {
            let id = try? JSONLine.decode(AnswerHead.self, from: line.bytes).id
            self.init(refusing: .invalidRequest("the request is not a JSON-RPC 2.0 object"), id: id ?? .null)
        }
    }

    private init(refusing error: ControlError, id: RequestID = .null) {
        self.init(id: id, call: .failure(error))
    }

    private init(id: RequestID?, call: Result<ControlCall, ControlError>) {
        self.id = id
        self.call = call
    }

    private static func call(_ method: String, _ line: LineSplitter.Line) throws(ControlError) -> ControlCall {
        switch method {
        case "hello": return .hello
        case "peers": return .peers
        case "send": return .send(try valid(try parameters(line)))
        case "sendImage": return try image(line)
        case "followTransfer": return .followTransfer(try parameters(line))
        case "cancelTransfer": return .cancelTransfer(try parameters(line))
        case "log": return .log(try valid(try parameters(line)))
        case "watch": return .watch(try valid(try parameters(line)))
        case "delivery": return .delivery(try parameters(line))
        case "verify": return .verify(try parameters(line))
        default:
            if let call = try GateCall(method, line) { return .gate(call) }
            throw .unknownMethod(method)
        }
    }

    private static func image(_ line: LineSplitter.Line) throws(ControlError) -> ControlCall {
        let parameters: SendImageParameters = try parameters(line)
        try check(nonce: parameters.nonce)
        guard !parameters.name.isEmpty else { throw .badParameters("sendImage: the name is empty") }
        guard let descriptor = line.descriptor else {
            throw .badParameters("sendImage: no descriptor came with the request")
        }
        return .sendImage(parameters, descriptor)
    }

    private static func valid(_ parameters: SendParameters) throws(ControlError) -> SendParameters {
        try check(nonce: parameters.nonce)
        return parameters
    }

    private static func valid(_ parameters: LogParameters) throws(ControlError) -> LogParameters {
        try parameters.check()
        return parameters
    }

    private static func check(nonce: String?) throws(ControlError) {
        guard let nonce else { return }
        guard nonce.utf8.count == 32, nonce.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw .badParameters("nonce: not 32 hexadecimal digits")
        }
    }

    static func parameters<Parameters: Decodable>(
        _ line: LineSplitter.Line
    ) throws(ControlError) -> Parameters {
        do {
            return try JSONLine.decode(RequestBody<Parameters>.self, from: line.bytes).params
        } catch {
            throw .badParameters("params: \(reason(error))")
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            "'\(context.codingPath.last?.stringValue ?? "params")' has the wrong type"
        default: "not understood"
        }
    }
}

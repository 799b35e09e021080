/// What goes wrong inside Rx itself.
public enum RxError: Error {
    case unknown
    case disposed(object: any AnyObject & Sendable)
    case overflow
    case argumentOutOfRange
    case noElements
    case moreThanOneElement
    case timeout
}

extension RxError: CustomDebugStringConvertible {
    /// For debuggers and failed tests; the form may change.
    public var debugDescription: String {
        switch self {
        case .unknown: "unknown error"
        case .disposed(let object): "\(object) is disposed"
        case .overflow: "arithmetic overflow"
        case .argumentOutOfRange: "argument out of range"
        case .noElements: "the sequence has no elements"
        case .moreThanOneElement: "the sequence has more than one element"
        case .timeout: "the sequence timed out"
        }
    }
}

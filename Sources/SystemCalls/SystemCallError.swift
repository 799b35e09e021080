import Glibc

/// A system call that failed: which, on what, and why.
public struct SystemCallError: Error, Equatable, CustomStringConvertible {
    public let call: String
    /// What it was done to, such as `127.0.0.1:7311` or a path; never message text.
    public let subject: String
    /// `errno` as the call left it (errno(3)).
    public let code: CInt

    public init(call: String, subject: String, code: CInt) {
        self.call = call
        self.subject = subject
        self.code = code
    }

    public var description: String { "\(call) \(subject): \(String(cString: strerror(code))) (errno \(code))" }
}

/// Repeats `body` while signals interrupt it, and turns -1 into an error that says what was being done.
@discardableResult
public func systemCall<Result: SignedInteger>(
    _ call: String, _ subject: @autoclosure () -> String, _ body: () -> Result
) throws(SystemCallError) -> Result {
    while true {
        let result = body()
        if result != -1 { return result }
        let code = errno
        if code != EINTR { throw SystemCallError(call: call, subject: subject(), code: code) }
    }
}

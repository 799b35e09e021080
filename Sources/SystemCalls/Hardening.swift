import CSystem

/// Keeps what is in this process's memory there: no debugger of the same user may attach, and no core file is left.
public func hardenProcess() throws(SystemCallError) { try systemCall("prctl", "PR_SET_DUMPABLE") { csystem_harden() } }

extension [UInt8] {
    /// Overwrites all bytes where the compiler may not leave it out (explicit_bzero(3)); for keys.
    ///
    /// Only this copy: one that shares its storage with another becomes a copy of its own first.
    public mutating func wipe() {
        withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { csystem_wipe(start, bytes.count) }
        }
    }
}

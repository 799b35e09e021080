import Glibc

/// The name of a network interface, such as `eth0`; `nil` where none has this index.
public func interfaceName(_ index: UInt32) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
        buffer.baseAddress.flatMap { if_indextoname(index, $0) }.map { String(cString: $0) }
    }
}

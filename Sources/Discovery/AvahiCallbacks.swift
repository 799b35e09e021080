import Addressing
import CAvahi

// The C functions that libavahi calls, on its own thread and with its lock held: each copies what its pointers hold,
// hands it over and returns. Both libraries call the same ones for browsers and resolvers.

/// What a C callback gets back: retained while the C object lives, and released after that is freed.
final class StackContext: Sendable {
    /// Must leave libavahi's thread before it calls into libavahi: that aborts when its thread takes its lock again.
    let report: StackReport
    let record: RecordKey?

    init(_ record: RecordKey? = nil, report: @escaping StackReport) {
        self.record = record
        self.report = report
    }
}

/// As ``StackContext``, for the state of a client, a server or an entry group.
final class StateContext: Sendable {
    private let loop: AvahiLoop
    private let handler: @Sendable (UInt32) -> Void

    /// `handler` runs inside ``AvahiLoop/perform(_:)``, so what it references is never let go of on libavahi's thread.
    init(_ loop: AvahiLoop, handler: @escaping @Sendable (UInt32) -> Void) {
        self.loop = loop
        self.handler = handler
    }

    func report(_ state: UInt32) { loop.perform { [handler] in handler(state) } }
}

private func borrowed<Context: AnyObject>(_ pointer: UnsafeMutableRawPointer?, as: Context.Type) -> Context {
    guard let pointer else { preconditionFailure("avahi dropped a callback's context") }
    return Unmanaged<Context>.fromOpaque(pointer).takeUnretainedValue()
}

func didChangeClient(_: OpaquePointer?, state: AvahiClientState, context: UnsafeMutableRawPointer?) {
    borrowed(context, as: StateContext.self).report(state.rawValue)
}

func didChangeServer(_: OpaquePointer?, state: AvahiServerState, context: UnsafeMutableRawPointer?) {
    borrowed(context, as: StateContext.self).report(state.rawValue)
}

func didChangeGroup(_: OpaquePointer?, state: AvahiEntryGroupState, context: UnsafeMutableRawPointer?) {
    borrowed(context, as: StateContext.self).report(state.rawValue)
}

func didBrowse(
    _: OpaquePointer?, interface: AvahiIfIndex, family: AvahiProtocol, change: AvahiBrowserEvent,
    name: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: AvahiLookupResultFlags,
    context: UnsafeMutableRawPointer?
) {
    let context = borrowed(context, as: StackContext.self)
    if change == AVAHI_BROWSER_FAILURE { return context.report(.wentAway("browsing failed")) }
    guard let name, let family = RecordKey.Family(family), let text = String(validatingCString: name) else { return }
    let record = RecordKey(interface: interface, family: family, instance: Array(text.utf8))
    if change == AVAHI_BROWSER_NEW { context.report(.appeared(record)) }
    if change == AVAHI_BROWSER_REMOVE { context.report(.vanished(record)) }
}

func didResolve(
    _: OpaquePointer?, interface: AvahiIfIndex, _: AvahiProtocol, event: AvahiResolverEvent,
    _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    address: UnsafePointer<AvahiAddress>?, port: UInt16, text: UnsafeMutablePointer<AvahiStringList>?,
    _: AvahiLookupResultFlags, context: UnsafeMutableRawPointer?
) {
    let context = borrowed(context, as: StackContext.self)
    guard let record = context.record else { preconditionFailure("a resolver is of a record") }
    guard event == AVAHI_RESOLVER_FOUND, let address = address.flatMap({ IPAddress($0.pointee, interface: interface) })
    else { return context.report(.unresolved(record)) }
    let resolution = Resolution(
        endpoint: Endpoint(address: address, port: port), text: strings(of: text),
        isLoopback: InterfaceAddress.isLoopback(interface))
    context.report(.resolved(record, resolution))
}

/// The strings of a TXT record in the order they have there; libavahi links them backwards.
private func strings(of list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
    var strings: [[UInt8]] = []
    var next = list
    while let current = next {
        let bytes = avahi_string_list_get_text(current)
        strings.append(Array(UnsafeBufferPointer(start: bytes, count: avahi_string_list_get_size(current))))
        next = avahi_string_list_get_next(current)
    }
    return strings.reversed()
}

extension IPAddress {
    /// An address that was heard on an interface: the scope of a link-local IPv6 one.
    init?(_ address: AvahiAddress, interface: AvahiIfIndex) {
        switch address.proto {
        case CAvahi_ipv4: self = .v4(UInt32(bigEndian: address.data.ipv4.address))
        case CAvahi_ipv6:
            let half = MemoryLayout<UInt64>.size
            let (high, low) = withUnsafeBytes(of: address.data.ipv6.address) {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: half, as: UInt64.self))
            }
            let plain = IPAddress.v6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low), scope: 0)
            guard plain.isLinkLocalV6, let scope = UInt32(exactly: interface) else {
                self = plain
                return
            }
            self = .v6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low), scope: scope)
        default: return nil
        }
    }

    var avahi: AvahiAddress {
        var address = AvahiAddress()
        switch self {
        case .v4(let value):
            address.proto = CAvahi_ipv4
            address.data.ipv4.address = value.bigEndian
        case .v6(let high, let low, _):
            address.proto = CAvahi_ipv6
            withUnsafeMutableBytes(of: &address.data.ipv6.address) {
                $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
        }
        return address
    }
}

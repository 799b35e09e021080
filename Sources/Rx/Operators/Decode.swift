public import FoundationEssentials

/// Makes values of data.
///
/// `JSONDecoder` is one.
public protocol DataDecoder: Sendable {
    func decode<Item: Decodable>(_ type: Item.Type, from data: Data) throws -> Item
}

extension JSONDecoder: DataDecoder {}

extension ObservableType where Element == Data {
    /// Decodes each element.
    ///
    /// - Parameters:
    ///   - type: What it becomes.
    ///   - decoder: Runs where the element arrives. What it throws ends the sequence.
    /// - Returns: The decoded values. Ends as the source does.
    public func decode<Item: Decodable & Sendable, Decoder: DataDecoder>(
        type: Item.Type, decoder: Decoder
    ) -> Observable<Item> {
        map { try decoder.decode(type, from: $0) }
    }
}

import Foundation

/// A number that the environment asks a test for, such as how often; `nil` if it asks for none.
func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

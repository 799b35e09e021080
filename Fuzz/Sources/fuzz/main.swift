import CFuzzer
import Glibc

/// `fuzz NAME [libFuzzer's options] [CORPUS...]`, `fuzz seeds DIRECTORY`, or `fuzz list`.
let words = CommandLine.arguments
switch words.dropFirst().first {
case "list"?: for name in targets.keys.sorted() { print(name) }
case "seeds"? where words.count == 3: try writeSeeds(into: words[2])
case let name?:
    guard let target = targets[name] else {
        print("no target '\(name)'; there are: \(targets.keys.sorted().joined(separator: ", "))")
        exit(64)
    }
    var count = CommandLine.argc - 1
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
    exit(cfuzzer_run(&count, &arguments, target))
case nil:
    print("fuzz NAME [OPTIONS] [CORPUS...]; fuzz list")
    exit(64)
}

// RxBenchmark CASE EVENTS [REPETITIONS]
// Without REPETITIONS: pushes once, for those who count from outside. With: prints the median, in nanoseconds an event.
import Dispatch
import Glibc

let arguments = CommandLine.arguments.dropFirst()
guard let name = arguments.first, let events = arguments.dropFirst().first.flatMap({ Int($0) }),
    let chosen = Case.all.first(where: { $0.name == name })
else {
    print(Case.all.map(\.name).joined(separator: "\n"))
    exit(arguments.isEmpty ? EXIT_SUCCESS : EX_USAGE)
}

guard let repetitions = arguments.dropFirst(2).first.flatMap({ Int($0) }) else {
    chosen.push(events)
    exit(EXIT_SUCCESS)
}

chosen.push(events / 20)  // warms up
let times = (0..<max(1, repetitions)).map { _ in
    let start = DispatchTime.now().uptimeNanoseconds
    chosen.push(events)
    return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(events)
}
print(times.sorted()[times.count / 2])

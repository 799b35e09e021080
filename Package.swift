// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String, _ dependencies: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: strict)
}

func command(_ name: String, _ dependencies: [String]) -> Target {
    .executableTarget(name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [String]) -> Target {
    .testTarget(name: name, dependencies: dependencies.map { .byName(name: $0) }, swiftSettings: strict)
}

func library(_ name: String, apt packages: [String]) -> Target {
    .systemLibrary(name: name, providers: [.apt(packages)])
}

// Dependencies point down only (docs/architecture.md).
let package = Package(
    name: "MultipeerGroupChat",
    products: [
        .executable(name: "chatd", targets: ["chatd"]),
        .executable(name: "chat", targets: ["chat"]),
        .library(name: "Rx", targets: ["Rx"]),
        // For Fuzz alone.
        .library(name: "FuzzedParts", targets: ["ChatModel", "Control", "Discovery", "Identity", "Transport"]),
        .library(name: "RxTest", targets: ["RxTest"]),
        .library(name: "RxBlocking", targets: ["RxBlocking"]),
        // For Workshop alone.
        .library(name: "ResourceCounting", targets: ["ResourceCounting"]),
    ],
    targets: [
        library("CAvahi", apt: ["libavahi-client-dev", "libavahi-core-dev"]),
        library("COpenSSL", apt: ["libssl-dev"]),
        library("CSodium", apt: ["libsodium-dev"]),
        library("CSQLite", apt: ["libsqlite3-dev"]),
        library("CMalloc", apt: ["libc6-dev"]),
        .target(name: "CSystem"),

        module("Locking"),
        module("Rx", ["Locking"]),
        module("RxTest", ["Rx", "Locking"]),
        module("RxBlocking", ["Rx", "Locking"]),
        module("SystemCalls", ["CSystem"]),
        module("Addressing"),
        module("Identity", ["CSodium", "COpenSSL", "Locking"]),
        module("ChatModel", ["Identity", "Addressing"]),
        module("Discovery", ["Rx", "Locking", "Identity", "Addressing", "CAvahi"]),
        module("Transport", ["Rx", "Locking", "Identity", "Addressing", "SystemCalls", "COpenSSL"]),
        module(
            "History", ["Identity", "Addressing", "ChatModel", "SystemCalls", "CSQLite", "COpenSSL"]),
        module(
            "ChatSession",
            [
                "Rx", "Locking", "Identity", "Addressing", "ChatModel", "Discovery", "Transport", "History",
                "SystemCalls",
            ]),
        module("Control", ["Locking", "Identity", "ChatModel", "SystemCalls"]),
        module(
            "ChatDaemon",
            [
                "Rx", "Locking", "Identity", "Addressing", "ChatModel", "ChatSession", "Control", "Discovery",
                "History",
                "SystemCalls", "Transport", "CMalloc",
            ]),
        module("ChatClient", ["Rx", "Locking", "Identity", "ChatModel", "Control", "SystemCalls"]),
        command("chatd", ["ChatDaemon"]),
        command("chat", ["ChatClient"]),

        .target(
            name: "ResourceCounting", dependencies: ["Rx"], path: "Tests/ResourceCounting", swiftSettings: strict),
        tests("RxTests", ["Rx", "RxTest", "RxBlocking", "Locking", "ResourceCounting"]),
        tests("IdentityTests", ["Identity"]),
        .target(
            name: "Simulation", dependencies: ["ChatModel", "Identity", "Addressing"], path: "Tests/Simulation",
            swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation", "Locking"], path: "Tests/Simulate", swiftSettings: strict),
        tests("SimulationTests", ["Simulation"]),
        tests("ChatModelTests", ["ChatModel", "Identity", "Addressing"]),
        .executableTarget(
            name: "discovery-probe", dependencies: ["Discovery", "Rx", "Identity", "Addressing"],
            path: "Tests/DiscoveryProbe", swiftSettings: strict),
        tests(
            "DiscoveryTests",
            ["Discovery", "Locking", "Identity", "Addressing", "ChatModel", "CAvahi", "discovery-probe"]),
        .target(
            name: "HostilePeer",
            dependencies: ["Transport", "ChatModel", "Identity", "Addressing", "Locking", "SystemCalls", "COpenSSL"],
            path: "Tests/HostilePeer", swiftSettings: strict),
        .executableTarget(
            name: "chat-evil",
            dependencies: ["HostilePeer", "ChatModel", "Control", "Identity"],
            path: "Tests/ChatEvil", swiftSettings: strict),
        .executableTarget(
            name: "chat-proxy",
            dependencies: ["HostilePeer", "Control", "Identity", "Addressing"],
            path: "Tests/ChatProxy", swiftSettings: strict),
        .executableTarget(
            name: "measure-openings", dependencies: ["Transport", "Identity"], path: "Benchmarks/tls/Sources",
            swiftSettings: strict),
        tests(
            "TransportTests",
            [
                "Transport", "HostilePeer", "Rx", "Locking", "Identity", "Addressing", "SystemCalls", "COpenSSL",
            ]),
        tests(
            "HistoryTests",
            ["History", "HistoryProbe", "Locking", "Identity", "Addressing", "ChatModel", "SystemCalls", "CSQLite"]),
        .executableTarget(
            name: "HistoryProbe", dependencies: ["History", "Identity", "ChatModel", "SystemCalls"],
            path: "Tests/HistoryProbe",
            swiftSettings: strict),
        tests(
            "ChatSessionTests",
            [
                "ChatSession", "Rx", "Locking", "Identity", "Addressing", "ChatModel", "Discovery", "History",
                "Transport",
                "ResourceCounting",
            ]),
        tests("ChatDaemonTests", ["ChatDaemon", "Control", "Rx", "RxTest", "ResourceCounting"]),
        tests("ControlTests", ["Control", "ChatModel", "Locking", "Identity", "SystemCalls"]),
        tests(
            "ChatClientTests",
            ["ChatClient", "ChatModel", "Control", "Rx", "RxTest", "Locking", "SystemCalls", "ResourceCounting"]),
        tests(
            "EndToEndTests",
            [
                "Locking", "SystemCalls", "Identity", "Addressing", "ChatModel", "Control", "Transport", "HostilePeer",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

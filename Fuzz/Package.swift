// swift-tools-version: 6.2
import PackageDescription

// Built by Scripts/fuzz alone: every module with -sanitize=fuzzer,address, so that the fuzzer sees what is reached.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "MultipeerGroupChat", path: "..")],
    targets: [
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzer", .product(name: "FuzzedParts", package: "MultipeerGroupChat"),
            ],
            swiftSettings: [
                .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
            ],
            // gold, the default, fails on the sanitizer's objects.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    ],
    swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "RxBenchmark",
    dependencies: [.package(name: "MultipeerGroupChat", path: "../..")],
    targets: [
        .executableTarget(
            name: "RxBenchmark", dependencies: [.product(name: "Rx", package: "MultipeerGroupChat")],
            swiftSettings: [
                .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ],
    swiftLanguageModes: [.v6]
)

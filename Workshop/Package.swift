// swift-tools-version: 6.2
import PackageDescription

// The course of docs/workshop.md. Solve what is in Exercises until `swift test` passes; what is in Solutions is built in
// its place with WORKSHOP=solutions. `./check` shows that every exercise fails unsolved and passes solved.
let isSolved = Context.environment["WORKSHOP"] == "solutions"

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Workshop",
    dependencies: [.package(name: "MultipeerGroupChat", path: "..")],
    targets: [
        .target(
            name: "Course", dependencies: [.product(name: "Rx", package: "MultipeerGroupChat")],
            path: isSolved ? "Solutions" : "Exercises", swiftSettings: strict),
        .testTarget(
            name: "CourseTests",
            dependencies: [
                "Course", .product(name: "Rx", package: "MultipeerGroupChat"),
                .product(name: "RxTest", package: "MultipeerGroupChat"),
                .product(name: "ResourceCounting", package: "MultipeerGroupChat"),
            ],
            path: "Tests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

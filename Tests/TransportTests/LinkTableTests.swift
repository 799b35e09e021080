import Identity
import Testing

@testable import Transport

@Suite struct LinkTableTests {
    private static let peers = [SigningKey().peer, SigningKey().peer].sorted()
    private static let instances = [ProcessInstance(), ProcessInstance()]

    private static func name(_ dialler: Int, _ number: UInt64) -> LinkName {
        LinkName(dialler: peers[dialler], instance: instances[dialler], number: number)
    }

    private let small1 = name(0, 1)
    private let small2 = name(0, 2)
    private let large1 = name(1, 1)

    @Test func `the link that the smaller PeerID dialled is kept, and its dialler retires the other`() {
        var small = LinkTable(own: Self.peers[0])
        var large = LinkTable(own: Self.peers[1])

        #expect(small.up(large1) == .init(isChanged: true, kept: large1))
        #expect(small.up(small1) == .init(isChanged: true, kept: small1, retired: [large1]))
        #expect(large.up(small1) == .init(isChanged: true, kept: small1))
        #expect(large.up(large1) == .init(isChanged: false, kept: small1))
    }

    @Test func `a link that comes up after a better one is retired at once`() {
        var small = LinkTable(own: Self.peers[0])
        _ = small.up(small1)

        #expect(small.up(large1) == .init(isChanged: false, kept: small1, retired: [large1]))
    }

    @Test func `of two links by one dialler the later one is kept`() {
        var small = LinkTable(own: Self.peers[0])
        _ = small.up(small1)

        #expect(small.up(small2) == .init(isChanged: true, kept: small2, retired: [small1]))
    }

    @Test func `a link that replaces another one wins against the smaller PeerID`() {
        var large = LinkTable(own: Self.peers[1])
        _ = large.up(small1)

        #expect(large.up(large1, replacing: small1) == .init(isChanged: true, kept: large1, retired: [small1]))
    }

    @Test func `a replaced link that comes up late has still lost`() {
        var large = LinkTable(own: Self.peers[1])
        _ = large.up(large1, replacing: small1)

        #expect(large.up(small1) == .init(isChanged: false, kept: large1, retired: [small1]))
    }

    @Test func `when the kept link goes the other one takes its place`() {
        var large = LinkTable(own: Self.peers[1])
        _ = large.up(small1)
        _ = large.up(large1)

        #expect(large.down(small1) == .init(isChanged: true, kept: large1))
        #expect(large.down(large1) == .init(isChanged: true, kept: nil))
    }

    /// One link of a scenario: who dials it, and which other one it replaces.
    struct Dialled: Sendable {
        let dialler: Int
        let number: UInt64
        var replaces: Int?
    }

    private static let four = [
        Dialled(dialler: 0, number: 1), Dialled(dialler: 0, number: 2), Dialled(dialler: 1, number: 1),
        Dialled(dialler: 1, number: 2),
    ]

    /// All choices of up to four links by both sides, and all ways in which the later ones replace earlier ones.
    static let scenarios: [[Dialled]] = (1..<16).flatMap { choice -> [[Dialled]] in
        let links = four.indices.filter { choice >> $0 & 1 == 1 }.map { four[$0] }
        return links.indices.reduce([links]) { scenarios, index in
            let choices: [Int?] = [nil] + links.indices.filter { $0 != index }.map(Optional.some)
            return scenarios.flatMap { scenario in
                choices.map { replaced in
                    var variant = scenario
                    variant[index].replaces = replaced
                    return variant
                }
            }
        }
    }

    @Test func `whatever the order of events, both sides keep the same link, and neither is ever without one`() {
        var visited = 0
        for scenario in Self.scenarios {
            let world = World(scenario.map { (Self.name($0.dialler, $0.number), $0) }, Self.peers)
            let (states, problem) = world.explore()
            visited += states
            if let problem {
                let links = scenario.map { "\($0.dialler).\($0.number) for \($0.replaces ?? -1)" }
                Issue.record("\(problem), links \(links)")
                return
            }
        }
        #expect(visited > 30_000)
    }
}

/// Two sides, some links between them, and all orders in which things can reach each side.
private struct World {
    struct State: Hashable {
        /// By link: 0 not there, 1 dialled, 2 up at its acceptor, 3 up at its dialler too.
        var stage: [Int]
        /// By side and link: whether a Goodbye is on its way to that side.
        var goodbye: [[Bool]]
        var kept: [Int?] = [nil, nil]
        var live: [[Int]] = [[], []]
        var replacements: [[LinkTable.Replacement]] = [[], []]
        var lost: [[Int]] = [[], []]

        var brief: String { "stages \(stage) live \(live)" }
    }

    let links: [(name: LinkName, dialled: LinkTableTests.Dialled)]
    let peers: [PeerID]

    init(_ links: [(LinkName, LinkTableTests.Dialled)], _ peers: [PeerID]) {
        self.links = links.map { (name: $0.0, dialled: $0.1) }
        self.peers = peers
    }

    /// - Returns: How many different states there are, and the way to the first that is wrong.
    func explore() -> (Int, String?) {
        let none = [Bool](repeating: false, count: links.count)
        let start = State(stage: [Int](repeating: 0, count: links.count), goodbye: [none, none])
        var seen: Set<State> = []
        var pending = [(start, peers.map { LinkTable(own: $0) }, [start])]
        while let (state, tables, way) = pending.popLast() {
            guard seen.insert(state).inserted else { continue }
            let next = successors(state, tables)
            if next.isEmpty, !isRightEnd(state) { return (seen.count, "different ends: \(way.map(\.brief))") }
            for (after, _) in next {
                for side in [0, 1] where state.kept[side] != nil && after.kept[side] == nil {
                    return (seen.count, "side \(side) without a link: \((way + [after]).map(\.brief))")
                }
            }
            pending += next.map { ($0.0, $0.1, way + [$0.0]) }
        }
        return (seen.count, nil)
    }

    private func isRightEnd(_ state: State) -> Bool {
        guard state.stage.contains(3) else { return true }
        return state.kept[0] == state.kept[1] && state.live == state.kept.map { $0.map { [$0] } ?? [] }
    }

    private func successors(_ state: State, _ tables: [LinkTable]) -> [(State, [LinkTable])] {
        links.indices.flatMap { link -> [(State, [LinkTable])] in
            let dialler = links[link].dialled.dialler
            var next: [(State, [LinkTable])] = []
            switch state.stage[link] {
            case 0: if mayDial(link, state) { next.append(dial(link, state, tables)) }
            case 1: next.append(up(link, at: 1 - dialler, stage: 2, state, tables))
            case 2: next.append(up(link, at: dialler, stage: 3, state, tables))
            default: break
            }
            for side in [0, 1] where state.goodbye[side][link] && (side != dialler || state.stage[link] == 3) {
                var (state, tables) = (state, tables)
                state.goodbye[side][link] = false
                if state.live[side].contains(link) {
                    apply(tables[side].down(links[link].name), at: side, &state, tables)
                }
                next.append((state, tables))
            }
            return next
        }
    }

    /// A link is found silent by a side where it is up, and then every dial until one is up says so; numbers rise.
    private func mayDial(_ link: Int, _ state: State) -> Bool {
        let dialled = links[link].dialled
        let own = links.indices.filter { links[$0].dialled.dialler == dialled.dialler }
        if own.contains(where: { links[$0].dialled.number > dialled.number && state.stage[$0] > 0 }) { return false }
        let pending = own.last { links[$0].dialled.replaces != nil && 1...2 ~= state.stage[$0] }
        if let pending { return dialled.replaces == links[pending].dialled.replaces }
        guard let replaced = dialled.replaces else { return true }
        return state.live[dialled.dialler].contains(replaced)
    }

    private func dial(_ link: Int, _ state: State, _ tables: [LinkTable]) -> (State, [LinkTable]) {
        var (state, tables) = (state, tables)
        let (name, dialled) = links[link]
        state.stage[link] = 1
        if let replaced = dialled.replaces {
            tables[dialled.dialler].dialling(name, replacing: links[replaced].name)
            state.replacements[dialled.dialler] = tables[dialled.dialler].replacements
        }
        return (state, tables)
    }

    private func up(
        _ link: Int, at side: Int, stage: Int, _ state: State, _ tables: [LinkTable]
    ) -> (State, [LinkTable]) {
        var (state, tables) = (state, tables)
        state.stage[link] = stage
        let replaced = links[link].dialled.replaces.map { links[$0].name }
        apply(tables[side].up(links[link].name, replacing: replaced), at: side, &state, tables)
        return (state, tables)
    }

    private func apply(_ decision: LinkTable.Decision, at side: Int, _ state: inout State, _ tables: [LinkTable]) {
        for retired in decision.retired.map(index) { state.goodbye[1 - side][retired] = true }
        state.kept[side] = decision.kept.map(index)
        state.live[side] = tables[side].links.map(index)
        state.replacements[side] = tables[side].replacements
        state.lost[side] = tables[side].lost.map(index)
    }

    private func index(_ name: LinkName) -> Int { links.firstIndex { $0.name == name } ?? -1 }
}

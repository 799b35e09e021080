import Control
import Testing

extension LabTests {
    /// Cables that come out, networks beside the first, and an avahi-daemon that goes. Hosts 1 to 3 have one, 4 none.
    @Suite(.sharedLab(4, avahi: .only([1, 2, 3]))) struct NetworkFaults {
        private let scratch = try? Scratch()

        private func members(_ room: String, _ places: [(name: String, host: Int)], _ more: String...) async throws
            -> [Member]
        {
            let lab = try await SharedLab.healed()
            let scratch = try #require(scratch)
            return places.map { Member($0.name, in: room, on: lab[$0.host], keeping: scratch, more) }
        }

        @Test func `cables out are one Not Connected each at 15 s, and all that was said is there when they are back`()
            async throws
        {
            let lab = try await SharedLab.healed()
            let members = try await members("cables", [("alice", 1), ("bob", 2), ("carol", 4)])
            for member in members { try member.start() }
            try await awaitMeeting(members)

            try await lab.unplug(2)
            try await lab.cut(4)
            let out = ContinuousClock.now
            for member in members { try await member.send("from \(member.name)") }
            let haveGone = try await eventually(within: .seconds(20)) {
                try everyPair(members) { try $0.departures(of: $1.name) == 1 }
            }
            let gone = ContinuousClock.now - out
            measured("all see that all are cut off", gone)
            #expect(haveGone && gone > .seconds(12) && gone < .seconds(17))
            for member in members { #expect(try await member.texts() == ["from \(member.name)"]) }

            try await lab.heal()
            let healed = ContinuousClock.now
            let texts = members.map { "from \($0.name)" }
            for member in members { try await member.awaitTexts(texts, within: .seconds(15)) }
            measured("all have all after the cables are back", ContinuousClock.now - healed)
            #expect(try await eventually { try everyPair(members) { try $0.arrivals(of: $1.name) == 2 } })
            #expect(try everyPair(members) { try $0.departures(of: $1.name) == 1 })
            for member in members { #expect(try await member.texts().count == 3) }
            try await leave(members)
        }

        @Test func `a cable out for 5 s shows nowhere, and what was said meanwhile comes when it is back`() async throws
        {
            let lab = try await SharedLab.healed()
            let members = try await members("short", [("alice", 1), ("bob", 2)])
            for member in members { try member.start() }
            try await awaitMeeting(members)

            try await lab.unplug(2)
            for member in members { try await member.send("from \(member.name)") }
            try await Task.sleep(for: .seconds(5))
            try await lab.heal()

            for member in members { try await member.awaitTexts(["from alice", "from bob"]) }
            for member in members { #expect(try await member.texts().count == 2) }
            #expect(try everyPair(members) { try $0.departures(of: $1.name) == 0 && $0.arrivals(of: $1.name) == 1 })
            try await leave(members)
        }

        @Test func `who is on two networks in two protocols is one peer with one link, also when its network goes`()
            async throws
        {
            let lab = try await SharedLab.healed()
            try await lab.connect(1, 4, by: "side0")
            let members = try await members("two-nets", [("alice", 1), ("bob", 4)])
            for member in members { try member.start() }
            try await awaitMeeting(members)
            for member in members {
                #expect(try await member.peers().count == 1)
                #expect(try await eventually { try await member.daemon.connections().count == 1 })
            }

            let endpoint = try await members[0].peers().first?.endpoint ?? ""
            let index = try await lab.on(1, "cat /sys/class/net/side0/ifindex")
            let used = endpoint.hasPrefix("10.88.") || endpoint.contains("%\(index)]") ? "side0" : "eth0"
            try await lab.on(1, "ip link set \(used) down")
            for member in members { try await member.send("from \(member.name)") }

            for member in members { try await member.awaitTexts(["from alice", "from bob"]) }
            #expect(try everyPair(members) { try $0.departures(of: $1.name) == 0 && $0.arrivals(of: $1.name) == 1 })
            for member in members {
                #expect(try await member.peers().map(\.state) == [.connected])
                // The other end of a link whose network went may hear nothing of its end: 15 s of silence end it.
                let isOne = try await eventually(within: .seconds(17)) {
                    try await member.daemon.connections().count == 1
                }
                #expect(isOne)
            }
            try await leave(members)
            try await lab.on(1, "ip link del side0; ip link set eth0 up")
        }

        @Test func `two whose dials cross on the wire have one link`() async throws {
            let lab = try await SharedLab.healed()
            let scratch = try #require(scratch)
            let places = [(name: "alice", host: 1, other: 4), (name: "bob", host: 4, other: 1)]
            let members = places.map { place in
                Member(
                    place.name, in: "crossing", on: lab[place.host], keeping: scratch,
                    ["--discovery", "none", "--listen", "[::]:7311", "--peer", "10.77.0.\(place.other):7311"])
            }
            for round in 1...3 {
                try await lab.drop(1, 4)
                for member in members { try member.start() }
                // From the second round on an address is remembered too, and may be dialled beside the given one.
                for member in members {
                    #expect(try await eventually { try await !member.daemon.connections("syn-sent").isEmpty })
                }
                try await lab.heal()

                try await awaitMeeting(members)
                for member in members { try await member.send("\(member.name) \(round)") }
                for member in members { try await member.awaitTexts(["alice \(round)", "bob \(round)"]) }
                try await expectOneLink(members)
                #expect(try everyPair(members) { try $0.departures(of: $1.name) == 0 && $0.arrivals(of: $1.name) == 1 })
                try await leave(members)
            }
        }

        @Test func `a peer whose address changes is linked again at the new one`() async throws {
            let lab = try await SharedLab.healed()
            let members = try await members("address", [("alice", 1), ("bob", 4)])
            for member in members { try member.start() }
            try await awaitMeeting(members)

            try await lab.on(4, "ip link set eth0 down && ip addr flush dev eth0")
            try await lab.on(4, "ip addr add 10.77.0.99/16 dev eth0 && ip link set eth0 up")
            let up = ContinuousClock.now
            for member in members { try await member.send("from \(member.name)") }

            for member in members { try await member.awaitTexts(["from alice", "from bob"], within: .seconds(15)) }
            measured("linked again after a change of address", ContinuousClock.now - up)
            #expect(try everyPair(members) { try $0.departures(of: $1.name) == $0.arrivals(of: $1.name) - 1 })
            try await leave(members)
            try await lab.on(4, "ip addr del 10.77.0.99/16 dev eth0; ip addr add 10.77.0.4/16 dev eth0")
        }

        @Test func `a room outlives an avahi-daemon, and its next one tells newcomers of us`() async throws {
            let lab = try await SharedLab.healed()
            let members = try await members("daemons", [("alice", 1), ("bob", 2), ("carol", 3)])
            let (alice, bob, carol) = (members[0], members[1], members[2])
            try alice.start()
            try bob.start()
            try await awaitMeeting([alice, bob])

            try await lab.avahi(1, .off)
            try await alice.daemon.log("that it waits") { $0 == "chatd: avahi-daemon went away; waiting for it" }
            try await alice.send("without avahi-daemon")
            try await bob.awaitTexts(["without avahi-daemon"])
            try await lab.avahi(1, .on)
            let on = ContinuousClock.now
            try carol.start()

            try await awaitMeeting(members)
            measured("a newcomer sees all after avahi-daemon is back", ContinuousClock.now - on)
            let isBack = try await eventually {
                try alice.daemon.log.count { $0 == "chatd: discovery: avahi-daemon" } == 2
            }
            #expect(isBack)
            #expect(try alice.daemon.log.count { $0.contains("waiting for it") } == 1)
            #expect(try everyPair(members) { try $0.departures(of: $1.name) == 0 && $0.arrivals(of: $1.name) == 1 })
            try await leave(members)
        }

        @Test func `a chatd that is told to use avahi-daemon waits for one, and is announced when it comes`()
            async throws
        {
            let lab = try await SharedLab.healed()
            let members = try await members("waits", [("alice", 1), ("bob", 2)], "--discovery", "avahi")
            try await lab.avahi(1, .off)
            for member in members { try member.start() }
            try await members[0].daemon.log("that it waits") { $0.hasSuffix("; waiting for it") }
            #expect(try members[0].daemon.process.exit == nil)

            try await lab.avahi(1, .on)

            try await awaitMeeting(members)
            #expect(try members[0].daemon.log.count { $0.contains("waiting for it") } == 1)
            try await leave(members)
        }

        private func everyPair(_ members: [Member], _ holds: (Member, Member) throws -> Bool) rethrows -> Bool {
            try members.allSatisfy { member in
                try members.allSatisfy { other in try other === member || holds(member, other) }
            }
        }
    }
}

extension Lab {
    /// Runs a shell's words on a host, which must go well, and gives the first line that they print.
    @discardableResult
    func on(_ host: Int, _ script: String) async throws -> String {
        let shell = try Subprocess(["sh", "-c", script], on: self[host])
        let exit = try await shell.exit(within: .seconds(10))
        guard exit == .status(0) else { throw LabFailure("\(script): \(exit): \(shell.errors.text)") }
        return shell.output.lines.first ?? ""
    }

    /// Gives two hosts a second network of their own.
    func connect(_ one: Int, _ other: Int, by name: String) async throws {
        try await on(one, "ip link add \(name) type veth peer name \(name) netns \(try await pid(of: other))")
        for host in [one, other] {
            try await on(host, "ip addr add 10.88.0.\(host)/24 dev \(name) && ip link set \(name) up")
        }
    }

    private func pid(of host: Int) async throws -> String {
        let lab = try Subprocess(["env", "LAB_NAME=\(name)", LabScripts.lab, "pid", "h\(host)"])
        guard try await lab.exit(within: .seconds(10)) == .status(0) else { throw LabFailure(lab.errors.text) }
        return lab.output.lines.first ?? ""
    }
}

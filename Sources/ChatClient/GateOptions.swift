import Control

/// The command lines of who is who and who gets in, and of the daemon's figures.
enum GateOptions {
    static let long = CommandOption(
        "long", letter: "l", help: "Also when each was first and last seen, its key, clock and last failure")

    private static let common = [ClientOptions.stateDirectory, ClientOptions.room]
    private static let whom = "PEER is a key, at least six digits of one, or a name that only one has."

    static let trust = OptionTable(
        "chat trust", summary: "Say that a peer is who it says it is: no warning about its name, and it is let in",
        operands: "PEER", options: common, notes: [whom])
    static let block = OptionTable(
        "chat block", summary: "Link no more with a peer, and store nothing more that it writes", operands: "PEER",
        options: common, notes: [whom, "It is told nothing. What is stored already stays."])
    static let unblock = OptionTable(
        "chat unblock", summary: "Take a block back; what was missed is fetched from whoever has it", operands: "PEER",
        options: common, notes: [whom])
    static let accept = OptionTable(
        "chat accept", summary: "Let in a peer that waits (chatd --admit ask)", operands: "PEER", options: common,
        notes: [whom])
    static let refuse = OptionTable(
        "chat refuse", summary: "Turn away a peer that waits, until chatd is started anew", operands: "PEER",
        options: common, notes: [whom])
    static let verifyPeer = OptionTable(
        "chat verify-peer", summary: "Print the code that this peer and this host share", operands: "PEER",
        options: [ClientOptions.json] + common,
        notes: [
            whom,
            "Read it to each other over the telephone: equal on both screens, nobody stands between you."
                + "\nThen: chat trust PEER.",
        ])
    static let status = OptionTable(
        "chat status", summary: "Print how the daemon is: links, memory, descriptors, what waits",
        options: [ClientOptions.json] + common)

    static let tables = [trust, block, unblock, accept, refuse, verifyPeer, status]
}

import Control

/// The command line of `chat`: help and parser both come from here.
enum ClientOptions {
    static let stateDirectory = CommandOption(
        "state-dir", value: "DIR", help: "The daemon with this state directory (CHAT_STATE_DIR)")
    static let room = CommandOption("room", value: "ROOM", help: "The daemon of this room (CHAT_ROOM)")
    static let printID = CommandOption("print-id", help: "Print the id of what was stored")
    static let nonce = CommandOption(
        "nonce", value: "HEX", help: "32 hexadecimal digits; a second call with them stores nothing twice")
    static let wait = CommandOption(
        "wait", value: "WHO", help: "Until others have stored it: all, any, or how many")
    static let timeout = CommandOption("timeout", value: "S", help: "Seconds to wait; without it as long as it takes")
    static let noWait = CommandOption("no-wait", help: "Return once it is stored; the transfer goes on")
    static let count = CommandOption("count", letter: "n", value: "N", help: "The newest N lines (default 20)")
    static let since = CommandOption(
        "since", value: "TIME", help: "Only lines of this time or later; all of them without -n")
    static let until = CommandOption(
        "until", value: "TIME", help: "Only lines of this time or earlier, with all of its minute or day")
    static let from = CommandOption("from", value: "PEER", help: "Only lines by this author")
    static let after = CommandOption(
        "after", value: "CURSOR",
        help: "What has come since a line of --json with this cursor, in the order in which it came")
    static let follow = CommandOption("follow", letter: "f", help: "Go on with what comes")
    static let json = CommandOption("json", help: "One JSON object a line")

    static let newRoom = CommandOption("room", value: "ROOM", help: "The new room's name")

    private static let common = [stateDirectory, room]

    static let send = OptionTable(
        "chat send", summary: "Store a text and send it to everybody in the room", operands: "TEXT...",
        options: [printID, nonce, wait, timeout] + common,
        notes: [
            "The words are joined by a space. With - each line of the standard input is a message.",
            "It returns once the text is on disk; who is away gets it later.",
            """
            --wait all waits for everybody for whom it is (who is in the room, or was in the last seven days), and for one
            at least. The status is 0 once they have stored it, and 75 when the time is over: then it is stored here, and
            delivered later.
            """,
            """
            A nonce makes it safe to send again: the same nonce with the same text is the same message, with the same id;
            with another text it is an error.
            """,
        ])
    static let sendImage = OptionTable(
        "chat send-image", summary: "Send images to everybody in the room", operands: "FILE...",
        options: [noWait, printID, nonce] + common,
        notes: ["It returns once everybody who is linked now has verified them. Ctrl-C leaves the transfer running."])
    static let log = OptionTable(
        "chat log", summary: "Print the newest lines of the transcript",
        options: [count, since, until, from, follow, after, json] + common,
        notes: [
            "On a terminal without -n, --follow, --after and --json: the whole transcript, page by page, from its end.",
            """
            TIME is 10:30 (the last one there was), 10:30:15, 2026-11-30, 2026-11-30T10:30, today, yesterday, now, or how
            long ago: 45s, 30m, 2h, 3d, 1w. It is the time that lines show, their author's.
            PEER is a key, at least six digits of one, or a name that only one has.
            """,
            """
            Nothing is lost or repeated from one 'chat log --follow --after CURSOR --json' to the next that goes on at the
            cursor of its last line. A line printed without --after stands in the transcript's order: going on there may
            repeat lines. A cursor of a history that was lost or restored since is status 76.
            """,
        ])
    static let peers = OptionTable(
        "chat peers", summary: "List who else is in the room", options: [GateOptions.long, json] + common)
    static let newKey = OptionTable(
        "chat key new", summary: "Make a room that only those can join who have its key, and print the key",
        options: [newRoom, stateDirectory],
        notes: [
            "Keep the line in a file for you alone, give it to the others by a way that you trust, and join:",
            "  (umask 077; chat key new --room lab >lab.key); chatd --key-file lab.key",
        ])
    static let key = OptionTable(
        "chat key", summary: "Make keys of rooms", operands: "COMMAND", subcommands: [newKey])

    static let chat = OptionTable(
        "chat", summary: "Follow the transcript, and send each line that is typed", operands: "[COMMAND]",
        options: common,
        notes: [
            "Without a command on a terminal: /help says what can be typed. With a pipe as input: each line is sent,"
                + "\nand it returns when all are on disk.", "'chat COMMAND --help' says more.",
        ],
        subcommands: [send, sendImage, log, DeliveryOptions.delivery, VerifyOptions.verify, peers, key]
            + GateOptions.tables)
}

import ChatModel
import Control
import Rx

/// The interactive client's view model: what happens goes in, and one chain comes out for each thing seen or done.
///
/// Everything is delivered where the inputs are, within the call that sends them. Nothing is drawn or sent here.
struct TalkModel: Sendable {
    /// The screen after an input, and what that input asked for.
    struct Moment: Sendable {
        var screen: ChatScreen
        var effects: [ScreenEffect] = []
    }

    let moments: Observable<Moment>

    /// Subscribes to the inputs with the first chain that is subscribed to.
    ///
    /// - Parameters:
    ///   - inputs: Keys, news from the daemon, the window's size.
    ///   - screen: What is there before the first of them.
    init(_ inputs: Observable<ScreenInput>, from screen: ChatScreen) {
        let first = Moment(screen: screen)
        moments = inputs.scan(first) { moment, input in
            var next = Moment(screen: moment.screen)
            next.effects = next.screen.take(input)
            return next
        }
        .startWith(first).share(replay: 1)
    }

    private func effects<Value: Sendable>(
        _ pick: @escaping @Sendable (ScreenEffect) -> Value?
    ) -> Observable<Value> {
        moments.flatMap { moment in Observable<Value>.from(moment.effects.compactMap(pick)) }
    }

    // MARK: Seen

    /// Lines to insert above the bottom of the screen, those of one input at once.
    var lineInserted: Observable<[String]> {
        moments.map { moment in
            moment.effects.flatMap { if case .print(let lines) = $0 { lines } else { [String]() } }
        }
        .filter { !$0.isEmpty }
    }

    /// The bars of the transfers under way, when they change.
    var barUpdated: Observable<[String]> { moments.map(\.screen.bottom.bars).distinctUntilChanged() }

    /// The line being typed, when it or its cursor changes.
    var inputUpdated: Observable<InputArea> { moments.map(\.screen.bottom.input).distinctUntilChanged() }

    /// Each time everything is to be drawn anew.
    var redrawn: Observable<Void> { effects { if case .redraw = $0 { () } else { nil } } }

    // MARK: Typed

    /// Whether Enter would take the line: there is one, and it isn't over the limit.
    var sendEnabled: Observable<Bool> { moments.map(\.screen.canEnter).distinctUntilChanged() }

    /// Each time a line that was entered leaves the input empty.
    var textCleared: Observable<Void> {
        moments.map(\.screen.entered).distinctUntilChanged().skip(1).map { _ in }
    }

    // MARK: Done

    /// Texts to send, in their order.
    var textSent: Observable<String> { effects { if case .send(let text) = $0 { text } else { nil } } }

    /// Paths of images to send.
    var imageSent: Observable<String> { effects { if case .sendImage(let path) = $0 { path } else { nil } } }

    /// Each time the list of peers is asked for.
    var peersAsked: Observable<Void> { effects { if case .listPeers = $0 { () } else { nil } } }

    /// The status to leave with.
    var left: Observable<ExitStatus> { effects { if case .quit(let status) = $0 { status } else { nil } } }

    /// In how many milliseconds without another byte ``ScreenInput/silence`` is due; `nil` for never.
    var patience: Observable<Int?> { moments.map(\.screen.patience).distinctUntilChanged() }
}

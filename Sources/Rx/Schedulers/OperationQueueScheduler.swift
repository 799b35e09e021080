public import Foundation

/// Runs work as operations of a queue, as many at once as it allows.
///
/// `@unchecked`: what it stores is constant, and an operation queue takes calls from any thread.
public class OperationQueueScheduler: ImmediateSchedulerType, @unchecked Sendable {
    /// Where the work runs.
    public let operationQueue: OperationQueue

    /// The priority of each operation.
    public let queuePriority: Operation.QueuePriority

    /// Uses a queue.
    public init(operationQueue: OperationQueue, queuePriority: Operation.QueuePriority = .normal) {
        self.operationQueue = operationQueue
        self.queuePriority = queuePriority
    }

    /// Runs work as soon as it can; see ``ImmediateSchedulerType/schedule(_:action:)``.
    public func schedule<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        let lifetime = Lifetime()
        let operation = BlockOperation { if !lifetime.isStopped { lifetime.own(action(state)) } }
        operation.queuePriority = queuePriority
        operationQueue.addOperation(operation)
        return lifetime
    }
}

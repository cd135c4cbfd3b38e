//! Events of a packet on a link.

/// Event of a packet; the order is that of [`EVENT_NAMES`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PacketEvent {
    /// It entered the queue.
    Enqueue,
    /// It left the queue for the wire.
    Dequeue,
    /// It was marked CE.
    Mark,
    /// It was dropped as a congestion signal.
    EarlyDrop,
    /// It was dropped because the law drops every packet.
    ForcedDrop,
    /// It was dropped because the queue was full.
    TailDrop,
    /// It was lost by the error model.
    Loss,
    /// It reached the far end.
    Deliver,
    /// A middlebox dropped it.
    BoxDrop,
    /// A tunnel endpoint dropped it at the far end.
    TunnelDrop,
    /// It arrived at the queue, before the queue's decision. Not in the log.
    Arrive,
}

/// Names of the events in the table of packets; [`PacketEvent::Arrive`] has none.
pub const EVENT_NAMES: [&str; 10] = [
    "enqueue",
    "dequeue",
    "mark",
    "drop_early",
    "drop_forced",
    "drop_tail",
    "loss",
    "deliver",
    "drop_box",
    "drop_tunnel",
];

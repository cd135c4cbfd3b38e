//! Events of a packet on a link.

/// What happened to a packet; the order is that of [`EVENT_NAMES`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PacketEvent {
    /// It entered the queue.
    Enqueue,
    /// It left the queue for the wire.
    Dequeue,
    /// It was given CE.
    Mark,
    /// It was dropped as a signal.
    EarlyDrop,
    /// It was dropped because the queue's law drops everything.
    ForcedDrop,
    /// It was dropped because the queue was full.
    TailDrop,
    /// The error model took it.
    Loss,
    /// It reached the far end.
    Deliver,
    /// A box dropped it.
    BoxDrop,
    /// The end of a tunnel dropped it, behind the far end.
    TunnelDrop,
    /// It came to the queue, which has not yet decided about it. The log leaves this out.
    Arrive,
}

/// Names of the events in the table of packets, but for [`PacketEvent::Arrive`].
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

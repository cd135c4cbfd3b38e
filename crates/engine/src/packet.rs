//! What links and queues carry.

use ecnlab_aqm::Item;
use ecnlab_wire::{Ecn, Segment};

/// A segment under way. `Copy`: it goes from ring to ring by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The segment and its codepoint.
    pub segment: Segment,
    /// Index of the node it is for.
    pub to: u32,
    /// Index of the endpoint it is for.
    pub endpoint: u32,
    /// The connection's serial number, which stands for its pair of ports: an endpoint's place may
    /// be used again, and a packet of an earlier connection must not reach the later one.
    pub connection: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Index of the flow's group.
    pub group: u32,
}

impl Item for Packet {
    fn wire_len(&self) -> u32 {
        self.segment.wire_len
    }
    fn ecn(&self) -> Ecn {
        self.segment.ecn
    }
    fn mark(&mut self) {
        self.segment.ecn = Ecn::Ce;
    }
    fn group(&self) -> usize {
        self.group as usize
    }
}

//! What the tests put into queues.

use std::cell::Cell;

use ecnlab_aqm::Item;
use ecnlab_wire::{Dscp, Ecn};

thread_local! {
    /// Difference in bytes between the length of a packet and the one it reports at first.
    pub static LONGER: Cell<u32> = const { Cell::new(0) };
}

/// A packet with all that a queue requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    pub id: u32,
    pub len: u32,
    pub ecn: Ecn,
    pub dscp: Dscp,
    pub group: usize,
    pub flow: u64,
}

impl Item for Packet {
    fn wire_len(&self) -> u32 {
        self.len + LONGER.get()
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn dscp(&self) -> Dscp {
        self.dscp
    }
    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn group(&self) -> usize {
        self.group
    }
    fn flow_key(&self) -> u64 {
        self.flow
    }
    /// A thousand flows have one source; all have one destination.
    fn hosts(&self) -> (u32, u32) {
        ((self.flow / 1000) as u32, 7)
    }
}

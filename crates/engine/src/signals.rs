//! Signals of the queues to senders: source quenches not yet sent, and the marks and drops of each flow.

use std::collections::BTreeMap;

use ecnlab_aqm::{DropReason, Owed};

use crate::packet::Packet;

/// Signals of all queues.
pub struct Signals {
    /// Source quenches caused by the arrival being processed.
    pub owed: Vec<Owed<Packet>>,
    /// Source quenches that are sent later, by the index of their cargo, each with the row of its router.
    pub later: BTreeMap<u32, (u32, Packet)>,
    /// Counts by flow; empty if they are not recorded.
    flows: Vec<FlowSignals>,
}

/// Marks and drops of a flow's packets, in both directions and by all queues, since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowSignals {
    /// Packets set to CE.
    pub marks: u64,
    /// Packets dropped as a signal.
    pub early: u64,
    /// Packets dropped by the law, ECN-capable or not.
    pub forced: u64,
    /// Packets dropped because the queue was full.
    pub tail: u64,
}

impl Signals {
    /// Counts marks and drops of the flows 0 to `flows` - 1; of none if `flows` is 0.
    pub fn new(flows: usize) -> Signals {
        Signals { owed: Vec::new(), later: BTreeMap::new(), flows: vec![FlowSignals::default(); flows] }
    }

    /// Returns the counts of `flow`; zeros if they are not recorded.
    pub fn of(&self, flow: usize) -> FlowSignals {
        self.flows.get(flow).copied().unwrap_or_default()
    }

    /// Counts a mark of `packet`.
    pub fn count_mark(&mut self, packet: &Packet) {
        if let Some(flow) = self.flows.get_mut(packet.flow() as usize) {
            flow.marks += 1;
        }
    }

    /// Counts a drop of `packet`.
    pub fn count_drop(&mut self, packet: &Packet, why: DropReason) {
        let Some(flow) = self.flows.get_mut(packet.flow() as usize) else { return };
        let count = match why {
            DropReason::Early => &mut flow.early,
            DropReason::Forced => &mut flow.forced,
            DropReason::Tail => &mut flow.tail,
        };
        *count += 1;
    }
}

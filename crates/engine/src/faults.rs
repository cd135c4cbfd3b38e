//! Faults of the wire: packets lost or marked behind the queue.

use std::collections::HashMap;

use ecnlab_aqm::Item;
use ecnlab_base::Rng;

use crate::bursts::Chain;
use crate::packet::Packet;
use crate::plan::Errors;

/// The error model of one link. A link without errors has none, and pays nothing.
#[derive(Debug)]
pub struct Faults {
    plan: Errors,
    rng: Rng,
    bursts: Option<Chain>,
    packets: u64,
    /// Data segments and datagrams seen, for the flows that the plan names.
    segments: HashMap<usize, u64>,
}

impl Faults {
    /// The faults that `plan` describes, or `None` if there are none. `stream` gives random streams by name.
    pub fn new(plan: &Errors, stream: impl Fn(&str) -> Rng) -> Option<Faults> {
        if *plan == Errors::default() {
            return None;
        }
        let named = plan.drop_segments.iter().chain(&plan.mark_segments).map(|&(flow, _)| (flow, 0)).collect();
        let bursts = plan.bursts.map(|bursts| Chain::new(bursts, stream("bursts")));
        Some(Faults { plan: plan.clone(), rng: stream("faults"), bursts, packets: 0, segments: named })
    }

    /// Whether `packet` gets through; gives it CE where the plan says so.
    #[inline(never)]
    pub fn lets_through(&mut self, packet: &mut Packet) -> bool {
        self.packets += 1;
        let segment = self.count_segment(packet);
        let listed = |packets: &[u64], segments: &[(usize, u64)]| {
            packets.contains(&self.packets) || segment.is_some_and(|s| segments.contains(&s))
        };
        if listed(&self.plan.mark_packets, &self.plan.mark_segments) && packet.ecn().is_capable() {
            packet.mark();
        }
        let dropped = listed(&self.plan.drop_packets, &self.plan.drop_segments);
        // The draw is made for every packet, so that a list never shifts the stream.
        let lost = self.plan.loss > 0.0 && self.rng.unit() < self.plan.loss;
        let in_burst = self.bursts.as_mut().is_some_and(Chain::loses);
        !(dropped || lost || in_burst)
    }

    /// (flow, n) if this is the n-th data segment or datagram of a flow that the plan names.
    fn count_segment(&mut self, packet: &Packet) -> Option<(usize, u64)> {
        if !packet.has_data() {
            return None;
        }
        let flow = packet.flow() as usize;
        let count = self.segments.get_mut(&flow)?;
        *count += 1;
        Some((flow, *count))
    }
}

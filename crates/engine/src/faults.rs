//! Link errors: packets lost or marked after the queue.

use std::collections::{HashMap, HashSet};

use ecnlab_aqm::Item;
use ecnlab_base::Rng;

use crate::bursts::Chain;
use crate::packet::Packet;
use crate::plan::Errors;

/// The error model of one link. A link without errors has none and no overhead.
#[derive(Debug)]
pub struct Faults {
    loss: f64,
    marked: Listed,
    dropped: Listed,
    rng: Rng,
    bursts: Option<Chain>,
    packets: u64,
    /// Data segments and datagrams seen, for the flows named in the plan.
    segments: HashMap<usize, u64>,
}

/// Packets of a link by their ordinals, and segments by flow and ordinal.
#[derive(Debug)]
struct Listed {
    packets: HashSet<u64>,
    segments: HashSet<(usize, u64)>,
}

impl Listed {
    fn new(packets: &[u64], segments: &[(usize, u64)]) -> Listed {
        Listed { packets: packets.iter().copied().collect(), segments: segments.iter().copied().collect() }
    }

    fn has(&self, packet: u64, segment: Option<(usize, u64)>) -> bool {
        self.packets.contains(&packet) || segment.is_some_and(|segment| self.segments.contains(&segment))
    }
}

impl Faults {
    /// Creates the error model of `plan`, or `None` without errors. `stream` returns random streams by name.
    pub fn new(plan: &Errors, stream: impl Fn(&str) -> Rng) -> Option<Faults> {
        if *plan == Errors::default() {
            return None;
        }
        let named = plan.drop_segments.iter().chain(&plan.mark_segments).map(|&(flow, _)| (flow, 0)).collect();
        let bursts = plan.bursts.map(|bursts| Chain::new(bursts, stream("bursts")));
        let marked = Listed::new(&plan.mark_packets, &plan.mark_segments);
        let dropped = Listed::new(&plan.drop_packets, &plan.drop_segments);
        Some(Faults { loss: plan.loss, marked, dropped, rng: stream("faults"), bursts, packets: 0, segments: named })
    }

    /// Returns whether `packet` survives; sets CE according to the plan.
    #[inline(never)]
    pub fn lets_through(&mut self, packet: &mut Packet) -> bool {
        self.packets += 1;
        let segment = self.count_segment(packet);
        if self.marked.has(self.packets, segment) && packet.ecn().is_capable() {
            packet.mark();
        }
        let dropped = self.dropped.has(self.packets, segment);
        // Draws for every packet, so that a list of losses does not shift the random stream.
        let lost = self.loss > 0.0 && self.rng.unit() < self.loss;
        let in_burst = self.bursts.as_mut().is_some_and(Chain::loses);
        !(dropped || lost || in_burst)
    }

    /// Returns (flow, n) for the n-th data segment or datagram of a flow named in the plan.
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

//! Estimate of a run's memory by component, from the sizes of its types and measured heap use (`docs/reliability.md`).

use ecnlab_aqm::{ClassReading, Config, Group, Queue, Stats};
use ecnlab_traffic::Params;

use crate::flow::Flow;
use crate::hosts::{Connection, Host};
use crate::link::Link;
use crate::packet::{Cargo, Packet};
use crate::plan::{FlowPlan, LinkPlan};
use crate::totals::Totals;

/// Readings of each counter held at the end of a run: at the end of the warm-up and at the end.
const READINGS: usize = 2;
/// Copies of a queue's histogram for time series: at the last sample, and departures since then before a snapshot.
const SAMPLED: usize = 2;
/// Bytes of a name, including the text.
const NAME: usize = size_of::<String>() + 32;
/// Bytes of a flow in addition to its types: lists of nodes and links, ranges and windows of its endpoints, events, and
/// its table rows. Measured.
const FLOW: usize = 600;
/// Bytes of a link direction in addition to its types: rings of packets, routes, and its table rows. Measured.
const LINK: usize = 4400;
/// Bytes of a node: its name and its state in the path search. Measured.
const NODE: usize = NAME + 200;
/// Bytes of the path between a pair of nodes: first links in both directions.
const PAIR: usize = 100;
/// Bytes of a sojourn-time histogram, divided by the readings. Measured.
const HISTOGRAM: usize = 7_300;

/// Bytes of a node.
pub const fn of_node() -> u64 {
    NODE as u64
}

/// Bytes of a flow of this `traffic`, with two endpoints if it uses TCP, between `pairs` pairs of nodes.
pub fn of_flow(traffic: &Params, pairs: u64) -> u64 {
    let flow = size_of::<FlowPlan>() + size_of::<Flow>() + READINGS * size_of::<Totals>() + 4 * NAME + FLOW;
    let ends = if traffic.uses_tcp() { size_of::<Connection>() + 2 * size_of::<Host>() } else { 0 };
    ((flow + ends) as u64).saturating_add(pairs.saturating_mul(PAIR as u64))
}

/// Bytes of a link direction without its queue and histograms, for a number of flow groups.
pub fn of_link(queue: &Config, groups: usize) -> u64 {
    let classes = queue.class_names().len();
    let reading = size_of::<Stats>() + groups * size_of::<Group>() + classes * size_of::<ClassReading>();
    (size_of::<LinkPlan>() + size_of::<Link>() + 4 * NAME + LINK + READINGS * reading) as u64
}

/// Bytes of the histograms of a link direction that carries packets.
pub fn of_histograms(queue: &Config, groups: usize) -> u64 {
    let own = if queue.common.quantiles { 1 + groups } else { 0 };
    let classes = queue.class_names().len();
    let series = if classes > 0 { SAMPLED } else { 0 };
    (((own + classes) * READINGS + series) * HISTOGRAM) as u64
}

/// Bytes of a queue used by a number of `flows`, without the packets.
pub fn of_queue(queue: &Config, flows: f64) -> u64 {
    Queue::<Packet>::memory(queue, flows)
}

/// Bytes of a packet in a queue or on a wire.
pub const fn of_packet() -> u64 {
    Queue::<Packet>::memory_of_packet() + (size_of::<Cargo>() + size_of::<u32>()) as u64
}

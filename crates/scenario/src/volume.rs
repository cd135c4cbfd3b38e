//! Predicted size of the tables of a run that grow with time or packets.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ecnlab_base::Time;
use ecnlab_engine::{FlowPlan, LinkPlan, Paths, Plan};
use ecnlab_traffic::Params;
use ecnlab_wire::TCP_HEADER;

use crate::Scenario;

/// Rows of the packet table per packet and link: it enters the queue, leaves it, and arrives.
const EVENTS: f64 = 3.0;

impl Scenario {
    /// Returns the expected rows of the tables `queue_series`, `class_series` and `flow_series`, if the scenario has a
    /// sample interval, and of `packets`, if it or the caller requests `events`; `None` if unbounded.
    ///
    /// Samples are counted: times × links, classes of their queues, and flows. Packets are estimated: each flow has its
    /// max-min fair share of the links on its path for its duration, in full segments, each with an ACK.
    pub fn volume(&self, events: bool) -> BTreeMap<&'static str, Option<f64>> {
        let plan = self.plan(0);
        let mut rows = BTreeMap::new();
        if let Some(sample) = plan.sample.filter(|sample| !sample.is_zero()) {
            let instants = 1.0 + plan.duration.whole(sample) as f64;
            let flows = plan.flows.iter().filter(|flow| flow.traffic.uses_tcp()).count();
            rows.insert("queue_series", Some(instants * plan.links.len() as f64));
            let classes: usize = plan.links.iter().map(|link| link.queue.class_names().len()).sum();
            if classes > 0 {
                rows.insert("class_series", Some(instants * classes as f64));
            }
            rows.insert("flow_series", Some(instants * flows as f64));
        }
        if events || plan.packet_events {
            rows.insert("packets", packets(&plan));
        }
        rows
    }
}

fn packets(plan: &Plan) -> Option<f64> {
    let mut paths = Paths::of(plan);
    let mut path = |from: usize, to: usize| {
        let first = paths.first(from, to)?;
        Some(paths.path(first, to).collect::<Vec<u32>>())
    };
    // The first nodes of a pool represent all.
    let way = |flow: &FlowPlan| Some([path(flow.from[0], flow.to[0])?, path(flow.to[0], flow.from[0])?]);
    let ways: Vec<[Vec<u32>; 2]> = plan.flows.iter().map(way).collect::<Option<_>>()?;
    let capacity = plan.links.iter().map(|link| link.drain_rate().map_or(f64::INFINITY, |rate| rate.bps() as f64));
    let caps = plan.flows.iter().zip(&ways).map(|(flow, ways)| cap(flow, ways, &plan.links));
    let shares =
        fair_shares(&ways.iter().map(|[there, _]| there).collect::<Vec<_>>(), capacity.collect(), caps.collect());
    let rows = plan.flows.iter().zip(&ways).zip(shares).map(|((flow, [there, back]), bps)| {
        let end = Time::ZERO + plan.duration;
        let seconds = flow.stop.map_or(end, |stop| stop.min(end)).as_secs() - flow.start.as_secs();
        let sent = bps * seconds.max(0.0) / 8.0 / packet(flow) as f64;
        let sent = size(flow).map_or(sent, |bytes| sent.min(bytes.div_ceil(payload(flow)) as f64));
        let acks = if flow.traffic.uses_tcp() { back.len() } else { 0 };
        EVENTS * sent * (there.len() + acks) as f64
    });
    Some(rows.sum()).filter(|rows: &f64| rows.is_finite())
}

/// Maximum rate of the flow, independent of the links, in bit/s.
fn cap(flow: &FlowPlan, ways: &[Vec<u32>; 2], links: &[LinkPlan]) -> f64 {
    let rtt: f64 = ways.iter().flatten().map(|&link| links[link as usize].delay.as_secs()).sum();
    let a_round = |bytes: u64| if rtt > 0.0 { bytes as f64 * 8.0 / rtt } else { f64::INFINITY };
    let window = flow.tcp_from.receive_buffer.0.max(flow.tcp_to.receive_buffer.0);
    match &flow.traffic {
        Params::Cbr(p) => p.rate.bps() as f64,
        Params::OnOff(p) => p.rate.bps() as f64,
        // A transaction takes at least one RTT to connect and one for the reply.
        Params::Crr(p) => {
            a_round(window).min(a_round((p.request.mean().0 + p.response.mean().0 + 4 * headers(flow)) / 2))
        }
        Params::Ftp(_) | Params::Live(_) => a_round(window),
        Params::Web(_) => f64::INFINITY,
    }
}

/// Bytes of a full-sized packet of the flow.
fn packet(flow: &FlowPlan) -> u64 {
    match &flow.traffic {
        Params::Cbr(p) => p.packet.0,
        Params::OnOff(p) => p.packet.0,
        Params::Crr(p) => (p.response.mean().0.max(1)).min(flow.tcp_from.mss.0) + headers(flow),
        Params::Ftp(_) | Params::Live(_) | Params::Web(_) => payload(flow) + headers(flow),
    }
}

/// Bytes of the headers of a data segment, IP and TCP without options.
fn headers(flow: &FlowPlan) -> u64 {
    (flow.ip.header_len() + TCP_HEADER).into()
}

fn payload(flow: &FlowPlan) -> u64 {
    flow.tcp_from.mss.0.min(flow.tcp_to.mss.0)
}

/// Total bytes that the flow sends, if limited.
fn size(flow: &FlowPlan) -> Option<u64> {
    match &flow.traffic {
        Params::Ftp(p) => p.size.map(|bytes| bytes.0),
        _ => None,
    }
}

/// Returns max-min fair shares of `capacity` for flows over `paths`, none above its cap. Every cap counts as an
/// additional link.
fn fair_shares(paths: &[&Vec<u32>], mut capacity: Vec<f64>, caps: Vec<f64>) -> Vec<f64> {
    let links = capacity.len();
    capacity.extend(caps);
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); capacity.len()];
    for (flow, path) in paths.iter().enumerate() {
        path.iter().map(|&link| link as usize).chain([links + flow]).for_each(|link| users[link].push(flow as u32));
    }
    let mut waiting: Vec<usize> = users.iter().map(Vec::len).collect();
    // A link is full at this share of each waiting flow. The share only grows while other flows are served; the bits of
    // non-negative floats have the order of their values.
    let level = |left: f64, waiting: usize| (left.max(0.0) / waiting as f64).to_bits();
    let begin = (0..capacity.len()).filter(|&link| waiting[link] > 0);
    let mut queue: BinaryHeap<_> = begin.map(|link| Reverse((level(capacity[link], waiting[link]), link))).collect();
    let mut shares = vec![f64::INFINITY; paths.len()];
    let mut served = vec![false; paths.len()];
    while let Some(Reverse((at, link))) = queue.pop() {
        if waiting[link] == 0 {
            continue;
        }
        let now = level(capacity[link], waiting[link]);
        if now > at {
            queue.push(Reverse((now, link)));
            continue;
        }
        for &flow in &users[link] {
            let flow = flow as usize;
            if std::mem::replace(&mut served[flow], true) {
                continue;
            }
            shares[flow] = f64::from_bits(at);
            for other in paths[flow].iter().map(|&link| link as usize).chain([links + flow]) {
                waiting[other] -= 1;
                capacity[other] -= shares[flow];
            }
        }
    }
    shares
}

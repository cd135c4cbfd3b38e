//! Estimate of a run's memory from the tables of its scenario, made before arrays are expanded.

use std::collections::{BTreeMap, BTreeSet};

use ecnlab_base::Length;
use ecnlab_engine::memory;
use ecnlab_traffic::Params;

use crate::diagnostic::Diagnostic;
use crate::file::{Flow, Link};
use crate::layout::MAX_INSTANCES;
use crate::names::Reference;
use crate::path::Path;
use crate::tables::Tables;
use crate::tree::Node;
use crate::userlaws::{Limit, MEMORY_LIMIT, Supplier};

/// Bytes of a Python process with Polars that has stored a small run. Measured.
const STORED: u64 = 86_000_000;
/// Bytes of a Python process that has started to simulate. Measured.
const STARTED: u64 = 52_000_000;
/// Percentage of a flow's memory that the process still holds when it stores the tables. Measured.
const KEPT: u64 = 65;
/// Blocks of at least this size are returned to the system immediately (`DEFAULT_MMAP_THRESHOLD_MAX` of glibc).
const GIVEN_BACK: u64 = 32 << 20;
/// Rows of a table in memory while it is written (`BLOCK_ROWS` in python/ecnlab/folder/streamed_tables.py).
const BLOCK_ROWS: u64 = 1 << 18;
/// Bytes per row of a table that fits in one block, and of a block of a larger table. Measured.
const ROW: u64 = 230;
const ROW_OF_BLOCK: u64 = 850;
/// Additional bytes per row of the transaction table written at once, and per web object: the middle of measurements
/// with three mmap thresholds of the allocator (docs/reliability.md).
const TRANSACTION: f64 = 115.0;
const TRANSACTION_OF_BLOCK: f64 = 130.0;
const OBJECT: f64 = 240.0;
/// Minimum number of RTTs of a transaction: one for the handshake, one for request and response.
const ROUND_TRIPS: f64 = 2.0;
/// Rows of the packet table per packet and link.
const EVENTS: f64 = 3.0;
/// Bytes of a full-sized packet.
const PACKET: f64 = 1500.0;
/// Segments that a connection sends before the first is acknowledged.
const INITIAL_WINDOW: f64 = 10.0;

/// Bytes of a QUIC stream that a receiver accepts by default, in quinn and noq: 12.5 MB/s for 100 ms.
const QUIC_WINDOW: u64 = 1_250_000;

/// Bytes of a QUIC packet in flight: its payload, the data that its sender keeps, and records of both. Measured.
const QUIC_PACKET: f64 = 3700.0;

/// Fraction of an oversized buffer that TCP fills. Measured for the profile `modern`.
const FILLED: f64 = 0.5;

/// Memory estimate of a scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimate {
    /// Bytes during the run, by the contributing key.
    peak: BTreeMap<String, u64>,
    /// Bytes still held when the run has ended.
    kept: u64,
}

impl Estimate {
    fn add(&mut self, key: String, peak: u64, kept: u64) {
        let part = self.peak.entry(key).or_default();
        *part = part.saturating_add(peak);
        self.kept = self.kept.saturating_add(kept);
    }

    /// Peak memory of the process that runs it, in bytes.
    pub fn bytes(&self) -> u64 {
        let peak = self.peak.values().fold(STARTED, |sum, bytes| sum.saturating_add(*bytes));
        peak.max(STORED.saturating_add(self.kept))
    }

    /// Returns the key with the largest contribution, and its bytes.
    fn greatest(&self) -> Option<(&str, u64)> {
        self.peak.iter().max_by_key(|(_, bytes)| **bytes).map(|(key, bytes)| (key.as_str(), *bytes))
    }
}

/// Estimates the memory of `tables`. Invalid tables are skipped; another check rejects them.
pub(crate) fn of(tables: &Tables) -> Estimate {
    let mut estimate = Estimate::default();
    for (name, node) in &tables.nodes {
        let bytes = memory::of_node().saturating_mul(counted(node.count));
        estimate.add(format!("node.{name}.count"), bytes, bytes);
    }
    let groups = tables.flows.iter().map(|(name, flow)| flow.group.as_ref().unwrap_or(name));
    let groups = groups.collect::<BTreeSet<_>>().len();
    let mut links = 0;
    for (name, duplex) in &tables.links {
        let count = instances(duplex.forward.count, [&duplex.forward.from, &duplex.forward.to], tables);
        for link in duplex.directions() {
            links += count;
            add_link(&mut estimate, name, link, count, groups, tables);
        }
    }
    let mut tcp_flows = 0;
    for (name, flow) in &tables.flows {
        let ends = [&flow.from, &flow.to];
        let pool = flow.traffic.is_pool();
        let count = if pool { counted(flow.count) } else { instances(flow.count, ends, tables) };
        let pairs = if pool { ends.map(|end| nodes(end, tables)).into_iter().fold(1, u64::saturating_mul) } else { 1 };
        let stack = most_of_quic(flow, tables, |quic| quic.stack.memory()).unwrap_or(0);
        let bytes = memory::of_flow(&flow.traffic, pairs).saturating_add(stack).saturating_mul(count);
        estimate.add(key_of("flow", name, flow.count), bytes, bytes / 100 * KEPT);
        tcp_flows += if flow.traffic.uses_tcp() { count } else { 0 };
    }
    add_packets(&mut estimate, tables);
    add_transactions(&mut estimate, tables);
    add_tables(&mut estimate, tables, links, tcp_flows);
    estimate
}

/// The larger value of both ends' QUIC settings; `None` without QUIC.
fn most_of_quic(flow: &Flow, tables: &Tables, value: fn(&ecnlab_quic::Settings) -> u64) -> Option<u64> {
    flow.quics()?.into_iter().filter_map(|end| tables.quics.get(end)).map(|quic| value(quic)).max()
}

fn key_of(section: &str, name: &str, count: Option<u32>) -> String {
    if count.is_some() { format!("{section}.{name}.count") } else { format!("{section}.{name}") }
}

/// Adds a direction of `count` links with its queue.
fn add_link(estimate: &mut Estimate, name: &str, link: &Link, count: u64, groups: usize, tables: &Tables) {
    let Some(queue) = tables.queues.get(&link.queue).filter(|queue| queue.check().is_ok()) else { return };
    // A link without flows has empty histograms.
    let crossed = count.min(flows(tables));
    let histograms = memory::of_histograms(queue, groups).saturating_mul(crossed);
    let bytes = memory::of_link(queue, groups).saturating_mul(count).saturating_add(histograms);
    estimate.add(key_of("link", name, tables.links[name].forward.count), bytes, bytes);
    let each = memory::of_queue(queue, connections(tables));
    let bytes = each.saturating_mul(count);
    let key = queue.inner_key().map_or_else(
        || key_of("link", name, tables.links[name].forward.count),
        |inner| format!("queue.{}.{inner}", link.queue),
    );
    // The inner queues of a queue that is not nested form one block.
    estimate.add(key, bytes, if each >= GIVEN_BACK && !queue.is_nested() { 0 } else { bytes });
}

/// Adds packets in queues and on wires: at most the capacity of the bottlenecks, the packets sent by UDP, and the TCP
/// windows, which start with [`INITIAL_WINDOW`] and grow by one segment per delivered segment, scaled by [`FILLED`].
///
/// Bottlenecks are the link arrays whose total rate is less than twice the minimum over all arrays.
fn add_packets(estimate: &mut Estimate, tables: &Tables) {
    let of = |tcp: bool| tables.flows.values().filter(move |flow| flow.traffic.uses_tcp() == tcp);
    let windows: f64 = of(true).map(|flow| window(flow, tables) * count_of(flow, tables)).sum();
    let (sent, least) = (sent(tables), least_rate(tables));
    let room = |(link, links, rate): (&'_ Link, f64, f64)| {
        let queue = tables.queues.get(&link.queue)?;
        let limit = match queue.common.limit {
            Length::Packets(packets) => packets,
            Length::Bytes(bytes) => bytes / PACKET,
        };
        let on_wire = rate * link.delay.max().unwrap_or_default().as_secs();
        Some((links * limit + on_wire, link.queue.clone()))
    };
    let room: Vec<_> = directions(tables).filter(|(_, _, rate)| *rate < 2.0 * least).filter_map(room).collect();
    let all = room.iter().map(|(packets, _)| packets).sum::<f64>();
    let udp = of(false).map(|flow| window(flow, tables) * count_of(flow, tables)).sum::<f64>().min(all);
    let packets = udp + FILLED * windows.min(sent).min(all - udp);
    // Without a bound by a rate or a window there is no estimate.
    let Some((_, queue)) = room.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).filter(|_| packets.is_finite()) else {
        return;
    };
    let of_quic: f64 =
        of(true).filter(|flow| flow.names_quic()).map(|flow| window(flow, tables) * count_of(flow, tables)).sum();
    let quic = FILLED * of_quic.min(sent).min(all - udp);
    let bytes = (packets * memory::of_packet() as f64 + quic * QUIC_PACKET) as u64;
    estimate.add(format!("queue.{queue}.limit"), bytes, 0);
}

/// Iterates over each direction of each link array: number of links, and packets per second of all together.
fn directions(tables: &Tables) -> impl Iterator<Item = (&Link, f64, f64)> {
    tables.links.values().flat_map(|duplex| {
        let links = instances(duplex.forward.count, [&duplex.forward.from, &duplex.forward.to], tables) as f64;
        duplex.directions().map(move |link| (link, links, links * packets_per_second(link)))
    })
}

/// Packets per second of the bottleneck.
fn least_rate(tables: &Tables) -> f64 {
    directions(tables).map(|(_, _, rate)| rate).fold(f64::INFINITY, f64::min)
}

/// Packets that the bottleneck carries in the run, and those in flight before the first is acknowledged.
fn sent(tables: &Tables) -> f64 {
    let begun: f64 = tables.flows.values().map(|flow| INITIAL_WINDOW * count_of(flow, tables)).sum();
    begun + least_rate(tables) * tables.head.duration.as_secs()
}

fn count_of(flow: &Flow, tables: &Tables) -> f64 {
    instances(flow.count, [&flow.from, &flow.to], tables) as f64
}

fn packets_per_second(link: &Link) -> f64 {
    link.rate.most().map_or(f64::INFINITY, |rate| rate.bps() as f64 / 8.0 / PACKET)
}

/// Maximum packets in flight of a flow.
fn window(flow: &Flow, tables: &Tables) -> f64 {
    let sent = |rate: ecnlab_base::Rate, packet: ecnlab_base::Bytes| {
        rate.bps() as f64 / 8.0 * tables.head.duration.as_secs() / packet.0.max(1) as f64
    };
    match &flow.traffic {
        Params::Cbr(p) => sent(p.rate, p.packet),
        Params::OnOff(p) => sent(p.rate, p.packet),
        Params::Crr(_) | Params::Ftp(_) | Params::Live(_) | Params::Web(_) => {
            let buffer = |name: &str| tables.tcps.get(name).map_or(0, |tcp| tcp.config.receive_buffer.0);
            let tcp = || buffer(flow.tcp_from()).max(buffer(flow.tcp_to()));
            let quic = most_of_quic(flow, tables, |quic| quic.receive_window.map_or(QUIC_WINDOW, |window| window.0));
            quic.unwrap_or_else(tcp) as f64 / PACKET
        }
    }
}

/// Adds the rows of the tables of transactions and web objects.
fn add_transactions(estimate: &mut Estimate, tables: &Tables) {
    let of = |flow: &Flow| transactions(flow, tables) * count_of(flow, tables);
    let is_web = |flow: &Flow| matches!(flow.traffic, Params::Web(_));
    let all: f64 = tables.flows.values().filter(|flow| !is_web(flow)).map(of).sum();
    let transaction = TRANSACTION + TRANSACTION_OF_BLOCK * (BLOCK_ROWS as f64 / all).min(1.0);
    for (name, flow) in &tables.flows {
        let each = if is_web(flow) { OBJECT } else { transaction };
        // The `as` conversion saturates.
        let bytes = (of(flow) * each) as u64;
        estimate.add(key_of("flow", name, flow.count), bytes, bytes);
    }
}

/// Maximum transactions of a flow, limited by RTTs, by its own times and by its share of the bottleneck.
fn transactions(flow: &Flow, tables: &Tables) -> f64 {
    let duration = tables.head.duration.as_secs();
    let room = |bytes: f64| least_rate(tables) * PACKET / bytes.max(1.0) * duration / count_of(flow, tables);
    match &flow.traffic {
        Params::Crr(p) => {
            let each = p.think.as_secs() + ROUND_TRIPS * round_trip(tables);
            (duration / each).min(room((p.request.mean().0 + p.response.mean().0) as f64))
        }
        Params::Web(p) => {
            let sessions = f64::from(p.sessions).min(1.0 + duration / p.inter_session.mean().as_secs());
            (sessions * p.pages.mean() * p.objects.mean()).min(room(p.object_size.mean().0 as f64))
        }
        Params::Cbr(_) | Params::Ftp(_) | Params::Live(_) | Params::OnOff(_) => 0.0,
    }
}

/// Sum of the delays of one link of each array, in both directions.
fn round_trip(tables: &Tables) -> f64 {
    let both = tables.links.values().map(|duplex| {
        let there = duplex.forward.delay.mean().as_secs();
        there + duplex.reverse.as_ref().map_or(there, |link| link.delay.mean().as_secs())
    });
    both.sum()
}

/// Adds the rows of the tables written during the run: all of a small table, a block of a large one.
fn add_tables(estimate: &mut Estimate, tables: &Tables, links: u64, flows: u64) {
    let held = |rows: u64| if rows < BLOCK_ROWS { rows * ROW } else { BLOCK_ROWS * ROW_OF_BLOCK };
    if let Some(sample) = tables.head.sample.filter(|sample| !sample.is_zero()) {
        let instants = tables.head.duration.whole(sample).saturating_add(1);
        let bytes = held(instants.saturating_mul(links)) + held(instants.saturating_mul(flows));
        estimate.add("sample".to_owned(), bytes, bytes);
    }
    if tables.head.packets {
        let arrays = directions(tables).count() as f64;
        let bytes = held((EVENTS * arrays * sent(tables)) as u64);
        estimate.add("packets".to_owned(), bytes, bytes);
    }
}

/// A `count`, limited to valid values.
fn counted(count: Option<u32>) -> u64 {
    count.filter(|count| *count <= MAX_INSTANCES).map_or(1, u64::from)
}

/// Number of instances of a link or flow between `ends`.
fn instances(count: Option<u32>, ends: [&String; 2], tables: &Tables) -> u64 {
    count.map_or_else(|| ends.map(|end| nodes(end, tables)).into_iter().max().unwrap_or(1), |n| counted(Some(n)))
}

/// Number of flows in all tables.
fn flows(tables: &Tables) -> u64 {
    tables.flows.values().map(|flow| instances(flow.count, [&flow.from, &flow.to], tables)).sum()
}

/// Number of connections of all flows; a hash may give each its own queue. The number of successive connections is not
/// known in advance.
fn connections(tables: &Tables) -> f64 {
    let one =
        |flow: &Flow| matches!(flow.traffic, Params::Ftp(_) | Params::Live(_) | Params::Cbr(_) | Params::OnOff(_));
    if tables.flows.values().all(one) { flows(tables) as f64 } else { f64::INFINITY }
}

/// Number of nodes that an end names.
fn nodes(end: &str, tables: &Tables) -> u64 {
    let reference = Reference::parse(end);
    let count = || tables.nodes.get(reference.name).map_or(1, |node| counted(node.count));
    if reference.index.is_some() { 1 } else { count() }
}

/// Rejects a scenario that exceeds the memory known to `supplier`, and names the key that needs most.
pub(crate) fn check(tables: &Tables, tree: &Node, supplier: &dyn Supplier) -> Result<(), Vec<Diagnostic>> {
    let available = supplier.memory().map_err(|wrong| {
        let (message, help) = wrong.split_once("; ").unwrap_or((&wrong, ""));
        vec![Diagnostic::new(&tree.place, &Path::default(), message, help)]
    })?;
    let (Some(available), estimate) = (available, of(tables)) else { return Ok(()) };
    let needed = estimate.bytes();
    if needed <= available.bytes {
        return Ok(());
    }
    let (key, part) = estimate.greatest().unwrap_or(("", 0));
    let path = Path::parse(key).unwrap_or_default();
    let message = format!(
        "a run takes about {} of memory, {} of it for `{key}`, and {}",
        shown(needed),
        shown(part),
        match available.limit {
            Limit::Stated => format!("{MEMORY_LIMIT} allows {}", shown(available.bytes)),
            Limit::Machine => format!("{} are available", shown(available.bytes)),
            Limit::Page => format!("a page in a browser has {}", shown(available.bytes)),
        }
    );
    let allow = (needed as f64 / 1e8).ceil() / 10.0;
    let more = match available.limit {
        Limit::Page => "run it with the command `ecnlab run`".to_owned(),
        _ => format!("allow more with {MEMORY_LIMIT}=\"{allow} GB\" in the environment"),
    };
    let help = format!("write less there, or {more}");
    Err(vec![Diagnostic::new(tree.place_of(&path), &path, message, help)])
}

/// Formats bytes with two digits: "1.2 GB".
fn shown(bytes: u64) -> String {
    let unit =
        [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)].into_iter().find(|(_, unit)| bytes as f64 >= *unit);
    unit.map_or_else(
        || format!("{bytes} B"),
        |(name, unit)| {
            let value = bytes as f64 / unit;
            if value < 10.0 { format!("{value:.1} {name}") } else { format!("{value:.0} {name}") }
        },
    )
}

//! A flow: its traffic source, its connections, and their sums.

use std::sync::Arc;

use ecnlab_base::{Rng, Time};
use ecnlab_quic::Settings;
use ecnlab_tcp::Config;
use ecnlab_traffic::{Side, Source, Traffic};
use ecnlab_wire::{Datagram, Dscp, Ecn, IpVersion, Seq};

use crate::hosts::{Hosts, Opening, host_of};
use crate::packet::{Label, Way};
use crate::plan::{FlowPlan, Reads};
use crate::quics::{self, Quics};
use crate::totals::Totals;

/// One flow of the run.
pub struct Flow {
    /// The traffic source.
    pub source: Traffic,
    /// The source's random stream.
    pub rng: Rng,
    /// Connections in use, oldest first.
    pub live: Vec<u32>,
    /// Connections over QUIC in use, oldest first.
    pub live_quic: Vec<u32>,
    /// Time of the next poll of the source, [`Time::NEVER`] if unknown.
    pub armed: Time,
    /// Sums over ended connections and datagrams; `None` while they are all zero.
    ended: Option<Box<Totals>>,
    /// Time of the last completed exchange.
    pub finished: Option<Time>,
    iss: Rng,
    /// Connections opened.
    opened: u32,
    group: u32,
    dscp: Dscp,
    ip: IpVersion,
    tcp: [Arc<Config>; 2],
    quic: Option<[Arc<Settings>; 2]>,
    reads: Option<Reads>,
    /// Serial number for the datagrams' pair of ports.
    serial: u32,
    /// The codepoint of its datagrams.
    ecn: Ecn,
    ways: Ways,
}

/// Returns the random stream of the source of flow `name`.
pub fn source_stream(name: &str, seed: u64) -> Rng {
    Rng::named(seed, &format!("flow.{name}"))
}

/// Nodes at a flow's ends, and the first links between them.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The `from` nodes and the `to` nodes.
    pub nodes: [Vec<u32>; 2],
    /// For each pair of nodes, `to` nodes counting fastest: the first link of the path in each direction.
    pub first_links: Vec<[u32; 2]>,
}

impl Flow {
    /// Creates an idle flow whose source is polled at the start. `serial` selects its pair of UDP ports, if it has one.
    pub fn new(plan: &FlowPlan, ways: Ways, serial: u32, seed: u64) -> Flow {
        let ends = [plan.from.len() as u32, plan.to.len() as u32];
        let source = Traffic::new(&plan.traffic, ends);
        Flow {
            ecn: source.codepoint(),
            source,
            rng: source_stream(&plan.name, seed),
            live: Vec::new(),
            live_quic: Vec::new(),
            armed: plan.start,
            ended: None,
            finished: None,
            iss: Rng::named(seed, &format!("iss.{}", plan.name)),
            opened: 0,
            group: plan.group as u32,
            dscp: plan.dscp,
            ip: plan.ip,
            tcp: [plan.tcp_from.clone(), plan.tcp_to.clone()],
            quic: plan.quic.clone(),
            reads: plan.reads,
            serial,
            ways,
        }
    }

    /// Returns the parameters of the next connection of this flow, the run's `index`-th, between the nodes `ends` of
    /// the flow.
    pub fn opening(&mut self, index: u32, ends: [u32; 2]) -> Opening<'_> {
        let iss = [0, 1].map(|_| Seq(self.iss.u64() as u32));
        let number = self.opened;
        self.opened += 1;
        let [from, to] = &self.tcp;
        let (nodes, first_links) = self.ways.between(ends);
        let (group, dscp, ip) = (self.group, self.dscp, self.ip);
        let reads = self.reads;
        Opening { flow: index, number, group, dscp, ip, tcp: [from, to], nodes, first_links, iss, reads }
    }

    /// The QUIC settings at `from` and `to`, if it has QUIC in place of TCP.
    pub fn quic(&self) -> Option<&[Arc<Settings>; 2]> {
        self.quic.as_ref()
    }

    /// Draws the seed of the next connection over QUIC, counts it, and returns its ways from `from` and from `to` with
    /// these `serial` port numbers.
    pub fn opening_quic(&mut self, index: u32, ends: [u32; 2], serial: u32) -> quics::Opening {
        self.opened += 1;
        let (nodes, first_links) = self.ways.between(ends);
        let label = |to| Label { to, flow: index, group: self.group, dscp: self.dscp, ip: self.ip, ..Label::default() };
        let ways = [0, 1].map(|i| Way::new(first_links[i], nodes[i], serial, label(nodes[1 - i])));
        quics::Opening { flow: index, number: self.opened - 1, seed: self.iss.u64(), ip: self.ip, ways }
    }

    /// Settings of the TCP at `side`.
    pub fn tcp(&self, side: Side) -> &Config {
        &self.tcp[side.index()]
    }

    /// The nodes at the given ends, `from` first.
    pub fn nodes(&self, ends: [u32; 2]) -> [u32; 2] {
        self.ways.between(ends).0
    }

    /// Number of connections opened.
    pub fn opened(&self) -> u32 {
        self.opened
    }

    /// Adds an ended connection over QUIC to the flow's sums.
    pub fn retire_quic(&mut self, connection: u32, quics: &Quics) {
        self.live_quic.retain(|&c| c != connection);
        quics.add(connection, self.ended.get_or_insert_default());
    }

    /// Iterates over all paths of its packets: the first link, and the nodes of sender and receiver.
    pub fn paths(&self) -> impl Iterator<Item = (u32, [u32; 2])> {
        let Ways { nodes: [from, to], first_links } = &self.ways;
        let pairs = from.iter().flat_map(move |&a| to.iter().map(move |&b| [a, b]));
        pairs.zip(first_links).flat_map(|([a, b], &[there, back])| [(there, [a, b]), (back, [b, a])])
    }

    /// Counts a completed exchange, unless it was cut.
    pub fn count_exchange(&mut self, cut: bool, now: Time) {
        self.ended_mut().exchanges += u64::from(!cut);
        self.finished = Some(now);
    }

    /// Creates the next datagram of this flow, the run's `index`-th, of `wire_len` bytes on the wire, with its way.
    pub fn datagram(&mut self, index: u32, wire_len: u32) -> (Datagram, Way) {
        let ended = self.ended.get_or_insert_default();
        let sent = &mut ended.tcp[Side::From.index()];
        let datagram = Datagram::filling(self.ip, wire_len, sent.segments_sent as u32, self.ecn);
        sent.segments_sent += 1;
        sent.data_segments_sent += 1;
        sent.bytes_sent += u64::from(datagram.len);
        ended.ecn |= self.ecn.is_capable();
        let ([from, to], [first_link, _]) = self.ways.between([0, 0]);
        let label = Label { to, flow: index, group: self.group, dscp: self.dscp, ip: self.ip, ..Label::default() };
        (datagram, Way::new(first_link, from, self.serial, label))
    }

    /// Counts a datagram that reached the far end with codepoint `ecn`.
    pub fn receive(&mut self, datagram: &Datagram, ecn: Ecn) {
        let ended = self.ended_mut();
        ended.delivered += u64::from(datagram.len);
        let received = &mut ended.tcp[Side::To.index()];
        received.segments_received += 1;
        received.ce_received += u64::from(ecn == Ecn::Ce);
    }

    /// Returns the way of a source quench about a datagram of this flow, the run's `index`-th, from the node `router`.
    pub fn way_back(&self, index: u32, router: u32) -> Way {
        let ([sender, _], [_, first_link]) = self.ways.between([0, 0]);
        let label = Label { to: sender, flow: index, group: self.group, dscp: self.dscp, ..Label::default() };
        Way::new(first_link, router, self.serial, label)
    }

    /// Processes a source quench about one of its datagrams, at the sender.
    pub fn receive_quench(&mut self, now: Time) {
        let heeded = self.source.on_quench(now);
        let sender = &mut self.ended_mut().tcp[Side::From.index()];
        sender.quenches_received += 1;
        sender.quench_reductions += u64::from(heeded);
    }

    /// Adds an ended connection's counters to the flow's sums.
    pub fn retire(&mut self, connection: u32, hosts: &Hosts) {
        self.live.retain(|&c| c != connection);
        add(self.ended_mut(), connection, hosts);
    }

    fn ended_mut(&mut self) -> &mut Totals {
        self.ended.get_or_insert_default()
    }

    /// Sums so far.
    pub fn totals(&self, hosts: &Hosts) -> Totals {
        let mut totals = self.ended.as_deref().cloned().unwrap_or_default();
        for &connection in &self.live {
            add(&mut totals, connection, hosts);
        }
        for &connection in &self.live_quic {
            hosts.quics.add(connection, &mut totals);
        }
        totals
    }

    /// Returns the payload delivered so far, and that which ACKs to the `from` end reported as marked.
    pub fn progress(&self, hosts: &Hosts) -> (u64, u64) {
        let from = Side::From.index();
        let mut ended = self.ended.as_deref().map_or((0, 0), |ended| (ended.delivered, ended.tcp[from].bytes_marked));
        ended.0 += self.live_quic.iter().map(|&connection| hosts.quics.delivered(connection)).sum::<u64>();
        self.live.iter().fold(ended, |sum, &connection| {
            let delivered = hosts.host(host_of(connection, Side::To)).endpoint.consumed();
            (sum.0 + delivered, sum.1 + hosts.counters(connection)[from].bytes_marked)
        })
    }
}

impl Ways {
    /// Returns the nodes at the given ends, and the first link of the path in each direction.
    fn between(&self, ends: [u32; 2]) -> ([u32; 2], [u32; 2]) {
        let [from, to] = ends.map(|end| end as usize);
        let nodes = [self.nodes[0][from], self.nodes[1][to]];
        (nodes, self.first_links[from * self.nodes[1].len() + to])
    }
}

/// Adds a connection's counters to `totals`.
fn add(totals: &mut Totals, connection: u32, hosts: &Hosts) {
    for (sum, counters) in totals.tcp.iter_mut().zip(hosts.counters(connection)) {
        *sum = sum.plus(counters);
    }
    let [from, to] = [Side::From, Side::To].map(|side| &hosts.host(host_of(connection, side)).endpoint);
    totals.delivered += to.consumed();
    totals.ecn |= from.ecn_negotiated();
    totals.connections += 1;
    totals.connections_established += u64::from(from.was_established());
    totals.ecn_connections += u64::from(from.ecn_negotiated());
    totals.ecn_fallbacks += [from, to].iter().map(|end| end.counters().ecn_fallbacks).sum::<u64>();
}

//! A flow: a source of demand, its connections, and what they add up to.

use std::sync::Arc;

use ecnlab_base::{Rng, Time};
use ecnlab_tcp::{Config, Counters};
use ecnlab_traffic::{Side, Traffic};
use ecnlab_wire::{Datagram, Seq};

use crate::hosts::{Hosts, Opening, host_of};
use crate::plan::FlowPlan;

/// One flow of the run.
pub struct Flow {
    /// What asks for exchanges.
    pub source: Traffic,
    /// The source's random stream.
    pub rng: Rng,
    /// Connections in use, oldest first.
    pub live: Vec<u32>,
    /// What the ended connections and the datagrams add up to.
    ended: Totals,
    /// When the last exchange was completed.
    pub finished: Option<Time>,
    iss: Rng,
    group: u32,
    tcp: [Arc<Config>; 2],
    nodes: [u32; 2],
    first_links: [u32; 2],
}

/// Sums over a flow's connections.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// TCP counters of the `from` ends and of the `to` ends.
    pub tcp: [Counters; 2],
    /// Bytes delivered in order to the application at `to`.
    pub delivered: u64,
    /// Exchanges completed.
    pub exchanges: u64,
    /// Whether `from` sent any connection's data as ECN-capable.
    pub ecn: bool,
}

impl Flow {
    /// A flow at rest.
    pub fn new(plan: &FlowPlan, first_links: [u32; 2], seed: u64) -> Flow {
        Flow {
            source: Traffic::new(&plan.traffic),
            rng: Rng::named(seed, &format!("flow.{}", plan.name)),
            live: Vec::new(),
            ended: Totals::default(),
            finished: None,
            iss: Rng::named(seed, &format!("iss.{}", plan.name)),
            group: plan.group as u32,
            tcp: [plan.tcp_from.clone(), plan.tcp_to.clone()],
            nodes: [plan.from as u32, plan.to as u32],
            first_links,
        }
    }

    /// What the next connection of this flow, the run's `index`-th, needs to know.
    pub fn opening(&mut self, index: u32) -> Opening<'_> {
        let iss = [0, 1].map(|_| Seq(self.iss.u64() as u32));
        let [from, to] = &self.tcp;
        let (nodes, first_links) = (self.nodes, self.first_links);
        Opening { flow: index, group: self.group, tcp: [from, to], nodes, first_links, iss }
    }

    /// The node at `side`.
    pub fn node(&self, side: Side) -> u32 {
        self.nodes[side.index()]
    }

    /// The first link on the way from `side` to the other.
    pub fn first_link(&self, side: Side) -> u32 {
        self.first_links[side.index()]
    }

    /// An exchange was completed.
    pub fn count_exchange(&mut self, now: Time) {
        self.ended.exchanges += 1;
        self.finished = Some(now);
    }

    /// A datagram reached the far end.
    pub fn receive(&mut self, datagram: &Datagram) {
        self.ended.delivered += u64::from(datagram.len);
    }

    /// Adds an ended connection's counters to the flow's.
    pub fn retire(&mut self, connection: u32, hosts: &Hosts) {
        self.live.retain(|&c| c != connection);
        self.ended.add(connection, hosts);
    }

    /// The sums up to now.
    pub fn totals(&self, hosts: &Hosts) -> Totals {
        let mut totals = self.ended.clone();
        for &connection in &self.live {
            totals.add(connection, hosts);
        }
        totals
    }
}

impl Totals {
    /// What was added after `earlier`, an earlier reading of the same flow.
    pub fn since(&self, earlier: &Totals) -> Totals {
        Totals {
            tcp: [0, 1].map(|side| self.tcp[side].since(&earlier.tcp[side])),
            delivered: self.delivered - earlier.delivered,
            exchanges: self.exchanges - earlier.exchanges,
            ecn: self.ecn,
        }
    }

    fn add(&mut self, connection: u32, hosts: &Hosts) {
        for (sum, counters) in self.tcp.iter_mut().zip(hosts.counters(connection)) {
            *sum = sum.plus(counters);
        }
        let [from, to] = [Side::From, Side::To].map(|side| &hosts.host(host_of(connection, side)).endpoint);
        self.delivered += to.received();
        self.ecn |= from.ecn_negotiated();
    }
}

//! Conversion of a scenario to the engine's input, including all random choices of the set-up.

use ecnlab_base::{Dist, Dur, Rng, Steps, Time};
use ecnlab_engine::{Changes, Errors, FlowPlan, LinkPlan, Plan, Shaper, source_stream};
use ecnlab_traffic::{self as traffic, Object};
use serde::Serialize;

use crate::Scenario;
use crate::changes;
use crate::file::Link;
use crate::layout::{Instance, Way};

/// All nodes, links and flows of a run by name, with the random choices of the set-up: the input of an engine other
/// than the simulator, besides [`Scenario::resolved`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Directions of links, in the order of a run's tables.
    pub links: Vec<DrawnLink>,
    /// Flows, in the order of a run's tables.
    pub flows: Vec<DrawnFlow>,
}

/// A direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnLink {
    /// `access[3]`, or `access[3]~reverse`.
    pub name: String,
    /// Name of its table `[link.NAME]`.
    pub table: String,
    /// It is the direction from the table's `to` to its `from`.
    pub reverse: bool,
    /// Index of the source node.
    pub from: usize,
    /// Index of the destination node.
    pub to: usize,
    /// Propagation delay in picoseconds; the longest of one that changes.
    pub delay_ps: u64,
    /// Changes up to the end of the run, of a link that has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<DrawnChanges>,
}

/// Changes of a direction of a link. Only those that the link has are present.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnChanges {
    /// Starts in picoseconds and rates in bits per second from then on; 0 in an outage that holds packets. The first start
    /// is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Vec<(u64, u64)>>,
    /// Starts in picoseconds and delays in picoseconds from then on. The first start is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Vec<(u64, u64)>>,
    /// Starts and ends in picoseconds of outages in which the packets that are sent are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<(u64, u64)>,
}

impl DrawnChanges {
    /// The changes before `end`; `None` if there are none.
    fn new(changes: &Changes, end: Time) -> Option<DrawnChanges> {
        let steps = |steps: &Steps| steps.until(end).iter().map(|(at, value)| (at.ps(), *value)).collect();
        let before_end = changes.lost.iter().filter(|(from, _)| *from < end);
        let drawn = DrawnChanges {
            rate: changes.rate.as_ref().map(steps),
            delay: changes.delay.as_ref().map(steps),
            lost: before_end.map(|(from, to)| (from.ps(), to.ps())).collect(),
        };
        (drawn.rate.is_some() || drawn.delay.is_some() || !drawn.lost.is_empty()).then_some(drawn)
    }
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnFlow {
    /// `bulk[3]`, or `bulk`.
    pub name: String,
    /// Name of its table `[flow.NAME]`.
    pub table: String,
    /// Index of the node that sends the main data; for a pool, of its first node.
    pub from: usize,
    /// Index of the node that receives it; for a pool, of its first node.
    pub to: usize,
    /// Start in picoseconds of virtual time.
    pub start_ps: u64,
    /// Its sessions, if it is web traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<DrawnWeb>,
}

/// The sessions of web traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnWeb {
    /// Indices of the servers' nodes.
    pub servers: Vec<usize>,
    /// Indices of the clients' nodes.
    pub clients: Vec<usize>,
    /// The requested objects.
    pub objects: Vec<DrawnObject>,
}

/// An object of web traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnObject {
    /// Number of its session.
    pub session: u32,
    /// Number of its page within the session.
    pub page: u32,
    /// Number of the object within the page.
    pub index: u32,
    /// Index of its server in the list of servers.
    pub server: u32,
    /// Index of its client in the list of clients.
    pub client: u32,
    /// Size in bytes.
    pub bytes: u64,
    /// Request time if transfers took no time, in picoseconds.
    pub asked_ps: u64,
}

impl Scenario {
    /// Returns instances and random choices of the run with `seed`, as in [`Scenario::plan`], so that runs of different
    /// engines with one seed start identically.
    pub fn drawn(&self, seed: u64) -> Drawn {
        let (plan, layout) = (self.plan(seed), self.layout());
        let ways = layout.ways(self.tables());
        let until = Time::ZERO + plan.duration;
        let link = |(way, link): (&Way<'_>, LinkPlan)| DrawnLink {
            name: link.name,
            table: way.link.table.clone(),
            reverse: way.reverse,
            from: link.from,
            to: link.to,
            delay_ps: link.delay.ps(),
            changes: DrawnChanges::new(&link.changes, until),
        };
        let flow = |(instance, flow): (&Instance, FlowPlan)| DrawnFlow {
            web: web(&flow, seed, until),
            name: flow.name,
            table: instance.table.clone(),
            from: instance.from,
            to: instance.to,
            start_ps: flow.start.ps(),
        };
        Drawn {
            nodes: plan.nodes,
            links: ways.iter().zip(plan.links).map(link).collect(),
            flows: layout.flows.iter().zip(plan.flows).map(flow).collect(),
        }
    }

    /// Returns the engine's input. Random delays and starts are drawn here, each from its own stream, so that adding a
    /// link or flow changes no other.
    pub fn plan(&self, seed: u64) -> Plan {
        let (tables, layout) = (self.tables(), self.layout());
        Plan {
            nodes: layout.nodes.clone(),
            links: layout.ways(tables).iter().map(|way| self.link_plan(way, seed)).collect(),
            groups: layout.groups.clone(),
            flows: layout.flows.iter().map(|flow| self.flow_plan(flow, seed)).collect(),
            duration: tables.head.duration,
            end_after: layout.named(&tables.head.end_after),
            warmup: tables.head.warmup,
            sample: tables.head.sample,
            packet_events: tables.head.packets,
        }
    }

    fn link_plan(&self, way: &Way<'_>, seed: u64) -> LinkPlan {
        let tables = self.tables();
        let duplex = &tables.links[&way.link.table];
        let link = if way.reverse { duplex.reverse.as_ref().unwrap_or(&duplex.forward) } else { &duplex.forward };
        // Both directions of a cable share a draw, unless the reverse direction has its own delay.
        let stream = if duplex.own_delay { &way.name } else { &way.link.name };
        LinkPlan {
            name: way.name.clone(),
            from: way.from,
            to: way.to,
            rate: link.rate.most(),
            delay: link.delay.draw(&mut Rng::named(seed, &format!("delay.{stream}"))),
            changes: changes::of(link, &way.name, seed, tables.head.duration),
            queue: tables.queues[&link.queue].clone(),
            shaper: link.shaper.as_ref().map(|s| Shaper { rate: s.rate, burst: s.burst }),
            jitter: link.jitter.as_ref().map(Into::into),
            errors: self.errors(link),
            boxes: link.boxes.iter().map(|name| tables.boxes[name].plan(name, &way.link.name)).collect(),
            tunnel: link.tunnel.as_ref().and_then(|name| {
                let number = tables.tunnels.keys().position(|known| known == name)?;
                Some(tables.tunnels[name].plan(name, number))
            }),
        }
    }

    fn errors(&self, link: &Link) -> Errors {
        let segments = |lists: &std::collections::BTreeMap<String, Vec<u64>>| {
            let of = |(flow, list): (&String, &Vec<u64>)| {
                let flows = self.layout().flows_called(flow);
                flows.into_iter().flat_map(|f| list.iter().map(move |n| (f, *n))).collect::<Vec<_>>()
            };
            lists.iter().flat_map(of).collect()
        };
        Errors {
            loss: link.loss,
            bursts: link.burst_loss.as_ref().map(Into::into),
            drop_packets: link.drop.clone(),
            mark_packets: link.mark.clone(),
            drop_segments: segments(&link.drop_segments),
            mark_segments: segments(&link.mark_segments),
        }
    }

    fn flow_plan(&self, instance: &Instance, seed: u64) -> FlowPlan {
        let tables = self.tables();
        let flow = &tables.flows[&instance.table];
        let group = flow.group.as_ref().unwrap_or(&instance.table);
        let time = |dist: &Dist<Dur>, what| dist.draw(&mut Rng::named(seed, &format!("{what}.{}", instance.name)));
        let start = time(&flow.start, "start");
        FlowPlan {
            name: instance.name.clone(),
            group: self.layout().groups.iter().position(|g| g == group).unwrap_or(0),
            dscp: flow.dscp,
            ip: flow.ip,
            from: instance.senders().collect(),
            to: instance.receivers().collect(),
            traffic: flow.traffic.clone(),
            tcp_from: tables.tcps[flow.tcp_from()].config.clone(),
            tcp_to: tables.tcps[flow.tcp_to()].config.clone(),
            quic: flow.quics().map(|ends| ends.map(|name| tables.quics[name].clone())),
            start: Time::ZERO + start,
            // Without an upper bound a draw may exceed the range of the clock.
            reads: flow.reads(),
            stop: flow.stop.as_ref().map(|stop| Time::ZERO.saturating_add(time(stop, "stop"))),
        }
    }
}

/// Returns the draws of the source of `flow` up to `until`, if it is web traffic.
fn web(flow: &FlowPlan, seed: u64, until: Time) -> Option<DrawnWeb> {
    let traffic::Params::Web(params) = &flow.traffic else { return None };
    let pool = [flow.from.len() as u32, flow.to.len() as u32];
    let objects = traffic::Web::unhindered(params, pool, &mut source_stream(&flow.name, seed), flow.start, until);
    let object = |o: Object| DrawnObject {
        session: o.session,
        page: o.page,
        index: o.index,
        server: o.ends[0],
        client: o.ends[1],
        bytes: o.bytes,
        asked_ps: o.requested.ps(),
    };
    Some(DrawnWeb {
        servers: flow.from.clone(),
        clients: flow.to.clone(),
        objects: objects.into_iter().map(object).collect(),
    })
}

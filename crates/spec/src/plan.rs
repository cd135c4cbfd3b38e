//! From a scenario to what the engine runs: every random choice of the set-up made.

use ecnlab_base::{Rng, Time};
use ecnlab_engine::{Errors, FlowPlan, LinkPlan, Plan, Shaper};

use crate::Scenario;
use crate::file::Link;
use crate::layout::{Instance, Way};

impl Scenario {
    /// What the engine runs. Delays and starts that the scenario leaves to chance are drawn here,
    /// each from a stream of its own, so that adding a link or flow changes no other's.
    pub fn plan(&self, seed: u64) -> Plan {
        let (spec, layout) = (self.spec(), self.layout());
        Plan {
            nodes: layout.nodes.clone(),
            links: layout.ways(spec).iter().map(|way| self.link_plan(way, seed)).collect(),
            groups: layout.groups.clone(),
            flows: layout.flows.iter().map(|flow| self.flow_plan(flow, seed)).collect(),
            duration: spec.head.duration,
            warmup: spec.head.warmup,
            sample: spec.head.sample,
            packet_events: spec.head.packets,
        }
    }

    fn link_plan(&self, way: &Way<'_>, seed: u64) -> LinkPlan {
        let spec = self.spec();
        let duplex = &spec.links[&way.link.table];
        let link = if way.reverse { duplex.reverse.as_ref().unwrap_or(&duplex.forward) } else { &duplex.forward };
        // One cable, one length: both directions share a draw unless the reverse asks for its own.
        let stream = if duplex.own_delay { &way.name } else { &way.link.name };
        LinkPlan {
            name: way.name.clone(),
            from: way.from,
            to: way.to,
            rate: link.rate.0,
            delay: link.delay.draw(&mut Rng::named(seed, &format!("delay.{stream}"))),
            queue: spec.queues[&link.queue].clone(),
            shaper: link.shaper.as_ref().map(|s| Shaper { rate: s.rate, burst: s.burst }),
            errors: self.errors(link),
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
            drop_packets: link.drop.clone(),
            mark_packets: link.mark.clone(),
            drop_segments: segments(&link.drop_segments),
            mark_segments: segments(&link.mark_segments),
        }
    }

    fn flow_plan(&self, instance: &Instance, seed: u64) -> FlowPlan {
        let spec = self.spec();
        let flow = &spec.flows[&instance.table];
        let group = flow.group.as_ref().unwrap_or(&instance.table);
        let start = flow.start.draw(&mut Rng::named(seed, &format!("start.{}", instance.name)));
        FlowPlan {
            name: instance.name.clone(),
            group: self.layout().groups.iter().position(|g| g == group).unwrap_or(0),
            from: instance.senders().collect(),
            to: instance.receivers().collect(),
            traffic: flow.traffic.clone(),
            tcp_from: spec.tcps[flow.tcp_from()].config.clone(),
            tcp_to: spec.tcps[flow.tcp_to()].config.clone(),
            start: Time::ZERO + start,
        }
    }
}

//! The run: events in, packets moved, until the time is up.

use std::sync::atomic::{AtomicBool, Ordering};

use ecnlab_base::{Dur, Time};
use ecnlab_tcp::{Out, State};
use ecnlab_traffic::{Exchange, Side, Source};
use ecnlab_wire::Flags;

use crate::Error;
use crate::events::{Class, EventQueue};
use crate::flow::Flow;
use crate::hosts::{Hosts, host_of, side_of};
use crate::link::Link;
use crate::packet::Packet;
use crate::packets::Probe;
use crate::plan::{LinkPlan, Plan};
use crate::routes::{ARRIVED, Routes};
use crate::series::Series;
use crate::transactions::Transaction;
use crate::window::Snapshot;

/// How many events pass between two looks at the flag that stops a run.
const EVENTS_PER_LOOK: u32 = 1 << 16;

/// Everything that changes while a run goes on.
pub struct Sim<P: Probe> {
    /// Simplex links, as in the plan.
    pub links: Vec<Link>,
    /// Flows, as in the plan.
    pub flows: Vec<Flow>,
    /// Connections.
    pub hosts: Hosts,
    /// Completed exchanges that had a response.
    pub transactions: Vec<Transaction>,
    /// Time series.
    pub series: Series,
    /// Everything that counts, as it stood when the warm-up ended.
    pub warm: Option<Snapshot>,
    /// Each packet's way, when asked.
    pub probe: P,
    /// Segments of ended connections that arrived late; their ports are closed.
    pub stray: u64,
    routes: Routes,
    events: EventQueue,
    end: Time,
    sample: Option<Dur>,
    out: Out,
    exchanges: Vec<Exchange>,
}

impl<P: Probe> Sim<P> {
    /// The network at rest, with the first events scheduled.
    pub fn new(plan: &Plan, seed: u64, probe: P) -> Result<Sim<P>, Error> {
        let mut routes = Routes::new(plan.nodes.len());
        let mut events = EventQueue::default();
        let mut flows = Vec::with_capacity(plan.flows.len());
        for (i, flow) in plan.flows.iter().enumerate() {
            let mut path = |from: usize, to: usize| {
                let no_route = || Error::NoRoute {
                    flow: flow.name.clone(),
                    from: plan.nodes[from].clone(),
                    to: plan.nodes[to].clone(),
                };
                routes.add(from, to, &plan.links).ok_or_else(no_route)
            };
            let first_links = [path(flow.from, flow.to)?, path(flow.to, flow.from)?];
            flows.push(Flow::new(flow, first_links, seed));
            events.push(flow.start, Class::Wake, i as u32);
        }
        events.push(Time::ZERO + plan.warmup, Class::Warmup, 0);
        if plan.sample.is_some() {
            events.push(Time::ZERO, Class::Sample, 0);
        }
        let link = |l: &LinkPlan| {
            let mut link = Link::new(l, plan.groups.len(), seed);
            link.row = routes.row(l.to);
            link
        };
        let links = plan.links.iter().map(link).collect();
        Ok(Sim {
            links,
            flows,
            hosts: Hosts::default(),
            transactions: Vec::new(),
            series: Series::default(),
            warm: None,
            probe,
            stray: 0,
            routes,
            events,
            end: Time::ZERO + plan.duration,
            sample: plan.sample,
            out: Vec::new(),
            exchanges: Vec::new(),
        })
    }

    /// Runs to the end of the plan; `cancel` is looked at now and then.
    pub fn run(&mut self, cancel: &AtomicBool) -> Result<(), Error> {
        let mut until_look = EVENTS_PER_LOOK;
        while let Some(event) = self.events.pop() {
            if event.time > self.end {
                break;
            }
            match event.class {
                Class::Link => self.on_link(event.target, event.time),
                Class::Timer => self.on_timer(event.target, event.time),
                Class::Wake => self.on_wake(event.target, event.time),
                Class::Warmup => self.on_warmup(event.time),
                Class::Sample => self.on_sample(event.time),
            }
            if self.probe.is_full() {
                self.flush(event.time, false)?;
            }
            until_look -= 1;
            if until_look == 0 {
                until_look = EVENTS_PER_LOOK;
                if cancel.load(Ordering::Relaxed) {
                    return Err(Error::Cancelled);
                }
            }
        }
        Ok(())
    }

    /// Brings the links up to `now` and hands on what the probe has seen.
    pub fn flush(&mut self, now: Time, last: bool) -> Result<(), Error> {
        for (i, link) in self.links.iter_mut().enumerate() {
            link.advance(now, &mut self.probe.watch(i as u32));
        }
        if self.probe.flush(last) { Ok(()) } else { Err(Error::Cancelled) }
    }

    fn on_link(&mut self, index: u32, now: Time) {
        let link = &mut self.links[index as usize];
        if link.armed != now {
            return; // as in `on_timer`: a nearer event has taken this one's place
        }
        link.armed = Time::NEVER;
        link.advance(now, &mut self.probe.watch(index));
        let row = link.row;
        while let Some(mut packet) = self.take_delivered(index, now) {
            match self.routes.next(row, packet.to) {
                ARRIVED => self.receive(&packet, now),
                link => self.offer(link, &mut packet, now),
            }
        }
        self.arm_link(index);
    }

    fn take_delivered(&mut self, index: u32, now: Time) -> Option<Packet> {
        self.links[index as usize].take_delivered(now, &mut self.probe.watch(index))
    }

    fn offer(&mut self, index: u32, packet: &mut Packet, now: Time) {
        self.links[index as usize].offer(packet, now, &mut self.probe.watch(index));
        self.arm_link(index);
    }

    #[inline(always)]
    fn arm_link(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        let next = link.next_event();
        if next < link.armed {
            link.armed = next;
            self.events.push(next, Class::Link, index);
        }
    }

    fn receive(&mut self, packet: &Packet, now: Time) {
        let host = self.hosts.host_mut(packet.endpoint);
        if host.serial != packet.connection {
            self.stray += 1;
            return;
        }
        host.endpoint.on_segment(&packet.segment, now, &mut self.out);
        self.after(packet.endpoint, packet.segment.flags, now);
    }

    fn on_timer(&mut self, index: u32, now: Time) {
        let host = self.hosts.host_mut(index);
        if host.armed != now {
            return; // a deadline that moved forward left this entry behind: answering it would breed another
        }
        host.armed = Time::NEVER;
        if host.endpoint.deadline() <= now {
            host.endpoint.on_deadline(now, &mut self.out);
        }
        self.after(index, Flags::empty(), now);
    }

    /// Everything that can follow a call of an endpoint: segments to send, a new deadline, bytes for
    /// the application, the end of the connection.
    fn after(&mut self, index: u32, flags: Flags, now: Time) {
        self.send(index, now);
        let host = self.hosts.host(index);
        if host.endpoint.received() >= host.expects {
            self.on_arrived(index, now);
        }
        let open = self.hosts.host(index).endpoint.state() == State::Established;
        if !open || flags.intersects(Flags::SYN.union(Flags::FIN).union(Flags::RST)) {
            self.on_change(index, now);
        }
        self.arm_timer(index);
    }

    fn send(&mut self, index: u32, now: Time) {
        if self.out.is_empty() {
            return;
        }
        let host = self.hosts.host(index);
        let (link, to) = (host.first_link, host.peer);
        let (connection, flow, group) = (host.serial, host.flow, host.group);
        let mut out = std::mem::take(&mut self.out);
        for &segment in &out {
            self.offer(link, &mut Packet { segment, to, endpoint: index ^ 1, connection, flow, group }, now);
        }
        out.clear();
        self.out = out;
    }

    fn arm_timer(&mut self, index: u32) {
        let host = self.hosts.host_mut(index);
        let deadline = host.endpoint.deadline();
        if deadline < host.armed {
            host.armed = deadline;
            self.events.push(deadline, Class::Timer, index);
        }
    }

    /// The application at `index` has all the bytes it waited for.
    fn on_arrived(&mut self, index: u32, now: Time) {
        let connection = index / 2;
        let exchange = self.hosts.connection(connection).exchange;
        let host = self.hosts.host_mut(index);
        host.expects = u64::MAX;
        if side_of(index) == exchange.opener {
            host.endpoint.close(now, &mut self.out);
            self.complete(connection, now);
        } else if exchange.response > 0 {
            host.endpoint.write(exchange.response, now, &mut self.out);
        } else {
            self.complete(connection, now);
        }
        self.send(index, now);
    }

    /// The exchange of `connection` is complete.
    fn complete(&mut self, connection: u32, now: Time) {
        let c = self.hosts.connection_mut(connection);
        c.done = true;
        let c = *c;
        if c.exchange.response > 0 {
            let [from, to] = self.hosts.counters(connection);
            self.transactions.push(Transaction::new(&c, from, to, now));
        }
        let flow = &mut self.flows[c.flow as usize];
        flow.count_exchange(now);
        self.ask_again(c.flow, c.exchange.key, now);
    }

    fn ask_again(&mut self, flow: u32, key: u32, now: Time) {
        if let Some(at) = self.flows[flow as usize].source.on_done(key, now) {
            self.events.push(at, Class::Wake, flow);
        }
    }

    /// The endpoint at `index` may have been established, closed by its peer, or ended.
    fn on_change(&mut self, index: u32, now: Time) {
        let connection = index / 2;
        let c = self.hosts.connection(connection);
        if !c.live {
            return;
        }
        let opened_here = side_of(index) == c.exchange.opener;
        let first_time = c.established == Time::NEVER;
        let endpoint = &mut self.hosts.host_mut(index).endpoint;
        if opened_here && first_time && endpoint.is_established() {
            self.hosts.connection_mut(connection).established = now;
        } else if endpoint.peer_closed() && !endpoint.is_closed() {
            endpoint.close(now, &mut self.out);
            self.send(index, now);
        }
        let both_closed =
            [Side::From, Side::To].iter().all(|&side| self.hosts.host(host_of(connection, side)).endpoint.is_closed());
        if both_closed {
            self.retire(connection, now);
        }
    }

    fn retire(&mut self, connection: u32, now: Time) {
        let c = *self.hosts.connection(connection);
        self.flows[c.flow as usize].retire(connection, &self.hosts);
        self.hosts.retire(connection);
        if !c.done {
            // Reset or given up: the source goes on to its next exchange.
            self.ask_again(c.flow, c.exchange.key, now);
        }
    }

    fn on_wake(&mut self, index: u32, now: Time) {
        let flow = &mut self.flows[index as usize];
        let mut exchanges = std::mem::take(&mut self.exchanges);
        if let Some(at) = flow.source.poll(now, &mut flow.rng, &mut exchanges) {
            self.events.push(at, Class::Wake, index);
        }
        for exchange in exchanges.drain(..) {
            self.open(index, exchange, now);
        }
        self.exchanges = exchanges;
    }

    fn open(&mut self, flow: u32, exchange: Exchange, now: Time) {
        let opening = self.flows[flow as usize].opening(flow);
        let connection = self.hosts.open(&opening, exchange, now, &mut self.out);
        self.flows[flow as usize].live.push(connection);
        let opener = host_of(connection, exchange.opener);
        self.send(opener, now);
        self.arm_timer(opener);
    }

    fn on_warmup(&mut self, now: Time) {
        self.warm = Some(self.snapshot(now));
    }

    /// Everything that counts, as it stands at `now`. The statistics of queues begin anew.
    pub fn snapshot(&mut self, now: Time) -> Snapshot {
        self.observe(now);
        Snapshot::take(now, &mut self.links, &self.flows, &self.hosts)
    }

    fn on_sample(&mut self, now: Time) {
        self.observe(now);
        self.series.sample(now, &self.links, &self.flows, &self.hosts);
        if let Some(interval) = self.sample {
            self.events.push(now + interval, Class::Sample, 0);
        }
    }

    /// Brings every link and its statistics up to `now`.
    fn observe(&mut self, now: Time) {
        for (i, link) in self.links.iter_mut().enumerate() {
            link.advance(now, &mut self.probe.watch(i as u32));
            link.queue_mut().observe(now);
        }
    }
}

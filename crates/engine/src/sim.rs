//! The event loop of a run.

mod exchanges;
mod quench;
mod quic;
mod ways;

use ecnlab_aqm::Item;
use ecnlab_base::{Dur, Time};
use ecnlab_tcp::{Out, State};
use ecnlab_traffic::Demand;
use ecnlab_wire::Flags;

use crate::boxes::{self, Inside, Inspect, Passage};
use crate::error::Error;
use crate::events::{Class, Event, EventQueue};
use crate::flow::Flow;
use crate::hosts::Hosts;
use crate::link::Link;
use crate::packet::{Body, Cargo, Hold, Label, Packet, Way};
use crate::packet_event::PacketEvent;
use crate::packets::{LinkWatch, Probe};
use crate::paths::Paths;
use crate::period::{Period, Snapshot};
use crate::plan::Plan;
use crate::routes::{ARRIVED, Routes};
use crate::series::Series;
use crate::signals::Signals;
use crate::table::{Blocks, Labels};
use crate::transactions::{self, Transaction};
use ways::{learn_ways_back, ways};

/// A function that is given the virtual time of a run in progress and returns whether it goes on.
pub type Watch<'s> = &'s dyn Fn(Time) -> bool;

/// Number of events between two checks of the flag that stops a run.
const EVENTS_PER_LOOK: u32 = 1 << 16;

/// Rows of a table per block passed on: some megabytes.
pub const BLOCK_ROWS: usize = 1 << 16;

/// State of a run.
pub struct Sim<'b, P: Probe> {
    /// Simplex links, in the order of the plan.
    pub links: Vec<Link>,
    /// Contents of the packets in flight.
    pub hold: Hold,
    /// Source quenches owed, and counts of marks and drops.
    signals: Signals,
    /// Flows, in the order of the plan.
    pub flows: Vec<Flow>,
    /// Connections.
    pub hosts: Hosts,
    /// Completed exchanges with a response that are not yet passed on.
    pub transactions: Vec<Transaction>,
    /// Time series.
    pub series: Series,
    /// Snapshot of all counters at the end of the warm-up.
    pub warm: Option<Snapshot>,
    /// Observer of packet events.
    pub probe: P,
    /// Names used in tables.
    pub labels: Labels,
    /// Segments of ended connections that arrived late, at closed ports.
    pub stray: u64,
    routes: Routes,
    events: EventQueue,
    /// End of the run.
    pub end: Time,
    /// Flows whose completion ends the run, and are not complete.
    awaited: Vec<u32>,
    sample: Option<Dur>,
    warmup: Dur,
    pub(crate) out: Out,
    demands: Vec<Demand>,
    /// Receiver of tables that grow; `None` to keep them in memory.
    blocks: Option<&'b mut dyn Blocks>,
    /// The receiver rejected a block.
    stopped: bool,
}

impl<'b, P: Probe> Sim<'b, P> {
    /// Creates the idle network and schedules the first events. Tables that grow are passed to `blocks`, if given.
    pub fn new(plan: &Plan, seed: u64, probe: P, blocks: Option<&'b mut dyn Blocks>) -> Result<Sim<'b, P>, Error> {
        let mut paths = Paths::of(plan);
        let mut events = EventQueue::default();
        let mut hosts = Hosts::default();
        let mut flows = Vec::with_capacity(plan.flows.len());
        for (i, flow) in plan.flows.iter().enumerate() {
            let ways = ways(plan, flow, &mut paths)?;
            let serial = if flow.traffic.uses_tcp() { 0 } else { hosts.take_serial(0) };
            flows.push(Flow::new(flow, ways, serial, seed));
            events.push(flow.start, Class::Wake, i as u32);
            // A time beyond the range of the clock would overflow: distributions with a tail may draw one.
            if let Some(stop) = flow.stop.filter(|&stop| stop < Time::ZERO + plan.duration) {
                events.push(stop, Class::Stop, i as u32);
            }
        }
        events.push(Time::ZERO + plan.warmup, Class::Warmup, 0);
        if plan.sample.is_some() {
            events.push(Time::ZERO, Class::Sample, 0);
        }
        let mut links = Link::all(plan, seed);
        learn_ways_back(plan, &links, &flows, &mut paths)?;
        let routes = paths.routes();
        for (link, l) in links.iter_mut().zip(&plan.links) {
            link.set_rows(routes.row(l.to), routes.row(l.from));
        }
        Ok(Sim {
            links,
            hold: Hold::default(),
            signals: Signals::new(plan.sample.map_or(0, |_| plan.flows.len())),
            flows,
            hosts,
            transactions: Vec::new(),
            series: Series::of(plan),
            warm: None,
            probe,
            labels: Labels::of(plan),
            stray: 0,
            routes,
            events,
            end: Time::ZERO + plan.duration,
            awaited: plan.end_after.clone(),
            sample: plan.sample,
            warmup: plan.warmup,
            out: Vec::new(),
            demands: Vec::new(),
            blocks,
            stopped: false,
        })
    }

    /// Runs to the end of the plan, or until `goes_on`, called periodically, returns false.
    pub fn run(&mut self, goes_on: Watch<'_>) -> Result<(), Error> {
        let mut until_look = EVENTS_PER_LOOK;
        while let Some(event) = self.events.pop() {
            if event.time > self.end {
                break;
            }
            if event.is_of_link() {
                self.on_link(event.target(), event.time);
            } else {
                self.on_other(event);
            }
            if self.probe.is_full() {
                self.flush(event.time, false)?;
            }
            until_look -= 1;
            if until_look == 0 {
                until_look = EVENTS_PER_LOOK;
                if self.stopped || !goes_on(event.time) {
                    return Err(Error::Cancelled);
                }
            }
        }
        Ok(())
    }

    /// Handles the rare kinds of events; link events are handled separately because they are so frequent.
    #[inline(never)]
    fn on_other(&mut self, event: Event) {
        match event.class() {
            Class::Link => {}
            Class::Timer => self.on_timer(event.target(), event.time),
            Class::Stop => self.on_stop(event.target(), event.time),
            Class::Wake => self.on_wake(event.target(), event.time),
            Class::Read => self.on_read(event.target(), event.time),
            Class::Quench => self.on_delayed_quench(event.target(), event.time),
            Class::Warmup => self.on_warmup(event.time),
            Class::Sample => self.on_sample(event.time),
        }
    }

    /// Advances the links to `now` and passes on the probe's events.
    pub fn flush(&mut self, now: Time, last: bool) -> Result<(), Error> {
        for (i, link) in self.links.iter_mut().enumerate() {
            if link.is_due(now) {
                link.replay(now, &mut LinkWatch::new(&mut self.probe, &mut self.hold, &mut self.signals, i as u32));
            }
        }
        self.stopped |= !self.probe.flush(last);
        if let (Some(blocks), false) = (&mut self.blocks, last) {
            let block = self.probe.block(now, &self.labels);
            self.stopped |= block.is_some_and(|block| !blocks.take(block));
        }
        if self.stopped { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Passes on the tables with many rows.
    #[cold]
    fn hand_on(&mut self) {
        let Some(blocks) = &mut self.blocks else { return };
        let mut full = self.series.take_full(BLOCK_ROWS, &self.labels.links, &self.labels.flows);
        if self.transactions.len() >= BLOCK_ROWS {
            full.push(transactions::table(&self.transactions, &self.labels, Time::ZERO + self.warmup));
            self.transactions.clear();
        }
        for block in full {
            self.stopped |= self.stopped || !blocks.take(block);
        }
    }

    /// Handles one packet that has reached the far end by `now`; the next one has its own event.
    #[inline(always)]
    fn on_link(&mut self, index: u32, now: Time) {
        let link = &mut self.links[index as usize];
        if link.armed != now {
            return; // as in `on_timer`: a nearer event has taken this one's place
        }
        if link.is_due(now) {
            link.replay(now, &mut LinkWatch::new(&mut self.probe, &mut self.hold, &mut self.signals, index));
        }
        if link.first_arrival() > now {
            return self.arm_link(index);
        }
        let (packet, row, boxed) = (link.deliver(), link.row, link.boxed);
        link.armed = link.next_event();
        if link.armed < Time::NEVER {
            self.events.push_inlined(link.armed, Class::Link, index);
        }
        if boxed {
            return self.leave(index, row, packet, now);
        }
        self.probe.note(now, index, PacketEvent::Deliver, &packet, &self.hold);
        self.forward(row, packet, now);
    }

    /// Forwards `packet` at the node with this `row` to its next link or its host.
    #[inline(always)]
    fn forward(&mut self, row: u32, packet: Packet, now: Time) {
        match self.routes.next(row, packet.to()) {
            ARRIVED => self.receive(packet, now),
            link => self.offer(link, packet, now),
        }
    }

    /// Passes `packet` through the boxes at the far end of link `index`, at the node with this `row`; its tunnel may
    /// end there.
    #[cold]
    fn leave(&mut self, index: u32, row: u32, mut packet: Packet, now: Time) {
        let mut contents = Contents { hold: &mut self.hold, hosts: &self.hosts };
        let passage = self.links[index as usize].inspect(&mut packet, now, &mut contents);
        if passage == Passage::Through {
            self.probe.note(now, index, PacketEvent::Deliver, &packet, &self.hold);
            return match self.links[index as usize].tunnel() {
                Some(tunnel) => self.leave_tunnel(index, tunnel, row, packet, now),
                None => self.forward(row, packet, now),
            };
        }
        self.probe.note(now, index, PacketEvent::BoxDrop, &packet, &self.hold);
        let dropped = *self.hold.unload(packet.cargo());
        let Cargo { body: Body::Tcp(segment), endpoint, connection, from } = dropped else { return };
        if passage == Passage::Reset {
            // On behalf of the packet's destination: the path of the RST starts elsewhere, but only this node looks it
            // up.
            let (flow, group, dscp, ip) = (packet.flow(), packet.group() as u32, packet.dscp(), packet.ip());
            let label = Label { to: from, flow, group, dscp, ip, ..Label::default() };
            let way = Way::new(0, packet.to(), connection, label);
            let reset = self.hold.load_segment(&boxes::reset_of(&segment, ip), endpoint ^ 1, &way);
            self.forward(row, reset, now);
        }
    }

    /// Handles `packet` at the node with this `row`, at the far end of link `index` of `tunnel`: its next link belongs
    /// to the tunnel too, or the tunnel ends here.
    fn leave_tunnel(&mut self, index: u32, tunnel: u32, row: u32, mut packet: Packet, now: Time) {
        let next = self.routes.next(row, packet.to());
        if next != ARRIVED && self.links[next as usize].tunnel() == Some(tunnel) {
            return self.wait(next, packet, now);
        }
        let inner = self.hold.inner(packet.cargo());
        if self.links[index as usize].decapsulate(&mut packet, inner) {
            return self.forward(row, packet, now);
        }
        self.probe.note(now, index, PacketEvent::TunnelDrop, &packet, &self.hold);
        self.hold.unload(packet.cargo());
    }

    #[inline(always)]
    fn offer(&mut self, index: u32, packet: Packet, now: Time) {
        let link = &mut self.links[index as usize];
        if !link.is_clear(now) {
            return self.enqueue(index, packet, now);
        }
        self.probe.note(now, index, PacketEvent::Arrive, &packet, &self.hold);
        self.probe.note(now, index, PacketEvent::Enqueue, &packet, &self.hold);
        self.probe.note(now, index, PacketEvent::Dequeue, &packet, &self.hold);
        link.pass(packet, now);
        let next = link.first_arrival();
        if next < link.armed {
            link.armed = next;
            self.events.push(next, Class::Link, index);
        }
    }

    /// [`Sim::offer`] to a link where the packet may wait, or which belongs to a tunnel that the packet enters.
    #[inline(never)]
    fn enqueue(&mut self, index: u32, mut packet: Packet, now: Time) {
        let link = &mut self.links[index as usize];
        if link.tunnel().is_some() {
            let inner = link.encapsulate(&mut packet);
            self.hold.set_inner(packet.cargo(), inner);
        }
        self.wait(index, packet, now);
    }

    #[inline(always)]
    fn wait(&mut self, index: u32, packet: Packet, now: Time) {
        self.probe.note(now, index, PacketEvent::Arrive, &packet, &self.hold);
        let link = &mut self.links[index as usize];
        let watch = &mut LinkWatch::new(&mut self.probe, &mut self.hold, &mut self.signals, index);
        link.enqueue(packet, now, watch);
        let next = link.next_event();
        if next < link.armed {
            link.armed = next;
            self.events.push(next, Class::Link, index);
        }
        if !self.signals.owed.is_empty() {
            self.speak_back(index, now);
        }
    }

    #[cold]
    fn arm_link(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        link.armed = link.next_event();
        if link.armed < Time::NEVER {
            self.events.push(link.armed, Class::Link, index);
        }
    }

    fn receive(&mut self, packet: Packet, now: Time) {
        let cargo = self.hold.unload(packet.cargo());
        let segment = match &mut cargo.body {
            Body::Tcp(segment) => segment,
            Body::Datagram(datagram) => return self.flows[packet.flow() as usize].receive(datagram, packet.ecn()),
            Body::Quic(_) => return self.receive_quic(packet, now),
            Body::Quench(..) => return self.receive_quench(packet, now),
        };
        let (endpoint, flags) = (cargo.endpoint, segment.flags);
        let host = self.hosts.host_mut(endpoint);
        if host.way.connection != cargo.connection {
            self.stray += 1;
            return;
        }
        segment.ecn = packet.ecn();
        host.endpoint.on_segment(segment, now, &mut self.out);
        self.after(endpoint, flags, now);
    }

    fn on_timer(&mut self, index: u32, now: Time) {
        let host = self.hosts.host_mut(index);
        if !host.alarm.take(now) {
            return;
        }
        if host.endpoint.deadline() > now {
            return self.arm_timer(index);
        }
        host.endpoint.on_deadline(now, &mut self.out);
        self.after(index, Flags::empty(), now);
    }

    /// Handles all effects of a call of an endpoint: segments to send, a new deadline, bytes for the application, the
    /// end of the connection.
    #[inline(always)]
    fn after(&mut self, index: u32, flags: Flags, now: Time) {
        let host = self.hosts.host_mut(index);
        let open = host.endpoint.state() == State::Established;
        let plain = open && !flags.intersects(Flags::SYN.union(Flags::FIN).union(Flags::RST));
        let arrived = host.endpoint.received() >= host.expects;
        let deadline = host.endpoint.deadline();
        if host.alarm.set(deadline) {
            self.events.push(deadline, Class::Timer, index);
        }
        self.send_inlined(index, now);
        if arrived || !plain {
            self.on_milestone(index, arrived, !plain, now);
        }
    }

    /// Sends the remaining segments of the endpoint at `index`.
    #[inline(never)]
    pub(crate) fn send(&mut self, index: u32, now: Time) {
        self.send_inlined(index, now);
    }

    /// [`Sim::send`] for the most frequent caller.
    #[inline(always)]
    fn send_inlined(&mut self, index: u32, now: Time) {
        for i in 0..self.out.len() {
            let way = &self.hosts.host(index).way;
            let packet = self.hold.load_segment(&self.out[i], index ^ 1, way);
            self.offer(way.first_link, packet, now);
        }
        self.out.clear();
    }

    pub(crate) fn arm_timer(&mut self, index: u32) {
        let host = self.hosts.host_mut(index);
        let deadline = host.endpoint.deadline();
        if host.alarm.set(deadline) {
            self.events.push(deadline, Class::Timer, index);
        }
    }

    fn on_warmup(&mut self, now: Time) {
        self.observe(now);
        self.warm = Some(Snapshot::take(now, &mut self.links, &self.flows, &self.hosts));
    }

    /// Returns the counters up to `now`. Queue statistics are reset.
    pub fn period(&mut self, now: Time) -> Period {
        self.observe(now);
        Period::until(now, &mut self.links, &self.flows, &self.hosts)
    }

    /// Drops the state that only events need.
    pub fn free_network(&mut self) {
        self.links = Vec::new();
        self.hold = Hold::default();
        self.hosts = Hosts::default();
        self.events = EventQueue::default();
    }

    fn on_sample(&mut self, now: Time) {
        self.observe(now);
        self.series.sample(now, &mut self.links, &self.flows, &self.hosts, &self.signals);
        self.hand_on();
        if let Some(interval) = self.sample {
            self.events.push(now + interval, Class::Sample, 0);
        }
    }

    /// Advances every link and its statistics to `now`.
    fn observe(&mut self, now: Time) {
        for (i, link) in self.links.iter_mut().enumerate() {
            link.observe(now, &mut LinkWatch::new(&mut self.probe, &mut self.hold, &mut self.signals, i as u32));
        }
    }
}

/// Access of middleboxes to the packets in flight.
struct Contents<'a> {
    hold: &'a mut Hold,
    hosts: &'a Hosts,
}

impl Inspect for Contents<'_> {
    fn inside(&self, packet: &Packet) -> Inside {
        match &self.hold.cargo(packet.cargo()).body {
            Body::Tcp(segment) => Inside::Tcp(segment.flags),
            Body::Datagram(_) | Body::Quic(_) => Inside::Udp,
            Body::Quench(..) => Inside::Icmp,
        }
    }
    fn set_flags(&mut self, packet: &Packet, flags: Flags) {
        if let Some(segment) = self.hold.segment_mut(packet.cargo()) {
            segment.flags = flags;
        }
    }
    fn connection(&self, packet: &Packet) -> u32 {
        self.hosts.number(self.hold.cargo(packet.cargo()).connection)
    }
}

//! Probing of a simulated server at the other end of a plan's links, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use ecnlab_aqm::Item;
use ecnlab_base::{Rng, Time};
use ecnlab_engine::{ARRIVED, Inside, Inspect, Label, Link, Packet, Passage, Paths, Plan, Routes, reset_of};
use ecnlab_tcp::{Config, Endpoint, Out, State};
use ecnlab_wire::{Flags, Segment, Seq};

use crate::answers::Answers;
use crate::session::{CONNECTIONS, Outgoing, REQUEST, Session};

/// Bytes of the response: more than any window that is tested.
const RESPONSE: u64 = 200_000;

/// Reason why a flow's server cannot be probed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The flow has no TCP.
    #[error("flow `{0}` has no TCP: there is no server to ask")]
    NoTcp(String),
    /// Two nodes are not connected.
    #[error("flow `{flow}`: there is no path from `{from}` to `{to}`")]
    NoRoute {
        /// The flow.
        flow: String,
        /// Source node.
        from: String,
        /// Destination node.
        to: String,
    },
}

/// Probes the server of the flow with index `flow`, its `from` end, from its `to` end, over the links of `plan` without
/// other traffic. `seed` determines all random streams.
///
/// # Errors
/// [`Failure`].
pub fn probe(plan: &Plan, flow: usize, seed: u64) -> Result<Answers, Failure> {
    if !plan.flows[flow].traffic.uses_tcp() {
        return Err(Failure::NoTcp(plan.flows[flow].name.clone()));
    }
    Path::new(plan, flow, seed)?.ask()
}

/// The links, the packets on them, and the hosts at the ends.
struct Path<'a> {
    plan: &'a Plan,
    flow: usize,
    config: Arc<Config>,
    /// The nodes of prober and server.
    nodes: [u32; 2],
    links: Vec<Link>,
    routes: Routes,
    /// All packets ever sent: a probe has a few hundred.
    cargo: Vec<Sent>,
    events: BinaryHeap<Reverse<(Time, u32)>>,
    servers: Vec<Server>,
    iss: Rng,
}

/// A packet's segment, and the number of its connection.
#[derive(Clone, Copy)]
struct Sent {
    segment: Segment,
    connection: u32,
}

/// The server's end of a connection.
struct Server {
    endpoint: Endpoint,
    answered: bool,
}

impl<'a> Path<'a> {
    fn new(plan: &'a Plan, flow: usize, seed: u64) -> Result<Path<'a>, Failure> {
        let planned = &plan.flows[flow];
        let [server, prober] = [&planned.from, &planned.to].map(|nodes| nodes.first().copied().unwrap_or_default());
        let mut paths = Paths::of(plan);
        let between = |from: usize, to: usize| {
            let [named_from, named_to] = [from, to].map(|node| plan.nodes[node].clone());
            Failure::NoRoute { flow: planned.name.clone(), from: named_from, to: named_to }
        };
        let mut crossed = Vec::new();
        for (from, to) in [(prober, server), (server, prober)] {
            // The routes include the end nodes: a host uses them to send.
            let first = paths.know(from, to).then(|| paths.first(from, to)).flatten();
            crossed.extend(paths.path(first.ok_or_else(|| between(from, to))?, to));
        }
        for link in crossed {
            // A box replies from the node at the far end of its link.
            for end in [prober, server] {
                let node = plan.links[link as usize].to;
                if !paths.know(node, end) {
                    return Err(between(node, end));
                }
            }
        }
        let routes = paths.routes();
        let mut links = Link::all(plan, seed);
        for (link, planned) in links.iter_mut().zip(&plan.links) {
            link.set_rows(routes.row(planned.to), routes.row(planned.from));
        }
        Ok(Path {
            plan,
            flow,
            config: Arc::clone(&planned.tcp_from),
            nodes: [prober as u32, server as u32],
            links,
            routes,
            cargo: Vec::new(),
            events: BinaryHeap::new(),
            servers: Vec::new(),
            iss: Rng::named(seed, &format!("probe.{}", planned.name)),
        })
    }

    /// Runs until the session has ended.
    fn ask(mut self) -> Result<Answers, Failure> {
        for _ in 0..CONNECTIONS {
            let iss = Seq(self.iss.u64() as u32);
            self.servers.push(Server {
                endpoint: Endpoint::listen(&self.config, self.plan.flows[self.flow].ip, iss),
                answered: false,
            });
        }
        let (mut outgoing, iss) = (Vec::new(), Seq(self.iss.u64() as u32));
        let mut session = Session::start(REQUEST, iss, Time::ZERO, &mut outgoing);
        let mut now = Time::ZERO;
        loop {
            for Outgoing { connection, segment, .. } in std::mem::take(&mut outgoing) {
                self.send(0, connection, segment, now);
            }
            if let Some(answers) = session.answers() {
                return Ok(answers);
            }
            let event = self.events.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
            let timer = self.servers.iter().map(|server| server.endpoint.deadline()).min().unwrap_or(Time::NEVER);
            now = event.min(timer).min(session.deadline());
            if event == now {
                if let Some((connection, segment)) = self.on_link(now) {
                    session.on_segment(connection, &segment, now, &mut outgoing);
                }
            } else if timer == now {
                self.on_timer(now);
            } else {
                session.on_deadline(now, &mut outgoing);
            }
        }
    }

    /// Sends a segment from the prober (0) or the server (1).
    fn send(&mut self, end: usize, connection: u32, segment: Segment, now: Time) {
        let packet = self.load(end, connection, segment);
        self.forward(self.routes.row(self.nodes[end] as usize), packet, now);
    }

    fn load(&mut self, end: usize, connection: u32, segment: Segment) -> Packet {
        let ip = self.plan.flows[self.flow].ip;
        // The prober computes lengths over IPv4, the server over the IP version of its endpoint.
        let wire_len = if end == 0 { segment.len_over(ip) } else { segment.wire_len };
        self.cargo.push(Sent { segment, connection });
        Packet::from(Label {
            wire_len,
            from: self.nodes[end],
            to: self.nodes[1 - end],
            cargo: self.cargo.len() as u32 - 1,
            flow: self.flow as u32,
            group: self.plan.flows[self.flow].group as u32,
            ecn: segment.ecn,
            has_data: segment.len > 0,
            dscp: self.plan.flows[self.flow].dscp,
            ip,
            connection,
        })
    }

    /// Forwards a packet to the next link; returns a segment that has arrived at the prober.
    fn forward(&mut self, row: u32, mut packet: Packet, now: Time) -> Option<(u32, Segment)> {
        let index = self.routes.next(row, packet.to());
        if index == ARRIVED {
            return self.arrive(packet, now);
        }
        let link = &mut self.links[index as usize];
        if link.tunnel().is_some() {
            self.cargo[packet.cargo() as usize].segment.ecn = link.encapsulate(&mut packet);
        }
        self.offer(index, packet, now);
        None
    }

    fn offer(&mut self, index: u32, packet: Packet, now: Time) {
        let link = &mut self.links[index as usize];
        if link.is_clear(now) {
            link.pass(packet, now);
        } else {
            // Source quenches are not observed: the prober ignores them and sends too little to cause one.
            link.enqueue(packet, now, &mut ());
        }
        self.arm(index);
    }

    fn arm(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        let next = link.next_event();
        if next < link.armed {
            link.armed = next;
            self.events.push(Reverse((next, index)));
        }
    }

    /// Processes the next due event of a link.
    fn on_link(&mut self, now: Time) -> Option<(u32, Segment)> {
        let Reverse((at, index)) = self.events.pop()?;
        let link = &mut self.links[index as usize];
        if link.armed != at {
            return None;
        }
        link.armed = Time::NEVER;
        link.replay(now, &mut ());
        let arrived = (link.first_arrival() <= now).then(|| (link.deliver(), link.row));
        let boxed = link.boxed;
        self.arm(index);
        let (mut packet, row) = arrived?;
        if boxed {
            let passage = self.links[index as usize].inspect(&mut packet, now, &mut Contents(&mut self.cargo));
            if passage != Passage::Through {
                return self.turn_away(packet, passage, row, now);
            }
        }
        match self.links[index as usize].tunnel() {
            Some(tunnel) => self.leave_tunnel(index, tunnel, row, packet, now),
            None => self.forward(row, packet, now),
        }
    }

    /// Handles a packet on link `index` of `tunnel`: its next link belongs to the tunnel too, or the tunnel ends here.
    fn leave_tunnel(
        &mut self,
        index: u32,
        tunnel: u32,
        row: u32,
        mut packet: Packet,
        now: Time,
    ) -> Option<(u32, Segment)> {
        let next = self.routes.next(row, packet.to());
        if next != ARRIVED && self.links[next as usize].tunnel() == Some(tunnel) {
            self.offer(next, packet, now);
            return None;
        }
        let inner = self.cargo[packet.cargo() as usize].segment.ecn;
        let goes_on = self.links[index as usize].decapsulate(&mut packet, inner);
        goes_on.then(|| self.forward(row, packet, now)).flatten()
    }

    fn turn_away(&mut self, packet: Packet, passage: Passage, row: u32, now: Time) -> Option<(u32, Segment)> {
        let Sent { segment, connection } = self.cargo[packet.cargo() as usize];
        if passage != Passage::Reset {
            return None;
        }
        let receiver = usize::from(packet.to() != self.nodes[0]);
        let reset = self.load(receiver, connection, reset_of(&segment, self.plan.flows[self.flow].ip));
        self.forward(row, reset, now)
    }

    /// Processes a packet for the server; returns a segment for the prober.
    fn arrive(&mut self, packet: Packet, now: Time) -> Option<(u32, Segment)> {
        let Sent { mut segment, connection } = self.cargo[packet.cargo() as usize];
        segment.ecn = packet.ecn();
        if packet.to() == self.nodes[0] {
            return Some((connection, segment));
        }
        let (mut out, server) = (Out::new(), &mut self.servers[connection as usize]);
        server.endpoint.on_segment(&segment, now, &mut out);
        if server.endpoint.state() == State::Closed && !server.answered {
            // RFC 9293 §3.10.7.4: a passive open that is reset before it is established returns to LISTEN.
            server.endpoint = Endpoint::listen(&self.config, self.plan.flows[self.flow].ip, Seq(self.iss.u64() as u32));
        }
        if !server.answered && server.endpoint.received() >= u64::from(REQUEST) {
            server.answered = true;
            server.endpoint.write(RESPONSE, now, &mut out);
        }
        out.into_iter().for_each(|segment| self.send(1, connection, segment, now));
        None
    }

    fn on_timer(&mut self, now: Time) {
        for connection in 0..self.servers.len() {
            let (mut out, endpoint) = (Out::new(), &mut self.servers[connection].endpoint);
            if endpoint.deadline() <= now {
                endpoint.on_deadline(now, &mut out);
            }
            out.into_iter().for_each(|segment| self.send(1, connection as u32, segment, now));
        }
    }
}

/// Access of middleboxes to the packets.
struct Contents<'a>(&'a mut Vec<Sent>);

impl Inspect for Contents<'_> {
    fn inside(&self, packet: &Packet) -> Inside {
        Inside::Tcp(self.0[packet.cargo() as usize].segment.flags)
    }
    fn set_flags(&mut self, packet: &Packet, flags: Flags) {
        self.0[packet.cargo() as usize].segment.flags = flags;
    }
    fn connection(&self, packet: &Packet) -> u32 {
        self.0[packet.cargo() as usize].connection
    }
}

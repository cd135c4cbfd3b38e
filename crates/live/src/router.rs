//! A router in user space: the links of a scenario, with the simulator's queues, between TUN devices of real hosts.
//!
//! Everything between a packet's arrival from its host and its delivery to the other host is computed at its exact
//! time, as in the simulator, even if this process runs late. Only two times depend on the wall clock: when a packet is
//! read from its host's device, and when it is written to the other's. Both errors are measured.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ecnlab_aqm::{Item, Owed, Watch};
use ecnlab_base::{Dur, Time};
use ecnlab_engine::capture::{Capture, Settings};
use ecnlab_engine::{
    ARRIVED, BoxPlan, Label, Ledger, Link, Packet, Passage, Paths, Plan, Routes, Table, WatchWire, reset_of,
};
use ecnlab_wire::{Dscp, Ecn, IpVersion, Ipv4Header, TcpHeader, packets, protocol};
use nix::poll::{PollFd, PollFlags, ppoll};

use crate::capture::{Out, Taps};
use crate::clock::{Clock, timeout};
use crate::hold::{Connections, Contents, Hold, Watcher};
use crate::packet;
use crate::timing::{self, Errors, Ticker};
use crate::tun::{MTU, Tun};

/// Reason why a router stopped.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An I/O error of a device, the poll, or the measuring pipe.
    #[error("the router: {0}")]
    Io(#[from] io::Error),
    /// The packet counts of the links do not balance.
    #[error(transparent)]
    Engine(#[from] ecnlab_engine::Error),
    /// A link belongs to a tunnel, which the router does not support.
    #[error("the router: link `{0}` is part of a tunnel, which it does not have: run the scenario in the simulator")]
    Tunnel(String),
    /// A host is attached to a node that the plan does not have.
    #[error("the router: there is no node {0}")]
    NoNode(usize),
}

/// Sleeps in real time end this much early, and the thread spins for the rest: about the wake-up latency of a kernel.
const AWAKE: Dur = Dur::from_us(60);
/// Maximum spinning time before the thread rests: at SCHED_FIFO priority it would otherwise be stopped for 50 ms of
/// every second (sched(7), sched_rt_runtime_us).
const STINT: Dur = Dur::from_ms(1);
const REST: Duration = Duration::from_micros(60);
/// Maximum sleep before the stop flag is checked.
const LOOK: Dur = Dur::from_ms(10);

/// The links of a plan between the devices of its hosts.
pub struct Router {
    plan: Plan,
    links: Vec<Link>,
    routes: Routes,
    hosts: Vec<Host>,
    by_address: HashMap<Ipv4Addr, usize>,
    /// A flow's listener has this port plus the flow's index.
    first_port: u16,
    cargo: Hold,
    /// Only needed for middleboxes.
    connections: Option<Connections>,
    events: BinaryHeap<Reverse<(Time, Class, u32)>>,
    /// Source quenches that are sent later, by the index of their cargo, each with the row of its router.
    later: BTreeMap<u32, (u32, Packet)>,
    delivery: Errors,
    reading: Errors,
    /// Time by which sleeps end early.
    awake: Dur,
    /// Time at which the thread last slept.
    rested: Time,
    taps: Option<Taps<Out>>,
}

struct Host {
    tun: Tun,
    node: usize,
}

/// Order of events at the same time, as in the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Link,
    Quench,
    Warmup,
    Sample,
}

impl Router {
    /// Creates the idle links of `plan`. `seed` determines all random streams, as in the simulator. The listeners of
    /// flows have consecutive ports from `first_port` on.
    ///
    /// # Errors
    /// If the ends of a flow are not connected, or a link belongs to a tunnel.
    pub fn new(plan: Plan, seed: u64, first_port: u16) -> Result<Router, Failure> {
        if let Some(link) = plan.links.iter().find(|link| link.tunnel.is_some()) {
            return Err(Failure::Tunnel(link.name.clone()));
        }
        let mut paths = Paths::of(&plan);
        for flow in &plan.flows {
            for (&from, &to) in flow.from.iter().zip(&flow.to).flat_map(|(from, to)| [(from, to), (to, from)]) {
                if !paths.know(from, to) {
                    let [from, to] = [from, to].map(|node| plan.nodes[node].clone());
                    return Err(ecnlab_engine::Error::NoRoute { flow: flow.name.clone(), from, to }.into());
                }
            }
        }
        // A box that sends RSTs on behalf of a host needs routes to all hosts whose packets can pass it.
        for link in plan.links.iter().filter(|link| link.boxes.iter().any(BoxPlan::resets)) {
            for &end in plan.flows.iter().flat_map(|flow| flow.from.iter().chain(&flow.to)) {
                let _no_packet_comes_from_there = !paths.know(link.to, end);
            }
        }
        let has_boxes = plan.links.iter().any(|link| !link.boxes.is_empty());
        let mut links = Link::all(&plan, seed);
        let routes = paths.routes();
        for (link, l) in links.iter_mut().zip(&plan.links) {
            link.set_rows(routes.row(l.to), routes.row(l.from));
        }
        let mut events = BinaryHeap::from([Reverse((Time::ZERO + plan.warmup, Class::Warmup, 0))]);
        events.extend(plan.sample.map(|_| Reverse((Time::ZERO, Class::Sample, 0))));
        Ok(Router {
            plan,
            links,
            routes,
            hosts: Vec::new(),
            by_address: HashMap::new(),
            first_port,
            cargo: Hold::default(),
            connections: has_boxes.then(Connections::default),
            events,
            later: BTreeMap::new(),
            delivery: Errors::default(),
            reading: Errors::default(),
            awake: AWAKE,
            rested: Time::ZERO,
            taps: None,
        })
    }

    /// Disables spinning: for a clock that stands still while any process runs, as in the virtual-time kernel.
    pub fn sleepy(self) -> Router {
        Router { awake: Dur::ZERO, ..self }
    }

    /// Writes the packets of `captures` to files.
    ///
    /// # Errors
    /// Errors of the files.
    pub fn capture(&mut self, captures: Vec<(Capture, Settings, Out)>) -> Result<(), Failure> {
        self.taps = Some(Taps::new(captures, self.links.len())?);
        Ok(())
    }

    /// Attaches the host at `address` behind `tun` to `node`.
    ///
    /// # Errors
    /// If the node does not exist.
    pub fn attach(&mut self, tun: Tun, node: usize, address: Ipv4Addr) -> Result<(), Failure> {
        if node >= self.plan.nodes.len() {
            return Err(Failure::NoNode(node));
        }
        self.by_address.insert(address, self.hosts.len());
        self.hosts.push(Host { tun, node });
        Ok(())
    }

    /// Forwards packets until the plan's duration has passed on `clock`. Returns the tables of links and queues, and
    /// `timing`.
    ///
    /// # Errors
    /// [`Failure`]; [`ecnlab_engine::Error::Cancelled`] soon after `stop` became true.
    pub fn run(mut self, clock: Clock, stop: &AtomicBool) -> Result<Vec<Table>, Failure> {
        // By default a sleep may be 50 us longer than requested (prctl(2), PR_SET_TIMERSLACK).
        nix::sys::prctl::set_timerslack(1).map_err(io::Error::from)?;
        let mut ledger = Ledger::new(&self.plan, &mut self.links);
        let mut ticker = Ticker::start(clock)?;
        let end = Time::ZERO + self.plan.duration;
        while clock.now() < end {
            if stop.load(Ordering::Relaxed) {
                return Err(ecnlab_engine::Error::Cancelled.into());
            }
            let now = clock.now().min(end);
            self.advance(now, clock, &mut ledger)?;
            if self.taps.as_ref().is_some_and(Taps::is_full) {
                self.replay(now);
                self.taps.as_mut().map_or(Ok(()), |taps| taps.flush(false))?;
            }
            for ready in self.wait(clock, &ticker)? {
                match ready {
                    Ready::Host(host) => self.read(host, clock, &mut ledger)?,
                    Ready::Tick => {
                        let tick = ticker.take()?;
                        self.reading.note(tick, clock.now());
                    }
                }
            }
        }
        self.advance(end, clock, &mut ledger)?;
        self.replay(end);
        if let Some(taps) = self.taps.take() {
            taps.finish()?;
        }
        let mut tables = ledger.close(&self.plan, end, &mut self.links)?;
        self.check_cargo()?;
        tables.push(timing::table(&[("delivery", &self.delivery), ("reading", &self.reading)]));
        Ok(tables)
    }

    /// Waits for packets or the next event: sleeps until shortly before it, then spins.
    fn wait(&mut self, clock: Clock, ticker: &Ticker) -> io::Result<Vec<Ready>> {
        if !self.awake.is_zero() && clock.now().since(self.rested) > STINT {
            std::thread::sleep(REST);
            self.rested = clock.now();
        }
        let now = clock.now();
        let next = self.events.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at);
        let left = next.since(now).saturating_sub(self.awake).min(LOOK);
        let fds = self.hosts.iter().map(|host| host.tun.as_fd()).chain([ticker.as_fd()]);
        let mut fds: Vec<PollFd<'_>> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match ppoll(&mut fds, Some(timeout(now, now.saturating_add(left))), None) {
            Ok(0) if !left.is_zero() => {
                self.rested = clock.now();
                return Ok(Vec::new());
            }
            Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        let ready = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
        let hosts = fds.iter().enumerate().filter(|(_, fd)| ready(fd)).map(|(i, _)| i);
        Ok(hosts.map(|i| if i < self.hosts.len() { Ready::Host(i) } else { Ready::Tick }).collect())
    }

    /// Reads all packets that the host has sent.
    fn read(&mut self, host: usize, clock: Clock, ledger: &mut Ledger) -> Result<(), Failure> {
        let mut buffer = [0; MTU];
        loop {
            let Host { tun, node } = &self.hosts[host];
            let (node, Some(bytes)) = (*node, tun.receive(&mut buffer)?) else { return Ok(()) };
            let now = clock.now();
            let Some(label) = self.label(bytes) else { continue };
            let cargo = self.cargo.load(bytes);
            if let Some(connections) = &mut self.connections {
                connections.see(label.flow, bytes);
            }
            self.advance(now, clock, ledger)?;
            let packet = Packet::from(Label { from: node as u32, cargo, ..label });
            self.forward(self.routes.row(node), packet, now, clock)?;
        }
    }

    /// Returns the fields that links use, without source and cargo; `None` if the packet is not TCP for a host of the
    /// plan.
    fn label(&self, bytes: &[u8]) -> Option<Label> {
        let (ip, behind) = Ipv4Header::parse(bytes).ok()?;
        let host = *self.by_address.get(&ip.destination)?;
        if ip.protocol != protocol::TCP || usize::from(ip.total_len) != bytes.len() {
            return None;
        }
        let (tcp, data) = TcpHeader::parse(behind).ok()?;
        let flow = [tcp.destination, tcp.source]
            .into_iter()
            .filter_map(|port| port.checked_sub(self.first_port).map(usize::from))
            .find(|&flow| flow < self.plan.flows.len())?;
        Some(Label {
            wire_len: bytes.len() as u32,
            from: 0,
            to: self.hosts[host].node as u32,
            cargo: 0,
            flow: flow as u32,
            group: self.plan.flows[flow].group as u32,
            ecn: ip.ecn,
            dscp: Dscp::from_bits(ip.dscp),
            ip: IpVersion::V4,
            has_data: !data.is_empty(),
            // The listener's port is that of the flow; the other port distinguishes its connections.
            connection: u32::from(tcp.source ^ tcp.destination),
        })
    }

    /// Processes all events up to `now`, in order.
    fn advance(&mut self, now: Time, clock: Clock, ledger: &mut Ledger) -> Result<(), Failure> {
        while let Some(&Reverse((at, class, index))) = self.events.peek() {
            if at > now {
                break;
            }
            self.events.pop();
            match class {
                Class::Link => self.on_link(index, at, clock)?,
                Class::Quench => {
                    if let Some((row, quench)) = self.later.remove(&index) {
                        self.forward(row, quench, at, clock)?;
                    }
                }
                Class::Warmup => {
                    self.replay(at);
                    ledger.end_warmup(at, &mut self.links);
                }
                Class::Sample => {
                    self.replay(at);
                    ledger.sample(at, &mut self.links);
                    let next = self.plan.sample.map(|every| Reverse((at + every, Class::Sample, 0)));
                    self.events.extend(next);
                }
            }
        }
        Ok(())
    }

    /// Advances every link to `at` and frees the slots of dropped packets.
    fn replay(&mut self, at: Time) {
        for (index, link) in self.links.iter_mut().enumerate() {
            link.replay(at, &mut Watcher::new(&mut self.cargo, self.taps.as_mut(), index as u32));
        }
    }

    /// Handles a link with a packet at its far end or a departure due.
    fn on_link(&mut self, index: u32, at: Time, clock: Clock) -> Result<(), Failure> {
        let link = &mut self.links[index as usize];
        if link.armed != at {
            return Ok(()); // a nearer event has taken this one's place
        }
        link.replay(at, &mut Watcher::new(&mut self.cargo, self.taps.as_mut(), index));
        let arrived = (link.first_arrival() <= at).then(|| (link.deliver(), link.row));
        let boxed = link.boxed;
        link.armed = link.next_event();
        if link.armed < Time::NEVER {
            self.events.push(Reverse((link.armed, Class::Link, index)));
        }
        let Some((mut packet, row)) = arrived else { return Ok(()) };
        if packet.ecn() == Ecn::Ce {
            packet::mark(self.cargo.bytes_mut(packet.cargo()));
        }
        if boxed {
            let mut contents = Contents { hold: &mut self.cargo, connections: self.connections.as_ref() };
            let passage = self.links[index as usize].inspect(&mut packet, at, &mut contents);
            packet::set_ecn(self.cargo.bytes_mut(packet.cargo()), packet.ecn());
            if passage != Passage::Through {
                return self.turn_away(packet, passage, row, at, clock);
            }
        }
        if let Some(taps) = &mut self.taps {
            taps.delivers(index, self.cargo.bytes(packet.cargo()), at);
        }
        self.forward(row, packet, at, clock)
    }

    /// Handles `packet` dropped by a box in front of the node with this `row`, which may send its sender an RST.
    fn turn_away(&mut self, packet: Packet, passage: Passage, row: u32, at: Time, clock: Clock) -> Result<(), Failure> {
        self.cargo.unload(packet.cargo());
        let mut reset = Vec::new();
        if passage == Passage::Reset
            && let Ok(arrived) = packet::parse(self.cargo.bytes(packet.cargo()))
        {
            packet::emit(
                arrived.destination,
                arrived.source,
                &reset_of(&arrived.segment, IpVersion::V4),
                &[],
                &mut reset,
            );
        }
        let Some(host) = self.host_of(&reset) else { return Ok(()) };
        let label = Label {
            wire_len: reset.len() as u32,
            from: packet.to(),
            to: self.hosts[host].node as u32,
            cargo: self.cargo.load(&reset),
            flow: packet.flow(),
            group: packet.group() as u32,
            ecn: Ecn::NotEct,
            has_data: false,
            dscp: Dscp::default(),
            ip: IpVersion::V4,
            connection: 0,
        };
        self.forward(row, Packet::from(label), at, clock)
    }

    /// Forwards `packet` at the node with this `row` at `at` to its next link or its host.
    fn forward(&mut self, row: u32, packet: Packet, at: Time, clock: Clock) -> Result<(), Failure> {
        let index = self.routes.next(row, packet.to());
        if index == ARRIVED {
            return self.hand_over(packet, at, clock);
        }
        let link = &mut self.links[index as usize];
        if let Some(taps) = &mut self.taps {
            taps.arrives(index, packet.cargo(), self.cargo.bytes(packet.cargo()), at);
        }
        let mut watcher = Watcher::new(&mut self.cargo, self.taps.as_mut(), index);
        if link.is_clear(at) {
            watcher.at(at);
            watcher.dequeued(&packet);
            link.pass(packet, at);
        } else {
            link.enqueue(packet, at, &mut watcher);
        }
        let owed = watcher.owed;
        let next = link.next_event();
        if next < link.armed {
            link.armed = next;
            self.events.push(Reverse((next, Class::Link, index)));
        }
        if owed.is_empty() { Ok(()) } else { self.speak_back(index, &owed, at, clock) }
    }

    /// Sends the source quenches owed by the router in front of link `index`: each is routed to the sender, and queued,
    /// delayed and lost like any other packet. One that the router delays is held until then.
    fn speak_back(&mut self, index: u32, owed: &[Owed<Packet>], at: Time, clock: Clock) -> Result<(), Failure> {
        let link = &self.links[index as usize];
        let (node, row) = (link.from(), link.row_behind());
        let router = node_address(node);
        // All are written before one is sent, because it may reuse the slot of a dropped packet's bytes.
        let mut returned = Vec::new();
        for &Owed { packet, cause, delay, .. } in owed {
            let mut message = Vec::new();
            if packets::emit_quench(router, cause, self.cargo.bytes(packet.cargo()), &mut message) {
                returned.push((packet, delay, message));
            }
        }
        for (about, delay, message) in returned {
            let Some(host) = self.host_of(&message) else { continue };
            let label = Label {
                wire_len: message.len() as u32,
                from: node,
                to: self.hosts[host].node as u32,
                cargo: self.cargo.load(&message),
                flow: about.flow(),
                group: about.group() as u32,
                ecn: Ecn::NotEct,
                has_data: false,
                dscp: about.dscp(),
                ip: IpVersion::V4,
                connection: 0,
            };
            if delay.is_zero() {
                self.forward(row, Packet::from(label), at, clock)?;
            } else {
                self.later.insert(label.cargo, (row, Packet::from(label)));
                self.events.push(Reverse((at.saturating_add(delay), Class::Quench, label.cargo)));
            }
        }
        Ok(())
    }

    /// Returns the host to which a packet is addressed.
    fn host_of(&self, bytes: &[u8]) -> Option<usize> {
        self.by_address.get(&Ipv4Header::parse(bytes).ok()?.0.destination).copied()
    }

    /// Delivers a packet, due at `due`, to its host.
    fn hand_over(&mut self, packet: Packet, due: Time, clock: Clock) -> Result<(), Failure> {
        self.cargo.unload(packet.cargo());
        let Some(host) = self.host_of(self.cargo.bytes(packet.cargo())) else { return Ok(()) };
        self.delivery.note(due, clock.now());
        Ok(self.hosts[host].tun.send(self.cargo.bytes(packet.cargo()))?)
    }

    /// Checks that the number of stored packets equals the number held by links and routers.
    fn check_cargo(&self) -> Result<(), Failure> {
        let on_links: u64 = self.links.iter().map(|link| link.queue().packets() as u64 + link.on_wire()).sum();
        let held = on_links + self.later.len() as u64;
        let loaded = self.cargo.len() as u64;
        if held == loaded {
            return Ok(());
        }
        let why = format!("{loaded} packets are in flight, links and routers hold {held}");
        Err(ecnlab_engine::Error::Conservation(why).into())
    }
}

/// Address of a node itself, the source of its own packets: as in the engine's plans (python/ecnlab/linux/topology.py).
fn node_address(node: u32) -> Ipv4Addr {
    let [_, _, high, low] = node.to_be_bytes();
    Ipv4Addr::new(10, high, low, 1)
}

/// Event found by [`Router::wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    /// A host has sent packets.
    Host(usize),
    /// The ticker has ticked.
    Tick,
}

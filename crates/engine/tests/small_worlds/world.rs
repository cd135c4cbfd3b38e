//! One world: a transfer between two endpoints over two links of the engine, with an event at chosen packets.

use std::sync::Arc;

use ecnlab_base::{Dur, Time};
use ecnlab_engine::{Label, Link, LinkPlan, Packet};
use ecnlab_tcp::registry::laws;
use ecnlab_tcp::{Config, Endpoint, Out};
use ecnlab_wire::{Ecn, IpVersion, QUENCH_LEN, Quench, QuenchCause, Segment, Seq};

use super::common::{droptail, duplex};

/// Packets of each direction that may have an event.
pub const PLACES: usize = 12;
/// Rate and one-way delay of the path.
pub const RATE: &str = "10 Mbps";
pub const DELAY: &str = "10 ms";
/// Delay of a late packet in addition to the link's: five packets of full size overtake it.
pub const LATENESS: Dur = Dur::from_ms(6);
/// Time from a marked packet's departure to the arrival of its source quench: half the path there and back.
const QUENCH_DELAY: Dur = Dur::from_ms(10);
/// First sequence numbers, those of `ecnlab script`: the data cross the wrap.
pub const ISS: [Seq; 2] = [Seq(u32::MAX - 4_000), Seq(i32::MAX as u32 - 2_000)];
/// Steps after which a world has no end.
const STEPS: usize = 10_000;

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Lost on the wire.
    Lost,
    /// CE, if it is ECN-capable; with BECN a router in the middle of the path also sends a source quench.
    Marked,
    /// [`LATENESS`] late.
    Late,
}

/// The events of a world: (n, fate) of the n-th packet from 0, in order. Retransmissions are counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    /// Of the data packets of the client.
    pub data: Vec<(usize, Fate)>,
    /// Of the packets of the server after its SYN-ACK: ACKs, and a FIN.
    pub acks: Vec<(usize, Fate)>,
}

/// Side of the connection: the client sends the data.
pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

/// One call of an endpoint.
#[derive(Debug)]
pub struct Step<'a> {
    pub now: Time,
    pub side: usize,
    /// The segment that has arrived; without one, a source quench, a timer or the application.
    pub arrived: Option<&'a Segment>,
    pub quench: Option<&'a Quench>,
    /// Segments sent.
    pub sent: &'a [Segment],
    /// Data packets of the client that are on the wire and not lost, the sent ones among them.
    pub under_way: usize,
}

/// Observer of a world's steps.
pub trait Observe {
    /// Called after each step, in order of time.
    fn see(&mut self, step: &Step<'_>, ends: &[Endpoint; 2]);
}

/// One direction of the path.
struct Way {
    link: Link,
    /// What was sent, by the cargo number of its packet, with its fate.
    sent: Vec<(Segment, Option<Fate>)>,
    /// Packets that may have an event sent so far.
    counted: usize,
    /// Late packets by arrival time.
    held: Vec<(Time, u32)>,
    fates: Vec<(usize, Fate)>,
    side: usize,
}

impl Way {
    fn new(plan: &LinkPlan, side: usize, fates: &[(usize, Fate)]) -> Way {
        let link = Link::new(plan, &[String::new()], 1);
        Way { link, sent: Vec::new(), counted: 0, held: Vec::new(), fates: fates.to_vec(), side }
    }

    fn send(&mut self, segment: Segment, now: Time) {
        let (cargo, has_data) = (self.sent.len() as u32, segment.len > 0);
        let counts = if self.side == CLIENT { has_data } else { cargo > 0 };
        let fate = self.fates.iter().find(|(n, _)| counts && *n == self.counted).map(|&(_, fate)| fate);
        self.counted += usize::from(counts);
        self.sent.push((segment, fate));
        let label = Label { wire_len: segment.wire_len, to: 1, cargo, ecn: segment.ecn, has_data, ..Label::default() };
        let packet = Packet::from(label);
        if self.link.is_clear(now) {
            self.link.pass(packet, now);
        } else {
            self.link.enqueue(packet, now, &mut ());
        }
    }

    /// Time of the next event.
    fn next(&self) -> Time {
        let held = self.held.iter().map(|held| held.0).min();
        self.link.next_event().min(held.unwrap_or(Time::NEVER))
    }

    /// Handles the event at `now`; returns the segment that arrives, if one does.
    fn arrive(&mut self, now: Time) -> Option<Segment> {
        if let Some(place) = self.held.iter().position(|held| held.0 == now) {
            return Some(self.sent[self.held.remove(place).1 as usize].0);
        }
        self.link.replay(now, &mut ());
        if self.link.first_arrival() > now {
            return None;
        }
        let packet = self.link.deliver();
        let (segment, fate) = &mut self.sent[packet.cargo() as usize];
        segment.ecn = ecnlab_aqm::Item::ecn(&packet);
        if *fate == Some(Fate::Late) {
            self.held.push((now + LATENESS, packet.cargo()));
            return None;
        }
        Some(*segment)
    }
}

/// The path and its endpoints.
struct Run<'a, O> {
    ends: [Endpoint; 2],
    ways: [Way; 2],
    out: Out,
    now: Time,
    under_way: usize,
    /// Source quenches by arrival time; `None` if the feedback scheme has none.
    quenches: Option<Vec<(Time, Quench)>>,
    observer: &'a mut O,
}

/// Runs `world`: a transfer of `bytes` bytes, after which both sides close. Returns the time at which both are closed,
/// [`Time::NEVER`] if nothing happens before, and the endpoints.
pub fn run(world: &World, config: &Arc<Config>, bytes: u64, observer: &mut impl Observe) -> (Time, [Endpoint; 2]) {
    let links = path(world);
    let ways = [(CLIENT, &world.data), (SERVER, &world.acks)].map(|(side, fates)| Way::new(&links[side], side, fates));
    let mut out = Vec::new();
    let client = Endpoint::connect(config, IpVersion::V4, ISS[CLIENT], Time::ZERO, &mut out);
    let server = Endpoint::listen(config, IpVersion::V4, ISS[SERVER]);
    let quenches = laws().any(|law| law.facts.quenches && law.facts.name == config.ecn.name()).then(Vec::new);
    let mut run = Run { ends: [client, server], ways, out, now: Time::ZERO, under_way: 0, quenches, observer };
    run.ends[CLIENT].write(bytes, Time::ZERO, &mut run.out);
    run.ends[CLIENT].close(Time::ZERO, &mut run.out);
    run.step(CLIENT, None);
    for _ in 0..STEPS {
        if run.ends.iter().all(Endpoint::is_closed) {
            return (run.now, run.ends);
        }
        if !run.go_on() {
            break;
        }
    }
    (Time::NEVER, run.ends)
}

/// The two links of the path, with the losses and marks of `world`.
pub fn path(world: &World) -> [LinkPlan; 2] {
    fn numbers(fates: &[(usize, Fate)], of: Fate) -> impl Iterator<Item = u64> {
        fates.iter().filter(move |(_, fate)| *fate == of).map(|&(n, _)| n as u64)
    }
    let segments = |of| numbers(&world.data, of).map(|n| (0, n + 1)).collect();
    let mut links = duplex("path", 0, 1, RATE, DELAY, &droptail(1000.0));
    let [data, acks] = &mut links;
    data.errors.drop_segments = segments(Fate::Lost);
    data.errors.mark_segments = segments(Fate::Marked);
    // The first packet of the server is its SYN-ACK.
    acks.errors.drop_packets = numbers(&world.acks, Fate::Lost).map(|n| n + 2).collect();
    links
}

impl<O: Observe> Run<'_, O> {
    /// Handles the next event; false if there is none. As in the engine, links come before timers.
    fn go_on(&mut self) -> bool {
        let links = [0, 1].map(|side| self.ways[side].next());
        let timers = [0, 1].map(|side| self.ends[side].deadline());
        let quench = self.quenches.iter().flatten().map(|quench| quench.0).min();
        self.now = links.into_iter().chain(timers).chain(quench).fold(Time::NEVER, Time::min);
        if self.now == Time::NEVER {
            return false;
        }
        if let Some(from) = links.iter().position(|&at| at == self.now) {
            if let Some(segment) = self.ways[from].arrive(self.now) {
                self.under_way -= usize::from(from == CLIENT && segment.len > 0);
                self.ends[1 - from].on_segment(&segment, self.now, &mut self.out);
                self.step(1 - from, Some(&segment));
            }
        } else if quench == Some(self.now) {
            let quench = self.quenches.as_mut().map(|quenches| quenches.remove(0).1);
            self.quenched(&quench.expect("a source quench on its way"));
        } else if let Some(side) = timers.iter().position(|&at| at == self.now) {
            self.ends[side].on_deadline(self.now, &mut self.out);
            self.step(side, None);
        }
        true
    }

    /// Sends the output of `side`, whose application then closes if the peer has.
    fn step(&mut self, side: usize, arrived: Option<&Segment>) {
        let (now, end) = (self.now, &mut self.ends[side]);
        if side == SERVER && end.peer_closed() && !end.is_closed() {
            end.close(now, &mut self.out);
        }
        for segment in &self.out {
            self.ways[side].send(*segment, now);
            let fate = self.ways[side].sent.last().and_then(|sent| sent.1);
            self.under_way += usize::from(side == CLIENT && segment.len > 0 && fate != Some(Fate::Lost));
            let marked = fate == Some(Fate::Marked) && segment.ecn != Ecn::NotEct;
            if let Some(quenches) = self.quenches.as_mut().filter(|_| marked) {
                quenches.push((now + QUENCH_DELAY, Quench::new(QuenchCause::Marked, segment.seq, QUENCH_LEN)));
            }
        }
        let step = Step { now, side, arrived, quench: None, sent: &self.out, under_way: self.under_way };
        self.observer.see(&step, &self.ends);
        self.out.clear();
    }

    /// A source quench arrives at the client, which sends nothing on it.
    fn quenched(&mut self, quench: &Quench) {
        let now = self.now;
        self.ends[CLIENT].on_quench(quench, now);
        let quench = Some(quench);
        let step = Step { now, side: CLIENT, arrived: None, quench, sent: &[], under_way: self.under_way };
        self.observer.see(&step, &self.ends);
    }
}

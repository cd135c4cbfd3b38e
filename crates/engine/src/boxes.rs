//! Middleboxes at a link's far end that interfere with ECN: they rewrite codepoints, clear flags and drop packets by
//! codepoint, size, or as ECN-setup SYNs.

use std::collections::HashMap;
use std::sync::Arc;

use ecnlab_aqm::Item;
use ecnlab_base::{Rng, Time};
use ecnlab_wire::{Ecn, Flags, IpVersion, Segment};

use crate::packet::Packet;
use crate::plan::{BoxPlan, Setup};

/// Access to the parts of a packet that a middlebox reads and writes but a queue does not.
pub trait Inspect {
    /// Returns the protocol under the IP header of `packet`.
    fn inside(&self, packet: &Packet) -> Inside;
    /// Sets the flags of the TCP segment in `packet`.
    fn set_flags(&mut self, packet: &Packet, flags: Flags);
    /// Number of the packet's connection in its flow, from 0.
    fn connection(&self, packet: &Packet) -> u32;
}

/// Protocol under an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// TCP with these flags.
    Tcp(Flags),
    /// UDP.
    Udp,
    /// ICMP, which boxes do not change.
    Icmp,
}

/// Result of passing a packet through the boxes of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The packet is forwarded.
    Through,
    /// The packet is dropped.
    Dropped,
    /// The packet is dropped and its sender gets an RST.
    Reset,
}

/// Counters of a box; they never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoxCounters {
    /// Packets that arrived at the box.
    pub packets: u64,
    /// Packets of connections that the box affects.
    pub concerned: u64,
    /// Connections with at least one packet at the box.
    pub connections: u64,
    /// Connections that the box affects.
    pub connections_concerned: u64,
    /// Packets whose codepoint it changed.
    pub rewritten: u64,
    /// Rewritten packets that arrived with CE.
    pub ce_erased: u64,
    /// Rewritten packets that left with CE.
    pub ce_set: u64,
    /// SYNs and SYN-ACKs from which the box cleared ECE and CWR.
    pub stripped: u64,
    /// Segments other than SYNs from which the box cleared ECE.
    pub ece_cleared: u64,
    /// Segments other than SYNs from which the box cleared CWR.
    pub cwr_cleared: u64,
    /// Packets that the box dropped.
    pub dropped: u64,
    /// Dropped SYNs and SYN-ACKs to which the box replied with an RST.
    pub resets: u64,
}

impl BoxCounters {
    /// Returns the counts since `earlier`, an earlier reading of the same box.
    pub fn since(&self, earlier: &BoxCounters) -> BoxCounters {
        BoxCounters {
            packets: self.packets - earlier.packets,
            concerned: self.concerned - earlier.concerned,
            connections: self.connections - earlier.connections,
            connections_concerned: self.connections_concerned - earlier.connections_concerned,
            rewritten: self.rewritten - earlier.rewritten,
            ce_erased: self.ce_erased - earlier.ce_erased,
            ce_set: self.ce_set - earlier.ce_set,
            stripped: self.stripped - earlier.stripped,
            ece_cleared: self.ece_cleared - earlier.ece_cleared,
            cwr_cleared: self.cwr_cleared - earlier.cwr_cleared,
            dropped: self.dropped - earlier.dropped,
            resets: self.resets - earlier.resets,
        }
    }
}

/// The boxes at the far end of one link, in the order in which packets pass them.
#[derive(Debug, Default)]
pub struct Boxes {
    boxes: Vec<Middlebox>,
    /// Names of the flows, which select the random streams.
    flows: Arc<[String]>,
    seed: u64,
}

#[derive(Debug)]
struct Middlebox {
    plan: BoxPlan,
    /// Whether the box affects a connection, by flow and number in the flow.
    concerned: HashMap<(u32, u32), bool>,
    counters: BoxCounters,
}

impl Boxes {
    /// Creates the boxes with all counters at zero.
    pub fn new(plans: &[BoxPlan], flows: &Arc<[String]>, seed: u64) -> Boxes {
        let middlebox = |plan: &BoxPlan| Middlebox {
            plan: plan.clone(),
            concerned: HashMap::new(),
            counters: BoxCounters::default(),
        };
        Boxes { boxes: plans.iter().map(middlebox).collect(), flows: Arc::clone(flows), seed }
    }

    /// Counters of each box.
    pub fn counters(&self) -> Vec<BoxCounters> {
        self.boxes.iter().map(|b| b.counters).collect()
    }

    /// Passes `packet` at `now` through the boxes, up to the first that rejects it.
    pub fn pass(&mut self, packet: &mut Packet, now: Time, contents: &mut impl Inspect) -> Passage {
        if contents.inside(packet) == Inside::Icmp {
            self.boxes.iter_mut().for_each(|middlebox| middlebox.counters.packets += 1);
            return Passage::Through;
        }
        let connection = contents.connection(packet);
        for middlebox in &mut self.boxes {
            middlebox.counters.packets += 1;
            if now < middlebox.plan.start {
                continue;
            }
            if !middlebox.is_concerned(packet.flow(), connection, &self.flows, self.seed) {
                continue;
            }
            middlebox.counters.concerned += 1;
            let passage = middlebox.handle(packet, contents);
            if passage != Passage::Through {
                return passage;
            }
        }
        Passage::Through
    }

    /// Returns whether each box received exactly the packets that the previous one forwarded; the first received
    /// `delivered`.
    pub fn are_balanced(&self, delivered: u64) -> bool {
        let mut left = delivered;
        self.boxes.iter().all(|b| {
            let came = std::mem::replace(&mut left, b.counters.packets - b.counters.dropped);
            came == b.counters.packets
        })
    }
}

impl Middlebox {
    /// Draws once per connection whether the box affects it, from a random stream of that connection and box.
    fn is_concerned(&mut self, flow: u32, connection: u32, flows: &[String], seed: u64) -> bool {
        let Middlebox { plan, concerned, counters } = self;
        *concerned.entry((flow, connection)).or_insert_with(|| {
            let name = flows.get(flow as usize).map_or("", String::as_str);
            let draw = Rng::named(seed, &format!("{}.{name}.{connection}", plan.stream)).unit();
            counters.connections += 1;
            counters.connections_concerned += u64::from(draw < plan.share);
            draw < plan.share
        })
    }

    fn handle(&mut self, packet: &mut Packet, contents: &mut impl Inspect) -> Passage {
        if self.plan.drops[usize::from(packet.ecn().bits())] || packet.wire_len() > self.plan.longest {
            self.counters.dropped += 1;
            return Passage::Dropped;
        }
        let passage = match contents.inside(packet) {
            Inside::Tcp(flags) => self.handle_flags(flags, packet, contents),
            Inside::Udp | Inside::Icmp => Passage::Through,
        };
        if passage == Passage::Through {
            self.rewrite(packet);
        }
        passage
    }

    fn handle_flags(&mut self, flags: Flags, packet: &Packet, contents: &mut impl Inspect) -> Passage {
        let ecn = Flags::ECE | Flags::CWR;
        let counters = &mut self.counters;
        if flags.contains(Flags::SYN) {
            let setup = match (flags.contains(Flags::ACK), flags & ecn) {
                // RFC 3168 §6.1.1: an ECN-setup SYN has both flags, an ECN-setup SYN-ACK has only ECE. A SYN with one
                // flag has a meaning in RFC 2481 or RFC 9768.
                (_, none) if none.is_empty() => Setup::Pass,
                (false, _) => self.plan.syn,
                (true, _) => self.plan.syn_ack,
            };
            counters.stripped += u64::from(setup == Setup::Strip);
            counters.dropped += u64::from(matches!(setup, Setup::Drop | Setup::Reset));
            match setup {
                Setup::Pass => {}
                Setup::Strip => contents.set_flags(packet, flags - ecn),
                Setup::Drop => return Passage::Dropped,
                Setup::Reset => {
                    counters.resets += 1;
                    return Passage::Reset;
                }
            }
            return Passage::Through;
        }
        let cleared = flags & self.plan.clear;
        if !cleared.is_empty() {
            counters.ece_cleared += u64::from(cleared.contains(Flags::ECE));
            counters.cwr_cleared += u64::from(cleared.contains(Flags::CWR));
            contents.set_flags(packet, flags - cleared);
        }
        Passage::Through
    }

    fn rewrite(&mut self, packet: &mut Packet) {
        let (came, leaves) = (packet.ecn(), self.plan.codepoints[usize::from(packet.ecn().bits())]);
        if came == leaves {
            return;
        }
        packet.set_ecn(leaves);
        self.counters.rewritten += 1;
        self.counters.ce_erased += u64::from(came == Ecn::Ce);
        self.counters.ce_set += u64::from(leaves == Ecn::Ce);
    }
}

/// Returns the RST with which a box replies to a SYN or SYN-ACK on behalf of its destination (RFC 9293 §3.10.7.1).
pub fn reset_of(segment: &Segment, ip: IpVersion) -> Segment {
    let mut reset = if segment.flags.contains(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        Segment { ack: segment.end(), flags: Flags::RST | Flags::ACK, ..Segment::default() }
    };
    reset.wire_len = reset.len_over(ip);
    reset
}

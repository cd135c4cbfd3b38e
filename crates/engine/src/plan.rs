//! What is run: a scenario with every default filled in and every random choice of the set-up made.

use std::sync::Arc;

use ecnlab_base::{Bytes, Dist, Dur, Rate, Time};
use ecnlab_wire::{Dscp, Ecn, Flags};
use {ecnlab_aqm as aqm, ecnlab_tcp as tcp, ecnlab_traffic as traffic};

/// A run, ready to go. Nodes, groups and flows are named by their index in these lists.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Simplex links.
    pub links: Vec<LinkPlan>,
    /// Names of the flow groups, by which queues count.
    pub groups: Vec<String>,
    /// Flows, each a source of demand between two nodes.
    pub flows: Vec<FlowPlan>,
    /// How long the run lasts.
    pub duration: Dur,
    /// When measuring begins; below `duration`.
    pub warmup: Dur,
    /// Interval of the time series; `None` for none.
    pub sample: Option<Dur>,
    /// Whether each packet's way is recorded.
    pub packet_events: bool,
}

impl Plan {
    /// The columns that the laws of its queues add to the tables.
    pub(crate) fn recorded(&self) -> aqm::Recorded {
        aqm::Recorded::of(self.links.iter().map(|link| &link.queue))
    }

    /// A law in a file of the user's that nobody has supplied, as the scenario names it.
    pub fn unsupplied(&self) -> Option<&str> {
        let window = |tcp: &'_ Arc<tcp::Config>| tcp.congestion.user_law().is_some_and(|law| law.law().is_none());
        let ends = self.flows.iter().flat_map(|flow| [&flow.tcp_from, &flow.tcp_to]);
        let windows = ends.filter(|tcp| window(tcp)).find_map(|tcp| tcp.congestion.user_law());
        windows.map(|law| law.python.as_str()).or_else(|| self.links.iter().find_map(|link| link.queue.unsupplied()))
    }
}

/// One direction of a link, with the queue in front of it.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Its name, unique in the run.
    pub name: String,
    /// The node it leaves.
    pub from: usize,
    /// The node it reaches.
    pub to: usize,
    /// Transmission rate; `None` for a delay box, which has no serialisation (NIST Net).
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Dur,
    /// The queue.
    pub queue: aqm::Config,
    /// A slower pipe inside the link.
    pub shaper: Option<Shaper>,
    /// What is added to the propagation delay of each packet.
    pub jitter: Option<Jitter>,
    /// Faults of the wire.
    pub errors: Errors,
    /// Boxes at the far end, in the order in which packets pass them.
    pub boxes: Vec<BoxPlan>,
    /// The tunnel that it is part of.
    pub tunnel: Option<TunnelPlan>,
}

impl LinkPlan {
    /// The rate of what the queue stands in front of: the link's shaper, or the link itself.
    pub fn pipe_rate(&self) -> Option<Rate> {
        self.shaper.map(|s| s.rate).or(self.rate)
    }

    /// What the queue's law may know of what it feeds.
    pub fn context(&self) -> aqm::LinkContext {
        aqm::LinkContext { rate: self.pipe_rate().unwrap_or(Rate::from_bps(u64::MAX)), delay: self.delay }
    }

    /// The rate at which the queue drains in the long run: that of [`LinkPlan::pipe_rate`], or of a shaper that has all of
    /// the queue's packets.
    pub fn drain_rate(&self) -> Option<Rate> {
        self.queue.rate().or(self.pipe_rate())
    }
}

/// A token bucket: RFC 2884's CBQ class of 1.5 Mbit/s on a 10 Mbit/s Ethernet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaper {
    /// Long-term rate.
    pub rate: Rate,
    /// Bytes that may go at the link's own rate after a pause.
    pub burst: Bytes,
}

/// A delay of each packet's own, behind the transmitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// From which each packet's is drawn.
    pub delay: Dist<Dur>,
    /// Whether a packet may overtake another; if not, it arrives with the one before it at the earliest.
    pub reorder: bool,
}

/// Loss in bursts (Gilbert 1960, Elliott 1963): a chain of two states, which takes a step with each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Probability of a step from the good state to the bad one.
    pub p: f64,
    /// Probability of a step from the bad state to the good one.
    pub r: f64,
    /// Probability that a packet is lost in the good state.
    pub good: f64,
    /// Probability that a packet is lost in the bad state.
    pub bad: f64,
}

/// Packets lost or marked on the wire, behind the queue. Ordinals count from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// Probability that a packet is lost, each on its own.
    pub loss: f64,
    /// Losses in bursts besides.
    pub bursts: Option<Bursts>,
    /// The n-th packets of the link that are lost.
    pub drop_packets: Vec<u64>,
    /// The n-th packets of the link that get CE, where they are ECN-capable.
    pub mark_packets: Vec<u64>,
    /// (flow, n): the n-th data segment of the flow on this link, retransmissions counted, is lost.
    pub drop_segments: Vec<(usize, u64)>,
    /// (flow, n): the n-th data segment of the flow gets CE, where it is ECN-capable.
    pub mark_segments: Vec<(usize, u64)>,
}

/// A box that is hostile to ECN, at the far end of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlan {
    /// Its name.
    pub name: String,
    /// The name of its stream of chance: both directions of a link share it, so that a box in both is concerned with
    /// the same connections.
    pub stream: String,
    /// Probability that it is concerned with a connection. All others pass unchanged.
    pub share: f64,
    /// What each codepoint becomes, by its bits.
    pub codepoints: [Ecn; 4],
    /// What it takes from segments other than SYNs: ECE, CWR.
    pub clear: Flags,
    /// What it does to SYNs with ECE or CWR.
    pub syn: Setup,
    /// What it does to SYN-ACKs with ECE or CWR.
    pub syn_ack: Setup,
}

impl BoxPlan {
    /// A box that changes nothing.
    pub fn idle(name: &str, stream: &str) -> BoxPlan {
        BoxPlan {
            name: name.to_owned(),
            stream: stream.to_owned(),
            share: 1.0,
            codepoints: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce],
            clear: Flags::empty(),
            syn: Setup::Pass,
            syn_ack: Setup::Pass,
        }
    }

    /// Whether it ever answers in the name of a host.
    pub fn resets(&self) -> bool {
        [self.syn, self.syn_ack].contains(&Setup::Reset)
    }
}

/// What a box does to a SYN that negotiates ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setup {
    /// Lets it pass.
    #[default]
    Pass,
    /// Takes ECE and CWR from it.
    Strip,
    /// Drops it.
    Drop,
    /// Drops it, and answers it with an RST in the name of whom it is for.
    Reset,
}

/// A tunnel (RFC 6040). It begins where a packet enters a link of it from outside, and ends where the packet's next link
/// is none of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunnelPlan {
    /// Its name.
    pub name: String,
    /// What tells the tunnels of a run apart.
    pub number: u32,
    /// What its ingress writes.
    pub ingress: Ingress,
    /// What its egress makes of both headers.
    pub egress: Egress,
    /// Bytes that the outer header adds to a packet.
    pub overhead: u32,
}

/// What the ingress of a tunnel writes into the ECN field of the outer header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ingress {
    /// A copy of the inner field (RFC 6040 §4.1, normal mode).
    #[default]
    Normal,
    /// Not-ECT (RFC 6040 §4.1, compatibility mode; RFC 3168 §9.1.1, limited functionality).
    Compatibility,
    /// A copy, but ECT(0) for CE (RFC 3168 §9.1.1, full functionality).
    Rfc3168Full,
}

/// What the egress of a tunnel makes of the ECN fields of both headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Egress {
    /// RFC 6040 §4.2, figure 4.
    #[default]
    Rfc6040,
    /// CE of the outer header is copied; a packet that is not ECN-capable is dropped for it (RFC 3168 §9.1.1, full
    /// functionality).
    Rfc3168Full,
    /// The inner field stays; CE in the outer header alone drops the packet (RFC 3168 §9.1, limited functionality).
    Rfc3168Limited,
    /// The inner field stays, whatever is in the outer header (RFC 2003).
    Rfc2003,
}

/// A source of demand between two nodes; `from` sends the main data.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name, unique in the run.
    pub name: String,
    /// Index of its group.
    pub group: usize,
    /// The DSCP of its packets, in both directions.
    pub dscp: Dscp,
    /// The node that sends the main data; of a [pool](traffic::Source::POOL) as many as there are.
    pub from: Vec<usize>,
    /// The node that receives it; of a pool as many as there are.
    pub to: Vec<usize>,
    /// What is sent.
    pub traffic: traffic::Params,
    /// The endpoint at `from`.
    pub tcp_from: Arc<tcp::Config>,
    /// The endpoint at `to`.
    pub tcp_to: Arc<tcp::Config>,
    /// When the source is first asked.
    pub start: Time,
    /// When it stops, if it does.
    pub stop: Option<Time>,
}

//! Input of a run: a scenario with all defaults filled in and all random choices of the set-up made.

use std::sync::Arc;

use ecnlab_base::{Bytes, Dist, Dur, Rate, Steps, Time};
use ecnlab_wire::{Dscp, Ecn, Flags, IpVersion};
use {ecnlab_aqm as aqm, ecnlab_quic as quic, ecnlab_tcp as tcp, ecnlab_traffic as traffic};

use crate::error::Error;

/// A complete description of a run. Nodes, groups and flows are referred to by their index in these lists.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Simplex links.
    pub links: Vec<LinkPlan>,
    /// Names of the flow groups, by which queues keep counts.
    pub groups: Vec<String>,
    /// Flows, each a source of demand between two nodes.
    pub flows: Vec<FlowPlan>,
    /// Duration of the run.
    pub duration: Dur,
    /// Flows that end the run earlier: when the last of them is complete, if that is after the warm-up.
    pub end_after: Vec<u32>,
    /// Start of the measured window; less than `duration`.
    pub warmup: Dur,
    /// Interval of the time series; `None` disables them.
    pub sample: Option<Dur>,
    /// Record packet events.
    pub packet_events: bool,
}

/// Tables of samples.
const SERIES: [&str; 3] = ["flow_series", "queue_series", "class_series"];

/// The table of packet events.
const PACKETS: &str = "packets";

impl Plan {
    /// Leaves out the recording of samples and packet events if none of their tables is `wanted`: packets are the same.
    pub fn record_only(&mut self, wanted: &dyn Fn(&str) -> bool) {
        self.sample = self.sample.filter(|_| SERIES.into_iter().any(wanted));
        self.packet_events &= wanted(PACKETS);
    }

    /// Columns that the laws of its queues add to the tables.
    pub(crate) fn recorded(&self) -> aqm::Recorded {
        aqm::Recorded::of(self.links.iter().map(|link| &*link.queue))
    }

    /// Creates a connection of each flow over QUIC, in order to find out whether its stack accepts the settings.
    pub(crate) fn check_stacks(&self) -> Result<(), Error> {
        for flow in &self.flows {
            let Some([from, to]) = &flow.quic else { continue };
            quic::check([from, to]).map_err(|error| Error::Quic { flow: flow.name.clone(), error })?;
        }
        Ok(())
    }

    /// Returns a user-defined law that has not been supplied, by its name in the scenario.
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
    /// Source node.
    pub from: usize,
    /// Destination node.
    pub to: usize,
    /// Transmission rate; `None` for a delay box, which has no serialisation (NIST Net). The highest of a rate that
    /// changes, for which the queue is configured.
    pub rate: Option<Rate>,
    /// Propagation delay; the longest of one that changes.
    pub delay: Dur,
    /// What changes during the run.
    pub changes: Changes,
    /// The queue; links may share it.
    pub queue: Arc<aqm::Config>,
    /// A slower shaper inside the link.
    pub shaper: Option<Shaper>,
    /// Random delay added to the propagation delay of each packet.
    pub jitter: Option<Jitter>,
    /// Error model of the wire.
    pub errors: Errors,
    /// Middleboxes at the far end, in the order in which packets pass them.
    pub boxes: Vec<BoxPlan>,
    /// The tunnel that the link belongs to.
    pub tunnel: Option<TunnelPlan>,
}

impl LinkPlan {
    /// Rate behind the queue: that of the link's shaper, otherwise of the link.
    pub fn pipe_rate(&self) -> Option<Rate> {
        self.shaper.map(|s| s.rate).or(self.rate)
    }

    /// Properties of the link that the queue's law may use.
    pub fn context(&self) -> aqm::LinkContext {
        aqm::LinkContext { rate: self.pipe_rate().unwrap_or(Rate::from_bps(u64::MAX)), delay: self.delay }
    }

    /// Long-term drain rate of the queue: [`LinkPlan::pipe_rate`], or that of a shaper inside the queue that applies to
    /// all its packets.
    pub fn drain_rate(&self) -> Option<Rate> {
        self.queue.rate().or(self.pipe_rate())
    }

    /// Mean of [`LinkPlan::drain_rate`] from `from` to `to`, in bits per second, with the changes of the link's rate; not a
    /// number without a rate.
    pub fn mean_rate_bps(&self, from: Time, to: Time) -> f64 {
        let Some(fixed) = self.drain_rate() else { return f64::NAN };
        self.changes.rate.as_ref().map_or(fixed.bps() as f64, |steps| steps.mean(from, to, fixed.bps()))
    }
}

/// Changes of a link over time. Default: none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The rate in bits per second, zero during outages, in place of [`LinkPlan::rate`].
    pub rate: Option<Steps>,
    /// The delay in picoseconds, in place of [`LinkPlan::delay`]. A packet never arrives before the one sent before it.
    pub delay: Option<Steps>,
    /// Times from and to which packets in transmission are lost, in order and without overlap.
    pub lost: Arc<[(Time, Time)]>,
    /// Packets leave in bursts. The link has no jitter and no shaper then.
    pub aggregation: Option<Aggregation>,
}

/// Bursts of packets that leave the queue at one time and arrive at one time, as in the transmission opportunities of
/// Wi-Fi and the slots of cellular links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregation {
    /// Maximum transmission time of a burst of more than one packet.
    pub time: Option<Dur>,
    /// Maximum bytes of a burst of more than one packet.
    pub bytes: Option<Bytes>,
    /// Bursts begin at multiples of this time only.
    pub every: Option<Dur>,
    /// Time from the choice of a burst's packets to their transmission, drawn for each burst.
    pub access: Dist<Dur>,
}

/// A token bucket, such as RFC 2884's CBQ class of 1.5 Mbit/s on a 10 Mbit/s Ethernet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaper {
    /// Long-term rate.
    pub rate: Rate,
    /// Bytes that may be sent at the link's own rate after idle time.
    pub burst: Bytes,
}

/// A random delay per packet, after the transmitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Distribution of the delay.
    pub delay: Dist<Dur>,
    /// A packet may overtake another; otherwise it arrives no earlier than its predecessor.
    pub reorder: bool,
}

/// Burst losses (Gilbert 1960, Elliott 1963): a Markov chain of two states that advances with each packet.
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

/// Packets lost or marked on the wire, after the queue. Ordinals start at 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// Independent loss probability of a packet.
    pub loss: f64,
    /// Additional burst losses.
    pub bursts: Option<Bursts>,
    /// The n-th packets of the link that are lost.
    pub drop_packets: Vec<u64>,
    /// The n-th packets of the link that are marked CE if ECN-capable.
    pub mark_packets: Vec<u64>,
    /// (flow, n): the n-th data segment of the flow on this link, including retransmissions, is lost.
    pub drop_segments: Vec<(usize, u64)>,
    /// (flow, n): the n-th data segment of the flow is marked CE if ECN-capable.
    pub mark_segments: Vec<(usize, u64)>,
}

/// A middlebox that interferes with ECN, at the far end of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlan {
    /// Its name.
    pub name: String,
    /// Name of its random stream: both directions of a link share it, so that a box in both affects the same
    /// connections.
    pub stream: String,
    /// Probability that it affects a connection. All others pass unchanged.
    pub share: f64,
    /// Replacement of each codepoint, indexed by its bits.
    pub codepoints: [Ecn; 4],
    /// Flags cleared in segments other than SYNs: ECE, CWR.
    pub clear: Flags,
    /// Treatment of SYNs with ECE or CWR.
    pub syn: Setup,
    /// Treatment of SYN-ACKs with ECE or CWR.
    pub syn_ack: Setup,
    /// Whether packets are dropped, indexed by the bits of their codepoint.
    pub drops: [bool; 4],
    /// Bytes on the wire of the longest packet that passes.
    pub longest: u32,
    /// Time from which it acts.
    pub start: Time,
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
            drops: [false; 4],
            longest: u32::MAX,
            start: Time::ZERO,
        }
    }

    /// Returns whether it ever sends an RST on behalf of a host.
    pub fn resets(&self) -> bool {
        [self.syn, self.syn_ack].contains(&Setup::Reset)
    }
}

/// A box's treatment of a SYN that negotiates ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setup {
    /// Forwards it unchanged.
    #[default]
    Pass,
    /// Clears ECE and CWR.
    Strip,
    /// Drops it.
    Drop,
    /// Drops it and replies with an RST on behalf of its destination.
    Reset,
}

/// A tunnel (RFC 6040). It starts where a packet enters one of its links from outside the tunnel, and ends where the
/// packet's next link does not belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunnelPlan {
    /// Its name.
    pub name: String,
    /// Number of the tunnel, unique in the run.
    pub number: u32,
    /// Treatment of the ECN field at the ingress.
    pub ingress: Ingress,
    /// Treatment of the ECN fields at the egress.
    pub egress: Egress,
    /// Bytes that the outer header adds to a packet.
    pub overhead: u32,
}

/// ECN field that the ingress of a tunnel writes into the outer header.
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

/// Combination of the outer and inner ECN fields at the egress of a tunnel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Egress {
    /// RFC 6040 §4.2, figure 4.
    #[default]
    Rfc6040,
    /// CE of the outer header is copied; a packet that is not ECN-capable is then dropped (RFC 3168 §9.1.1, full
    /// functionality).
    Rfc3168Full,
    /// The inner field is kept; a packet with CE only in the outer header is dropped (RFC 3168 §9.1, limited
    /// functionality).
    Rfc3168Limited,
    /// The inner field is kept; the outer header is ignored (RFC 2003).
    Rfc2003,
}

/// Traffic between two nodes; `from` sends the main data.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name, unique in the run.
    pub name: String,
    /// Index of its group.
    pub group: usize,
    /// The DSCP of its packets, in both directions.
    pub dscp: Dscp,
    /// The IP version of its packets. No queue on the way of IPv6 packets sends source quenches.
    pub ip: IpVersion,
    /// The node that sends the main data; several for a [pool](traffic::Source::POOL).
    pub from: Vec<usize>,
    /// The node that receives it; several for a pool.
    pub to: Vec<usize>,
    /// The traffic model.
    pub traffic: traffic::Params,
    /// TCP settings of the endpoint at `from`.
    pub tcp_from: Arc<tcp::Config>,
    /// TCP settings of the endpoint at `to`.
    pub tcp_to: Arc<tcp::Config>,
    /// QUIC settings of the endpoints at `from` and `to`, if the flow has QUIC in place of TCP.
    pub quic: Option<[Arc<quic::Settings>; 2]>,
    /// Time of the first poll of the source.
    pub start: Time,
    /// Time at which it stops, if any.
    pub stop: Option<Time>,
    /// Reads of the application at `to`; `None`: it reads at once. Only for bulk transfers.
    pub reads: Option<Reads>,
}

/// An application that reads from its connection at fixed times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Maximum bytes of a read.
    pub bytes: u64,
    /// Time between reads. The first is as long after the connection is opened.
    pub every: Dur,
}

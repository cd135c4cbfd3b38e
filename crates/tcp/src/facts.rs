//! Static properties of TCP's laws.

use ecnlab_base::facts::Column;

use crate::control_packets::ControlPacket;

/// What a window law does when ECN-Echo reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// It reduces its window at most once per window of data, however many packets were marked (RFC 3168 §6.1.2).
    Once,
    /// It reduces its window by the share of marked data (RFC 8257 §3.3).
    Share,
    /// Nothing: marks do not slow it.
    Ignored,
    /// The law's own file decides.
    Unstated,
}

impl Marks {
    /// Its name in the registry.
    pub const fn name(self) -> &'static str {
        match self {
            Marks::Once => "once",
            Marks::Share => "share",
            Marks::Ignored => "ignored",
            Marks::Unstated => "unstated",
        }
    }
}

/// Whether a window law sets the times at which segments are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paces {
    /// It sends what its window admits at once.
    Never,
    /// At times, as its [`pacing`](crate::cc::CongestionControl::pacing) states.
    Sometimes,
    /// As soon as it is established.
    Always,
}

/// What makes Linux's receiver acknowledge the next data at once (tcp_data_ecn_check).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickAcks {
    /// A mark after CWR or the first, and data that are not ECN-capable after some that were.
    AtMarks,
    /// Only the latter: marks are answered otherwise.
    AtNotEct,
    /// Neither.
    Never,
}

/// Static properties of a law, defined in its own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Name in scenarios: `congestion = "reno"`.
    pub name: &'static str,
    /// Name in reports.
    pub label: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Its source: paper, RFC or code.
    pub reference: &'static str,
    /// Columns of `flow_series` that a window law adds.
    pub columns: &'static [Column],
    /// The key by which a table without `kind` names a window law, if there is one.
    pub named_by: Option<&'static str>,
    /// Whether a window law receives [`on_ack`](crate::cc::CongestionControl::on_ack) and
    /// [`on_sent`](crate::cc::CongestionControl::on_sent). They have a cost per ACK and per segment.
    pub samples: bool,
    /// Whether it receives [`on_feedback`](crate::cc::CongestionControl::on_feedback), too. Only with `samples`.
    pub feedback: bool,
    /// Whether samples of ACKs have the delivery rate ([`AckSample::rate`](crate::cc::AckSample::rate)), for which the sender
    /// keeps a record of each segment in flight. Only with `samples`.
    pub rates: bool,
    /// Whether samples of ACKs have the one-way delay ([`AckSample::one_way`](crate::cc::AckSample::one_way)). Only with
    /// `samples`.
    pub one_way: bool,
    /// Whether a window law has a [`pacing`](crate::cc::CongestionControl::pacing), which otherwise is not called. Only with
    /// `samples`.
    pub paces: Paces,
    /// Whether a burst of a window law that leaves late shortens the pause after it, as in Linux (tcp_update_skb_after_send).
    pub credits_lateness: bool,
    /// Congestion windows that Linux's send buffer holds with a window law (sndbuf_expand); they place PSH.
    pub sndbuf_expand: u64,
    /// Whether a window law sets its window by itself in [`on_ack`](crate::cc::CongestionControl::on_ack), whatever the
    /// congestion state (Linux: `cong_control`): recovery then neither reduces it nor gives it back, and only a timeout takes
    /// it to what is in flight and one segment. Only with `samples` and a recovery scheme that leaves the window alone.
    pub owns_window: bool,
    /// Whether a recovery scheme leaves the window to a law with `owns_window`.
    pub leaves_window: bool,
    /// The name of the recovery scheme used instead if the peer does not permit SACK, for a scheme that requires SACK.
    pub without_sack: Option<&'static str>,
    /// Whether a window law has a slow start below ssthresh, as RFC 5681 has, which `slow_start` of a [`crate::Config`] may end.
    pub slow_start: bool,
    /// Whether a mark at a window below two segments holds the sender until the retransmission timer expires, as RFC 3168
    /// §6.1.2 requires of a sender that halves its window. The laws without it reduce by the share of marked data or ignore marks.
    pub waits_at_one_segment: bool,
    /// What a window law does when ECN-Echo reports marks.
    pub marks: Marks,
    /// Whether an end of slow start applies only as long as there is no threshold, from the start of a connection to its first
    /// congestion.
    pub only_without_threshold: bool,
    /// Whether the ACKs of a feedback scheme report the number of marks, not only their presence. Window laws for L4S
    /// need that (RFC 9331 §4.2).
    pub counts_marks: bool,
    /// Whether a feedback scheme requires D-SACK with SACK (RFC 9768 §3.1.1).
    pub wants_dsack: bool,
    /// Whether a feedback scheme responds to source quenches, which IPv6 does not have.
    pub quenches: bool,
    /// Control packets that may be ECN-capable with a feedback scheme, besides those of its specification; none in schemes
    /// for which nothing permits them.
    pub(crate) control_packets: &'static [ControlPacket],
    /// Codepoints of data that begin quick ACKs of a receiver with the delayed ACKs of Linux 7, with a feedback scheme.
    pub quick_acks: QuickAcks,
    /// Whether a feedback scheme answers the SYN-ACK by an ACK of its own, even if data could carry it (RFC 9768 §3.2.2.1).
    pub wants_last_ack: bool,
}

impl Facts {
    /// Properties of a law without special features, to be given a name.
    pub const PLAIN: Facts = Facts {
        name: "",
        label: "",
        summary: "",
        reference: "",
        columns: &[],
        named_by: None,
        samples: false,
        feedback: false,
        rates: false,
        one_way: false,
        paces: Paces::Never,
        credits_lateness: false,
        sndbuf_expand: 2,
        owns_window: false,
        leaves_window: false,
        without_sack: None,
        slow_start: true,
        waits_at_one_segment: true,
        marks: Marks::Once,
        only_without_threshold: false,
        counts_marks: false,
        wants_dsack: false,
        quenches: false,
        control_packets: &[],
        quick_acks: QuickAcks::AtMarks,
        wants_last_ack: false,
    };
}

//! What a window law is told of each ACK, whatever the recovery scheme.

use ecnlab_base::{Dur, Time};

/// So much data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes of payload; FIN counts as one.
    pub bytes: u64,
    /// Segments; where the sender keeps no record of each, the bytes in full segments, rounded up.
    pub packets: u64,
}

impl Amount {
    /// `bytes` in segments of `mss` bytes.
    pub fn of(bytes: u64, mss: u32) -> Amount {
        Amount { bytes, packets: bytes.div_ceil(u64::from(mss).max(1)) }
    }
}

/// One ACK. "Newly" is since the sample before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckSample {
    /// When it arrived.
    pub now: Time,
    /// Newly acknowledged by its number.
    pub acked: Amount,
    /// Newly delivered: acknowledged, reported by SACK, or, without SACK, one segment for each duplicate ACK. Nothing is
    /// counted twice.
    pub delivered: Amount,
    /// Of `delivered`, what arrived marked.
    pub marked: Amount,
    /// Newly lost, so far as recovery tells.
    pub lost: Amount,
    /// Bytes delivered in the connection, as [`RateSample::prior_delivered`] counts them; zero for laws without
    /// [`Facts::rates`](crate::Facts::rates).
    pub delivered_total: u64,
    /// Bytes taken for lost in the connection so far, each copy for itself.
    pub lost_total: u64,
    /// Bytes in flight, as recovery counts them: sent, not acknowledged, not known to have arrived, and not taken for lost
    /// where the scheme has a scoreboard.
    pub in_flight: u64,
    /// The same before the ACK.
    pub prior_in_flight: u64,
    /// The RTT it has shown: of what was sent first, where it delivers several segments.
    pub rtt: Option<Dur>,
    /// The RTT of what was sent last of those, where the scheme has a scoreboard; else `rtt`.
    pub last_rtt: Option<Dur>,
    /// Least `last_rtt` of the connection; [`Dur::ZERO`] before the first.
    pub min_rtt: Dur,
    /// Smoothed RTT; [`Dur::ZERO`] before the first.
    pub srtt: Dur,
    /// The last burst of sending left less than a segment of the window free.
    pub cwnd_limited: bool,
    /// Round trips so far: one is over when something is acknowledged that was sent after it began.
    pub round: u64,
    /// Whether a recovery is going on.
    pub in_recovery: bool,
    /// When the pacer lets the next segment leave; in the past, if it holds up none.
    pub departure: Time,
    /// The rate at which data are delivered: in [`on_ack`](crate::cc::CongestionControl::on_ack) of laws with
    /// [`Facts::rates`](crate::Facts::rates), where the ACK tells one.
    pub rate: Option<RateSample>,
}

/// How fast data were delivered, from the ACK that was the last before a segment was sent to the one that delivers it
/// (draft-cheng-iccrg-delivery-rate-estimation-02; Linux net/ipv4/tcp_rate.c). Bytes of payload; FIN counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered in `interval`. Without SACK they count when they are acknowledged.
    pub delivered: u64,
    /// The longer of the times of sending and of delivering them; never zero.
    pub interval: Dur,
    /// Bytes delivered in the connection when the segment was sent.
    pub prior_delivered: u64,
    /// Bytes taken for lost since the segment was sent.
    pub lost: u64,
    /// Bytes in flight when it was sent, itself among them: sent and not known to have arrived.
    pub tx_in_flight: u64,
    /// The application had nothing to send while the window had room: the path may be faster.
    pub app_limited: bool,
}

/// What happens with a segment that leaves, for the first time or again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub now: Time,
    /// Bytes of payload.
    pub bytes: u64,
    /// Bytes sent before it and not acknowledged.
    pub outstanding: u64,
    /// Bytes in flight without it ([`AckSample::in_flight`]).
    pub in_flight: u64,
    /// It was sent before.
    pub again: bool,
    /// The application has run out of data, and not all that was sent before has been delivered since
    /// ([`RateSample::app_limited`]); false for laws without [`Facts::rates`](crate::Facts::rates).
    pub app_limited: bool,
}

/// What a connection begins with, when data may flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Established {
    /// When.
    pub now: Time,
    /// The RTT of the handshake, if it was timed.
    pub rtt: Option<Dur>,
    /// What seeds a law's random numbers: the initial sequence number, which the run's own stream has drawn for this
    /// connection.
    pub seed: u32,
    /// Both ends have agreed on feedback that counts marks ([`Facts::counts_marks`](crate::Facts::counts_marks)).
    pub counts_marks: bool,
}

//! Samples of ACKs for window laws, in the same form for all recovery schemes.

use ecnlab_base::{Dur, Time};

/// An amount of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes of payload; FIN counts as one.
    pub bytes: u64,
    /// Segments; where the sender keeps no record of each, the bytes in full segments, rounded up.
    pub packets: u64,
}

impl Amount {
    /// `bytes` in segments of `mss` bytes.
    #[inline]
    pub fn of(bytes: u64, mss: u32) -> Amount {
        Amount { bytes, packets: bytes.div_ceil(u64::from(mss).max(1)) }
    }
}

/// One ACK. "Newly" is since the sample before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckSample {
    /// When it arrived.
    pub now: Time,
    /// Bytes newly acknowledged by its number.
    pub acked: u64,
    /// Newly delivered: acknowledged, reported by SACK, or, without SACK, one segment for each duplicate ACK. Nothing is
    /// counted twice.
    pub delivered: Amount,
    /// The marked part of `delivered`.
    pub marked: Amount,
    /// Newly lost, as estimated by recovery.
    pub lost: Amount,
    /// Bytes delivered in the connection, as [`RateSample::prior_delivered`] counts them; zero for laws without
    /// [`Facts::rates`](crate::Facts::rates).
    pub delivered_total: u64,
    /// Bytes considered lost in the connection so far; each copy counts separately.
    pub lost_total: u64,
    /// Bytes in flight, as recovery counts them: sent, not acknowledged, not known to have arrived, and not considered lost
    /// if the scheme has a scoreboard.
    pub in_flight: u64,
    /// The same before the ACK.
    pub prior_in_flight: u64,
    /// The RTT measured by this ACK; of the segment sent first, if it delivers several.
    pub rtt: Option<Dur>,
    /// The RTT of the segment sent last among those, if the scheme has a scoreboard; else `rtt`.
    pub last_rtt: Option<Dur>,
    /// Least `last_rtt` of the connection; [`Dur::ZERO`] before the first.
    pub min_rtt: Dur,
    /// Smoothed RTT; [`Dur::ZERO`] before the first.
    pub srtt: Dur,
    /// Whether the last burst of sending left less than a segment of the window free.
    pub cwnd_limited: bool,
    /// Round trips so far: one ends when data sent after its start are acknowledged.
    pub round: u64,
    /// Whether a recovery is in progress.
    pub in_recovery: bool,
    /// Time at which the pacer allows the next segment; in the past if it delays none.
    pub departure: Time,
    /// The delivery rate: in [`on_ack`](crate::cc::CongestionControl::on_ack) of laws with
    /// [`Facts::rates`](crate::Facts::rates), if the ACK yields one.
    pub rate: Option<RateSample>,
    /// The delay of the data's direction from the timestamps of the ACK (RFC 7323), in ticks of the timestamp clock and modulo
    /// 2^32, if timestamps are in use: only for laws with [`Facts::one_way`](crate::Facts::one_way). Both clocks' offsets are in
    /// it, so that only the difference of two has a meaning. An ACK of no new data may echo a timestamp of long ago.
    pub one_way: Option<u32>,
}

/// A delivery rate sample, from the last ACK before a segment was sent to the ACK that delivers it
/// (draft-cheng-iccrg-delivery-rate-estimation-02; Linux net/ipv4/tcp_rate.c). Bytes of payload; FIN counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered in `interval`. Without SACK they count when they are acknowledged.
    pub delivered: u64,
    /// The longer of the times of sending and of delivering them; never zero.
    pub interval: Dur,
    /// Bytes delivered in the connection when the segment was sent.
    pub prior_delivered: u64,
    /// Bytes considered lost since the segment was sent.
    pub lost: u64,
    /// Bytes whose marks were reported since the segment was sent.
    pub marked: u64,
    /// Bytes in flight when it was sent, itself among them: sent and not known to have arrived.
    pub tx_in_flight: u64,
    /// The application had nothing to send while the window had room: the path may be faster.
    pub app_limited: bool,
}

/// A segment that loss detection has marked lost, for laws with [`Facts::rates`](crate::Facts::rates). Bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// First offset of the segment in the stream.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes considered lost since it was sent, itself among them.
    pub lost: u64,
    /// Bytes delivered in the connection so far.
    pub delivered_total: u64,
    /// Bytes in flight when it was sent, itself among them ([`RateSample::tx_in_flight`]).
    pub tx_in_flight: u64,
    /// It was sent while the application was the limit ([`RateSample::app_limited`]).
    pub app_limited: bool,
}

/// A segment sent, for the first time or again.
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

/// Initial values of a connection, at the time when it is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Established {
    /// When.
    pub now: Time,
    /// The RTT of the handshake, if it was timed.
    pub rtt: Option<Dur>,
    /// Seed of a law's random numbers: the initial sequence number, which the run's own stream has drawn for this
    /// connection.
    pub seed: u32,
    /// Both ends have agreed on feedback that counts marks ([`Facts::counts_marks`](crate::Facts::counts_marks)).
    pub counts_marks: bool,
    /// Both ends have agreed on SACK.
    pub sack: bool,
}

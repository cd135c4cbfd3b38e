//! All settings of a TCP, typed and with units. A profile sets each value; there are no defaults here.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use ecnlab_base::{Bytes, Dur};
use ecnlab_wire::Segment;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::IntoDeserializer;
use serde::de::value::MapDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::control_packets::EcnControl;
use crate::registry::{EcnKind, RecoveryKind, SlowStartKind, WindowLaw};
use crate::rules::Rules;

/// All settings of a TCP. A profile sets each value with its source; a scenario may change single keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Largest segment sent and announced: payload and TCP options, without the headers of IP and TCP: 40 bytes over
    /// IPv4, 60 over IPv6 (RFC 9293 §3.7.1). Flows with `ip = 6` have 20 bytes less if it is not set.
    pub mss: Bytes,
    /// Header bytes of a data segment on the wire: "real" counts IP, TCP and option bytes; a number of bytes is added
    /// unchanged, for comparison with simulators.
    pub data_headers: Headers,
    /// Bytes on the wire of a segment without payload: "real", or a number of bytes.
    pub ack_headers: Headers,
    /// Receive buffer, which limits the window announced. Above 65535 bytes it needs `window_scaling` (RFC 7323 §2.2).
    pub receive_buffer: Bytes,
    /// The window announced.
    pub receive_window: ReceiveWindow,
    /// Offer and accept the window scale option (RFC 7323 §2.2).
    pub window_scaling: bool,
    /// Offer and accept timestamps (RFC 7323 §3.2).
    pub timestamps: bool,
    /// One tick of the timestamp clock (RFC 7323 §5.4).
    pub timestamp_clock: Dur,
    /// Offer and accept selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// With SACK, report data received again in the first block of the ACK that they cause (D-SACK, RFC 2883).
    pub dsack: bool,

    /// ECN feedback scheme that this host offers as client, and accepts as server.
    pub ecn: EcnKind,
    /// ECN feedback scheme that this host accepts as server, if it includes that of `ecn`: AccECN includes RFC 3168's, and
    /// every scheme includes "off". With any other `ecn` it has no effect.
    pub ecn_accepts: EcnKind,
    /// Segments with the AccECN option, where AccECN is agreed.
    pub ecn_option: EcnOption,
    /// `ecn_option = "minimum"` with `ecn = "accecn-linux"`: least number of options in a round trip; 0 sets none
    /// (tcp_ecn_option_beacon).
    pub ecn_option_beacon: u32,
    /// A SYN retransmitted after a timeout no longer requests ECN (RFC 3168 §6.1.1.1).
    pub ecn_syn_fallback: bool,
    /// Time for which connections to a peer offer no ECN after two successive connections to it were established only by
    /// a SYN without the offer (RFC 9768 §3.1.4.1); 0 s: every connection makes the offer.
    pub ecn_fallback_memory: Dur,
    /// Control packets that are ECN-capable: "scheme", those of the specification of `ecn`; "generalized", all that ECN++
    /// permits with the feedback agreed (draft-ietf-tcpm-generalized-ecn); "try-once", the first SYN-ACK by RFC 5562; or a
    /// list of kinds, of which the others are left as "scheme" has them. CE on a SYN or SYN-ACK reduces the initial window
    /// to one segment. A SYN or SYN-ACK sent again is not ECN-capable.
    pub ecn_control: EcnControl,
    /// A packet that arrives with CE is acknowledged at once instead of by a delayed ACK.
    pub ecn_immediate_ack: bool,
    /// While data retransmitted after a timeout are being acknowledged, an ACK with ECN-Echo may open the window in
    /// slow start. The timeout was already the response to these marks, and no CWR can end the ECN-Echo:
    /// retransmissions carry none (RFC 3168 §6.1.5). RFC 3168 §6.1.2, read literally, lets no ACK with ECN-Echo open
    /// the window.
    pub echo_lets_slow_start: bool,
    /// How the sender responds to ECN-Echo.
    pub ecn_response: EcnResponse,

    /// Acknowledge at least every n-th in-order segment; 1 disables delayed ACKs (RFC 5681 §4.2).
    pub ack_every: u32,
    /// Delay of ACKs.
    pub delayed_ack: DelayedAck,
    /// Maximum delay of an ACK (RFC 5681 §4.2 allows 500 ms).
    pub ack_delay: Dur,
    /// Maximum delay of the ACK of a segment with PSH.
    pub ack_delay_push: Dur,
    /// Which segments carry PSH.
    pub push: Push,
    /// The application of the host that connects waits for the handshake before it writes and closes, as with the sockets
    /// interface: the ACK of the SYN-ACK has no data, and data that the window lets out have no FIN. Otherwise it writes and
    /// closes while the handshake is under way (RFC 9293 §3.10.2), and data and FIN leave together with this ACK.
    pub connect_blocks: bool,

    /// Window law: its name, or a table with its name as `kind` and the parameters that differ from their defaults.
    pub congestion: WindowLaw,
    /// Initial window in segments (RFC 5681 §3.1, RFC 6928).
    pub initial_window: u32,
    /// Number of retransmissions of the SYN or SYN-ACK after which the initial window is 1 (RFC 5681 §3.1: one).
    pub syn_losses_to_one: u32,
    /// Retransmissions of a SYN or SYN-ACK do not reduce the initial window if the answer echoes the timestamp of the first
    /// one: it had arrived, and the retransmissions were not needed (tcp_try_undo_spurious_syn).
    pub undo_syn_loss: bool,
    /// Initial slow-start threshold.
    pub initial_ssthresh: InitialSsthresh,
    /// Rule that ends slow start, independent of the window law.
    pub slow_start: SlowStartKind,
    /// Window arithmetic of the host. These are keys of the same table, and [`Config::read`] reads them with it.
    #[serde(flatten, skip_deserializing)]
    pub rules: Rules,
    /// Growth of the window of a rate-limited sender: one whose application or peer's window leaves part of the
    /// congestion window unused.
    pub rate_limited_growth: RateLimitedGrowth,
    /// Value that the reduction after congestion multiplies.
    pub reduce_from: ReduceFrom,
    /// A second timeout of the same segment does not change ssthresh (RFC 5681 §3.1).
    pub repeated_timeout_keeps_ssthresh: bool,
    /// After an idle time of one RTO, restart from the initial window (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// Source of the pacing rate.
    pub pacing: PacedBy,
    /// Greatest number of segments that leave at once where bursts are paced: that of the host's interface (Linux:
    /// `gso_max_segs`). The law plans for its own bursts all the same.
    pub gso_max_segs: u32,

    /// Loss recovery scheme. If the peer does not permit SACK, a scheme that needs it is replaced by `newreno`, and `rack`
    /// by `linux-newreno`.
    pub recovery: RecoveryKind,
    /// Send one new segment on each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// No fast retransmit before everything sent up to the last reduction is acknowledged (RFC 6582 §3.2 step 2).
    pub careful_retransmit: bool,
    /// No fast retransmit with a window below this many segments.
    pub fast_retransmit_min_window: u32,
    /// Segments by which the window is inflated at a fast retransmit (RFC 5681 §3.2 step 3).
    pub entry_inflation: u32,
    /// The ACK that ends a Reno or NewReno recovery also lets the window grow.
    pub exit_growth: bool,
    /// NewReno: window on leaving recovery.
    pub exit_window: ExitWindow,
    /// NewReno: a partial ACK deflates the window by the bytes that it acknowledges, less one segment (RFC 6582 §3.2
    /// step 3); otherwise it removes all inflation.
    pub partial_deflation: bool,
    /// NewReno: only the first partial ACK restarts the retransmission timer (RFC 6582 §3.2 step 3; "impatient" in RFC 3782 §4).
    pub impatient: bool,
    /// NewReno: maximum number of segments sent per ACK during recovery; 0 sets no limit.
    pub recovery_burst: u32,
    /// SACK: how data in flight are estimated, and which data are retransmitted.
    pub sack_rule: SackRule,
    /// SACK and FACK: after a timeout, data that later SACKs report are not retransmitted.
    pub sack_after_timeout: bool,

    /// Estimator of the retransmission timeout from RTT samples.
    pub rto_estimator: Estimator,
    /// Source of RTT samples.
    pub rtt_sampling: RttSampling,
    /// The handshake gives the first RTT sample.
    pub rtt_from_syn: bool,
    /// The handshake gives the first RTT sample even if the SYN or SYN-ACK was retransmitted, measured by its
    /// timestamp; `initial_rto_after_syn_loss` then applies only without timestamps.
    pub rtt_from_resent_syn: bool,
    /// One tick of the RTT clock; with "0 s" measurements are exact.
    pub rtt_tick: Dur,
    /// Retransmission timeout before the first RTT sample (RFC 6298 §2.1).
    pub initial_rto: Dur,
    /// Retransmission timeout at the start of data transfer if the SYN had to be retransmitted (RFC 6298 §5.7).
    pub initial_rto_after_syn_loss: Dur,
    /// Lower bound of the retransmission timeout (RFC 6298 §2.4).
    pub min_rto: Dur,
    /// Value that `min_rto` bounds.
    pub min_rto_of: RtoFloor,
    /// Upper bound of the retransmission timeout, with or without backoff (RFC 6298 §2.5).
    pub max_rto: Dur,
    /// Maximum number of doublings of the timeout (RFC 6298 §5.5 sets no limit but `max_rto`).
    pub max_doublings: u32,
    /// Maximum number of consecutive retransmissions; the timeout after the last one ends the connection (R2 of
    /// RFC 9293 §3.8.3).
    pub max_timeouts: u32,
    /// Maximum number of consecutive retransmissions of a SYN or SYN-ACK, in addition to `linear_syn_timeouts`.
    pub max_syn_timeouts: u32,
    /// Number of timeouts of a SYN that do not double the next one (RFC 6298 §5.5 doubles each).
    pub linear_syn_timeouts: u32,
    /// One tick of the timer wheel. Timers below 63 ticks expire at a tick, those below 504 at every 8th tick, those
    /// below 4032 at every 64th, and so on: at the next such tick, never early. With "0 s" timers are exact.
    pub timer_wheel: Dur,
}

/// Header bytes: the real ones, or a fixed number as in simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headers {
    /// IP and TCP headers with the options that the segment carries.
    Real,
    /// A fixed number of bytes, and 8 for each SACK block; other options are not counted.
    Fixed(Bytes),
}

/// The window announced. Data that the application has not read (`read_rate` of a flow) take their part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveWindow {
    /// The whole `receive_buffer`, from the SYN on.
    Fixed,
    /// Linux 7. About 64 kB at first. Each segment opens the window by up to two segments. The buffer grows once per RTT
    /// to what the application read in it, and with data above a hole, up to `receive_buffer` (tcp_rmem\[2\]); about 63 %
    /// of it is window for full segments of 1448 bytes. Data above a hole takes part of it, but the right edge of the
    /// window never moves back.
    #[serde(rename = "linux-7")]
    Linux7,
}

/// Delay of ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelayedAck {
    /// `ack_delay`, or `ack_delay_push` on a segment with PSH.
    Fixed,
    /// Linux 2.0: a delay that follows the spacing of the data, at most `ack_delay`, or `ack_delay_push` with PSH.
    #[serde(rename = "linux-2.0")]
    Linux20,
    /// Linux 7. Quick ACKs: the first 16 segments; 16 after a pause or a duplicate; with the feedback of RFC 3168 two after
    /// a mark, with it and DCTCP's two after data that are not ECN-capable; one with CWR; one for each segment that opens a
    /// `receive_window` that grows; one for a segment that has PSH or is smaller than a full one, unless this endpoint
    /// responds with data. Above a hole, with SACK, the fourth and later ACKs are delayed by up to 1 ms. Otherwise the
    /// delay follows the spacing of the data, from `ack_delay` up to the RTT or 200 ms. `ecn_immediate_ack` has no
    /// effect.
    #[serde(rename = "linux-7")]
    Linux7,
}

/// Which segments carry PSH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Push {
    /// The last segment of all data that the application has written (RFC 9293 §3.9.1.2).
    LastSegment,
    /// Linux 7. The application writes 64 KiB at a time into a send buffer of about two congestion windows. The last
    /// segment of the data written without a pause carries PSH, and one after each half of the peer's largest window.
    #[serde(rename = "linux-7")]
    Linux7,
}

/// Segments with the AccECN option. In all but "off" they keep room for it: the largest payload is 12 bytes less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnOption {
    /// "minimum" with `accecn`, "full" with `accecn-linux`.
    Scheme,
    /// None, not even the SYN-ACK (tcp_ecn_option = 0). The peer's options are read all the same.
    Off,
    /// Those that need it. `accecn`: the first SYN-ACK, the last ACK, the first data, and segments after a counter has changed
    /// (RFC 9768 §3.2.3.3). `accecn-linux`: two after a mark or a change of the codepoint, one for each 2^22 bytes of a counter, and
    /// `ecn_option_beacon` (tcp_ecn_option = 1).
    Minimum,
    /// Every segment with room for it, until its loss is detected (tcp_ecn_option = 2).
    Full,
    /// Every segment with room for it (tcp_ecn_option = 3).
    Persist,
}

/// How the sender responds to ECN-Echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EcnResponse {
    /// One reduction per window of data. With a window of one segment, no new data is sent until the timer expires
    /// (RFC 3168 §6.1.2, RFC 2481 §6.1.2).
    #[serde(rename = "standard")]
    Standard,
    /// One reduction per window of data, to ssthresh, which is at least two segments. No rule for a window of one
    /// segment (Linux: tcp_reno_ssthresh, tcp_enter_cwr).
    #[serde(rename = "linux")]
    Linux,
    /// One reduction per window of data, and one after each timeout. The reduction is the first step of ACK processing.
    /// A second consecutive ECN-Echo at a window of one segment doubles the timeout and halves the window below one
    /// segment; limited transmit may then send on a duplicate ACK with no data outstanding. A timeout keeps ssthresh if
    /// the last reduction was for ECN, however long ago; so does the loss of the first segment sent after that
    /// reduction. A source quench has an effect only after all data outstanding at the last reduction are acknowledged
    /// (ns-2's tcp.cc: ecn, newack, timeout, quench; tcp-reno.cc: dupack_action).
    #[serde(rename = "ns-2")]
    Ns2,
}

/// Initial slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialSsthresh {
    /// Unlimited (RFC 5681 §3.1).
    Unlimited,
    /// The peer's receive window.
    PeerWindow,
}

/// Growth of the window of a rate-limited sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateLimitedGrowth {
    /// Every ACK opens the window (RFC 5681 §3.1 states no limit).
    Unlimited,
    /// The window grows only while at least half of it is used (RFC 7661 §4.3); with Linux's recovery schemes, only if
    /// it was full, or in slow start if more than half of it was used (tcp_is_cwnd_limited).
    WindowLimited,
    /// ACKs open the window up to a limit: twice the largest flight since the last reduction in slow start, a segment
    /// more than it in congestion avoidance (draft-ietf-ccwg-ratelimited-increase-10).
    RatelimitedIncrease,
    /// RFC 7661: in the non-validated phase (pipeACK below half of the window) only ACKs of a full window open it, for
    /// five minutes it is kept, and a loss or mark reduces the data in use and not the window.
    Rfc7661,
}

/// Value that the reduction after congestion multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReduceFrom {
    /// Bytes sent and not yet acknowledged (RFC 5681 §3.1 equation 4).
    Flight,
    /// The smaller of the congestion window, inflation included, and the peer's window.
    Window,
}

/// Source of the pacing rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacedBy {
    /// The window law. A law that sets no rate sends at once all that the window admits.
    Law,
    /// Linux with the queue `fq` at the host. A law that sets a rate keeps it (`bbr`, `prague`). Segments of any other law
    /// leave one by one at max(cwnd, data outstanding) / SRTT, times 2 while cwnd is below half of ssthresh, else times
    /// 1.2. The first nine segments of data are not paced, and one that leaves late shortens the pause after it by half at
    /// most (tcp_update_pacing_rate, tcp_update_skb_after_send).
    Linux,
}

/// NewReno's window on leaving recovery (RFC 6582 §3.2 step 3, "full acknowledgments").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExitWindow {
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS), which avoids a burst.
    Flight,
    /// ssthresh.
    Ssthresh,
    /// The window after the last partial ACK.
    Keep,
}

/// How SACK recovery estimates the data in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SackRule {
    /// SetPipe, IsLost and NextSeg on the scoreboard.
    Rfc6675,
    /// A counter: minus one for each ACK, minus two for a partial one, plus one for each segment sent. Every hole
    /// counts as lost (Fall and Floyd 1996).
    Counter,
}

/// Estimator of the retransmission timeout from RTT samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Estimator {
    /// SRTT + max(G, 4·RTTVAR).
    #[serde(rename = "rfc6298")]
    Rfc6298,
    /// Linux 2.0: SRTT + 4·MDEV in ticks, increased at small windows; MDEV starts at half the first sample.
    #[serde(rename = "linux-2.0")]
    Linux20,
    /// Linux 2.2: as 2.0, but MDEV starts at the first sample.
    #[serde(rename = "linux-2.2")]
    Linux22,
    /// Linux 7: SRTT + RTTVAR in whole jiffies (`timer_wheel`). RTTVAR is the greatest MDEV of a round trip, at least `min_rto`,
    /// and falls by a quarter of the difference once in a round trip; an RTT below SRTT hardly increases MDEV.
    #[serde(rename = "linux-7")]
    Linux7,
    /// ns-2: the integer arithmetic of 4.4BSD in ticks.
    #[serde(rename = "ns-2")]
    Ns2,
}

/// Source of RTT samples. Retransmitted data give no sample (Karn; RFC 6298 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttSampling {
    /// One segment is timed at a time.
    TimedSegment,
    /// Each ACK of new data, by the send time of the first segment that it acknowledges; if that segment was
    /// retransmitted, by timestamps.
    EachAck,
    /// Each ACK of new data, by its timestamp (RFC 7323 §4.1); without timestamps as `each-ack`.
    Timestamps,
}

/// Value that `min_rto` bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFloor {
    /// The estimate; doubling follows the bound (RFC 6298 §2.4, §5.5).
    Estimate,
    /// The timeout after all doublings.
    Timeout,
    /// The part of the estimate beyond SRTT: the timeout is at least SRTT + `min_rto` (Linux since 2.4).
    Variation,
}

impl Config {
    /// Reads a table of all keys, including those of [`Rules`].
    ///
    /// # Errors
    /// Reports the first key that is missing, unknown or has a value of another type. [`check`](Config::check) reports
    /// values that cannot be combined.
    pub fn read<'de, V, E>(table: impl IntoIterator<Item = (String, V)>) -> Result<Config, E>
    where
        V: IntoDeserializer<'de, E>,
        E: de::Error,
    {
        let (rules, rest): (Vec<_>, Vec<_>) =
            table.into_iter().partition(|(key, _)| Rules::KEYS.contains(&key.as_str()));
        let rules = Rules::deserialize(MapDeserializer::new(rules.into_iter()))?;
        Ok(Config { rules, ..Config::deserialize(MapDeserializer::new(rest.into_iter()))? })
    }
}

impl Headers {
    /// Length of `segment` on the wire behind an IP header of `ip_header` bytes, in bytes.
    #[inline]
    pub(crate) fn wire_len(self, segment: &Segment, ip_header: u32) -> u32 {
        match self {
            Headers::Real => ip_header + segment.tcp_len(),
            Headers::Fixed(bytes) => segment.len + bytes.0 as u32 + 8 * segment.sack.as_slice().len() as u32,
        }
    }
}

impl FromStr for Headers {
    type Err = String;
    fn from_str(text: &str) -> Result<Headers, String> {
        if text == "real" {
            return Ok(Headers::Real);
        }
        let bytes: Bytes = text.parse().map_err(|e| format!("{e}, or \"real\""))?;
        if bytes.0 > 1_000 { Err("header bytes must be at most 1000 B".into()) } else { Ok(Headers::Fixed(bytes)) }
    }
}

impl fmt::Display for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Headers::Real => f.write_str("real"),
            Headers::Fixed(bytes) => bytes.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl JsonSchema for Headers {
    fn schema_name() -> Cow<'static, str> {
        "Headers".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "\"real\", or a number of bytes with its unit, such as \"40 B\"",
            "pattern": r"^(real|[0-9._]+\s*(B|bytes?))$",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::profile;

    #[test]
    fn the_schema_describes_every_knob_and_admits_no_other() {
        let knobs = |schema: Schema| {
            let schema = schema.to_value();
            assert_eq!(schema["additionalProperties"], false);
            let knobs = schema["properties"].as_object().unwrap().clone();
            assert!(knobs.values().all(|k| k["description"].as_str().is_some_and(|d| d.len() > 10)));
            knobs.into_iter().map(|(key, _)| key).collect::<BTreeSet<String>>()
        };
        let (host, rules) = (knobs(schemars::schema_for!(Config)), knobs(schemars::schema_for!(Rules)));
        assert_eq!(rules, Rules::KEYS.map(str::to_owned).into());
        assert!(host.is_disjoint(&rules));
        let settings = profile("modern").unwrap().settings.iter().map(|setting| setting.key.clone());
        assert_eq!(&host | &rules, settings.collect());
    }

    #[test]
    fn header_bytes_read_and_print() {
        assert_eq!("real".parse(), Ok(Headers::Real));
        assert_eq!("40 B".parse(), Ok(Headers::Fixed(Bytes(40))));
        assert_eq!(Headers::Fixed(Bytes(40)).to_string(), "40 B");
        assert!("2 kB".parse::<Headers>().is_err());
        assert!("true".parse::<Headers>().is_err());
    }
}

//! Loss recovery: the sender's response to duplicate ACKs, SACKs and partial ACKs. One scheme per file.

// The registry's macros generate everything but these modules: rustfmt does not format modules that a macro declares.
pub mod fack;
pub mod linux;
pub mod newreno;
pub mod reno;
pub mod sack;
pub mod tahoe;

use std::ops::Range;

use ecnlab_base::{Dur, Time};

use crate::cc::CongestionControl;
use crate::config::{Config, RateLimitedGrowth};
use crate::flight::{AckSeen, Chunk, Cx, Flight};
use crate::hooks::law_trait;
use crate::invalid::Invalid;
use crate::law::Law;

/// The hooks of recovery schemes. The sender calls `provided` on the scheme in use. The ACK processing steps
/// ([`crate::sender`]) call `more`, and are compiled for each scheme.
macro_rules! recovery_hooks {
    ($make:ident! { $($head:tt)* }) => { $make! { $($head)*
        hot {}
        required {}
        provided {
            /// Called at the start of a burst during recovery.
            fn begin_burst(&mut self, tx: &mut Flight, config: &Config) {}
            /// Returns the next chunk to send during recovery.
            fn next(&mut self, tx: &mut Flight, config: &Config) -> Option<Chunk> {
                tx.next_in_window(config)
            }
            /// Called when the connection is established. `rtt` is the RTT of the handshake, if it was timed.
            fn on_established(&mut self, tx: &mut Flight, rtt: Option<Dur>) {}
            /// Called at `now` for each SACK report of the offsets `block`, of which `new` bytes were not reported
            /// before, before the ACK itself is processed.
            fn on_sacked(&mut self, tx: &mut Flight, block: Range<u64>, new: u64, now: Time) {
                tx.scoreboard.segments.report(block, now);
            }
            /// Called for an ACK up to the offset `ack` whose first SACK block reports data received again (D-SACK,
            /// RFC 2883): `block`, of which a part may be acknowledged.
            fn on_dsack(&mut self, tx: &mut Flight, block: Range<u64>, ack: u64) {}
            /// Called when a chunk is sent, for the first time or again. Returns whether the scheme stores the send
            /// time of a new chunk itself.
            #[inline]
            fn on_sent(&mut self, tx: &mut Flight, chunk: Chunk, cx: &Cx) -> bool {
                false
            }
            /// Starts the retransmission timer for the chunk just sent.
            fn arm(&mut self, tx: &mut Flight, cx: &Cx) {
                tx.arm(cx.config, cx.now);
            }
            /// Called at the end of a burst.
            #[inline]
            fn end_burst(&mut self, tx: &mut Flight, config: &Config, now: Time) {}
            /// Called when the timer fires. Returns whether it was a timer of the scheme, and not a retransmission
            /// timeout.
            fn on_timer(&mut self, tx: &mut Flight, cx: &mut Cx) -> bool {
                false
            }
            /// Whether probes of a closed window have no data.
            fn probes_without_data(&self) -> bool {
                false
            }
            /// Called on a retransmission timeout with data outstanding.
            fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
                tx.on_timeout(cx);
            }
            /// Reduces the window for ECN-Echo on an ACK of `acked` new bytes, or for a source quench.
            fn reduce_for_ecn(&mut self, tx: &mut Flight, acked: u64, cx: &mut Cx) {
                tx.reduce_for_ecn(acked, cx);
            }
            /// Whether only ACKs with new SACK information count as duplicates (RFC 6675 §2).
            #[inline]
            fn counts_sacks(&self) -> bool {
                false
            }
            /// Whether a recovery is in progress, for time series and source quenches.
            fn in_recovery(&self, tx: &Flight) -> bool {
                tx.recovery.active
            }
            /// Offset up to which the last reduction covers the congestion that a source quench reports.
            fn reduced_until(&self, tx: &Flight) -> u64 {
                tx.recovery.recover
            }
        }
        more {
            // ---- the steps of ACK processing ----

            /// Processes the cumulative acknowledgement and the SACK blocks already reported.
            #[inline]
            fn deliver(&mut self, tx: &mut Flight, seen: &AckSeen, _cx: &Cx) {
                if seen.ack > tx.una {
                    tx.acknowledge(seen.ack);
                }
            }
            /// Returns the RTT sample of the ACK. `una` is SND.UNA before it.
            #[inline]
            fn rtt(&mut self, tx: &mut Flight, seen: &AckSeen, una: u64, cx: &Cx) -> Option<Dur> {
                if seen.ack > una { tx.rtt_of(seen, una, cx) } else { None }
            }
            /// [`AckSample::last_rtt`](crate::cc::AckSample::last_rtt) of an ACK with the RTT sample `rtt`.
            fn last_rtt(&self, rtt: Option<Dur>, _cx: &Cx) -> Option<Dur> {
                rtt
            }
            /// Detects losses and responds to ECN-Echo. Returns the bytes by which the window may open.
            #[inline(always)]
            fn decide(&mut self, tx: &mut Flight, seen: &AckSeen, una: u64, cx: &mut Cx) -> u64 {
                by_the_book(self, tx, seen, una, cx)
            }
            /// Opens the window by up to `acked` bytes.
            #[inline]
            fn open(&self, law: &mut Law, acked: u64) {
                law.grow(acked);
            }

            // ---- the hooks of the RFCs' schemes ----

            /// Called on a duplicate ACK, which is already counted in `Recovery::dupacks`.
            fn on_dupack(&mut self, _tx: &mut Flight, _cx: &mut Cx) {}
            /// Called on an ACK of `acked` new bytes during recovery, after SND.UNA has advanced.
            fn on_new_ack(&mut self, _tx: &mut Flight, _acked: u64, _cx: &mut Cx) -> Progress {
                Progress { grow: true, rearm: true }
            }
            /// Called on an ACK of new data after which no recovery is in progress.
            fn outside(&mut self, _tx: &mut Flight, _config: &Config) {}

            // ---- hooks that only some schemes replace ----

            /// The problems of a configuration that cannot be combined with the scheme.
            fn check(&self, _config: &Config) -> Vec<Invalid> {
                Vec::new()
            }
            /// Bytes marked lost, in total. Without a scoreboard, bytes count as lost when they are retransmitted.
            #[inline]
            fn lost(&self, tx: &Flight) -> u64 {
                tx.resent.bytes
            }
            /// Bytes in flight ([`AckSample::in_flight`](crate::cc::AckSample::in_flight)).
            #[inline]
            fn in_flight(&self, tx: &Flight) -> u64 {
                tx.not_delivered()
            }
            /// Bytes in flight before an ACK, called before the ACK is processed.
            #[inline]
            fn in_flight_before(&self, tx: &Flight, seen: &AckSeen) -> u64 {
                tx.not_delivered() + seen.delivered
            }
        }
    } };
}
pub(crate) use recovery_hooks;

recovery_hooks! { law_trait! { {
    /// A recovery scheme. All schemes share the flight's `Recovery`; the state of a single
    /// scheme is in its own type.
    ///
    /// An ACK passes [`Scheme::deliver`], [`Scheme::rtt`], [`Scheme::decide`] and [`Scheme::open`], in that order
    /// ([`crate::sender`]). The RFCs' schemes use the defaults, and define the handling of duplicate ACKs and of ACKs
    /// of new data; Linux's schemes replace the steps.
    #[expect(unused_variables, reason = "most defaults do nothing")]
    pub(crate) trait Scheme
} } }

/// The trait is object-safe.
const _: Option<&dyn Scheme> = None;

/// Further effects of an ACK during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The ACK opens the window.
    pub grow: bool,
    /// The ACK restarts the retransmission timer.
    pub rearm: bool,
}

/// [`Scheme::decide`] of the RFCs' schemes. Returns the bytes by which the window may open.
#[inline(always)]
fn by_the_book<S: Scheme + ?Sized>(scheme: &mut S, tx: &mut Flight, seen: &AckSeen, una: u64, cx: &mut Cx) -> u64 {
    let acked = seen.ack - una;
    let grow = if acked > 0 {
        on_new_ack(scheme, tx, seen, acked, cx)
    } else {
        if seen.new_sack || (seen.bare && !scheme.counts_sacks()) {
            on_duplicate(scheme, tx, cx);
        }
        0
    };
    let reduced = seen.echo && on_echo(scheme, tx, acked, cx);
    if reduced { 0 } else { grow }
}

/// RFC 5681 §2 (a): an ACK is a duplicate only with data outstanding.
fn on_duplicate<S: Scheme + ?Sized>(scheme: &mut S, tx: &mut Flight, cx: &mut Cx) {
    // The ACK that refuses the byte of a window probe is no duplicate.
    let outstanding = tx.max > tx.una && !tx.only_probing();
    if outstanding || cx.config.ecn_response.counts_duplicates_of_nothing() {
        cx.counters.dupacks_received += 1;
        tx.recovery.dupacks += 1;
    }
    if outstanding {
        scheme.on_dupack(tx, cx);
    }
}

/// Processes an ACK of `acked` new bytes. Returns the bytes by which the window may open.
#[inline(always)]
fn on_new_ack<S: Scheme + ?Sized>(scheme: &mut S, tx: &mut Flight, seen: &AckSeen, acked: u64, cx: &mut Cx) -> u64 {
    let Progress { grow, rearm } = if tx.recovery.active {
        scheme.on_new_ack(tx, acked, cx)
    } else {
        tx.new_data_acked();
        let grow = match cx.config.rate_limited_growth {
            // RFC 7661 §4.3: a window is validated if at least half of it is used.
            RateLimitedGrowth::WindowLimited => 2 * tx.last_sent.outstanding >= tx.law.cwnd(),
            RateLimitedGrowth::Unlimited | RateLimitedGrowth::RatelimitedIncrease => true,
            RateLimitedGrowth::Rfc7661 => tx.may_open(cx),
        };
        Progress { grow, rearm: true }
    };
    if !tx.recovery.active {
        scheme.outside(tx, cx.config);
    }
    if rearm {
        tx.rearm(cx);
    }
    // RFC 3168 §6.1.2, RFC 2481 §6.1.2: an ACK with ECN-Echo does not open the window.
    let echoes = seen.echo && !(cx.config.echo_lets_slow_start && starts_again(tx, seen.ack));
    if grow && !echoes && !seen.no_growth { acked } else { 0 }
}

/// Whether `ack` acknowledges retransmitted data during slow start.
fn starts_again(tx: &Flight, ack: u64) -> bool {
    let window = tx.law.state();
    ack <= tx.resent.below && window.cwnd < window.ssthresh
}

/// Responds to ECN-Echo: at most one reduction per window of data, for ECN or a loss. Returns whether the window is
/// reduced.
fn on_echo<S: Scheme + ?Sized>(scheme: &mut S, tx: &mut Flight, acked: u64, cx: &mut Cx) -> bool {
    let answered = tx.recovery.active || tx.una <= tx.recovery.recover;
    if answered || cx.config.ecn_response.takes_echo_first() {
        return false;
    }
    let before = tx.law.state();
    scheme.reduce_for_ecn(tx, acked, cx);
    cx.counters.ecn_reductions += u64::from(tx.law.reduced_by_mark(before));
    true
}

//! Loss recovery: what duplicate ACKs, SACKs and partial ACKs make a sender do. One scheme per file.

// The registry's rows make all else. They do not declare modules, for rustfmt follows none that a macro declares.
pub mod fack;
pub mod linux;
pub mod newreno;
pub mod reno;
pub mod sack;
pub mod tahoe;

use ecnlab_base::{Dur, Time};

use crate::cc::CongestionControl;
use crate::config::Config;
use crate::flight::{AckSeen, Chunk, Cx, Flight};
use crate::hooks::law_trait;
use crate::invalid::Invalid;
use crate::law::Law;

/// The hooks of recovery schemes: `provided` are those that the sender calls of the scheme in use, `more` those that the steps
/// of an ACK ([`crate::sender`]) call, which are compiled for each scheme.
macro_rules! recovery_hooks {
    ($make:ident! { $($head:tt)* }) => { $make! { $($head)*
        hot {}
        required {}
        provided {
            /// A burst of sending begins during recovery.
            fn begin_burst(&mut self, tx: &mut Flight, config: &Config) {}
            /// What to send next during recovery.
            fn next(&mut self, tx: &mut Flight, config: &Config) -> Option<Chunk> {
                tx.next_in_window(config)
            }
            /// Called when the connection is established. The handshake took `rtt`, if it was timed.
            fn on_established(&mut self, tx: &mut Flight, rtt: Option<Dur>) {}
            /// SACK reports `start..end`, of which `new` bytes were not known. The ACK itself follows.
            fn on_sacked(&mut self, tx: &mut Flight, start: u64, end: u64, new: u64) {}
            /// A chunk leaves, for the first time or again; whether the scheme keeps the time of a new one itself.
            #[inline]
            fn on_sent(&mut self, tx: &mut Flight, chunk: Chunk, cx: &Cx) -> bool {
                false
            }
            /// What has just been sent wants the retransmission timer.
            fn arm(&mut self, tx: &mut Flight, cx: &Cx) {
                tx.arm(cx.config, cx.now);
            }
            /// A burst of sending has ended.
            #[inline]
            fn end_burst(&mut self, tx: &mut Flight, config: &Config, now: Time) {}
            /// The deadline has come; whether it was the scheme's own and no retransmission timeout.
            fn on_timer(&mut self, tx: &mut Flight, cx: &mut Cx) -> bool {
                false
            }
            /// The retransmission timer has fired with data outstanding.
            fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
                tx.on_timeout(cx);
            }
            /// ECN-Echo on an ACK of `acked` new bytes, or a source quench, has told of congestion.
            fn reduce_for_ecn(&mut self, tx: &mut Flight, acked: u64, cx: &mut Cx) {
                tx.reduce_for_ecn(acked, cx);
            }
            /// Whether only ACKs with new SACK information count as duplicates (RFC 6675 §2).
            #[inline]
            fn counts_sacks(&self) -> bool {
                false
            }
            /// Whether a recovery is going on, for time series and source quenches.
            fn in_recovery(&self, tx: &Flight) -> bool {
                tx.recovery.active
            }
        }
        more {
            // ---- the steps of an ACK ----

            /// Processes the cumulative acknowledgement and the SACK blocks already reported.
            #[inline]
            fn deliver(&mut self, tx: &mut Flight, seen: &AckSeen, _cx: &Cx) {
                if seen.ack > tx.una {
                    tx.acknowledge(seen.ack);
                }
            }
            /// The RTT sample of the ACK. Before it, SND.UNA was `una`.
            #[inline]
            fn rtt(&mut self, tx: &mut Flight, seen: &AckSeen, una: u64, cx: &Cx) -> Option<Dur> {
                if seen.ack > una { tx.rtt_of(seen, una, cx) } else { None }
            }
            /// [`AckSample::last_rtt`](crate::cc::AckSample::last_rtt) of an ACK with the RTT sample `rtt`.
            fn last_rtt(&self, rtt: Option<Dur>, _cx: &Cx) -> Option<Dur> {
                rtt
            }
            /// Detects losses and responds to ECN-Echo. Returns by how many bytes the window may open.
            #[inline(always)]
            fn decide(&mut self, tx: &mut Flight, seen: &AckSeen, una: u64, cx: &mut Cx) -> u64 {
                by_the_book(self, tx, seen, una, cx)
            }
            /// Opens the window by up to `acked` bytes.
            #[inline]
            fn open(&self, law: &mut Law, acked: u64) {
                law.grow(acked);
            }

            // ---- what the textbook's schemes say ----

            /// A duplicate ACK, already counted in `Recovery::dupacks`.
            fn on_dupack(&mut self, _tx: &mut Flight, _cx: &mut Cx) {}
            /// An ACK of `acked` new bytes during recovery, of which the sender's una already tells.
            fn on_new_ack(&mut self, _tx: &mut Flight, _acked: u64, _cx: &mut Cx) -> Progress {
                Progress { grow: true, rearm: true }
            }
            /// An ACK of new data after which no recovery is going on.
            fn outside(&mut self, _tx: &mut Flight, _config: &Config) {}

            // ---- what all leave to the sender but those that see to more ----

            /// Refuses what the scheme cannot be combined with.
            fn check(&self, _config: &Config) -> Result<(), Invalid> {
                Ok(())
            }
            /// Bytes taken for lost in total. Without a scoreboard they are known as lost when they are sent again.
            fn lost(&self, tx: &Flight) -> u64 {
                tx.resent.bytes
            }
            /// Bytes in flight ([`AckSample::in_flight`](crate::cc::AckSample::in_flight)).
            fn in_flight(&self, tx: &Flight) -> u64 {
                tx.not_delivered()
            }
            /// The same before an ACK that is yet to be taken in.
            fn in_flight_before(&self, tx: &Flight, seen: &AckSeen) -> u64 {
                tx.not_delivered() + seen.delivered
            }
        }
    } };
}
pub(crate) use recovery_hooks;

recovery_hooks! { law_trait! { {
    /// The decisions of a scheme. All schemes share the flight's [`Recovery`](crate::flight::Recovery); a scheme's own
    /// state is in its own value.
    ///
    /// An ACK goes through [`Scheme::deliver`], [`Scheme::rtt`], [`Scheme::decide`] and [`Scheme::open`], in that order
    /// ([`crate::sender`]). The RFCs' schemes leave these to the sender, and define the handling of duplicate ACKs and of
    /// the ACKs after them; Linux's decide for themselves.
    #[expect(unused_variables, reason = "most defaults do nothing")]
    pub(crate) trait Scheme
} } }

/// The trait is object-safe.
const _: Option<&dyn Scheme> = None;

/// What an ACK during recovery does besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// It opens the window too.
    pub grow: bool,
    /// It restarts the retransmission timer.
    pub rearm: bool,
}

/// The decision of a scheme of the textbook. Returns by how many bytes the window may open.
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

/// RFC 5681 §2 (a): without data outstanding an ACK is no duplicate.
fn on_duplicate<S: Scheme + ?Sized>(scheme: &mut S, tx: &mut Flight, cx: &mut Cx) {
    let outstanding = tx.max > tx.una;
    if outstanding || cx.config.ecn_response.counts_duplicates_of_nothing() {
        cx.counters.dupacks_received += 1;
        tx.recovery.dupacks += 1;
    }
    if outstanding {
        scheme.on_dupack(tx, cx);
    }
}

/// An ACK of `acked` new bytes. Returns by how many the window may open.
#[inline]
fn on_new_ack<S: Scheme + ?Sized>(scheme: &mut S, tx: &mut Flight, seen: &AckSeen, acked: u64, cx: &mut Cx) -> u64 {
    let Progress { grow, rearm } = if tx.recovery.active {
        scheme.on_new_ack(tx, acked, cx)
    } else {
        tx.new_data_acked();
        // RFC 7661 §4.3: a window of which half is used is validated.
        Progress {
            grow: !cx.config.grow_only_when_limited || 2 * tx.last_sent.outstanding >= tx.law.cwnd(),
            rearm: true,
        }
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

/// Whether `ack` is of what was sent again, in slow start.
fn starts_again(tx: &Flight, ack: u64) -> bool {
    let window = tx.law.state();
    ack <= tx.resent.below && window.cwnd < window.ssthresh
}

/// ECN-Echo: at most one reduction for a window of data, whether ECN or a loss signalled it first. Returns whether it
/// has reduced the window.
fn on_echo<S: Scheme + ?Sized>(scheme: &mut S, tx: &mut Flight, acked: u64, cx: &mut Cx) -> bool {
    let answered = tx.recovery.active || tx.una <= tx.recovery.recover;
    if answered || cx.config.ecn_response.hears_echo_first() {
        return false;
    }
    scheme.reduce_for_ecn(tx, acked, cx);
    cx.counters.ecn_reductions += 1;
    true
}

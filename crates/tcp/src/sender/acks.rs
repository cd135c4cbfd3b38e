//! What ACKs do to a sender: SACK blocks, RTT samples, growth, ECN-Echo.

use ecnlab_base::Dur;
use ecnlab_wire::SackBlocks;

use super::{Cx, Flight, Sender};
use crate::cc::{Congestion, CongestionControl};
use crate::config::{Config, EcnResponse, ReduceFrom, RttSampling};
use crate::recovery::Cause;

/// What an acceptable ACK says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSeen {
    /// Offset it acknowledges, at most `max`.
    pub ack: u64,
    /// It reports congestion by ECN.
    pub echo: bool,
    /// It has what a duplicate ACK must have, but for its number (RFC 5681 §2).
    pub bare: bool,
    /// Its SACK blocks told of bytes not known before.
    pub new_sack: bool,
    /// The timestamp it echoes, where timestamps are in use.
    pub echoed: Option<u32>,
}

impl Sender {
    /// Takes in SACK blocks; whether they report bytes not known before.
    pub fn note_sacks(&mut self, blocks: &SackBlocks, config: &Config) -> bool {
        let flight = &mut self.flight;
        if flight.timeouts > 0 && !config.sack_after_timeout {
            return false;
        }
        let mut new = 0;
        for block in blocks.as_slice() {
            // RFC 2018 §8: only what was sent and is not yet acknowledged can be held.
            if let (Some(start), Some(end)) = (flight.offset(block.start), flight.offset(block.end))
                && start > flight.una
            {
                let bytes = flight.sacked.insert(start, end);
                new += bytes;
                if bytes > 0 {
                    self.scheme.on_sacked(flight, start, end, bytes);
                }
            }
        }
        new > 0
    }

    /// An acceptable ACK.
    #[inline]
    pub fn on_ack(&mut self, seen: AckSeen, cx: &mut Cx) {
        if self.scheme.takes_acks() {
            return self.scheme.take_ack(&mut self.flight, seen, cx);
        }
        let acked = seen.ack - self.flight.una;
        let ns2 = cx.config.ecn_response == EcnResponse::Ns2;
        if seen.echo && ns2 {
            self.on_echo_ns2(seen.ack, cx);
        }
        if acked > 0 {
            self.on_new_ack(seen, acked, cx);
        } else if seen.new_sack || (seen.bare && !self.scheme.counts_sacks()) {
            self.on_duplicate(cx);
        }
        if ns2 {
            self.flight.shut_below_one_segment();
        } else if seen.echo {
            self.on_echo(acked, cx);
        }
    }

    /// RFC 5681 §2 (a): without data outstanding an ACK is no duplicate. To ns-2 it is, and limited transmit may send
    /// through a window that is shut.
    fn on_duplicate(&mut self, cx: &mut Cx) {
        let outstanding = self.flight.max > self.flight.una;
        if outstanding || cx.config.ecn_response == EcnResponse::Ns2 {
            cx.counters.dupacks_received += 1;
            self.flight.recovery.dupacks += 1;
        }
        if outstanding {
            self.scheme.on_dupack(&mut self.flight, cx);
        }
    }

    fn on_new_ack(&mut self, seen: AckSeen, acked: u64, cx: &mut Cx) {
        let flight = &mut self.flight;
        flight.sample_rtt(seen, cx);
        flight.acknowledge(seen.ack);
        let (grow, rearm) = if flight.recovery.active {
            let progress = self.scheme.on_ack(flight, acked, cx);
            (progress.grow, progress.rearm)
        } else {
            flight.new_data_acked();
            // RFC 7661 §4.2: a window of which half is used is validated.
            (!cx.config.grow_only_when_limited || 2 * flight.used >= flight.law.cwnd(), true)
        };
        if !flight.recovery.active {
            self.scheme.outside(flight, cx.config);
        }
        // RFC 3168 §6.1.2, RFC 2481 §6.1.2: an ACK with ECN-Echo does not open the window.
        let echoes = seen.echo && !(cx.config.echo_lets_slow_start && flight.starts_again(seen.ack));
        let held_up = echoes || seen.ack <= flight.quiet_until;
        if grow && !held_up {
            flight.law.grow(acked);
            flight.echo_at_one = false; // in ns-2, the next echo at one segment is a first one again
        }
        if rearm {
            flight.rearm(cx);
        }
    }

    /// ECN-Echo: at most one reduction for a window of data, whether ECN or a loss signalled it first.
    fn on_echo(&mut self, acked: u64, cx: &mut Cx) {
        let flight = &mut self.flight;
        if flight.recovery.active || flight.una <= flight.recovery.recover {
            return;
        }
        self.scheme.reduce_for_ecn(flight, acked, cx);
        cx.counters.ecn_reductions += 1;
    }

    /// ECN-Echo as ns-2 hears it, before the ACK itself (tcp.cc, ecn).
    fn on_echo_ns2(&mut self, ack: u64, cx: &mut Cx) {
        let recovery = &self.flight.recovery;
        // recover_ begins at 0, the SYN's number there: its ACK, repeated, is not heard either.
        if ack <= recovery.recover.max(1) && recovery.cause != Cause::Timeout {
            return;
        }
        self.reduce_for_ecn_ns2(cx);
        cx.counters.ecn_reductions += 1;
    }

    /// The reduction of ECN as ns-2 makes it.
    pub(super) fn reduce_for_ecn_ns2(&mut self, cx: &mut Cx) {
        self.flight.reduce_for_ecn_ns2(self.scheme.counts_sacks(), cx);
    }
}

impl Flight {
    /// Whether an echo on the ACK of `ack` says more than a source quench has said.
    #[inline]
    pub fn hears_echo_of(&self, ack: u64) -> bool {
        ack > self.quench_echo_until
    }

    /// All up to `ack` has arrived.
    pub fn acknowledge(&mut self, ack: u64) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.timeouts = 0;
        if !self.sacked.is_empty() {
            self.sacked.trim_below(ack);
        }
    }

    /// Whether `ack` is of what was sent again, in slow start.
    fn starts_again(&self, ack: u64) -> bool {
        let window = self.law.state();
        ack <= self.retransmitted_below && window.cwnd < window.ssthresh
    }

    fn sample_rtt(&mut self, seen: AckSeen, cx: &mut Cx) {
        // Karn: an ACK that may be for either of two transmissions tells nothing (RFC 6298 §3).
        let sent_once = self.una >= self.retransmitted_below;
        let rtt = match cx.config.rtt_sampling {
            RttSampling::TimedSegment => match self.timed {
                Some((end, sent)) if seen.ack >= end => {
                    self.timed = None;
                    Some(self.rto.measure(cx.config, sent, cx.now))
                }
                _ => None,
            },
            sampling => {
                let mut first = None;
                while let Some((_, sent)) = self.sent_times.front().filter(|(end, _)| *end <= seen.ack) {
                    first.get_or_insert(*sent);
                    self.sent_times.pop_front();
                }
                let own = first.filter(|_| sent_once).map(|sent| self.rto.measure(cx.config, sent, cx.now));
                let stamped = || self.stamp_rtt(seen.echoed?, cx);
                if sampling == RttSampling::Timestamps { stamped().or(own) } else { own.or_else(stamped) }
            }
        };
        if let Some(rtt) = rtt {
            self.take_rtt(rtt, cx);
            if !(seen.echo && self.echo_at_one) {
                self.rto.end_backoff();
            }
        }
    }

    /// Takes in a valid RTT sample.
    #[inline]
    pub fn take_rtt(&mut self, rtt: Dur, cx: &mut Cx) {
        cx.counters.rtt(rtt);
        self.rto.sample(cx.config, rtt, self.law.cwnd(), self.mss);
    }

    /// Whether no source quench holds the window down.
    pub fn may_grow(&self) -> bool {
        self.una > self.quiet_until
    }

    /// The RTT that an echoed timestamp tells (RFC 7323 §4.1).
    pub fn stamp_rtt(&self, echoed: u32, cx: &Cx) -> Option<Dur> {
        let ticks = self.clock(cx.config, cx.now).wrapping_sub(echoed);
        // An echo from the future is no echo of ours.
        ((ticks as i32) >= 0).then(|| cx.config.timestamp_clock.saturating_mul(ticks.into()))
    }

    /// The reduction of ECN, upon an ACK of `acked` new bytes or upon a source quench.
    pub fn reduce_for_ecn(&mut self, acked: u64, cx: &mut Cx) {
        let one_segment = self.law.cwnd() < 2 * u64::from(self.mss);
        // FlightSize is that before the ACK: its data left the network with the mark.
        let acked = if cx.config.reduce_from == ReduceFrom::Flight { acked } else { 0 };
        let base = self.reduction_base(cx.config) + acked;
        self.law.on_congestion(&cx.congestion(Congestion::Ecn, base));
        self.reduced(Cause::Ecn, cx);
        if one_segment && cx.config.ecn_response == EcnResponse::Standard {
            // RFC 3168 §6.1.2, RFC 2481 §6.1.2: the window cannot shrink, so the timer is restarted and nothing
            // new is sent before it expires.
            self.hold(cx);
        }
    }

    /// The reduction of ECN as ns-2 makes it; it ends a recovery that counts duplicate ACKs and no SACKs.
    fn reduce_for_ecn_ns2(&mut self, counts_sacks: bool, cx: &mut Cx) {
        let segment = u64::from(self.mss);
        let at_one = self.law.cwnd() <= segment;
        if at_one && self.echo_at_one {
            self.rto.back_off(cx.config);
        }
        self.echo_at_one = at_one;
        let base = self.reduction_base(cx.config);
        self.law.on_congestion(&cx.congestion(Congestion::Ecn, base));
        self.reduced(Cause::Ecn, cx);
        if self.recovery.active && !counts_sacks {
            self.leave_recovery();
        }
        self.shut_below_one_segment();
        cx.counters.ecn_holds += u64::from(self.hold);
    }

    /// ns-2's window is shut while it is less than a segment: until an ACK opens it or the timer fires.
    fn shut_below_one_segment(&mut self) {
        self.hold = self.law.cwnd() + self.recovery.inflation < u64::from(self.mss);
    }
}

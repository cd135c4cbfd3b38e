//! An ACK's way through a sender: the same steps, in the same order, for every scheme and every window law.

use ecnlab_base::Dur;
use ecnlab_wire::SackBlocks;

use super::{Cx, Flight, Sender};
use crate::cc::{Congestion, CongestionControl};
use crate::config::{Config, EcnResponse, ReduceFrom, RttSampling};
use crate::recovery::{Cause, Progress, Scheme};

/// What an acceptable ACK says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSeen {
    /// Offset it acknowledges, at most `max`.
    pub ack: u64,
    /// It reports congestion by ECN.
    pub echo: bool,
    /// The window does not grow on it, says the feedback scheme.
    pub no_growth: bool,
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
    pub fn on_ack(&mut self, seen: &AckSeen, cx: &mut Cx) {
        self.scheme.on_ack(&mut self.flight, seen, cx);
    }
}

impl Flight {
    /// An acceptable ACK, with the scheme in use. A function for each scheme: all of them in one would crowd the registers.
    #[inline(never)]
    pub fn on_ack<S: Scheme>(&mut self, scheme: &mut S, seen: &AckSeen, cx: &mut Cx) {
        let una = self.una;
        let first = cx.config.ecn_response.hears_echo_first();
        if first && seen.echo {
            self.on_echo_ns2(seen.ack, S::COUNTS_SACKS, cx);
        }
        // The scoreboard, and what the ACK has newly delivered.
        let mut delivery = scheme.deliver(self, seen, cx);
        let rtt = scheme.rtt(self, seen, una, &mut delivery, cx);
        if let Some(rtt) = rtt {
            self.take_rtt(rtt, cx);
            if !(seen.echo && self.echo_at_one) {
                self.rto.end_backoff(cx.config);
            }
        }
        let sample = self.law.wants_samples().then(|| self.feedback(scheme, seen, una, rtt, cx));
        // What is lost, what ECN-Echo asks for, and by how many bytes the window may open.
        let grow = scheme.decide(self, seen, una, delivery, cx);
        if let Some(sample) = sample {
            self.tell_law(scheme, sample);
        }
        if grow > 0 {
            S::open(&mut self.law, grow);
            self.echo_at_one = false; // in ns-2, the next echo at one segment is a first one again
        }
        if first {
            self.shut_below_one_segment();
        }
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

    // ---- RTT ----

    /// The RTT that an ACK of new data shows, where all up to `una` was acknowledged before it.
    #[inline]
    pub fn rtt_of(&mut self, seen: &AckSeen, una: u64, cx: &Cx) -> Option<Dur> {
        if cx.config.rtt_sampling != RttSampling::TimedSegment {
            return self.rtt_of_each(seen, una, cx);
        }
        let (_, sent) = self.timed.filter(|(end, _)| seen.ack >= *end)?;
        self.timed = None;
        Some(self.rto.measure(cx.config, sent, cx.now))
    }

    /// The same where each segment is timed or stamped.
    fn rtt_of_each(&mut self, seen: &AckSeen, una: u64, cx: &Cx) -> Option<Dur> {
        let mut first = None;
        while let Some((_, sent)) = self.sent_times.front().filter(|(end, _)| *end <= seen.ack) {
            first.get_or_insert(*sent);
            self.sent_times.pop_front();
        }
        // Karn: an ACK that may be for either of two transmissions tells nothing (RFC 6298 §3).
        let sent_once = una >= self.retransmitted_below;
        let own = first.filter(|_| sent_once).map(|sent| self.rto.measure(cx.config, sent, cx.now));
        let stamped = || self.stamp_rtt(seen.echoed?, cx);
        if cx.config.rtt_sampling == RttSampling::Timestamps { stamped().or(own) } else { own.or_else(stamped) }
    }

    /// Takes in a valid RTT sample.
    #[inline]
    pub fn take_rtt(&mut self, rtt: Dur, cx: &mut Cx) {
        cx.counters.rtt(rtt);
        self.rto.sample(cx.config, rtt, self.law.cwnd(), self.mss);
    }

    /// The RTT that an echoed timestamp tells (RFC 7323 §4.1).
    pub fn stamp_rtt(&self, echoed: u32, cx: &Cx) -> Option<Dur> {
        let ticks = self.clock(cx.config, cx.now).wrapping_sub(echoed);
        // An echo from the future is no echo of ours.
        ((ticks as i32) >= 0).then(|| cx.config.timestamp_clock.saturating_mul(ticks.into()))
    }

    // ---- recovery's decision, in the schemes of the textbook ----

    /// What an ACK does whose number was `una` before it. Returns by how many bytes the window may open.
    #[inline(always)]
    pub fn decide<S: Scheme>(&mut self, scheme: &mut S, seen: &AckSeen, una: u64, cx: &mut Cx) -> u64 {
        let acked = seen.ack - una;
        let grow = if acked > 0 {
            self.on_new_ack(scheme, seen, acked, cx)
        } else {
            if seen.new_sack || (seen.bare && !S::COUNTS_SACKS) {
                self.on_duplicate(scheme, cx);
            }
            0
        };
        let reduced = seen.echo && self.on_echo(scheme, acked, cx);
        if reduced { 0 } else { grow }
    }

    /// RFC 5681 §2 (a): without data outstanding an ACK is no duplicate.
    fn on_duplicate<S: Scheme>(&mut self, scheme: &mut S, cx: &mut Cx) {
        let outstanding = self.max > self.una;
        if outstanding || cx.config.ecn_response.counts_duplicates_of_nothing() {
            cx.counters.dupacks_received += 1;
            self.recovery.dupacks += 1;
        }
        if outstanding {
            scheme.on_dupack(self, cx);
        }
    }

    /// An ACK of `acked` new bytes. Returns by how many the window may open.
    #[inline]
    fn on_new_ack<S: Scheme>(&mut self, scheme: &mut S, seen: &AckSeen, acked: u64, cx: &mut Cx) -> u64 {
        let Progress { grow, rearm } = if self.recovery.active {
            scheme.on_new_ack(self, acked, cx)
        } else {
            self.new_data_acked();
            // RFC 7661 §4.2: a window of which half is used is validated.
            Progress { grow: !cx.config.grow_only_when_limited || 2 * self.used >= self.law.cwnd(), rearm: true }
        };
        if !self.recovery.active {
            scheme.outside(self, cx.config);
        }
        if rearm {
            self.rearm(cx);
        }
        // RFC 3168 §6.1.2, RFC 2481 §6.1.2: an ACK with ECN-Echo does not open the window.
        let echoes = seen.echo && !(cx.config.echo_lets_slow_start && self.starts_again(seen.ack));
        if grow && !echoes && !seen.no_growth { acked } else { 0 }
    }

    /// Whether `ack` is of what was sent again, in slow start.
    fn starts_again(&self, ack: u64) -> bool {
        let window = self.law.state();
        ack <= self.retransmitted_below && window.cwnd < window.ssthresh
    }

    // ---- ECN-Echo ----

    /// ECN-Echo: at most one reduction for a window of data, whether ECN or a loss signalled it first. Returns whether it
    /// has reduced the window.
    fn on_echo<S: Scheme>(&mut self, scheme: &mut S, acked: u64, cx: &mut Cx) -> bool {
        let answered = self.recovery.active || self.una <= self.recovery.recover;
        if answered || cx.config.ecn_response.hears_echo_first() {
            return false;
        }
        scheme.reduce_for_ecn(self, acked, cx);
        cx.counters.ecn_reductions += 1;
        true
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
}

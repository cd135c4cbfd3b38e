//! RTT samples of ACKs.

use ecnlab_base::{Dur, Time};

use super::{AckSeen, Cx, Flight};
use crate::cc::CongestionControl;
use crate::config::{Config, RttSampling};

impl Flight {
    /// Returns the RTT sample of an ACK of new data. `una` is the first unacknowledged offset before it.
    #[inline]
    pub fn rtt_of(&mut self, seen: &AckSeen, una: u64, cx: &Cx) -> Option<Dur> {
        if cx.config.rtt_sampling != RttSampling::TimedSegment {
            return self.rtt_of_each(seen, una, cx);
        }
        let (_, sent) = self.timed.filter(|(end, _)| seen.ack >= *end)?;
        self.timed = None;
        Some(self.timer.rto.measure(cx.config, sent, cx.now))
    }

    /// The same if each segment is timed or carries a timestamp.
    fn rtt_of_each(&mut self, seen: &AckSeen, una: u64, cx: &Cx) -> Option<Dur> {
        let first = self.scoreboard.segments.acknowledge(seen.ack, cx.now);
        // Karn: an ACK of a retransmitted segment is ambiguous (RFC 6298 §3).
        let sent_once = una >= self.resent.below;
        let own = first.filter(|_| sent_once).map(|sent| self.timer.rto.measure(cx.config, sent, cx.now));
        let stamped = || self.stamp_rtt(seen.echoed()?, cx);
        if cx.config.rtt_sampling == RttSampling::Timestamps { stamped().or(own) } else { own.or_else(stamped) }
    }

    /// Processes a valid RTT sample.
    #[inline]
    pub fn take_rtt(&mut self, rtt: Dur, cx: &mut Cx) {
        cx.counters.rtt(rtt);
        self.timer.rto.sample(cx.config, rtt, self.law.cwnd(), self.mss, self.una..self.max);
    }

    /// Returns the RTT from an echoed timestamp (RFC 7323 §4.1).
    pub fn stamp_rtt(&self, echoed: u32, cx: &Cx) -> Option<Dur> {
        self.echo_age(echoed, cx.config, cx.now)
    }

    /// Time since the timestamp `echoed` was sent, in whole ticks of the timestamp clock.
    pub fn echo_age(&self, echoed: u32, config: &Config, now: Time) -> Option<Dur> {
        let ticks = self.clock(config, now).wrapping_sub(echoed);
        // A timestamp ahead of the clock was not sent by this endpoint.
        ((ticks as i32) >= 0).then(|| config.timestamp_clock.saturating_mul(ticks.into()))
    }
}

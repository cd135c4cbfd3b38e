//! Effects of one ACK on the outstanding segments: the number delivered, their send times, and their order.

use ecnlab_base::{Dur, Time};

use super::Duplicates;
use crate::config::RttSampling;
use crate::flight::{AckSeen, Cx, Flight, Outstanding};

/// Effects of one ACK on single segments, collected while it is processed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    /// The ACK acknowledges new bytes.
    pub advanced: bool,
    /// The ACK reports new bytes by SACK.
    pub sacked: bool,
    /// The ACK meets the conditions of a duplicate ACK.
    pub duplicate: bool,
    pub echo: bool,
    pub no_growth: bool,
    pub echoed: Option<u32>,
    /// Highest offset known to have arrived before this ACK, and the recovery point: the highest offset sent before the
    /// last reduction.
    highest: u64,
    recover: u64,
    /// Segments SACKed or acknowledged for the first time.
    pub delivered: u32,
    /// A segment below the recovery point that was never retransmitted has arrived.
    original: bool,
    /// The ACK acknowledges a retransmitted segment.
    retransmitted: bool,
    /// First and last send times of the segments that the ACK acknowledges, then of those it SACKs. Retransmitted
    /// segments are excluded.
    acked: Option<(Time, Time)>,
    pub reported: Option<(Time, Time)>,
    /// The lowest offset of a segment that arrived after higher ones and was not retransmitted.
    pub late: Option<u64>,
    /// Segments marked lost because of this ACK.
    pub lost: u32,
    /// A retransmission was lost.
    pub lost_again: bool,
    /// The D-SACK of the ACK.
    pub duplicates: Duplicates,
    /// Last send time of the segments delivered.
    pub newest: Option<Time>,
    /// The timer must be set again.
    pub set_timer: bool,
    /// No data was outstanding before the ACK.
    pub idle: bool,
    /// Time of the last transmission of the first segment outstanding before the ACK.
    pub head_sent: Option<Time>,
}

impl Delivery {
    /// The state at the start of an ACK. Before it, all data up to `una` and some up to `highest` was known to have
    /// arrived. The last reduction took place when data up to `recover` had been sent.
    #[inline]
    pub fn new(seen: &AckSeen, una: u64, highest: u64, recover: u64) -> Delivery {
        Delivery {
            advanced: seen.ack > una,
            sacked: seen.new_sack,
            duplicate: seen.bare && seen.ack == una,
            echo: seen.echo,
            no_growth: seen.no_growth,
            echoed: seen.echoed(),
            highest: highest.max(una),
            recover,
            ..Delivery::default()
        }
    }

    /// Records the D-SACK of the ACK: retransmissions that arrived in vain are delivered, too.
    pub fn note_duplicates(&mut self, duplicates: Duplicates) {
        self.delivered = duplicates.segments;
        self.late = duplicates.late;
        self.duplicates = duplicates;
    }

    /// Whether the ACK proves that an original transmission from before the last reduction has arrived. Without SACK a
    /// retransmission may have caused the ACK (the kernel's tcp_clean_rtx_queue).
    pub fn proves_original(&self, sackless: bool) -> bool {
        self.original && !(sackless && self.retransmitted)
    }

    /// Whether the ACK is a duplicate that reports no new bytes.
    pub fn is_bare(&self) -> bool {
        self.duplicate && !self.sacked
    }

    /// Processes the SACK of `segment`.
    pub fn report(&mut self, segment: &Outstanding) {
        self.deliver(segment);
        if !segment.ever_retransmitted {
            widen(&mut self.reported, segment.sent);
        }
    }

    /// Processes the cumulative acknowledgement of `segment`.
    pub fn acknowledge(&mut self, segment: &Outstanding) {
        self.retransmitted |= segment.ever_retransmitted;
        if segment.sacked {
            return;
        }
        self.deliver(segment);
        if !segment.ever_retransmitted {
            widen(&mut self.acked, segment.sent);
        }
    }

    fn deliver(&mut self, segment: &Outstanding) {
        self.delivered += 1;
        self.newest = self.newest.max(Some(segment.sent));
        if segment.ever_retransmitted {
            return;
        }
        self.original |= segment.end() <= self.recover;
        if segment.start < self.highest {
            self.late = Some(self.late.map_or(segment.start, |late| late.min(segment.start)));
        }
    }

    /// Returns the RTT sample (the kernel's tcp_ack_update_rtt): from segments sent once, else from the echoed
    /// timestamp (RFC 6298 §3).
    pub fn rtt(&self, tx: &Flight, cx: &Cx) -> Option<Dur> {
        let own = self.first_timed().map(|first| tx.timer.rto.measure(cx.config, first, cx.now));
        let stamped = || tx.stamp_rtt(self.echoed?, cx).filter(|_| self.advanced);
        let by_stamp = cx.config.rtt_sampling == RttSampling::Timestamps;
        if by_stamp { stamped().or(own) } else { own.or_else(stamped) }
    }

    /// Send time of the earliest segment usable for an RTT sample. Karn's rule excludes retransmitted segments
    /// (RFC 6298 §3).
    pub fn first_timed(&self) -> Option<Time> {
        self.acked_once().or(self.reported).map(|(first, _)| first)
    }

    /// Send time of the latest segment usable for an RTT sample.
    #[inline]
    pub fn last_timed(&self) -> Option<Time> {
        match (self.reported, self.acked) {
            (Some((_, last)), _) => Some(last),
            (None, Some((_, last))) if !self.retransmitted => Some(last),
            _ => None,
        }
    }

    fn acked_once(&self) -> Option<(Time, Time)> {
        self.acked.filter(|_| !self.retransmitted)
    }
}

fn widen(span: &mut Option<(Time, Time)>, at: Time) {
    *span = Some((span.map_or(at, |(first, _)| first), at));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Dur;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    fn delivery(highest: u64, recover: u64) -> Delivery {
        Delivery { highest, recover, ..Delivery::default() }
    }

    /// The n-th segment of 1000 bytes, sent at n ms.
    fn segment(n: u64) -> Outstanding {
        let (sacked, lost, retransmitted, ever_retransmitted) = (false, false, false, false);
        Outstanding {
            start: n * 1_000,
            len: 1_000,
            fin: false,
            sent: at(n),
            sacked,
            lost,
            retransmitted,
            ever_retransmitted,
            judged: false,
        }
    }

    #[test]
    fn what_was_held_is_not_delivered_again() {
        let mut delivery = delivery(0, 0);
        delivery.acknowledge(&segment(1));
        delivery.acknowledge(&Outstanding { sacked: true, ..segment(2) });
        delivery.acknowledge(&segment(3));
        delivery.report(&segment(5));
        assert_eq!(delivery.delivered, 3);
        assert_eq!((delivery.first_timed(), delivery.last_timed()), (Some(at(1)), Some(at(5))));
    }

    #[test]
    fn what_was_sent_again_gives_no_time_and_was_not_late() {
        let mut delivery = delivery(9_000, 3_000);
        delivery.acknowledge(&Outstanding { ever_retransmitted: true, ..segment(1) });
        assert_eq!((delivery.first_timed(), delivery.late, delivery.original), (None, None, false));
        delivery.acknowledge(&segment(2));
        assert_eq!((delivery.first_timed(), delivery.late, delivery.original), (None, Some(2_000), true));
        assert!(delivery.proves_original(false));
        assert!(!delivery.proves_original(true), "without SACK the second may have come with the first");
        delivery.report(&segment(4));
        assert_eq!((delivery.first_timed(), delivery.late), (Some(at(4)), Some(2_000)));
    }

    #[test]
    fn only_what_lies_below_the_highest_is_late_and_below_the_recovery_point_original() {
        let mut delivery = delivery(3_000, 3_999);
        delivery.report(&segment(3));
        assert_eq!((delivery.late, delivery.original), (None, false));
    }
}

//! ACK samples for window laws ([`AckSample`]), and notifications of sent data.

use std::ops::Range;

use ecnlab_base::{Dur, Time};

use super::rate::RateSampler;
use super::{AckSeen, Cx, Flight};
use crate::cc::{AckSample, Amount, CongestionControl, Sent};
use crate::config::RttSampling;

/// Fields of [`AckSample`] that the recovery scheme knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub prior_in_flight: u64,
    pub rtt: Option<Dur>,
    pub last_rtt: Option<Dur>,
}

impl Flight {
    /// Returns the sample of an ACK, with the bytes that it delivers and marks. Before it, all up to `una` was acknowledged. Losses
    /// are detected later.
    #[inline(always)]
    pub fn feedback(&mut self, known: Known, seen: &AckSeen, una: u64, cx: &Cx) -> AckSample {
        let una_now = self.una;
        self.sampler.count_round(una_now, self.max);
        if let Some(rtt) = known.last_rtt {
            self.sampler.take_rtt(rtt);
        }
        let delivered = Amount::of(seen.delivered, self.mss);
        let marked = seen.marks.of(delivered);
        let mut delivered_total = 0;
        let segments = &mut self.scoreboard.segments;
        if segments.rates.is_some() {
            // Other RTT sampling has already removed the segments.
            if cx.config.rtt_sampling == RttSampling::TimedSegment || segments.has_probe() {
                segments.acknowledge(una_now, cx.now);
            }
            if let Some(rates) = &mut segments.rates {
                rates.mark(marked.bytes);
                delivered_total = rates.delivered();
            }
        }
        AckSample {
            now: cx.now,
            acked: una_now - una,
            delivered,
            marked,
            lost: Amount::default(),
            delivered_total,
            lost_total: 0,
            in_flight: 0,
            prior_in_flight: known.prior_in_flight,
            rtt: known.rtt,
            last_rtt: known.last_rtt,
            min_rtt: self.sampler.min_rtt(),
            srtt: self.timer.rto.srtt(),
            cwnd_limited: self.last_sent.outstanding + u64::from(self.mss) > self.law.cwnd(),
            round: self.sampler.round(),
            in_recovery: false,
            departure: self.pacer.next(),
            rate: None,
            one_way: if self.law.wants_one_way() { seen.one_way() } else { None },
        }
    }

    /// Returns the bytes newly delivered by an ACK up to `ack`: acknowledged, reported by SACK, or counted by a
    /// duplicate ACK. Called before the ACK is processed and after its SACK blocks are. A duplicate counts only if it
    /// is `bare` ([`AckSeen::bare`]).
    #[inline(never)]
    pub fn newly_delivered(&mut self, ack: u64, bare: bool) -> u64 {
        let sacked = self.sacked.bytes_from(ack);
        let sampler = &mut self.sampler;
        if ack > self.una {
            sampler.forget_duplicates();
        } else if bare && sacked == 0 && self.max > self.una {
            sampler.count_duplicate();
        }
        let beyond = sacked.max(sampler.duplicate_bytes(self.mss));
        sampler.deliver((ack + beyond).min(self.max))
    }

    /// Notifies the law of the ACK after recovery has processed it, and completes its `sample`. `lost` is the total of
    /// bytes marked lost, `in_flight` the bytes in flight.
    #[inline]
    pub fn notify_law(&mut self, lost: u64, in_flight: u64, in_recovery: bool, sample: &mut AckSample) {
        let newly_lost = self.sampler.lose(lost);
        if newly_lost > 0 {
            sample.lost = Amount::of(newly_lost, self.mss);
        }
        sample.lost_total = lost;
        sample.in_flight = in_flight;
        sample.in_recovery = in_recovery;
        self.notify_losses(sample.now);
        sample.rate = self.rates_mut().and_then(|rates| rates.sample(lost, sample.min_rtt));
        self.law.on_ack(sample);
        if let Some(rates) = self.scoreboard.segments.rates.as_deref_mut()
            && self.law.limits_rate()
        {
            rates.limited_by_application(in_flight);
        }
    }

    /// Notifies the law of the segments marked lost since the last call.
    #[inline]
    pub fn notify_losses(&mut self, now: Time) {
        let rates = self.scoreboard.segments.rates.as_deref_mut();
        let Some(rates) = rates.filter(|rates| rates.has_losses()) else { return };
        for lost in rates.take_losses() {
            self.law.on_lost(&lost, now);
        }
    }

    /// The delivery rate sampler, if the law uses one.
    fn rates(&self) -> Option<&RateSampler> {
        self.scoreboard.segments.rates.as_deref()
    }

    fn rates_mut(&mut self) -> Option<&mut RateSampler> {
        self.scoreboard.segments.rates.as_deref_mut()
    }

    /// Bytes sent and neither acknowledged nor reported by SACK.
    #[inline]
    pub fn not_delivered(&self) -> u64 {
        self.max.saturating_sub(self.sampler.delivered().max(self.una))
    }

    /// Marks following rate samples as application-limited if no data waits to be sent and the window has room. Called
    /// before each write by the application and at the end of each burst.
    #[inline]
    pub fn check_application_limited(&mut self) {
        if self.nxt < self.end || self.scoreboard.lost() > self.scoreboard.retransmitted() {
            return;
        }
        let (outstanding, cwnd) = (self.not_delivered(), self.law.cwnd());
        if let Some(rates) = self.rates_mut().filter(|_| outstanding < cwnd) {
            rates.limited_by_application(outstanding);
        }
    }

    /// Notifies the law that the range `offsets`, with `bytes` of payload, is sent. `lost` is the total of bytes marked
    /// lost, `in_flight` the bytes in flight before it.
    #[inline]
    pub fn notify_sent(&mut self, offsets: Range<u64>, bytes: u32, (lost, in_flight): (u64, u64), cx: &Cx) {
        let again = offsets.start < self.max;
        let mut app_limited = false;
        if self.rates().is_some() {
            let outstanding = self.not_delivered();
            let segments = &mut self.scoreboard.segments;
            let known = again && segments.note_rate(offsets.clone(), outstanding, lost, cx.now);
            if let Some(rates) = &mut segments.rates {
                if !again {
                    rates.sent(offsets.clone(), outstanding, lost, cx.now);
                }
                app_limited = rates.is_limited();
            }
            // With other RTT sampling the segment is already stored with its send time.
            if !known && cx.config.rtt_sampling == RttSampling::TimedSegment {
                let fin = offsets.end - offsets.start > u64::from(bytes);
                segments.push(offsets.start, bytes, fin, cx.now);
            }
        }
        self.law.on_sent(&Sent {
            now: cx.now,
            bytes: bytes.into(),
            outstanding: self.max - self.una,
            in_flight,
            again,
            app_limited,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::sampler::Sampler;
    use super::*;
    use crate::config::Config;
    use crate::counters::Counters;
    use crate::ecn;
    use crate::law::Law;
    use crate::profile;
    use crate::registry::{EcnKind, WindowLaw};
    use ecnlab_base::Bytes;
    use ecnlab_wire::Seq;

    fn config() -> Config {
        let config = profile("modern").expect("a profile of ours").config.clone();
        Config { mss: Bytes(1_000), rtt_sampling: RttSampling::TimedSegment, ..config }
    }

    /// A sender that has ten segments of 1000 bytes outstanding, from offset 1, in a window of ten.
    fn with_ten() -> Flight {
        let mut tx = Flight::new(&config(), Seq(0));
        tx.law.set_cwnd(10_000);
        (tx.una, tx.nxt, tx.max, tx.end) = (1, 10_001, 10_001, 10_001);
        tx.sampler = Sampler::new(1, None);
        tx
    }

    fn with_cx<T>(act: impl FnOnce(&Cx) -> T) -> T {
        let (mut counters, mut ecn) = (Counters::default(), ecn::Scheme::new(EcnKind::Off));
        act(&Cx { config: &config(), now: Time::ZERO, counters: &mut counters, ecn: &mut ecn })
    }

    #[test]
    fn the_window_limits_a_sender_that_has_no_room_for_one_more_segment() {
        let limited = |outstanding| {
            let mut tx = with_ten();
            tx.last_sent.outstanding = outstanding;
            let rtt = Some(Dur::from_ms(100));
            let known = Known { prior_in_flight: 0, rtt, last_rtt: rtt };
            let (delivered, marks) = (0, ecn::Marks::None);
            let seen = AckSeen {
                ack: 1,
                delivered,
                echo: false,
                marks,
                no_growth: false,
                bare: true,
                new_sack: false,
                stamps: None,
            };
            let sample = with_cx(|cx| tx.feedback(known, &seen, 1, cx));
            assert_eq!(sample.min_rtt, Dur::from_ms(100));
            sample.cwnd_limited
        };
        assert_eq!([9_000, 9_001].map(limited), [false, true]);
    }

    #[test]
    fn a_duplicate_stands_for_a_segment_if_it_is_bare_and_something_is_outstanding() {
        let mut tx = with_ten();
        assert_eq!([false, true].map(|bare| tx.newly_delivered(1, bare)), [0, 1_000]);
        // The ACK of two segments has one more; the duplicate before it counts no more after it.
        assert_eq!(tx.newly_delivered(2_001, true), 1_000);
        tx.una = 2_001;
        assert_eq!(tx.newly_delivered(2_001, true), 1_000);
        // Without data outstanding it stands for nothing, also when there is some again.
        let mut tx = with_ten();
        (tx.una, tx.sampler) = (10_001, Sampler::new(10_001, None));
        assert_eq!(tx.newly_delivered(10_001, true), 0);
        tx.max = 12_001;
        assert_eq!(tx.newly_delivered(10_001, false), 0);
    }

    #[test]
    fn reported_bytes_above_the_ack_are_delivered() {
        let mut tx = with_ten();
        tx.sacked.insert(1_001, 2_001);
        assert_eq!([true, false].map(|bare| tx.newly_delivered(1, bare)), [1_000, 0], "SACK counts, and no duplicates");
        assert_eq!(tx.newly_delivered(2_001, true), 1_000);
    }

    #[test]
    fn the_application_limits_where_all_is_sent_and_the_window_has_room() {
        // The end of what is written, segments taken for lost, the window.
        let limited = |(end, lost, cwnd)| {
            let mut tx = with_ten();
            tx.end = end;
            tx.law.set_cwnd(cwnd);
            if lost {
                tx.scoreboard.sent(1, 1_000, false, false, Time::ZERO);
                tx.scoreboard.lose_after_timeout(|_| true);
            }
            tx.scoreboard.segments.rates = Some(Box::default());
            tx.check_application_limited();
            tx.rates().is_some_and(RateSampler::is_limited)
        };
        let cases = [(10_001, false, 10_001), (10_001, false, 10_000), (10_002, false, 10_001), (10_001, true, 10_001)];
        assert_eq!(cases.map(limited), [true, false, false, false]);
    }

    #[test]
    fn segments_with_records_are_kept_once_with_their_fin() {
        let mut tx = with_ten();
        tx.scoreboard.segments.rates = Some(Box::default());
        with_cx(|cx| {
            for (offsets, bytes) in [(1..1_001, 1_000), (1..1_001, 1_000), (1_001..2_002, 1_000)] {
                tx.notify_sent(offsets, bytes, (0, 0), cx);
            }
        });
        let kept: Vec<_> = tx.scoreboard.segments.iter().map(|s| (s.start, s.len, s.fin)).collect();
        assert_eq!(kept, [(1, 1_000, false), (1_001, 1_000, true)]);
    }

    #[test]
    fn the_law_distinguishes_new_data_from_retransmissions() {
        let mut tx = with_ten();
        tx.law = Law::new(&Config { congestion: WindowLaw::Prague(Default::default()), ..config() }, 1_000);
        let mut changes = |offsets| {
            let before = format!("{:?}", tx.law);
            with_cx(|cx| tx.notify_sent(offsets, 1_000, (0, 0), cx));
            format!("{:?}", tx.law) != before
        };
        // Prague notes where new data ends, and nothing of what is sent again.
        assert_eq!([1..1_001, 10_001..11_001].map(&mut changes), [false, true]);
    }
}

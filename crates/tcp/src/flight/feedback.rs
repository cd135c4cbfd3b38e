//! The samples of ACKs that window laws ask for ([`AckSample`]), and what laws are notified of when data is sent.

use std::ops::Range;

use ecnlab_base::Dur;

use super::rate::RateSampler;
use super::{AckSeen, Cx, Flight};
use crate::cc::{AckSample, Amount, CongestionControl, Sent};
use crate::config::RttSampling;

/// What a recovery scheme knows of an ACK before it decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// [`AckSample::in_recovery`] and [`AckSample::lost_total`], as the ACK before left them.
    pub in_recovery: bool,
    pub lost: u64,
    pub in_flight: u64,
    pub prior_in_flight: u64,
    pub last_rtt: Option<Dur>,
}

impl Flight {
    /// Tells the law what an ACK that shows `rtt` has delivered and marked. Returns the sample, of which losses are yet to
    /// be found.
    #[cold]
    pub fn feedback(&mut self, known: Known, seen: &AckSeen, una: u64, rtt: Option<Dur>, cx: &Cx) -> AckSample {
        let una_now = self.una;
        self.sampler.count_round(una_now, self.max);
        if let Some(rtt) = known.last_rtt {
            self.sampler.take_rtt(rtt);
        }
        if self.rates().is_some() {
            self.scoreboard.segments.acknowledge(una_now, cx.now);
        }
        let delivered = Amount::of(seen.delivered, self.mss);
        let sample = AckSample {
            now: cx.now,
            acked: Amount::of(una_now - una, self.mss),
            delivered,
            marked: seen.marks.of(delivered),
            lost: Amount::default(),
            delivered_total: self.rates().map_or(0, |rates| rates.delivered()),
            lost_total: known.lost,
            in_flight: known.in_flight,
            prior_in_flight: known.prior_in_flight,
            rtt,
            last_rtt: known.last_rtt,
            min_rtt: self.sampler.min_rtt(),
            srtt: self.timer.rto.smoothed(cx.config).0,
            cwnd_limited: self.last_sent.outstanding + u64::from(self.mss) > self.law.cwnd(),
            round: self.sampler.round(),
            in_recovery: known.in_recovery,
            departure: self.pacer.next(),
            rate: None,
        };
        self.law.on_feedback(&sample);
        sample
    }

    /// Bytes that an ACK up to `ack` acknowledges, reports by SACK or stands for as a duplicate, and that no ACK before it
    /// did. It is yet to be taken in, but for what SACK reports. A duplicate must be `bare` ([`AckSeen::bare`]).
    #[cold]
    pub fn newly_delivered(&mut self, ack: u64, bare: bool) -> u64 {
        let sacked = self.sacked.bytes_below(u64::MAX) - self.sacked.bytes_below(ack);
        let sampler = &mut self.sampler;
        if ack > self.una {
            sampler.forget_duplicates();
        } else if bare && sacked == 0 && self.max > self.una {
            sampler.count_duplicate();
        }
        let beyond = sacked.max(sampler.duplicate_bytes(self.mss));
        sampler.deliver((ack + beyond).min(self.max))
    }

    /// Tells the law of the ACK when recovery has decided, has taken `lost` bytes for lost in total, and counts `in_flight`.
    #[cold]
    pub fn tell_law(&mut self, lost: u64, in_flight: u64, in_recovery: bool, mut sample: AckSample) {
        sample.lost = Amount::of(self.sampler.lose(lost), self.mss);
        sample.lost_total = lost;
        sample.in_flight = in_flight;
        sample.in_recovery = in_recovery;
        sample.rate = self.rates_mut().and_then(|rates| rates.sample(lost, sample.min_rtt));
        self.law.on_ack(&sample);
        let limited = self.law.limits_rate();
        if let Some(rates) = self.rates_mut().filter(|_| limited) {
            rates.limited_by_application(in_flight);
        }
    }

    /// The samples of the delivery rate, if the law asks for them.
    fn rates(&self) -> Option<&RateSampler> {
        self.scoreboard.segments.rates.as_deref()
    }

    fn rates_mut(&mut self) -> Option<&mut RateSampler> {
        self.scoreboard.segments.rates.as_deref_mut()
    }

    /// Bytes sent and neither acknowledged nor known to have arrived.
    pub fn not_delivered(&self) -> u64 {
        self.max - self.sampler.delivered().clamp(self.una, self.max)
    }

    /// Nothing may be waiting to be sent although the window has room: data delivered then is no evidence of the rate of the
    /// path. Asked where the application writes, before what it writes counts, and where a burst of sending ends.
    #[inline]
    pub fn check_application_limited(&mut self) {
        if self.rates().is_none() {
            return;
        }
        let outstanding = self.not_delivered();
        let all_sent = self.nxt >= self.end && self.scoreboard.lost() <= self.scoreboard.retransmitted();
        let limited = all_sent && outstanding < self.law.cwnd();
        if let Some(rates) = self.rates_mut().filter(|_| limited) {
            rates.limited_by_application(outstanding);
        }
    }

    /// Tells the law of what leaves at these offsets, with so many bytes of payload, when `lost` bytes are taken for lost in
    /// total and `in_flight` are in flight.
    #[cold]
    pub fn tell_sent(&mut self, offsets: Range<u64>, bytes: u32, (lost, in_flight): (u64, u64), cx: &Cx) {
        let outstanding = self.not_delivered();
        if self.rates().is_some() {
            let segments = &mut self.scoreboard.segments;
            let known = segments.note_rate(offsets.clone(), outstanding, lost, cx.now);
            // Else the segment is kept with its send time.
            if !known && cx.config.rtt_sampling == RttSampling::TimedSegment {
                let fin = offsets.end - offsets.start > u64::from(bytes);
                segments.push(offsets.start, bytes, fin, cx.now);
            }
        }
        let app_limited = self.rates().is_some_and(|rates| rates.is_limited());
        self.law.on_sent(&Sent {
            now: cx.now,
            bytes: bytes.into(),
            outstanding: self.max - self.una,
            in_flight,
            again: offsets.start < self.max,
            app_limited,
        });
    }
}

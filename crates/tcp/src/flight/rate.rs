//! Delivery rate samples for laws that use them (draft-cheng-iccrg-delivery-rate-estimation-02, whose names the
//! comments use; Linux net/ipv4/tcp_rate.c).

use std::collections::VecDeque;
use std::ops::Range;

use ecnlab_base::{Dur, Time};

use super::segment::Outstanding;
use crate::cc::{Lost, RateSample};

/// State of the connection when a segment was last sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// P.sent_time.
    sent: Time,
    /// P.first_sent_time: send time of the first segment of this flight.
    first_sent: Time,
    /// P.delivered and P.delivered_time.
    delivered: u64,
    delivered_at: Time,
    /// P.lost and P.tx_in_flight, including the segment.
    lost: u64,
    in_flight: u64,
    /// Bytes whose marks were reported before it.
    marked: u64,
    app_limited: bool,
    /// SACK has reported the segment.
    arrived: bool,
}

/// What has been delivered.
#[derive(Clone, Debug, Default)]
struct Arrivals {
    /// C.delivered and C.delivered_time.
    delivered: u64,
    delivered_at: Time,
    /// C.first_sent_time.
    first_sent: Time,
    /// End and record of the most recently sent segment that this ACK delivers.
    newest: Option<(u64, Record)>,
}

impl Arrivals {
    /// UpdateRateSample.
    #[inline(always)]
    fn deliver(&mut self, range: Range<u64>, record: &Record, now: Time) {
        self.delivered += range.end - range.start;
        self.delivered_at = now;
        // Of two segments sent at the same delivered count and time, the one with the higher offset was sent later.
        let order = |end, r: &Record| (r.delivered, r.sent, end);
        if self.newest.as_ref().is_none_or(|(end, newest)| order(range.end, record) > order(*end, newest)) {
            self.newest = Some((range.end, *record));
            self.first_sent = record.sent;
        }
    }
}

/// The sampler of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    /// One record for each outstanding segment, in stream order, then that of `leaving`. `None` for a FIN that was added to
    /// a retransmission.
    records: VecDeque<Option<Record>>,
    /// Range of a segment that is being sent, until the segment is stored. Linux's schemes store no segment for a window
    /// probe: its range stays here.
    leaving: Option<Range<u64>>,
    arrivals: Arrivals,
    /// C.app_limited: samples are application-limited until the delivered bytes exceed this value.
    app_limited: Option<u64>,
    /// Bytes whose marks were reported, in total.
    marked: u64,
    /// Segments marked lost that the law has not seen yet.
    losses: Vec<Lost>,
}

impl RateSampler {
    /// SendPacket: `range` is sent for the first time. `outstanding` is the bytes in flight without it, `lost` the total of
    /// bytes marked lost.
    #[inline(always)]
    pub fn sent(&mut self, range: Range<u64>, outstanding: u64, lost: u64, now: Time) {
        if self.has_probe() {
            return self.sent_again(None, range, outstanding, lost, now);
        }
        let record = self.record(outstanding, outstanding + range.end - range.start, lost, now);
        self.records.push_back(Some(record));
        self.leaving = Some(range);
    }

    /// The same where the range may have been sent before. `place` is the position of its segment if that is outstanding.
    #[cold]
    #[inline(never)]
    pub fn sent_again(&mut self, place: Option<usize>, range: Range<u64>, outstanding: u64, lost: u64, now: Time) {
        let leaving = self.leaving.as_ref().map(|leaving| leaving.start);
        let again = place.map_or(leaving == Some(range.start), |place| self.records[place].is_some());
        let in_flight = outstanding + if again { 0 } else { range.end - range.start };
        let record = Some(self.record(outstanding, in_flight, lost, now));
        if let Some(place) = place {
            self.records[place] = record;
            return;
        }
        if leaving.is_some() {
            self.records.pop_back();
        }
        self.records.push_back(record);
        if !again {
            self.leaving = Some(range);
        }
    }

    /// The record of a segment that is sent, with `outstanding` bytes in flight before it and `in_flight` with it.
    #[inline(always)]
    fn record(&mut self, outstanding: u64, in_flight: u64, lost: u64, now: Time) -> Record {
        let arrivals = &mut self.arrivals;
        if outstanding == 0 {
            (arrivals.first_sent, arrivals.delivered_at) = (now, now);
        }
        Record {
            sent: now,
            first_sent: arrivals.first_sent,
            delivered: arrivals.delivered,
            delivered_at: arrivals.delivered_at,
            lost,
            in_flight,
            marked: self.marked,
            app_limited: self.app_limited.is_some(),
            arrived: false,
        }
    }

    /// Records that the segment being sent is stored, behind all others.
    #[inline]
    pub fn keep(&mut self) {
        if self.leaving.take().is_none() {
            self.records.push_back(None);
        }
    }

    /// Processes a SACK report of the segment at `place` with the offsets `range`.
    #[cold]
    #[inline(never)]
    pub fn report(&mut self, place: usize, range: Range<u64>, now: Time) {
        let Some(record) = self.records[place].as_mut().filter(|record| !record.arrived) else { return };
        record.arrived = true;
        self.arrivals.deliver(range, record, now);
    }

    /// Processes the acknowledgement of the first segment, with the offsets `range`.
    #[inline(always)]
    pub fn acknowledge(&mut self, range: Range<u64>, now: Time) {
        if let Some(Some(record)) = self.records.front()
            && !record.arrived
        {
            self.arrivals.deliver(range, record, now);
        }
        self.records.pop_front();
    }

    /// Whether there may be a window probe without a stored segment.
    #[inline]
    pub fn has_probe(&self) -> bool {
        self.leaving.is_some()
    }

    /// Processes an ACK up to `ack` for a window probe that has no stored segment.
    #[inline]
    pub fn acknowledge_probe(&mut self, ack: u64, now: Time) {
        if let Some(range) = self.leaving.take_if(|range| range.end <= ack)
            && let Some(record) = self.records.pop_back().flatten()
        {
            self.arrivals.deliver(range, &record, now);
        }
    }

    /// GenerateRateSample, at the end of an ACK. `lost` is the total of bytes marked lost. Returns `None` if the ACK
    /// delivers nothing or if the interval is below `min_rtt`, as after ACK compression.
    pub fn sample(&mut self, lost: u64, min_rtt: Dur) -> Option<RateSample> {
        if self.app_limited.is_some_and(|until| self.arrivals.delivered > until) {
            self.app_limited = None;
        }
        let (_, record) = self.arrivals.newest.as_ref()?;
        // The longer of the send and ACK intervals avoids overestimates from ACK compression.
        let send = record.sent.since(record.first_sent);
        let interval = send.max(self.arrivals.delivered_at.since(record.delivered_at));
        let sample = (interval >= min_rtt && !interval.is_zero()).then(|| RateSample {
            delivered: self.arrivals.delivered - record.delivered,
            interval,
            prior_delivered: record.delivered,
            lost: lost - record.lost,
            marked: self.marked - record.marked,
            tx_in_flight: record.in_flight,
            app_limited: record.app_limited,
        });
        self.arrivals.newest = None;
        sample
    }

    /// Counts `bytes` whose marks an ACK reports.
    pub fn mark(&mut self, bytes: u64) {
        self.marked += bytes;
    }

    /// Records that `segment`, at `place`, is marked lost; with it `lost` bytes are, in total.
    #[cold]
    #[inline(never)]
    pub fn lose(&mut self, place: usize, segment: &Outstanding, lost: u64) {
        let Some(record) = self.records[place] else { return };
        self.losses.push(Lost {
            start: segment.start,
            bytes: segment.len.into(),
            lost: lost - record.lost,
            delivered_total: self.arrivals.delivered,
            tx_in_flight: record.in_flight,
            app_limited: record.app_limited,
        });
    }

    /// Whether segments were marked lost since the last call of [`take_losses`](Self::take_losses).
    #[inline]
    pub fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// Removes and returns the segments marked lost since the last call, in the order of marking.
    #[inline]
    pub fn take_losses(&mut self) -> impl Iterator<Item = Lost> {
        self.losses.drain(..)
    }

    /// Bytes delivered in total.
    pub fn delivered(&self) -> u64 {
        self.arrivals.delivered
    }

    /// Whether samples of data sent now are application-limited.
    pub fn is_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// CheckIfApplicationLimited: no data waits to be sent, though the window has room for more than the `outstanding`
    /// bytes.
    pub fn limited_by_application(&mut self, outstanding: u64) {
        self.app_limited = Some(self.arrivals.delivered + outstanding);
    }
}

#[cfg(test)]
mod tests {
    use super::super::segments::Segments;
    use super::*;
    use crate::endpoint::Endpoint;
    use crate::registry::WindowLaw;
    use ecnlab_wire::{Flags, IpVersion, SackBlock, SackBlocks, Seq};
    use std::sync::Arc;

    const MSS: u64 = 1_000;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// A sender of segments of 1000 bytes, numbered from 0.
    struct Bench {
        segments: Segments,
        outstanding: u64,
    }

    impl Default for Bench {
        fn default() -> Bench {
            Bench { segments: Segments::with_rates(), outstanding: 0 }
        }
    }

    impl Bench {
        fn rates(&mut self) -> &mut RateSampler {
            self.segments.rates.as_mut().unwrap()
        }

        /// The n-th segment leaves at so many milliseconds.
        fn send(&mut self, n: u64, ms: u64) {
            let known = self.segments.note_rate(n * MSS..(n + 1) * MSS, self.outstanding, 0, at(ms));
            if !known {
                self.segments.push(n * MSS, MSS as u32, false, at(ms));
            }
            self.outstanding += MSS;
        }

        /// All before the n-th are acknowledged; the RTT is 10 ms. Bytes, milliseconds, and whether the application was the
        /// limit.
        fn ack(&mut self, n: u64, ms: u64) -> Option<(u64, u64, bool)> {
            let before = self.rates().arrivals.delivered;
            self.segments.acknowledge(n * MSS, at(ms));
            self.outstanding -= self.rates().arrivals.delivered - before;
            self.rates().sample(0, Dur::from_ms(10)).map(numbers)
        }

        /// SACK reports the segments from `first` up to `end`.
        fn sack(&mut self, first: u64, end: u64, ms: u64) -> Option<(u64, u64, bool)> {
            let before = self.rates().arrivals.delivered;
            self.segments.report(first * MSS..end * MSS, at(ms));
            self.outstanding -= self.rates().arrivals.delivered - before;
            self.rates().sample(0, Dur::from_ms(10)).map(numbers)
        }
    }

    fn numbers(sample: RateSample) -> (u64, u64, bool) {
        (sample.delivered, sample.interval.ps() / 1_000_000_000, sample.app_limited)
    }

    #[test]
    fn the_bottleneck_s_rate_shows_after_a_round_trip() {
        let mut bench = Bench::default();
        // Ten leave at once; the bottleneck lets one through every 2 ms: ACKs from 10 ms on.
        (0..10).for_each(|n| bench.send(n, 0));
        assert_eq!(bench.ack(1, 10), Some((1_000, 10, false)));
        bench.send(10, 10);
        assert_eq!(bench.ack(2, 12), Some((2_000, 12, false)));
        (3..=10).for_each(|n| assert_eq!(bench.ack(n, 8 + 2 * n), Some((n * 1_000, 8 + 2 * n, false))));
        // The one sent at 10 ms, when 1000 bytes had been delivered, is acknowledged at 30 ms: 10 kB in 20 ms.
        assert_eq!(bench.ack(11, 30), Some((10_000, 20, false)));
    }

    #[test]
    fn acks_in_a_burst_do_not_raise_the_rate_above_that_of_sending() {
        let mut bench = Bench::default();
        (0..20).for_each(|n| bench.send(n, n));
        // A box held all their ACKs back but the last: 20 kB in the 31 ms from the first sending.
        assert_eq!(bench.ack(20, 31), Some((20_000, 31, false)));
        (0..4).for_each(|n| bench.send(20 + n, 40 + 10 * n));
        assert_eq!(bench.ack(21, 71), Some((1_000, 31, false)));
        bench.send(24, 72);
        // Four ACKs in one, 11 ms after the ACK before: 4 kB, sent in the 32 ms from 40 ms on.
        assert_eq!(bench.ack(25, 82), Some((4_000, 32, false)));
    }

    #[test]
    fn an_interval_below_the_least_rtt_gives_no_sample() {
        let mut rates = RateSampler::default();
        rates.sent(0..1_000, 0, 0, at(0));
        rates.keep();
        rates.acknowledge(0..1_000, at(10));
        assert_eq!(rates.clone().sample(0, Dur::from_ms(11)), None);
        assert!(rates.sample(0, Dur::from_ms(10)).is_some());
    }

    #[test]
    fn sacks_deliver_once_and_what_is_sent_again_counts_from_then() {
        let mut bench = Bench::default();
        (0..4).for_each(|n| bench.send(n, n));
        // The first is lost. The third and fourth are reported, then all after the first.
        assert_eq!(bench.sack(2, 4, 13), Some((2_000, 13, false)));
        assert_eq!(bench.sack(1, 4, 14), Some((3_000, 14, false)));
        assert_eq!(bench.sack(1, 4, 14), None, "nothing new");
        bench.send(0, 14);
        // Sent again at 14 ms, when 3000 bytes had been delivered: 1000 in the 12 ms since, or in the 13 ms of sending since
        // the second segment, which was the last to be delivered.
        assert_eq!(bench.ack(4, 26), Some((1_000, 13, false)));
    }

    #[test]
    fn what_is_sent_after_the_application_ran_out_is_marked_until_more_is_delivered() {
        let mut bench = Bench::default();
        bench.send(0, 0);
        let outstanding = bench.outstanding;
        bench.rates().limited_by_application(outstanding);
        bench.send(1, 5);
        assert_eq!(bench.ack(1, 10), Some((1_000, 10, false)), "sent before it ran out");
        bench.send(2, 12);
        // More than the 1000 bytes is delivered with this, which was sent under the mark.
        assert_eq!(bench.ack(2, 15), Some((2_000, 15, true)));
        bench.send(3, 20);
        assert_eq!(bench.ack(3, 22), Some((2_000, 12, true)));
        assert_eq!(bench.ack(4, 30), Some((2_000, 15, false)));
    }

    #[test]
    fn a_flight_after_silence_begins_anew() {
        let mut bench = Bench::default();
        bench.send(0, 0);
        assert_eq!(bench.ack(1, 10), Some((1_000, 10, false)));
        bench.send(1, 1_000);
        assert_eq!(bench.ack(2, 1_010), Some((1_000, 10, false)), "the second of silence does not count");
    }

    #[test]
    fn an_endpoint_books_what_it_sends_and_what_acks_deliver() {
        let mut config = crate::profile("modern").unwrap().config.clone();
        (config.congestion, config.timestamps) = (WindowLaw::Cubic(Default::default()), false);
        let mut out = Vec::new();
        let mut end = Endpoint::connect(&Arc::new(config), IpVersion::V4, Seq(0), at(0), &mut out);
        let segment = |flags: Flags, ack: u32| ecnlab_wire::Segment {
            seq: Seq(1),
            ack: Seq(ack),
            flags: flags | Flags::ACK,
            window: 65_535,
            ..Default::default()
        };
        let syn_ack =
            ecnlab_wire::Segment { seq: Seq(0), mss: Some(1_000), sack_permitted: true, ..segment(Flags::SYN, 1) };
        end.on_segment(&syn_ack, at(10), &mut out);
        end.tx.flight.scoreboard.segments.rates = Some(Box::default());
        end.write(5_000, at(10), &mut out);
        let rates = |end: &Endpoint| end.tx.flight.scoreboard.segments.rates.clone().unwrap();
        // Five of a window of ten: the application has no more.
        assert_eq!((rates(&end).records.len(), rates(&end).app_limited), (5, Some(5_000)));
        end.on_segment(&segment(Flags::empty(), 2_001), at(20), &mut out);
        let mut sack = SackBlocks::NONE;
        sack.push(SackBlock { start: Seq(3_001), end: Seq(4_001) });
        end.on_segment(&ecnlab_wire::Segment { sack, ..segment(Flags::empty(), 2_001) }, at(21), &mut out);
        let known = rates(&end);
        assert_eq!((known.arrivals.delivered, known.arrivals.delivered_at, known.records.len()), (3_000, at(21), 3));
        // More than the window holds is written. All leave under the mark: before the first write, too, nothing waited.
        end.write(100_000, at(22), &mut out);
        let known = rates(&end);
        assert!(known.records.len() > 3 && known.records.iter().all(|r| r.unwrap().app_limited));
        assert_eq!(known.app_limited, Some(5_000));
        let last = known.records.back().unwrap().unwrap();
        assert_eq!((last.delivered, last.delivered_at, last.first_sent), (3_000, at(21), at(10)));
    }

    #[test]
    fn a_sample_counts_the_data_in_flight_and_lost_meanwhile() {
        let mut rates = RateSampler::default();
        rates.sent(0..1_000, 0, 500, at(0));
        rates.keep();
        rates.sent(1_000..2_000, 1_000, 700, at(1));
        rates.keep();
        rates.acknowledge(0..1_000, at(20));
        rates.acknowledge(1_000..2_000, at(20));
        let sample = rates.sample(1_000, Dur::ZERO).unwrap();
        assert_eq!((sample.lost, sample.tx_in_flight, sample.prior_delivered), (300, 2_000, 0));
    }

    #[test]
    fn a_probe_sent_again_is_in_flight_once() {
        let mut rates = RateSampler::default();
        rates.sent(0..1, 0, 0, at(0));
        rates.sent(0..1, 1, 0, at(10));
        rates.acknowledge_probe(1, at(30));
        assert_eq!(rates.sample(0, Dur::ZERO).map(|sample| sample.tx_in_flight), Some(1));
    }
}

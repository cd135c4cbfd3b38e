//! A sender's outstanding data, window and timer: the state that recovery schemes work on.

use std::ops::Range;

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{SackBlock, Seq};

use crate::cc::{CongestionControl, Established, Pacing};
use crate::config::{Config, InitialSsthresh, PacedBy, RttSampling};
use crate::ecn::Feedback;
use crate::facts::Paces;
use crate::law::Law;
use crate::ranges::Ranges;

use super::chunk::{Chunk, How};
use super::context::Cx;
use super::last_sent::LastSent;
use super::pacer::Pacer;
use super::peer_window::PeerWindow;
use super::rate_limited_state::RateLimited;
use super::recovery::{Cause, DUP_THRESH, Recovery};
use super::resent::Resent;
use super::sampler::Sampler;
use super::scoreboard::Scoreboard;
use super::timer::Timer;

/// Data of an endless source, in bytes: no run writes 2^62.
const ENDLESS: u64 = 1 << 62;

/// The sender without its recovery scheme. Offsets count bytes of its own stream: SYN is 0, data starts at 1, FIN
/// follows the data.
#[derive(Debug)]
pub(crate) struct Flight {
    /// First offset not acknowledged.
    pub una: u64,
    /// Next offset to send in order; a timeout sets it back.
    pub nxt: u64,
    /// One past the highest offset sent.
    pub max: u64,
    /// One past the last byte the application has written.
    pub end: u64,
    pub timer: Timer,
    pub peer_window: PeerWindow,
    pub law: Law,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The application has closed the connection: FIN follows the data.
    pub closing: bool,
    pub recovery: Recovery,
    pub iss: Seq,
    /// End and send time of the segment being timed.
    pub timed: Option<(u64, Time)>,
    pub last_sent: LastSent,
    pub resent: Resent,
    /// Bytes the peer reported by SACK.
    pub sacked: Ranges,
    /// Outstanding segments, stored if something needs single segments, with the state that Linux's schemes keep of
    /// them.
    pub scoreboard: Scoreboard,
    /// State of ACK samples, for laws that use them.
    pub sampler: Sampler,
    /// Pacing of segments.
    pub pacer: Pacer,
    /// State of `rate_limited_growth`, if its value has any.
    pub rate_limited: Option<Box<RateLimited>>,
}

/// What the handshake has settled, when the SYN of the sender is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    /// Segment size in bytes.
    pub mss: u32,
    /// Both ends use SACK.
    pub sack: bool,
    /// The timestamp that the segment echoes.
    pub echoed: Option<u32>,
    /// The ECN-capable SYN or SYN-ACK was marked: the initial window is one segment.
    pub marked: bool,
}

impl Flight {
    pub fn new(config: &Config, iss: Seq) -> Flight {
        let mss = config.mss.0 as u32;
        let law = Law::new(config, mss);
        Flight {
            una: 0,
            nxt: 0,
            max: 0,
            end: 1,
            timer: Timer::new(config, iss),
            peer_window: PeerWindow::default(),
            pacer: Pacer::new(config, law.credits_lateness()),
            law,
            mss,
            closing: false,
            recovery: Recovery::default(),
            iss,
            timed: None,
            last_sent: LastSent::default(),
            resent: Resent::default(),
            sacked: Ranges::default(),
            scoreboard: Scoreboard::default(),
            sampler: Sampler::default(),
            rate_limited: None,
        }
    }

    /// The application writes `bytes` more bytes.
    pub fn write(&mut self, bytes: u64) {
        self.check_application_limited();
        self.end = self.end.saturating_add(bytes).min(ENDLESS);
    }

    /// The application writes `bytes` in place of the data not yet sent.
    pub fn replace_unsent(&mut self, bytes: u64) {
        self.check_application_limited();
        self.withdraw();
        self.end = self.end.saturating_add(bytes).min(ENDLESS);
    }

    /// Discards the data not yet sent. No effect once the FIN is sent.
    pub fn withdraw(&mut self) {
        self.end = self.end.min(self.max.max(1));
    }

    /// Whether no data was ever written and no FIN is due, as at an endpoint that only receives.
    pub fn sends_nothing(&self) -> bool {
        self.end == 1 && !self.closing
    }

    /// The sequence number of `offset`.
    pub fn seq(&self, offset: u64) -> Seq {
        self.iss + offset as u32
    }

    /// The offset of `seq`, if it lies between the first unacknowledged and the highest sent offset, both included.
    pub fn offset(&self, seq: Seq) -> Option<u64> {
        let offset = self.una + u64::from(seq - self.seq(self.una));
        (offset <= self.max).then_some(offset)
    }

    /// The offset of `seq`, also of acknowledged data and of data not sent; `None` before the SYN.
    fn offset_anywhere(&self, seq: Seq) -> Option<u64> {
        self.una.checked_add_signed(i64::from((seq - self.seq(self.una)) as i32))
    }

    /// The D-SACK in the SACK `blocks` of an ACK up to the offset `ack`, of data sent: the first block, if it begins below
    /// `ack` or lies within the second (RFC 2883 §5).
    pub fn duplicate_block(&self, blocks: &[SackBlock], ack: u64) -> Option<Range<u64>> {
        let range = |block: &SackBlock| Some(self.offset_anywhere(block.start)?..self.offset_anywhere(block.end)?);
        let first = range(blocks.first()?)?;
        let within = |second: Range<u64>| second.start <= first.start && first.end <= second.end;
        let again = first.start < ack || blocks.get(1).and_then(range).is_some_and(within);
        (again && first.start < first.end && first.end <= self.max).then_some(first)
    }

    /// Bytes sent and not acknowledged; after go-back-N, only those sent since.
    pub fn in_flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Advances the first unacknowledged offset to `ack`.
    #[inline(always)]
    pub fn acknowledge(&mut self, ack: u64) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.timer.timeouts = 0;
        if !self.sacked.is_empty() {
            self.sacked.trim_below(ack);
        }
    }

    /// Acknowledged bytes of data.
    pub fn data_acked(&self) -> u64 {
        self.una.min(self.end).saturating_sub(1)
    }

    /// Whether the FIN was sent and acknowledged.
    pub fn fin_acked(&self) -> bool {
        self.closing && self.una > self.end
    }

    /// Whether a FIN follows the data that ends at `end`.
    pub fn fin_ends(&self, end: u64) -> bool {
        self.closing && end == self.end
    }

    /// Processes the window update of an acceptable segment. Returns whether the window changed.
    #[inline]
    pub fn set_peer_window(&mut self, window: u64, config: &Config) -> bool {
        let changed = window != self.peer_window.current;
        self.peer_window.current = window;
        if window > self.peer_window.greatest {
            self.widen(window, config);
        }
        changed
    }

    /// The peer's window is the largest so far: raises an initial ssthresh that was set to the window. The window of a
    /// SYN is not scaled (RFC 7323 §2.2), so that windows above 65535 bytes become known with the first ACK.
    #[cold]
    fn widen(&mut self, window: u64, config: &Config) {
        let follows = config.initial_ssthresh == InitialSsthresh::PeerWindow;
        if follows && self.law.state().ssthresh == self.peer_window.greatest {
            self.law.set_ssthresh(window);
        }
        self.peer_window.greatest = window;
    }

    /// The current value of the timestamp clock. Its start is derived from the initial sequence number.
    pub fn clock(&self, config: &Config, now: Time) -> u32 {
        timestamp(config, self.iss, now)
    }

    // ---- pacing ----

    /// Begins a burst. Returns whether pacing admits it.
    #[inline(always)]
    pub fn begin_burst(&mut self, config: &Config, now: Time) -> bool {
        match self.law.paces() {
            Paces::Never => true,
            // The rate is not needed yet.
            Paces::Always if self.pacer.begin_early(now) => false,
            _ => self.begin_paced_burst(config, now),
        }
    }

    #[inline(never)]
    fn begin_paced_burst(&mut self, config: &Config, now: Time) -> bool {
        self.pacer.begin(self.pacing(config), now)
    }

    /// The rate of the law, or Linux's if the configuration sets that.
    fn pacing(&self, config: &Config) -> Option<Pacing> {
        self.law.pacing().or_else(|| {
            let srtt = self.timer.rto.srtt();
            let pacing = Pacing::of_window(self.law.state(), self.max - self.una, srtt, self.mss.into());
            (config.pacing == PacedBy::Linux).then(|| pacing.unwrap_or(Pacing::UNLIMITED))
        })
    }

    // ---- next chunk ----

    pub fn head(&self) -> Chunk {
        let end = self.sacked.next_start(self.una).unwrap_or(u64::MAX).min(self.end).min(self.max);
        let len = end.saturating_sub(self.una).min(self.mss.into());
        let how = if self.recovery.partial_seen { How::PartialHead } else { How::FastHead };
        Chunk { start: self.una, len: len as u32, fin: self.fin_ends(self.una + len), how }
    }

    /// The next chunk in order that the congestion window and the peer's window admit.
    #[inline]
    pub fn next_in_window(&mut self, config: &Config) -> Option<Chunk> {
        let start = self.nxt;
        let stop = start + u64::from(self.mss);
        // The common case: a full segment of new data that fits into the peer's window.
        if start < self.max || stop >= self.end || stop > self.una + self.peer_window.current {
            return self.next_in_window_at_an_edge(config);
        }
        let admitted = stop - self.una <= self.window(config);
        admitted.then_some(Chunk { start, len: self.mss, fin: false, how: How::InOrder })
    }

    /// The same for retransmissions, at the end of the data, and at the edge of the peer's window.
    #[inline(never)]
    fn next_in_window_at_an_edge(&mut self, config: &Config) -> Option<Chunk> {
        let start =
            if self.nxt < self.max && config.sack_after_timeout { self.sacked.next_gap(self.nxt) } else { self.nxt };
        let chunk = self.stretch(start)?;
        let mut flight = start - self.una;
        if start < self.max && config.sack_after_timeout && !self.sacked.is_empty() {
            // After go-back-N, SACKed data is not sent again and does not count as in flight.
            flight -= self.sacked.bytes_below(start);
        }
        (flight + u64::from(chunk.len) <= self.window(config)).then_some(chunk)
    }

    /// The next chunk in order, if the peer's window admits any.
    pub fn in_order(&self) -> Option<Chunk> {
        self.stretch(self.nxt)
    }

    /// New data, if the peer's window admits any.
    pub fn new_data(&self) -> Option<Chunk> {
        self.stretch(self.max.max(self.nxt))
    }

    /// The congestion window plus the window inflation and limited transmit, in bytes.
    #[inline]
    pub fn window(&self, config: &Config) -> u64 {
        let window = self.law.cwnd() + self.recovery.inflation;
        if self.recovery.dupacks == 0 { window } else { window + self.limited_transmit(config) }
    }

    /// RFC 3042 §2: each of the first two duplicate ACKs lets the sender send one new segment.
    #[cold]
    fn limited_transmit(&self, config: &Config) -> u64 {
        let r = &self.recovery;
        let applies = r.dupacks < DUP_THRESH && config.limited_transmit && !r.active;
        if applies { u64::from(r.dupacks) * u64::from(self.mss) } else { 0 }
    }

    /// The congestion window in whole segments.
    #[inline]
    pub fn window_in_segments(&self) -> u32 {
        (self.law.cwnd() / u64::from(self.mss)).min(u32::MAX.into()) as u32
    }

    /// A chunk of at most a full segment from `start`, limited by the data and the peer's window.
    #[inline]
    pub fn stretch(&self, start: u64) -> Option<Chunk> {
        let mut stop = self.end.min(start + u64::from(self.mss));
        if start < self.max {
            // A segment holds either retransmitted or new data, so that each byte is counted correctly.
            stop = stop.min(self.max);
            if let Some(held) = self.sacked.next_start(start) {
                stop = stop.min(held);
            }
        }
        let fin = self.fin_ends(stop.max(start));
        if start >= stop {
            // A FIN alone does not use the congestion window.
            return (fin && start == self.end).then_some(Chunk { start, len: 0, fin, how: How::InOrder });
        }
        let len = stop - start;
        let room = (self.una + self.peer_window.current).saturating_sub(start);
        if room >= len {
            return Some(Chunk { start, len: len as u32, fin, how: How::InOrder });
        }
        // Silly window syndrome avoidance: a window of half the largest one is used (RFC 9293 §3.8.6.2.1).
        let worth = room > 0 && room >= self.peer_window.greatest / 2;
        worth.then_some(Chunk { start, len: room as u32, fin: false, how: How::InOrder })
    }

    // ---- the timer ----

    /// Holds the sender: after ECN at a window of one segment, no new data is sent before the timer fires.
    pub fn hold(&mut self, cx: &mut Cx) {
        self.timer.held = true;
        cx.counters.ecn_holds += 1;
        self.arm(cx.config, cx.now);
    }

    /// Whether new data waits for the timer to fire.
    pub fn is_held(&self) -> bool {
        self.timer.held
    }

    /// Restarts the timer.
    pub fn arm(&mut self, config: &Config, now: Time) {
        self.timer.arm(config, now);
    }

    /// Restarts or stops the timer after an ACK of new data: RFC 6298 §5.2 and §5.3.
    pub(crate) fn rearm(&mut self, cx: &Cx) {
        if self.timer.held && !cx.config.ecn_response.rearms_while_held() {
            return;
        }
        if self.una == self.max && !self.timer.held {
            self.timer.deadline = Time::NEVER;
        } else {
            self.arm(cx.config, cx.now);
        }
    }

    // ---- the handshake's part ----

    /// Records that the SYN is sent, for the first time or again.
    pub fn syn_sent(&mut self, config: &Config, now: Time) {
        if self.max == 0 {
            self.nxt = 1;
            self.max = 1;
            self.timed = Some((1, now));
        } else {
            // The time of the first is kept, but an answer to a later one gives no RTT.
            self.timed = self.timed.map(|(_, first)| (0, first));
        }
        self.arm(config, now);
    }

    /// RFC 5681 §4.1: limits the window to the restart window after more than one RTO without a segment sent. Linux tests
    /// this when the application writes (tcp_skb_entail), so that data that waited for the peer's window keep the window.
    #[inline]
    pub fn restart_after_idle(&mut self, is_linux: impl FnOnce() -> bool, config: &Config, now: Time) {
        if self.max > self.una || self.una <= 1 {
            return;
        }
        if self.rate_limited.is_some() {
            self.end_non_validated_periods(config, now);
        }
        if config.idle_restart
            && now.since(self.last_sent.at) > self.timer.rto.current()
            && !(is_linux() && self.waits_for_window())
        {
            self.law.on_idle_restart(u64::from(config.initial_window) * u64::from(self.mss));
        }
    }

    /// Initializes the sender when its SYN is acknowledged. Returns the RTT of the handshake, if it was timed.
    pub fn establish(&mut self, opened: &Opened, cx: &mut Cx) -> Option<Dur> {
        let Opened { mss, sack, echoed, marked } = *opened;
        self.mss = mss;
        self.law = Law::new(cx.config, mss);
        if cx.config.initial_ssthresh == InitialSsthresh::PeerWindow {
            self.law.set_ssthresh(self.peer_window.current);
        }
        let syn = self.timed.take();
        let timed = syn.filter(|(end, _)| *end == 1 && cx.config.rtt_from_syn);
        let timed = timed.map(|(_, sent)| self.timer.rto.measure(cx.config, sent, cx.now));
        let stamped = || self.stamp_rtt(echoed.filter(|_| cx.config.rtt_from_resent_syn)?, cx);
        let rtt = timed.or_else(stamped);
        if let Some(rtt) = rtt {
            self.take_rtt(rtt, cx);
            self.timer.rto.end_backoff(cx.config);
        }
        // RFC 5681 §3.1: after a lost SYN or SYN-ACK the initial window is one segment. A marked one has the same
        // effect (RFC 9768 §3.2.2.2).
        let resent = cx.counters.retransmits_timeout + cx.counters.retransmits_recovery;
        let first_answered = syn.is_some_and(|(_, first)| echoed == Some(self.clock(cx.config, first)));
        let needless = cx.config.undo_syn_loss && first_answered;
        let lost = if self.timer.timeouts > 0 && !needless { resent } else { 0 };
        let lost = lost + u64::from(cx.ecn.handshake_was_marked());
        if marked || lost >= cx.config.syn_losses_to_one.into() {
            self.law_to_one_segment();
        }
        if self.timer.timeouts > 0 && rtt.is_none() {
            self.timer.rto.restart_after_syn_loss(cx.config);
        }
        self.rate_limited = RateLimited::new(cx.config, self.law.cwnd(), cx.now);
        self.una = 1;
        self.sampler = Sampler::new(self.una, rtt);
        self.scoreboard.segments.rates = self.law.wants_rates().then(Box::default);
        let counts_marks = cx.ecn.counts();
        self.law.on_established(&Established { now: cx.now, rtt, seed: self.iss.0, counts_marks, sack });
        self.timer.timeouts = 0;
        self.timer.deadline = Time::NEVER;
        rtt
    }

    // ---- recording transmissions ----

    /// Advances the state for a sent chunk that ends at `stop`.
    #[inline]
    pub fn advance(&mut self, chunk: Chunk, stop: u64) {
        if chunk.how == How::InOrder {
            self.nxt = self.nxt.max(stop);
        } else {
            self.advance_out_of_order(chunk, stop);
        }
    }

    #[cold]
    fn advance_out_of_order(&mut self, chunk: Chunk, stop: u64) {
        match chunk.how {
            How::Hole => self.recovery.high_rxt = stop,
            How::FastHead | How::PartialHead => {
                self.recovery.high_rxt = self.recovery.high_rxt.max(stop);
                self.nxt = self.nxt.max(stop);
            }
            How::InOrder | How::Rescue | How::Probe => {}
        }
    }

    pub fn count_retransmission(&mut self, chunk: Chunk, stop: u64, cx: &mut Cx) {
        let counters = &mut *cx.counters;
        self.resent.below = self.resent.below.max(stop.min(self.max));
        counters.bytes_retransmitted += u64::from(chunk.len);
        if !matches!(chunk.how, How::Rescue | How::Probe) {
            self.resent.bytes += u64::from(chunk.len);
        }
        match (chunk.how, self.recovery.stepped_back) {
            (How::FastHead, _) => counters.retransmits_fast += 1,
            (How::Probe, _) => {}
            (How::InOrder, Cause::Timeout) => counters.retransmits_timeout += 1,
            _ => counters.retransmits_recovery += 1,
        }
    }

    /// Stores the send time of the new data in a chunk that ends at `stop`.
    #[inline]
    pub fn time(&mut self, chunk: Chunk, stop: u64, cx: &Cx) {
        match cx.config.rtt_sampling {
            RttSampling::TimedSegment => {
                self.timed.get_or_insert((stop, cx.now));
            }
            RttSampling::EachAck | RttSampling::Timestamps => {
                self.scoreboard.segments.push_new(chunk.start, chunk.len, chunk.fin, cx.now);
            }
        }
    }

    /// RFC 3042: counts new data sent on a duplicate ACK.
    #[inline]
    pub fn count_limited_transmit(&mut self, chunk: Chunk) {
        let r = &mut self.recovery;
        if r.dupacks > 0 && !r.active {
            r.limited_sent += u64::from(chunk.len);
        }
    }

    #[inline]
    pub fn note_sent(&mut self, now: Time) {
        self.last_sent = LastSent { at: now, outstanding: self.max - self.una };
        if self.rate_limited.is_some() {
            self.measure_flight();
        }
    }

    /// Starts the timer if nothing is in flight and data waits to be sent.
    #[inline]
    pub fn arm_if_waiting(&mut self, config: &Config, now: Time) {
        let waits = self.max == self.una && (self.timer.held || self.end > self.nxt);
        if waits && self.timer.deadline == Time::NEVER {
            self.arm(config, now);
        }
    }
}

/// The timestamp clock of a connection that began at `iss`.
pub(crate) fn timestamp(config: &Config, iss: Seq, now: Time) -> u32 {
    let ticks = now.since(Time::ZERO).whole(config.timestamp_clock);
    (ticks as u32).wrapping_add(iss.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;
    use crate::ecn;
    use crate::profile;
    use crate::registry::EcnKind;

    #[test]
    fn a_first_block_below_the_ack_or_within_the_second_is_a_d_sack() {
        let mut tx = Flight::new(&profile("modern").expect("a profile of ours").config, Seq(u32::MAX));
        (tx.una, tx.max) = (5_001, 9_001);
        let found = |blocks: &[(u64, u64)], ack| {
            let block = |&(start, end): &(u64, u64)| SackBlock { start: tx.seq(start), end: tx.seq(end) };
            tx.duplicate_block(&blocks.iter().map(block).collect::<Vec<_>>(), ack)
        };
        assert_eq!(found(&[(1, 1_001)], 5_001), Some(1..1_001));
        assert_eq!(found(&[(5_001, 6_001)], 6_001), Some(5_001..6_001), "acknowledged by this ACK");
        assert_eq!(found(&[(6_001, 7_001), (7_001, 8_001)], 5_001), None);
        assert_eq!(found(&[(6_001, 7_001), (6_001, 8_001)], 5_001), Some(6_001..7_001));
        assert_eq!(found(&[(6_001, 8_002), (6_001, 8_001)], 5_001), None);
        assert_eq!(found(&[(8_001, 9_002), (7_001, 9_002)], 5_001), None, "not sent");
        assert_eq!(found(&[(1_001, 1)], 5_001), None);
    }

    #[test]
    fn of_what_is_sent_again_probes_were_not_lost() {
        let config = &profile("modern").expect("a profile of ours").config;
        let (mut counters, mut ecn) = (Counters::default(), ecn::Scheme::new(EcnKind::Off));
        let mut tx = Flight::new(config, Seq(0));
        let mut cx = Cx { config, now: Time::ZERO, counters: &mut counters, ecn: &mut ecn };
        let lost = [How::Hole, How::Rescue, How::Probe, How::FastHead].map(|how| {
            tx.count_retransmission(Chunk { start: 1, len: 1_000, fin: false, how }, 1_001, &mut cx);
            tx.resent.bytes
        });
        assert_eq!(lost, [1_000, 1_000, 1_000, 2_000]);
        // The hole and the rescue; a probe is counted elsewhere.
        assert_eq!((counters.retransmits_recovery, counters.retransmits_fast), (2, 1));
    }
}

//! Linux 7's delayed ACKs: the number of quick ACKs, and the delay of the others (net/ipv4/tcp_input.c and
//! tcp_output.c).

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{Ecn, Flags, Segment};

use crate::config::Config;
use crate::facts::QuickAcks;
use crate::rto::Rto;
use crate::wheel;

/// Maximum number of consecutive quick ACKs (TCP_MAX_QUICKACKS).
const MAX_QUICK_ACKS: u64 = 16;
/// Maximum of the delay that follows the spacing of the data (TCP_DELACK_MAX).
const LONGEST: Dur = Dur::from_ms(200);
/// Payload of a full segment before any was received (TCP_MSS_DEFAULT), and the minimum (TCP_MIN_MSS), in bytes.
const DEFAULT_MSS: u32 = 536;
const LEAST_MSS: u32 = 88;
/// Length of a TCP header without options, and of the timestamp option, in bytes.
const HEADER: u32 = 20;
const TIMESTAMPS: u32 = 12;

/// Content of a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brought {
    /// Only data received before.
    Nothing,
    /// Data that the application gets at once.
    InOrder,
    /// Data above a hole.
    Early,
}

/// State of delayed ACKs at one endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuickAck {
    /// Remaining quick ACKs.
    left: u64,
    /// The segment just received is acknowledged at once in any case.
    now: bool,
    /// ACK delay in whole jiffies (ato), which follows the spacing of the data; zero before the first data.
    delay: Dur,
    /// The jiffy of the last data (lrcvtime).
    last: Time,
    /// Maximum delay of an ACK (tcp_delack_max).
    longest: Dur,
    /// What begins quick ACKs with the feedback in use.
    pub heeds: QuickAcks,
    /// ECT data was received.
    ect: bool,
    /// A mark was received, and no CWR since.
    marked: bool,
    /// Payload of a full segment (rcv_mss).
    full: u32,
    /// Payload of the last segment if it was not full but may become the size of a full one (last_seg_size).
    nearly_full: u32,
    /// A segment not yet acknowledged had PSH or was small (ICSK_ACK_PUSHED).
    pushed: bool,
    /// This endpoint has responded to data with data (pingpong).
    interactive: bool,
    /// The window announced, in bytes (rcv_wnd).
    window: u64,
    /// The application reads late: the read, not the segment, decides about the ACK of a segment with PSH.
    reads_late: bool,
    /// More than half of the buffer is in use after the segment just received.
    scarce: bool,
}

/// tcp_delack_max: a jiffy less than the minimum timeout, so that the ACK of a peer with the same minimum comes before it.
fn longest(config: &Config) -> Dur {
    let jiffy = config.timer_wheel;
    LONGEST.min(config.min_rto.max(jiffy * 2) - jiffy)
}

impl QuickAck {
    pub fn new(config: &Config) -> QuickAck {
        QuickAck {
            left: 0,
            now: false,
            delay: Dur::ZERO,
            last: Time::ZERO,
            longest: longest(config),
            heeds: QuickAcks::Never,
            ect: false,
            marked: false,
            // tcp_initialize_rcv_mss.
            full: DEFAULT_MSS.min(config.mss.0 as u32),
            nearly_full: 0,
            pushed: false,
            interactive: false,
            window: config.receive_buffer.0,
            reads_late: false,
            scarce: false,
        }
    }

    /// Processes a data segment. `opened` states whether it opened the receive window. Returns the delay of its ACK; zero
    /// means at once.
    #[inline(never)]
    pub fn on_data(
        &mut self,
        segment: &Segment,
        what: Brought,
        opened: bool,
        config: &Config,
        rto: &Rto,
        now: Time,
    ) -> Dur {
        let read = self.note(segment, what, config, rto, now);
        self.left |= u64::from(opened);
        if self.reads_late {
            return self.on_unread(config, rto);
        }
        self.due(read, config, rto)
    }

    /// The delay of an ACK of data that the application has not read.
    #[cold]
    fn on_unread(&mut self, config: &Config, rto: &Rto) -> Dur {
        if std::mem::take(&mut self.scarce) {
            self.left = 0;
        }
        self.due(false, config, rto)
    }

    /// The delay of an ACK; `read` states whether the application's read sends it.
    #[inline(always)]
    fn due(&mut self, read: bool, config: &Config, rto: &Rto) -> Dur {
        if self.left > 0 && !self.interactive {
            // tcp_dec_quickack_mode: the last quick ACK resets the delay to its minimum.
            self.left -= 1;
            self.delay = if self.left == 0 { config.ack_delay } else { self.delay };
            return Dur::ZERO;
        }
        if self.now || read { Dur::ZERO } else { self.delay(config, rto) }
    }

    /// Processes a FIN with which `unacked` bytes are not acknowledged yet. The session is interactive from now on
    /// (tcp_fin). Returns the delay of the ACK, if it is not due at once (__tcp_ack_snd_check).
    pub fn on_fin(&mut self, unacked: u64, config: &Config, rto: &Rto) -> Option<Dur> {
        self.interactive = true;
        // ICSK_ACK_NOW is of data in this segment.
        let now = self.now && unacked > 1;
        (unacked <= u64::from(self.full) && !now).then(|| self.delay(config, rto))
    }

    /// Sets whether the application reads late.
    pub fn read_late(&mut self, late: bool) {
        self.reads_late = late;
    }

    /// Called when the window is computed for a segment just received, with more than half of the buffer in use.
    pub fn note_scarce(&mut self) {
        self.scarce = true;
    }

    /// Called when the window is computed for a read, with more than half of the buffer in use.
    pub fn end_quick_acks(&mut self) {
        self.left = 0;
    }

    /// Whether a read that empties the buffer sends the ACK (__tcp_cleanup_rbuf).
    pub fn is_acknowledged_by_late_read(&self) -> bool {
        self.pushed && !self.interactive
    }

    /// Called before a data segment is processed. `cwr` states whether its sender has reduced the window.
    pub fn on_header(&mut self, cwr: bool) {
        // tcp_ecn_accept_cwr: the sender's window may be very small.
        self.now = cwr;
        self.marked &= !cwr;
    }

    /// Called when `window` bytes are announced. `scarce` is true if more than half of the buffer is in use: then no
    /// quick ACK is left (__tcp_select_window).
    pub fn on_window(&mut self, window: u64, scarce: bool) {
        self.window = window;
        if scarce {
            self.left = 0;
        }
    }

    /// Updates the state for a data segment. Returns whether the application's read sends the ACK.
    fn note(&mut self, segment: &Segment, what: Brought, config: &Config, rto: &Rto, now: Time) -> bool {
        let read = match what {
            Brought::Nothing => {
                self.on_duplicate(config);
                return false;
            }
            Brought::InOrder => {
                let read = self.is_acknowledged_by_read(segment);
                self.follow(config, rto, now);
                read
            }
            Brought::Early => false,
        };
        match segment.ecn {
            // tcp_data_ecn_check: Not-ECT after ECT is probably a retransmission.
            Ecn::NotEct if self.ect => self.enter(2, config),
            Ecn::NotEct => {}
            _ if self.heeds == QuickAcks::Never => {}
            Ecn::Ce if !self.marked && self.heeds == QuickAcks::AtMarks => {
                self.marked = true;
                self.ect = true;
                self.enter(2, config);
            }
            _ => self.ect = true,
        }
        read
    }

    /// tcp_measure_rcv_mss and __tcp_cleanup_rbuf: a read that empties the buffer sends the ACK of a segment that has
    /// PSH or is not full; in an interactive session, only of the second such segment that is not full.
    fn is_acknowledged_by_read(&mut self, segment: &Segment) -> bool {
        let before = std::mem::take(&mut self.nearly_full);
        let mut again = false;
        if segment.len >= self.full {
            self.full = segment.len;
            self.pushed |= segment.flags.contains(Flags::PSH);
        } else {
            let with_header = segment.len + HEADER + segment.options_len();
            let remnant = segment.flags.intersects(Flags::FIN | Flags::PSH);
            if with_header >= DEFAULT_MSS + HEADER || (with_header >= LEAST_MSS + HEADER && !remnant) {
                let timestamps = if segment.timestamps.is_some() { TIMESTAMPS } else { 0 };
                self.nearly_full = with_header - HEADER - timestamps;
            }
            if self.nearly_full > 0 && self.nearly_full == before {
                self.full = before;
            } else {
                again = self.pushed;
                self.pushed = true;
            }
        }
        self.pushed && (again || !self.interactive)
    }

    /// Called when data is sent (tcp_event_data_sent).
    pub fn on_data_sent(&mut self, now: Time) {
        // `last` and `delay` are whole jiffies, so the jiffy of `now` would give the same.
        self.interactive |= now.since(self.last) < self.delay;
    }

    /// Called when an ACK is sent, alone or on data.
    pub fn acknowledged(&mut self) {
        self.pushed = false;
    }

    /// tcp_event_data_recv: adjusts the delay to the spacing of the data, in jiffies.
    fn follow(&mut self, config: &Config, rto: &Rto, now: Time) {
        let now = wheel::clock(config.timer_wheel, now);
        let half = |delay| wheel::whole(config.timer_wheel, delay / 2);
        let gap = now.since(self.last);
        if self.delay.is_zero() {
            self.quicken(MAX_QUICK_ACKS, config);
            self.delay = config.ack_delay;
        } else if gap <= config.ack_delay / 2 {
            if self.delay > config.ack_delay {
                self.delay = half(self.delay) + config.ack_delay / 2;
            }
        } else if gap < self.delay {
            self.delay = (half(self.delay) + gap).min(rto.current()).min(LONGEST);
        } else if gap > rto.current() {
            // The sender may have restarted its window.
            self.quicken(MAX_QUICK_ACKS, config);
        }
        self.last = now;
    }

    /// Processes data received before (tcp_send_dupack, tcp_data_queue).
    pub fn on_duplicate(&mut self, config: &Config) {
        self.enter(MAX_QUICK_ACKS, config);
    }

    /// tcp_incr_quickack: sets one quick ACK per two segments of the window, up to `most`.
    fn quicken(&mut self, most: u64, config: &Config) {
        let room = match self.window / (2 * config.mss.0) {
            0 => 2,
            room => room,
        };
        self.left = self.left.max(room.min(most));
    }

    /// tcp_enter_quickack_mode.
    fn enter(&mut self, most: u64, config: &Config) {
        self.quicken(most, config);
        self.interactive = false;
        self.delay = config.ack_delay;
    }

    fn delay(&self, config: &Config, rto: &Rto) -> Dur {
        if self.delay <= config.ack_delay {
            return self.delay.min(self.longest);
        }
        // tcp_send_delayed_ack: a delay above the minimum is limited to the RTT.
        let srtt = wheel::ticks(config.timer_wheel, rto.srtt());
        let most = if srtt.is_zero() { self.longest } else { srtt.max(config.ack_delay).min(self.longest) };
        self.delay.min(most)
    }

    /// tcp_delack_timer_handler: the delay has expired, so the data is spaced further apart, or the session is not
    /// interactive.
    pub fn inflate(&mut self, config: &Config, rto: &Rto) {
        let inflated = (self.delay * 2).min(rto.current()).min(LONGEST);
        self.delay = if self.interactive { config.ack_delay } else { inflated };
        self.interactive = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use ecnlab_base::Bytes;
    use ecnlab_wire::{SackBlock, SackBlocks, Seq, Timestamps};

    /// Linux 7 with delays from 40 ms on.
    fn config() -> Config {
        let config = profile("linux-7").expect("a profile of ours").config.clone();
        Config { ack_delay: Dur::from_ms(40), mss: Bytes(1_460), ..config }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// An end that has acknowledged what came at 1 s, has no quick ACK left, and waits `ms`.
    fn waiting(ms: u64) -> QuickAck {
        QuickAck { delay: Dur::from_ms(ms), last: at(1_000), ..QuickAck::new(&config()) }
    }

    fn data(len: u32, flags: Flags) -> Segment {
        Segment { len, flags, ..Segment::default() }
    }

    #[test]
    fn a_segment_is_nearly_full_from_536_bytes_on_or_from_88_without_psh_and_fin() {
        let after = |segment: Segment| {
            let mut end = QuickAck { full: 1_000, ..QuickAck::new(&config()) };
            end.is_acknowledged_by_read(&segment);
            (end.full, end.nearly_full)
        };
        for flag in [Flags::PSH, Flags::FIN] {
            assert_eq!(after(data(536, flag)), (1_000, 536));
            assert_eq!(after(data(535, flag)), (1_000, 0));
        }
        assert_eq!(after(data(88, Flags::ACK)), (1_000, 88));
        assert_eq!(after(data(87, Flags::ACK)), (1_000, 0));
        assert_eq!(after(data(1_000, Flags::PSH)), (1_000, 0), "a full one");
    }

    #[test]
    fn options_other_than_timestamps_count_as_payload_of_the_next_full_segment() {
        let timestamps = Some(Timestamps { value: 1, echo: 1 });
        let mut sack = SackBlocks::NONE;
        sack.push(SackBlock { start: Seq(1), end: Seq(2) });
        let after = |segment: Segment| {
            let mut end = QuickAck { full: 1_000, ..QuickAck::new(&config()) };
            end.is_acknowledged_by_read(&segment);
            end.nearly_full
        };
        assert_eq!(after(data(900, Flags::ACK)), 900);
        assert_eq!(after(Segment { timestamps, ..data(900, Flags::ACK) }), 900);
        // One block takes 12 bytes.
        assert_eq!(after(Segment { timestamps, sack, ..data(888, Flags::ACK) }), 900);
    }

    #[test]
    fn two_nearly_full_segments_of_one_length_are_full() {
        let mut end = QuickAck { full: 1_000, ..QuickAck::new(&config()) };
        let mut full = |segment| {
            end.is_acknowledged_by_read(&segment);
            end.full
        };
        assert_eq!([900, 901, 901].map(|len| full(data(len, Flags::ACK))), [1_000, 1_000, 901]);
        // Small ones are never full.
        assert_eq!([50, 50].map(|len| full(data(len, Flags::PSH))), [901, 901]);
    }

    #[test]
    fn the_delay_follows_gaps_between_half_of_the_shortest_and_itself() {
        let config = config();
        let rto = Rto::new(&config, 0);
        let timeout = rto.current();
        let after = |gap| {
            let mut end = waiting(100);
            end.follow(&config, &rto, at(1_000) + gap);
            assert_eq!(end.last, at(1_000) + gap);
            (end.delay, end.left > 0)
        };
        let ms = Dur::from_ms;
        // Half of the delay, and 20 ms or the gap.
        assert_eq!(after(ms(20)), (ms(70), false));
        assert_eq!(after(ms(30)), (ms(80), false));
        assert_eq!(after(ms(99)), (ms(149), false));
        assert_eq!(after(ms(100)), (ms(100), false));
        assert!(timeout > ms(100));
        assert_eq!(after(timeout), (ms(100), false));
        assert_eq!(after(timeout + ms(1)), (ms(100), true), "the sender may have restarted");
    }

    #[test]
    fn tcp_event_data_recv_halves_the_delay_to_whole_jiffies_and_counts_gaps_in_them() {
        let config = Config { timer_wheel: Dur::from_ms(1), ..config() };
        let rto = Rto::new(&config, 0);
        let us = |us| Time::ZERO + Dur::from_us(us);
        let mut end = waiting(45);
        let mut after = |now| {
            end.follow(&config, &rto, us(now));
            end.delay
        };
        // From jiffy 1000 to 1042, 1048 and 1055: 22 + 42, 32 + 20, 26 + 20.
        assert_eq!([1_042_900, 1_048_900, 1_055_000].map(&mut after), [64, 52, 46].map(Dur::from_ms));
        // 48 jiffies are more than the delay; then 23 + 20, 21 + 20, 20 + 20.
        assert_eq!(after(1_103_100), Dur::from_ms(46));
        assert_eq!([1_109_100, 1_115_100, 1_121_100].map(&mut after), [43, 41, 40].map(Dur::from_ms));
    }

    #[test]
    fn tcp_send_delayed_ack_rounds_the_rtt_up_to_a_jiffy() {
        let config = Config { timer_wheel: Dur::from_ms(1), ..config() };
        let mut rto = Rto::new(&config, 0);
        rto.sample(&config, Dur::from_us(50_300), 10, 1_460, 0..1);
        assert_eq!(waiting(80).delay(&config, &rto), Dur::from_ms(51));
    }

    #[test]
    fn tcp_delack_max_is_a_jiffy_less_than_the_minimum_timeout() {
        let delay = |min_rto, jiffy| {
            let config = Config { min_rto: Dur::from_ms(min_rto), timer_wheel: Dur::from_ms(jiffy), ..config() };
            let end = QuickAck { delay: config.ack_delay, ..QuickAck::new(&config) };
            end.delay(&config, &Rto::new(&config, 0))
        };
        assert_eq!([200, 41, 40, 20, 1].map(|min_rto| delay(min_rto, 1)), [40, 40, 39, 19, 1].map(Dur::from_ms));
        assert_eq!(delay(20, 0), Dur::from_ms(20));
        // Without an RTT the delay may be 200 ms, and the minimum timeout is as long.
        assert_eq!(waiting(200).delay(&config(), &Rto::new(&config(), 0)), Dur::from_ms(199));
    }

    #[test]
    fn the_last_quick_ack_makes_the_delay_short_again() {
        let config = config();
        let rto = Rto::new(&config, 0);
        let mut end = QuickAck { left: 2, ..waiting(100) };
        let mut delay = || {
            end.on_data(&data(100, Flags::ACK), Brought::Early, false, &config, &rto, at(1_000));
            end.delay
        };
        assert_eq!([delay(), delay()], [Dur::from_ms(100), Dur::from_ms(40)]);
    }

    #[test]
    fn marks_begin_quick_acks_with_the_feedback_of_rfc_3168_and_not_ect_with_dctcp_s_too() {
        let (config, rto) = (config(), Rto::new(&config(), 0));
        let left = |heeds, codepoints: &[Ecn]| {
            let mut end = QuickAck { heeds, ..waiting(10) };
            for &ecn in codepoints {
                end.note(&Segment { ecn, ..data(1_000, Flags::ACK) }, Brought::InOrder, &config, &rto, at(1_005));
            }
            end.left
        };
        let all = [QuickAcks::AtMarks, QuickAcks::AtNotEct, QuickAcks::Never];
        assert_eq!(all.map(|heeds| left(heeds, &[Ecn::Ect0, Ecn::Ce])), [2, 0, 0]);
        assert_eq!(all.map(|heeds| left(heeds, &[Ecn::Ect0, Ecn::NotEct])), [2, 2, 0]);
        assert_eq!(all.map(|heeds| left(heeds, &[Ecn::NotEct, Ecn::NotEct])), [0; 3]);
    }

    #[test]
    fn data_within_the_delay_are_an_answer() {
        let answers = |ms| {
            let mut end = waiting(40);
            end.on_data_sent(at(ms));
            end.interactive
        };
        assert_eq!([1_039, 1_040].map(answers), [true, false]);
    }
}

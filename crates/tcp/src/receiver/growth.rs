//! Linux 7's receive window: its slow start, the buffer that follows what the application reads, and the window announced
//! (net/ipv4/tcp_input.c: tcp_init_buffer_space, tcp_grow_window, tcp_rcv_space_adjust; net/ipv4/tcp_output.c:
//! tcp_select_initial_window, tcp_select_window). Data above a hole takes memory, and data that the application has not read.

use ecnlab_base::{Dur, Time};

use super::held::Held;
use crate::config::Config;

/// Initial buffer in bytes (tcp_rmem\[1\]).
const FIRST_BUFFER: u64 = 131_072;
/// Payload bytes per 256 bytes of memory before a segment was received (TCP_DEFAULT_SCALING_RATIO).
const FIRST_RATIO: u64 = 128;
/// Payload of a full segment before any was received, in bytes (TCP_MSS_DEFAULT).
const DEFAULT_MSS: u64 = 536;
/// Memory overhead of a received segment in bytes (skb->truesize - skb->len), as between virtual Ethernet devices.
pub(super) const OVERHEAD: u64 = 832;
/// Segments above a hole that share one overhead (MAX_SKB_FRAGS).
const MERGED: u64 = 17;
/// Minimum payload of a segment in order that opens the window, in bytes (tcp_event_data_recv).
const MIN_PAYLOAD: u32 = 128;
/// Segments assumed to be read in the first RTT (TCP_INIT_CWND).
const FIRST_SPACE: u64 = 10;
/// Below this RTT the buffer grows less (tcp_rcvbuf_low_rtt).
const LOW_RTT: Dur = Dur::from_ms(1);
/// Buffer that any socket may have, in bytes: it counts for the window scale (net.core.rmem_max).
const ANY_SOCKET: u64 = 1 << 22;
/// Option bytes of timestamps in each segment.
const TIMESTAMPS: u64 = 12;

/// Receive window of one endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// The window that may be announced (rcv_ssthresh).
    window: u64,
    /// Upper limit of the window (window_clamp).
    clamp: u64,
    /// Memory for segments in bytes (sk_rcvbuf), and its maximum (tcp_rmem\[2\]).
    buffer: u64,
    most: u64,
    /// Advertised MSS of this endpoint in bytes (advmss).
    advertised: u64,
    /// Payload of the largest segment so far (rcv_mss), and payload bytes per 256 bytes of memory (scaling_ratio).
    full: u64,
    ratio: u64,
    /// Maximum of the bytes read within an RTT (rcvq_space.space).
    space: u64,
    /// Time of the last measurement, and the offset read until then.
    measured: (Time, u64),
    /// Eight times the smoothed RTT (rcv_rtt_est.rtt_us), and the echoed timestamp of the last sample.
    rtt: Dur,
    echo: Option<u32>,
    /// When a window was announced whose time to fill is an RTT sample, and its right edge.
    filling: Option<(Time, u64)>,
}

/// The timestamp that a segment echoes, and its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echo {
    pub value: u32,
    pub age: Dur,
}

/// A data segment that opens the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Payload in bytes.
    pub len: u32,
    /// Its data is in order.
    pub in_order: bool,
    /// Memory of all other data, above holes or not read, in bytes.
    pub held: u64,
}

impl Growth {
    pub fn new(config: &Config) -> Growth {
        let most = config.receive_buffer.0;
        let mut growth = Growth {
            window: 0,
            clamp: 0,
            buffer: FIRST_BUFFER.min(most),
            most,
            advertised: config.mss.0,
            full: DEFAULT_MSS.min(config.mss.0),
            ratio: FIRST_RATIO,
            space: 0,
            measured: (Time::ZERO, 1),
            rtt: Dur::ZERO,
            echo: None,
            filling: None,
        };
        growth.window = growth.first_window();
        growth
    }

    /// tcp_select_initial_window: the window of a SYN, a multiple of the segment size.
    pub fn first_window(&self) -> u64 {
        let space = self.in_window(self.buffer);
        if space > self.advertised { space - space % self.advertised } else { space }
    }

    /// The shift of announced windows (tcp_select_initial_window).
    pub fn shift(&self) -> u8 {
        let space = self.first_window().max(self.most).max(ANY_SOCKET);
        space.ilog2().saturating_sub(15).min(14) as u8
    }

    /// Sets whether each segment has timestamps, once the peer's SYN has come.
    pub fn with_timestamps(&mut self, timestamps: bool, config: &Config) {
        self.advertised = config.mss.0 - if timestamps { TIMESTAMPS.min(config.mss.0 - 1) } else { 0 };
    }

    /// tcp_init_buffer_space: starts the measurements when the connection is established.
    pub fn establish(&mut self, announced: u64, now: Time) {
        let (space, segment) = (self.in_window(self.buffer), self.advertised);
        // One segment stays free.
        self.clamp = if space > 2 * segment { (space - segment).max(2 * segment) } else { space };
        self.window = announced.min(self.clamp);
        self.space = announced.min(self.window).min(FIRST_SPACE * segment);
        self.measured.0 = now;
    }

    /// tcp_rcv_rtt_measure_ts: takes an RTT sample from a full segment of `len` bytes that echoes a new timestamp.
    pub fn sample(&mut self, echo: Option<Echo>, len: u32) {
        let Some(Echo { value, age }) = echo.filter(|echo| Some(echo.value) != self.echo) else { return };
        self.echo = Some(value);
        if age.is_zero() || u64::from(len) < self.full {
            return;
        }
        let new = age * 8;
        self.rtt = if self.rtt.is_zero() || new < self.rtt { new } else { self.rtt - self.rtt / 8 + age };
    }

    /// tcp_rcv_rtt_measure: the time in which a window arrives is an RTT sample, of which only the minimum counts.
    pub fn time_window(&mut self, next: u64, announced: u64, now: Time) {
        if let Some((since, edge)) = self.filling {
            if next < edge {
                return;
            }
            let new = now.since(since).max(Dur::from_us(1)) * 8;
            self.rtt = if self.rtt.is_zero() { new } else { self.rtt.min(new) };
        }
        self.filling = Some((now, next + announced));
    }

    /// tcp_measure_rcv_mss: the largest segment sets the share of the buffer that is window. Returns whether it is one.
    pub fn measure(&mut self, len: u32) -> bool {
        let len = u64::from(len);
        let largest = len > self.full;
        if largest {
            self.full = len.min(self.advertised);
            self.ratio = (len << 8) / (len + OVERHEAD);
            self.clamp = self.in_window(self.buffer);
            self.space = self.space.min(self.clamp);
        }
        largest
    }

    /// tcp_grow_window: opens the window for a segment. Returns whether it opened.
    pub fn opens(&mut self, taken: Taken) -> bool {
        if taken.in_order && taken.len < MIN_PAYLOAD {
            return false;
        }
        let (len, memory) = (u64::from(taken.len), u64::from(taken.len) + OVERHEAD);
        let used = taken.held + if taken.in_order { memory } else { 0 };
        let room = self.clamp.min(self.free(used)).saturating_sub(self.window);
        if room == 0 {
            return false;
        }
        // A segment in order shares the overhead of the one before it.
        let cost = if taken.in_order { len } else { memory };
        let step = if self.in_window(cost) <= len { 2 * self.advertised } else { self.step(len, cost) };
        if step == 0 {
            return false;
        }
        self.window += room.min(step.max(2 * len));
        true
    }

    /// __tcp_grow_window: a segment with much overhead opens the window only while that is small.
    fn step(&self, len: u64, memory: u64) -> u64 {
        let (mut cost, mut most) = (self.in_window(memory) / 2, self.in_window(self.most) / 2);
        while self.window <= most {
            if cost <= len {
                return 2 * self.full;
            }
            cost /= 2;
            most /= 2;
        }
        0
    }

    /// tcp_rcv_space_adjust: adjusts the buffer once per RTT to the bytes read. `read` is the offset up to which the
    /// application has read, `next` the next one expected, `early` the end of the data above holes.
    pub fn read(&mut self, read: u64, next: u64, early: u64, now: Time) {
        let (since, before) = self.measured;
        if self.rtt.is_zero() || now.since(since) < self.rtt / 8 {
            return;
        }
        self.measured = (now, read);
        // Data that waits to be read does not count.
        let copied = read.saturating_sub(before).saturating_sub(next - read);
        if copied > self.space {
            self.right_size(copied, next, early);
        }
    }

    /// tcp_data_queue_ofo: adjusts the buffer to data above a hole, which end at `early`.
    pub fn hold(&mut self, next: u64, early: u64) {
        self.right_size(self.space, next, early);
    }

    /// tcp_rcvbuf_grow: the buffer for twice the `new` bytes of an RTT, more if they grow, and for the data above holes.
    fn right_size(&mut self, new: u64, next: u64, early: u64) {
        let before = std::mem::replace(&mut self.space, new).max(1);
        let window = 2 * new;
        let (rtt, tick) = (self.rtt / 8, Dur::from_us(1));
        let more = if rtt < LOW_RTT {
            window * rtt.whole(tick) / LOW_RTT.whole(tick)
        } else {
            2 * window * (new - before.min(new)) / before
        };
        let window = window + more + early.saturating_sub(next);
        let buffer = ((window << 8) / self.ratio).min(self.most);
        if buffer > self.buffer {
            self.buffer = buffer;
            self.clamp = self.in_window(buffer);
        }
    }

    /// __tcp_select_window: the window to announce while data held takes `held` bytes of memory and windows are
    /// multiples of 2^`shift`; `last` is the window announced before. The second value is true if more than half of
    /// the buffer is in use.
    pub fn select(&self, held: u64, shift: u8, last: u64) -> (u64, bool) {
        let (mut free, whole) = (self.free(held), self.in_window(self.buffer));
        let (full, unit) = (self.clamp.min(whole), 1 << shift);
        let segment = self.full.min(full);
        let scarce = free < full / 2;
        if scarce {
            free -= free % unit;
            if free < whole / 16 || free < segment {
                return (0, true);
            }
        }
        free = free.min(self.window);
        if shift > 0 {
            return (free.next_multiple_of(unit), scarce);
        }
        // Without scaling the window is a multiple of the segment size, and kept while it is within one segment.
        let window = if last + segment <= free || last > free {
            free - free % segment.max(1)
        } else if segment == full && free > last + full / 2 {
            free
        } else {
            last
        };
        (window, scarce)
    }

    /// Payload of the largest segment so far, in bytes.
    pub fn full(&self) -> u64 {
        self.full
    }

    /// Upper limit of the window in bytes.
    pub fn clamp(&self) -> u64 {
        self.clamp
    }

    /// Bytes of a range above a hole that share one overhead.
    pub fn share(&self) -> u64 {
        MERGED * self.full
    }

    /// Memory of data above holes in bytes.
    pub fn memory(&self, held: &Held) -> u64 {
        held.bytes() + OVERHEAD * held.shares()
    }

    /// tcp_space: payload for which there is memory, if `used` bytes are in use.
    fn free(&self, used: u64) -> u64 {
        self.in_window(self.buffer.saturating_sub(used))
    }

    /// tcp_win_from_space.
    fn in_window(&self, memory: u64) -> u64 {
        (memory * self.ratio) >> 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use ecnlab_base::Bytes;

    /// An established endpoint with timestamps, of which the SYN-ACK announced the first window.
    fn growth(receive_buffer: u64) -> Growth {
        let linux = profile("linux-7").unwrap().config.clone();
        let config = Config { receive_buffer: Bytes(receive_buffer), ..linux };
        let mut growth = Growth::new(&config);
        growth.with_timestamps(true, &config);
        growth.establish(growth.first_window(), Time::ZERO);
        growth
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    fn echo(value: u32, ms: u64) -> Option<Echo> {
        Some(Echo { value, age: Dur::from_ms(ms) })
    }

    /// Receives a segment in order, while nothing is held.
    fn takes(growth: &mut Growth, len: u32) -> bool {
        growth.measure(len);
        growth.opens(Taken { len, in_order: true, held: 0 })
    }

    /// The windows after so many segments of 1448 bytes; none once the window does not open.
    fn windows(growth: &mut Growth, segments: usize) -> Vec<u64> {
        (0..segments).map_while(|_| takes(growth, 1448).then_some(growth.window)).collect()
    }

    #[test]
    fn syns_announce_whole_segments_of_half_the_buffer() {
        let config = profile("linux-7").unwrap().config.clone();
        let mut growth = Growth::new(&config);
        // 44 segments of 1460 in 65536 bytes; with timestamps 45 of 1448.
        assert_eq!(growth.first_window(), 64_240);
        growth.with_timestamps(true, &config);
        assert_eq!((growth.first_window(), growth.shift()), (65_160, 10));
        let of = |bytes| Growth::new(&Config { receive_buffer: Bytes(bytes), ..config.clone() });
        // net.core.rmem_max is 4 MiB.
        assert_eq!([1 << 16, 1 << 22, 1 << 23, 1 << 30].map(|most| of(most).shift()), [7, 7, 8, 14]);
        assert_eq!(of(2_000).first_window(), 1_000);
    }

    #[test]
    fn the_first_buffer_lets_the_window_open_seven_times() {
        // 65536 - 1448 = 64088. A segment takes 2280 B, so 256 B hold 162 of payload; (131072 - 2280) * 162 / 256 = 81501.
        let expected = [66_984, 69_880, 72_776, 75_672, 78_568, 81_464, 81_501];
        assert_eq!(windows(&mut growth(1 << 25), 20), expected);
    }

    #[test]
    fn a_small_receive_buffer_does_not_open() {
        // 60000 B of memory: 30000 of window until the first segment, then 60000 * 162 / 256 = 37968.
        let mut growth = growth(60_000);
        assert_eq!(growth.window, 28_552, "one segment stays free");
        // (60000 - 2280) * 162 / 256 = 36525.
        assert_eq!(windows(&mut growth, 9), [31_448, 34_344, 36_525]);
    }

    #[test]
    fn segments_in_order_open_the_window_from_128_bytes_on() {
        let mut growth = growth(1 << 25);
        windows(&mut growth, 1);
        assert_eq!([127, 128].map(|len| takes(&mut growth, len)), [false, true]);
        assert_eq!(growth.window, 66_984 + 2 * 1_448, "by two full segments");
    }

    #[test]
    fn data_above_a_hole_opens_the_window_while_memory_is_free() {
        let mut growth = growth(1 << 25);
        let mut early = |len, held| {
            growth.measure(len);
            growth.opens(Taken { len, in_order: false, held }).then_some(growth.window)
        };
        assert_eq!(early(1_448, 0), Some(66_984));
        // (131072 - 25000) * 162 / 256 = 67123.
        assert_eq!(early(1_448, 25_000), Some(67_123));
        assert_eq!(early(1_448, 25_000), None);
        // 100 B take 932, of which 589 would be window: more than they are. Half of it still is, a quarter (147) too, an
        // eighth is not; at an eighth of the largest window, 2.6 MB, the window is smaller, so two segments are added.
        assert_eq!(early(100, 0), Some(67_123 + 2 * 1_448));
    }

    #[test]
    fn overhead_of_small_segments_keeps_the_window_small() {
        let growth = Growth { window: 1 << 20, ..growth(1 << 22) };
        // 2^22 / 2 is the largest window, 2^20 half of it: 600 B of 1400 need a quarter at most.
        assert_eq!([700, 699].map(|len| growth.step(len, 2_800)), [2 * 536, 0]);
    }

    #[test]
    fn the_rtt_is_smoothed_over_new_echoes_of_full_segments() {
        let mut growth = growth(1 << 25);
        let mut after = |value, ms, len| {
            growth.sample(echo(value, ms), len);
            growth.rtt
        };
        assert_eq!(after(1, 16, 1_448), Dur::from_ms(128));
        assert_eq!(after(1, 24, 1_448), Dur::from_ms(128), "the same echo");
        assert_eq!(after(2, 24, 1_448), Dur::from_ms(136), "128 - 16 + 24");
        assert_eq!(after(3, 0, 1_448), Dur::from_ms(136), "within a tick of the clock");
        assert_eq!(after(4, 10, 1_448), Dur::from_ms(80), "a smaller one counts at once");
        assert_eq!(after(5, 1, 535), Dur::from_ms(80), "a small segment");
        assert_eq!(after(5, 1, 536), Dur::from_ms(80), "its echo again");
    }

    #[test]
    fn the_time_in_which_a_window_arrives_is_a_sample() {
        let mut growth = growth(1 << 25);
        let mut after = |next, ms| {
            growth.time_window(next, 10_000, at(ms));
            growth.rtt / 8
        };
        assert_eq!([after(1_001, 100), after(11_000, 130)], [Dur::ZERO; 2]);
        assert_eq!(after(11_001, 140), Dur::from_ms(40), "10000 bytes since the first");
        assert_eq!(after(21_001, 240), Dur::from_ms(40), "only a smaller one counts");
        assert_eq!(after(31_001, 250), Dur::from_ms(10));
    }

    #[test]
    fn the_buffer_follows_what_is_read_within_an_rtt() {
        let mut growth = growth(1 << 25);
        growth.sample(echo(1, 10), 1_448);
        windows(&mut growth, 8);
        growth.read(1_449, 1_449, 0, at(100));
        // 20 segments in 10 ms, 10 before: 57920 + 2 * 57920 * 14480 / 14480 = 173760 B, in 173760 * 256 / 162 = 274583 B.
        growth.read(1_449 + 28_960, 1_449 + 28_960, 0, at(109));
        assert_eq!(growth.buffer, FIRST_BUFFER, "an RTT is not over");
        growth.read(1_449 + 28_960, 1_449 + 28_960, 0, at(110));
        assert_eq!((growth.buffer, growth.clamp, growth.space), (274_583, 173_759, 28_960));
        assert!(takes(&mut growth, 1_448));
        // No more than before: nothing changes.
        growth.read(1_449 + 57_920, 1_449 + 57_920, 0, at(120));
        assert_eq!((growth.buffer, growth.space), (274_583, 28_960));
    }

    #[test]
    fn data_above_a_hole_enlarges_the_buffer() {
        let mut growth = growth(1 << 25);
        growth.sample(echo(1, 10), 1_448);
        windows(&mut growth, 8);
        // 2 * 14480 + 60000 = 88960 B, in 88960 * 256 / 162 = 140578 B.
        growth.hold(1_449, 61_449);
        assert_eq!((growth.buffer, growth.space), (140_578, 14_480));
    }

    #[test]
    fn below_a_millisecond_the_buffer_grows_less() {
        let mut growth = growth(1 << 25);
        growth.sample(Some(Echo { value: 1, age: Dur::from_us(500) }), 1_448);
        windows(&mut growth, 8);
        growth.read(1, 1, 0, at(100));
        // 100000 B: 200000 + 200000 * 500 / 1000 = 300000 B, in 300000 * 256 / 162 = 474074 B.
        growth.read(100_001, 100_001, 0, at(101));
        assert_eq!(growth.buffer, 474_074);
    }

    #[test]
    fn at_a_millisecond_the_buffer_grows_in_full() {
        let mut growth = growth(1 << 25);
        growth.sample(Some(Echo { value: 1, age: LOW_RTT }), 1_448);
        windows(&mut growth, 8);
        growth.read(1, 1, 0, at(100));
        // As in the test with 10 ms: 173760 * 256 / 162.
        growth.read(28_961, 28_961, 0, at(101));
        assert_eq!(growth.buffer, 274_583);
    }

    #[test]
    fn without_a_round_trip_nothing_is_measured() {
        let mut growth = growth(1 << 25);
        windows(&mut growth, 8);
        growth.read(28_961, 28_961, 0, at(100));
        assert_eq!((growth.measured, growth.space, growth.buffer), ((Time::ZERO, 1), 14_480, FIRST_BUFFER));
    }

    #[test]
    fn the_announced_window_is_rounded_up_and_limited_by_free_memory() {
        let mut growth = growth(1 << 25);
        assert_eq!(growth.select(0, 10, 65_160), (64_512, false), "64088, rounded up to 63 KiB");
        windows(&mut growth, 8);
        assert_eq!(growth.select(0, 10, 0), (81_920, false));
        // (131072 - 40000) * 162 / 256 = 57631, rounded up to 57 KiB.
        assert_eq!(growth.select(40_000, 10, 0), (58_368, false));
        // (131072 - 70000) * 162 / 256 = 38647, less than half of 82944: rounded down to 37 KiB.
        assert_eq!(growth.select(70_000, 10, 0), (37_888, true));
        // 5126 is less than a sixteenth of 82944.
        assert_eq!(growth.select(122_970, 10, 0), (0, true));
    }

    #[test]
    fn without_scaling_the_window_is_whole_segments() {
        let mut growth = growth(1 << 25);
        takes(&mut growth, 1_448);
        // 66984 B: 46 segments of 1448.
        assert_eq!(growth.select(0, 0, 0), (66_608, false));
        assert_eq!(growth.select(0, 0, 65_600), (65_600, false), "within a segment");
        assert_eq!(growth.select(0, 0, 65_536), (66_608, false));
        assert_eq!(growth.select(0, 0, 67_000), (66_608, false));
    }

    #[test]
    fn segments_above_a_hole_share_their_overhead() {
        let mut growth = growth(1 << 25);
        takes(&mut growth, 1_448);
        let mut held = Held::default();
        held.set_share(growth.share());
        held.insert(10_000, 10_000 + 17 * 1_448);
        held.insert(100_000, 101_448);
        assert_eq!(growth.memory(&held), 18 * 1_448 + 2 * 832);
        held.insert(10_000 + 17 * 1_448, 10_000 + 18 * 1_448);
        assert_eq!(growth.memory(&held), 19 * 1_448 + 3 * 832);
    }
}

//! Growth of Linux 7's receive window: each step causes one quick ACK (net/ipv4/tcp_input.c, tcp_grow_window,
//! tcp_rcv_space_adjust). Only the steps are modelled: the window announced is the whole `receive_buffer`.

use ecnlab_base::{Dur, Time};

use crate::config::Config;

/// Initial buffer in bytes (tcp_rmem\[1\]); half of it is window (TCP_DEFAULT_SCALING_RATIO).
const FIRST_BUFFER: u64 = 131_072;
const FIRST_RATIO: u64 = 128;
const FIRST_WINDOW: u64 = FIRST_BUFFER / 2;
/// Payload of a full segment before any was received, in bytes (TCP_MSS_DEFAULT).
const DEFAULT_MSS: u32 = 536;
/// Maximum buffer in bytes (tcp_rmem\[2\]).
const MOST_BUFFER: u64 = 1 << 25;
/// Memory overhead of a received segment in bytes (skb->truesize - skb->len), as between virtual Ethernet devices.
const OVERHEAD: u64 = 832;
/// Minimum payload of a segment that opens the window, in bytes (tcp_event_data_recv).
const LEAST: u32 = 128;
/// Segments assumed to be read in the first RTT (TCP_INIT_CWND).
const FIRST_SPACE: u64 = 10;
/// Below this RTT the buffer grows less (tcp_rcvbuf_low_rtt).
const LOW_RTT: Dur = Dur::from_ms(1);

/// Receive window growth at one endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// The window that may be announced (rcv_ssthresh).
    window: u64,
    /// Upper limit of the window (window_clamp), and the configured limit.
    clamp: u64,
    limit: u64,
    /// Memory for segments in bytes (sk_rcvbuf).
    buffer: u64,
    /// Payload of the largest segment so far, and payload bytes per 256 bytes of memory (scaling_ratio).
    full: u32,
    ratio: u64,
    /// Maximum of the bytes read within an RTT (rcvq_space.space); zero before the first full segment.
    space: u64,
    /// Time of the last measurement, and the bytes read until then.
    measured: (Time, u64),
    /// Eight times the smoothed RTT (rcv_rtt_est.rtt_us), and the echoed timestamp of the last sample.
    rtt: Dur,
    echo: Option<u32>,
}

/// The timestamp that a segment echoes, and its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echo {
    pub value: u32,
    pub age: Dur,
}

impl Growth {
    pub fn new(config: &Config) -> Growth {
        let limit = config.receive_buffer.0;
        // tcp_init_buffer_space keeps one segment free.
        let window = if limit < FIRST_WINDOW { limit } else { FIRST_WINDOW - config.mss.0.min(FIRST_WINDOW) };
        Growth {
            window,
            clamp: window,
            limit,
            buffer: FIRST_BUFFER,
            full: DEFAULT_MSS,
            ratio: FIRST_RATIO,
            space: 0,
            measured: (Time::ZERO, 0),
            rtt: Dur::ZERO,
            echo: None,
        }
    }

    /// tcp_rcv_rtt_measure_ts: takes an RTT sample from a full segment that echoes a new timestamp.
    pub fn sample(&mut self, echo: Option<Echo>) {
        let Some(Echo { value, age }) = echo.filter(|echo| Some(echo.value) != self.echo) else { return };
        self.echo = Some(value);
        if age.is_zero() {
            return;
        }
        let new = age * 8;
        self.rtt = if self.rtt.is_zero() || new < self.rtt { new } else { self.rtt - self.rtt / 8 + age };
    }

    /// tcp_grow_window: opens the window by up to twice the `len` bytes of a segment. Returns whether it opened.
    pub fn opens(&mut self, len: u32) -> bool {
        if len < LEAST {
            return false;
        }
        let memory = u64::from(len) + OVERHEAD;
        if len > self.full {
            // tcp_measure_rcv_mss.
            self.full = len;
            self.ratio = (u64::from(len) << 8) / memory;
            self.clamp = self.in_window(self.buffer);
            self.space = self.space.max(FIRST_SPACE * u64::from(len));
        }
        let most = self.clamp.min(self.in_window(self.buffer.saturating_sub(memory))).min(self.limit);
        let room = most.saturating_sub(self.window);
        self.window += room.min(2 * u64::from(len));
        room > 0
    }

    /// tcp_rcv_space_adjust: adjusts the buffer once per RTT to the bytes read. `read` is the total of bytes that the
    /// application has read.
    pub fn read(&mut self, read: u64, now: Time) {
        let (since, before) = self.measured;
        if self.rtt.is_zero() || self.space == 0 || now.since(since) < self.rtt / 8 {
            return;
        }
        self.measured = (now, read);
        let (copied, space) = (read - before, self.space);
        if copied <= space {
            return;
        }
        self.space = copied;
        let window = 2 * copied;
        let rtt = self.rtt / 8;
        let more = if rtt < LOW_RTT {
            window * rtt.whole(Dur::from_us(1)) / LOW_RTT.whole(Dur::from_us(1))
        } else {
            2 * window * (copied - space) / space
        };
        let buffer = (((window + more) << 8) / self.ratio).min(MOST_BUFFER);
        if buffer > self.buffer {
            self.buffer = buffer;
            self.clamp = self.in_window(buffer);
        }
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

    fn growth(receive_buffer: u64) -> Growth {
        Growth::new(&Config { receive_buffer: Bytes(receive_buffer), ..profile("linux-7").unwrap().config.clone() })
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// The windows after so many segments of 1448 bytes; none once the window does not open.
    fn windows(growth: &mut Growth, segments: usize) -> Vec<u64> {
        (0..segments).map_while(|_| growth.opens(1448).then_some(growth.window)).collect()
    }

    #[test]
    fn the_first_buffer_lets_the_window_open_seven_times() {
        // 65536 - 1460 = 64076. A segment takes 2280 B, so 256 B hold 162 of payload; (131072 - 2280) * 162 / 256 = 81501.
        let expected = [66_972, 69_868, 72_764, 75_660, 78_556, 81_452, 81_501];
        assert_eq!(windows(&mut growth(32_000_000), 20), expected);
    }

    #[test]
    fn a_small_receive_buffer_does_not_open() {
        assert!(windows(&mut growth(65_535), 1).is_empty());
        // 70000 - 69868 are left for the third.
        assert_eq!(windows(&mut growth(70_000), 9), [66_972, 69_868, 70_000]);
    }

    #[test]
    fn small_segments_do_not_open_the_window() {
        let mut growth = growth(32_000_000);
        assert_eq!(
            [128, 1448, 127, 128].map(|len| growth.opens(len)),
            [false, true, false, true],
            "none before a full one"
        );
    }

    #[test]
    fn the_rtt_is_smoothed_over_new_echoes() {
        let mut growth = growth(32_000_000);
        let mut after = |value, ms| {
            growth.sample(Some(Echo { value, age: Dur::from_ms(ms) }));
            growth.rtt
        };
        assert_eq!(after(1, 16), Dur::from_ms(128));
        assert_eq!(after(1, 24), Dur::from_ms(128), "the same echo");
        assert_eq!(after(2, 24), Dur::from_ms(136), "128 - 16 + 24");
        assert_eq!(after(3, 0), Dur::from_ms(136), "within a tick of the clock");
        assert_eq!(after(4, 10), Dur::from_ms(80), "a smaller one counts at once");
    }

    #[test]
    fn the_buffer_follows_what_is_read_within_an_rtt() {
        let mut growth = growth(32_000_000);
        growth.sample(Some(Echo { value: 1, age: Dur::from_ms(10) }));
        windows(&mut growth, 8);
        growth.read(1448, at(100));
        // 20 segments in 10 ms, 10 before: 57920 + 2 * 57920 * 14480 / 14480 = 173760 B, in 173760 * 256 / 162 = 274583 B.
        growth.read(1448 + 28_960, at(109));
        assert_eq!(growth.buffer, FIRST_BUFFER, "an RTT is not over");
        growth.read(1448 + 28_960, at(110));
        assert_eq!((growth.buffer, growth.clamp, growth.space), (274_583, 173_759, 28_960));
        assert!(growth.opens(1448));
        // No more than before: nothing changes.
        growth.read(1448 + 57_920, at(120));
        assert_eq!((growth.buffer, growth.space), (274_583, 28_960));
    }

    #[test]
    fn below_a_millisecond_the_buffer_grows_less() {
        let mut growth = growth(32_000_000);
        growth.sample(Some(Echo { value: 1, age: Dur::from_us(500) }));
        windows(&mut growth, 8);
        growth.read(0, at(100));
        // 100000 B: 200000 + 200000 * 500 / 1000 = 300000 B, in 300000 * 256 / 162 = 474074 B.
        growth.read(100_000, at(101));
        assert_eq!(growth.buffer, 474_074);
    }

    #[test]
    fn at_a_millisecond_the_buffer_grows_in_full() {
        let mut growth = growth(32_000_000);
        growth.sample(Some(Echo { value: 1, age: LOW_RTT }));
        windows(&mut growth, 8);
        growth.read(0, at(100));
        // As in the test with 10 ms: 173760 * 256 / 162.
        growth.read(28_960, at(101));
        assert_eq!(growth.buffer, 274_583);
    }

    #[test]
    fn without_a_round_trip_nothing_is_measured() {
        let mut growth = growth(32_000_000);
        windows(&mut growth, 8);
        growth.read(28_960, at(100));
        assert_eq!((growth.measured, growth.space, growth.buffer), ((Time::ZERO, 0), 14_480, FIRST_BUFFER));
    }

    #[test]
    fn a_first_segment_of_the_default_length_teaches_nothing() {
        let mut growth = growth(32_000_000);
        growth.opens(DEFAULT_MSS);
        assert_eq!((growth.ratio, growth.space), (FIRST_RATIO, 0));
    }
}

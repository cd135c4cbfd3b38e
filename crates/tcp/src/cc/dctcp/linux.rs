//! DCTCP as Linux 7 has it (net/ipv4/tcp_dctcp.c): packets are counted, and alpha has units of 1/1024.

use ecnlab_base::coverage_mark;

use super::MIN_CWND;
use crate::cc::reno::Reno;
use crate::cc::{AckSample, Congestion, CongestionControl, CongestionEvent, Sent};
use crate::window::FRACTION;

/// Alpha if all packets are marked (DCTCP_MAX_ALPHA), and the bits of its fraction.
const MAX: u32 = 1 << BITS;
const BITS: u32 = 10;
/// Bits that dctcp_shift_g may be, at most.
pub const MAX_SHIFT: u32 = BITS;

/// State of a connection (struct dctcp). Offsets are in bytes since the connection was established.
#[derive(Clone, Debug)]
pub struct Linux {
    alpha: u32,
    /// g as a shift of bits.
    shift: u32,
    /// Packets delivered and marked since the window of data began.
    delivered: u64,
    marked: u64,
    /// The window of data is over when all up to here is acknowledged.
    next_seq: u64,
    una: u64,
    nxt: u64,
}

impl Linux {
    /// State at the beginning (dctcp_init).
    pub fn new(alpha: f64, shift: u32) -> Linux {
        let alpha = (alpha * f64::from(MAX)) as u32;
        Linux { alpha: alpha.min(MAX), shift, delivered: 0, marked: 0, next_seq: 0, una: 0, nxt: 0 }
    }

    /// The estimate as a part of one.
    pub fn alpha(&self) -> f64 {
        f64::from(self.alpha) / f64::from(MAX)
    }

    /// Data leave.
    pub fn on_sent(&mut self, sent: &Sent) {
        if !sent.again {
            self.nxt = self.una + sent.outstanding + sent.bytes;
        }
    }

    /// An ACK (dctcp_update_alpha). With nothing outstanding each ACK is the end of a window of data.
    pub fn on_feedback(&mut self, sample: &AckSample) {
        self.una += sample.acked;
        self.delivered += sample.delivered.packets;
        self.marked += sample.marked.packets;
        if self.una < self.next_seq {
            return;
        }
        let decay = self.alpha >> self.shift;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        let more = (self.marked << (BITS - self.shift)) / self.delivered.max(1);
        self.alpha = self.alpha.saturating_add(u32::try_from(more).unwrap_or(MAX)).min(MAX);
        (self.delivered, self.marked, self.next_seq) = (0, 0, self.nxt);
    }

    /// Reduces the window, in whole segments: by half of alpha on a mark, by half on a loss (dctcp_ssthresh,
    /// dctcp_react_to_loss).
    pub fn on_congestion(&self, reno: &mut Reno, event: &CongestionEvent) {
        let mss = u64::from(reno.window().mss());
        let cwnd = reno.cwnd() / mss;
        let kept = if event.why == Congestion::Ecn {
            coverage_mark!("dctcp.linux_mark");
            self.after_mark(cwnd)
        } else {
            coverage_mark!("dctcp.linux_loss");
            cwnd / 2
        };
        reno.reduce(event, |_| (kept * mss) << FRACTION);
    }

    /// Sets the threshold to half of the window that the reduction on the mark has reached (dctcp_state).
    pub fn on_loss_after_mark(&self, reno: &mut Reno) -> bool {
        coverage_mark!("dctcp.linux_loss_after_mark");
        let mss = u64::from(reno.window().mss());
        reno.set_ssthresh((reno.cwnd() / mss / 2).max(MIN_CWND) * mss);
        true
    }

    /// Returns the window after a mark at `cwnd` segments (dctcp_ssthresh), at least two.
    fn after_mark(&self, cwnd: u64) -> u64 {
        cwnd - ((cwnd * u64::from(self.alpha)) >> (BITS + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Amount;

    /// An ACK of so many segments, of which so many were marked.
    fn ack(alpha: &mut Linux, segments: u64, marked: u64) -> u32 {
        let amount = |segments| Amount::of(segments * 1_000, 1_000);
        let (acked, marked) = (amount(segments), amount(marked));
        alpha.on_feedback(&AckSample { acked: acked.bytes, delivered: acked, marked, ..AckSample::default() });
        alpha.alpha
    }

    fn send(alpha: &mut Linux, outstanding: u64, again: bool) {
        alpha.on_sent(&Sent { bytes: 1_000, outstanding: outstanding * 1_000, again, ..Sent::default() });
    }

    #[test]
    fn without_marks_alpha_falls_by_a_sixteenth_and_from_below_16_to_nothing() {
        let mut alpha = Linux::new(1.0, 4);
        // 1024 - 64, 960 - 60, 900 - 56.25 without the fraction.
        assert_eq!([0; 3].map(|_| ack(&mut alpha, 1, 0)), [960, 900, 844]);
        alpha.alpha = 17;
        assert_eq!([0; 4].map(|_| ack(&mut alpha, 1, 0)), [16, 15, 0, 0]);
    }

    #[test]
    fn marks_add_their_share_of_64_rounded_down() {
        let mut alpha = Linux::new(0.0, 4);
        // 3 · 64 / 7 = 27.4; then 27 - 1 + 64.
        assert_eq!(ack(&mut alpha, 7, 3), 27);
        assert_eq!(ack(&mut alpha, 7, 7), 90);
        // One of 65 is less than a unit: 90 - 5 + 0.98.
        assert_eq!(ack(&mut alpha, 65, 1), 85);
        // All marked: 1024 is the most.
        alpha.alpha = 1_024;
        assert_eq!(ack(&mut alpha, 10, 10), 1_024);
        // A window without a delivery but with a mark: its share is not bounded, alpha is.
        alpha.alpha = 1_024;
        assert_eq!(ack(&mut alpha, 0, 10), 1_024);
    }

    #[test]
    fn alpha_below_16_forgets_before_it_adds() {
        let mut alpha = Linux { alpha: 15, ..Linux::new(0.0, 4) };
        // 15 - 15 + 64 / 10.
        assert_eq!(ack(&mut alpha, 10, 1), 6);
    }

    #[test]
    fn a_window_of_data_ends_with_the_ack_of_all_that_was_sent_at_its_beginning() {
        let mut alpha = Linux::new(1.0, 4);
        (0..10).for_each(|n| send(&mut alpha, n, false));
        // The first ACK ends the window that the handshake began; ten segments were sent by then.
        assert_eq!(ack(&mut alpha, 1, 0), 960);
        send(&mut alpha, 9, false);
        assert_eq!(ack(&mut alpha, 8, 8), 960);
        // What is sent again moves nothing.
        send(&mut alpha, 2, true);
        // 960 - 60 + 8 · 64 / 9 = 956.9: of nine segments eight were marked.
        assert_eq!(ack(&mut alpha, 1, 0), 956);
        // The next ends with the eleventh segment.
        assert_eq!(ack(&mut alpha, 1, 0), 897);
    }

    #[test]
    fn with_nothing_outstanding_each_ack_ends_a_window() {
        let mut alpha = Linux::new(1.0, 4);
        assert_eq!([0; 2].map(|_| ack(&mut alpha, 0, 0)), [960, 900]);
    }

    #[test]
    fn a_mark_takes_half_of_alpha_in_whole_segments() {
        let left = |units, cwnd| Linux { alpha: units, ..Linux::new(0.0, 4) }.after_mark(cwnd);
        // 10 · 1024 / 2048 = 5; 11 · 204 / 2048 = 1.09; 9 · 204 / 2048 = 0.9.
        assert_eq!([left(1_024, 10), left(204, 11), left(204, 9)], [5, 10, 9]);
    }
}

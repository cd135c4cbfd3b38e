//! Linux's SACK compression: for each hole, the first three duplicate ACKs are sent at once and later ones are delayed
//! so that one ACK replaces several (net/ipv4/tcp_input.c: __tcp_ack_snd_check, tcp_sack_new_ofo_skb).

use ecnlab_base::Dur;

/// Duplicate ACKs that are sent at once (TCP_FASTRETRANS_THRESH).
const AT_ONCE: u32 = 3;
/// Maximum number of ACKs that one ACK replaces (tcp_comp_sack_nr).
const MAX_COMPRESSED: u32 = 44;
/// Delay: this percentage of the RTT, at most 1 ms, plus the timer's slack (tcp_comp_sack_rtt_percent,
/// tcp_comp_sack_delay_ns, tcp_comp_sack_slack_ns).
const PERCENT: u64 = 33;
const LONGEST: Dur = Dur::from_ms(1);
const SLACK: Dur = Dur::from_us(10);
/// SACK blocks that fit into every ACK (TCP_SACK_BLOCKS_EXPECTED).
pub(crate) const BLOCKS_EXPECTED: usize = 2;

/// State of SACK compression at one endpoint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compression {
    /// Both endpoints permit SACK.
    pub sack: bool,
    /// Delayed duplicate ACKs (compressed_ack).
    waiting: u32,
    /// Duplicate ACKs sent at once for the current hole (dup_ack_counter).
    sent: u32,
    /// Offset of the current hole (compressed_ack_rcv_nxt).
    hole: u64,
}

impl Compression {
    /// Processes a segment above the hole at offset `hole`. Returns the delay of its ACK, or `None` if the ACK is sent
    /// at once.
    pub fn on_early(&mut self, hole: u64, srtt: Dur) -> Option<Dur> {
        if !self.sack || self.waiting >= MAX_COMPRESSED {
            return None;
        }
        if self.hole != hole {
            (self.hole, self.sent) = (hole, 0);
        }
        if self.sent < AT_ONCE {
            self.sent += 1;
            return None;
        }
        self.waiting += 1;
        Some((srtt * PERCENT / 100).min(LONGEST) + SLACK)
    }

    /// Whether an ACK is delayed.
    pub fn waits(&self) -> bool {
        self.waiting > 0
    }

    /// Clears the count of delayed ACKs when an ACK is sent.
    pub fn acknowledged(&mut self) {
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_four_wait_behind_each_hole_after_three() {
        let mut compression = Compression { sack: true, ..Compression::default() };
        let mut waits = |hole| compression.on_early(hole, Dur::from_ms(100)).is_some();
        assert_eq!([1, 1, 1].map(&mut waits), [false; 3]);
        assert!((0..44).all(|_| waits(1)));
        assert!(!waits(1));
        // The next hole has three of its own, once an ACK has left.
        compression.acknowledged();
        let mut waits = |hole| compression.on_early(hole, Dur::from_ms(100)).is_some();
        assert_eq!([2, 2, 2, 2].map(&mut waits), [false, false, false, true]);
    }

    #[test]
    fn the_wait_is_a_third_of_a_short_round_trip() {
        for (us, expected) in [(300, 109), (3_000, 1_000), (100_000, 1_010)] {
            let mut compression = Compression { sack: true, sent: AT_ONCE, hole: 1, ..Compression::default() };
            assert_eq!(compression.on_early(1, Dur::from_us(us)), Some(Dur::from_us(expected)));
        }
    }

    #[test]
    fn nothing_waits_without_sack() {
        let mut compression = Compression { sent: AT_ONCE, hole: 1, ..Compression::default() };
        assert_eq!(compression.on_early(1, Dur::from_ms(100)), None);
    }
}

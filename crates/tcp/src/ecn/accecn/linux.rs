//! How Linux 7 reads field and option of AccECN (net/ipv4/tcp_input.c, `__tcp_accecn_process`, `tcp_accecn_process_option`).

use ecnlab_wire::AccEcn as Fields;

use super::counters::{BYTES, MASK, PACKETS};
use crate::ack_sample::Amount;

/// The weight of the mean of packets for each ACK is one in 2^6, and it has 6 bits behind the point (PKTS_ACKED_WEIGHT,
/// PKTS_ACKED_PREC).
const WEIGHT: u32 = 6;
const PRECISION: u32 = 6;
/// With a mean above it ACKs are thinned, and long steps are no sign of lost ones (ACK_COMP_THRESH).
const THINNED: u64 = 4;

/// Counters reported to the sender.
#[derive(Clone, Debug)]
pub(super) struct Reported {
    /// Packets with CE.
    packets: u64,
    /// Counters of bytes with ECT(0), CE and ECT(1).
    bytes: [u32; 3],
    /// Which of them moved alone when one last moved: what an ACK without option delivers is taken for its.
    moving: Option<usize>,
    /// Mean of packets that an ACK delivers.
    mean: u64,
    /// Bytes returned as marked so far, modulo 2^24: without option an estimate, which the next option corrects.
    returned: u32,
}

impl Default for Reported {
    fn default() -> Reported {
        Reported { packets: PACKETS, bytes: [BYTES, 0, BYTES], moving: None, mean: 0, returned: 0 }
    }
}

const CE: usize = 1;

impl Reported {
    /// Returns the marks among newly delivered data by an ACK with the field `ace` and perhaps an option.
    pub fn decode(&mut self, ace: u8, fields: Option<Fields>, newly: Amount, mss: u32) -> Amount {
        let before = self.bytes[CE];
        let dependable = self.take_option(fields, newly.bytes);
        self.note_packets(newly.packets);
        let least = u64::from(ace).wrapping_sub(self.packets) % 8;
        // If the counter went back, the bytes are not dependable, and not used.
        let marked = u64::from(self.bytes[CE].wrapping_sub(before) & MASK);
        let packets = if newly.packets < 8 {
            least
        } else {
            let most = newly.packets - (newly.packets - least) % 8;
            match dependable {
                true => by_bytes(least, most, marked, newly, mss.into()),
                false if self.mean > THINNED << PRECISION => least,
                false => most,
            }
        };
        self.packets += packets;
        Amount { bytes: self.marked_bytes(fields.is_some(), packets * u64::from(mss), newly.bytes), packets }
    }

    /// Returns the marked bytes of an ACK: with an option those that its counter of CE has and earlier ACKs had not, without
    /// one those of as many full segments, at most the `delivered` bytes.
    fn marked_bytes(&mut self, has_option: bool, full: u64, delivered: u64) -> u64 {
        let more = self.bytes[CE].wrapping_sub(self.returned) & MASK;
        let bytes = match has_option {
            true if more > MASK / 2 => 0,
            true => more.into(),
            false => full.min(delivered),
        };
        self.returned = self.returned.wrapping_add(bytes as u32) & MASK;
        bytes
    }

    fn note_packets(&mut self, packets: u64) {
        if packets > 0 {
            let now = packets << PRECISION;
            let mean = if self.mean == 0 { now } else { ((self.mean << WEIGHT) - self.mean + now) >> WEIGHT };
            self.mean = mean.min(0xffff);
        }
    }

    /// Takes in the counters. Returns whether they determine the number of marked bytes.
    fn take_option(&mut self, fields: Option<Fields>, delivered: u64) -> bool {
        let Some(fields) = fields else {
            if let Some(moving) = self.moving {
                self.bytes[moving] = self.bytes[moving].wrapping_add(delivered as u32) & MASK;
            }
            return self.moving.is_some();
        };
        let expected = self.moving;
        let (mut certain, mut ambiguous, mut first) = (expected.is_some(), false, true);
        let order = if fields.ect1_first() { [2, CE, 0] } else { [0, CE, 2] };
        let reported = [fields.ect0(), fields.ce(), fields.ect1()];
        for (counter, value) in order.into_iter().filter_map(|counter| Some((counter, reported[counter]?))) {
            let step = value.wrapping_sub(self.bytes[counter]) & MASK;
            self.bytes[counter] = value;
            ambiguous |= step > MASK / 2;
            if step > 0 && expected != Some(counter) {
                ambiguous |= !first;
                self.moving = if first { Some(counter) } else { self.moving };
                first = false;
            }
        }
        certain &= !ambiguous;
        if ambiguous {
            self.moving = None;
        }
        certain
    }
}

/// How many packets were marked, `least` or `most`, where `marked` bytes were.
fn by_bytes(least: u64, most: u64, marked: u64, newly: Amount, mss: u64) -> u64 {
    if marked == 0 {
        return least;
    }
    if newly.packets >= 16 {
        if newly.bytes <= marked {
            return most;
        }
        let share = (marked * newly.packets).div_ceil(newly.bytes);
        return most.min(least + (share & !7));
    }
    if marked > least * mss || marked >= most * mss / 2 { most } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(n: u64) -> Amount {
        Amount { bytes: n * 1_000, packets: n }
    }

    /// Packets reported by an ACK without option of `n` segments with the field `ace`, after `before` ACKs of one.
    fn new_marks(ace: u8, n: u64, before: u32) -> u64 {
        let mut reported = Reported::default();
        (0..before).for_each(|_| {
            reported.decode(5, None, packets(1), 1_000);
        });
        reported.decode(ace, None, packets(n), 1_000).packets
    }

    #[test]
    fn a_long_step_is_a_wrap_only_where_acks_are_not_thinned() {
        // The mean of a first ACK is that ACK.
        assert_eq!([new_marks(5, 10, 0), new_marks(6, 10, 0)], [0, 1]);
        // 1, then 1 + 9/64.
        assert_eq!([new_marks(5, 10, 1), new_marks(6, 10, 1), new_marks(0, 10, 1)], [8, 9, 3]);
        assert_eq!([new_marks(5, 7, 1), new_marks(4, 7, 1)], [0, 7]);
        // The mean of 1 and n is (63 + n) / 64: with 193 it is 4 and not above.
        assert_eq!([new_marks(5, 192, 1), new_marks(5, 193, 1), new_marks(5, 194, 1)], [192, 192, 0]);
    }

    /// After an ACK by which the counter of CE moved alone, one of `n` segments with the field `ace` and `ce` more bytes.
    fn new_marks_with(ace: u8, ce: u32, n: u64) -> (u64, u64) {
        let mut reported = Reported::default();
        let option = |ce| Some(Fields::new(true, &[1, ce, 1]));
        assert_eq!(reported.decode(6, option(1_000), packets(1), 1_000).packets, 1);
        let now = reported.decode(ace, option(1_000 + ce), packets(n), 1_000);
        (now.packets, now.bytes)
    }

    #[test]
    fn bytes_show_whether_the_field_has_wrapped() {
        assert_eq!(new_marks_with(6, 0, 10), (0, 0));
        // One or nine: one segment holds 1000 bytes; of nine, half of the bytes would be 4500.
        assert_eq!([new_marks_with(7, 1_000, 10), new_marks_with(7, 1_001, 10)], [(1, 1_000), (9, 1_001)]);
        // Seven or fifteen, 7000 bytes; half of fifteen segments is 7500.
        assert_eq!([new_marks_with(5, 7_000, 15), new_marks_with(5, 7_001, 15)], [(7, 7_000), (15, 7_001)]);
        // From 16 packets on in proportion: 7/16 is no 8, 8/16 is one step of 8 more than 0.
        assert_eq!([new_marks_with(6, 7_000, 16), new_marks_with(6, 8_000, 16)], [(0, 7_000), (8, 8_000)]);
        assert_eq!(new_marks_with(6, 16_000, 16), (16, 16_000));
    }

    #[test]
    fn a_field_cannot_wrap_with_less_than_eight_packets() {
        // Of eight packets none or all were marked; of seven none. More marks than packets are believed.
        assert_eq!([new_marks(5, 8, 1), new_marks(5, 7, 1), new_marks(2, 3, 1)], [8, 0, 5]);
    }

    #[test]
    fn acks_that_deliver_nothing_do_not_count_for_the_mean() {
        // The mean stays 10, above 4.
        let mut reported = Reported::default();
        (0..100).for_each(|_| {
            reported.decode(5, None, packets(0), 1_000);
        });
        reported.decode(5, None, packets(10), 1_000);
        (0..100).for_each(|_| {
            reported.decode(5, None, packets(0), 1_000);
        });
        assert_eq!(reported.decode(5, None, packets(10), 1_000).packets, 0);
    }

    /// Of an ACK of ten segments with the field as before, after an option that moved the counter of CE and one with `ce`
    /// more bytes: marked packets, and the counter that moves.
    fn after_a_step(ce: u32) -> (u64, Option<usize>) {
        let mut reported = Reported::default();
        let option = |ce: u32| Some(Fields::new(true, &[1, ce & MASK, 1]));
        reported.decode(6, option(1_000), packets(1), 1_000);
        (reported.decode(6, option(1_000_u32.wrapping_add(ce)), packets(10), 1_000).packets, reported.moving)
    }

    #[test]
    fn a_counter_that_goes_back_is_of_no_use() {
        // Half of the range is forward, all the bytes of eight packets; one more is back: the mean, 1 + 9/64, decides.
        assert_eq!(after_a_step(MASK / 2), (8, Some(CE)));
        assert_eq!(after_a_step(MASK / 2 + 1), (8, None));
        // 1 back. Were it dependable, it would be more than any packets hold; were it 0, none would be marked.
        assert_eq!(after_a_step(u32::MAX), (8, None));
        assert_eq!(after_a_step(0), (0, Some(CE)));
    }

    #[test]
    fn the_first_option_is_not_dependable() {
        // By its bytes, 0, none of ten would be marked; the field may have wrapped.
        let mut reported = Reported::default();
        reported.decode(5, None, packets(1), 1_000);
        assert_eq!(reported.decode(5, Some(Fields::new(true, &[1, 0, 10_001])), packets(10), 1_000).packets, 8);
    }

    #[test]
    fn an_ack_without_option_counts_for_the_counter_that_moves() {
        let mut reported = Reported::default();
        reported.decode(5, Some(Fields::new(true, &[1, 0, 1_001])), packets(1), 1_000);
        // Not CE's: nothing of ten was marked, though the field may have wrapped.
        assert_eq!(reported.decode(5, None, packets(10), 1_000), Amount::default());
        assert_eq!(reported.bytes, [11_001, 0, 1]);
        // Two at once are ambiguous, and the next ACK is as without options.
        reported.decode(6, Some(Fields::new(true, &[1, 1_000, 12_001])), packets(2), 1_000);
        assert_eq!(reported.moving, Some(CE));
        reported.decode(7, Some(Fields::new(true, &[501, 1_000, 12_501])), packets(1), 1_000);
        assert_eq!(reported.moving, None);
    }
}

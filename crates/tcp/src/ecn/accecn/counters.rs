//! AccECN's counters (RFC 9768 §3.2.1): those of the receiver, by codepoint, and their copies at the sender.

use std::cmp::Ordering;

use ecnlab_wire::{AccEcn as Fields, Ecn, Segment};

use crate::ack_sample::Amount;

/// Where the count of marked packets begins, and those of bytes with ECT(0) and ECT(1); that of bytes with CE begins at 0
/// (§3.2.1). A field with another value at the start was overwritten.
pub(super) const PACKETS: u64 = 5;
pub(super) const BYTES: u32 = 1;
/// Counters of bytes have 24 bits.
pub(super) const MASK: u32 = 0xff_ffff;

/// Bytes of payload by codepoint, modulo 2^24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes {
    ect0: u32,
    ce: u32,
    ect1: u32,
}

impl Bytes {
    const START: Bytes = Bytes { ect0: BYTES, ce: 0, ect1: BYTES };

    /// In the order of the option.
    fn fields(self, ect1_first: bool) -> [u32; 3] {
        if ect1_first { [self.ect1, self.ce, self.ect0] } else { [self.ect0, self.ce, self.ect1] }
    }
}

/// A receiver's counters.
#[derive(Clone, Debug)]
pub(super) struct Received {
    /// Packets with CE (r.cep).
    packets: u64,
    /// r.e0b, r.ceb, r.e1b, and their values in the last option.
    bytes: Bytes,
    last_option: Bytes,
    /// The option must be repeated once, because an ACK may be lost or overtaken (Linux: accecn_opt_demand is 2).
    repeats: bool,
    /// It is repeated on every segment.
    always: bool,
    /// Packets with CE since the last segment sent, and whether data have arrived since.
    unreported: u32,
    unacknowledged: bool,
    /// A SYN-ACK came with CE and was counted.
    syn_ack_counted: bool,
    /// Codepoint of the last packet, and whether a different one has arrived since the last segment sent.
    last: Ecn,
    changed: bool,
    /// The last data arrived with ECT(1): its counter is first.
    ect1_first: bool,
}

impl Default for Received {
    fn default() -> Received {
        Received {
            packets: PACKETS,
            bytes: Bytes::START,
            last_option: Bytes::START,
            repeats: false,
            always: false,
            unreported: 0,
            unacknowledged: false,
            syn_ack_counted: false,
            last: Ecn::NotEct,
            changed: false,
            ect1_first: false,
        }
    }
}

impl Received {
    /// The SYN-ACK has come, for the first time or again: CE on it counts, once (§3.2.2.2).
    pub fn count_syn_ack(&mut self, ecn: Ecn) {
        if ecn == Ecn::Ce && !std::mem::replace(&mut self.syn_ack_counted, true) {
            self.packets += 1;
        }
    }

    /// Whether data have come since a segment last left, which acknowledges all.
    pub fn has_unacknowledged(&self) -> bool {
        self.unacknowledged
    }

    /// Counts an acceptable segment with `len` bytes of payload. Returns whether it is the first with CE after one without, and
    /// the number with CE since the last segment sent.
    pub fn count(&mut self, ecn: Ecn, len: u32) -> (bool, u32) {
        let ce = ecn == Ecn::Ce;
        let first = ce && self.last != Ecn::Ce;
        self.changed |= ecn != self.last;
        self.last = ecn;
        self.packets += u64::from(ce);
        self.unreported += u32::from(ce);
        self.unacknowledged |= len > 0;
        if len > 0 {
            let counter = match ecn {
                Ecn::NotEct => return (first, self.unreported),
                Ecn::Ect0 => &mut self.bytes.ect0,
                Ecn::Ce => &mut self.bytes.ce,
                Ecn::Ect1 => &mut self.bytes.ect1,
            };
            *counter = counter.wrapping_add(len) & MASK;
            self.ect1_first = if ce { self.ect1_first } else { ecn == Ecn::Ect1 };
        }
        (first, self.unreported)
    }

    /// Every segment is to have the option.
    pub fn report_always(&mut self) {
        (self.repeats, self.always) = (true, true);
    }

    /// Whether the last packet had another codepoint than `ecn`.
    pub fn is_another(&self, ecn: Ecn) -> bool {
        ecn != self.last
    }

    /// Whether a counter of bytes passes a multiple of `step`, a power of two, when the segment is counted.
    pub fn reaches(&self, segment: &Segment, step: u32) -> bool {
        let counter = match segment.ecn {
            Ecn::NotEct => return false,
            Ecn::Ect0 => self.bytes.ect0,
            Ecn::Ce => self.bytes.ce,
            Ecn::Ect1 => self.bytes.ect1,
        };
        (counter ^ counter.wrapping_add(segment.len)) & !(step - 1) != 0
    }

    /// Whether the codepoint has changed since a segment last left.
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// ECT(1)'s counter is always first.
    pub fn put_ect1_first(&mut self) {
        self.ect1_first = true;
    }

    /// The ACE field of a segment that leaves.
    pub fn take_ace(&mut self) -> u8 {
        (self.unreported, self.unacknowledged, self.changed) = (0, false, false);
        (self.packets % 8) as u8
    }

    /// Whether a byte counter has changed since the last option, or since the one before that.
    pub fn option_is_due(&self) -> bool {
        self.repeats || self.bytes != self.last_option
    }

    /// The option of a segment that leaves with `room` bytes for it, unless a counter that has moved does not fit. Fields are
    /// left out from the end (§3.2.3.1).
    pub fn fields(&mut self, room: u32) -> Option<Fields> {
        let (now, last_option) = (self.bytes.fields(self.ect1_first), self.last_option.fields(self.ect1_first));
        let moved = if now[2] != last_option[2] {
            3
        } else if now[1] != last_option[1] {
            2
        } else {
            usize::from(now[0] != last_option[0])
        };
        let fit = fitting(room);
        if fit == 0 || moved > fit {
            return None;
        }
        self.repeats = self.always || moved > 0;
        self.last_option = self.bytes;
        Some(Fields::new(self.ect1_first, &now[..fit]))
    }
}

/// Number of counters of an option of at most `room` bytes.
fn fitting(room: u32) -> usize {
    match room {
        room if room >= Fields::wire_len(3) => 3,
        room if room >= Fields::wire_len(2) => 2,
        room => usize::from(room >= Fields::wire_len(1)),
    }
}

/// Counters reported to the sender.
#[derive(Clone, Debug)]
pub(super) struct Reported {
    /// Packets with CE (s.cep).
    packets: u64,
    /// Bytes with CE by the last option (s.ceb); what was taken for marked since for want of one.
    ce: u32,
    estimated: Amount,
    /// An option reported marked bytes, but the ACE field no marked packet (§3.2.3.2.5).
    contradicts: bool,
    /// The latest timestamp of the peer's clock.
    latest: Option<u32>,
}

impl Default for Reported {
    fn default() -> Reported {
        Reported { packets: PACKETS, ce: 0, estimated: Amount::default(), contradicts: false, latest: None }
    }
}

impl Reported {
    /// Handles a last ACK that reports that the SYN-ACK arrived with CE (§3.2.2.1).
    pub fn reflected_ce(&mut self) {
        self.packets = PACKETS + 1;
    }

    /// Whether the segment's timestamp is later than all before it, or earlier than one of them.
    pub fn order(&mut self, segment: &Segment) -> Ordering {
        let Some(stamp) = segment.timestamps else { return Ordering::Equal };
        let latest = *self.latest.get_or_insert(stamp.value.wrapping_sub(1));
        let order = (stamp.value.wrapping_sub(latest) as i32).cmp(&0);
        if order.is_gt() {
            self.latest = Some(stamp.value);
        }
        order
    }

    /// Returns the marks among newly delivered data by an ACK with the field `ace` and perhaps an option (§3.2.2.5.2,
    /// appendix A.2).
    pub fn decode(&mut self, ace: u8, fields: Option<Fields>, newly: Amount, mss: u32) -> Amount {
        let least = (u64::from(ace).wrapping_sub(self.packets)) % 8;
        // §3.2.2.5: the field may have wrapped, as often as what is delivered leaves room for.
        let most = if newly.packets > 7 { newly.packets - (newly.packets - least) % 8 } else { least };
        let mss = u64::from(mss);
        // §3.2.3: counters that have not changed may be left out. An option without any is ignored.
        let counters = fields.filter(|fields| !fields.is_empty());
        let step = counters.map(|fields| fields.ce().map_or(0, |ce| ce.wrapping_sub(self.ce) & MASK));
        // A counter that lies behind is that of an old ACK, whose field is old, too.
        if step.is_some_and(|step| step > MASK / 2) {
            return Amount::default();
        }
        self.ce = self.ce.wrapping_add(step.unwrap_or(0)) & MASK;
        let step = step.map(u64::from);
        let packets = match step {
            None => most,
            // More bytes than the least number of packets can hold (Linux, __tcp_accecn_process).
            Some(step) if step > least * mss => most,
            Some(_) => least,
        };
        self.packets += packets;
        let Some(step) = step else {
            let bytes = (packets * mss).min(newly.bytes);
            self.estimated.bytes += bytes;
            self.estimated.packets += packets;
            return Amount { bytes, packets };
        };
        let estimated = std::mem::take(&mut self.estimated);
        self.contradicts |= step > 0 && packets + estimated.packets == 0;
        Amount { bytes: step.saturating_sub(estimated.bytes), packets }
    }

    /// Whether option and ACE field have contradicted each other.
    pub fn contradicts(&self) -> bool {
        self.contradicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(n: u64) -> Amount {
        Amount { bytes: n * 1_000, packets: n }
    }

    /// Marks decoded by a new sender from an ACK of `n` segments of 1000 bytes with the field `ace`: packets, bytes.
    fn new_marks(ace: u8, n: u64) -> (u64, u64) {
        let reported = Reported::default().decode(ace, None, packets(n), 1_000);
        (reported.packets, reported.bytes)
    }

    #[test]
    fn the_ace_field_counts_modulo_eight_from_five() {
        assert_eq!([5, 6, 7, 0, 4].map(|ace| new_marks(ace, 7).0), [0, 1, 2, 3, 7]);
        let mut received = Received::default();
        assert_eq!(received.take_ace(), 5);
        for _ in 0..4 {
            received.count(Ecn::Ce, 0);
        }
        assert_eq!(received.take_ace(), 1);
    }

    #[test]
    fn of_more_than_seven_packets_as_many_are_marked_as_can_be() {
        // Ten delivered: 0 may be 8, 1 may be 9, 2 may be 10, and 3 can only be 3.
        assert_eq!([5, 6, 7, 0].map(|ace| new_marks(ace, 10).0), [8, 9, 10, 3]);
        // Seven cannot have wrapped.
        assert_eq!(new_marks(5, 7).0, 0);
        assert_eq!(new_marks(5, 8), (8, 8_000));
    }

    /// The same with an option whose counter of CE is `ce` bytes higher.
    fn new_marks_with(ace: u8, ce: u32, n: u64) -> (u64, u64) {
        let fields = Fields::new(false, &[1, ce]);
        let reported = Reported::default().decode(ace, Some(fields), packets(n), 1_000);
        (reported.packets, reported.bytes)
    }

    #[test]
    fn the_option_shows_whether_the_field_has_wrapped() {
        assert_eq!(new_marks_with(5, 0, 10), (0, 0), "no byte was marked, so no packet of data");
        assert_eq!(new_marks_with(5, 8_000, 10), (8, 8_000));
        // One or nine, of 1000 bytes: one.
        assert_eq!(new_marks_with(6, 1_000, 10), (1, 1_000));
        // 1001 bytes do not fit in one packet, nor 3001 in three.
        assert_eq!(new_marks_with(6, 1_001, 10), (9, 1_001));
        assert_eq!((new_marks_with(0, 3_000, 20).0, new_marks_with(0, 3_001, 20).0), (3, 19));
    }

    #[test]
    fn a_counter_that_is_left_out_has_not_changed() {
        let new_marks = |counters: &[u32]| {
            let mut reported = Reported::default();
            reported.decode(6, Some(Fields::new(false, &[1, 700])), packets(1), 1_000);
            let now = reported.decode(6, Some(Fields::new(false, counters)), packets(8), 1_000);
            (now.packets, now.bytes, reported.ce)
        };
        assert_eq!(new_marks(&[9_001]), (0, 0, 700));
        // An empty option is none: the field may have wrapped.
        assert_eq!(new_marks(&[]), (8, 8_000, 700));
    }

    #[test]
    fn bytes_are_counted_once_by_field_or_option() {
        let mut reported = Reported::default();
        // Two marks without an option: 2000 bytes are taken for marked. The option then reports 2400 in all.
        assert_eq!(reported.decode(7, None, packets(2), 1_000), Amount { packets: 2, bytes: 2_000 });
        let fields = Fields::new(false, &[1, 2_400]);
        assert_eq!(reported.decode(7, Some(fields), packets(2), 1_000).bytes, 400);
        // The counter of an older ACK lies behind: its field, one less, is not seven more.
        let old = Fields::new(false, &[1, 1_400]);
        assert_eq!(reported.decode(6, Some(old), packets(1), 1_000), Amount::default());
        assert_eq!(reported.decode(0, Some(Fields::new(true, &[1, 3_400])), packets(1), 1_000), packets(1));
    }

    #[test]
    fn marked_bytes_without_a_marked_packet_are_a_contradiction() {
        let contradicts = |ace| {
            let mut reported = Reported::default();
            // A mark whose bytes the option reports later is none.
            reported.decode(6, None, packets(1), 1_000);
            reported.decode(6, Some(Fields::new(false, &[1, 1_000])), packets(1), 1_000);
            assert!(!reported.contradicts());
            reported.decode(ace, Some(Fields::new(false, &[1, 2_000])), packets(1), 1_000);
            reported.contradicts()
        };
        assert_eq!([6, 7].map(contradicts), [true, false]);
        // Where nothing was marked option and field agree.
        let mut reported = Reported::default();
        reported.decode(5, Some(Fields::new(false, &[1_001, 0])), packets(1), 1_000);
        assert!(!reported.contradicts());
    }

    #[test]
    fn the_option_has_the_counters_in_the_order_of_the_codepoints_that_come() {
        let mut received = Received::default();
        received.count(Ecn::Ect0, 1_000);
        // Reported, and repeated once.
        for due in [true, true, false] {
            assert_eq!(received.option_is_due(), due);
            assert_eq!(received.fields(40), Some(Fields::new(false, &[1_001, 0, 1])));
        }
        // An ACK without data is no reason for another order.
        received.count(Ecn::Ect1, 0);
        assert_eq!(received.fields(40), Some(Fields::new(false, &[1_001, 0, 1])));
        received.count(Ecn::Ect1, 500);
        received.count(Ecn::Ce, 100);
        assert!(received.option_is_due());
        assert_eq!(received.fields(40), Some(Fields::new(true, &[501, 100, 1_001])));
    }

    #[test]
    fn what_does_not_fit_and_has_not_moved_is_left_out() {
        let mut received = Received::default();
        received.count(Ecn::Ect0, 1_000);
        received.count(Ecn::Ce, 1_000);
        // 8 bytes hold two counters.
        assert_eq!(received.fields(4), None);
        assert_eq!(received.fields(11), Some(Fields::new(false, &[1_001, 1_000])));
        received.count(Ecn::Ect1, 1_000);
        received.count(Ecn::Ect0, 1_000);
        // The order is that of ECT(0) again, and ECT(1), the last, has moved.
        assert_eq!(received.fields(8), None);
        assert!(received.fields(12).is_some());
    }

    #[test]
    fn counters_of_bytes_wrap_at_24_bits() {
        let mut received = Received::default();
        received.count(Ecn::Ce, MASK);
        received.count(Ecn::Ce, 11);
        assert_eq!(received.fields(40).and_then(|fields| fields.ce()), Some(10));
        let mut reported = Reported { ce: MASK, ..Reported::default() };
        assert_eq!(reported.decode(6, Some(Fields::new(false, &[1, 10])), packets(1), 1_000).bytes, 11);
    }

    #[test]
    fn a_counter_that_is_half_its_range_ahead_or_more_lies_behind() {
        // 2^23 - 1 bytes ahead; 2^23 are as many behind.
        assert_eq!(new_marks_with(6, 0x7f_ffff, 8_400).1, 8_388_607);
        assert_eq!(new_marks_with(6, 0x80_0000, 8_400), (0, 0));
    }

    #[test]
    fn of_marked_syn_acks_one_counts() {
        let mut received = Received::default();
        let counts = [Ecn::Ect0, Ecn::Ce, Ecn::NotEct, Ecn::Ce].map(|ecn| {
            received.count_syn_ack(ecn);
            received.take_ace()
        });
        assert_eq!(counts, [5, 6, 6, 6]);
    }

    #[test]
    fn data_wait_for_an_ack_until_a_segment_leaves() {
        let mut received = Received::default();
        let waits = [(Ecn::Ce, 0), (Ecn::Ect0, 1), (Ecn::Ce, 0)].map(|(ecn, len)| {
            received.count(ecn, len);
            received.has_unacknowledged()
        });
        assert_eq!(waits, [false, true, true]);
        received.take_ace();
        assert!(!received.has_unacknowledged());
    }

    #[test]
    fn the_first_mark_of_a_row_and_unreported_ones_are_known() {
        let mut received = Received::default();
        let codepoints = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ce];
        let counts = codepoints.map(|ecn| received.count(ecn, 1_000));
        assert_eq!(counts, [(false, 0), (true, 1), (false, 2), (false, 2), (true, 3)]);
        received.take_ace();
        assert_eq!(received.count(Ecn::Ce, 1_000), (false, 1));
    }
}

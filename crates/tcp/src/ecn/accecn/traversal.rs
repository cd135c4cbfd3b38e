//! Detection of whether the AccECN option reaches the peer (RFC 9768 §3.2.3.2.2), from lost segments that carried it.

use ecnlab_wire::{Segment, Seq};

/// The same data come so often once more before the ACKs with the option count as lost. The RFC has no number.
const TIMES: u8 = 2;

/// Knowledge about the option's traversal of the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traversal {
    /// It gets through: the SYN-ACK that had it was acknowledged before it was sent without, or the first data were.
    passed: bool,
    /// It does not: it is sent no more.
    blocked: bool,
    /// Nothing is taken for a sign that it does not.
    assumed: bool,
    /// The first data had it and are not yet acknowledged.
    out: bool,
    /// The last segment had it.
    on_last: bool,
    /// Data that have come again although the last segment acknowledged them, and how often in succession.
    again: Option<(Seq, u8)>,
}

impl Traversal {
    /// The option is never sent.
    pub const BLOCKED: Traversal = Traversal { blocked: true, ..Traversal::UNKNOWN };
    /// It is sent whatever is lost.
    pub const ASSUMED: Traversal = Traversal { assumed: true, ..Traversal::UNKNOWN };
    const UNKNOWN: Traversal =
        Traversal { passed: false, blocked: false, assumed: false, out: false, on_last: false, again: None };

    /// Whether the option is sent no more.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// A segment leaves, with the option or without.
    pub fn sent(&mut self, with_option: bool) {
        self.on_last = with_option;
    }

    /// The first data leave with it.
    pub fn sent_first_data(&mut self) {
        self.out = !self.passed;
    }

    /// Something is sent again. Until the first data are acknowledged, it is those.
    pub fn sent_again(&mut self) {
        self.blocked |= self.out && !self.assumed;
    }

    /// A segment that had it was acknowledged.
    pub fn arrived(&mut self) {
        self.passed = true;
        self.out = false;
    }

    /// A segment with data that lies in the window has come.
    #[inline]
    pub fn on_new_data(&mut self) {
        self.again = None;
    }

    /// A segment with data has come that was acknowledged before.
    pub fn on_old_data(&mut self, segment: &Segment) {
        if self.passed || self.assumed || !self.on_last {
            return self.on_new_data();
        }
        let before = self.again.filter(|(seq, _)| *seq == segment.seq).map_or(0, |(_, times)| times);
        self.again = Some((segment.seq, before + 1));
        self.blocked |= before + 1 >= TIMES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u32) -> Segment {
        Segment { seq: Seq(seq), len: 1_000, ..Segment::default() }
    }

    /// Whether the option is given up after data of these sequence numbers, each outside the window and each answered by an
    /// ACK with the option or without.
    fn given_up(seqs: &[u32], with_option: bool) -> bool {
        let mut traversal = Traversal::default();
        for &seq in seqs {
            traversal.sent(with_option);
            traversal.on_old_data(&data(seq));
        }
        traversal.is_blocked()
    }

    #[test]
    fn the_same_data_twice_more_are_acks_lost() {
        assert_eq!(
            [&[1][..], &[1, 1], &[1, 1001], &[1, 1001, 1], &[1, 1001, 1001]].map(|s| given_up(s, true)),
            [false, true, false, false, true]
        );
        assert!(!given_up(&[1, 1, 1], false), "the ACKs without it would be lost, too");
    }

    #[test]
    fn new_data_between_show_that_an_ack_arrived() {
        let mut traversal = Traversal::default();
        traversal.sent(true);
        traversal.on_old_data(&data(1));
        traversal.on_new_data();
        traversal.on_old_data(&data(1));
        assert!(!traversal.is_blocked());
    }

    #[test]
    fn first_data_that_are_sent_again_end_it_unless_it_is_known_to_pass() {
        let after = |known: bool, acknowledged: bool| {
            let mut traversal = Traversal::default();
            if known {
                traversal.arrived();
            }
            traversal.sent_first_data();
            if acknowledged {
                traversal.arrived();
            }
            traversal.sent_again();
            traversal.is_blocked()
        };
        assert_eq!([after(false, false), after(false, true), after(true, false)], [true, false, false]);
        let mut traversal = Traversal::default();
        traversal.sent_again();
        assert!(!traversal.is_blocked(), "it was on none");
        traversal.arrived();
        for _ in 0..3 {
            traversal.sent(true);
            traversal.on_old_data(&data(1));
        }
        assert!(!traversal.is_blocked());
    }
}

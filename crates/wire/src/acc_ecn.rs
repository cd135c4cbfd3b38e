//! The AccECN option (RFC 9768 §3.2.3).

use std::num::NonZeroU32;

use crate::kind;

/// Counters of the AccECN option (RFC 9768 §3.2.3): payload bytes received with each codepoint, modulo 2^24. They start
/// at 1, the CE counter at 0. Trailing counters may be omitted.
///
/// Every [`Segment`](crate::Segment) has room for it, so it is packed in words that are copied as a whole: each holds a
/// counter in its low 24 bits; the high bits of the first hold the number of counters plus one, and the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcn {
    first: NonZeroU32,
    rest: [u32; 2],
}

/// Mask of the counter in a word of [`AccEcn`].
const COUNTER: u32 = 0xff_ffff;
/// Bit position of the number of counters in the first word, and the bit for the order.
const LEN: u32 = 24;
const ECT1_FIRST: u32 = 1 << 31;

impl AccEcn {
    /// Creates an option with up to three counters in their order: ECT(0), CE, ECT(1) (kind 172), or with `ect1_first`
    /// ECT(1), CE, ECT(0) (kind 174). Only their low 24 bits are used.
    #[inline]
    pub fn new(ect1_first: bool, counters: &[u32]) -> AccEcn {
        let counter = |n: usize| counters.get(n).map_or(0, |counter| counter & COUNTER);
        let head = (1 + counters.len().min(3) as u32) << LEN | if ect1_first { ECT1_FIRST } else { 0 };
        let first = NonZeroU32::MIN.saturating_add((head | counter(0)) - 1);
        AccEcn { first, rest: [counter(1), counter(2)] }
    }

    /// Bytes on the wire of an option with a number of counters, padded to a multiple of four.
    pub const fn wire_len(counters: usize) -> u32 {
        (2 + 3 * counters as u32).next_multiple_of(4)
    }

    /// Number of counters.
    pub const fn len(&self) -> usize {
        ((self.first.get() & !ECT1_FIRST) >> LEN) as usize - 1
    }

    /// Returns whether it has no counters.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the ECT(1) counter is first.
    pub const fn ect1_first(&self) -> bool {
        self.first.get() & ECT1_FIRST != 0
    }

    /// Bytes received with ECT(0).
    pub fn ect0(&self) -> Option<u32> {
        self.counter(if self.ect1_first() { 2 } else { 0 })
    }

    /// Bytes received with CE.
    #[inline]
    pub fn ce(&self) -> Option<u32> {
        self.counter(1)
    }

    /// Bytes received with ECT(1).
    pub fn ect1(&self) -> Option<u32> {
        self.counter(if self.ect1_first() { 0 } else { 2 })
    }

    #[inline]
    fn counter(&self, place: usize) -> Option<u32> {
        let word = if place == 0 { self.first.get() } else { *self.rest.get(place - 1)? };
        (place < self.len()).then_some(word & COUNTER)
    }

    /// Parses the counters of an option of this `kind`; `body` follows its length field.
    pub(crate) fn parse(kind: u8, body: &[u8]) -> AccEcn {
        let mut counters = [0; 3];
        let chunks = body.chunks_exact(3);
        let len = chunks.len().min(counters.len());
        counters.iter_mut().zip(chunks).for_each(|(counter, b)| *counter = u32::from_be_bytes([0, b[0], b[1], b[2]]));
        AccEcn::new(kind == kind::ACC_ECN_1, &counters[..len])
    }

    /// Appends the option, preceded by NOPs as padding.
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        let kind = if self.ect1_first() { kind::ACC_ECN_1 } else { kind::ACC_ECN_0 };
        let len = 2 + 3 * self.len();
        out.extend(std::iter::repeat_n(kind::NOP, AccEcn::wire_len(self.len()) as usize - len));
        out.extend([kind, len as u8]);
        (0..3).filter_map(|place| self.counter(place)).for_each(|counter| out.extend(&counter.to_be_bytes()[1..]));
    }
}

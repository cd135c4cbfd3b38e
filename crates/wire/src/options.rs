//! TCP options.

use std::num::NonZeroU32;

use crate::segment::{SackBlock, Timestamps};
use crate::{Segment, Seq};

/// SACK blocks that fit the options (RFC 2018 §3).
const MOST_BLOCKS: usize = 4;

/// Option kinds (IANA).
mod kind {
    pub const END: u8 = 0;
    pub const NOP: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
    pub const ACC_ECN_0: u8 = 172;
    pub const ACC_ECN_1: u8 = 174;
}

/// Counters of the AccECN option (RFC 9768 §3.2.3): payload bytes that arrived with each codepoint, modulo 2^24, from 1, and
/// from 0 those with CE. The last ones may be left out.
///
/// Every [`Segment`] has room for it, so it is packed in words, which are copied as such: each holds a counter in its low 24
/// bits, the first above them one more than how many there are, and whether ECT(1)'s is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcn {
    first: NonZeroU32,
    rest: [u32; 2],
}

/// The low bits of a word of [`AccEcn`].
const COUNTER: u32 = 0xff_ffff;
/// Where in the first word the number of counters stands, and the bit for the order.
const LEN: u32 = 24;
const ECT1_FIRST: u32 = 1 << 31;

/// The options that ecnlab knows; others are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Window scale (RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    /// AccECN (RFC 9768 §3.2.3).
    pub acc_ecn: Option<AccEcn>,
    sack: [SackBlock; MOST_BLOCKS],
    sack_len: u8,
}

impl TcpOptions {
    /// Reads options. What is malformed ends the reading, as it does in hosts (RFC 9293 §3.1): an option that says a
    /// length of less than two, or more than there is.
    pub fn parse(mut bytes: &[u8]) -> TcpOptions {
        let mut options = TcpOptions::default();
        while let [kind, rest @ ..] = bytes {
            match *kind {
                kind::END => break,
                kind::NOP => bytes = rest,
                kind => {
                    let Some(&len) = rest.first() else { break };
                    let Some(body) = bytes.get(2..usize::from(len)) else { break };
                    options.take(kind, body);
                    bytes = &bytes[usize::from(len)..];
                }
            }
        }
        options
    }

    fn take(&mut self, kind: u8, body: &[u8]) {
        let long = |i: usize| body.get(i..i + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
        match (kind, body.len()) {
            (kind::MSS, 2) => self.mss = Some(u16::from_be_bytes([body[0], body[1]])),
            (kind::WINDOW_SCALE, 1) => self.window_scale = Some(body[0]),
            (kind::SACK_PERMITTED, 0) => self.sack_permitted = true,
            (kind::TIMESTAMPS, 8) => {
                self.timestamps = long(0).zip(long(4)).map(|(value, echo)| Timestamps { value, echo });
            }
            (kind::SACK, _) => {
                for block in body.chunks_exact(8) {
                    let word = |i: usize| Seq(u32::from_be_bytes([block[i], block[i + 1], block[i + 2], block[i + 3]]));
                    self.push_sack(SackBlock { start: word(0), end: word(4) });
                }
            }
            // RFC 9768 §3.2.3: of another length, the counters that are whole.
            (kind::ACC_ECN_0 | kind::ACC_ECN_1, _) => self.acc_ecn = Some(AccEcn::parse(kind, body)),
            _ => {}
        }
    }

    /// The SACK blocks, as they stand in the option.
    pub fn sack(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_len)]
    }
    /// Adds a SACK block behind those there; a fifth is left out.
    pub fn push_sack(&mut self, block: SackBlock) {
        if let Some(place) = self.sack.get_mut(usize::from(self.sack_len)) {
            *place = block;
            self.sack_len += 1;
        }
    }

    /// Appends the options, laid out as Linux does: each on a boundary of four bytes, padded with NOPs in front;
    /// SACK-permitted takes the padding of the timestamps where both are there (RFC 7323 appendix A). The length is that
    /// of [`Segment::options_len`].
    pub fn emit(&self, out: &mut Vec<u8>) {
        if let Some(mss) = self.mss {
            out.extend([kind::MSS, 4]);
            out.extend(mss.to_be_bytes());
        }
        match (self.sack_permitted, self.timestamps.is_some()) {
            (true, _) => out.extend([kind::SACK_PERMITTED, 2]),
            (false, true) => out.extend([kind::NOP, kind::NOP]),
            (false, false) => {}
        }
        match self.timestamps {
            Some(stamp) => {
                out.extend([kind::TIMESTAMPS, 10]);
                out.extend(stamp.value.to_be_bytes());
                out.extend(stamp.echo.to_be_bytes());
            }
            None if self.sack_permitted => out.extend([kind::NOP, kind::NOP]),
            None => {}
        }
        if let Some(shift) = self.window_scale {
            out.extend([kind::NOP, kind::WINDOW_SCALE, 3, shift]);
        }
        if let Some(acc_ecn) = self.acc_ecn {
            acc_ecn.emit(out);
        }
        if self.sack_len > 0 {
            out.extend([kind::NOP, kind::NOP, kind::SACK, 2 + 8 * self.sack_len]);
            for block in self.sack() {
                out.extend(block.start.0.to_be_bytes());
                out.extend(block.end.0.to_be_bytes());
            }
        }
    }
}

impl From<&Segment> for TcpOptions {
    fn from(segment: &Segment) -> TcpOptions {
        let mut options = TcpOptions {
            mss: segment.mss,
            window_scale: segment.window_scale,
            sack_permitted: segment.sack_permitted,
            timestamps: segment.timestamps,
            acc_ecn: segment.acc_ecn,
            ..TcpOptions::default()
        };
        segment.sack.as_slice().iter().for_each(|block| options.push_sack(*block));
        options
    }
}

impl AccEcn {
    /// Up to three counters in their order: ECT(0), CE, ECT(1) (kind 172), or with `ect1_first` ECT(1), CE, ECT(0) (kind 174).
    /// Their low 24 bits count.
    pub fn new(ect1_first: bool, counters: &[u32]) -> AccEcn {
        let counter = |n: usize| counters.get(n).map_or(0, |counter| counter & COUNTER);
        let head = (1 + counters.len().min(3) as u32) << LEN | if ect1_first { ECT1_FIRST } else { 0 };
        let first = NonZeroU32::MIN.saturating_add((head | counter(0)) - 1);
        AccEcn { first, rest: [counter(1), counter(2)] }
    }

    /// Bytes on the wire of an option with so many counters, padded to a multiple of four.
    pub const fn wire_len(counters: usize) -> u32 {
        (2 + 3 * counters as u32).next_multiple_of(4)
    }

    /// How many counters it has.
    pub const fn len(&self) -> usize {
        ((self.first.get() & !ECT1_FIRST) >> LEN) as usize - 1
    }

    /// Whether it has none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the counter of ECT(1) stands first.
    pub const fn ect1_first(&self) -> bool {
        self.first.get() & ECT1_FIRST != 0
    }

    /// Bytes that arrived with ECT(0).
    pub fn ect0(&self) -> Option<u32> {
        self.counter(if self.ect1_first() { 2 } else { 0 })
    }

    /// Bytes that arrived with CE.
    pub fn ce(&self) -> Option<u32> {
        self.counter(1)
    }

    /// Bytes that arrived with ECT(1).
    pub fn ect1(&self) -> Option<u32> {
        self.counter(if self.ect1_first() { 0 } else { 2 })
    }

    fn counter(&self, place: usize) -> Option<u32> {
        let words = [self.first.get(), self.rest[0], self.rest[1]];
        words[..self.len()].get(place).map(|word| word & COUNTER)
    }

    fn parse(kind: u8, body: &[u8]) -> AccEcn {
        let mut counters = [0; 3];
        let chunks = body.chunks_exact(3);
        let len = chunks.len().min(counters.len());
        counters.iter_mut().zip(chunks).for_each(|(counter, b)| *counter = u32::from_be_bytes([0, b[0], b[1], b[2]]));
        AccEcn::new(kind == kind::ACC_ECN_1, &counters[..len])
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let kind = if self.ect1_first() { kind::ACC_ECN_1 } else { kind::ACC_ECN_0 };
        let len = 2 + 3 * self.len();
        out.extend(std::iter::repeat_n(kind::NOP, AccEcn::wire_len(self.len()) as usize - len));
        out.extend([kind, len as u8]);
        (0..3).filter_map(|place| self.counter(place)).for_each(|counter| out.extend(&counter.to_be_bytes()[1..]));
    }
}

//! TCP options.

use crate::acc_ecn::AccEcn;
use crate::kind;
use crate::segment::{SackBlock, Timestamps};
use crate::{Segment, Seq};

/// Maximum number of SACK blocks in the options (RFC 2018 §3).
const MOST_BLOCKS: usize = 4;

/// The TCP options that ecnlab supports; others are skipped.
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
    /// Parses options. Parsing stops at a malformed option, as in hosts (RFC 9293 §3.1): one whose length field is less
    /// than two or exceeds the remaining bytes.
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
            // RFC 9768 §3.2.3: with any other length, the complete counters.
            (kind::ACC_ECN_0 | kind::ACC_ECN_1, _) => self.acc_ecn = Some(AccEcn::parse(kind, body)),
            _ => {}
        }
    }

    /// The SACK blocks, in the order of the option.
    pub fn sack(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_len)]
    }
    /// Appends a SACK block; a fifth is ignored.
    pub fn push_sack(&mut self, block: SackBlock) {
        if let Some(place) = self.sack.get_mut(usize::from(self.sack_len)) {
            *place = block;
            self.sack_len += 1;
        }
    }

    /// Appends the options in Linux's layout: each aligned to four bytes, preceded by NOPs as padding; SACK-permitted
    /// takes the place of the timestamps' padding if both are present (RFC 7323 appendix A). The length equals
    /// [`Segment::options_len`].
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

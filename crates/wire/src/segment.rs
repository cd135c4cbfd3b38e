//! A TCP segment with its IP codepoint.

use bitflags::bitflags;

use crate::{AccEcn, Ecn, IpVersion, Seq};

/// Bytes of a TCP header without options.
pub const TCP_HEADER: u32 = 20;
/// Maximum number of SACK blocks together with a timestamp option (RFC 2018 §3), or with an AccECN option with all
/// counters.
pub const MAX_SACK_BLOCKS: usize = 3;

bitflags! {
    /// The TCP header's flags, in header order (RFC 9293 §3.1, RFC 3168 §6.1, RFC 9768 §3.1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u16 {
        /// No more data from the sender.
        const FIN = 0x001;
        /// Synchronise sequence numbers.
        const SYN = 0x002;
        /// Reset the connection.
        const RST = 0x004;
        /// Push.
        const PSH = 0x008;
        /// The acknowledgement field is significant.
        const ACK = 0x010;
        /// Urgent.
        const URG = 0x020;
        /// ECN-Echo.
        const ECE = 0x040;
        /// Congestion window reduced.
        const CWR = 0x080;
        /// Accurate ECN.
        const AE = 0x100;
    }
}

/// A range of bytes held by the receiver, from `start` up to but excluding `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte held.
    pub start: Seq,
    /// One past the last byte held.
    pub end: Seq,
}

/// The SACK option's blocks, most recent first (RFC 2018 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// No blocks, so no option.
    pub const NONE: SackBlocks =
        SackBlocks { blocks: [SackBlock { start: Seq(0), end: Seq(0) }; MAX_SACK_BLOCKS], len: 0 };

    /// Appends a block; a block that does not fit into the option is ignored.
    pub fn push(&mut self, block: SackBlock) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.len)) {
            *place = block;
            self.len += 1;
        }
    }
    /// Returns the first `most` blocks.
    #[must_use]
    pub fn first(&self, most: u8) -> SackBlocks {
        SackBlocks { len: self.len.min(most), ..*self }
    }
    /// The blocks, most recent first.
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }
    /// Returns whether the option is absent.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Default for SackBlocks {
    #[inline]
    fn default() -> SackBlocks {
        SackBlocks::NONE
    }
}

/// The timestamp option (RFC 7323 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's timestamp clock.
    pub value: u32,
    /// TSecr: the echoed timestamp of the peer.
    pub echo: u32,
}

/// A TCP segment with its IP codepoint. `Copy`: it moves between rings by value.
///
/// Fields common to all protocols come first, at the same offset in each, so that a queue reads a length without
/// checking the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// Bytes on the wire: payload, options, TCP and IP headers.
    pub wire_len: u32,
    /// The codepoint in the IP header.
    pub ecn: Ecn,
    /// SACK-permitted option; SYN segments only.
    pub sack_permitted: bool,
    /// The window field, not scaled.
    pub window: u16,
    /// Payload bytes.
    pub len: u32,
    /// Sequence number of the first byte (or of the SYN or FIN).
    pub seq: Seq,
    /// Next byte expected from the peer; significant with [`Flags::ACK`].
    pub ack: Seq,
    /// Header flags.
    pub flags: Flags,
    /// Maximum segment size option; SYN segments only.
    pub mss: Option<u16>,
    /// Window scale option; SYN segments only.
    pub window_scale: Option<u8>,
    /// Timestamp option.
    pub timestamps: Option<Timestamps>,
    /// SACK option.
    pub sack: SackBlocks,
    /// AccECN option.
    pub acc_ecn: Option<AccEcn>,
}

impl Segment {
    /// Length in sequence space: payload plus one for SYN and one for FIN.
    pub const fn seq_len(&self) -> u32 {
        self.len + self.flags.contains(Flags::SYN) as u32 + self.flags.contains(Flags::FIN) as u32
    }
    /// One past the last sequence number of the segment.
    pub fn end(&self) -> Seq {
        self.seq + self.seq_len()
    }
    /// Returns whether this is a pure ACK: no payload, SYN, FIN or RST.
    pub const fn is_pure_ack(&self) -> bool {
        self.len == 0 && !self.flags.intersects(Flags::SYN.union(Flags::FIN).union(Flags::RST))
    }
    /// Bytes of TCP options, padded to a multiple of four as on the wire: MSS 4, window scale 3, SACK-permitted 2,
    /// timestamps 10, SACK 2 + 8 per block, AccECN 2 + 3 per counter.
    pub const fn options_len(&self) -> u32 {
        let mut n = 0;
        if self.mss.is_some() {
            n += 4;
        }
        if self.window_scale.is_some() {
            n += 4;
        }
        n += match (self.timestamps.is_some(), self.sack_permitted) {
            // On a SYN, SACK-permitted takes the two bytes of padding before the timestamps.
            (true, _) => 12,
            (false, true) => 4,
            (false, false) => 0,
        };
        if self.sack.len > 0 {
            n += 4 + 8 * self.sack.len as u32;
        }
        if let Some(acc_ecn) = &self.acc_ecn {
            n += AccEcn::wire_len(acc_ecn.len());
        }
        n
    }
    /// Bytes of the TCP header, with this segment's options, and of the payload.
    #[inline]
    pub const fn tcp_len(&self) -> u32 {
        TCP_HEADER + self.options_len() + self.len
    }
    /// Bytes on the wire over IPv4, with this segment's options.
    pub const fn ipv4_len(&self) -> u32 {
        self.len_over(IpVersion::V4)
    }
    /// Bytes on the wire over a version of IP, with this segment's options.
    pub const fn len_over(&self, ip: IpVersion) -> u32 {
        ip.header_len() + self.tcp_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_wire() {
        let data = Segment { len: 1460, ..Segment::default() };
        assert_eq!((data.ipv4_len(), data.len_over(IpVersion::V6)), (1500, 1520));
        let stamped = Segment { timestamps: Some(Timestamps::default()), len: 1448, ..Segment::default() };
        assert_eq!(stamped.ipv4_len(), 1500);
        // A Linux SYN: MSS 4 + SACK-permitted 2 + timestamps 10 + NOP 1 + window scale 3 = 20.
        let syn = Segment {
            flags: Flags::SYN,
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps::default()),
            ..Segment::default()
        };
        assert_eq!(syn.options_len(), 20);
        // Two NOPs, then the option of 2 + 3 * 8.
        let mut sack = SackBlocks::NONE;
        for _ in 0..4 {
            sack.push(SackBlock::default());
        }
        let acked = Segment { sack, ..Segment::default() };
        assert_eq!(acked.options_len(), 28);
        // RFC 9768 §3.2.3: 2 + 3 * 3, and a NOP: with three blocks all of the 40 bytes there are.
        let acc_ecn = |counters| Some(AccEcn::new(false, counters));
        assert_eq!(Segment { acc_ecn: acc_ecn(&[1, 0, 1]), ..acked }.options_len(), 40);
        assert_eq!(Segment { acc_ecn: acc_ecn(&[1, 0]), ..acked }.options_len(), 36);
        assert_eq!(Segment { acc_ecn: acc_ecn(&[]), ..acked }.options_len(), 32);
    }

    #[test]
    fn syn_and_fin_take_sequence_space() {
        let s = Segment { len: 10, flags: Flags::FIN, seq: Seq(u32::MAX), ..Segment::default() };
        assert_eq!(s.end(), Seq(10));
    }

    #[test]
    fn a_segment_stays_small() {
        assert!(size_of::<Segment>() <= 80, "{}", size_of::<Segment>());
    }

    #[test]
    fn blocks_give_way_from_the_last() {
        let mut sack = SackBlocks::NONE;
        for start in [5, 3, 1] {
            sack.push(SackBlock { start: Seq(start), end: Seq(start + 1) });
        }
        let starts = |most| sack.first(most).as_slice().iter().map(|block| block.start.0).collect::<Vec<_>>();
        assert_eq!([starts(0), starts(2), starts(4)], [vec![], vec![5, 3], vec![5, 3, 1]]);
    }
}

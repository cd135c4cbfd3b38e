//! Whether a RST closes its connection.

use ecnlab_wire::{Flags, Seq};

use super::passing::check;
use super::{Connection, End, Seen};
use crate::packet::Segment;
use crate::stream::REACH;

impl Connection {
    /// Returns whether the receiver ignores this RST of end `i`, because its number is not in the receive window (RFC
    /// 9293 §3.10.7.4): it is of an earlier connection between the same ports, or forged.
    #[cold]
    pub(super) fn ignores_reset(&self, i: usize, segment: &Segment<'_>) -> bool {
        let (me, peer) = (&self.ends[i], &self.ends[1 - i]);
        // The RST of a host without the connection answers a segment without ACK with number 0.
        let answers = segment.flags.contains(Flags::ACK) && segment.seq == Seq(0);
        me.stream.begun() && !answers && !me.is_near(segment.seq, peer)
    }

    /// Counts a packet that its receiver ignores.
    #[cold]
    pub(super) fn ignore(&mut self, i: usize, segment: &Segment<'_>) -> Seen {
        let (off, classic) = (self.negotiation.is_off(), self.negotiation.is_classic());
        let [low, high] = &mut self.ends;
        let (me, peer) = if i == 0 { (low, high) } else { (high, low) };
        me.count(segment, peer);
        me.counts.bytes += u64::from(segment.len);
        me.counts.data_packets += u64::from(segment.len > 0);
        check(me, segment, &Seen::default(), off, classic, self.counted.is_some() && !classic, peer);
        Seen::default()
    }
}

impl End {
    /// Returns whether `seq` is in the receive window of `peer`, or not far from it.
    fn is_near(&self, seq: Seq, peer: &End) -> bool {
        let (una, next) = (self.stream.una(), self.stream.next());
        let window = peer.counts.windows.map_or(0, |windows| windows.1).max(REACH);
        let first = match self.syn_seq {
            Some(syn) => self.stream.offset(syn),
            None => una.saturating_sub(window),
        };
        let place = self.stream.offset(seq);
        (first.max(una.saturating_sub(window))..=next.saturating_add(window)).contains(&place)
    }
}

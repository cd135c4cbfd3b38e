//! ICMP source quench (RFC 792 p. 10), with BECN's marker bit. Historic: routers must not send it, hosts must ignore it
//! (RFC 6633, May 2012). Implemented as in Akujobi et al. 2003, for comparison with ECN.

use crate::{Checksum, Ecn, IPV4_HEADER, IcmpHeader, Ipv4Header, Seq, TcpStart, protocol};

/// Reason for a source quench, encoded in one bit of the message (Akujobi et al. 2003 §IV-B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuenchCause {
    /// The packet was marked and forwarded: the bit is set.
    Marked,
    /// The packet was dropped: the bit is clear, as in every source quench of RFC 792.
    Dropped,
}

/// A source quench about a TCP segment or a UDP datagram, after its addresses and ports have identified the connection.
/// Laid out like a [`Segment`](crate::Segment).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Quench {
    /// Bytes on the wire: the message and its IP header.
    pub wire_len: u32,
    /// Codepoint in its IP header: Not-ECT, so it is never marked and causes no further source quench.
    pub ecn: Ecn,
    /// Whether the packet was marked or dropped.
    pub cause: QuenchCause,
    /// The packet's sequence number, from the 64 bits of its datagram that the message returns; for UDP, whose header
    /// has none, the number of the datagram in its flow.
    pub seq: Seq,
}

/// Bytes of the message with its IP header: 20 + 8 + the original IP header of 20 + 64 bits of its data.
pub const QUENCH_LEN: u32 = IPV4_HEADER + MESSAGE_LEN as u32;

/// Bytes of the ICMP message about a datagram without IP options.
pub const MESSAGE_LEN: usize = IcmpHeader::LEN + RETURNED;

/// RFC 792: the internet header and the first 64 bits of the datagram's data.
const RETURNED: usize = IPV4_HEADER as usize + TcpStart::LEN;
/// Bit 0, the first, of the 32 unused bits. The papers require one of them without specifying which.
const MARKED: u8 = 0x80;

/// Reason why bytes are not a source quench about a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Fewer bytes than header, returned IP header and 64 bits.
    Short,
    /// Another ICMP type or code.
    NotAQuench,
    /// The checksum is wrong.
    Checksum,
    /// The returned bytes are not the start of an IPv4 datagram of TCP.
    NotTcp,
}

impl Quench {
    /// Creates the message of `wire_len` bytes about a packet whose first sequence number is `seq`.
    pub const fn new(cause: QuenchCause, seq: Seq, wire_len: u32) -> Quench {
        Quench { wire_len, ecn: Ecn::NotEct, cause, seq }
    }

    /// Returns the message about the datagram that starts with `datagram`, or `None` if that is not an IPv4 datagram of
    /// TCP or UDP without IP options.
    pub fn emit(cause: QuenchCause, datagram: &[u8]) -> Option<Vec<u8>> {
        let returned = datagram.get(..RETURNED)?;
        data_of(returned, &[protocol::TCP, protocol::UDP])?;
        let marker = if cause == QuenchCause::Marked { MARKED } else { 0 };
        // RFC 792: type 4, code 0.
        let header = IcmpHeader { kind: IcmpHeader::SOURCE_QUENCH, code: 0, checksum: 0, rest: [marker, 0, 0, 0] };
        let mut message = Vec::with_capacity(MESSAGE_LEN);
        header.emit(Checksum::new().bytes(returned), &mut message);
        message.extend(returned);
        Some(message)
    }

    /// Parses an ICMP message; the returned datagram, which identifies the connection, starts at byte 8.
    ///
    /// # Errors
    /// [`Malformed`] gives the reason; the message is to be ignored.
    pub fn parse(message: &[u8]) -> Result<Quench, Malformed> {
        let head = message.get(..MESSAGE_LEN).ok_or(Malformed::Short)?;
        let (header, returned) = IcmpHeader::parse(head).map_err(|_| Malformed::Short)?;
        if (header.kind, header.code) != (IcmpHeader::SOURCE_QUENCH, 0) {
            return Err(Malformed::NotAQuench);
        }
        // RFC 792: the checksum covers the whole message.
        if !Checksum::new().bytes(message).is_valid() {
            return Err(Malformed::Checksum);
        }
        let seq = seq_of(returned).ok_or(Malformed::NotTcp)?;
        let cause = if header.rest[0] & MARKED != 0 { QuenchCause::Marked } else { QuenchCause::Dropped };
        Ok(Quench::new(cause, seq, QUENCH_LEN))
    }
}

/// Returns the sequence number in the first [`RETURNED`] bytes of an IPv4 datagram of TCP.
fn seq_of(returned: &[u8]) -> Option<Seq> {
    Some(TcpStart::parse(data_of(returned, &[protocol::TCP])?).ok()?.seq)
}

/// Returns the bytes after the IP header at the start of an unfragmented IPv4 datagram of one of these `protocols`,
/// without options.
fn data_of<'a>(returned: &'a [u8], protocols: &[u8]) -> Option<&'a [u8]> {
    let (ip, data) = Ipv4Header::parse(returned).ok()?;
    // Only the first fragment holds the header of TCP or UDP.
    let plain = ip.options.is_empty() && protocols.contains(&ip.protocol) && ip.fragment_offset == 0;
    plain.then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An IPv4 header from 10.0.0.1 to 10.0.0.2, protocol TCP, then ports 80 and 5000 and the number 0x01020304.
    const DATAGRAM: [u8; 28] = [
        0x45, 0, 0x03, 0xe8, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, // IP
        0, 80, 0x13, 0x88, 1, 2, 3, 4, // the 64 bits
    ];

    #[test]
    fn the_message_is_that_of_rfc_792() {
        let message = Quench::emit(QuenchCause::Marked, &DATAGRAM).unwrap();
        assert_eq!(message[..2], [4, 0]);
        // Bit 0 of the unused word is the first on the wire.
        assert_eq!(message[4..8], [0x80, 0, 0, 0]);
        assert_eq!(message[8..], DATAGRAM);
        assert_eq!(Quench::emit(QuenchCause::Dropped, &DATAGRAM).unwrap()[4..8], [0; 4]);
        // 20 of IP, 8 of ICMP, 20 + 8 returned.
        assert_eq!((message.len(), QUENCH_LEN), (36, 56));
    }

    #[test]
    fn the_checksum_can_be_redone_by_hand() {
        // 0x0400 + 0x8000 + 0x4500 + 0x03e8 + 0x0001 + 0x4006 + 0x0a00 + 0x0001 + 0x0a00 + 0x0002 + 0x0050 + 0x1388
        // + 0x0102 + 0x0304 = 0x138d0, folded 0x38d1, its complement 0xc72e.
        let message = Quench::emit(QuenchCause::Marked, &DATAGRAM).unwrap();
        assert_eq!(message[2..4], [0xc7, 0x2e]);
    }

    #[test]
    fn what_was_written_is_read() {
        for cause in [QuenchCause::Marked, QuenchCause::Dropped] {
            let message = Quench::emit(cause, &DATAGRAM).unwrap();
            assert_eq!(Quench::parse(&message), Ok(Quench::new(cause, Seq(0x0102_0304), QUENCH_LEN)));
        }
    }

    /// The message with some bytes changed and a recomputed checksum.
    fn changed(changes: &[(usize, u8)]) -> Vec<u8> {
        let mut message = Quench::emit(QuenchCause::Marked, &DATAGRAM).unwrap();
        changes.iter().for_each(|&(place, byte)| message[place] = byte);
        message[2..4].fill(0);
        let sum = Checksum::new().bytes(&message).value();
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        message
    }

    #[test]
    fn a_datagram_of_udp_is_returned_as_it_came_and_one_of_icmp_is_not() {
        let mut datagram = DATAGRAM;
        datagram[9] = protocol::UDP;
        assert_eq!(Quench::emit(QuenchCause::Marked, &datagram).unwrap()[8..], datagram);
        // RFC 1122 §3.2.2: no error message about an error message.
        datagram[9] = protocol::ICMP;
        assert_eq!(Quench::emit(QuenchCause::Marked, &datagram), None);
    }

    #[test]
    fn malformed_messages_are_refused_by_kind() {
        assert_eq!(Quench::parse(&changed(&[])[..35]), Err(Malformed::Short));
        // Type 3 is destination unreachable; a source quench has no code but 0.
        assert_eq!(Quench::parse(&changed(&[(0, 3)])), Err(Malformed::NotAQuench));
        assert_eq!(Quench::parse(&changed(&[(1, 1)])), Err(Malformed::NotAQuench));
        // IPv6, IP options, UDP, a later fragment.
        for wrong in [(8, 0x65), (8, 0x46), (17, 17), (15, 1)] {
            assert_eq!(Quench::parse(&changed(&[wrong])), Err(Malformed::NotTcp), "{wrong:?}");
        }
        let mut broken = changed(&[]);
        broken[35] ^= 1;
        assert_eq!(Quench::parse(&broken), Err(Malformed::Checksum));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Quench::parse(&bytes);
            let _ = Quench::emit(QuenchCause::Marked, &bytes);
        }
    }
}

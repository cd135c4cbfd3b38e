//! Conversion between segments and IP packets with data.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV4};

use ecnlab_wire::{
    Checksum, Dscp, Ecn, Flags, IPV4_HEADER, IcmpHeader, IpPacket, Ipv4Header, Quench, SackBlocks, Segment, TcpHeader,
    TcpOptions, TcpStart, WireError, packets, protocol,
};

/// A received segment with its addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrived<'a> {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port.
    pub destination: SocketAddr,
    /// The header.
    pub segment: Segment,
    /// The data.
    pub data: &'a [u8],
}

/// Reason why a packet is not delivered to TCP.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unfit {
    /// Another protocol, or a fragment.
    #[error("is not a complete TCP segment")]
    Other,
    /// A header is invalid.
    #[error(transparent)]
    Malformed(#[from] WireError),
    /// It was damaged in transit.
    #[error("has a wrong checksum")]
    Damaged,
}

/// Parses a complete packet and verifies its checksums.
///
/// # Errors
/// If it is not a TCP segment, or is damaged.
pub fn parse(bytes: &[u8]) -> Result<Arrived<'_>, Unfit> {
    let ip = IpPacket::parse(bytes)?;
    if ip.protocol != protocol::TCP || ip.fragment.is_some() || ip.payload.len() != ip.payload_len as usize {
        return Err(Unfit::Other);
    }
    let sum = Checksum::pseudo(ip.source, ip.destination, protocol::TCP, ip.payload_len).bytes(ip.payload);
    if !is_header_intact(bytes) || !sum.is_valid() {
        return Err(Unfit::Damaged);
    }
    let (tcp, data) = TcpHeader::parse(ip.payload)?;
    let options = TcpOptions::parse(tcp.options);
    let is_syn = tcp.flags.contains(Flags::SYN);
    let mut sack = SackBlocks::NONE;
    options.sack().iter().for_each(|block| sack.push(*block));
    let segment = Segment {
        wire_len: bytes.len() as u32,
        ecn: ip.ecn,
        sack_permitted: is_syn && options.sack_permitted,
        window: tcp.window,
        len: data.len() as u32,
        seq: tcp.seq,
        ack: tcp.ack,
        flags: tcp.flags,
        mss: options.mss.filter(|_| is_syn),
        window_scale: options.window_scale.filter(|_| is_syn),
        timestamps: options.timestamps,
        sack,
        acc_ecn: options.acc_ecn,
    };
    let source = SocketAddr::new(ip.source, tcp.source);
    Ok(Arrived { source, destination: SocketAddr::new(ip.destination, tcp.destination), segment, data })
}

/// Returns whether the checksum of an IPv4 header is right; IPv6 has none.
fn is_header_intact(packet: &[u8]) -> bool {
    let [first, ..] = *packet else { return false };
    first >> 4 == 6 || Ipv4Header::is_intact(&packet[..packet.len().min(usize::from(first & 0xf) * 4)])
}

/// Writes `segment` with its `data` as a packet to `out`, replacing its contents. Both addresses have one IP version.
pub fn emit(source: SocketAddr, destination: SocketAddr, segment: &Segment, data: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let between = match (source.ip(), destination.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => packets::Between::V4(source, destination),
        (source, destination) => packets::Between::V6(v6(source), v6(destination)),
    };
    packets::emit_segment(between, [source.port(), destination.port()], Dscp::default(), segment, data, out);
}

fn v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// A source quench with the addresses of the original segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceQuench {
    /// Source of the original segment.
    pub source: SocketAddrV4,
    /// Destination of the original segment.
    pub destination: SocketAddrV4,
    /// Contents of the message.
    pub quench: Quench,
}

/// Parses a packet as a source quench about a segment of the packet's receiver, and verifies its checksums; `None` for
/// any other packet, a damaged one, or one about a segment of another host.
pub fn parse_quench(bytes: &[u8]) -> Option<SourceQuench> {
    let (ip, message) = Ipv4Header::parse(bytes).ok()?;
    let whole = !ip.more_fragments && ip.fragment_offset == 0 && usize::from(ip.total_len) == bytes.len();
    if ip.protocol != protocol::ICMP || !whole || !Ipv4Header::is_intact(&bytes[..ip.len()]) {
        return None;
    }
    let quench = Quench::parse(message).ok()?;
    let (about, behind) = Ipv4Header::parse(message.get(IcmpHeader::LEN..)?).ok()?;
    let ports = TcpStart::parse(behind).ok()?;
    let source = SocketAddrV4::new(about.source, ports.source);
    let destination = SocketAddrV4::new(about.destination, ports.destination);
    (about.source == ip.destination).then_some(SourceQuench { source, destination, quench })
}

/// Marks an ECN-capable IPv4 packet CE and updates its checksum (RFC 1624 §3). Returns whether it was ECN-capable.
pub fn mark(packet: &mut [u8]) -> bool {
    let [first, tos, ..] = *packet else { return false };
    if first >> 4 != 4 || tos & 3 == 0 || packet.len() < IPV4_HEADER as usize {
        return false;
    }
    set_ecn(packet, Ecn::Ce);
    true
}

/// Sets the codepoint of an IPv4 packet and updates its checksum.
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    let [first, tos, ..] = *packet else { return };
    if first >> 4 != 4 || packet.len() < IPV4_HEADER as usize {
        return;
    }
    packet[1] = tos & !3 | ecn.bits();
    let len = packet.len().min(usize::from(first & 0xf) * 4);
    packet[10..12].fill(0);
    let sum = Checksum::new().bytes(&packet[..len]).value();
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Sets the flags of a complete TCP packet over IPv4 and updates its checksum.
pub fn set_flags(packet: &mut [u8], flags: Flags) {
    let Ok((ip, tcp)) = Ipv4Header::parse(packet) else { return };
    let (from, to, start) = (ip.source, ip.destination, ip.len());
    if ip.protocol != protocol::TCP || TcpHeader::parse(tcp).is_err() {
        return;
    }
    let segment = &mut packet[start..];
    let word = u16::from_be_bytes([segment[12], segment[13]]) & !Flags::all().bits() | flags.bits();
    segment[12..14].copy_from_slice(&word.to_be_bytes());
    segment[16..18].fill(0);
    let sum = Checksum::pseudo_ipv4(from, to, protocol::TCP, segment.len() as u32).bytes(segment).value();
    segment[16..18].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_wire::{AccEcn, QuenchCause, SackBlock, Seq, Timestamps};

    const A4: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::new(10, 0, 0, 1), 5001);
    const B4: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::new(10, 0, 0, 2), 40_000);
    const A: SocketAddr = SocketAddr::V4(A4);
    const B: SocketAddr = SocketAddr::V4(B4);
    const A6: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)), 5001);
    const B6: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)), 40_000);

    fn data_segment() -> Segment {
        let mut sack = SackBlocks::NONE;
        sack.push(SackBlock { start: Seq(9), end: Seq(99) });
        Segment {
            ecn: Ecn::Ect0,
            window: 512,
            len: 5,
            seq: Seq(u32::MAX),
            ack: Seq(7),
            flags: Flags::ACK | Flags::PSH | Flags::CWR,
            timestamps: Some(Timestamps { value: 3, echo: 4 }),
            sack,
            acc_ecn: Some(AccEcn::new(true, &[1, 1_000])),
            ..Segment::default()
        }
    }

    #[test]
    fn what_is_sent_is_what_arrives() {
        let mut bytes = Vec::new();
        // 20 of IPv4 or 40 of IPv6, 20 of TCP, 12 of timestamps, 12 of SACK, 8 of AccECN, 5 of data.
        for (source, destination, wire_len) in [(A, B, 77), (A6, B6, 97)] {
            let sent = Segment { wire_len, ..data_segment() };
            emit(source, destination, &sent, b"bytes", &mut bytes);
            assert_eq!(parse(&bytes), Ok(Arrived { source, destination, segment: sent, data: b"bytes" }));
        }
    }

    #[test]
    fn a_mark_is_seen_and_breaks_no_checksum() {
        let mut bytes = Vec::new();
        emit(A, B, &data_segment(), b"bytes", &mut bytes);
        assert!(mark(&mut bytes));
        assert_eq!(parse(&bytes).map(|p| p.segment.ecn), Ok(Ecn::Ce));
        let plain = Segment { ecn: Ecn::NotEct, ..data_segment() };
        emit(A, B, &plain, b"bytes", &mut bytes);
        assert!(!mark(&mut bytes) && parse(&bytes).is_ok_and(|p| p.segment.ecn == Ecn::NotEct));
    }

    #[test]
    fn what_a_box_writes_breaks_no_checksum() {
        let mut bytes = Vec::new();
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            emit(A, B, &data_segment(), b"bytes", &mut bytes);
            set_ecn(&mut bytes, ecn);
            set_flags(&mut bytes, Flags::ACK | Flags::ECE);
            let got = parse(&bytes).expect("a packet as it was sent").segment;
            assert_eq!((got.ecn, got.flags, got.len), (ecn, Flags::ACK | Flags::ECE, 5));
        }
    }

    #[test]
    fn a_source_quench_is_read_by_whose_segment_it_is_about() {
        let (mut segment, mut message) = (Vec::new(), Vec::new());
        emit(A, B, &data_segment(), b"bytes", &mut segment);
        let router = std::net::Ipv4Addr::new(10, 0, 9, 1);
        assert!(packets::emit_quench(router, QuenchCause::Marked, &segment, &mut message));
        let quench = Quench::new(QuenchCause::Marked, Seq(u32::MAX), 56);
        assert_eq!(parse_quench(&message), Some(SourceQuench { source: A4, destination: B4, quench }));
        assert_eq!((parse(&message), parse_quench(&segment)), (Err(Unfit::Other), None));
        // A segment of another host: the message is for B, the returned segment is from A.
        message[16..20].copy_from_slice(&B4.ip().octets());
        message[10..12].fill(0);
        let sum = Checksum::new().bytes(&message[..20]).value();
        message[10..12].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(parse_quench(&message), None);
    }

    #[test]
    fn any_bit_wrong_in_a_source_quench_is_noticed() {
        let (mut segment, mut message) = (Vec::new(), Vec::new());
        emit(A, B, &data_segment(), b"bytes", &mut segment);
        assert!(packets::emit_quench(*B4.ip(), QuenchCause::Dropped, &segment, &mut message));
        for bit in 0..message.len() * 8 {
            let mut wrong = message.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(parse_quench(&wrong), None, "bit {bit}");
        }
        for len in 0..message.len() {
            assert_eq!(parse_quench(&message[..len]), None, "cut to {len}");
        }
    }

    #[test]
    fn any_bit_wrong_is_noticed() {
        let mut bytes = Vec::new();
        // Neither TCP's checksum nor a header's covers the first four bytes of IPv6 after the version, and the hop limit.
        for (source, destination, unprotected) in [(A, B, vec![]), (A6, B6, vec![0, 1, 2, 3, 7])] {
            emit(source, destination, &data_segment(), b"bytes", &mut bytes);
            for bit in (0..bytes.len() * 8).filter(|bit| !unprotected.contains(&(bit / 8))) {
                let mut wrong = bytes.clone();
                wrong[bit / 8] ^= 1 << (bit % 8);
                assert!(parse(&wrong).is_err(), "bit {bit}");
            }
            for len in 0..bytes.len() {
                assert!(parse(&bytes[..len]).is_err(), "cut to {len}");
            }
        }
    }
}

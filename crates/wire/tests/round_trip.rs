//! What `emit` writes, `parse` reads back; what `parse` is given, it survives.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ecnlab_wire::{
    AccEcn, Checksum, Ecn, Extension, Flags, IcmpHeader, IpPacket, Ipv4Header, Ipv6Header, SackBlock, SackBlocks,
    Segment, Seq, TcpHeader, TcpOptions, Timestamps, UdpHeader,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// Options are whole words.
fn option_bytes() -> impl Strategy<Value = Vec<u8>> {
    (0_usize..=10).prop_flat_map(|words| vec(any::<u8>(), 4 * words))
}

fn counter() -> impl Strategy<Value = u32> {
    0_u32..1 << 24
}

/// Counters are left out from the end only.
fn acc_ecn() -> impl Strategy<Value = AccEcn> {
    (any::<bool>(), counter(), counter(), counter(), 0_usize..4).prop_map(|(ect1_first, ect0, ce, ect1, there)| {
        let (first, last) = if ect1_first { (ect1, ect0) } else { (ect0, ect1) };
        AccEcn::new(ect1_first, &[first, ce, last][..there])
    })
}

fn block() -> impl Strategy<Value = SackBlock> {
    (any::<u32>(), any::<u32>()).prop_map(|(start, end)| SackBlock { start: Seq(start), end: Seq(end) })
}

prop_compose! {
    fn tcp_options()(
        mss in of(any::<u16>()),
        window_scale in of(any::<u8>()),
        sack_permitted in any::<bool>(),
        stamps in of((any::<u32>(), any::<u32>())),
        acc_ecn in of(acc_ecn()),
        blocks in vec(block(), 0..=4),
    ) -> TcpOptions {
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        let mut options = TcpOptions::default();
        (options.mss, options.window_scale, options.sack_permitted) = (mss, window_scale, sack_permitted);
        (options.timestamps, options.acc_ecn) = (timestamps, acc_ecn);
        blocks.into_iter().for_each(|block| options.push_sack(block));
        options
    }
}

prop_compose! {
    fn segment()(
        flags in 0_u16..512,
        mss in of(any::<u16>()),
        window_scale in of(0_u8..15),
        sack_permitted in any::<bool>(),
        stamps in of((any::<u32>(), any::<u32>())),
        blocks in vec(block(), 0..=3),
        acc_ecn in of(acc_ecn()),
    ) -> Segment {
        let mut sack = SackBlocks::NONE;
        blocks.into_iter().for_each(|block| sack.push(block));
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        let flags = Flags::from_bits_truncate(flags);
        Segment { flags, mss, window_scale, sack_permitted, timestamps, sack, acc_ecn, ..Segment::default() }
    }
}

proptest! {
    #[test]
    fn ipv4(
        bits in (0_u8..64, any::<u8>(), any::<u16>(), any::<u16>(), 0_u16..8192, any::<u8>(), any::<u8>()),
        fragmenting in any::<[bool; 2]>(),
        addresses in any::<[u32; 2]>(),
        options in option_bytes(),
        behind in vec(any::<u8>(), 0..9),
    ) {
        let (dscp, ecn, total_len, id, fragment_offset, ttl, protocol) = bits;
        let written = Ipv4Header {
            dscp, ecn: Ecn::from_bits(ecn), total_len, id, dont_fragment: fragmenting[0], more_fragments: fragmenting[1],
            fragment_offset, ttl, protocol, checksum: 0, source: Ipv4Addr::from(addresses[0]),
            destination: Ipv4Addr::from(addresses[1]), options: &options,
        };
        let mut bytes = Vec::new();
        written.emit(&mut bytes);
        prop_assert_eq!(bytes.len(), written.len());
        prop_assert!(Ipv4Header::is_intact(&bytes));
        bytes.extend(&behind);
        let (read, rest) = Ipv4Header::parse(&bytes).unwrap();
        prop_assert_eq!(rest, &behind);
        prop_assert_eq!(read, Ipv4Header { checksum: read.checksum, ..written });
        prop_assert!((0..written.len()).all(|cut| Ipv4Header::parse(&bytes[..cut]).is_err()));
    }

    #[test]
    fn ipv6(
        bits in (0_u8..64, any::<u8>(), 0_u32..1 << 20, any::<u16>(), any::<u8>(), any::<u8>()),
        addresses in any::<[u128; 2]>(),
        behind in vec(any::<u8>(), 0..9),
    ) {
        let (dscp, ecn, flow_label, payload_len, next_header, hop_limit) = bits;
        let written = Ipv6Header {
            dscp, ecn: Ecn::from_bits(ecn), flow_label, payload_len, next_header, hop_limit,
            source: Ipv6Addr::from(addresses[0]), destination: Ipv6Addr::from(addresses[1]),
        };
        let mut bytes = Vec::new();
        written.emit(&mut bytes);
        bytes.extend(&behind);
        prop_assert_eq!(Ipv6Header::parse(&bytes), Ok((written, behind.as_slice())));
        prop_assert!((0..Ipv6Header::LEN).all(|cut| Ipv6Header::parse(&bytes[..cut]).is_err()));
    }

    #[test]
    fn ipv6_extensions(
        kind in prop::sample::select(&[0_u8, 43, 60, 135, 139, 140][..]),
        next_header in any::<u8>(),
        body in (0_usize..20).prop_flat_map(|units| vec(any::<u8>(), 6 + 8 * units)),
        fragment in (0_u16..8192, any::<bool>(), any::<u32>()),
        behind in vec(any::<u8>(), 0..9),
    ) {
        let (offset, more, id) = fragment;
        let all = [
            (kind, Extension::Other { kind, next_header, body: &body }),
            (44, Extension::Fragment { next_header, offset, more, id }),
            (51, Extension::Authentication { next_header, body: &body }),
        ];
        for (kind, written) in all {
            let mut bytes = Vec::new();
            written.emit(&mut bytes);
            let len = bytes.len();
            bytes.extend(&behind);
            prop_assert_eq!(Extension::parse(kind, &bytes), Ok(Some((written, behind.as_slice()))));
            prop_assert!((0..len).all(|cut| Extension::parse(kind, &bytes[..cut]).is_err()));
        }
    }

    #[test]
    fn tcp(
        words in (any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>(), 0_u16..512, any::<u16>(), any::<u16>()),
        addresses in any::<[u32; 2]>(),
        options in option_bytes(),
        data in vec(any::<u8>(), 0..33),
    ) {
        let (source, destination, seq, ack, flags, window, urgent) = words;
        let flags = Flags::from_bits_truncate(flags);
        let written = TcpHeader {
            source, destination, seq: Seq(seq), ack: Seq(ack), flags, window, checksum: 0, urgent, options: &options,
        };
        let [a, b] = addresses.map(Ipv4Addr::from);
        let pseudo = Checksum::pseudo_ipv4(a, b, 6, (20 + options.len() + data.len()) as u32);
        let mut bytes = Vec::new();
        written.emit(pseudo.bytes(&data), &mut bytes);
        bytes.extend(&data);
        prop_assert!(pseudo.bytes(&bytes).is_valid());
        let (read, rest) = TcpHeader::parse(&bytes).unwrap();
        prop_assert_eq!(rest, &data);
        prop_assert_eq!(read, TcpHeader { checksum: read.checksum, ..written });
        prop_assert!((0..20 + options.len()).all(|cut| TcpHeader::parse(&bytes[..cut]).is_err()));
    }

    #[test]
    fn tcp_options_of_any_kind(options in tcp_options()) {
        let mut bytes = Vec::new();
        options.emit(&mut bytes);
        prop_assert_eq!(bytes.len() % 4, 0);
        prop_assert_eq!(TcpOptions::parse(&bytes), options);
    }

    /// The simulator charges a segment for the bytes that its options take.
    #[test]
    fn options_are_as_long_as_the_simulator_counts_them(segment in segment()) {
        let options = TcpOptions::from(&segment);
        let mut bytes = Vec::new();
        options.emit(&mut bytes);
        prop_assert_eq!(bytes.len() as u32, segment.options_len());
        let read = TcpOptions::parse(&bytes);
        prop_assert_eq!((read.mss, read.window_scale), (segment.mss, segment.window_scale));
        prop_assert_eq!((read.sack_permitted, read.timestamps), (segment.sack_permitted, segment.timestamps));
        prop_assert_eq!(read.sack(), segment.sack.as_slice());
    }

    #[test]
    fn udp_and_icmp(
        ports in any::<[u16; 2]>(),
        icmp in (any::<u8>(), any::<u8>(), any::<[u8; 4]>()),
        addresses in any::<[u128; 2]>(),
        data in vec(any::<u8>(), 0..33),
    ) {
        let [a, b] = addresses.map(Ipv6Addr::from);
        let len = UdpHeader::LEN + data.len();
        let udp = UdpHeader { source: ports[0], destination: ports[1], len: len as u16, checksum: 0 };
        let pseudo = Checksum::pseudo_ipv6(a, b, 17, len as u32);
        let mut bytes = Vec::new();
        udp.emit(pseudo.bytes(&data), &mut bytes);
        bytes.extend(&data);
        let (read, rest) = UdpHeader::parse(&bytes).unwrap();
        prop_assert_eq!((UdpHeader { checksum: 0, ..read }, rest), (udp, data.as_slice()));
        prop_assert!(read.checksum != 0 && pseudo.bytes(&bytes).is_valid());

        let (kind, code, rest_of_header) = icmp;
        let icmp = IcmpHeader { kind, code, checksum: 0, rest: rest_of_header };
        let mut bytes = Vec::new();
        icmp.emit(Checksum::new().bytes(&data), &mut bytes);
        bytes.extend(&data);
        let (read, rest) = IcmpHeader::parse(&bytes).unwrap();
        prop_assert_eq!((IcmpHeader { checksum: 0, ..read }, rest), (icmp, data.as_slice()));
        prop_assert!(Checksum::new().bytes(&bytes).is_valid());
    }

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..120), kind in any::<u8>()) {
        let _ = (Ipv4Header::parse(&bytes), Ipv6Header::parse(&bytes), Extension::parse(kind, &bytes));
        let _ = (TcpHeader::parse(&bytes), TcpHeader::parse_cut(&bytes), TcpOptions::parse(&bytes));
        let _ = (UdpHeader::parse(&bytes), IcmpHeader::parse(&bytes), IpPacket::parse(&bytes));
        // Most random bytes are of neither version.
        for version in [0x45, 0x60] {
            let mut packet = vec![version];
            packet.extend(&bytes);
            if let Ok(packet) = IpPacket::parse(&packet) {
                prop_assert!(packet.payload.len() <= packet.payload_len as usize);
            }
        }
    }
}

#[test]
fn a_linux_syn_reads_as_tcpdump_shows_it() {
    // 10.0.0.1.43000 > 10.0.0.2.5001: Flags [SEW], seq 1, win 64240, options [mss 1460,sackOK,TS val 7 ecr 0,nop,wscale 7]
    let bytes = [
        0x45, 0x00, 0x00, 0x3c, 0x12, 0x34, 0x40, 0x00, 0x40, 0x06, 0x14, 0x86, 10, 0, 0, 1, 10, 0, 0, 2, //
        0xa7, 0xf8, 0x13, 0x89, 0, 0, 0, 1, 0, 0, 0, 0, 0xa0, 0xc2, 0xfa, 0xf0, 0x00, 0x00, 0, 0, //
        2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0, 1, 3, 3, 7,
    ];
    let packet = IpPacket::parse(&bytes).unwrap();
    assert_eq!((packet.source, packet.ecn), (IpAddr::from([10, 0, 0, 1]), Ecn::NotEct));
    assert!(Ipv4Header::is_intact(&bytes[..20]));
    let (tcp, data) = TcpHeader::parse(packet.payload).unwrap();
    assert_eq!((tcp.source, tcp.destination, data.len()), (43000, 5001, 0));
    assert_eq!(tcp.flags, Flags::SYN | Flags::ECE | Flags::CWR);
    let options = TcpOptions::parse(tcp.options);
    assert_eq!((options.mss, options.window_scale, options.sack_permitted), (Some(1460), Some(7), true));
    assert_eq!(options.timestamps, Some(Timestamps { value: 7, echo: 0 }));
}

#[test]
fn a_later_fragment_behind_extension_headers_has_its_offset() {
    let mut bytes = Vec::new();
    let address = Ipv6Addr::LOCALHOST;
    let header = Ipv6Header {
        dscp: 0,
        ecn: Ecn::Ce,
        flow_label: 0,
        payload_len: 8 + 8 + 3,
        next_header: 0,
        hop_limit: 1,
        source: address,
        destination: address,
    };
    header.emit(&mut bytes);
    Extension::Other { kind: 0, next_header: 44, body: &[0; 6] }.emit(&mut bytes);
    Extension::Fragment { next_header: 6, offset: 185, more: false, id: 9 }.emit(&mut bytes);
    bytes.extend([1, 2, 3, 4, 5]); // two bytes of padding behind the packet
    let packet = IpPacket::parse(&bytes).unwrap();
    let fragment = packet.fragment.unwrap();
    assert_eq!((packet.protocol, fragment.offset, fragment.more, fragment.id), (6, 1480, false, 9));
    assert_eq!((packet.payload, packet.payload_len, packet.ecn), (&[1, 2, 3][..], 3, Ecn::Ce));
}

#[test]
fn a_bad_header_is_refused_with_its_cause() {
    let wrong = |bytes: &[u8]| Ipv4Header::parse(bytes).unwrap_err().to_string();
    assert_eq!(wrong(&[0x45; 7]), "the IPv4 header needs 20 bytes, but there are 7");
    assert_eq!(wrong(&[0x35; 20]), "the IPv4 header has an invalid version, 3");
    assert_eq!(wrong(&[0x44; 20]), "the IPv4 header has an invalid length in words, 4");
}

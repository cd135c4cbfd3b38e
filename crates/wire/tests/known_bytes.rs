//! Packets and capture files whose bytes are known from elsewhere: sums done by hand, tshark's verdicts, the drafts' layouts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ecnlab_wire::packets::{Between, emit_quench, emit_segment};
use ecnlab_wire::pcap::{Direction, Format, Packet, Writer};
use ecnlab_wire::{
    AccEcn, Checksum, Datagram, Dscp, Ecn, Extension, Flags, Fragment, IpPacket, IpVersion, Ipv4Header, Ipv6Header,
    QuenchCause, SackBlock, SackBlocks, Segment, Seq, TcpHeader, TcpOptions, Timestamps,
};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// 10.0.0.1:43000 > 10.0.0.2:5001, ECT(0), [P.] seq 0x01020304, ack 0x0a0b0c0d, win 500, options [nop,nop,TS val 7 ecr
/// 9], data "ecn!". tshark reports both checksums as good.
const PACKET: [u8; 56] = [
    0x45, 0x02, 0x00, 0x38, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0x26, 0xbc, 10, 0, 0, 1, 10, 0, 0, 2, // IPv4
    0xa7, 0xf8, 0x13, 0x89, 0x01, 0x02, 0x03, 0x04, 0x0a, 0x0b, 0x0c, 0x0d, 0x80, 0x18, 0x01, 0xf4, // TCP
    0xb7, 0x86, 0x00, 0x00, 0x01, 0x01, 0x08, 0x0a, 0, 0, 0, 7, 0, 0, 0, 9, 0x65, 0x63, 0x6e, 0x21,
];

fn segment() -> Segment {
    Segment {
        ecn: Ecn::Ect0,
        window: 500,
        len: 4,
        seq: Seq(0x0102_0304),
        ack: Seq(0x0a0b_0c0d),
        flags: Flags::ACK | Flags::PSH,
        timestamps: Some(Timestamps { value: 7, echo: 9 }),
        ..Segment::default()
    }
}

#[test]
fn a_segment_is_the_packet_that_tshark_finds_good() {
    let mut out = vec![0xff];
    let (ends, ports) = (Between::V4(A, B), [43000, 5001]);
    let len = emit_segment(ends, ports, Dscp::default(), &segment(), b"ecn!", &mut out);
    assert_eq!((len, &out[1..]), (56, &PACKET[..]));
    // EF is 101110, in front of ECT(0): 0xba for 0x02, and 0xb8 less in the checksum.
    out.clear();
    emit_segment(ends, ports, Dscp::from_bits(46), &segment(), b"ecn!", &mut out);
    assert_eq!((out[1], &out[10..12], &out[20..]), (0xba, &[0x26, 0x04][..], &PACKET[20..]));
}

#[test]
fn over_ipv6_the_traffic_class_has_dscp_and_ecn() {
    let (a, b) = (Ipv6Addr::from(1), Ipv6Addr::from(2));
    let mut out = Vec::new();
    let len = emit_segment(Between::V6(a, b), [43000, 5001], Dscp::from_bits(46), &segment(), b"ecn!", &mut out);
    assert_eq!((len, out.len()), (76, 76));
    // Version 6, then EF and ECT(0), 0xba, over two bytes; 36 bytes behind the header; TCP; hop limit 64.
    assert_eq!(out[..8], [0x6b, 0xa0, 0, 0, 0, 36, 6, 64]);
    // The TCP segment is that over IPv4 but for its checksum.
    assert_eq!((&out[40..56], &out[58..]), (&PACKET[20..36], &PACKET[38..]));
    assert!(Checksum::pseudo_ipv6(a, b, 6, 36).bytes(&out[40..]).is_valid());
}

#[test]
fn the_pseudo_headers_sum_as_by_hand() {
    // 0a00 + 0001 + 0a00 + 0002 + 0006 (TCP) + 0024 (36 bytes) = 142d, of which the complement is ebd2.
    assert_eq!(Checksum::pseudo_ipv4(A, B, 6, 36).value(), 0xebd2);
    assert_eq!(Checksum::pseudo(IpAddr::V4(A), IpAddr::V4(B), 6, 36).value(), 0xebd2);
    // 0001 + 0002 (addresses) + 0001 + 0020 (65,568 bytes: two words) + 0011 (UDP) = 0035.
    let (a, b) = (Ipv6Addr::from(1), Ipv6Addr::from(2));
    assert_eq!(Checksum::pseudo_ipv6(a, b, 17, 65_568).value(), !0x0035);
    assert_eq!(Checksum::pseudo(IpAddr::V6(a), IpAddr::V6(b), 17, 65_568).value(), !0x0035);
    assert_eq!(Checksum::pseudo(IpAddr::V4(A), IpAddr::V6(b), 17, 8), Checksum::new());
}

#[test]
fn a_quench_goes_from_the_router_to_the_packets_source() {
    let router = Ipv4Addr::new(10, 0, 0, 9);
    let mut out = Vec::new();
    assert!(emit_quench(router, QuenchCause::Marked, &PACKET, &mut out));
    let (header, message) = Ipv4Header::parse(&out).unwrap();
    assert_eq!((header.source, header.destination, header.protocol, header.total_len), (router, A, 1, 56));
    assert_eq!((message.len(), message[0], &message[8..]), (36, 4, &PACKET[..28]));
    // RFC 1812 §4.3.2.5: the type of service of the packet, which is EF now; ICMP is not ECN-capable.
    let mut about = PACKET;
    about[1] = 0xba;
    out.clear();
    assert!(emit_quench(router, QuenchCause::Marked, &about, &mut out));
    assert_eq!(out[1], 0xb8);
    out.clear();
    assert!(!emit_quench(router, QuenchCause::Marked, &PACKET[..27], &mut out));
    assert!(out.is_empty());
}

#[test]
fn a_datagram_fills_what_the_headers_leave() {
    // 20 bytes of IPv4 and 8 of UDP.
    let filled = |wire_len| Datagram::filling(IpVersion::V4, wire_len, 5, Ecn::Ect1);
    assert_eq!(filled(1000), Datagram { wire_len: 1000, ecn: Ecn::Ect1, len: 972, seq: 5 });
    assert_eq!((filled(28).len, filled(29).len, filled(3).len), (0, 1, 0));
    // 40 bytes of IPv6 and 8 of UDP.
    assert_eq!([1000, 48, 49].map(|len| Datagram::filling(IpVersion::V6, len, 5, Ecn::Ect1).len), [952, 0, 1]);
}

#[test]
fn every_codepoint_but_not_ect_is_capable() {
    assert_eq!([Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(Ecn::is_capable), [false, true, true, true]);
}

#[test]
fn sequence_numbers_have_an_order_and_a_sum() {
    let (before, after) = (Seq(u32::MAX), Seq(1));
    assert!(before.at_or_before(after) && before.at_or_before(before) && !after.at_or_before(before));
    let mut seq = before;
    seq += 2;
    assert_eq!((seq, seq.max(before), before.max(seq)), (after, after, after));
}

#[test]
fn syn_and_fin_take_a_number_each() {
    let segment = |flags, len| Segment { flags, len, ..Segment::default() };
    let seq_len = |flags, len| segment(flags, len).seq_len();
    assert_eq!((seq_len(Flags::SYN, 0), seq_len(Flags::SYN, 3), seq_len(Flags::SYN | Flags::FIN, 3)), (1, 4, 5));
    for flags in [Flags::SYN, Flags::FIN, Flags::RST] {
        assert!(!segment(Flags::ACK | flags, 0).is_pure_ack(), "{flags:?}");
    }
    assert!(segment(Flags::ACK | Flags::ECE, 0).is_pure_ack());
    assert!(!segment(Flags::ACK, 1).is_pure_ack());
}

fn options(set: impl FnOnce(&mut TcpOptions)) -> TcpOptions {
    let mut options = TcpOptions::default();
    set(&mut options);
    options
}

/// Asserts that options and bytes are written and read as each other.
fn stands_for(options: TcpOptions, bytes: &[u8]) {
    let mut out = vec![0xff];
    options.emit(&mut out);
    assert_eq!((&out[1..], TcpOptions::parse(bytes)), (bytes, options));
}

#[test]
fn options_are_laid_out_as_in_their_rfcs() {
    stands_for(options(|o| o.mss = Some(1460)), &[2, 4, 0x05, 0xb4]); // RFC 9293 §3.7.1
    stands_for(options(|o| o.window_scale = Some(7)), &[1, 3, 3, 7]); // RFC 7323 §2.2
    stands_for(options(|o| o.sack_permitted = true), &[4, 2, 1, 1]); // RFC 2018 §2
    let timestamps = Some(Timestamps { value: 0x0102_0304, echo: 0x0506_0708 });
    let stamps = [8, 10, 1, 2, 3, 4, 5, 6, 7, 8]; // RFC 7323 §3.2
    stands_for(options(|o| o.timestamps = timestamps), &[[1, 1].as_slice(), &stamps].concat());
    let both = options(|o| (o.timestamps, o.sack_permitted) = (timestamps, true));
    stands_for(both, &[[4, 2].as_slice(), &stamps].concat());
    // RFC 2018 §3: kind 5, length 2 + 8n, the edges of each block.
    let mut sack = options(|o| o.push_sack(SackBlock { start: Seq(0x0a0b_0c0d), end: Seq(0x0e0f_1011) }));
    sack.push_sack(SackBlock { start: Seq(1), end: Seq(2) });
    let edges = [0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0, 0, 0, 1, 0, 0, 0, 2];
    stands_for(sack, &[[1, 1, 5, 18].as_slice(), &edges].concat());
    (0..3).for_each(|_| sack.push_sack(SackBlock::default()));
    assert_eq!(sack.sack().len(), 4, "a fifth has no room");
}

#[test]
fn acc_ecn_has_its_counters_in_the_order_of_its_kind() {
    let option = |ect1_first, counters: &[u32]| options(|o| o.acc_ecn = Some(AccEcn::new(ect1_first, counters)));
    // RFC 9768 §3.2.3: kind 172 has ECT(0), CE, ECT(1), kind 174 ECT(1), CE, ECT(0), 24 bits each; the last may be left out.
    let (a, b, c) = (0x01_0203, 0x04_0506, 0x07_0809);
    stands_for(option(false, &[a, b, c]), &[1, 172, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    stands_for(option(true, &[c, b, a]), &[1, 174, 11, 7, 8, 9, 4, 5, 6, 1, 2, 3]);
    stands_for(option(false, &[a, b]), &[172, 8, 1, 2, 3, 4, 5, 6]);
    stands_for(option(true, &[c]), &[1, 1, 1, 174, 5, 7, 8, 9]);
    stands_for(option(false, &[]), &[1, 1, 172, 2]);
    // Which is which, in either order.
    let counters = |option: AccEcn| (option.ect0(), option.ce(), option.ect1());
    assert_eq!(counters(AccEcn::new(false, &[a, b, c])), (Some(a), Some(b), Some(c)));
    assert_eq!(counters(AccEcn::new(true, &[c, b])), (None, Some(b), Some(c)));
    // 24 bits count, and three counters.
    assert_eq!(AccEcn::new(false, &[0xff00_0001, 2, 3, 4]), AccEcn::new(false, &[1, 2, 3]));
    assert!(AccEcn::new(false, &[]).is_empty() && !AccEcn::new(true, &[0]).is_empty());
    // Of another length, the counters that are whole, three at most.
    let read = |bytes: &[u8]| TcpOptions::parse(bytes).acc_ecn;
    assert_eq!(read(&[172, 4, 0, 9]), Some(AccEcn::new(false, &[])));
    assert_eq!(read(&[174, 10, 7, 8, 9, 4, 5, 6, 1, 2]), Some(AccEcn::new(true, &[c, b])));
    assert_eq!(read(&[172, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4]), Some(AccEcn::new(false, &[a, b, c])));
}

#[test]
fn a_segment_has_its_options() {
    let block = SackBlock { start: Seq(1), end: Seq(2) };
    let mut sack = SackBlocks::NONE;
    sack.push(block);
    let timestamps = Some(Timestamps { value: 7, echo: 9 });
    let (mss, window_scale) = (Some(1460), Some(7));
    let segment = Segment { mss, window_scale, sack_permitted: true, timestamps, sack, ..Segment::default() };
    let expected = options(|o| {
        (o.mss, o.window_scale, o.sack_permitted, o.timestamps) = (mss, window_scale, true, timestamps);
        o.push_sack(block);
    });
    assert_eq!(TcpOptions::from(&segment), expected);
}

#[test]
fn no_block_no_option() {
    let mut blocks = SackBlocks::NONE;
    assert!(blocks.is_empty());
    blocks.push(SackBlock { start: Seq(1), end: Seq(2) });
    assert!(!blocks.is_empty());
}

#[test]
fn an_offset_too_short_is_refused_with_its_cause() {
    let mut header = PACKET[20..].to_vec();
    header[12] = 0x40;
    assert_eq!(TcpHeader::parse_cut(&header).unwrap_err().to_string(), "the TCP header has an invalid data offset, 4");
}

/// The packet's IPv4 header with other bytes at some places, and four bytes of payload.
fn changed(changes: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = PACKET[..24].to_vec();
    changes.iter().for_each(|&(place, byte)| bytes[place] = byte);
    bytes
}

#[test]
fn an_ipv4_header_is_intact_until_a_bit_changes() {
    assert!(Ipv4Header::is_intact(&PACKET[..20]));
    assert!(!Ipv4Header::is_intact(&changed(&[(8, 0x41)])[..20]));
    let (header, _) = Ipv4Header::parse(&PACKET).unwrap();
    assert_eq!((header.len(), header.is_empty(), header.payload_len()), (20, false, Some(36)));
}

#[test]
fn an_ipv4_fragment_has_an_offset_or_more_to_come() {
    let fragment = |high, low| {
        let bytes = changed(&[(3, 24), (4, 0x12), (5, 0x34), (6, high), (7, low)]);
        IpPacket::parse(&bytes).unwrap().fragment
    };
    let part = |offset, more| Some(Fragment { offset, more, id: 0x1234 });
    // The field is in units of 8 bytes; 0x20 is more fragments, 0x40 don't fragment.
    assert_eq!((fragment(0x40, 0), fragment(0x20, 0)), (None, part(0, true)));
    assert_eq!(
        (fragment(0, 1), fragment(0x20, 3), fragment(0, 185)),
        (part(8, false), part(24, true), part(1480, false))
    );
}

#[test]
fn an_ipv4_length_of_zero_stands_for_what_is_there() {
    let length = |high, low| IpPacket::parse(&changed(&[(2, high), (3, low)])).map(|packet| packet.payload_len);
    assert_eq!((length(0, 0), length(0, 20), length(0x05, 0xdc)), (Ok(4), Ok(0), Ok(1480)));
    assert_eq!(length(0, 19).unwrap_err().to_string(), "the IPv4 header has an invalid total length, 19");
}

#[test]
fn a_length_of_zero_stands_for_the_length_on_the_wire() {
    let bytes = changed(&[(2, 0), (3, 0)]);
    let length =
        |wire_len| IpPacket::parse_cut(&bytes, wire_len).map(|packet| (packet.payload_len, packet.payload.len()));
    assert_eq!([20, 24, 70_020].map(length), [Ok((4, 4)), Ok((4, 4)), Ok((70_000, 4))]);
    assert_eq!(length(1 << 25).unwrap_err().to_string(), "the IP header has an invalid length, 33554412");
    // A length in the header always counts.
    let announced = changed(&[(2, 0), (3, 24)]);
    assert_eq!(IpPacket::parse_cut(&announced, 9000).unwrap().payload_len, 4);
}

#[test]
fn a_jumbogram_has_its_length_in_an_option() {
    // RFC 2675 §2: option 0xc2 with four bytes, here behind two bytes and a byte of padding.
    let jumbo = |option: u8, len: u32, wire_len: usize| {
        let mut payload = vec![6, 1, 1, 0, 0, option, 4];
        payload.extend(len.to_be_bytes());
        payload.extend([0; 5 + 20]);
        let mut bytes = ipv6(0, &payload);
        (bytes[4], bytes[5]) = (0, 0);
        IpPacket::parse_cut(&bytes, wire_len).map(|packet| packet.payload_len)
    };
    assert_eq!(jumbo(0xc2, 180_016, 76), Ok(180_000));
    // Without the option, or with a length that RFC 2675 §3 forbids, the length on the wire counts.
    assert_eq!([jumbo(0x05, 180_016, 9056), jumbo(0xc2, 5016, 9056)], [Ok(9000); 2]);
    assert!(jumbo(0xc2, 1 << 25, 9056).is_err());
}

/// An IPv6 packet of `payload`, whose next header is `next`.
fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0, 0, payload.len() as u8, next, 64];
    bytes.extend([Ipv6Addr::from(1).octets(), Ipv6Addr::from(2).octets()].concat());
    bytes.extend(payload);
    bytes
}

#[test]
fn the_first_ipv6_fragment_shows_what_it_carries() {
    // Next header 60, offset and M, identification 9; then destination options before TCP, and two bytes.
    let fragment = |offset_and_more: u16| {
        let [high, low] = offset_and_more.to_be_bytes();
        // The byte that RFC 8200 §4.5 reserves means nothing: it is no length.
        let payload = [60, 1, high, low, 0, 0, 0, 9, 6, 0, 1, 4, 0, 0, 0, 0, 0xaa, 0xbb];
        let bytes = ipv6(44, &payload);
        let packet = IpPacket::parse(&bytes).unwrap();
        (packet.protocol, packet.fragment.unwrap(), packet.payload_len, packet.payload.to_vec())
    };
    let part = |offset, more| Fragment { offset, more, id: 9 };
    assert_eq!(fragment(1), (6, part(0, true), 2, vec![0xaa, 0xbb]));
    // Behind the later one's header stands what comes from the middle of the packet.
    assert_eq!(fragment(8), (60, part(8, false), 10, vec![6, 0, 1, 4, 0, 0, 0, 0, 0xaa, 0xbb]));
}

#[test]
fn an_extension_is_padded_to_whole_units_and_cut_at_the_longest() {
    let emitted = |extension: Extension<'_>| {
        let mut bytes = Vec::new();
        extension.emit(&mut bytes);
        bytes
    };
    let body = [7; 3000];
    let other = |len: usize| emitted(Extension::Other { kind: 0, next_header: 6, body: &body[..len] });
    // Two bytes and seven: two units of eight, of which the first is not counted.
    assert_eq!(other(7), [vec![6, 1], vec![7; 7], vec![0; 7]].concat());
    // 256 units are the most; the two first bytes are of them.
    assert_eq!(other(3000), [vec![6, 255], vec![7; 2046]].concat());
    let authentication = |len: usize| emitted(Extension::Authentication { next_header: 6, body: &body[..len] });
    // Two bytes and seven: three words of four, less two.
    assert_eq!(authentication(7), [vec![6, 1], vec![7; 7], vec![0; 3]].concat());
    assert_eq!(authentication(3000), [vec![6, 255], vec![7; 1026]].concat());
}

#[test]
fn a_wrong_ipv6_version_is_refused_with_its_cause() {
    assert_eq!(Ipv6Header::parse(&[0x53; 40]).unwrap_err().to_string(), "the IPv6 header has an invalid version, 5");
}

/// 5 s, 7 ns and 3,000,000,000 s since 1970.
const TIMES: [u64; 2] = [5_000_000_007, 3_000_000_000_000_000_000];

fn file(format: Format) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format, &["l".to_owned()], 96).unwrap();
    for (time_ns, direction, comment) in
        [(TIMES[0], Direction::Inbound, Some("marked")), (TIMES[1], Direction::Outbound, None)]
    {
        let packet =
            Packet { interface: 0, time_ns, bytes: &[0x45, 1, 2, 3, 4], original_len: 1500, direction, comment };
        writer.packet(&packet).unwrap();
    }
    writer.finish().unwrap()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn pcap_is_laid_out_as_in_its_draft() {
    // Magic number of nanoseconds, version 2.4, two words without meaning, snap length, raw IP.
    let mut expected = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 96, 101]);
    // Seconds, nanoseconds, bytes kept, bytes that there were.
    expected.extend([words(&[5, 7, 5, 1500]), vec![0x45, 1, 2, 3, 4]].concat());
    expected.extend([words(&[3_000_000_000, 0, 5, 1500]), vec![0x45, 1, 2, 3, 4]].concat());
    assert_eq!(file(Format::Pcap), expected);
}

#[test]
fn pcapng_is_laid_out_as_in_its_draft() {
    // A block: type, length, body, length. Options: code and length, value, padded to a word.
    let section = [
        words(&[0x0a0d_0d0a, 44, 0x1a2b_3c4d, 0x0000_0001, u32::MAX, u32::MAX, 4 | (6 << 16)]),
        b"ecnlab\0\0".to_vec(),
        words(&[0, 44]),
    ];
    let interface = [
        words(&[1, 40, 101, 96, 2 | (1 << 16)]),
        b"l\0\0\0".to_vec(),
        words(&[9 | (1 << 16)]),
        vec![9, 0, 0, 0],
        words(&[0, 40]),
    ];
    // 5,000,000,007 = 2^32 + 705,032,711. Flags: 1 is inbound.
    let first = [
        words(&[6, 64, 0, 1, 705_032_711, 5, 1500]),
        vec![0x45, 1, 2, 3, 4, 0, 0, 0],
        words(&[2 | (4 << 16), 1, 1 | (6 << 16)]),
        b"marked\0\0".to_vec(),
        words(&[0, 64]),
    ];
    // 3e18 = 698,491,930 * 2^32 + 4,130,078,720. Flags: 2 is outbound.
    let second = [
        words(&[6, 52, 0, 698_491_930, 4_130_078_720, 5, 1500]),
        vec![0x45, 1, 2, 3, 4, 0, 0, 0],
        words(&[2 | (4 << 16), 2, 0, 52]),
    ];
    let expected = [section.concat(), interface.concat(), first.concat(), second.concat()].concat();
    assert_eq!(file(Format::Pcapng), expected);
}

//! Links and tunnels: frames of any bytes have an answer, and lengths are those of the wire.

use std::io::Cursor;

use ecnlab_trace::{Capture, Input, Totals, UdpTunnels, Unread};
use proptest::prelude::*;

/// Link types that are read, and some that are not.
const LINKS: [u16; 16] = [0, 1, 9, 12, 14, 50, 51, 101, 104, 108, 113, 127, 204, 228, 229, 276];

/// The totals of a pcap with one frame, of which `missing` bytes are not captured.
fn totals(link: u16, frame: &[u8], missing: u32) -> Totals {
    let word = u32::to_le_bytes;
    let len = frame.len() as u32;
    let mut file = [word(0xa1b2_c3d4), [2, 0, 4, 0], word(0), word(0), word(65_535), word(link.into())].concat();
    file.extend([0, 0, len, len.saturating_add(missing)].map(word).concat());
    file.extend(frame);
    let input = Input::new(Box::new(Cursor::new(file))).unwrap();
    let mut capture = Capture::new(input).unwrap().opening(UdpTunnels::parse("vxlan,geneve").unwrap());
    while capture.step(|segment| assert!(segment.len <= 1 << 24)).unwrap() {}
    capture.totals().clone()
}

/// Headers that lead to others, so that random bytes behind them reach every reader.
fn heads() -> impl Strategy<Value = Vec<u8>> {
    let ipv4 = |protocol: u8| vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    let udp = |port: u16| [&[0, 9][..], &port.to_be_bytes(), &[0, 0, 0, 0]].concat();
    let parts: Vec<Vec<u8>> = vec![
        [&[0; 12][..], &[8, 0]].concat(),
        [&[0; 12][..], &[0x91, 0]].concat(),
        vec![0, 3, 0x88, 0x47],
        vec![0, 0, 0x11, 64, 0, 0, 0x11, 64],
        vec![0x88, 0x64, 0x11, 0, 0, 1, 0, 9],
        vec![0xff, 3, 0, 0x21],
        vec![0x21],
        ipv4(4),
        ipv4(41),
        ipv4(47),
        ipv4(17),
        ipv4(6),
        vec![0xb0, 0, 0x65, 0x58, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        udp(4789),
        udp(6081),
        vec![8, 0, 0, 0, 0, 0, 1, 0],
        vec![2, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    prop::collection::vec(prop::sample::select(parts), 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Each frame counts once, as exactly one kind, or as a fragment.
    #[test]
    fn frames_of_any_bytes_count_once(
        link in prop::sample::select(&LINKS[..]),
        head in heads(),
        rest in prop::collection::vec(any::<u8>(), 0..120),
        missing in prop_oneof![Just(0), 0_u32..2000, any::<u32>()],
    ) {
        let t = totals(link, &[head, rest].concat(), missing);
        let kinds = t.tcp + t.udp + t.icmp + t.other_ip + t.other + t.cut + t.malformed + t.unknown_link;
        prop_assert!(kinds == 1 || (kinds == 0 && t.fragments >= 1), "{t:?}");
        prop_assert!(t.tunnelled <= 1);
    }
}

#[test]
fn a_frame_of_nothing_but_tags_or_labels_is_truncated() {
    let tags = [&[0; 12][..], &[0x81, 0, 0, 3].repeat(100_000)].concat();
    assert_eq!(totals(1, &tags[..tags.len() - 1], 9).cut, 1);
    let labels = [&[0; 12][..], &[0x88, 0x47], &[0, 0, 0x10, 64].repeat(100_000)].concat();
    assert_eq!(totals(1, &labels, 9).cut, 1);
}

#[test]
fn frames_without_ip_are_counted_by_their_type() {
    let arp = [&[0; 12][..], &[0x81, 0, 0, 3, 8, 6], &[0; 28]].concat();
    assert_eq!(totals(1, &arp, 0).unread, [(Unread::EtherType(0x0806), 1)]);
    // IPv6CP in PPP, and a pseudowire in MPLS, have no EtherType.
    assert_eq!(totals(9, &[0x80, 0x57, 1, 1, 0, 4], 0).unread, [(Unread::EtherType(0), 1)]);
    let wire = [&[0; 12][..], &[0x88, 0x47, 0, 0, 0x11, 64], &[0; 30]].concat();
    assert_eq!(totals(1, &wire, 0).unread, [(Unread::EtherType(0), 1)]);
    assert_eq!(totals(127, &[0; 30], 0).unread, [(Unread::LinkType(127), 1)]);
}

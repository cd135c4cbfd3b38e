//! Containers: every format reads the same, and other files are refused with place and cause.

use crate::common;

use std::io::{Cursor, Write};
use std::path::Path;

use common::{A, a, capture, d, ecn_handshake, found, read};
use ecnlab_trace::{Analysis, Capture, Input, TraceError, Tracker, analyse};
use ecnlab_wire::{Ecn, Extension, Flags, Ipv6Header};
use proptest::prelude::*;

fn packets() -> Vec<common::P> {
    let mut all = ecn_handshake();
    all.extend([d(20, 0), d(20, 1).ecn(Ecn::Ce), a(60, 2).flags(common::ECE)]);
    all
}

/// What a capture of [`packets`] must be read as, whatever the container.
fn assert_read(bytes: Vec<u8>) {
    let analysis = read(bytes).unwrap();
    assert!(analysis.damage.is_none(), "{:?}", analysis.damage);
    let [client, server] = &analysis.tracker.connection(0).ends;
    assert_eq!((client.counts.packets, client.counts.bytes, server.ecn.counts.ece), (4, 2000, 1));
    assert_eq!(client.ecn.counts.codepoints, [2, 0, 1, 1]);
    assert_eq!((client.stream.rtt.summary.count, client.stream.rtt.summary.max), (2, 40_000_000));
}

/// A pcap file of `frames` of packets.
fn pcap(big: bool, nanoseconds: bool, link_type: u32, frame: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let word = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
    let magic = if nanoseconds { 0xa1b2_3c4d_u32 } else { 0xa1b2_c3d4 };
    let version = if big { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
    let mut file = [word(magic), version, word(0), word(0), word(65_535), word(link_type)].concat();
    for packet in packets() {
        let bytes = frame(&packet.bytes());
        let part = (packet.at % 1000) as u32 * if nanoseconds { 1_000_000 } else { 1_000 };
        let (seconds, len) = ((packet.at / 1000) as u32, bytes.len() as u32);
        file.extend([seconds, part, len, len].map(word).concat());
        file.extend(bytes);
    }
    file
}

#[test]
fn pcap_of_either_byte_order_and_resolution() {
    for (big, nanoseconds) in [(false, false), (false, true), (true, false), (true, true)] {
        assert_read(pcap(big, nanoseconds, 101, <[u8]>::to_vec));
    }
}

#[test]
fn modified_pcap_with_a_longer_packet_header() {
    for big in [false, true] {
        let file = pcap(big, false, 101, |packet| [&[0; 8], packet].concat());
        let (mut modified, word) = (file.clone(), |at: usize| {
            let bytes: [u8; 4] = file[at..at + 4].try_into().unwrap();
            if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        });
        let set = |file: &mut Vec<u8>, at: usize, value: u32| {
            let bytes = if big { value.to_be_bytes() } else { value.to_le_bytes() };
            file[at..at + 4].copy_from_slice(&bytes);
        };
        set(&mut modified, 0, 0xa1b2_cd34);
        // The eight bytes before each packet belong to its header, not to its length.
        let mut at = 24;
        while at < file.len() {
            let len = word(at + 8);
            set(&mut modified, at + 8, len - 8);
            set(&mut modified, at + 12, len - 8);
            at += 16 + len as usize;
        }
        assert_read(modified);
    }
}

#[test]
fn every_link_type() {
    let ethernet = |kind: &[u8]| [&[0; 12], kind].concat();
    let heads: [(u32, Vec<u8>); 9] = [
        (1, ethernet(&[8, 0])),
        (1, ethernet(&[0x81, 0, 0, 7, 8, 0])),
        (1, ethernet(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0])),
        (113, [&[0; 14][..], &[8, 0]].concat()),
        (276, [&[8, 0][..], &[0; 18]].concat()),
        (0, vec![2, 0, 0, 0]),
        (108, vec![0, 0, 0, 2]),
        (12, Vec::new()),
        (228, Vec::new()),
    ];
    for (link_type, head) in heads {
        assert_read(pcap(false, false, link_type, |packet| [&head, packet].concat()));
    }
}

#[test]
fn pcapng_in_network_byte_order_with_its_own_resolution() {
    let word = |w: u32| w.to_be_bytes();
    let block = |kind: u32, body: &[u8]| {
        let len = word(body.len() as u32 + 12);
        [&word(kind)[..], &len, body, &len].concat()
    };
    let section = [&word(0x1a2b_3c4d)[..], &[0, 1, 0, 0], &[0xff; 8]].concat();
    // if_tsresol: 2^-10 s; the times of the packets, in ms, become 1024ths.
    let interface = [&[0, 101, 0, 0][..], &word(0), &[0, 9, 0, 1, 0x8a, 0, 0, 0], &[0, 0, 0, 0]].concat();
    let mut file = [block(0x0a0d_0d0a, &section), block(1, &interface), block(0x0bad, &[0; 8])].concat();
    for packet in packets() {
        let bytes = packet.bytes();
        let len = bytes.len() as u32;
        let mut body = [0, 0, (packet.at * 1024 / 1000) as u32, len, len].map(word).concat();
        body.extend(bytes);
        body.resize(body.len().next_multiple_of(4), 0);
        file.extend(block(6, &body));
    }
    let analysis = read(file).unwrap();
    let rtt = analysis.tracker.connection(0).ends[0].stream.rtt.summary;
    // 20 ms are tick 20, 60 ms tick 61: 41 ticks of 976562.5 ns.
    assert_eq!((rtt.count, rtt.max), (2, 40_039_062));
}

#[test]
fn compressed_files() {
    let plain = capture(&packets());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let gzip = gzip.finish().unwrap();
    assert_read(gzip.clone());
    let zstd = ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest);
    assert_read(zstd.clone());
    for cut in [gzip, zstd] {
        let half = cut[..cut.len() - 20].to_vec();
        match read(half) {
            Ok(analysis) => assert!(analysis.damage.is_some()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Appended files, parallel compressors and padded archives.
#[test]
fn compressed_files_of_several_parts() {
    let plain = capture(&packets());
    let gzip = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    // Behind the file header and the header and bytes of the first packet, and inside a packet.
    let whole = 24 + 16 + packets()[0].bytes().len();
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    for cut in [whole, whole + 5] {
        let (head, tail) = plain.split_at(cut);
        assert_read([gzip(head), gzip(tail)].concat());
        assert_read([gzip(head), vec![0; 700], gzip(tail), vec![0; 9000]].concat());
        assert_read([zstd(head), zstd(tail)].concat());
        assert_read([&skipped[..], &zstd(head), &skipped, &zstd(tail), &skipped].concat());
    }
    for damaged in [
        [gzip(&plain), b"more".to_vec()].concat(),
        [zstd(&plain), b"more".to_vec()].concat(),
        [zstd(&plain), skipped[..9].to_vec()].concat(),
    ] {
        let analysis = read(damaged).unwrap();
        assert_eq!(analysis.totals.packets, packets().len() as u64);
        let damage = analysis.damage.unwrap().to_string();
        assert!(damage.starts_with(&format!("byte {}: ", plain.len())), "{damage}");
    }
}

#[test]
fn fragments_are_put_together_and_keep_their_mark() {
    let whole = d(20, 0).bytes();
    let fragment = |offset: usize, end: usize, more: bool, ecn: u8| {
        let mut bytes = whole[..20].to_vec();
        bytes[1] = ecn;
        bytes[2..4].copy_from_slice(&((20 + end - offset) as u16).to_be_bytes());
        bytes[4..6].copy_from_slice(&77_u16.to_be_bytes());
        bytes[6..8].copy_from_slice(&((offset / 8) as u16 | if more { 0x2000 } else { 0 }).to_be_bytes());
        bytes.extend(&whole[20 + offset..20 + end]);
        bytes
    };
    let mut parts = vec![fragment(0, 400, true, 2), fragment(800, 1020, false, 2), fragment(400, 800, true, 3)];
    parts.extend(parts.clone()); // and once more: a retransmission
    let word = u32::to_le_bytes;
    let mut file = [word(0xa1b2_c3d4), [2, 0, 4, 0], word(0), word(0), word(65_535), word(101)].concat();
    for part in &parts {
        let len = part.len() as u32;
        file.extend([0, 0, len, len].map(word).concat());
        file.extend(part);
    }
    let analysis = read(file).unwrap();
    let client = &analysis.tracker.connection(0).ends[0];
    assert_eq!((analysis.totals.fragments, analysis.totals.tcp), (6, 2));
    assert_eq!((client.counts.bytes, client.counts.retransmits, client.ecn.counts.codepoints[3]), (2000, 1, 2));
}

#[test]
fn ipv6_behind_extension_headers() {
    let tcp = d(20, 0).bytes()[20..].to_vec();
    let address = std::net::Ipv6Addr::LOCALHOST;
    let file = pcap(false, false, 229, |_| {
        let mut bytes = Vec::new();
        let header = Ipv6Header {
            dscp: 0,
            ecn: Ecn::Ect0,
            flow_label: 5,
            payload_len: 16 + tcp.len() as u16,
            next_header: 0,
            hop_limit: 64,
            source: address,
            destination: address,
        };
        header.emit(&mut bytes);
        Extension::Other { kind: 0, next_header: 60, body: &[0; 6] }.emit(&mut bytes);
        Extension::Other { kind: 60, next_header: 6, body: &[0; 6] }.emit(&mut bytes);
        bytes.extend(&tcp);
        bytes
    });
    let analysis = read(file).unwrap();
    let key = analysis.tracker.connection(0).key;
    assert_eq!(key.endpoints().map(ecnlab_trace::endpoint), ["[::1]:80", "[::1]:40000"]);
    assert_eq!(analysis.totals.tcp, 6);
}

#[test]
fn packets_cut_short_keep_their_lengths() {
    let whole = packets();
    let file = pcap(false, false, 101, <[u8]>::to_vec);
    let full = read(file).unwrap();
    // 54 bytes of each: headers without any payload.
    let word = u32::to_le_bytes;
    let mut file = [word(0xa1b2_c3d4), [2, 0, 4, 0], word(0), word(0), word(54), word(101)].concat();
    for packet in &whole {
        let bytes = packet.bytes();
        let kept = bytes.len().min(54);
        let time = (packet.at * 1000) as u32;
        file.extend([0, time, kept as u32, bytes.len() as u32].map(word).concat());
        file.extend(&bytes[..kept]);
    }
    let cut = read(file).unwrap();
    let bytes = |analysis: &Analysis| analysis.tracker.connection(0).ends[0].counts.bytes;
    assert_eq!((bytes(&cut), cut.totals.bytes), (bytes(&full), full.totals.bytes));
}

fn message(bytes: &[u8]) -> String {
    match read(bytes.to_vec()) {
        Ok(analysis) => analysis.damage.map_or(String::new(), |error| error.to_string()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn another_file_is_refused_as_no_capture() {
    assert_eq!(message(b""), "byte 0: is empty");
    assert_eq!(message(b"\xd4"), "byte 0: ends after 1 bytes");
    assert_eq!(
        message(b"GET / HTTP/1.1\r\n\r\n"),
        "byte 0: is not a capture: it begins with bytes 47 45 54 20, which matches neither pcap nor pcapng"
    );
    assert_eq!(
        message(&[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 1, 2, 3, 4]),
        "byte 0: the file is damaged: a section without a byte-order magic; 0 packets were read up to there"
    );
}

#[test]
fn a_file_cut_off_is_read_up_to_there() {
    let file = pcap(false, false, 101, <[u8]>::to_vec);
    // 24 bytes of file header, five records, and 1000 bytes too few of the fifth packet's 1040.
    let lens: Vec<usize> = packets().iter().map(|p| 16 + p.bytes().len()).collect();
    let fifth = 24 + lens[..4].iter().sum::<usize>();
    assert_eq!(
        message(&file[..fifth + 16 + 40]),
        format!(
            "byte {fifth}: the file is cut off inside a packet of 1056 bytes, of which 56 are there; 4 packets were read up to there"
        )
    );
    assert_eq!(
        message(&file[..20]),
        "byte 0: the file is cut off inside the file header of 24 bytes, of which 20 are there; 0 packets were read up to there"
    );
    assert_eq!(message(&file[..fifth]), "");
}

#[test]
fn an_impossible_length_is_refused_with_its_place() {
    let mut file = pcap(false, false, 101, <[u8]>::to_vec);
    let second = 24 + 16 + packets()[0].bytes().len();
    file[second + 8..second + 12].copy_from_slice(&[0xff; 4]);
    assert_eq!(
        message(&file),
        format!("byte {second}: the file is damaged: a packet of 4294967295 bytes; 1 packets were read up to there")
    );
    let mut file = capture(&packets());
    let len = file.len();
    file[len - 500..].fill(0x55);
    assert!(message(&file).contains("the file is damaged"), "{}", message(&file));
}

#[test]
fn folders_and_devices_are_no_files() {
    let open = |path: &str| match Input::open(Path::new(path)) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert_eq!(open("/"), "byte 0: is a folder, not a capture file");
    assert!(open("/dev/zero").starts_with("byte 0: is a device"), "{}", open("/dev/zero"));
    assert!(matches!(Input::open(Path::new("/nowhere/x.pcap")), Err(TraceError::Io(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Bytes changed, cut and put in: there is an answer, and it comes soon.
    #[test]
    fn mutations_are_survived(
        ng in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..24),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = if ng { capture(&packets()) } else { pcap(false, false, 101, <[u8]>::to_vec) };
        changes.iter().for_each(|(at, byte)| { let at = at.index(bytes.len()); bytes[at] = *byte; });
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = message(&bytes);
    }

    /// Any segments in any order: the tracker survives, and its sums hold.
    #[test]
    fn segments_without_sense_are_survived(
        segments in prop::collection::vec(
            (any::<bool>(), 0_u16..512, 0_u32..6000, 0_u32..6000, 0_u32..1500, 0_u8..4, 0_u64..500), 1..80),
        wrap in any::<bool>(),
    ) {
        let base = if wrap { u32::MAX - 3000 } else { 0 };
        let mut time = 0;
        let all: Vec<common::P> = segments.into_iter().map(|(client, flags, seq, ack, len, ecn, wait)| {
            time += wait;
            let flags = Flags::from_bits_truncate(flags);
            let packet = common::c(time, flags, base.wrapping_add(seq), base.wrapping_add(ack));
            common::P { from_client: client, ..packet }.len(len).ecn(Ecn::from_bits(ecn))
        }).collect();
        let analysis = found(&all);
        let ends = || analysis.tracker.connections().flat_map(|c| c.into_owned().ends);
        prop_assert_eq!(ends().map(|e| e.counts.packets).sum::<u64>(), all.len() as u64);
        prop_assert_eq!(ends().map(|e| e.counts.bytes).sum::<u64>(), all.iter().map(|p| u64::from(p.len)).sum::<u64>());
        prop_assert!(ends().all(|e| e.counts.unique_bytes <= e.counts.bytes));
        prop_assert!(ends().all(|e| e.ecn.counts.codepoints.iter().sum::<u64>() == e.counts.packets));
    }

    /// A connection that is kept as its packets until it sends data, and one that is kept whole from the first on.
    #[test]
    fn packets_kept_for_later_give_the_same_result(
        segments in prop::collection::vec(
            (any::<bool>(), 0_u16..512, 0_u32..40, 0_u32..40, 0_u32..2, 0_u8..4, 0_u64..300, any::<bool>()), 1..14)
    ) {
        let mut time = 0;
        let all: Vec<common::P> = segments.into_iter().map(|(client, flags, seq, ack, len, ecn, wait, sack)| {
            time += wait;
            let mut options = ecnlab_wire::TcpOptions::default();
            options.sack_permitted = sack;
            let flags = Flags::from_bits_truncate(flags);
            let packet = common::P { from_client: client, ..common::c(time, flags, seq, ack) };
            packet.len(len / 2).ecn(Ecn::from_bits(ecn)).options(options)
        }).collect();
        let read = |tracker| {
            let input = Input::new(Box::new(Cursor::new(common::capture(&all)))).unwrap();
            analyse(input, tracker, |_| true).unwrap().tracker
        };
        let (brief, whole) = (read(Tracker::default()), read(Tracker::default().following(0)));
        prop_assert_eq!(brief.len(), whole.len());
        for (a, b) in brief.connections().zip(whole.connections()) {
            prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
        }
    }
}

#[test]
fn connections_take_no_more_memory_than_they_may() {
    let syns = |n: u32| -> Vec<common::P> { (0..n).map(|n| common::c(0, Flags::SYN, n, 0)).collect() };
    let read = |n, tracker: Tracker| {
        let input = Input::new(Box::new(Cursor::new(common::capture(&syns(n))))).unwrap();
        analyse(input, tracker, |_| true).unwrap()
    };
    // SYNs of one pair of ports, each with another number: as many connections.
    assert!(read(1_000, Tracker::default().within(600_000)).damage.is_none());
    let found = read(10_000, Tracker::default().within(600_000));
    assert!((1_000..10_000).contains(&found.tracker.len()));
    let damage = found.damage.unwrap().to_string();
    let packets = found.totals.packets;
    let begin =
        format!("the {packets} connections of the first {packets} packets take more than the 0 MB that they may");
    assert!(damage.starts_with(&begin) && damage.ends_with("allow more with --memory"), "{damage}");
}

#[test]
fn reading_stops_where_the_reader_fails() {
    struct Fails(usize);
    impl std::io::Read for Fails {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let file = pcap(false, false, 101, <[u8]>::to_vec);
            let end = (self.0 + 100).min(200).min(file.len());
            let n = (end - self.0).min(out.len());
            out[..n].copy_from_slice(&file[self.0..self.0 + n]);
            self.0 += n;
            if n == 0 { Err(std::io::Error::other("the cable is out")) } else { Ok(n) }
        }
    }
    let analysis = analyse(Input::new(Box::new(Fails(0))).unwrap(), Tracker::default(), |_| true).unwrap();
    let damage = analysis.damage.unwrap().to_string();
    assert!(damage.contains("the cable is out") && damage.contains("3 packets"), "{damage}");
    assert!(Capture::new(Input::new(Box::new(std::io::empty())).unwrap()).is_err());
    assert_eq!(A.bits(), 0x10);
}

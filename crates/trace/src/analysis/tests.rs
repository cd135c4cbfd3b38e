use std::io::Cursor;
use std::path::Path;

use super::*;
use crate::rules::Standard;

/// Describes everything that an analysis has found.
fn described(mut analysis: Analysis) -> String {
    analysis.tracker.finish();
    let Analysis { tracker, totals, interfaces, damage, twice, untimed } = analysis;
    let connections: Vec<String> = tracker.connections().map(|connection| format!("{connection:?}")).collect();
    format!("{totals:?} {interfaces:?} {damage:?} {twice:?} {untimed:?} {connections:#?}")
}

/// Compares the results of one thread and of two, with a memory limit in bytes; returns them.
fn compared(bytes: &[u8], limit: u64) -> String {
    let open = || Capture::new(Input::new(Box::new(Cursor::new(bytes.to_owned()))).unwrap()).unwrap();
    let tracker = || Tracker::new(Standard::Rfc3168).within(limit);
    let wanted = |segment: &Segment<'_>| segment.number % 7 != 3;
    let one = described(alone(open(), Watched::new(tracker()), wanted));
    assert!(one == described(pipeline::analyse(open(), Watched::new(tracker()), wanted)), "limit {limit}: {one}");
    one
}

/// A pcap of `n` packets of 20 bytes without data: SYNs of one connection each, every fifth a UDP packet.
fn syns(n: u32) -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0];
    for i in 0..n {
        let [_, _, high, low] = i.to_be_bytes();
        let protocol = if i % 5 == 4 { 17 } else { 6 };
        file.extend([i, 0, 40, 40].map(u32::to_le_bytes).concat());
        file.extend([0x45, 0, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        file.extend([high, low, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 2, 0, 9, 0, 0, 0, 0]);
    }
    file
}

#[test]
fn two_threads_find_the_same_as_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/captures");
    let captures = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let captures: Vec<_> = captures.filter(|path| path.extension().is_some_and(|kind| kind == "gz")).collect();
    assert!(!captures.is_empty());
    captures.iter().for_each(|path| drop(compared(&std::fs::read(path).unwrap(), u64::MAX)));
}

#[test]
fn two_threads_stop_at_the_same_packet_when_memory_is_used_up() {
    let file = syns(3_000);
    assert!(compared(&file, u64::MAX).contains("packets: 3000") && compared(&file, 1 << 30).contains("packets: 3000"));
    for limit in [0, 1_000, 100_000, 300_000] {
        let found = compared(&file, limit);
        assert!(found.contains("Full {"), "{limit}: {found}");
    }
}

#[test]
fn two_threads_report_the_damage_behind_the_last_whole_packet() {
    let file = syns(2_000);
    for end in [24, 30, 24 + 512 * 56, 24 + 1_000 * 56 + 20] {
        compared(&file[..end], u64::MAX);
    }
    let found = compared(&file[..24 + 1_000 * 56 + 20], u64::MAX);
    assert!(found.contains("Cut {") && found.contains("packets: 1000"), "{found}");
}

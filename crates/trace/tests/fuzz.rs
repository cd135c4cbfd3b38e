//! Fuzzing on the stable toolchain: mutated captures and random bytes, for as long as `ECNLAB_FUZZ_SECONDS` says.
//!
//! `make fuzz` runs it for ten minutes; in the tests it runs for a second. A failure prints the seed that brings it back.

mod common;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::{A, a, capture, d, ecn_handshake, read};
use ecnlab_base::Rng;
use ecnlab_trace::{Analysis, Filter, TraceError};
use ecnlab_wire::{Extension, IpPacket, Ipv4Header, TcpHeader, TcpOptions};

/// Longest that one input may take.
const HANG: Duration = Duration::from_secs(10);

// A fuzzer is bounded by the wall clock, which nothing else in a test may ask for.
#[allow(clippy::disallowed_methods)]
#[test]
fn mutated_captures_neither_crash_nor_hang() {
    let seconds = std::env::var("ECNLAB_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let first: u64 = std::env::var("ECNLAB_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (send, done) = mpsc::channel();
    std::thread::spawn(move || {
        for seed in first.. {
            if send.send(seed).is_err() {
                return;
            }
            one(seed);
        }
    });
    let mut last = first;
    while Instant::now() < end {
        match done.recv_timeout(HANG) {
            Ok(seed) => last = seed,
            Err(error) => panic!("ECNLAB_FUZZ_SEED={last} {error}: it crashed, or took more than {HANG:?}"),
        }
    }
    println!("{} inputs", last - first);
}

struct Dice(Rng);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n.max(1) as u64) as usize
    }
}

fn one(seed: u64) {
    let mut dice = Dice(Rng::named(seed, "fuzz"));
    let mut input = base(&mut dice);
    for _ in 0..dice.below(40) {
        mutate(&mut input, &mut dice);
    }
    headers(&input);
    if let Ok(analysis) = read(input) {
        hold(&analysis);
    }
    let text: String = (0..dice.below(12)).map(|_| WORDS[dice.below(WORDS.len())]).collect::<Vec<_>>().join(" ");
    let _: Result<Filter, TraceError> = Filter::parse(&text);
}

const WORDS: [&str; 10] = ["host", "1.2.3.4", "net", "::/3", "port", "80", "(", ")", "not", "and"];

/// A capture of a transfer with losses and marks, or nothing but random bytes behind a magic number.
fn base(dice: &mut Dice) -> Vec<u8> {
    if dice.below(8) == 0 {
        let magics: [&[u8]; 4] =
            [&[0xd4, 0xc3, 0xb2, 0xa1], &[0x0a, 0x0d, 0x0d, 0x0a], &[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd]];
        let mut bytes = magics[dice.below(4)].to_vec();
        bytes.extend((0..dice.below(400)).map(|_| dice.0.u64() as u8));
        return bytes;
    }
    let mut all = ecn_handshake();
    for n in 0..dice.below(30) as u32 {
        let at = 20 + u64::from(n);
        match dice.below(4) {
            0 => all.push(a(at, n)),
            1 => all.push(a(at, n).flags(common::ECE)),
            2 => all.push(d(at, dice.below(10) as u32).len(dice.below(1400) as u32)),
            _ => all.push(d(at, n).flags(A)),
        }
    }
    capture(&all)
}

fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if bytes.is_empty() {
        return;
    }
    let at = dice.below(bytes.len());
    match dice.below(6) {
        0 => bytes[at] = dice.0.u64() as u8,
        1 => bytes[at] ^= 1 << dice.below(8),
        2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][dice.below(5)],
        3 => bytes.truncate(at),
        4 => bytes.insert(at, dice.0.u64() as u8),
        _ => {
            let stretch = bytes[at..bytes.len().min(at + dice.below(200))].to_vec();
            let place = dice.below(bytes.len());
            bytes.splice(place..place, stretch);
        }
    }
}

fn headers(bytes: &[u8]) {
    for start in [0, 4, 28, 60] {
        let bytes = bytes.get(start..).unwrap_or_default();
        let _ = (Ipv4Header::parse(bytes), IpPacket::parse(bytes), TcpHeader::parse_cut(bytes));
        let _ = (TcpOptions::parse(bytes), Extension::parse(bytes.first().copied().unwrap_or(0), bytes));
    }
}

/// What must hold of anything that was read.
fn hold(analysis: &Analysis) {
    for end in analysis.tracker.connections().flat_map(|c| c.into_owned().ends) {
        assert!(end.counts.unique_bytes <= end.counts.bytes);
        assert!(end.counts.retransmits <= end.counts.data_packets);
        assert_eq!(end.ecn.counts.codepoints.iter().sum::<u64>(), end.counts.packets);
        let _ = (end.stream.rtt.quantile(0.5), end.in_order_bytes(), end.stream.flight());
    }
}

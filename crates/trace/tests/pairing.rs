//! Two captures of the same packets: pairs, and ambiguous packets.

use crate::common;

use std::io::Cursor;

use common::{P, a, d, ecn_handshake};
use ecnlab_trace::{Comparison, Input, compare};
use ecnlab_wire::{Ecn, Flags, TcpOptions, Timestamps};

fn between(before: &[P], after: &[P]) -> Comparison {
    let [before, after] = [before, after].map(|all| Input::new(Box::new(Cursor::new(common::capture(all)))).unwrap());
    compare(before, after).unwrap()
}

/// Codepoint before, after, and packets.
type Row = (Ecn, Ecn, u64);

/// Changes, ambiguous packets, and those at one place only.
fn compared(before: &[P], after: &[P]) -> (Vec<Row>, u64, (u64, u64)) {
    let found = between(before, after);
    let change = |(c, n): (&ecnlab_trace::Change, &u64)| (Ecn::from_bits(c.before), Ecn::from_bits(c.after), *n);
    let changes = found.changes.iter().map(change).collect();
    (changes, found.ambiguous.values().sum(), only(&found))
}

/// Packets found only at the first, and only at the second point.
fn only(found: &Comparison) -> (u64, u64) {
    found.paths.values().fold((0, 0), |sum, path| (sum.0 + path.only[0], sum.1 + path.only[1]))
}

/// The same packets so many milliseconds later.
fn later(all: &[P], ms: u64) -> Vec<P> {
    all.iter().map(|packet| P { at: packet.at + ms, ..packet.clone() }).collect()
}

/// A segment that is lost and sent again, Not-ECT as RFC 3168 has it, between others: at the first place, and at the
/// second, 5 ms away.
fn a_lost_original(numbered: impl Fn(u16) -> u16) -> (Vec<P>, Vec<P>) {
    let others = [d(20, 1), d(22, 2), d(24, 3)];
    let mut before = vec![d(18, 0)];
    before.extend(others);
    before.push(d(240, 0).ecn(Ecn::NotEct));
    for (n, packet) in before.iter_mut().enumerate() {
        packet.id = numbered(n as u16 + 1);
    }
    let after = later(&before[1..], 5);
    (before, after)
}

const NO_CHANGE: [Row; 2] = [(Ecn::NotEct, Ecn::NotEct, 1), (Ecn::Ect0, Ecn::Ect0, 3)];

#[test]
fn marks_bleached_between_two_places_are_counted() {
    let mut before = ecn_handshake();
    before.extend((0..4).map(|n| d(20, n)));
    before.extend((0..4).map(|n| a(60, n + 1)));
    let mut after = before.clone();
    after[3].ecn = Ecn::NotEct; // bleached
    after[4].ecn = Ecn::Ce; // marked
    after[7].flags = common::ECE; // an echo that the first place did not see
    after.remove(5); // lost
    let found = between(&before, &after);
    assert_eq!(only(&found), (1, 0));
    let count = |before: Ecn, after: Ecn| {
        let same = |c: &ecnlab_trace::Change| (c.before, c.after) == (before.bits(), after.bits());
        found.changes.iter().filter(|(c, _)| same(c)).map(|(_, n)| n).sum::<u64>()
    };
    assert_eq!((count(Ecn::Ect0, Ecn::NotEct), count(Ecn::Ect0, Ecn::Ce), count(Ecn::Ect0, Ecn::Ect0)), (1, 1, 1));
    let flags: u64 = found.changes.iter().filter(|(c, _)| c.flags == Flags::ECE.bits()).map(|(_, n)| n).sum();
    assert_eq!(flags, 1);
}

#[test]
fn identification_distinguishes_a_retransmission_from_its_original() {
    let (before, after) = a_lost_original(|n| n);
    assert_eq!(compared(&before, &after), (NO_CHANGE.to_vec(), 0, (1, 0)));
    // Whatever the clocks: the second place's is 10 s fast, or slow.
    assert_eq!(compared(&before, &later(&after, 10_000)), (NO_CHANGE.to_vec(), 0, (1, 0)));
    assert_eq!(compared(&later(&before, 10_000), &after), (NO_CHANGE.to_vec(), 0, (1, 0)));
}

#[test]
fn time_distinguishes_it_without_identification() {
    // None, the same for all, or rewritten on the way.
    for (number, rewritten) in [(0, 0), (7, 0), (0, 9)] {
        let (before, mut after) = a_lost_original(|_| number);
        after.iter_mut().zip(1..).for_each(|(packet, n)| packet.id += rewritten * n);
        for (first, second) in [(0, 0), (0, 10_000), (10_000, 0)] {
            let found = compared(&later(&before, first), &later(&after, second));
            assert_eq!(found, (NO_CHANGE.to_vec(), 0, (1, 0)), "{number} {rewritten} {first} {second}");
        }
    }
}

#[test]
fn a_lost_retransmission_is_distinguished_from_its_original() {
    let (before, _) = a_lost_original(|_| 0);
    let after = later(&before[..4], 5);
    assert_eq!(compared(&before, &after), (vec![(Ecn::Ect0, Ecn::Ect0, 4)], 0, (1, 0)));
}

#[test]
fn indistinguishable_packets_are_counted_as_ambiguous() {
    // Nothing else was sent: how long packets take is not known.
    let before = [d(20, 0), d(240, 0).ecn(Ecn::NotEct)];
    assert_eq!(compared(&before, &later(&before[1..], 5)), (vec![], 1, (1, 0)));
    // Sent again within what packets take more or less.
    let before = [d(20, 1), d(30, 2), d(40, 0), d(43, 0).ecn(Ecn::NotEct)];
    let after = [d(25, 1), d(49, 2), d(53, 0).ecn(Ecn::NotEct)];
    assert_eq!(compared(&before, &after), (vec![(Ecn::Ect0, Ecn::Ect0, 2)], 1, (1, 0)));
    // That does not matter where original and retransmission have the same bits.
    let before = [d(20, 0), d(240, 0)];
    assert_eq!(compared(&before, &[d(245, 0).ecn(Ecn::Ce)]), (vec![(Ecn::Ect0, Ecn::Ce, 1)], 0, (1, 0)));
}

#[test]
fn timestamps_and_order_distinguish_the_rest() {
    let stamped = |at: u32, ecn| {
        let mut options = TcpOptions::default();
        options.timestamps = Some(Timestamps { value: at, echo: 0 });
        d(at.into(), 0).ecn(ecn).options(options)
    };
    let before = [stamped(20, Ecn::Ect0), stamped(240, Ecn::NotEct)];
    assert_eq!(compared(&before, &later(&before[1..], 5)), (vec![(Ecn::NotEct, Ecn::NotEct, 1)], 0, (1, 0)));
    // Neither is lost: the first is the first.
    let before = [d(20, 0), d(240, 0).ecn(Ecn::NotEct)];
    let same = vec![(Ecn::NotEct, Ecn::NotEct, 1), (Ecn::Ect0, Ecn::Ect0, 1)];
    assert_eq!(compared(&before, &later(&before, 5)), (same, 0, (0, 0)));
}

/// Identification is a number of 16 bits and comes round again; duplicates of the network have the same.
#[test]
fn packets_that_the_network_doubles_are_seen_there_only() {
    let (before, mut after) = a_lost_original(|n| n);
    after.insert(1, after[0].clone());
    assert_eq!(compared(&before, &after), (NO_CHANGE.to_vec(), 0, (1, 1)));
}

//! An impaired link: packets delayed, lost, marked, duplicated and reordered, from a seeded random stream.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ecnlab_base::{Dur, Rng, Time};

use crate::packet;

/// Impairments, applied independently to each packet in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that an ECN-capable packet is marked CE.
    pub mark: f64,
    /// Probability that a packet is duplicated.
    pub duplicate: f64,
    /// Probability that a packet is held back so that others overtake it.
    pub reorder: f64,
    /// Time for which such a packet is held back.
    pub wait: Dur,
    /// Delay of every packet, to which `wait` is added.
    pub delay: Dur,
}

/// Number of packets per impairment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets that entered the link.
    pub packets: u64,
    /// Packets lost.
    pub lost: u64,
    /// Packets marked CE.
    pub marked: u64,
    /// Packets duplicated.
    pub duplicated: u64,
    /// Packets held back, including duplicates.
    pub reordered: u64,
}

/// One direction of an impaired link.
#[derive(Debug)]
pub struct Impaired {
    params: Impairments,
    rng: Rng,
    tally: Tally,
    held: BinaryHeap<Reverse<(Time, u64, Vec<u8>)>>,
}

impl Impaired {
    /// Creates an empty link.
    pub fn new(params: Impairments, rng: Rng) -> Impaired {
        Impaired { params, rng, tally: Tally::default(), held: BinaryHeap::new() }
    }

    /// Passes a packet to the link at `now`; packets without delay go to `out`.
    pub fn take(&mut self, bytes: &mut [u8], now: Time, mut out: impl FnMut(&[u8])) {
        let Impairments { loss, mark, duplicate, reorder, wait, delay } = self.params;
        self.tally.packets += 1;
        if self.happens(loss) {
            self.tally.lost += 1;
            return;
        }
        if self.happens(mark) && packet::mark(bytes) {
            self.tally.marked += 1;
        }
        let copies = if self.happens(duplicate) { 2 } else { 1 };
        self.tally.duplicated += copies - 1;
        for _ in 0..copies {
            let waits = self.happens(reorder);
            self.tally.reordered += u64::from(waits);
            let late = if waits { delay + wait } else { delay };
            if late.is_zero() {
                out(bytes);
            } else {
                let number = self.tally.packets;
                self.held.push(Reverse((now.saturating_add(late), number, bytes.to_vec())));
            }
        }
    }

    /// Returns the next packet that has left the link by `now`.
    pub fn due(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.next() > now {
            return None;
        }
        self.held.pop().map(|Reverse((_, _, bytes))| bytes)
    }

    /// Time at which the next packet leaves the link; [`Time::NEVER`] if it is empty.
    pub fn next(&self) -> Time {
        self.held.peek().map_or(Time::NEVER, |Reverse((at, _, _))| *at)
    }

    /// Counts so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.rng.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(params: Impairments, seed: u64, packets: u8) -> (Vec<u8>, Tally) {
        let mut wire = Impaired::new(params, Rng::named(seed, "wire"));
        let mut got = Vec::new();
        for i in 0..packets {
            let now = Time::ZERO + Dur::from_ms(1) * i.into();
            while let Some(late) = wire.due(now) {
                got.push(late[0]);
            }
            wire.take(&mut [i], now, |bytes| got.push(bytes[0]));
        }
        while let Some(late) = wire.due(Time::NEVER) {
            got.push(late[0]);
        }
        (got, wire.tally())
    }

    #[test]
    fn a_good_wire_changes_nothing() {
        let (got, tally) = through(Impairments::default(), 1, 100);
        assert_eq!((got, tally), ((0..100).collect(), Tally { packets: 100, ..Tally::default() }));
    }

    #[test]
    fn a_long_wire_keeps_the_order() {
        let params = Impairments { delay: Dur::from_us(3_500), ..Impairments::default() };
        assert_eq!(through(params, 1, 100).0, Vec::from_iter(0..100));
    }

    #[test]
    fn every_packet_is_accounted_for_and_the_seed_decides() {
        let params = Impairments {
            loss: 0.1,
            duplicate: 0.1,
            reorder: 0.2,
            wait: Dur::from_us(2_500),
            ..Impairments::default()
        };
        let (got, tally) = through(params, 1, 200);
        assert_eq!(got.len() as u64, tally.packets - tally.lost + tally.duplicated);
        assert!(tally.lost > 0 && tally.duplicated > 0 && tally.reordered > 0);
        assert!(!got.is_sorted(), "nothing was overtaken");
        assert_eq!(through(params, 1, 200), (got.clone(), tally));
        assert_ne!(through(params, 2, 200).0, got);
    }
}

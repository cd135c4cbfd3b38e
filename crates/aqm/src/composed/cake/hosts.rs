//! Hosts of a tin: the number of bulk flows of each, which limits it to its share (`struct cake_host`).

use super::ways::Place;
use super::{Isolation, QUEUES};
use crate::contract::shape::Header;
use crate::machine::layout::mixed;

/// Objects between which queues are fair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Apart {
    flows: bool,
    /// Sources, destinations.
    hosts: [bool; 2],
}

impl Apart {
    pub fn of(isolation: Isolation) -> Apart {
        let (flows, source, destination) = match isolation {
            Isolation::Flowblind => (false, false, false),
            Isolation::Srchost => (false, true, false),
            Isolation::Dsthost => (false, false, true),
            Isolation::Hosts => (false, true, true),
            Isolation::Flows => (true, false, false),
            Isolation::DualSrchost => (true, true, false),
            Isolation::DualDsthost => (true, false, true),
            Isolation::TripleIsolate => (true, true, true),
        };
        Apart { flows, hosts: [source, destination] }
    }

    /// Whether the flows of sources (0) or destinations (1) are counted.
    fn counts(self, side: usize) -> bool {
        self.flows && self.hosts[side]
    }

    /// Hash of `header` that selects the queue; `None` if all packets share one.
    pub fn queue_hash(self, header: &Header, salt: u64) -> Option<u32> {
        if self.flows {
            return Some(hash(header.flow, 0, salt));
        }
        let own = |side: usize, hash: u32| if self.hosts[side] { hash } else { 0 };
        let [source, destination] = host_hashes(header, salt);
        (self.hosts != [false; 2]).then_some(own(0, source) ^ own(1, destination))
    }
}

/// Hashes of the source and the destination of `header`.
pub(super) fn host_hashes(header: &Header, salt: u64) -> [u32; 2] {
    [hash(header.hosts.0.into(), 1, salt), hash(header.hosts.1.into(), 2, salt)]
}

/// Hash of a key of the kind `of`.
fn hash(key: u64, of: u64, salt: u64) -> u32 {
    (mixed(mixed(key ^ salt).wrapping_add(of)) >> 32) as u32
}

/// The hosts of one side.
#[derive(Clone, Debug)]
struct Side {
    keys: Vec<u32>,
    bulk: Vec<u32>,
}

/// The hosts of both sides.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    apart: Apart,
    sides: [Side; 2],
}

impl Hosts {
    pub fn new(apart: Apart) -> Hosts {
        let side = |side| {
            let places = if apart.counts(side) { QUEUES } else { 0 };
            Side { keys: vec![0; places], bulk: vec![0; places] }
        };
        Hosts { apart, sides: [side(0), side(1)] }
    }

    /// Assigns and returns the places of the hosts with these hashes. If all places of a set are in use, the host shares one.
    pub fn claim(&mut self, hashes: [u32; 2]) -> [usize; 2] {
        let mut places = [0; 2];
        for side in (0..2).filter(|side| self.apart.counts(*side)) {
            let Side { keys, bulk } = &mut self.sides[side];
            places[side] = Place::of(hashes[side], keys, |place| bulk[place] > 0).index();
            keys[places[side]] = hashes[side];
        }
        places
    }

    /// Counts a new bulk flow of these hosts.
    pub fn add(&mut self, places: [usize; 2]) {
        self.each(places, |bulk| *bulk = (*bulk + 1).min(QUEUES as u32));
    }

    /// Removes a bulk flow of these hosts.
    pub fn take(&mut self, places: [usize; 2]) {
        self.each(places, |bulk| *bulk = bulk.saturating_sub(1));
    }

    fn each(&mut self, places: [usize; 2], change: impl Fn(&mut u32)) {
        for side in (0..2).filter(|side| self.apart.counts(*side)) {
            change(&mut self.sides[side].bulk[places[side]]);
        }
    }

    /// Returns the number of bulk flows of the host with more of them, at least one.
    pub fn load(&self, places: [usize; 2]) -> u32 {
        let counted = (0..2).filter(|side| self.apart.counts(*side));
        counted.map(|side| self.sides[side].bulk[places[side]]).fold(1, u32::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_wire::Dscp;

    const ALL: [Isolation; 8] = [
        Isolation::Flowblind,
        Isolation::Srchost,
        Isolation::Dsthost,
        Isolation::Hosts,
        Isolation::Flows,
        Isolation::DualSrchost,
        Isolation::DualDsthost,
        Isolation::TripleIsolate,
    ];

    fn queue(isolation: Isolation, flow: u64, hosts: (u32, u32)) -> Option<u32> {
        let header = Header { flow, hosts, dscp: Dscp::from_bits(0) };
        Apart::of(isolation).queue_hash(&header, 99)
    }

    #[test]
    fn each_isolation_has_queues_for_the_flows_it_separates() {
        // Whether another flow, another source, another destination has another queue; a flow has its own hosts.
        let apart = ALL.map(|isolation| {
            let base = queue(isolation, 1, (5, 6));
            [queue(isolation, 2, (5, 6)), queue(isolation, 1, (7, 6)), queue(isolation, 1, (5, 8))]
                .map(|other| other != base)
        });
        let (no, yes) = (false, true);
        assert_eq!(
            apart,
            [
                [no, no, no],
                [no, yes, no],
                [no, no, yes],
                [no, yes, yes],
                [yes, no, no],
                [yes, no, no],
                [yes, no, no],
                [yes, no, no],
            ]
        );
        assert_eq!(queue(Isolation::Flowblind, 1, (5, 6)), None);
    }

    #[test]
    fn a_host_that_sends_to_itself_is_two() {
        assert_ne!(queue(Isolation::Hosts, 1, (5, 5)), Some(0));
        assert_ne!(queue(Isolation::Hosts, 1, (5, 6)), queue(Isolation::Hosts, 1, (6, 5)));
    }

    #[test]
    fn the_load_is_that_of_the_host_with_more_bulk_flows() {
        let load = |isolation| {
            let mut hosts = Hosts::new(Apart::of(isolation));
            // Source 10 with two flows to 20 and one to 30; source 11 with one to 20.
            let flows = [[10, 20], [10, 20], [10, 30], [11, 20]].map(|hashes| hosts.claim(hashes));
            flows.into_iter().for_each(|flow| hosts.add(flow));
            let before = flows.map(|flow| hosts.load(flow));
            hosts.take(flows[0]);
            (before, flows.map(|flow| hosts.load(flow)))
        };
        assert_eq!(load(Isolation::DualSrchost), ([3, 3, 3, 1], [2, 2, 2, 1]));
        assert_eq!(load(Isolation::DualDsthost), ([3, 3, 1, 3], [2, 2, 1, 2]));
        assert_eq!(load(Isolation::TripleIsolate), ([3; 4], [2; 4]));
        assert_eq!(load(Isolation::Flows), ([1; 4], [1; 4]));
        assert_eq!(load(Isolation::Hosts), ([1; 4], [1; 4]));
    }

    #[test]
    fn counts_stay_between_none_and_all_queues() {
        let mut hosts = Hosts::new(Apart::of(Isolation::DualSrchost));
        let place = hosts.claim([10, 20]);
        hosts.take(place);
        (0..1030).for_each(|_| hosts.add(place));
        assert_eq!(hosts.load(place), 1024);
    }

    #[test]
    fn a_host_keeps_its_place_while_it_has_bulk_flows() {
        let mut hosts = Hosts::new(Apart::of(Isolation::DualSrchost));
        // Nine hosts at home in place 0: eight take the places of the set, and the ninth takes that of the first.
        let places: Vec<usize> = (1..=9)
            .map(|host| {
                let place = hosts.claim([host * 1024, 0]);
                hosts.add(place);
                place[0]
            })
            .collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7, 0]);
        // Without bulk flows a place is free for another.
        hosts.take([3, 0]);
        assert_eq!(hosts.claim([10 * 1024, 0])[0], 3);
    }
}

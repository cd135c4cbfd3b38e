//! The flows of a tin and their rounds: DRR++ with quanta that hosts share, and a third list of flows that are empty and
//! whose COBALT still has state (`cake_hash`, `cake_dequeue`).

use ecnlab_base::Rng;

use super::QUEUES;
use super::hosts::{Apart, Hosts};
use super::ways::Place;

/// No flow.
const NONE: u16 = u16::MAX;

/// State of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// In no list.
    Out,
    /// New, and within its first quantum.
    Sparse,
    /// Sparse, but empty when its quantum was used up, and so in the rounds.
    Waiting,
    /// Past its first quantum.
    Bulk,
    /// Empty, while its COBALT still has state.
    Decaying,
}

/// A list of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    New,
    Old,
    Decaying,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    kind: Kind,
    deficit: i64,
    packets: u32,
    hosts: [usize; 2],
    /// The list that it is in, and its neighbours there: the first is behind the last.
    list: List,
    before: u16,
    behind: u16,
}

/// The flows of a tin.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    quantum: u64,
    flows: Vec<Flow>,
    /// Hash of the flow that uses each queue.
    keys: Vec<u32>,
    hosts: Hosts,
    /// The first flow of each list.
    lists: [u16; 3],
    /// Number of sparse flows in any list.
    sparse: u32,
    bulk: u32,
}

impl Rounds {
    pub fn new(quantum: u64, apart: Apart) -> Rounds {
        let flow = Flow {
            kind: Kind::Out,
            deficit: 0,
            packets: 0,
            hosts: [0; 2],
            list: List::New,
            before: NONE,
            behind: NONE,
        };
        Rounds {
            quantum,
            flows: vec![flow; QUEUES],
            keys: vec![0; QUEUES],
            hosts: Hosts::new(apart),
            lists: [NONE; 3],
            sparse: 0,
            bulk: 0,
        }
    }

    /// Whether a flow is listed that may hold packets.
    pub fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    pub fn bulk(&self) -> u32 {
        self.bulk
    }

    /// The queue of a packet whose flow has this hash; `None` if all packets share one queue.
    pub fn place(&self, hash: Option<u32>) -> Place {
        let is_used = |i: usize| self.flows[i].kind != Kind::Out;
        hash.map_or(Place::Own(0), |hash| Place::of(hash, &self.keys, is_used))
    }

    /// [`Rounds::place`] of an arriving packet: assigns the queue to its flow, and counts it for its hosts. Their hashes
    /// are only computed for a flow without a queue.
    pub fn claim(&mut self, hash: Option<u32>, hosts: impl FnOnce() -> [u32; 2]) -> usize {
        let place = self.place(hash);
        let i = place.index();
        let Some(key) = hash else { return i };
        let kind = self.flows[i].kind;
        self.keys[i] = key;
        if matches!(place, Place::Own(_)) && kind != Kind::Out {
            return i;
        }
        if kind == Kind::Bulk {
            self.hosts.take(self.flows[i].hosts);
        }
        self.flows[i].hosts = self.hosts.claim(hosts());
        if kind == Kind::Bulk {
            self.hosts.add(self.flows[i].hosts);
        }
        i
    }

    /// Handles an arrival at flow `i`.
    pub fn arrived(&mut self, i: usize, rng: &mut Rng) {
        self.flows[i].packets += 1;
        match self.flows[i].kind {
            Kind::Out | Kind::Decaying => {
                self.count_as(i, Kind::Sparse);
                self.put_last(i, List::New);
                self.flows[i].deficit = self.share(i, rng);
            }
            Kind::Waiting => self.count_as(i, Kind::Bulk),
            Kind::Sparse | Kind::Bulk => {}
        }
    }

    /// Returns the next flow: a decaying one, if allowed, else by DRR++. `None` if no flow is listed.
    #[inline]
    pub fn next(&mut self, may_decay: &mut bool, rng: &mut Rng) -> Option<usize> {
        loop {
            let i = self.head(std::mem::take(may_decay))?;
            if self.flows[i].deficit > 0 {
                return Some(i);
            }
            self.renew(i, rng);
        }
    }

    /// Gives flow `i`, which has used up its quantum, another one behind all old flows. Out of line, because most polls find
    /// a flow within its quantum.
    #[inline(never)]
    fn renew(&mut self, i: usize, rng: &mut Rng) {
        if self.flows[i].kind == Kind::Sparse {
            self.count_as(i, if self.flows[i].packets > 0 { Kind::Bulk } else { Kind::Waiting });
        }
        self.flows[i].deficit += self.share(i, rng);
        self.put_last(i, List::Old);
    }

    #[inline(always)]
    fn head(&self, may_decay: bool) -> Option<usize> {
        let first = |list: List| Some(self.lists[list as usize]).filter(|&first| first != NONE);
        let decaying = if may_decay { first(List::Decaying) } else { None };
        let head = decaying.or_else(|| first(List::New)).or_else(|| first(List::Old));
        head.or_else(|| first(List::Decaying)).map(usize::from)
    }

    /// Charges flow `i` for a packet of `bytes` on the wire that it has sent, or lost at the head of its queue.
    pub fn charge(&mut self, i: usize, bytes: u64) {
        self.flows[i].deficit -= bytes as i64;
    }

    /// Counts a packet of flow `i` less.
    pub fn took(&mut self, i: usize) {
        self.flows[i].packets -= 1;
    }

    /// Handles flow `i`, which was next and is empty. It leaves the lists when its COBALT is at rest.
    pub fn found_empty(&mut self, i: usize, at_rest: bool) {
        if at_rest {
            self.count_as(i, Kind::Out);
            self.unlink(i);
        } else {
            self.count_as(i, Kind::Decaying);
            self.put_last(i, List::Decaying);
        }
    }

    /// `cake_get_flow_quantum`: the bytes per round of flow `i`; the flows of a host share one quantum. Rounding is
    /// compensated at random.
    fn share(&self, i: usize, rng: &mut Rng) -> i64 {
        let part = 65_535 / u64::from(self.hosts.load(self.flows[i].hosts));
        let dither = rng.u64() >> 48;
        ((self.quantum * part + dither) >> 16) as i64
    }

    fn count_as(&mut self, i: usize, kind: Kind) {
        let is_sparse = |kind| matches!(kind, Kind::Sparse | Kind::Waiting);
        let was = std::mem::replace(&mut self.flows[i].kind, kind);
        self.sparse = self.sparse + u32::from(is_sparse(kind)) - u32::from(is_sparse(was));
        let hosts = self.flows[i].hosts;
        match (was == Kind::Bulk, kind == Kind::Bulk) {
            (false, true) => {
                self.bulk += 1;
                self.hosts.add(hosts);
            }
            (true, false) => {
                self.bulk -= 1;
                self.hosts.take(hosts);
            }
            _ => {}
        }
    }

    /// Moves flow `i` from its list, if it is in one, to the end of another. The first of a list moves to its end when the
    /// next becomes the first.
    #[inline]
    fn put_last(&mut self, i: usize, list: List) {
        let first = &mut self.lists[list as usize];
        if usize::from(*first) == i {
            *first = self.flows[i].behind;
        } else {
            self.relink(i, list);
        }
    }

    /// Moves flow `i` from its list, if it is in one, to the end of another.
    #[inline(never)]
    fn relink(&mut self, i: usize, list: List) {
        self.unlink(i);
        let own = i as u16;
        let first = self.lists[list as usize];
        let (before, behind) = if first == NONE {
            self.lists[list as usize] = own;
            (own, own)
        } else {
            let last = std::mem::replace(&mut self.flows[usize::from(first)].before, own);
            self.flows[usize::from(last)].behind = own;
            (last, first)
        };
        let flow = &mut self.flows[i];
        (flow.list, flow.before, flow.behind) = (list, before, behind);
    }

    fn unlink(&mut self, i: usize) {
        let Flow { list, before, behind, .. } = self.flows[i];
        if behind == NONE {
            return;
        }
        self.flows[usize::from(before)].behind = behind;
        self.flows[usize::from(behind)].before = before;
        let first = &mut self.lists[list as usize];
        if usize::from(*first) == i {
            *first = if usize::from(behind) == i { NONE } else { behind };
        }
        (self.flows[i].before, self.flows[i].behind) = (NONE, NONE);
    }
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;

//! Shortest paths, computed once before a run.
//!
//! Hosts are leaves of a network: a leaf has one path to the rest. Trees are therefore peeled off first, and only the
//! remaining core is searched, once for each core node that is a destination. The cost of a path is its number of
//! links; the hosts of an array share everything but their own link.

use std::collections::{HashMap, VecDeque};

use crate::plan::Plan;
use crate::routes::{ARRIVED, Known, Routes};

/// No link, no node.
const NONE: u32 = u32::MAX;

/// Maximum number of cached links of core searches; beyond it they are dropped and recomputed on demand.
const MOST_KEPT: usize = 1 << 26;

/// Paths between the nodes of a network, each computed on first use.
#[derive(Debug)]
pub struct Paths {
    /// Both ends of each link.
    ends: Vec<[u32; 2]>,
    /// Parent of each tree node, towards the core; none for other nodes.
    parents: Vec<u32>,
    /// Number of links from the core.
    depths: Vec<u32>,
    /// The links to and from the parent.
    up: Vec<u32>,
    down: Vec<u32>,
    /// Links between nodes of the core.
    core: Vec<u32>,
    /// The links of the core into each of its nodes.
    into: HashMap<u32, Vec<u32>>,
    /// For a destination in the core: the next link from each other core node.
    towards: HashMap<u32, HashMap<u32, u32>>,
    /// Routing state of each node on a path.
    known: Vec<Option<Known>>,
    /// First link of each requested path.
    first: HashMap<(u32, u32), u32>,
    /// Number of links examined so far: the cost of the set-up.
    looked_at: u64,
}

impl Paths {
    /// Creates an empty cache for the network of `plan`.
    pub fn of(plan: &Plan) -> Paths {
        Paths::between(plan.nodes.len(), plan.links.iter().map(|link| [link.from as u32, link.to as u32]).collect())
    }

    /// Creates an empty cache for `nodes` nodes and links from the first to the second of `ends`.
    fn between(nodes: usize, ends: Vec<[u32; 2]>) -> Paths {
        let (parents, depths) = peel(nodes, &ends);
        let mut paths = Paths {
            ends,
            parents,
            depths,
            up: vec![NONE; nodes],
            down: vec![NONE; nodes],
            core: Vec::new(),
            into: HashMap::new(),
            towards: HashMap::new(),
            known: vec![None; nodes],
            first: HashMap::new(),
            looked_at: 0,
        };
        for link in 0..paths.ends.len() as u32 {
            paths.place(link);
        }
        paths
    }

    /// Adds `link` to a tree or to the core. The first of several links between the same nodes is used.
    fn place(&mut self, link: u32) {
        let [from, to] = self.ends[link as usize];
        let [a, b] = [from as usize, to as usize];
        if self.parents[a] == to {
            self.up[a] = self.up[a].min(link);
        } else if self.parents[b] == from {
            self.down[b] = self.down[b].min(link);
        } else if from != to {
            self.core.push(link);
            self.into.entry(to).or_default().push(link);
        }
    }

    /// Returns the first link of the path from `from` to `to`: the fewest links, and among equally short paths the one
    /// whose links come first in the plan. `None` if there is no path.
    ///
    /// The rest of such a path from any of its nodes is also such a path, so paths are consistent.
    pub fn first(&mut self, from: usize, to: usize) -> Option<u32> {
        let pair = (from as u32, to as u32);
        if let Some(&first) = self.first.get(&pair) {
            return Some(first);
        }
        let path = self.find(pair.0, pair.1)?;
        let (&first, onward) = path.split_first()?;
        for &link in onward {
            self.learn(self.ends[link as usize][0], pair.1, link);
        }
        self.first.insert(pair, first);
        Some(first)
    }

    /// Adds the route from `node`, which may not be on any path yet, to `to`. Returns whether there is a path.
    pub fn know(&mut self, node: usize, to: usize) -> bool {
        if node == to || self.next(node as u32, to as u32) != ARRIVED {
            return true;
        }
        let Some(first) = self.first(node, to) else { return false };
        self.learn(node as u32, to as u32, first);
        true
    }

    /// Iterates over the links of the path from its `first` to `to`; the path must have been requested.
    pub fn path(&self, first: u32, to: usize) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(first), move |&link| {
            Some(self.next(self.ends[link as usize][1], to as u32)).filter(|&next| next != ARRIVED)
        })
    }

    /// Returns the routes of all requested paths.
    pub fn routes(self) -> Routes {
        Routes::new(self.known)
    }

    fn next(&self, node: u32, to: u32) -> u32 {
        self.known[node as usize].as_ref().map_or(ARRIVED, |known| known.next(to))
    }

    fn learn(&mut self, node: u32, to: u32, link: u32) {
        let nodes = self.known.len();
        self.known[node as usize].get_or_insert_with(|| Known::nothing(nodes)).learn(to, link, nodes);
    }

    /// Finds the path up the tree of `from`, through the core, and down the tree of `to`.
    fn find(&mut self, from: u32, to: u32) -> Option<Vec<u32>> {
        let (mut here, mut there) = (from, to);
        let (mut path, mut last) = (Vec::new(), Vec::new());
        while here != there {
            let depths = [here, there].map(|node| self.depths[node as usize]);
            if depths == [0, 0] {
                self.cross(here, there, &mut path)?;
                break;
            }
            let (end, links, out) = if depths[0] >= depths[1] {
                (&mut here, &self.up, &mut path)
            } else {
                (&mut there, &self.down, &mut last)
            };
            out.push(Some(links[*end as usize]).filter(|&link| link != NONE)?);
            *end = self.parents[*end as usize];
        }
        path.extend(last.into_iter().rev());
        self.looked_at += path.len() as u64;
        Some(path)
    }

    /// Appends the links through the core from `from` to `to`.
    fn cross(&mut self, from: u32, to: u32, path: &mut Vec<u32>) -> Option<()> {
        if !self.towards.contains_key(&to) {
            if self.towards.len().saturating_mul(self.into.len()) > MOST_KEPT {
                self.towards.clear();
            }
            let found = self.search(to);
            self.towards.insert(to, found);
        }
        let towards = self.towards.get(&to)?;
        let mut node = from;
        while node != to {
            let &link = towards.get(&node)?;
            path.push(link);
            node = self.ends[link as usize][1];
        }
        Some(())
    }

    /// Returns, for each core node that reaches `to`, the first link in the plan that brings it closer.
    fn search(&mut self, to: u32) -> HashMap<u32, u32> {
        let mut distance = HashMap::from([(to, 0_u32)]);
        let mut frontier = VecDeque::from([to]);
        while let Some(node) = frontier.pop_front() {
            let further = distance[&node] + 1;
            for &link in self.into.get(&node).into_iter().flatten() {
                let [from, _] = self.ends[link as usize];
                distance.entry(from).or_insert_with(|| {
                    frontier.push_back(from);
                    further
                });
            }
        }
        self.looked_at += 2 * self.core.len() as u64;
        let mut next = HashMap::new();
        for &link in &self.core {
            let [from, to] = self.ends[link as usize].map(|node| distance.get(&node));
            if let (Some(from), Some(to)) = (from, to)
                && *from == to + 1
            {
                next.entry(self.ends[link as usize][0]).or_insert(link);
            }
        }
        next
    }
}

/// Removes nodes with one neighbour repeatedly: returns each node's neighbour at its removal, and its distance from the
/// core.
fn peel(nodes: usize, ends: &[[u32; 2]]) -> (Vec<u32>, Vec<u32>) {
    let neighbours = neighbours(nodes, ends);
    let mut left: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    let (mut parents, mut depths) = (vec![NONE; nodes], vec![0; nodes]);
    let mut leaves: Vec<u32> = (0..nodes as u32).filter(|&node| left[node as usize] == 1).collect();
    let mut next = 0;
    while let Some(&leaf) = leaves.get(next) {
        next += 1;
        // The neighbour not yet removed; the last two nodes of a tree are each other's neighbours, and one stays.
        let parent = neighbours[leaf as usize].iter().find(|&&node| parents[node as usize] == NONE);
        let (Some(&parent), 1) = (parent, left[leaf as usize]) else { continue };
        parents[leaf as usize] = parent;
        left[parent as usize] -= 1;
        if left[parent as usize] == 1 {
            leaves.push(parent);
        }
    }
    for &leaf in leaves.iter().rev().filter(|&&leaf| parents[leaf as usize] != NONE) {
        depths[leaf as usize] = depths[parents[leaf as usize] as usize] + 1;
    }
    (parents, depths)
}

/// Returns the distinct neighbours of each node, over links in either direction.
fn neighbours(nodes: usize, ends: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for &[from, to] in ends.iter().filter(|[from, to]| from != to) {
        all[from as usize].push(to);
        all[to as usize].push(from);
    }
    for some in &mut all {
        some.sort_unstable();
        some.dedup();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Rng;

    type Link = [u32; 2];

    fn duplex(from: usize, to: usize) -> [Link; 2] {
        let [from, to] = [from as u32, to as u32];
        [[from, to], [to, from]]
    }

    /// `pairs` hosts on each side of a chain of `routers`, as (nodes, links, pairs of hosts).
    fn dumbbell(pairs: usize, routers: usize) -> (usize, Vec<Link>, Vec<(usize, usize)>) {
        let hosts = |i: usize| (routers + i, routers + pairs + i);
        let mut links: Vec<Link> = (1..routers).flat_map(|r| duplex(r - 1, r)).collect();
        links.extend((0..pairs).flat_map(|i| duplex(hosts(i).0, 0)));
        links.extend((0..pairs).flat_map(|i| duplex(routers - 1, hosts(i).1)));
        (routers + 2 * pairs, links, (0..pairs).map(hosts).collect())
    }

    /// The specified path: breadth-first search over links in the order of the plan.
    fn promised(from: usize, to: usize, nodes: usize, links: &[Link]) -> Option<Vec<u32>> {
        let mut reached_by: Vec<Option<Vec<u32>>> = vec![None; nodes];
        reached_by[from] = Some(Vec::new());
        let mut frontier = VecDeque::from([from]);
        while let Some(node) = frontier.pop_front() {
            for (i, link) in links.iter().enumerate().filter(|(_, link)| link[0] as usize == node) {
                let next = link[1] as usize;
                if reached_by[next].is_none() {
                    let path = reached_by[node].iter().flatten().copied().chain([i as u32]).collect();
                    reached_by[next] = Some(path);
                    frontier.push_back(next);
                }
            }
        }
        reached_by[to].take().filter(|path| !path.is_empty())
    }

    /// A small network: trees, rings, one-way and parallel links, disconnected parts.
    fn random(rng: &mut Rng) -> (usize, Vec<Link>) {
        let nodes = 2 + rng.u64() as usize % 9;
        let count = rng.u64() as usize % (2 * nodes + 1);
        let mut links = Vec::new();
        for _ in 0..count {
            let (from, to) = (rng.u64() as usize % nodes, rng.u64() as usize % nodes);
            if from != to {
                links.push([from as u32, to as u32]);
                if !rng.u64().is_multiple_of(4) {
                    links.push([to as u32, from as u32]);
                }
            }
        }
        (nodes, links)
    }

    #[test]
    fn paths_are_those_of_a_search_through_everything() {
        let mut rng = Rng::named(1, "networks");
        for _ in 0..2_000 {
            let (nodes, links) = random(&mut rng);
            let mut paths = Paths::between(nodes, links.clone());
            for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                let wanted = promised(from, to, nodes, &links);
                let first = paths.first(from, to);
                assert_eq!(first, wanted.as_ref().map(|path| path[0]), "{from} to {to} of {links:?}");
                if let (Some(first), Some(wanted)) = (first, wanted) {
                    assert_eq!(paths.path(first, to).collect::<Vec<_>>(), wanted, "{from} to {to} of {links:?}");
                }
            }
        }
    }

    #[test]
    fn packets_find_the_way_that_was_found_for_them() {
        // More nodes than get full rows: routers have rows, the hosts in the middle have lists.
        let (nodes, mut links, pairs) = dumbbell(3_000, 2);
        let far: Vec<usize> = pairs.iter().map(|&(_, to)| to).collect();
        links.extend(far.iter().zip(nodes..).flat_map(|(&host, beyond)| duplex(host, beyond)));
        let mut paths = Paths::between(nodes + far.len(), links.clone());
        let wanted: Vec<(usize, usize, u32)> = (0..far.len())
            .flat_map(|i| [(pairs[i].0, nodes + i), (nodes + i, pairs[i].0)])
            .map(|(from, to)| (from, to, paths.first(from, to).unwrap()))
            .collect();
        let routes = paths.routes();
        for (_, to, first) in wanted {
            let (mut link, mut hops) = (first, 1);
            loop {
                let at = links[link as usize][1] as usize;
                let next = routes.next(routes.row(at), to as u32);
                if next == ARRIVED {
                    assert_eq!((at, hops), (to, 4));
                    break;
                }
                (link, hops) = (next, hops + 1);
            }
        }
    }

    #[test]
    fn twice_the_hosts_are_twice_the_work() {
        let work = |pairs: usize| {
            let (nodes, links, ends) = dumbbell(pairs, 3);
            let mut paths = Paths::between(nodes, links.clone());
            for (from, to) in ends {
                assert!(paths.first(from, to).is_some() && paths.first(to, from).is_some());
            }
            let looked_at = paths.looked_at;
            let routes = paths.routes();
            (looked_at, routes.places())
        };
        let (one, two) = (work(4_000), work(8_000));
        assert!(two.0 <= 2 * one.0 && two.1 <= 2 * one.1 + 16, "{one:?} and {two:?}");
    }

    #[test]
    fn what_is_stored_grows_with_the_paths() {
        // One router per host: full rows would grow with the square of the nodes.
        let stored = |hosts: usize| {
            let links: Vec<Link> =
                (0..hosts).flat_map(|i| [duplex(0, 1 + i), duplex(1 + i, 1 + hosts + i)]).flatten().collect();
            let mut paths = Paths::between(1 + 2 * hosts, links.clone());
            for i in 0..hosts {
                assert!(paths.first(1 + hosts + i, 1 + hosts + (i + 1) % hosts).is_some());
            }
            let routes = paths.routes();
            routes.places()
        };
        assert!(stored(8_000) < 8_000 * 8);
    }
}

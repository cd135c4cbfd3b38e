//! Static shortest-path routes.

use std::collections::{HashMap, VecDeque};

use crate::plan::LinkPlan;

/// The hop behind a path's last link: the packet has arrived.
pub const ARRIVED: u32 = u32::MAX;

/// Every path in use, laid end to end in one array; a packet carries its place in it, so that the
/// next hop is one load.
#[derive(Debug, Default)]
pub struct Routes {
    hops: Vec<u32>,
    paths: HashMap<(usize, usize), u32>,
}

impl Routes {
    /// The link at place `at`, or [`ARRIVED`].
    pub fn hop(&self, at: u32) -> u32 {
        self.hops[at as usize]
    }

    /// The place of the first hop of the path from `from` to `to`: the fewest links, and of equally
    /// short paths the one whose links were named first. `None` where there is no way.
    pub fn path(&mut self, from: usize, to: usize, links: &[LinkPlan]) -> Option<u32> {
        if let Some(&place) = self.paths.get(&(from, to)) {
            return Some(place);
        }
        let path = shortest(from, to, links)?;
        let place = self.hops.len() as u32;
        self.hops.extend(path);
        self.hops.push(ARRIVED);
        self.paths.insert((from, to), place);
        Some(place)
    }
}

/// Breadth-first search over links in the order of the plan.
fn shortest(from: usize, to: usize, links: &[LinkPlan]) -> Option<Vec<u32>> {
    let nodes = links.iter().map(|l| l.from.max(l.to) + 1).max().unwrap_or(0).max(from + 1).max(to + 1);
    let mut out_of: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (i, link) in links.iter().enumerate() {
        out_of[link.from].push(i as u32);
    }
    let mut reached_by: Vec<Option<u32>> = vec![None; nodes];
    let mut frontier = VecDeque::from([from]);
    while let Some(node) = frontier.pop_front() {
        if node == to {
            return Some(walk_back(from, to, links, &reached_by));
        }
        for &link in &out_of[node] {
            let next = links[link as usize].to;
            if next != from && reached_by[next].is_none() {
                reached_by[next] = Some(link);
                frontier.push_back(next);
            }
        }
    }
    None
}

fn walk_back(from: usize, to: usize, links: &[LinkPlan], reached_by: &[Option<u32>]) -> Vec<u32> {
    let mut path = Vec::new();
    let mut node = to;
    while node != from {
        let Some(link) = reached_by[node] else { break };
        path.push(link);
        node = links[link as usize].from;
    }
    path.reverse();
    path
}

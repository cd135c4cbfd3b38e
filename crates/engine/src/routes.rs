//! Static shortest-path routes.

use std::collections::{HashMap, VecDeque};

use crate::plan::LinkPlan;

/// The hop behind a path's last link: the packet has arrived.
pub const ARRIVED: u32 = u32::MAX;

/// Where a packet goes next, by the node it has reached and the node it is for: one load.
///
/// A node that paths cross has a row, with a place for each destination. All others, where paths only
/// end, share the first row.
#[derive(Debug)]
pub struct Routes {
    next: Vec<u32>,
    /// Where the row of each node begins.
    rows: Vec<u32>,
    /// The first link of each path added.
    first: HashMap<(usize, usize), u32>,
}

impl Routes {
    /// No paths yet between `nodes` nodes.
    pub fn new(nodes: usize) -> Routes {
        Routes { next: vec![ARRIVED; nodes], rows: vec![0; nodes], first: HashMap::new() }
    }

    /// The link that a packet for node `to` takes at the node with this row, or [`ARRIVED`].
    #[inline]
    pub fn next(&self, row: u32, to: u32) -> u32 {
        self.next[(row + to) as usize]
    }

    /// Where the row of `node` begins; valid once all paths have been added.
    pub fn row(&self, node: usize) -> u32 {
        self.rows[node]
    }

    /// Adds the path from `from` to `to` and returns its first link: the fewest links, and of equally
    /// short paths the one whose links were named first. `None` where there is no way.
    ///
    /// What is left of such a path at any node is such a path itself, so paths never disagree.
    pub fn add(&mut self, from: usize, to: usize, links: &[LinkPlan]) -> Option<u32> {
        if let Some(&first) = self.first.get(&(from, to)) {
            return Some(first);
        }
        let path = shortest(from, to, links)?;
        let (&first, onward) = path.split_first()?;
        for &link in onward {
            let row = self.own_row(links[link as usize].from);
            self.next[row as usize + to] = link;
        }
        self.first.insert((from, to), first);
        Some(first)
    }

    /// Sees to it that [`Routes::next`] knows the way from `node`, to which no path may lead so far, to `to`. Whether
    /// there is one.
    pub fn know(&mut self, node: usize, to: usize, links: &[LinkPlan]) -> bool {
        if node == to || self.next(self.rows[node], to as u32) != ARRIVED {
            return true;
        }
        let Some(first) = self.add(node, to, links) else { return false };
        let row = self.own_row(node);
        self.next[row as usize + to] = first;
        true
    }

    /// The links of the path from its `first` to `to`, which has been added.
    pub fn path(&self, first: u32, to: usize, links: &[LinkPlan]) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(first), move |&link| {
            Some(self.next(self.rows[links[link as usize].to], to as u32)).filter(|&next| next != ARRIVED)
        })
    }

    fn own_row(&mut self, node: usize) -> u32 {
        if self.rows[node] == 0 {
            self.rows[node] = self.next.len() as u32;
            self.next.resize(self.next.len() + self.rows.len(), ARRIVED);
        }
        self.rows[node]
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

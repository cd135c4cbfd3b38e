//! Instances of nodes, links and flows: arrays expanded, ends paired, names resolved to indices.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::diagnostic::suggest;
use crate::findings::Findings;
use crate::names::Reference;
use crate::path::Path;
use crate::tables::Tables;

/// All nodes, links and flows. Sections are expanded in alphabetical order and arrays by index, so that the order of a
/// file's lines has no effect.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub nodes: Vec<String>,
    pub links: Vec<Instance>,
    pub flows: Vec<Instance>,
    pub groups: Vec<String>,
}

/// A link or flow.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// `access[3]`, or `pipe` outside an array.
    pub name: String,
    /// Name of its table.
    pub table: String,
    /// Index of a node; for a pool, of its first node.
    pub from: usize,
    /// Index of a node; for a pool, of its first node.
    pub to: usize,
    /// Number of nodes at `from` and at `to`, with consecutive indices: one each, except for a pool.
    pub ends: [usize; 2],
}

impl Instance {
    /// The nodes at `from`.
    pub fn senders(&self) -> Range<usize> {
        self.from..self.from + self.ends[0]
    }

    /// The nodes at `to`.
    pub fn receivers(&self) -> Range<usize> {
        self.to..self.to + self.ends[1]
    }

    /// Iterates over all pairs of nodes at `from` and `to`.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.senders().flat_map(|from| self.receivers().map(move |to| (from, to)))
    }
}

/// Maximum number of instances of a kind, limited by the addresses in captures (10.0.0.0/8); memory may limit it
/// further.
pub(crate) const MAX_INSTANCES: u32 = 16_000_000;

impl Reference<'_> {
    /// Selects the nodes referred to from those of that name.
    fn choose(self, all: Group) -> Option<Group> {
        match self.index {
            None => Some(all),
            Some(i) if all.array && i < all.len => Some(Group { first: all.first + i, len: 1, array: false }),
            Some(_) => None,
        }
    }
}

/// Nodes with one name: `len` nodes from index `first`.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: usize,
    len: usize,
    array: bool,
}

impl Layout {
    /// Expands `tables` and reports impossible values.
    pub fn of(tables: &Tables, found: &mut Findings<'_>) -> Layout {
        let mut layout = Layout::default();
        let nodes = layout.lay_nodes(tables, found);
        for (name, link) in &tables.links {
            let (from, to) = (&link.forward.from, &link.forward.to);
            let wanted = Wanted { section: "link", name, count: link.forward.count, least: 1, pool: false, from, to };
            let all = wanted.instances(&nodes, layout.links.len(), found);
            layout.links.extend(all);
        }
        for (name, flow) in &tables.flows {
            // Zero flows are a valid load: an experiment may sweep the number from 0 up.
            let (from, to, pool) = (&flow.from, &flow.to, flow.traffic.is_pool());
            let wanted = Wanted { section: "flow", name, count: flow.count, least: 0, pool, from, to };
            let all = wanted.instances(&nodes, layout.flows.len(), found);
            layout.flows.extend(all);
        }
        let groups: BTreeSet<&String> = tables.flows.iter().map(|(name, f)| f.group.as_ref().unwrap_or(name)).collect();
        layout.groups = groups.into_iter().cloned().collect();
        layout
    }

    /// Returns every direction of every link, in the order of a run.
    pub fn ways(&self, tables: &Tables) -> Vec<Way<'_>> {
        let mut ways = Vec::new();
        for link in &self.links {
            ways.push(Way { from: link.from, to: link.to, name: link.name.clone(), link, reverse: false });
            if tables.links.get(&link.table).is_some_and(|l| l.reverse.is_some()) {
                ways.push(Way {
                    from: link.to,
                    to: link.from,
                    name: format!("{}~reverse", link.name),
                    link,
                    reverse: true,
                });
            }
        }
        ways
    }

    /// Returns the indices of the flows named by `text`, `bulk` or `bulk[2]`.
    pub fn flows_called(&self, text: &str) -> Vec<usize> {
        let whole = Reference::parse(text).index.is_none();
        let wanted = |f: &Instance| if whole { f.table == text } else { f.name == text };
        (0..self.flows.len()).filter(|i| wanted(&self.flows[*i])).collect()
    }

    /// Returns the flows of some tables.
    pub fn named(&self, tables: &[String]) -> Vec<u32> {
        let there = |i: &u32| tables.contains(&self.flows[*i as usize].table);
        (0..self.flows.len() as u32).filter(there).collect()
    }

    /// Adds the nodes with tables, and those that only links name.
    fn lay_nodes(&mut self, tables: &Tables, found: &mut Findings<'_>) -> BTreeMap<String, Group> {
        let mut counts: BTreeMap<&str, Option<u32>> = BTreeMap::new();
        for link in tables.links.values() {
            for text in [&link.forward.from, &link.forward.to] {
                let end = Reference::parse(text);
                if end.index.is_none() {
                    counts.insert(end.name, None);
                }
            }
        }
        counts.extend(tables.nodes.iter().map(|(name, node)| (name.as_str(), node.count)));
        let mut groups = BTreeMap::new();
        for (name, count) in counts {
            let len = checked(count, 1, &Path::of(&["node", name]), self.nodes.len(), found).unwrap_or(1);
            groups.insert(name.to_owned(), Group { first: self.nodes.len(), len, array: count.is_some() });
            self.nodes.extend((0..len).map(|i| instance_name(name, i, count.is_some())));
        }
        groups
    }
}

fn instance_name(name: &str, index: usize, array: bool) -> String {
    if array { format!("{name}[{index}]") } else { name.to_owned() }
}

/// Returns a valid `count`: at least `least`, and few enough for the memory.
fn checked(count: Option<u32>, least: u32, path: &Path, before: usize, found: &mut Findings<'_>) -> Option<usize> {
    let Some(count) = count else { return Some(1) };
    let path = path.key("count");
    if count < least {
        found.value(&path, format!("`{path}` is {count}"), format!("write at least {least}, or leave the table out"));
        return None;
    }
    if before + count as usize > MAX_INSTANCES as usize {
        found.value(
            &path,
            format!("`{path}` is {count}"),
            format!("at most {MAX_INSTANCES} of a kind fit in a scenario"),
        );
        return None;
    }
    Some(count as usize)
}

/// Properties of a link's or flow's table for its instances.
struct Wanted<'a> {
    section: &'a str,
    name: &'a str,
    count: Option<u32>,
    /// Minimum meaningful `count`.
    least: u32,
    /// Each instance has all nodes of an array instead of one.
    pool: bool,
    from: &'a str,
    to: &'a str,
}

impl Wanted<'_> {
    /// Returns the instances; `before` of the kind already exist.
    fn instances(&self, nodes: &BTreeMap<String, Group>, before: usize, found: &mut Findings<'_>) -> Vec<Instance> {
        let path = Path::of(&[self.section, self.name]);
        let from = find(&path.key("from"), self.from, nodes, found);
        let to = find(&path.key("to"), self.to, nodes, found);
        let count = checked(self.count, self.least, &path, before, found);
        let (Some(from), Some(to), Some(count)) = (from, to, count) else { return Vec::new() };
        let all = if self.pool { self.pools(from, to, count) } else { self.pairs(from, to, count) };
        let meets = |i: &&Instance| i.senders().any(|node| i.receivers().contains(&node));
        if let Some(turn) = all.iter().find(meets) {
            let message = format!("`{path}`: `{}` has the same node at both ends", turn.name);
            found.key(&path, message, "name two different nodes");
        }
        all
    }

    /// Returns instances between the i-th nodes of both ends.
    fn pairs(&self, from: Group, to: Group, count: usize) -> Vec<Instance> {
        let array = self.count.is_some() || from.array || to.array;
        let len = if self.count.is_some() { count } else { from.len.max(to.len) };
        let instance = |i| Instance {
            name: instance_name(self.name, i, array),
            table: self.name.to_owned(),
            from: from.first + i % from.len,
            to: to.first + i % to.len,
            ends: [1, 1],
        };
        (0..len).map(instance).collect()
    }

    /// Returns instances between all nodes of both ends.
    fn pools(&self, from: Group, to: Group, count: usize) -> Vec<Instance> {
        let instance = |i| Instance {
            name: instance_name(self.name, i, self.count.is_some()),
            table: self.name.to_owned(),
            from: from.first,
            to: to.first,
            ends: [from.len, to.len],
        };
        (0..count).map(instance).collect()
    }
}

/// Returns the nodes that an end names.
fn find(path: &Path, text: &str, nodes: &BTreeMap<String, Group>, found: &mut Findings<'_>) -> Option<Group> {
    let reference = Reference::parse(text);
    let Some(&group) = nodes.get(reference.name) else {
        let names: Vec<&String> = nodes.keys().collect();
        found.value(path, format!("`{path}`: there is no node `{text}`"), suggest(reference.name, &names, "nodes"));
        return None;
    };
    let ends = reference.choose(group);
    if ends.is_none() {
        let there = if group.array {
            format!("{}[0] to {0}[{}]", reference.name, group.len - 1)
        } else {
            reference.name.to_owned()
        };
        found.value(path, format!("`{path}`: there is no node `{text}`"), format!("there is {there}"));
    }
    ends
}

/// Returns for each node the number of its strongly connected component (Kosaraju's algorithm): two nodes share it if
/// and only if each can reach the other.
pub(crate) fn islands(nodes: usize, links: impl IntoIterator<Item = (usize, usize)>) -> Vec<usize> {
    let (mut forward, mut backward) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for (from, to) in links {
        forward[from].push(to);
        backward[to].push(from);
    }
    let mut seen = vec![false; nodes];
    let mut finished = Vec::with_capacity(nodes);
    for root in 0..nodes {
        finish(root, &forward, &mut seen, &mut finished);
    }
    let mut island = vec![usize::MAX; nodes];
    for &root in finished.iter().rev() {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if island[node] == usize::MAX {
                island[node] = root;
                open.extend(&backward[node]);
            }
        }
    }
    island
}

/// Depth-first search from `root`; lists nodes after all their successors.
fn finish(root: usize, out_of: &[Vec<usize>], seen: &mut [bool], finished: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[root], true) {
        return;
    }
    let mut open = vec![(root, 0)];
    while let Some((node, next)) = open.pop() {
        let Some(&to) = out_of[node].get(next) else {
            finished.push(node);
            continue;
        };
        open.push((node, next + 1));
        if !std::mem::replace(&mut seen[to], true) {
            open.push((to, 0));
        }
    }
}

/// Returns two links between the same nodes, (first, second), if there are any: routes would use only one of them.
pub(crate) fn parallel<'a>(ways: &'a [Way<'_>]) -> Option<(&'a Way<'a>, &'a Way<'a>)> {
    let mut seen = HashMap::new();
    ways.iter().find_map(|way| seen.insert((way.from, way.to), way).map(|first| (first, way)))
}

/// A direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Way<'a> {
    pub from: usize,
    pub to: usize,
    /// `pipe`, or `pipe~reverse`.
    pub name: String,
    pub link: &'a Instance,
    /// This is the direction from the link's `to` to its `from`.
    pub reverse: bool,
}

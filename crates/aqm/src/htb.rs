//! Hierarchical token bucket: classes with a rate that they have and a ceiling up to which they borrow (Linux's
//! net/sched/sch_htb.c).

use std::collections::BTreeMap;

use ecnlab_base::{Bytes, Dur, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::layout::{Compose, Layout};
use crate::shape::{Heads, Shape};
use crate::sharing::{self, DEPTH, Hierarchy, PRIORITIES};
use crate::{Config, Impossible};

/// What a class may owe: all past this is forgiven (`mbuffer` of Linux's sch_htb).
const MOST_OWED: Dur = Dur::from_s(60);

/// The keys in `[queue.NAME]` of a hierarchical token bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// By class: its part of the link. Those without a queue of their own lend to others.
    pub sharing: BTreeMap<String, Share>,
}

/// A class's part of the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HtbShare")]
pub struct Share {
    /// The class from which it borrows. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Rate that it has of its own.
    pub rate: Rate,
    /// Rate up to which it borrows. Default: `rate`, so that it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<Rate>,
    /// Bytes that it may send of its own after a pause. Default 1600 B (iproute2).
    #[serde(default = "default_burst")]
    pub burst: Bytes,
    /// Bytes that it may send at the link's rate, borrowed or not, after a pause. Default 1600 B (iproute2).
    #[serde(default = "default_burst")]
    pub cburst: Bytes,
    /// 0 to 7: classes with the lowest number are served first. Default 0.
    #[serde(default)]
    pub priority: u8,
    /// Bytes that it sends in turn with others of its priority. Default: a tenth of a second at `rate`, from 1 kB to 200 kB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Bytes>,
}

fn default_burst() -> Bytes {
    Bytes(1600)
}

impl sharing::Share for Share {
    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }
    fn priority(&self) -> u8 {
        self.priority
    }
    fn rates(&self) -> Vec<(&'static str, Rate)> {
        vec![("rate", self.rate), ("ceil", self.ceil())]
    }
}

impl Share {
    fn ceil(&self) -> Rate {
        self.ceil.unwrap_or(self.rate)
    }

    /// Linux's `r2q` of 10, and its bounds.
    fn quantum(&self) -> i64 {
        self.quantum.map_or((self.rate.bps() / 80).clamp(1_000, 200_000), |quantum| quantum.0) as i64
    }

    fn check(&self, name: &str) -> Result<(), Impossible> {
        let at = |key: &str| format!("sharing.{name}.{key}");
        Impossible::unless(self.ceil() >= self.rate, &at("ceil"), || {
            format!("it is below `rate`, {}: write at least as much, or leave it out", self.rate)
        })?;
        for (key, bytes) in [("burst", self.burst), ("cburst", self.cburst)] {
            Impossible::unless(bytes.0 > 0, &at(key), || {
                "0 B would let nothing go: write at least a packet, such as 1600 B".to_owned()
            })?;
        }
        self.quantum.map_or(Ok(()), |quantum| Impossible::unless_quantum(quantum, 256, &at("quantum")))
    }
}

impl Params {
    /// Refuses impossible values, naming the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        sharing::check(&self.sharing, config)?;
        self.sharing.iter().try_for_each(|(name, share)| share.check(name))
    }
}

/// The hierarchical token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Htb;

impl Compose for Htb {
    type Params = Params;

    const INNER: bool = true;

    fn layout(params: &Params, config: &Config, groups: &[String]) -> Layout {
        sharing::layout(Tree::new(&Hierarchy::of(&params.sharing, config)), config, groups)
    }

    fn check_before(params: &Params, link: Rate) -> Result<(), Impossible> {
        sharing::check_before(&params.sharing, link)
    }
}

/// What a class may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It is at its ceiling.
    CantSend,
    /// It has used its rate, and may borrow.
    MayBorrow,
    /// It has tokens of its own.
    CanSend,
}

/// The hierarchy at work: leaves are at level 0, the others at 7 (of no parent) and below.
#[derive(Clone, Debug)]
struct Tree {
    classes: Vec<Class>,
    /// By level and priority: the class from which on the next is looked for.
    turns: [[usize; PRIORITIES]; DEPTH],
    /// The leaf that was named last, and the level of the class that lends to it.
    named: (usize, usize),
}

#[derive(Clone, Debug)]
struct Class {
    parent: Option<usize>,
    level: usize,
    priority: usize,
    quantum: i64,
    own: Bucket,
    ceiling: Bucket,
    /// By the level of the lender: what is left of the quantum.
    deficits: [i64; DEPTH],
    /// By priority, of a class that lends: as [`Tree::turns`].
    turns: [usize; PRIORITIES],
}

impl Class {
    fn mode(&self, now: Time) -> Mode {
        match (self.ceiling.ready(0) <= now, self.own.ready(0) <= now) {
            (false, _) => Mode::CantSend,
            (true, false) => Mode::MayBorrow,
            (true, true) => Mode::CanSend,
        }
    }
}

impl Tree {
    fn new(hierarchy: &Hierarchy<'_, Share>) -> Tree {
        let lends = |i: usize| hierarchy.parents.contains(&Some(i));
        let class = |(i, share): (usize, &&Share)| Class {
            parent: hierarchy.parents[i],
            level: if lends(i) { DEPTH - hierarchy.depth(i) } else { 0 },
            priority: share.priority.into(),
            quantum: share.quantum(),
            own: Bucket::new(share.rate, share.burst),
            ceiling: Bucket::new(share.ceil(), share.cburst),
            deficits: [0; DEPTH],
            turns: [0; PRIORITIES],
        };
        let classes = hierarchy.shares.iter().enumerate().map(class).collect();
        Tree { classes, turns: [[0; PRIORITIES]; DEPTH], named: (0, 0) }
    }

    /// Whether class `i` holds packets of this priority, or feeds on a class below that does.
    fn is_active(&self, i: usize, priority: usize, heads: Heads<'_>, now: Time) -> bool {
        let class = &self.classes[i];
        if class.level == 0 {
            return class.priority == priority && heads(i).is_some();
        }
        (0..self.classes.len()).any(|child| self.feeds(child, i, priority, heads, now))
    }

    /// Whether `child` borrows from class `i` to send packets of this priority.
    fn feeds(&self, child: usize, i: usize, priority: usize, heads: Heads<'_>, now: Time) -> bool {
        self.classes[child].parent == Some(i)
            && self.classes[child].mode(now) == Mode::MayBorrow
            && self.is_active(child, priority, heads, now)
    }

    /// The leaf whose turn it is to send what classes of this level lend, or send themselves.
    fn leaf(&mut self, level: usize, priority: usize, heads: Heads<'_>, now: Time) -> Option<usize> {
        loop {
            let stands = |i: &usize| {
                self.classes[*i].level == level
                    && self.classes[*i].mode(now) == Mode::CanSend
                    && self.is_active(*i, priority, heads, now)
            };
            let first = self.turns[level][priority];
            let lender = (first..self.classes.len()).find(stands).or_else(|| (0..first).find(stands))?;
            self.turns[level][priority] = lender;
            if let Some(leaf) = self.descend(lender, priority, heads, now) {
                return Some(leaf);
            }
            // All below it have had their turn: so has it.
            self.turns[level][priority] = lender + 1;
        }
    }

    /// The leaf below class `i` whose turn it is; `None` if all there have had theirs, so that the first is next again.
    fn descend(&mut self, i: usize, priority: usize, heads: Heads<'_>, now: Time) -> Option<usize> {
        if self.classes[i].level == 0 {
            return Some(i);
        }
        loop {
            let first = self.classes[i].turns[priority];
            let child = (first..self.classes.len()).find(|&child| self.feeds(child, i, priority, heads, now));
            self.classes[i].turns[priority] = child.unwrap_or(0);
            let child = child?;
            if let Some(leaf) = self.descend(child, priority, heads, now) {
                return Some(leaf);
            }
            self.classes[i].turns[priority] = child + 1;
        }
    }

    /// The next of those beside `leaf` has its turn.
    fn advance(&mut self, leaf: usize, level: usize) {
        let Class { parent, priority, .. } = self.classes[leaf];
        match parent {
            Some(parent) if level > 0 => self.classes[parent].turns[priority] = leaf + 1,
            _ => self.turns[level][priority] = leaf + 1,
        }
    }

    /// When `leaf` may send, of its own or borrowed.
    fn opens(&self, leaf: usize) -> Time {
        let (mut under_ceiling, mut earliest) = (Time::ZERO, Time::NEVER);
        let line = std::iter::successors(Some(leaf), |i| self.classes[*i].parent);
        for class in line.map(|i| &self.classes[i]) {
            under_ceiling = under_ceiling.max(class.ceiling.ready(0));
            earliest = earliest.min(under_ceiling.max(class.own.ready(0)));
        }
        earliest
    }
}

impl Shape for Tree {
    fn rate(&self, i: usize) -> Rate {
        self.classes[i].own.rate()
    }

    fn next(&mut self, heads: Heads<'_>, now: Time) -> Option<usize> {
        for level in 0..DEPTH {
            for priority in 0..PRIORITIES {
                if let Some(leaf) = self.leaf(level, priority, heads, now) {
                    self.named = (leaf, level);
                    return Some(leaf);
                }
            }
        }
        None
    }

    fn sent(&mut self, i: usize, len: u32, _heads: Heads<'_>, now: Time) {
        let (_, level) = self.named;
        let class = &mut self.classes[i];
        class.deficits[level] -= i64::from(len);
        if class.deficits[level] < 0 {
            class.deficits[level] += class.quantum;
            self.advance(i, level);
        }
        let mut charged = Some(i);
        while let Some(class) = charged.map(|i| &mut self.classes[i]) {
            if class.level >= level {
                class.own.spend(now, len);
                class.own.forgive(now, MOST_OWED);
            }
            class.ceiling.spend(now, len);
            class.ceiling.forgive(now, MOST_OWED);
            charged = class.parent;
        }
    }

    fn ready(&self, heads: Heads<'_>) -> Time {
        let waiting = (0..self.classes.len()).filter(|&i| self.classes[i].level == 0 && heads(i).is_some());
        waiting.map(|leaf| self.opens(leaf)).min().unwrap_or(Time::NEVER)
    }

    fn copy(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }
}

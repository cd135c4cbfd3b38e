//! Hierarchical token bucket: classes with a guaranteed rate and a ceiling up to which they borrow (Linux's
//! net/sched/sch_htb.c).

use std::collections::BTreeMap;

use ecnlab_base::{Bytes, Dur, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::composed::sharing::{self, DEPTH, Hierarchy, PRIORITIES};
use crate::contract::facts::Facts;
use crate::contract::shape::{Heads, Shape};
use crate::machine::bucket::Bucket;
use crate::machine::layout::{Compose, Layout};
use crate::{Config, Impossible};

/// Maximum debt of a class; the excess is cancelled (`mbuffer` of Linux's sch_htb).
const MOST_OWED: Dur = Dur::from_s(60);

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "htb",
    label: "HTB",
    summary: "hierarchical token bucket: classes with a rate of their own that borrow up to a ceiling",
    reference: "Linux, net/sched/sch_htb.c",
    shown: &["sharing.*.rate", "sharing.*.ceil"],
    ..Facts::OF_CLASSES
};

/// The keys in `[queue.NAME]` of a hierarchical token bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Parameters of each class's share of the link. Classes without a queue lend to others.
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
    /// Its guaranteed rate; at most the link's.
    pub rate: Rate,
    /// Rate up to which it borrows: at least `rate`, at most the link's. Default: `rate`, so that it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<Rate>,
    /// Bytes that it may send without borrowing after an idle time. Default 1600 B (iproute2).
    #[serde(default = "default_burst")]
    pub burst: Bytes,
    /// Bytes that it may send at the link's rate, borrowed or not, after an idle time. Default 1600 B (iproute2).
    #[serde(default = "default_burst")]
    pub cburst: Bytes,
    /// 0 to 7: classes with the lowest number are served first. Default 0.
    #[serde(default)]
    pub priority: u8,
    /// Bytes that it sends in turn with others of its priority, 256 B to 1 GB. Default: a tenth of a second at `rate`,
    /// from 1 kB to 200 kB (iproute2 and the kernel, `r2q` 10).
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
                "with 0 B no packet could be sent: write at least a packet, such as 1600 B".to_owned()
            })?;
        }
        self.quantum.map_or(Ok(()), |quantum| Impossible::unless_quantum(quantum, 256, &at("quantum")))
    }
}

impl Params {
    /// Checks the values; the error names the key.
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

    fn in_force(params: &Params) -> Params {
        let of = |share: &Share| Share {
            ceil: Some(share.ceil()),
            quantum: Some(Bytes(share.quantum() as u64)),
            ..share.clone()
        };
        Params { sharing: params.sharing.iter().map(|(name, share)| (name.clone(), of(share))).collect() }
    }

    fn layout(params: &Params, config: &Config, groups: &[String]) -> Layout {
        sharing::layout(Tree::new(&Hierarchy::of(&params.sharing, config)), config, groups)
    }

    fn check_before(params: &Params, link: Rate) -> Result<(), Impossible> {
        sharing::check_before(&params.sharing, link)
    }
}

/// Send mode of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The class is at its ceiling.
    CantSend,
    /// The class has used its rate and may borrow.
    MayBorrow,
    /// The class has its own tokens.
    CanSend,
}

/// State of the hierarchy, as in Linux's sch_htb.c: leaves are at level 0, the others at 7 (no parent) and below.
///
/// A class keeps its mode until its time has come and it is accessed. Classes that can send and have packets,
/// themselves or in descendants that borrow from them, are in the row of their level; borrowing classes are in the feed
/// of their parent.
#[derive(Clone, Debug)]
struct Tree {
    classes: Vec<Class>,
    /// Rows by level and priority.
    rows: [[Turns; PRIORITIES]; DEPTH],
    /// By level: classes that cannot send by themselves, and the times at which their mode may change, in order.
    waiting: [Vec<(Time, usize)>; DEPTH],
    /// The leaf returned last, and the level of the class that lends to it.
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
    /// Remaining quantum, by the level of the lender.
    deficits: [i64; DEPTH],
    mode: Mode,
    /// A bit for each priority with packets of its own, or of descendants that borrow.
    active: u8,
    /// By priority: classes that borrow from it.
    feeds: [Turns; PRIORITIES],
}

/// Classes in round-robin order.
#[derive(Clone, Debug, Default)]
struct Turns {
    members: Vec<usize>,
    /// The class that is next; `None` past the last.
    next: Option<usize>,
    /// The class that left during its turn: the turn passes to its successor, or back to it.
    left: Option<usize>,
}

impl Turns {
    fn enter(&mut self, i: usize) {
        if let Err(place) = self.members.binary_search(&i) {
            self.members.insert(place, i);
        }
    }

    fn remove(&mut self, i: usize) {
        self.members.retain(|member| *member != i);
    }

    fn step(&mut self) {
        self.next = self.next.and_then(|i| self.members.iter().copied().find(|member| *member > i));
    }

    fn rewind(&mut self) {
        self.next = self.members.first().copied();
    }

    /// Returns the class to be served, after adjusting for classes that left.
    fn current(&mut self) -> Option<usize> {
        if let (None, Some(left)) = (self.next, self.left.take()) {
            self.next = self.members.iter().copied().find(|member| *member >= left);
        }
        self.left = None;
        self.next
    }
}

impl Class {
    fn mode(&self, now: Time) -> Mode {
        match (self.ceiling.ready(0) <= now, self.own.ready(0) <= now) {
            (false, _) => Mode::CantSend,
            (true, false) => Mode::MayBorrow,
            (true, true) => Mode::CanSend,
        }
    }

    /// Time at which its mode may change.
    fn changes(&self) -> Time {
        match self.mode {
            Mode::CantSend => self.ceiling.ready(0),
            Mode::MayBorrow | Mode::CanSend => self.own.ready(0),
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
            mode: Mode::CanSend,
            active: 0,
            feeds: Default::default(),
        };
        let classes = hierarchy.shares.iter().enumerate().map(class).collect();
        Tree { classes, rows: Default::default(), waiting: Default::default(), named: (0, 0) }
    }

    /// Inserts class `i`, which is active and not [`Mode::CantSend`], into the feeds and the row that its packets use.
    fn activate(&mut self, mut i: usize) {
        let mut active = self.classes[i].active;
        while self.classes[i].mode == Mode::MayBorrow && active != 0 {
            let Some(parent) = self.classes[i].parent else { return };
            for priority in priorities(active) {
                let feed = &mut self.classes[parent].feeds[priority];
                if !feed.members.is_empty() {
                    active &= !(1 << priority);
                }
                feed.enter(i);
            }
            self.classes[parent].active |= active;
            i = parent;
        }
        if self.classes[i].mode == Mode::CanSend {
            let level = self.classes[i].level;
            priorities(active).for_each(|priority| self.rows[level][priority].enter(i));
        }
    }

    /// Removes class `i` from them.
    fn deactivate(&mut self, mut i: usize) {
        let mut active = self.classes[i].active;
        while self.classes[i].mode == Mode::MayBorrow && active != 0 {
            let Some(parent) = self.classes[i].parent else { return };
            for priority in priorities(active) {
                let feed = &mut self.classes[parent].feeds[priority];
                if feed.next == Some(i) {
                    (feed.next, feed.left) = (None, Some(i));
                }
                feed.remove(i);
                if !feed.members.is_empty() {
                    active &= !(1 << priority);
                }
            }
            self.classes[parent].active &= !active;
            i = parent;
        }
        if self.classes[i].mode == Mode::CanSend {
            let level = self.classes[i].level;
            for priority in priorities(active) {
                let row = &mut self.rows[level][priority];
                if row.next == Some(i) {
                    row.step();
                }
                row.remove(i);
            }
        }
    }

    /// Handles leaf `i` becoming empty.
    fn stop(&mut self, i: usize) {
        self.deactivate(i);
        self.classes[i].active = 0;
    }

    /// Updates the mode of class `i` to `now`.
    fn update(&mut self, i: usize, now: Time) {
        let mode = self.classes[i].mode(now);
        if mode == self.classes[i].mode {
            return;
        }
        if self.classes[i].mode != Mode::CantSend {
            self.deactivate(i);
        }
        self.classes[i].mode = mode;
        if mode != Mode::CantSend {
            self.activate(i);
        }
    }

    /// Updates to `now` the modes of those classes of `level` whose time has come.
    fn wake(&mut self, level: usize, now: Time) {
        while let Some(&(_, i)) = self.waiting[level].first().filter(|(at, _)| *at <= now) {
            self.waiting[level].remove(0);
            self.update(i, now);
            if self.classes[i].mode != Mode::CanSend {
                self.wait(i, now);
            }
        }
    }

    /// Updates class `i` after a charge.
    fn settle(&mut self, i: usize, now: Time) {
        let old = self.classes[i].mode;
        self.update(i, now);
        let (mode, level) = (self.classes[i].mode, self.classes[i].level);
        if mode == old {
            return;
        }
        if old != Mode::CanSend {
            self.waiting[level].retain(|(_, waits)| *waits != i);
        }
        if mode != Mode::CanSend {
            self.wait(i, now);
        }
    }

    fn wait(&mut self, i: usize, now: Time) {
        let at = self.classes[i].changes().max(now.saturating_add(Dur::from_ns(1)));
        let waiting = &mut self.waiting[self.classes[i].level];
        waiting.insert(waiting.partition_point(|(other, _)| *other <= at), (at, i));
    }

    /// Returns the round-robin order of the borrowers of `lender`, or, if it is `None`, of the lenders at `level`.
    fn turns(&mut self, lender: Option<usize>, level: usize, priority: usize) -> &mut Turns {
        match lender {
            Some(lender) => &mut self.classes[lender].feeds[priority],
            None => &mut self.rows[level][priority],
        }
    }

    /// Returns the leaf that may send on the rate lent or used by classes of this level.
    fn leaf(&mut self, level: usize, priority: usize) -> Option<usize> {
        if self.rows[level][priority].members.is_empty() {
            return None;
        }
        let mut lender = None;
        loop {
            match self.turns(lender, level, priority).current() {
                Some(i) if self.classes[i].level == 0 => return Some(i),
                Some(i) => lender = Some(i),
                None => {
                    self.turns(lender, level, priority).rewind();
                    let Some(above) = lender else { continue };
                    // All below it have had their turn: so has it.
                    let is_top = self.rows[level][priority].next == lender;
                    lender = if is_top { None } else { self.classes[above].parent };
                    self.turns(lender, level, priority).step();
                }
            }
        }
    }
}

/// Iterates over the priorities whose bits are set.
fn priorities(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |priority| mask & 1 << priority != 0)
}

impl Shape for Tree {
    fn rate(&self, i: usize) -> Rate {
        self.classes[i].own.rate()
    }

    fn arrived(&mut self, i: usize, _now: Time) {
        if self.classes[i].active == 0 {
            self.classes[i].active = 1 << self.classes[i].priority;
            self.activate(i);
        }
    }

    fn next(&mut self, heads: Heads<'_>, now: Time) -> Option<usize> {
        for level in 0..DEPTH {
            self.wake(level, now);
            for priority in 0..PRIORITIES {
                while let Some(leaf) = self.leaf(level, priority) {
                    if heads(leaf).is_some() {
                        self.named = (leaf, level);
                        return Some(leaf);
                    }
                    self.stop(leaf);
                }
            }
        }
        None
    }

    fn sent(&mut self, i: usize, len: u32, heads: Heads<'_>, now: Time) {
        let (_, level) = self.named;
        let class = &mut self.classes[i];
        class.deficits[level] -= i64::from(len);
        if class.deficits[level] < 0 {
            class.deficits[level] += class.quantum;
            let (lender, priority) = (class.parent.filter(|_| level > 0), class.priority);
            self.turns(lender, level, priority).step();
        }
        if heads(i).is_none() {
            self.stop(i);
        }
        let mut charged = Some(i);
        while let Some(i) = charged {
            let class = &mut self.classes[i];
            if class.level >= level {
                class.own.spend(now, len);
                class.own.forgive(now, MOST_OWED);
            }
            class.ceiling.spend(now, len);
            class.ceiling.forgive(now, MOST_OWED);
            charged = class.parent;
            self.settle(i, now);
        }
    }

    fn ready(&self, _heads: Heads<'_>) -> Time {
        let first = self.waiting.iter().filter_map(|waiting| waiting.first());
        first.map(|(at, _)| *at).min().unwrap_or(Time::NEVER)
    }

    fn copy(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }
}

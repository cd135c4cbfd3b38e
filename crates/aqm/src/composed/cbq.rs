//! Class-based queueing: classes limited to rates by their idle time (Floyd & Van Jacobson, "Link-sharing and resource management
//! models for packet networks", 1995), with the estimator and the top-level link-sharing of Linux's net/sched/sch_cbq.c
//! (1998 to 2023), and the parameters of its `tc` (iproute2's tc/tc_cbq.c).

use std::collections::{BTreeMap, VecDeque};

use ecnlab_base::{Bytes, Dur, Rate, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::composed::sharing::{self, DEPTH, Hierarchy, PRIORITIES};
use crate::contract::facts::Facts;
use crate::contract::shape::{Heads, Shape};
use crate::machine::layout::{Compose, Layout};
use crate::{Config, Impossible};

/// Maximum idle time counted, in picoseconds (twelve days), so that sums stay within 64 bits.
const LONGEST: i64 = 1 << 60;
/// The level up to which all classes lend (Linux's TC_CBQ_MAXLEVEL).
const ALL_LEVELS: usize = DEPTH;

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "cbq",
    label: "CBQ",
    summary: "class-based queueing (Floyd & Van Jacobson 1995): classes limited to rates by their idle time",
    reference: "S. Floyd and V. Jacobson, 'Link-sharing and resource management models for packet networks', IEEE/ACM ToN 3(4), 1995; Linux, net/sched/sch_cbq.c (1998 to 2023)",
    shown: &["sharing.*.rate", "sharing.*.maxburst"],
    ..Facts::OF_CLASSES
};

/// The keys in `[queue.NAME]` of class-based queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Parameters of each class's share of the link. Classes without a queue lend to others.
    pub sharing: BTreeMap<String, Share>,
    /// Size of packets for which `maxburst` and `minburst` are meant (`avpkt` of `tc`). Default 1000 B.
    #[serde(default = "default_mean_packet")]
    pub mean_packet: Bytes,
    /// Tick of the clock that wakes classes up: `"10 ms"` for a kernel with HZ = 100. Default: they wake up exactly in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<Dur>,
}

/// A class's part of the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CbqShare")]
pub struct Share {
    /// The class from which it borrows. Default: the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Its rate; at most the link's.
    pub rate: Rate,
    /// Whether it does not borrow. Default false.
    #[serde(default)]
    pub bounded: bool,
    /// The class does not lend: its traffic is not charged to its parent, and its unused rate is not lent. Default
    /// false.
    #[serde(default)]
    pub isolated: bool,
    /// Packets that it may send at the link's rate after an idle time, 1 to 1000. Default 20.
    #[serde(default = "default_maxburst")]
    pub maxburst: u32,
    /// Number of packets sent at once when the class must wait, at most `maxburst`; it then waits correspondingly
    /// longer. Default 0: one by one.
    #[serde(default)]
    pub minburst: u32,
    /// The weight of the average idle time is 2 to the power of minus this, 1 to 16. Default 5 (`tc`).
    #[serde(default = "default_ewma")]
    pub ewma: u32,
    /// 0 to 7: classes with the lowest number are served first. Default 0.
    #[serde(default)]
    pub priority: u8,
    /// Bytes that it sends in turn with others of its priority, 256 B to 1 GB. Default 1514 B.
    #[serde(default = "default_quantum")]
    pub quantum: Bytes,
}

fn default_mean_packet() -> Bytes {
    Bytes(1000)
}
fn default_maxburst() -> u32 {
    20
}
fn default_ewma() -> u32 {
    5
}
fn default_quantum() -> Bytes {
    crate::config::QUANTUM
}

impl sharing::Share for Share {
    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }
    fn priority(&self) -> u8 {
        self.priority
    }
    fn rates(&self) -> Vec<(&'static str, Rate)> {
        vec![("rate", self.rate)]
    }
}

impl Share {
    fn check(&self, name: &str) -> Result<(), Impossible> {
        let at = |key: &str| format!("sharing.{name}.{key}");
        Impossible::unless((1..=1_000).contains(&self.maxburst), &at("maxburst"), || {
            format!("{} packets are not 1 to 1000: write one of them", self.maxburst)
        })?;
        Impossible::unless(self.minburst <= self.maxburst, &at("minburst"), || {
            format!("it is above `maxburst`, {}: write no more", self.maxburst)
        })?;
        Impossible::unless((1..=16).contains(&self.ewma), &at("ewma"), || {
            format!("{} is not 1 to 16: tc has 5", self.ewma)
        })?;
        Impossible::unless_quantum(self.quantum, 256, &at("quantum"))
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        sharing::check(&self.sharing, config)?;
        Impossible::unless(self.mean_packet.0 > 0, "mean_packet", || {
            "0 B is not a packet size: write such as 1000 B".to_owned()
        })?;
        Impossible::unless(self.timer.is_none_or(|timer| !timer.is_zero()), "timer", || {
            "0 s is not a tick: write such as 10 ms, or leave it out".to_owned()
        })?;
        self.sharing.iter().try_for_each(|(name, share)| share.check(name))
    }
}

/// Class-based queueing.
#[derive(Clone, Copy, Debug)]
pub struct Cbq;

impl Compose for Cbq {
    type Params = Params;

    fn layout(params: &Params, config: &Config, groups: &[String]) -> Layout {
        sharing::layout(Regulator::new(params, &Hierarchy::of(&params.sharing, config)), config, groups)
    }

    fn check_before(params: &Params, link: Rate) -> Result<(), Impossible> {
        sharing::check_before(&params.sharing, link)
    }
}

/// The state of the classes: the leaves, the others, and last the link itself.
#[derive(Clone, Debug)]
struct Regulator {
    classes: Vec<Class>,
    link: Rate,
    mean_packet: u64,
    timer: Option<Dur>,
    /// Per priority: leaves with packets, the next one to be served first.
    rings: [VecDeque<usize>; PRIORITIES],
    /// Classes of a level above this do not lend.
    top_level: usize,
    /// The class that lends to the leaf returned last.
    lender: usize,
}

/// A class with its estimator. Idle times are picoseconds, and averages of them are scaled by 1/weight.
#[derive(Clone, Debug)]
struct Class {
    share: Share,
    parent: Option<usize>,
    level: usize,
    max_idle: i64,
    off_time: i64,
    average_idle: i64,
    /// Time at which it may send again; in the past if it is under its limit.
    under_time: Time,
    /// End of its last packet.
    last: Time,
    /// Whether it has been put to sleep.
    delayed: bool,
    deficit: i64,
}

impl Class {
    fn new(share: Share, parent: Option<usize>, level: usize) -> Class {
        let deficit = share.quantum.0 as i64;
        let (under_time, last) = (Time::ZERO, Time::ZERO);
        Class {
            share,
            parent,
            level,
            max_idle: 0,
            off_time: 0,
            average_idle: 0,
            under_time,
            last,
            delayed: false,
            deficit,
        }
    }

    /// Returns the decay of an average of scaled idle times at one more sample: `(1 - weight) · average`.
    fn rest(&self, average: i64) -> i64 {
        average - (average >> self.share.ewma)
    }

    /// `tc_cbq_calc_maxidle` and `tc_cbq_calc_offtime` of iproute2, from Floyd, "Notes on class-based queueing: setting
    /// parameters" (1996), for packets of `size` on a link of rate `link`.
    fn set_bursts(&mut self, link: Rate, size: u64) {
        let weight = libm::exp2(-f64::from(self.share.ewma));
        let seconds = |rate: Rate| 8.0 * size as f64 / rate.bps() as f64;
        // Idle time that is missing after each packet of a burst.
        let short = seconds(self.share.rate) - seconds(link);
        let grown = |packets: u32| libm::pow(1.0 - weight, -f64::from(packets)) - 1.0;
        let max_idle = (short * grown(self.share.maxburst)).max(seconds(link) * weight);
        let off_time = match self.share.minburst {
            0 => 0.0,
            1 => short * grown(1),
            n => short * (1.0 + grown(n - 1) / weight),
        };
        // Whole nanoseconds, rounded down: a burst ends when the average is spent to the last picosecond.
        let scaled = |s: f64| (libm::floor(s * 1e9).min(LONGEST as f64 / 1e3) as i64) * 1_000;
        self.max_idle = scaled(max_idle / weight);
        self.off_time = scaled(off_time);
        self.average_idle = self.max_idle;
    }

    /// Accounts for a packet of `len` bytes whose transmission ends at `end` after `sending`.
    fn update(&mut self, len: u32, sending: i64, end: Time) {
        let share = picoseconds(self.share.rate.time_for(len.into()));
        let idle = picoseconds(end.since(self.last)) - share;
        let average = idle.saturating_add(self.rest(self.average_idle)).clamp(-LONGEST, self.max_idle);
        self.average_idle = average;
        self.last = end;
        // It may send when idle time would return the average to zero, and not before its share of the link's time.
        let wait = self.rest(-average) + share - sending;
        self.under_time = if average <= 0 { end + Dur::from_ps(wait.max(0) as u64) } else { Time::ZERO };
    }

    /// Handles a class that must wait and cannot borrow: it sleeps (`cbq_ovl_classic`). A sleeping class cannot work
    /// off its average, so the debt is cancelled.
    fn sleep(&mut self, now: Time) {
        if self.delayed {
            return;
        }
        self.delayed = true;
        let wait = picoseconds(self.under_time.since(now)) + self.off_time - self.rest(-self.average_idle.min(0));
        self.under_time = now + Dur::from_ps(wait.max(1) as u64);
    }
}

fn picoseconds(time: Dur) -> i64 {
    i64::try_from(time.ps()).unwrap_or(i64::MAX).min(LONGEST)
}

impl Regulator {
    fn new(params: &Params, hierarchy: &Hierarchy<'_, Share>) -> Regulator {
        let root = hierarchy.shares.len();
        let mut classes: Vec<Class> = Vec::new();
        for (share, parent) in hierarchy.shares.iter().zip(&hierarchy.parents) {
            classes.push(Class::new((*share).clone(), Some(parent.unwrap_or(root)), 0));
        }
        let share = Share {
            parent: None,
            rate: Rate::from_bps(u64::MAX),
            bounded: true,
            isolated: true,
            maxburst: 0,
            minburst: 0,
            ewma: default_ewma(),
            priority: 0,
            quantum: default_quantum(),
        };
        classes.push(Class::new(share, None, 0));
        // The level of a class is one above the highest class that borrows from it.
        for _ in 0..DEPTH {
            for i in 0..root {
                let (level, parent) = (classes[i].level, classes[i].parent.unwrap_or(root));
                classes[parent].level = classes[parent].level.max(level + 1);
            }
        }
        Regulator {
            classes,
            link: Rate::from_bps(u64::MAX),
            mean_packet: params.mean_packet.0,
            timer: params.timer,
            rings: Default::default(),
            top_level: ALL_LEVELS,
            lender: 0,
        }
    }

    /// Iterates over the class and the chain of classes from which it may borrow.
    fn line(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(i), |i| self.borrows_from(*i))
    }

    fn borrows_from(&self, i: usize) -> Option<usize> {
        let parent = self.classes[i].parent.filter(|_| !self.classes[i].share.bounded)?;
        Some(parent)
    }

    /// Returns the class that lets leaf `i` send: itself, or a lender (`cbq_under_limit`).
    fn lender_of(&mut self, i: usize, now: Time) -> Option<usize> {
        let mut at = i;
        while self.classes[at].under_time > now {
            let Some(above) = self.borrows_from(at) else {
                self.classes[i].sleep(now);
                return None;
            };
            if self.classes[above].level > self.top_level {
                return None;
            }
            at = above;
        }
        self.classes[at].delayed = false;
        Some(at)
    }

    /// Returns the leaf that may send now, by priority and round robin.
    fn choose(&mut self, heads: Heads<'_>, now: Time) -> Option<usize> {
        (0..PRIORITIES).find_map(|priority| self.choose_among(priority, heads, now))
    }

    /// A round of one priority; another one if a class could send but had used up its quantum (`cbq_dequeue_prio`).
    fn choose_among(&mut self, priority: usize, heads: Heads<'_>, now: Time) -> Option<usize> {
        loop {
            let (mut again, mut at) = (false, 0);
            while let Some(&leaf) = self.rings[priority].get(at) {
                if heads(leaf).is_none() {
                    let _gone = self.rings[priority].remove(at);
                    continue;
                }
                at += 1;
                let Some(lender) = self.lender_of(leaf, now) else { continue };
                let class = &mut self.classes[leaf];
                if class.deficit > 0 {
                    self.lender = lender;
                    return Some(leaf);
                }
                class.deficit += class.share.quantum.0 as i64;
                again = true;
            }
            if !again {
                return None;
            }
        }
    }

    /// Classes above the lowest that is under its limit and wants to send do not lend (`cbq_update_toplevel`).
    fn lower_top_level(&mut self, leaf: usize, heads: Heads<'_>) {
        if self.top_level < self.classes[self.lender].level || heads(leaf).is_none() {
            return;
        }
        let under = self.line(self.lender).find(|&i| self.classes[i].under_time == Time::ZERO);
        if let Some(under) = under {
            self.top_level = self.classes[under].level;
        }
    }
}

impl Shape for Regulator {
    fn begin(&mut self, link: Rate, _rng: &mut Rng) {
        self.link = link;
        if let Some(root) = self.classes.last_mut() {
            root.share.rate = link;
        }
        self.classes.iter_mut().for_each(|class| class.set_bursts(link, self.mean_packet));
    }

    fn rate(&self, i: usize) -> Rate {
        self.classes[i].share.rate
    }

    fn arrived(&mut self, i: usize, now: Time) {
        let ring = &mut self.rings[usize::from(self.classes[i].share.priority)];
        if !ring.contains(&i) {
            ring.push_back(i);
        }
        // `cbq_mark_toplevel`
        let top_level = self.top_level;
        let below = self.line(i).take_while(|&i| self.classes[i].level < top_level);
        let under = below.into_iter().find(|&i| self.classes[i].under_time < now);
        if let Some(under) = under {
            self.top_level = self.classes[under].level;
        }
    }

    fn next(&mut self, heads: Heads<'_>, now: Time) -> Option<usize> {
        self.choose(heads, now).or_else(|| {
            // All that want to send have to wait: any class may lend, and the link does.
            self.top_level = ALL_LEVELS;
            if let Some(root) = self.classes.last_mut() {
                root.under_time = Time::ZERO;
            }
            self.choose(heads, now)
        })
    }

    fn sent(&mut self, i: usize, len: u32, heads: Heads<'_>, now: Time) {
        let priority = usize::from(self.classes[i].share.priority);
        self.classes[i].deficit -= i64::from(len);
        if self.classes[i].deficit <= 0 {
            let ring = &mut self.rings[priority];
            let turn = ring.iter().position(|&leaf| leaf == i).map_or(0, |at| at + 1);
            ring.rotate_left(turn);
            if let Some(class) = ring.front().map(|&next| &mut self.classes[next]) {
                class.deficit += class.share.quantum.0 as i64;
            }
        }
        let sending = self.link.time_for(len.into());
        let mut counted = Some(i);
        while let Some(at) = counted {
            let class = &mut self.classes[at];
            class.update(len, picoseconds(sending), now + sending);
            counted = class.parent.filter(|_| !class.share.isolated);
        }
        self.lower_top_level(i, heads);
    }

    fn ready(&self, heads: Heads<'_>) -> Time {
        let waiting = self.rings.iter().flatten().filter(|&&leaf| heads(leaf).is_some());
        let earliest = waiting.flat_map(|&leaf| self.line(leaf)).map(|i| self.classes[i].under_time).min();
        let earliest = earliest.unwrap_or(Time::NEVER);
        match self.timer {
            Some(tick) if earliest < Time::NEVER => Time::from_ps(earliest.ps().div_ceil(tick.ps()) * tick.ps()),
            _ => earliest,
        }
    }

    fn copy(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }
}

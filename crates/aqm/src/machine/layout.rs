//! Structure of a discipline with several queues: its inner queues, the assignment of packets, and the scheduler.

use ecnlab_base::Rate;
use ecnlab_wire::{Dscp, Ecn};

use crate::machine::scheduler::Scheduler;
use crate::registry::Joint;
use crate::{Config, Impossible, Item};

/// A discipline of several queues. The common parts of all such disciplines are in [`crate::machine::tree::Branch`].
pub(crate) trait Compose {
    /// Its keys in a scenario.
    type Params;

    /// Returns the flow groups that `params` refer to by name, each with its key.
    fn groups(_params: &Self::Params) -> Vec<(&'static str, &str)> {
        Vec::new()
    }

    /// Returns its structure. `config`, to which `params` belong, has passed its check; `groups` are those of the run.
    fn layout(params: &Self::Params, config: &Config, groups: &[String]) -> Layout;

    /// Returns the effective parameters: derived values replace keywords and missing values.
    fn in_force(params: &Self::Params) -> Self::Params
    where
        Self::Params: Clone,
    {
        params.clone()
    }

    /// The rate to which it limits all packets, if it does.
    fn rate(_params: &Self::Params) -> Option<Rate> {
        None
    }

    /// Rejects rates that are invalid for a link of rate `link`, naming the key.
    fn check_before(_params: &Self::Params, _link: Rate) -> Result<(), Impossible> {
        Ok(())
    }
}

/// Structure of a discipline with several queues.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Assignment of packets to inner queues.
    pub classifier: Classifier,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// The inner queues.
    pub queues: Inner,
    /// Memory limit of all queues together.
    pub memory: Option<u64>,
    /// Number of packets dropped at a time from the fattest queue.
    pub batch: u32,
    /// Law across the queues, if there is one.
    pub law: Option<Joint>,
}

/// The inner queues of a [`Layout`].
#[derive(Clone, Debug)]
pub(crate) enum Inner {
    /// Each with its name.
    Named(Vec<(String, Config)>),
    /// Groups of identical queues, each with name, number and configuration; statistics are kept per group.
    Alike(usize, Vec<(String, Config)>),
}

/// Finds the inner queue of a packet.
#[derive(Clone, Debug)]
pub(crate) enum Classifier {
    /// The inner queue of the first rule that matches.
    Rules(Vec<(usize, Rule)>),
    /// By a hash of the flow and a salt, which is drawn if not given.
    Flows(Option<u64>),
}

/// A set of codepoints: a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Codepoints(u8);

impl Codepoints {
    /// All codepoints.
    pub const ANY: Codepoints = Codepoints(0b1111);

    #[inline]
    fn contains(self, ecn: Ecn) -> bool {
        self.0 >> ecn.bits() & 1 != 0
    }
}

/// The codepoints of a list in a scenario, in which none are any.
impl FromIterator<Ecn> for Codepoints {
    fn from_iter<I: IntoIterator<Item = Ecn>>(codepoints: I) -> Codepoints {
        let named = codepoints.into_iter().fold(0, |named, ecn| named | 1 << ecn.bits());
        if named == 0 { Codepoints::ANY } else { Codepoints(named) }
    }
}

/// Properties of the packets of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Their codepoints.
    pub codepoints: Codepoints,
    /// Their DSCPs; empty for any.
    pub dscps: Vec<Dscp>,
    /// Their flow groups.
    pub groups: Vec<usize>,
    /// Whether they must be of these groups, of which a run need not have any.
    pub of_groups: bool,
}

impl Rule {
    /// A rule that every packet matches.
    pub const ALL: Rule = Rule { codepoints: Codepoints::ANY, dscps: Vec::new(), groups: Vec::new(), of_groups: false };

    fn matches(&self, packet: &impl Item) -> bool {
        self.codepoints.contains(packet.ecn())
            && (self.dscps.is_empty() || self.dscps.contains(&packet.dscp()))
            && (!self.of_groups || self.groups.contains(&packet.group()))
    }
}

impl Classifier {
    /// Returns the index, among `queues` inner queues, of the queue of `packet`.
    pub fn place(&self, packet: &impl Item, queues: usize) -> usize {
        match self {
            Classifier::Rules(rules) => rules.iter().find(|(_, rule)| rule.matches(packet)).map_or(0, |(i, _)| *i),
            Classifier::Flows(salt) => scaled(mixed(packet.flow_key() ^ salt.unwrap_or_default()), queues),
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014).
pub(crate) fn mixed(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ key >> 31
}

/// Maps a hash to one of `n` places with equal probability (Linux's `reciprocal_scale`).
fn scaled(hash: u64, n: usize) -> usize {
    ((u128::from(hash) * n as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_splitmix64_s() {
        // The first output from the seed 0 of the authors' splitmix64.c.
        assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn flows_spread_over_all_places_alike() {
        // 64 places, 6400 flows: 100 each, standard deviation 10.
        let mut places = [0_u32; 64];
        (0..6400).for_each(|key| places[scaled(mixed(key), 64)] += 1);
        assert!(places.iter().all(|&n| (50..150).contains(&n)), "{places:?}");
    }

    #[test]
    fn flows_share_a_place_as_often_as_chance_has_it() {
        // RFC 8290 §5.3: of 100 flows in 1024 queues one shares its queue with probability 1-(1-1/1024)^99 = 9.2 %.
        let shares = |salt: u64| {
            let place = |key: u64| scaled(mixed(key ^ salt), 1024);
            (1..100).any(|key| place(key) == place(0))
        };
        let share = (0..4000).filter(|&salt| shares(mixed(salt))).count() as f64 / 4000.0;
        // Four standard deviations of 0.0046.
        assert!((share - 0.092).abs() < 0.019, "{share}");
    }
}

//! Link-sharing (Floyd & Van Jacobson 1995): a hierarchy of classes with rates, whose leaves are inner queues.

use std::collections::BTreeMap;

use ecnlab_base::Rate;

use crate::composed::members;
use crate::contract::shape::Shape;
use crate::machine::layout::{Inner, Layout};
use crate::machine::scheduler::Scheduler;
use crate::{Config, Impossible};

/// Maximum depth of the hierarchy (Linux's TC_HTB_MAXDEPTH and TC_CBQ_MAXLEVEL).
pub(crate) const DEPTH: usize = 8;
/// Number of priorities (Linux's TC_HTB_NUMPRIO and TC_CBQ_MAXPRIO).
pub(crate) const PRIORITIES: usize = 8;

/// A table `sharing.CLASS`.
pub(crate) trait Share {
    /// The class from which it borrows.
    fn parent(&self) -> Option<&str>;
    /// Its priority; 0 is the highest.
    fn priority(&self) -> u8;
    /// Its rates, each with its key.
    fn rates(&self) -> Vec<(&'static str, Rate)>;
}

/// A hierarchy: the leaves in the order of the inner queues, then the other classes by name.
pub(crate) struct Hierarchy<'a, S> {
    /// The tables.
    pub shares: Vec<&'a S>,
    /// The index of each class's parent.
    pub parents: Vec<Option<usize>>,
}

impl<'a, S: Share> Hierarchy<'a, S> {
    /// Creates the hierarchy of `config`, which has passed [`check`].
    pub fn of(shares: &'a BTreeMap<String, S>, config: &Config) -> Hierarchy<'a, S> {
        let leaves: Vec<&str> = members::in_order(config).into_iter().map(|(name, _)| name).collect();
        let inner = shares.keys().map(String::as_str).filter(|name| !leaves.contains(name));
        let names: Vec<&str> = leaves.iter().copied().chain(inner).collect();
        let place = |name: &str| names.iter().position(|other| *other == name);
        let known: Vec<&S> = names.iter().filter_map(|name| shares.get(*name)).collect();
        let parents = known.iter().map(|share| share.parent().and_then(place)).collect();
        Hierarchy { shares: known, parents }
    }

    /// Iterates over the indices of the class and its ancestors, starting with the class.
    pub fn depth(&self, place: usize) -> usize {
        std::iter::successors(Some(place), |i| self.parents[*i]).count()
    }
}

/// Checks that the classes form a hierarchy with the classes of `config` as leaves, and that packets reach every class.
pub(crate) fn check<S: Share>(shares: &BTreeMap<String, S>, config: &Config) -> Result<(), Impossible> {
    members::check(config)?;
    for (name, class) in &config.classes {
        Impossible::unless(shares.contains_key(name), &format!("class.{name}"), || {
            format!("it has no rate: write a table sharing.{name} with `rate`")
        })?;
        Impossible::unless(!class.member.has_turn(), &format!("class.{name}"), || {
            "`share` and `turn` are for `classes`: leave them out, and write `quantum` in its table of `sharing`"
                .to_owned()
        })?;
    }
    for (name, share) in shares {
        check_place(name, share, shares, config)?;
    }
    Ok(())
}

/// Rejects rates above the rate of the link, `link`.
pub(crate) fn check_before<S: Share>(shares: &BTreeMap<String, S>, link: Rate) -> Result<(), Impossible> {
    for (name, share) in shares {
        for (key, rate) in share.rates() {
            Impossible::unless(rate <= link, &format!("sharing.{name}.{key}"), || {
                format!("it is above the rate of the link behind it, {link}: write a lower one")
            })?;
        }
    }
    Ok(())
}

/// Returns the layout of the classes of `config` with the scheduler `shape` that shares the link.
pub(crate) fn layout(shape: impl Shape + 'static, config: &Config, groups: &[String]) -> Layout {
    Layout {
        classifier: members::classifier(config, groups),
        scheduler: Scheduler::Shaped(Box::new(shape)),
        queues: Inner::Named(members::queues(config)),
        memory: None,
        batch: 1,
        law: None,
    }
}

fn check_place<S: Share>(
    name: &str,
    share: &S,
    shares: &BTreeMap<String, S>,
    config: &Config,
) -> Result<(), Impossible> {
    let at = |key: &str| format!("sharing.{name}.{key}");
    let is_parent = shares.values().any(|other| other.parent() == Some(name));
    let is_leaf = config.classes.contains_key(name);
    Impossible::unless(is_leaf || is_parent, &format!("sharing.{name}"), || {
        format!("no class borrows from it, and it has no queue: write class.{name}, or make it the parent of another")
    })?;
    Impossible::unless(usize::from(share.priority()) < PRIORITIES, &at("priority"), || {
        format!("it is not one of 0 to {}: write one of them", PRIORITIES - 1)
    })?;
    let Some(parent) = share.parent() else { return Ok(()) };
    Impossible::unless(shares.contains_key(parent), &at("parent"), || {
        format!("there is no class `{parent}`: write a table sharing.{parent}")
    })?;
    Impossible::unless(!config.classes.contains_key(parent), &at("parent"), || {
        format!("`{parent}` has a queue of its own, and lends nothing: write a class without a queue")
    })?;
    let ancestors = std::iter::successors(Some(name), |name| shares.get(*name).and_then(S::parent));
    Impossible::unless(ancestors.take(DEPTH + 1).count() <= DEPTH, &at("parent"), || {
        format!("it has more than {} ancestors, or is its own ancestor: write a shorter chain", DEPTH - 1)
    })
}

//! Assignment of packets to the classes named by a scenario.

use crate::config::Class;
use crate::machine::layout::{Classifier, Rule};
use crate::{Config, Impossible};

/// Rejects classes that leave packets without a class or with several.
pub(crate) fn check(config: &Config) -> Result<(), Impossible> {
    let classes = in_order(config);
    Impossible::unless(!classes.is_empty(), "class", || {
        "there is none: write tables class.NAME, each a queue".to_owned()
    })?;
    let rest: Vec<&str> = classes.iter().filter(|(_, class)| class.member.takes_all()).map(|(name, _)| *name).collect();
    Impossible::unless(rest.len() == 1, "class", || match rest.as_slice() {
        [] => "a packet might belong to none: leave codepoints, dscp and groups out in one of them".to_owned(),
        several => format!(
            "{} all take the remaining packets: write codepoints, dscp or groups in all but one",
            several.join(", ")
        ),
    })
}

/// Returns the classifier of packets for these flow groups.
pub(crate) fn classifier(config: &Config, groups: &[String]) -> Classifier {
    let classes = in_order(config);
    let place = |name: &String| groups.iter().position(|group| group == name);
    let rule = |(i, (_, class)): (usize, &(&str, &Class))| {
        let groups = class.member.groups.iter().filter_map(place).collect();
        let codepoints = class.member.codepoints.iter().map(|&codepoint| codepoint.into()).collect();
        let (dscps, of_groups) = (class.member.dscp.clone(), !class.member.groups.is_empty());
        (i, Rule { codepoints, dscps, groups, of_groups })
    };
    // The class of all other packets is checked last, independent of its position.
    let (rest, mut rules): (Vec<_>, Vec<_>) =
        classes.iter().enumerate().map(rule).partition(|(i, _)| classes[*i].1.member.takes_all());
    rules.extend(rest);
    Classifier::Rules(rules)
}

/// The queues of the classes, each with its name.
pub(crate) fn queues(config: &Config) -> Vec<(String, Config)> {
    in_order(config).into_iter().map(|(name, class)| (name.to_owned(), class.queue.clone())).collect()
}

/// The classes by their `order`, then by name.
pub(crate) fn in_order(config: &Config) -> Vec<(&str, &Class)> {
    let mut classes: Vec<(&str, &Class)> = config.classes.iter().map(|(name, class)| (name.as_str(), class)).collect();
    classes.sort_by_key(|(_, class)| class.member.order);
    classes
}

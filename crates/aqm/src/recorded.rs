//! The columns that the laws of a run add to its tables: those of the laws in use, and no others.

use std::collections::BTreeSet;

use ecnlab_base::facts::{Column, union};

use crate::contract::layout::Inner;
use crate::registry::{ROWS, Row};
use crate::{Config, Facts};

/// The columns by table, each name once, in the order of the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Of `queue_series`: what the law of each queue as a whole has.
    pub queue_series: Vec<Column>,
    /// Of `class_series`: what the laws of the rows of [`Config::class_names`] have.
    pub class_series: Vec<Column>,
    /// Of `links`: as `queue_series`, averages.
    pub links: Vec<Column>,
    /// Of `classes`: as `class_series`, averages.
    pub classes: Vec<Column>,
}

impl Recorded {
    /// Those of a run with these `queues`.
    pub fn of<'a>(queues: impl IntoIterator<Item = &'a Config>) -> Recorded {
        let (mut wholes, mut classes) = (BTreeSet::new(), BTreeSet::new());
        for queue in queues {
            let name = queue.params.name();
            wholes.insert(name);
            if queue.has_row() {
                classes.insert(name);
            }
            classes.extend(inner(queue));
        }
        Recorded {
            queue_series: columns(&wholes, Facts::values),
            class_series: columns(&classes, Facts::values),
            links: columns(&wholes, Facts::means),
            classes: columns(&classes, Facts::means),
        }
    }
}

/// The names of the laws of all inner queues that have a name. Those that are all alike have no row each.
fn inner(queue: &Config) -> Vec<&'static str> {
    let Some(Inner::Named(queues)) = queue.params.inner(queue) else { return Vec::new() };
    queues.iter().flat_map(|(_, queue)| std::iter::once(queue.params.name()).chain(inner(queue))).collect()
}

fn columns(laws: &BTreeSet<&str>, of: fn(&Facts) -> &'static [Column]) -> Vec<Column> {
    let has = |row: &&Row| laws.contains(row.facts.name);
    union(ROWS.iter().filter(has).map(|row| of(row.facts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(columns: &[Column]) -> Vec<&'static str> {
        columns.iter().map(|column| column.name).collect()
    }

    fn queue(text: &str) -> Config {
        let mut keys: toml::Table = toml::from_str(text).unwrap();
        let common = crate::Common::with_limit(ecnlab_base::Length::Packets(100.0));
        let name = keys.remove("discipline").unwrap();
        let quantiles = keys.remove("quantiles").is_some();
        let params = crate::registry::Params::deserialize(name.as_str().unwrap(), keys).unwrap();
        Config::new(params, crate::Common { quantiles, ..common })
    }

    #[test]
    fn a_table_has_the_columns_of_the_laws_in_use_in_the_order_of_the_registry() {
        let (pie, codel) = (queue("discipline = \"pie\""), queue("discipline = \"codel\"\nquantiles = true"));
        let droptail = queue("discipline = \"droptail\"");
        let both = Recorded::of([&pie, &codel, &codel, &droptail]);
        assert_eq!(names(&both.queue_series), ["codel_count", "pie_p", "pie_delay_s"]);
        assert_eq!(names(&both.links), ["share_dropping", "mean_pie_p"]);
        // Only the queue that keeps quantiles has a row among the classes.
        assert_eq!((names(&both.class_series), names(&both.classes)), (vec!["codel_count"], vec!["share_dropping"]));
        assert_eq!(Recorded::of([&droptail]), Recorded::default());
    }

    #[test]
    fn a_queue_of_several_has_the_columns_of_its_classes_that_have_a_name() {
        // L and C of DualPI2 have no columns of their own beside the law across them.
        let dualpi2 = Recorded::of([&queue("discipline = \"dualpi2\"")]);
        assert_eq!(names(&dualpi2.queue_series), ["pi2_p", "sanctioned"]);
        assert_eq!(names(&dualpi2.class_series), ["pi2_p", "sanctioned"]);
        // The queues of FQ-CoDel are all alike: no table has a row of one.
        assert_eq!(Recorded::of([&queue("discipline = \"fq_codel\"")]), Recorded::default());
        let mut tbf = queue("discipline = \"tbf\"\nrate = \"1 Mbps\"\nburst = \"10 kB\"");
        let class = crate::Class { member: crate::Member::default(), queue: queue("discipline = \"codel\"") };
        tbf.classes.insert("inner".to_owned(), class);
        let tbf = Recorded::of([&tbf]);
        assert_eq!((names(&tbf.queue_series), names(&tbf.class_series)), (vec![], vec!["codel_count"]));
    }
}

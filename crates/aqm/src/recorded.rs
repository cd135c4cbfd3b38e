//! The rows and columns that the queues of a run add to its tables: columns of the laws in use, and no others.

use std::collections::BTreeSet;

use ecnlab_base::facts::{Column, union};

use crate::machine::layout::Inner;
use crate::registry::{ROWS, Row};
use crate::{Config, Facts};

/// The row of a queue as a whole among its classes.
pub(crate) const ALL: &str = "all";

/// The columns by table, each name once, in the order of the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Columns of `queue_series`, recorded by the laws of whole queues.
    pub queue_series: Vec<Column>,
    /// Columns of `class_series`, recorded by the laws of the rows of [`Config::class_names`].
    pub class_series: Vec<Column>,
    /// Columns of `links`: averages of whole queues.
    pub links: Vec<Column>,
    /// Columns of `classes`: averages of classes.
    pub classes: Vec<Column>,
}

impl Recorded {
    /// Returns the columns of a run with these `queues`.
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

impl Config {
    /// Returns the names of the rows in the tables of classes, in `class_series` per time: `all` for the whole if
    /// there are inner queues or quantiles are kept, and each named inner queue, such as `voice` and `rest/bulk`.
    pub fn class_names(&self) -> Vec<String> {
        self.has_row().then(|| ALL.to_owned()).into_iter().chain(self.inner_names()).collect()
    }

    /// Whether the tables of classes have a row for the whole.
    pub(crate) fn has_row(&self) -> bool {
        self.common.quantiles || self.params.is_composed()
    }

    fn inner_names(&self) -> Vec<String> {
        let queues = match self.params.inner(self) {
            Some(Inner::Named(queues)) => queues,
            Some(Inner::Alike(_, groups)) if groups.len() > 1 => groups,
            _ => return Vec::new(),
        };
        let names = queues.iter().flat_map(|(name, queue)| {
            let inner = queue.inner_names().into_iter().map(move |inner| format!("{name}/{inner}"));
            std::iter::once(name.clone()).chain(inner)
        });
        names.collect()
    }
}

/// The names of the laws of all named inner queues. Inner queues with common settings have no row each.
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

    #[test]
    fn tables_of_classes_have_a_row_for_the_whole_and_for_each_name() {
        let classes = |inner: Vec<(&str, Config)>| {
            let mut config = queue("discipline = \"classes\"\nschedule = \"strict\"");
            let class = |queue| crate::Class { member: crate::Member::default(), queue };
            config.classes = inner.into_iter().map(|(name, queue)| (name.to_owned(), class(queue))).collect();
            config
        };
        let plain = || queue("discipline = \"droptail\"");
        let mut quantiles = plain();
        quantiles.common.quantiles = true;
        let rest = classes(vec![("bulk", plain())]);
        let nested = classes(vec![("voice", plain()), ("rest", rest)]);
        let rows = [plain(), quantiles, nested].map(|config| config.class_names());
        assert_eq!(rows, [&[][..], &[ALL], &[ALL, "rest", "rest/bulk", "voice"]]);
    }
}

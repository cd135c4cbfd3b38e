//! Tables of sojourn times, for queues that keep quantiles.

use ecnlab_aqm::{ClassReading, Sojourns, Stats};
use ecnlab_base::Dur;

use crate::plan::Plan;
use ecnlab_base::Table;

/// Name for all classes or all groups.
const ALL: &str = "all";

/// The quantiles in tables, and their columns.
const QUANTILES: [(&str, f64); 4] =
    [("sojourn_p50_s", 0.5), ("sojourn_p95_s", 0.95), ("sojourn_p99_s", 0.99), ("sojourn_p999_s", 0.999)];

/// Adds a column per quantile of the sojourn times of `rows`.
pub fn add_quantiles<'a>(t: &mut Table, rows: impl Iterator<Item = &'a Stats> + Clone) {
    for (name, q) in QUANTILES {
        t.f64(name, rows.clone().map(|stats| stats.sojourn_quantile_s(q)));
    }
}

/// Returns a row per link and flow group with packets that left the queue; `None` if no queue keeps quantiles.
pub fn by_group<'a>(plan: &Plan, links: impl Iterator<Item = &'a Stats>, suffix: &str) -> Option<Table> {
    let links: Vec<&Stats> = links.collect();
    if links.iter().all(|stats| stats.sojourns_by_group().is_empty()) {
        return None;
    }
    let of = |(i, stats): (usize, &'a Stats)| {
        let groups = stats.sojourns_by_group().iter().enumerate();
        groups.filter(|(_, sojourns)| sojourns.packets() > 0).map(move |(g, sojourns)| (i as u32, g as u32, sojourns))
    };
    let rows: Vec<(u32, u32, &Sojourns)> = links.into_iter().enumerate().flat_map(of).collect();
    let mut t = Table::new(format!("sojourns{suffix}"));
    t.text("link", rows.iter().map(|row| row.0), &link_names(plan));
    t.text("group", rows.iter().map(|row| row.1), &plan.groups);
    t.u64("departed", rows.iter().map(|row| row.2.packets()));
    t.f64("sojourn_mean_s", rows.iter().map(|row| row.2.mean_s()));
    for (name, q) in QUANTILES {
        t.f64(name, rows.iter().map(|row| row.2.quantile_s(q)));
    }
    t.f64("sojourn_max_s", rows.iter().map(|row| row.2.max().as_secs()));
    Some(t)
}

/// Returns a row per non-empty histogram bin: for each queue as a whole, its flow groups and its classes. `None` if no
/// queue keeps quantiles.
pub fn bins<'a>(plan: &Plan, links: impl Iterator<Item = (&'a Stats, &'a [ClassReading])>) -> Option<Table> {
    let mut rows = Bins { names: vec![ALL.to_owned()], ..Bins::default() };
    for (i, (stats, classes)) in links.enumerate() {
        rows.is_kept |= !stats.sojourns_by_group().is_empty();
        rows.add(i, 0, 0, stats.sojourn_bins());
        for (g, sojourns) in stats.sojourns_by_group().iter().enumerate() {
            rows.add(i, 0, g + 1, sojourns.bins());
        }
        for class in classes.iter().filter(|class| class.name != ALL) {
            rows.names.push(class.name.clone());
            rows.add(i, rows.names.len() - 1, 0, class.stats.sojourn_bins());
        }
    }
    rows.is_kept.then(|| rows.table(plan))
}

/// Rows of the table of bins.
#[derive(Default)]
struct Bins {
    /// A queue keeps quantiles.
    is_kept: bool,
    /// Names of classes.
    names: Vec<String>,
    /// Link, class and group of each row.
    keys: Vec<[u32; 3]>,
    bins: Vec<(Dur, Dur, u64)>,
}

impl Bins {
    fn add(&mut self, link: usize, class: usize, group: usize, bins: impl Iterator<Item = (Dur, Dur, u64)>) {
        self.bins.extend(bins);
        self.keys.resize(self.bins.len(), [link as u32, class as u32, group as u32]);
    }

    fn table(&self, plan: &Plan) -> Table {
        let groups: Vec<String> = std::iter::once(ALL.to_owned()).chain(plan.groups.iter().cloned()).collect();
        let mut t = Table::new("sojourn_bins".to_owned());
        t.text("link", self.keys.iter().map(|key| key[0]), &link_names(plan));
        t.text("class", self.keys.iter().map(|key| key[1]), &self.names);
        t.text("group", self.keys.iter().map(|key| key[2]), &groups);
        t.f64("from_s", self.bins.iter().map(|bin| bin.0.as_secs()));
        t.f64("to_s", self.bins.iter().map(|bin| bin.1.as_secs()));
        t.u64("packets", self.bins.iter().map(|bin| bin.2));
        t
    }
}

fn link_names(plan: &Plan) -> Vec<String> {
    plan.links.iter().map(|link| link.name.clone()).collect()
}

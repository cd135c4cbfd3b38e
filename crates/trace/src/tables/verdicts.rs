//! Verdicts on ECN: a row for the directions that have the same verdict.

use std::collections::BTreeMap;

use ecnlab_base::Table;

use super::{Numbered, chosen};
use crate::connection::Connection;
use crate::verdict::{Evidence, Verdict};

/// Returns the verdict of the data of end `i`, and its sentence.
pub(super) fn of_direction(connection: &Connection, i: usize) -> (&'static str, &'static str, String) {
    Verdict::of(connection, i).map_or(("no data", "unknown", String::new()), |(verdict, evidence)| {
        (verdict.class.name(), verdict.vantage.name(), verdict.summary(&evidence))
    })
}

/// Returns a row for each verdict and kind of direction, with sums of its evidence: red first, then amber, green, grey.
pub fn verdicts<'a>(all: impl Iterator<Item = Numbered<'a>>) -> Table {
    let mut sums: BTreeMap<(Verdict, bool), Evidence> = BTreeMap::new();
    for (_, connection, _) in all {
        for i in [0, 1] {
            if let Some((verdict, evidence)) = Verdict::of(&connection, i) {
                let kind = (verdict, i != connection.opener);
                sums.entry(kind).and_modify(|sum| *sum += evidence).or_insert(evidence);
            }
        }
    }
    let rows = || sums.iter().map(|(&(verdict, _), evidence)| (verdict, evidence));
    let mut t = Table::new("verdicts");
    chosen(&mut t, "verdict", rows().map(|(verdict, _)| verdict.class.name()));
    chosen(&mut t, "severity", rows().map(|(verdict, _)| verdict.class.severity()));
    chosen(&mut t, "vantage", rows().map(|(verdict, _)| verdict.vantage.name()));
    t.bool("from_opener", sums.keys().map(|&(_, responder)| !responder));
    let count = |f: fn(&Evidence) -> u64| rows().map(move |(_, evidence)| f(evidence));
    t.u64("directions", count(|e| e.directions));
    t.u64("new_data_packets", count(|e| e.data));
    t.u64("not_ect", count(|e| e.not_ect));
    t.u64("ect", count(|e| e.ect));
    t.u64("ce", count(|e| e.ce));
    t.u64("ece", count(|e| e.ece));
    t.u64("cwr", count(|e| e.cwr));
    t.u64("marks_told", count(|e| e.marks));
    t.u64("lost", count(|e| e.lost));
    t.texts("says", rows().map(|(verdict, evidence)| verdict.summary(evidence)));
    chosen(&mut t, "capture", rows().map(|(verdict, _)| verdict.capture()));
    t
}

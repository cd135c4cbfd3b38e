//! The packets of one connection as a table.

use ecnlab_base::Table;

use crate::capture::Capture;
use crate::filter::Filter;
use crate::packet::Segment;
use crate::series::{KINDS, Series};
use crate::tracker::Tracker;

/// Reads the packets of the connection numbered `wanted`, thinned to `most` rows of each kind. Returns the table and, in the
/// order of [`KINDS`], the number of packets that each row represents.
pub fn series(capture: Capture, wanted: usize, filter: Option<&Filter>, most: usize) -> (Table, [u64; KINDS.len()]) {
    let (series, opener) = read(capture, wanted, filter, most);
    let (rows, every) = series.finish();
    let first = rows.iter().map(|row| row.time).min().unwrap_or(0);
    let mut t = Table::new("series");
    t.u64("packet", rows.iter().map(|row| row.packet));
    t.f64("time_s", rows.iter().map(|row| (row.time - first) as f64 / 1e9));
    t.bool("from_opener", rows.iter().map(|row| usize::from(row.end) == opener));
    t.text("kind", rows.iter().map(|row| row.kind as u32), &KINDS.map(str::to_owned));
    t.f64("low", rows.iter().map(|row| row.low as f64));
    t.f64("high", rows.iter().map(|row| row.high as f64));
    (t, every)
}

fn read(mut capture: Capture, wanted: usize, filter: Option<&Filter>, most: usize) -> (Series, usize) {
    let mut tracker = Tracker::default().following(wanted);
    let mut series = Series::new(most);
    let mut take = |segment: &Segment<'_>| {
        if filter.is_none_or(|filter| filter.wants(segment))
            && let (index, Some(seen)) = tracker.take(segment)
            && index == wanted
        {
            series.take(segment, &seen, &tracker.connection(index));
        }
    };
    // An error that ends the reading was reported with the tables.
    while matches!(capture.step(&mut take), Ok(true)) {}
    let opener = if wanted < tracker.len() { tracker.connection(wanted).opener } else { 0 };
    (series, opener)
}

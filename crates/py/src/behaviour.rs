//! Table of the behaviour of the ends of a capture's connections.

use std::path::{Path, PathBuf};

use ecnlab_engine::Table;
use ecnlab_trace::{
    Behaviours, CAUSES, Capture, Direction, Distribution, Input, Key, Reductions, Sizes, Summary, TraceError, endpoint,
};
use pyo3::prelude::*;

use crate::tables;
use crate::trace::failure;

/// The behaviour of the ends in the capture `path` after `start` (nanoseconds since 1970), as {column: values}: a row
/// per direction of a connection with data. In a capture on a link, segments at most `gap` nanoseconds apart form one
/// burst.
#[pyfunction]
#[pyo3(signature = (path, *, start = 0, gap = 0))]
pub fn trace_behaviour(py: Python<'_>, path: PathBuf, start: u64, gap: u64) -> PyResult<Bound<'_, PyAny>> {
    let found = py.detach(|| read(&path, start, gap)).map_err(|error| failure(&path, error))?;
    let table = table(&found.directions().filter(|row| row.2.sender.data > 0).collect::<Vec<_>>());
    let table = tables::to_python(py, vec![table])?.get_item("behaviour")?;
    Ok(table.into_pyobject(py)?.into_any())
}

fn read(path: &Path, start: u64, gap: u64) -> Result<Behaviours, TraceError> {
    let mut capture = Capture::new(Input::open(path)?)?;
    let mut found = Behaviours::new(start, gap);
    while capture.step(|segment| found.take(segment))? {}
    Ok(found)
}

type Row<'a> = (Key, usize, &'a Direction);

fn table(rows: &[Row<'_>]) -> Table {
    let mut t = Table::new("behaviour");
    t.texts("from", rows.iter().map(|r| endpoint(r.0.endpoints()[r.1])));
    t.texts("to", rows.iter().map(|r| endpoint(r.0.endpoints()[1 - r.1])));
    receiver_columns(&mut t, rows);
    sender_columns(&mut t, rows);
    spacing_columns(&mut t, rows);
    t
}

fn receiver_columns(t: &mut Table, rows: &[Row<'_>]) {
    for (i, name) in ["acks_of_0", "acks_of_1", "acks_of_2", "acks_of_more"].into_iter().enumerate() {
        t.u64(name, rows.iter().map(|r| r.2.receiver.covered[i]));
    }
    for (i, name) in CAUSES.into_iter().enumerate() {
        t.u64(name, rows.iter().map(|r| r.2.receiver.single[i]));
    }
    let delay = ["ack_delay_events", "ack_delay_mean_s", "ack_delay_p50_s", "ack_delay_p99_s"];
    times(t, rows, delay, |d| &d.receiver.delay);
    times(t, rows, ["ack_wait_events", "ack_wait_mean_s", "ack_wait_p50_s", "ack_wait_p99_s"], |d| &d.receiver.wait);
    let duplicate = ["duplicate_ack_events", "duplicate_ack_mean_s", "duplicate_ack_p50_s", "duplicate_ack_p99_s"];
    times(t, rows, duplicate, |d| &d.receiver.duplicate_delay);
    t.u64("duplicate_segments", rows.iter().map(|r| r.2.receiver.duplicates));
}

fn sender_columns(t: &mut Table, rows: &[Row<'_>]) {
    t.u64("data_segments", rows.iter().map(|r| r.2.sender.data));
    t.u64("pushed", rows.iter().map(|r| r.2.sender.pushed));
    mean(t, rows, ["push_distance_events", "push_distance"], |d| d.sender.push_distance);
    let counts = ["sent_bursts_of_1", "sent_bursts_of_2", "sent_bursts_of_3", "sent_bursts_of_more"];
    sizes(t, rows, counts, ["sent_burst_events", "sent_burst"], |d| &d.sender.bursts);
    t.u64("retransmissions", rows.iter().map(|r| r.2.sender.retransmits));
    times(t, rows, ["rtt_events", "rtt_mean_s", "rtt_p50_s", "rtt_p99_s"], |d| &d.sender.rtt);
    reductions(t, rows, &ECN, |d| &d.sender.reductions[0]);
    reductions(t, rows, &LOSS, |d| &d.sender.reductions[1]);
    mean(t, rows, ["rounds_between_events", "rounds_between"], |d| d.sender.between);
}

fn spacing_columns(t: &mut Table, rows: &[Row<'_>]) {
    times(t, rows, ["gap_events", "gap_mean_s", "gap_p50_s", "gap_p99_s"], |d| &d.spacing.gaps);
    let counts = ["passed_bursts_of_1", "passed_bursts_of_2", "passed_bursts_of_3", "passed_bursts_of_more"];
    sizes(t, rows, counts, ["passed_burst_events", "passed_burst"], |d| &d.spacing.bursts);
}

fn mean(t: &mut Table, rows: &[Row<'_>], names: [&'static str; 2], of: impl Fn(&Direction) -> Summary) {
    t.u64(names[0], rows.iter().map(|r| of(r.2).count));
    t.f64(names[1], rows.iter().map(|r| of(r.2).mean()));
}

/// Number, mean, median and 99th percentile.
fn times(t: &mut Table, rows: &[Row<'_>], names: [&'static str; 4], of: impl Fn(&Direction) -> &Distribution) {
    t.u64(names[0], rows.iter().map(|r| of(r.2).summary.count));
    t.f64(names[1], rows.iter().map(|r| of(r.2).summary.mean() / 1e9));
    t.f64(names[2], rows.iter().map(|r| of(r.2).quantile(0.5) / 1e9));
    t.f64(names[3], rows.iter().map(|r| of(r.2).quantile(0.99) / 1e9));
}

/// Bursts of 1, 2, 3 and more segments, and their mean size.
fn sizes(
    t: &mut Table,
    rows: &[Row<'_>],
    counts: [&'static str; 4],
    all: [&'static str; 2],
    of: impl Fn(&Direction) -> &Sizes,
) {
    for (i, name) in counts.into_iter().enumerate() {
        t.u64(name, rows.iter().map(|r| of(r.2).counts[i]));
    }
    mean(t, rows, all, |d| of(d).summary);
}

/// Columns of a kind of reduction.
struct Names {
    count: &'static str,
    before: [&'static str; 2],
    after: [&'static str; 2],
    ratio: &'static str,
}

const ECN: Names = Names {
    count: "ecn_reductions",
    before: ["ecn_before_events", "ecn_before_bytes"],
    after: ["ecn_after_events", "ecn_after_bytes"],
    ratio: "ecn_ratio",
};
const LOSS: Names = Names {
    count: "loss_reductions",
    before: ["loss_before_events", "loss_before_bytes"],
    after: ["loss_after_events", "loss_after_bytes"],
    ratio: "loss_ratio",
};

fn reductions(t: &mut Table, rows: &[Row<'_>], names: &Names, of: impl Fn(&Direction) -> &Reductions) {
    t.u64(names.count, rows.iter().map(|r| of(r.2).count));
    mean(t, rows, names.before, |d| of(d).before);
    mean(t, rows, names.after, |d| of(d).after);
    let ratio = |r: &Reductions| r.ratios / r.after.count as f64;
    t.f64(names.ratio, rows.iter().map(|r| ratio(of(r.2))));
}

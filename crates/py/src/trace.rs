//! Analysed captures: tables of connections, directions, violations, interfaces; the packets of one connection.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use ecnlab_engine::Table;
use ecnlab_trace::{
    Analysis, Capture, Connection, End, Filter, Input, KINDS, Key, Marks, RULES, Segment, Series, Standard, Summary,
    TraceError, Tracker, analyse, endpoint,
};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::tables;

pyo3::create_exception!(
    ecnlab._core,
    TraceFailure,
    pyo3::exceptions::PyException,
    "A capture that cannot be read, or an invalid filter."
);

/// An analysed capture. Tables are built for the requested connections: for all of them they would need more memory
/// than the analysis.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Traced {
    found: Analysis,
    standard: Standard,
    path: PathBuf,
}

#[pymethods]
impl Traced {
    /// Number of connections.
    fn __len__(&self) -> usize {
        self.found.tracker.len()
    }

    /// Packets by kind, and the times of the first and last packet.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        totals(py, &self.found)
    }

    /// The error that stopped the reading before the end of the capture.
    #[getter]
    fn damage(&self) -> Option<String> {
        self.found.damage.as_ref().map(|error| format!("{}: {error}", self.path.display()))
    }

    /// The tables of the connections from `first` to before `end`: {table: {column: values}}.
    fn tables<'py>(&self, py: Python<'py>, first: usize, end: usize) -> PyResult<Bound<'py, PyDict>> {
        let tracker = &self.found.tracker;
        let numbers = first..end.min(tracker.len());
        let tables = py.detach(|| {
            let all: Vec<Numbered<'_>> = numbers.map(|number| (number, tracker.connection(number))).collect();
            let start = self.found.totals.times.map_or(0, |times| times.0);
            vec![
                connections(&all, start),
                directions(&all),
                violations(&all, start, self.standard),
                interfaces(&self.found),
            ]
        });
        tables::to_python(py, tables)
    }

    /// The connections that have sent data, limited to `most`, and the number of ends with data.
    fn with_data(&self, py: Python<'_>, most: usize) -> (Vec<usize>, usize) {
        py.detach(|| {
            let (mut first, mut ends) = (Vec::new(), 0);
            for number in self.found.tracker.with_data() {
                let connection = self.found.tracker.connection(number);
                let sending = connection.ends.iter().filter(|end| end.counts.data_packets > 0).count();
                ends += sending;
                if sending > 0 && first.len() < most {
                    first.push(number);
                }
            }
            (first, ends)
        })
    }

    /// The connections that break a rule, limited to `most`, and the number of listed violations of all.
    fn with_violations(&self, py: Python<'_>, most: usize) -> (Vec<usize>, usize) {
        py.detach(|| {
            let mut first = BinaryHeap::new();
            let mut all = 0;
            for (number, connection) in self.found.tracker.connections().enumerate() {
                let lists = connection.ends.iter().map(|end| end.violations.list());
                all += lists.clone().map(<[_]>::len).sum::<usize>();
                if let Some(packet) = lists.flatten().map(|violation| violation.packet).min() {
                    first.push((packet, number));
                    if first.len() > most {
                        first.pop();
                    }
                }
            }
            (first.into_iter().map(|(_, number)| number).collect(), all)
        })
    }

    /// The connection with the most packets, the first if several; None if there are no connections.
    fn largest(&self, py: Python<'_>) -> Option<usize> {
        let packets = |connection: &Connection| connection.ends.iter().map(|end| end.counts.packets).sum::<u64>();
        py.detach(|| {
            let all = self.found.tracker.connections().enumerate();
            all.max_by_key(|(number, connection)| (packets(connection), Reverse(*number))).map(|(number, _)| number)
        })
    }
}

/// Analyse the capture in `path` ("-": standard input); its connections may use `memory` bytes.
#[pyfunction]
#[pyo3(signature = (path, *, filter = None, standard = "rfc3168", memory = None))]
pub fn trace(
    py: Python<'_>,
    path: PathBuf,
    filter: Option<&str>,
    standard: &str,
    memory: Option<u64>,
) -> PyResult<Traced> {
    let (filter, standard) = (parse(&path, filter)?, standard_of(standard)?);
    let wanted = |segment: &Segment<'_>| filter.as_ref().is_none_or(|filter| filter.wants(segment));
    let tracker = Tracker::new(standard).within(memory.unwrap_or(u64::MAX));
    let found = py
        .detach(|| Input::open(&path).and_then(|input| analyse(input, tracker, wanted)))
        .map_err(|error| failure(&path, error))?;
    Ok(Traced { found, standard, path })
}

/// The packets of the connection numbered `connection`, thinned to `most` rows of each kind: ({column: values}, {kind:
/// packets per row}).
#[pyfunction]
#[pyo3(signature = (path, connection, *, filter = None, most = 20_000))]
pub fn trace_series<'py>(
    py: Python<'py>,
    path: PathBuf,
    connection: usize,
    filter: Option<&str>,
    most: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    let filter = parse(&path, filter)?;
    let (series, opener) =
        py.detach(|| read_series(&path, connection, filter.as_ref(), most)).map_err(|error| failure(&path, error))?;
    let (rows, every) = series.finish();
    let first = rows.iter().map(|row| row.time).min().unwrap_or(0);
    let mut t = Table::new("series");
    t.u64("packet", rows.iter().map(|row| row.packet));
    t.f64("time_s", rows.iter().map(|row| (row.time - first) as f64 / 1e9));
    t.bool("from_opener", rows.iter().map(|row| usize::from(row.end) == opener));
    t.text("kind", rows.iter().map(|row| row.kind as u32), &KINDS.map(str::to_owned));
    t.f64("low", rows.iter().map(|row| row.low as f64));
    t.f64("high", rows.iter().map(|row| row.high as f64));
    let thinned = PyDict::new(py);
    for (kind, every) in KINDS.iter().zip(every) {
        thinned.set_item(kind, every)?;
    }
    let table = tables::to_python(py, vec![t])?.get_item("series")?;
    Ok((table.into_pyobject(py)?.into_any(), thinned))
}

/// Index after those of the codepoints, for undecided codepoints.
const CANNOT_TELL: u8 = 4;

/// Comparison of two captures of the same packets: {"changes": table, "paths": table}.
#[pyfunction]
pub fn trace_changes(py: Python<'_>, first: PathBuf, second: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let open = |path: &Path| py.detach(|| Input::open(path)).map_err(|error| failure(path, error));
    let (one, other) = (open(&first)?, open(&second)?);
    let found = py.detach(|| ecnlab_trace::compare(one, other));
    let found = found.map_err(|error| failure(&first, error))?;
    let told = found.changes.iter().map(|(c, packets)| (c.key, c.from_low, c.before, c.after, c.flags, *packets));
    let unclear =
        found.cannot_tell.iter().map(|((key, low), packets)| (*key, *low, CANNOT_TELL, CANNOT_TELL, 0, *packets));
    let rows: Vec<(Key, bool, u8, u8, u16, u64)> = told.chain(unclear).collect();
    let ends = |low: bool| rows.iter().map(|row| endpoint(row.0.endpoints()[usize::from(row.1 != low)])).collect();
    let mut t = Table::new("changes");
    texts(&mut t, "from", ends(true));
    texts(&mut t, "to", ends(false));
    let codepoints = ["Not-ECT", "ECT(1)", "ECT(0)", "CE", "cannot tell"].map(str::to_owned);
    t.text("before", rows.iter().map(|row| row.2.into()), &codepoints);
    t.text("after", rows.iter().map(|row| row.3.into()), &codepoints);
    t.u32("flags_changed", rows.iter().map(|row| row.4.into()));
    t.u64("packets", rows.iter().map(|row| row.5));
    let result = PyDict::new(py);
    result.set_item("changes", tables::to_python(py, vec![t])?.get_item("changes")?)?;
    result.set_item("paths", tables::to_python(py, vec![paths(&found)])?.get_item("paths")?)?;
    Ok(result)
}

/// Returns a row for each direction between the two places.
fn paths(found: &ecnlab_trace::Comparison) -> Table {
    let rows: Vec<_> = found.paths.iter().collect();
    let ends = |low: bool| {
        rows.iter().map(|((key, from_low), _)| endpoint(key.endpoints()[usize::from(*from_low != low)])).collect()
    };
    let mut t = Table::new("paths");
    texts(&mut t, "from", ends(true));
    texts(&mut t, "to", ends(false));
    t.u64("paired", rows.iter().map(|row| row.1.paired));
    let names =
        [["only_first", "only_first_bytes", "only_first_ce"], ["only_second", "only_second_bytes", "only_second_ce"]];
    for (side, [packets, bytes, marked]) in names.into_iter().enumerate() {
        t.u64(packets, rows.iter().map(|row| row.1.only[side]));
        t.u64(bytes, rows.iter().map(|row| row.1.only_bytes[side]));
        t.u64(marked, rows.iter().map(|row| row.1.only_ce[side]));
    }
    let delay =
        |f: fn((i64, i64)) -> i64| rows.iter().map(move |row| row.1.delays.map_or(f64::NAN, |d| f(d) as f64 / 1e9));
    t.f64("delay_min_s", delay(|delays| delays.0));
    t.f64("delay_mean_s", rows.iter().map(|row| row.1.delay_mean().map_or(f64::NAN, |ns| ns / 1e9)));
    t.f64("delay_max_s", delay(|delays| delays.1));
    t
}

fn parse(path: &Path, filter: Option<&str>) -> PyResult<Option<Filter>> {
    filter.map(Filter::parse).transpose().map_err(|error| failure(path, error))
}

fn standard_of(name: &str) -> PyResult<Standard> {
    match name {
        "rfc3168" => Ok(Standard::Rfc3168),
        "rfc2481" => Ok(Standard::Rfc2481),
        "rfc8257" => Ok(Standard::Rfc8257),
        "rfc9331" => Ok(Standard::Rfc9331),
        _ => {
            let all = "rfc3168, rfc2481, rfc8257 and rfc9331";
            Err(PyValueError::new_err(format!("there is no standard {name:?}, only {all}")))
        }
    }
}

pub(crate) fn failure(path: &Path, error: TraceError) -> PyErr {
    match error {
        TraceError::Io(error) => io_failure(path, &error),
        TraceError::Filter(_) => TraceFailure::new_err(error.to_string()),
        _ => TraceFailure::new_err(format!("{}: {error}", path.display())),
    }
}

fn io_failure(path: &Path, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, error.to_string(), path.to_owned())),
        None => TraceFailure::new_err(format!("{}: {error}", path.display())),
    }
}

fn read_series(
    path: &Path,
    wanted: usize,
    filter: Option<&Filter>,
    most: usize,
) -> Result<(Series, usize), TraceError> {
    let mut capture = Capture::new(Input::open(path)?)?;
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
    Ok((series, opener))
}

fn totals<'py>(py: Python<'py>, found: &Analysis) -> PyResult<Bound<'py, PyDict>> {
    let (dict, t) = (PyDict::new(py), &found.totals);
    let counts = [
        ("packets", t.packets),
        ("bytes", t.bytes),
        ("tcp", t.tcp),
        ("udp", t.udp),
        ("icmp", t.icmp),
        ("other_ip", t.other_ip),
        ("other", t.other),
        ("fragments", t.fragments),
        ("cut", t.cut),
        ("malformed", t.malformed),
        ("unknown_link", t.unknown_link),
        ("back_in_time", t.back_in_time),
    ];
    for (name, count) in counts {
        dict.set_item(name, count)?;
    }
    dict.set_item("first_ns", t.times.map(|times| times.0))?;
    dict.set_item("last_ns", t.times.map(|times| times.1))?;
    Ok(dict)
}

/// A connection and its number.
type Numbered<'a> = (usize, Cow<'a, Connection>);

pub(crate) fn texts(t: &mut Table, name: &'static str, values: Vec<String>) {
    let (mut places, mut all, mut codes) = (HashMap::new(), Vec::new(), Vec::with_capacity(values.len()));
    for value in values {
        codes.push(*places.entry(value).or_insert_with_key(|value| {
            all.push(value.clone());
            all.len() as u32 - 1
        }));
    }
    t.text(name, codes, &all);
}

/// Adds a column of names, as indices into `all`.
fn chosen<'a>(t: &mut Table, name: &'static str, values: impl Iterator<Item = &'a str>) {
    texts(t, name, values.map(str::to_owned).collect());
}

fn connections(all: &[Numbered<'_>], first: u64) -> Table {
    let span = |c: &Connection| {
        let times = c.ends.iter().filter_map(|end| end.times);
        times.fold((u64::MAX, 0), |span, t| (span.0.min(t.0), span.1.max(t.1)))
    };
    let each = || all.iter().map(|(_, connection)| &**connection);
    let mut t = Table::new("connections");
    t.u32("connection", all.iter().map(|(number, _)| *number as u32));
    texts(&mut t, "opener", each().map(|c| endpoint(c.key.endpoints()[c.opener])).collect());
    texts(&mut t, "responder", each().map(|c| endpoint(c.key.endpoints()[1 - c.opener])).collect());
    t.f64("start_s", each().map(|c| span(c).0.saturating_sub(first) as f64 / 1e9));
    t.f64("duration_s", each().map(|c| span(c).1.saturating_sub(span(c).0) as f64 / 1e9));
    t.u64("first_packet", each().map(|c| c.packets.0));
    t.u64("last_packet", each().map(|c| c.packets.1));
    t.u64("packets", each().map(|c| c.ends.iter().map(|end| end.counts.packets).sum()));
    t.bool("syn", each().map(|c| c.has_syn));
    t.bool("syn_ack", each().map(|c| c.has_syn_ack));
    t.bool("closed", each().map(|c| c.is_closed(0) && c.is_closed(1)));
    chosen(&mut t, "ecn", each().map(|c| c.negotiation.name()));
    t.bool("both_directions", each().map(|c| c.ends.iter().all(|end| end.counts.packets > 0)));
    t.u64("violations", each().map(|c| c.ends.iter().map(broken).sum()));
    t
}

fn broken(end: &End) -> u64 {
    RULES.iter().map(|rule| u64::from(end.violations.count(*rule))).sum()
}

/// A direction: number of its connection, the connection, and its sender's index in the key.
type Direction<'a> = (usize, &'a Connection, usize);

fn directions(all: &[Numbered<'_>]) -> Table {
    let each = all.iter().map(|(number, connection)| (*number, &**connection));
    let rows: Vec<Direction<'_>> = each.flat_map(|(i, c)| [(i, c, c.opener), (i, c, 1 - c.opener)]).collect();
    let mut t = Table::new("directions");
    t.u32("connection", rows.iter().map(|r| r.0 as u32));
    texts(&mut t, "from", rows.iter().map(|r| endpoint(r.1.key.endpoints()[r.2])).collect());
    texts(&mut t, "to", rows.iter().map(|r| endpoint(r.1.key.endpoints()[1 - r.2])).collect());
    t.bool("from_opener", rows.iter().map(|r| r.2 == r.1.opener));
    data_columns(&mut t, &rows);
    retransmission_columns(&mut t, &rows);
    window_columns(&mut t, &rows);
    rtt_columns(&mut t, &rows);
    ecn_columns(&mut t, &rows);
    t
}

fn end<'a>(row: &Direction<'a>) -> &'a End {
    &row.1.ends[row.2]
}

fn peer<'a>(row: &Direction<'a>) -> &'a End {
    &row.1.ends[1 - row.2]
}

fn data_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let count = |f: fn(&End) -> u64| rows.iter().map(move |r| f(end(r)));
    t.u64("packets", count(|e| e.counts.packets));
    t.u64("data_packets", count(|e| e.counts.data_packets));
    t.u64("bytes", count(|e| e.counts.bytes));
    t.u64("unique_bytes", count(|e| e.counts.unique_bytes));
    t.u64("in_order_bytes", count(End::in_order_bytes));
    t.u64("pure_acks", count(|e| e.counts.pure_acks));
    t.u64("syn", count(|e| e.counts.syn));
    t.u64("fin", count(|e| e.counts.fin));
    t.u64("rst", count(|e| e.counts.rst));
    t.u64("dropped", count(|e| e.counts.dropped));
    t.u64("missing_bytes", count(|e| e.stream.counts.missing_bytes));
    // As in tcptrace: over the life of the connection, not of the direction.
    let per_second = |r: &Direction<'_>, bytes: u64| {
        let times = r.1.ends.iter().filter_map(|end| end.times);
        let (first, last) = times.fold((u64::MAX, 0), |span, t| (span.0.min(t.0), span.1.max(t.1)));
        bytes as f64 * 8e9 / last.saturating_sub(first) as f64
    };
    t.f64("throughput_bps", rows.iter().map(|r| finite(per_second(r, end(r).counts.bytes))));
    t.f64("goodput_bps", rows.iter().map(|r| finite(per_second(r, end(r).counts.unique_bytes))));
}

/// Replaces the infinity of a division by zero by NaN.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

fn retransmission_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let count = |f: fn(&End) -> u64| rows.iter().map(move |r| f(end(r)));
    t.u64("retransmits", count(|e| e.counts.retransmits));
    t.u64("retransmitted_bytes", count(|e| e.counts.retransmitted_bytes));
    t.u64("control_retransmits", count(|e| e.counts.control_retransmits));
    let names =
        ["retransmits_fast", "retransmits_sack", "retransmits_partial", "retransmits_timeout", "retransmits_tail"];
    for (i, name) in names.into_iter().enumerate() {
        t.u64(name, rows.iter().map(move |r| end(r).stream.counts.causes[i]));
    }
    t.u64("retransmits_spurious", count(|e| e.stream.counts.needless.max(e.stream.counts.dsacks)));
    t.u64("retransmits_inferred_timeout", count(|e| e.counts.retransmits.saturating_sub(e.stream.counts.causes[0])));
    t.u64("timeouts", count(|e| e.stream.counts.timeouts));
    t.u64("recoveries", count(|e| e.stream.counts.recoveries));
    t.u64("out_of_order", count(|e| e.counts.out_of_order));
    t.u64("duplicate_acks", rows.iter().map(|r| peer(r).counts.duplicate_acks));
    t.u64("probes", count(|e| e.counts.probes));
    t.u64("keep_alives", count(|e| e.counts.keep_alives));
}

fn window_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let count = |f: fn(&End) -> u64| rows.iter().map(move |r| f(end(r)));
    let windows = |f: fn((u64, u64)) -> u64| {
        rows.iter().map(move |r| end(r).counts.windows.map_or(f64::NAN, |windows| f(windows) as f64))
    };
    t.f64("window_max", windows(|windows| windows.1));
    t.f64("window_min", windows(|windows| windows.0));
    t.u64("window_zero", count(|e| e.counts.window_zero));
    t.u64("outstanding_max", count(|e| e.counts.flight_max));
    let mean = |e: &End| e.counts.flight_sum as f64 / e.counts.data_packets as f64;
    t.f64("outstanding_mean", rows.iter().map(|r| mean(end(r))));
    t.u64("segment_max", count(|e| e.counts.largest.into()));
    let option =
        |f: fn(&ecnlab_wire::TcpOptions) -> f64| rows.iter().map(move |r| end(r).options.as_ref().map_or(f64::NAN, f));
    t.f64("mss", option(|o| o.mss.map_or(f64::NAN, f64::from)));
    t.f64("window_scale", option(|o| o.window_scale.map_or(f64::NAN, f64::from)));
    t.bool("sack_permitted", rows.iter().map(|r| end(r).options.is_some_and(|o| o.sack_permitted)));
    t.bool("timestamps", rows.iter().map(|r| end(r).options.is_some_and(|o| o.timestamps.is_some())));
}

fn rtt_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let known = |value: u64, of: &Summary| if of.count == 0 { f64::NAN } else { value as f64 / 1e9 };
    let rtt = |r: &Direction<'_>| end(r).stream.rtt.summary;
    t.u64("rtt_samples", rows.iter().map(|r| rtt(r).count));
    t.f64("rtt_min_s", rows.iter().map(|r| known(rtt(r).min, &rtt(r))));
    t.f64("rtt_mean_s", rows.iter().map(|r| rtt(r).mean() / 1e9));
    for (name, q) in [("rtt_p50_s", 0.5), ("rtt_p95_s", 0.95), ("rtt_p99_s", 0.99)] {
        t.f64(name, rows.iter().map(move |r| end(r).stream.rtt.quantile(q) / 1e9));
    }
    t.f64("rtt_max_s", rows.iter().map(|r| known(rtt(r).max, &rtt(r))));
}

fn ecn_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let count = |f: fn(&End) -> u64| rows.iter().map(move |r| f(end(r)));
    t.u64("not_ect", count(|e| e.ecn.counts.codepoints[0]));
    t.u64("ect1", count(|e| e.ecn.counts.codepoints[1]));
    t.u64("ect0", count(|e| e.ecn.counts.codepoints[2]));
    t.u64("ce", count(|e| e.ecn.counts.codepoints[3]));
    t.u64("ece_sent", count(|e| e.ecn.counts.ece));
    t.u64("ece_received", rows.iter().map(|r| peer(r).ecn.counts.ece));
    t.u64("ece_unheard", rows.iter().map(|r| peer(r).counts.ece_unheard));
    t.u64("cwr_sent", count(|e| e.ecn.counts.cwr));
    t.u64("congestion_episodes", count(|e| e.ecn.counts.episodes));
    t.u64("ecn_reductions", count(|e| e.ecn.counts.reductions));
    let checked = |e: &End| match e.ecn.echo_checked() {
        Some(true) => "yes",
        Some(false) => "cannot tell",
        None => "no ECE",
    };
    chosen(t, "ece_checked", rows.iter().map(|r| checked(end(r))));
    let mean = |f: fn(&End) -> Summary| rows.iter().map(move |r| f(end(r)).mean() / 1e9);
    t.f64("ce_to_ece_mean_s", mean(|e| e.ecn.counts.ce_to_ece));
    t.f64("ece_to_cwr_mean_s", mean(|e| e.ecn.counts.ece_to_cwr));
    t.f64("ece_to_reduction_mean_s", mean(|e| e.ecn.counts.ece_to_reduction));
    mark_columns(t, rows);
    t.u64("violations", count(broken));
}

/// Adds the marks reported by counting feedback: NaN without it.
fn mark_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let share = |r: &Direction<'_>| {
        let [_, ect1, ect0, ce] = end(r).ecn.counts.codepoints;
        finite(ce as f64 / (ect0 + ect1 + ce) as f64)
    };
    t.f64("ce_share", rows.iter().map(share));
    let told = |f: fn(&Marks) -> f64| {
        rows.iter().map(move |r| r.1.marks(r.2).filter(|m| m.packets + m.rounds > 0).map_or(f64::NAN, f))
    };
    t.f64("marks_told", told(|marks| marks.packets as f64));
    t.f64("marked_bytes_told", told(|marks| marks.bytes as f64));
    t.f64("marks_per_rtt", told(|marks| finite(marks.in_rounds as f64 / marks.rounds as f64)));
    t.f64("alpha", told(|marks| if marks.rounds > 0 { marks.alpha } else { f64::NAN }));
}

fn violations(all: &[Numbered<'_>], first: u64, standard: Standard) -> Table {
    let ends = all.iter().map(|(number, c)| (*number, &**c)).flat_map(|(i, c)| [(i, c, 0), (i, c, 1)]);
    let mut rows: Vec<(Direction<'_>, ecnlab_trace::Violation)> = ends
        .flat_map(|row| row.1.ends[row.2].violations.list().iter().map(move |v| (row, *v)))
        .filter(|(_, v)| v.rule.section(standard).is_some())
        .collect();
    rows.sort_by_key(|(_, v)| v.packet);
    let mut t = Table::new("violations");
    t.u64("packet", rows.iter().map(|(_, v)| v.packet));
    t.f64("time_s", rows.iter().map(|(_, v)| v.time.saturating_sub(first) as f64 / 1e9));
    t.u32("connection", rows.iter().map(|(r, _)| r.0 as u32));
    texts(&mut t, "by", rows.iter().map(|(r, _)| endpoint(r.1.key.endpoints()[r.2])).collect());
    chosen(&mut t, "rule", rows.iter().map(|(_, v)| v.rule.name()));
    chosen(&mut t, "section", rows.iter().map(|(_, v)| v.rule.section(standard).unwrap_or_default()));
    chosen(&mut t, "says", rows.iter().map(|(_, v)| v.rule.says()));
    t
}

fn interfaces(found: &Analysis) -> Table {
    let all = &found.interfaces;
    let mut t = Table::new("interfaces");
    t.u32("interface", 0..all.len() as u32);
    texts(&mut t, "name", all.iter().map(|i| i.name.clone().unwrap_or_default()).collect());
    t.u32("link_type", all.iter().map(|i| i.link_type.into()));
    t
}

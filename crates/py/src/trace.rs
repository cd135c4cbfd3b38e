//! Analysed captures: tables of connections, directions, violations, interfaces; the packets of one connection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::path::{Path, PathBuf};

use ecnlab_base::Table;
use ecnlab_trace::tables::{
    Numbered, broken_by, connections, datagrams, directions, interfaces, series, sums, verdicts, violations,
};
use ecnlab_trace::{
    Analysis, Capture, Connection, Filter, Input, KINDS, Key, Segment, Standard, TraceError, Tracker, Twice,
    UdpTunnels, Unread, analyse_capture, endpoint,
};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{rows, tables};

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
        let tables = py.detach(|| {
            let all: Vec<Numbered<'_>> = self.found.numbered(first, end).collect();
            let start = self.found.start();
            let broken = all.iter().flat_map(broken_by).collect();
            vec![
                connections(&all, start),
                directions(&all),
                violations(broken, start, self.standard),
                interfaces(&self.found),
                datagrams(&self.found, start),
            ]
        });
        tables::to_python(py, tables)
    }

    /// The rows of one table of the connections from `first` to before `end`, as JSON objects with commas between them.
    fn json(&self, py: Python<'_>, table: &str, first: usize, end: usize) -> PyResult<String> {
        py.detach(|| {
            let all = || -> Vec<Numbered<'_>> { self.found.numbered(first, end).collect() };
            Ok(rows::json(&match table {
                "connections" => connections(&all(), self.found.start()),
                "directions" => directions(&all()),
                "violations" => {
                    let broken =
                        self.found.numbered(first, end).flat_map(|connection| broken_by(&connection)).collect();
                    violations(broken, self.found.start(), self.standard)
                }
                "interfaces" => interfaces(&self.found),
                "datagrams" => datagrams(&self.found, self.found.start()),
                _ => return Err(PyValueError::new_err(format!("there is no table {table:?}"))),
            }))
        })
    }

    /// Verdicts on ECN for the connections from `first` to before `end`: {column: values}, a row for the directions with the
    /// same verdict.
    fn verdicts<'py>(&self, py: Python<'py>, first: usize, end: usize) -> PyResult<Bound<'py, PyDict>> {
        let table = py.detach(|| verdicts(self.found.numbered(first, end)));
        tables::to_python(py, vec![table])
    }

    /// Sums over the connections from `first` to before `end`, by the names of the columns.
    fn sums(&self, py: Python<'_>, first: usize, end: usize) -> Vec<(&'static str, u64)> {
        py.detach(|| sums(self.found.numbered(first, end)))
    }

    /// Number of packets with ECT(1).
    fn ect1(&self, py: Python<'_>) -> u64 {
        let packets =
            |connection: &Connection| connection.ends.iter().map(|end| end.ecn.counts.codepoints[1]).sum::<u64>();
        py.detach(|| self.found.tracker.connections().map(|connection| packets(&connection)).sum())
    }

    /// Number of connections with each result of the ECN negotiation, for the connections from `first` to before `end`.
    fn negotiations(&self, py: Python<'_>, first: usize, end: usize) -> Vec<(&'static str, usize)> {
        py.detach(|| {
            let mut found: Vec<(&'static str, usize)> = Vec::new();
            for (_, connection, _) in self.found.numbered(first, end) {
                let name = connection.negotiation.name();
                match found.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, count)) => *count += 1,
                    None => found.push((name, 1)),
                }
            }
            found
        })
    }

    /// Kinds of packets that are not analysed: "link type", "EtherType", "protocol" or "UDP port", number and packets.
    fn unread(&self) -> Vec<(&'static str, u16, u64)> {
        let each = self.found.totals.unread.iter().map(|&(kind, packets)| match kind {
            Unread::LinkType(number) => ("link type", number, packets),
            Unread::EtherType(number) => ("EtherType", number, packets),
            Unread::Protocol(number) => ("protocol", number.into(), packets),
            Unread::UdpPort(number) => ("UDP port", number, packets),
        });
        each.collect()
    }

    /// Copies of packets in the capture: TCP segments compared; copies at the same interface; copies at another one:
    /// both interfaces and their number.
    fn copies(&self) -> (u64, u64, Vec<(u32, u32, u64)>) {
        let Twice { packets, same, between } = &self.found.twice;
        (*packets, *same, between.clone())
    }

    /// Number of connections with packets without a time.
    fn untimed(&self) -> usize {
        self.found.untimed.len()
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
#[pyo3(signature = (path, *, filter = None, standard = "rfc3168", memory = None, decapsulate = None))]
pub fn trace(
    py: Python<'_>,
    path: PathBuf,
    filter: Option<&str>,
    standard: &str,
    memory: Option<u64>,
    decapsulate: Option<&str>,
) -> PyResult<Traced> {
    let (filter, standard) = (parse(&path, filter)?, standard_of(standard)?);
    let tunnels = parse_tunnels(&path, decapsulate)?;
    let wanted = |segment: &Segment<'_>| filter.as_ref().is_none_or(|filter| filter.wants(segment));
    let tracker = Tracker::new(standard).within(memory.unwrap_or(u64::MAX));
    let found = py
        .detach(|| {
            let capture = Capture::new(Input::open(&path)?)?.opening(tunnels);
            Ok(analyse_capture(capture, tracker, wanted))
        })
        .map_err(|error| failure(&path, error))?;
    if let (Some(filter), None) = (&filter, &found.damage) {
        let checked = filter.check_interfaces(found.interfaces.len(), &found.totals.devices);
        checked.map_err(|error| failure(&path, error))?;
    }
    Ok(Traced { found, standard, path })
}

/// The packets of the connection numbered `connection`, thinned to `most` rows of each kind: ({column: values}, {kind:
/// packets per row}).
#[pyfunction]
#[pyo3(signature = (path, connection, *, filter = None, most = 20_000, decapsulate = None))]
pub fn trace_series<'py>(
    py: Python<'py>,
    path: PathBuf,
    connection: usize,
    filter: Option<&str>,
    most: usize,
    decapsulate: Option<&str>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    let filter = parse(&path, filter)?;
    let tunnels = parse_tunnels(&path, decapsulate)?;
    let (table, every) = py
        .detach(|| {
            let capture = Capture::new(Input::open(&path)?)?.opening(tunnels);
            Ok(series(capture, connection, filter.as_ref(), most))
        })
        .map_err(|error| failure(&path, error))?;
    let thinned = PyDict::new(py);
    for (kind, every) in KINDS.iter().zip(every) {
        thinned.set_item(kind, every)?;
    }
    let table = tables::to_python(py, vec![table])?.get_item("series")?;
    Ok((table.into_pyobject(py)?.into_any(), thinned))
}

/// Names of the codepoints by their bits, and of undecided ones.
const CODEPOINTS: [&str; 5] = ["Not-ECT", "ECT(1)", "ECT(0)", "CE", "cannot tell"];
/// Index of undecided codepoints in [`CODEPOINTS`].
const AMBIGUOUS: u8 = 4;

/// Comparison of two captures of the same packets: {"changes": table, "paths": table, "lost": table}.
#[pyfunction]
pub fn trace_changes(py: Python<'_>, first: PathBuf, second: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let open = |path: &Path| py.detach(|| Input::open(path)).map_err(|error| failure(path, error));
    let (one, other) = (open(&first)?, open(&second)?);
    let found = py.detach(|| ecnlab_trace::compare(one, other));
    let found = found.map_err(|error| failure(&first, error))?;
    let paired = found.changes.iter().map(|(c, packets)| (c.key, c.from_low, c.before, c.after, c.flags, *packets));
    let unclear = found.ambiguous.iter().map(|((key, low), packets)| (*key, *low, AMBIGUOUS, AMBIGUOUS, 0, *packets));
    let rows: Vec<(Key, bool, u8, u8, u16, u64)> = paired.chain(unclear).collect();
    let ends =
        |low: bool| rows.iter().map(|row| endpoint(row.0.endpoints()[usize::from(row.1 != low)])).collect::<Vec<_>>();
    let mut t = Table::new("changes");
    t.texts("from", ends(true));
    t.texts("to", ends(false));
    let codepoints = CODEPOINTS.map(str::to_owned);
    t.text("before", rows.iter().map(|row| row.2.into()), &codepoints);
    t.text("after", rows.iter().map(|row| row.3.into()), &codepoints);
    t.u32("flags_changed", rows.iter().map(|row| row.4.into()));
    t.u64("packets", rows.iter().map(|row| row.5));
    let result = PyDict::new(py);
    result.set_item("changes", tables::to_python(py, vec![t])?.get_item("changes")?)?;
    let others = tables::to_python(py, vec![paths(&found), lost(&found)])?;
    for name in ["paths", "lost"] {
        result.set_item(name, others.get_item(name)?)?;
    }
    Ok(result)
}

/// Returns a row for each direction between the two places.
fn paths(found: &ecnlab_trace::Comparison) -> Table {
    let rows: Vec<_> = found.paths.iter().collect();
    let ends = |low: bool| {
        rows.iter()
            .map(|((key, from_low), _)| endpoint(key.endpoints()[usize::from(*from_low != low)]))
            .collect::<Vec<_>>()
    };
    let mut t = Table::new("paths");
    t.texts("from", ends(true));
    t.texts("to", ends(false));
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

/// Returns a row for each listed packet that was found only at one place.
fn lost(found: &ecnlab_trace::Comparison) -> Table {
    let listed =
        found.paths.iter().flat_map(|(direction, path)| path.lost.iter().map(move |packet| (direction, packet)));
    let mut rows: Vec<_> = listed.collect();
    rows.sort_by_key(|(direction, packet)| (packet.side, packet.number, *direction));
    let ends = |low: bool| {
        rows.iter()
            .map(|((key, from_low), _)| endpoint(key.endpoints()[usize::from(*from_low != low)]))
            .collect::<Vec<_>>()
    };
    let mut t = Table::new("lost");
    t.u64("packet", rows.iter().map(|row| row.1.number));
    t.f64("time_s", rows.iter().map(|row| (row.1.time - found.starts[row.1.side]) as f64 / 1e9));
    t.texts("from", ends(true));
    t.texts("to", ends(false));
    t.text("side", rows.iter().map(|row| row.1.side as u32), &["first", "second"].map(str::to_owned));
    t.text("codepoint", rows.iter().map(|row| row.1.ecn.into()), &CODEPOINTS.map(str::to_owned));
    t.u64("len", rows.iter().map(|row| row.1.len));
    t.u64("missing_bytes", rows.iter().map(|row| row.1.missing));
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
        TraceError::Filter(_) | TraceError::Decapsulate(_) => TraceFailure::new_err(error.to_string()),
        _ => TraceFailure::new_err(format!("{}: {error}", path.display())),
    }
}

fn io_failure(path: &Path, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, error.to_string(), path.to_owned())),
        None => TraceFailure::new_err(format!("{}: {error}", path.display())),
    }
}

fn parse_tunnels(path: &Path, text: Option<&str>) -> PyResult<UdpTunnels> {
    let parsed = text.map(UdpTunnels::parse).transpose();
    parsed.map(Option::unwrap_or_default).map_err(|error| failure(path, error))
}

fn totals<'py>(py: Python<'py>, found: &Analysis) -> PyResult<Bound<'py, PyDict>> {
    let (dict, t) = (PyDict::new(py), &found.totals);
    for (name, count) in t.counts() {
        dict.set_item(name, count)?;
    }
    dict.set_item("first_ns", t.times.map(|times| times.0))?;
    dict.set_item("last_ns", t.times.map(|times| times.1))?;
    Ok(dict)
}

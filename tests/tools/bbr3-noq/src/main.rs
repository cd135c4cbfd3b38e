//! BBRv3 of noq-proto over QUIC beside ecnlab's over TCP, each alone on the same paths: `make bbr3-noq` prints the table.
//!
//! The system seeds noq's generator, so its runs differ each time. Scenarios reject it for this reason.

mod recorder;
mod series;

use std::sync::Arc;

use ecnlab_engine::{Column, Output};
use ecnlab_quic::Controller;

use recorder::Record;
use series::{EVERY_S, Point, Readings, WARMUP_S, readings, startup, until};

const RUNS: u64 = 10;

/// The rate in bit/s, but [`LOW`] from [`FALL_S`] to [`RISE_S`] on a path where it changes.
const RATE: f64 = 20e6;
const LOW: f64 = 5e6;
const FALL_S: f64 = 10.0;
const RISE_S: f64 = 20.0;

struct Path {
    name: &'static str,
    /// Keys of its queue.
    queue: &'static str,
    /// Probability of a loss.
    loss: f64,
    changes: bool,
}

/// A path without losses.
const fn path(name: &'static str, queue: &'static str) -> Path {
    Path { name, queue, loss: 0.0, changes: false }
}

/// 100 kB are 20 Mb/s in 40 ms.
const BDP: &str = r#"discipline = "droptail", limit = "100 kB""#;
const PATHS: [Path; 5] = [
    path("1 BDP", BDP),
    path("4 BDP", r#"discipline = "droptail", limit = "400 kB""#),
    path("step", r#"discipline = "step", threshold = "5 ms", limit = "400 kB", ecn = true"#),
    Path { loss: 0.02, ..path("2 % loss", BDP) },
    Path { changes: true, ..path("5 Mb/s from 10 to 20 s", BDP) },
];

/// A law: the key of the flow that chooses it, and the bytes of a full packet that windows and rates count, and all of them.
struct Ends {
    key: &'static str,
    payload: f64,
    packet: f64,
}

const OURS: Ends = Ends { key: r#"tcp = "bbr""#, payload: 1448.0, packet: 1500.0 };
const NOQ: Ends = Ends { key: r#"quic = "noq""#, payload: 1452.0, packet: 1480.0 };

/// Time after a state in which its packets arrive at the queue.
const FEEDBACK_S: f64 = 0.1;

type Failure = Box<dyn std::error::Error>;

fn run(path: &Path, ends: &Ends, seed: u64, record: &Record) -> Result<Output, Failure> {
    let (Path { queue, loss, .. }, key) = (path, ends.key);
    let change = format!(r#", ["{FALL_S} s", "{LOW} bps"], ["{RISE_S} s", "{RATE} bps"]"#);
    let change = if path.changes { &change } else { "" };
    let text = format!(
        r#"
format = 1
duration = "30 s"
warmup = "{WARMUP_S} s"
sample = "{EVERY_S} s"
profile = "linux-7"
link.pipe = {{ from = "server", to = "client", rate = [["0 s", "{RATE} bps"]{change}], delay = "20 ms", queue = "only", loss = {loss} }}
queue.only = {{ {queue} }}
tcp.bbr = {{ congestion = "bbr3", ecn = "accecn" }}
quic.noq = {{ stack = "noq", crypto = "null" }}
flow.bulk = {{ from = "server", to = "client", traffic = "ftp", {key} }}
"#
    );
    let mut plan = ecnlab_scenario::parse_scenario("bbr3-noq", &text)?.plan(seed);
    if let Some([from, _]) = &mut plan.flows[0].quic {
        Arc::make_mut(from).controller = Some(Controller::noq(record.clone()));
    }
    Ok(ecnlab_engine::run(&plan, seed)?)
}

fn column(out: &Output, table: &str, name: &str) -> Vec<f64> {
    match out.table(table).and_then(|table| table.column(name)) {
        Some(Column::U64(values)) => values.iter().map(|&value| value as f64).collect(),
        Some(Column::F64(values)) => values.clone(),
        _ => panic!("{table} has no numbers {name}"),
    }
}

/// The points of ecnlab's BBRv3.
fn points(out: &Output) -> Vec<Point> {
    let series = |name| column(out, "flow_series", name);
    let [times, states, windows] = ["time_s", "bbr_state", "cwnd_bytes"].map(series);
    let [rates, rtts, bounds] = ["bbr_max_bw_bps", "bbr_min_rtt_s", "bbr_inflight_longterm_bytes"].map(series);
    let point = |row: usize| Point {
        time: times[row],
        phase: states[row] as usize,
        max_bw: rates[row],
        min_rtt: rtts[row],
        bounded: bounds[row].is_finite(),
        window: windows[row],
    };
    (0..times.len()).map(point).filter(|point| point.phase > 0).collect()
}

/// Readings of a run; those of the path are from [`WARMUP_S`] on.
fn all_readings(path: &Path, out: &Output, points: &[Point], ends: &Ends) -> Readings {
    let value = |table, name| column(out, table, name)[0];
    let share = ends.payload / ends.packet;
    let mut all = readings(points, RATE * share, ends.payload);
    let change = |since, holds: &dyn Fn(f64) -> bool| match path.changes {
        true => until(points, since, |point| holds(point.max_bw / share)),
        false => f64::NAN,
    };
    all.push(("from the fall to max_bw within 10 %, s", change(FALL_S, &|rate| rate <= 1.1 * LOW)));
    all.push(("from the rise to max_bw within 10 %, s", change(RISE_S, &|rate| rate >= 0.9 * RATE)));
    let series = |name| column(out, "flow_series", name);
    let (times, drops, marks) = (series("time_s"), series("tail_drops"), series("marks"));
    let row = times.partition_point(|&time| time < startup(points) + FEEDBACK_S).min(times.len() - 1);
    all.push(("drops by the end of Startup", drops[row]));
    all.push(("later drops", drops[drops.len() - 1] - drops[row]));
    all.push(("marks", marks[marks.len() - 1]));
    all.push(("mean queue, kB", value("links", "queue_mean_bytes") / 1e3));
    all.push(("goodput, Mb/s", value("flows", "goodput_bps") / 1e6));
    all
}

/// The least and greatest of the runs.
fn range(runs: &[Readings], row: usize) -> String {
    let values = || runs.iter().map(|run| run[row].1);
    let text = |value: f64| {
        let places = if value.fract() == 0.0 || value.abs() >= 100.0 { 0 } else { 1 + usize::from(value.abs() < 10.0) };
        format!("{value:.places$}")
    };
    match (text(values().fold(f64::NAN, f64::min)), text(values().fold(f64::NAN, f64::max))) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    }
}

fn main() -> Result<(), Failure> {
    let mut heads = ["ecnlab / noq".to_owned(), "---".to_owned()];
    let mut rows: Vec<String> = Vec::new();
    for path in &PATHS {
        let (mut ours, mut noqs) = (Vec::new(), Vec::new());
        for seed in 1..=RUNS {
            let record = Record::default();
            let out = run(path, &OURS, seed, &record)?;
            ours.push(all_readings(path, &out, &points(&out), &OURS));
            let out = run(path, &NOQ, seed, &record)?;
            noqs.push(all_readings(path, &out, &record.points(), &NOQ));
        }
        heads[0] += &format!(" | {}", path.name);
        heads[1] += " | ---";
        rows.resize_with(ours[0].len(), String::new);
        for (row, text) in rows.iter_mut().enumerate() {
            if text.is_empty() {
                *text = ours[0][row].0.to_owned();
            }
            *text += &match (range(&ours, row), range(&noqs, row)) {
                (ours, noq) if ours == noq => format!(" | {}", ours.replace("NaN", "")),
                (ours, noq) => format!(" | {ours} / {noq}"),
            };
        }
    }
    for row in heads.iter().chain(&rows) {
        println!("| {row} |");
    }
    Ok(())
}

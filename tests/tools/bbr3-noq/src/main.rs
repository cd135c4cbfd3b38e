//! BBRv3 of noq-proto over QUIC beside ecnlab's over TCP, each alone on the same paths: `make bbr3-noq` prints the tables.
//!
//! The system seeds noq's generator, so its runs differ each time. Scenarios reject it for this reason.

mod recorder;
mod series;

use std::sync::Arc;

use ecnlab_engine::{Column, Output};
use ecnlab_quic::Controller;

use recorder::Record;
use series::{EVERY_S, Point, WARMUP_S, readings, startup, until};

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

/// 100 kB are 20 Mb/s in 40 ms.
const BDP: &str = r#"discipline = "droptail", limit = "100 kB""#;
const PATHS: [Path; 5] = [
    Path { name: "drop-tail of 1 BDP", queue: BDP, loss: 0.0, changes: false },
    Path {
        name: "drop-tail of 4 BDP",
        queue: r#"discipline = "droptail", limit = "400 kB""#,
        loss: 0.0,
        changes: false,
    },
    Path {
        name: "a step of 5 ms",
        queue: r#"discipline = "step", threshold = "5 ms", limit = "400 kB", ecn = true"#,
        loss: 0.0,
        changes: false,
    },
    Path { name: "drop-tail of 1 BDP and random loss of 2 %", queue: BDP, loss: 0.02, changes: false },
    Path { name: "drop-tail of 100 kB and 5 Mb/s from 10 to 20 s", queue: BDP, loss: 0.0, changes: true },
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
fn all_readings(path: &Path, out: &Output, points: &[Point], ends: &Ends) -> Vec<(&'static str, f64)> {
    let value = |table, name| column(out, table, name)[0];
    let share = ends.payload / ends.packet;
    let mut all = readings(points, RATE * share, ends.payload);
    if path.changes {
        let fallen = until(points, FALL_S, |point| point.max_bw <= 1.1 * LOW * share);
        let risen = until(points, RISE_S, |point| point.max_bw >= 0.9 * RATE * share);
        all.push(("from the fall to max_bw within 10 %, s", fallen));
        all.push(("from the rise to max_bw within 10 %, s", risen));
    }
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
fn cell(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let text = |value: f64| if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") };
    match (text(least), text(most)) {
        _ if values.iter().all(|value| value.is_nan()) => "none".to_owned(),
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    }
}

fn main() -> Result<(), Failure> {
    for path in &PATHS {
        let mut runs = [Vec::new(), Vec::new()];
        for seed in 1..=RUNS {
            let record = Record::default();
            let ours = run(path, &OURS, seed, &record)?;
            runs[0].push(all_readings(path, &ours, &points(&ours), &OURS));
            let noq = run(path, &NOQ, seed, &record)?;
            runs[1].push(all_readings(path, &noq, &record.points(), &NOQ));
        }
        println!("With {}:\n\n| | ecnlab | noq |\n| --- | --- | --- |", path.name);
        for (row, (name, _)) in runs[0][0].iter().enumerate() {
            let [ours, noq] = runs.each_ref().map(|runs| cell(&runs.iter().map(|run| run[row].1).collect::<Vec<_>>()));
            println!("| {name} | {ours} | {noq} |");
        }
        println!();
    }
    Ok(())
}

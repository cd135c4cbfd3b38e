//! Counters and sojourn times in `queue_series`, against hand arithmetic, `queues_run` and the events of packets.

use std::collections::VecDeque;

use crate::common::{droptail, flow, number, path, red, tcp};
use ecnlab_aqm::registry::Params as Law;
use ecnlab_aqm::{Common, Config};
use ecnlab_base::{Dur, Length};
use ecnlab_engine::{Column, Output, Plan, run};

/// Packets of the link `pipe`, the third of access, access~, pipe, pipe~.
const PIPE: u32 = 2;
const LINKS: usize = 4;
const COUNTERS: [&str; 5] = ["arrived", "marks", "early_drops", "forced_drops", "tail_drops"];

/// Datagrams of 1000 bytes on the wire, one each 5 ms, into a link that needs 8 ms for one. The warm-up ends within an
/// interval.
fn plan(queue: &Config, packet_events: bool) -> Plan {
    let traffic = r#"{"kind": "cbr", "rate": "1.6 Mbps", "packet": "1000 B", "ecn": "ect0"}"#;
    let cbr = serde_json::from_str(traffic).expect("cbr");
    let network = path(queue, "1 Mbps", "1 ms", vec![flow("u", 2, &tcp("modern", |_| ()), cbr)]);
    Plan {
        duration: Dur::from_s(5),
        warmup: Dur::from_ms(1250),
        sample: Some(Dur::from_ms(500)),
        packet_events,
        ..network
    }
}

fn codel() -> Config {
    let params = serde_json::from_str("{}").expect("CoDel's parameters");
    Config::new(Law::Codel(params), Common { ecn: true, ..Common::with_limit(Length::Packets(30.0)) })
}

fn with_quantiles(queue: Config) -> Config {
    Config { common: Common { quantiles: true, ..queue.common }, ..queue }
}

fn column(out: &Output, table: &str, name: &str) -> Vec<f64> {
    let rows = out.table(table).map_or(0, |table| table.rows());
    (0..rows).map(|row| number(out, table, name, row)).collect()
}

/// The rows of the pipe.
fn series(out: &Output, name: &str) -> Vec<f64> {
    column(out, "queue_series", name).into_iter().skip(PIPE as usize).step_by(LINKS).collect()
}

/// Increases from row to row.
fn steps(counter: &[f64]) -> Vec<f64> {
    counter.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Events of the pipe in the interval that ends at a sample: their counts by name, and the sojourn times of the packets
/// that left.
#[derive(Default)]
struct Seen {
    events: Vec<String>,
    sojourns: Vec<f64>,
}

/// The events of the pipe by intervals, from those of single packets in a FIFO.
fn seen(out: &Output, intervals: usize) -> Vec<Seen> {
    let packets = out.table("packets").expect("events");
    let Some(Column::Text { codes, names }) = packets.column("event") else { panic!("no events") };
    let (links, times) = (column(out, "packets", "link"), column(out, "packets", "time_ps"));
    let mut all: Vec<Seen> = (0..intervals).map(|_| Seen::default()).collect();
    let mut queue = VecDeque::new();
    for row in (0..packets.rows()).filter(|&row| links[row] == f64::from(PIPE)) {
        // A sample comes after all other events at its time.
        let one = &mut all[(times[row] / 0.5e12).ceil() as usize];
        let name = &names[codes[row] as usize];
        match name.as_str() {
            "enqueue" => queue.push_back(times[row]),
            "dequeue" => one.sojourns.push(times[row] - queue.pop_front().expect("a packet")),
            _ => {}
        }
        one.events.push(name.clone());
    }
    all
}

/// The smallest value that at least the share `q` does not exceed.
fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(q * sorted.len() as f64).ceil() as usize - 1]
}

fn close(a: f64, b: f64, error: f64) -> bool {
    (a - b).abs() <= error * b.abs() || a.is_nan() && b.is_nan()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Compares each interval of the series with the events of packets in it, and its last row with `queues_run`.
fn compare(queue: &Config) -> Output {
    let out = run(&plan(queue, true), 1).expect("a run");
    let times = series(&out, "time_s");
    assert_eq!((times[0], times[times.len() - 1]), (0.0, 5.0));
    let intervals = seen(&out, times.len());
    let count =
        |one: &Seen, names: &[&str]| one.events.iter().filter(|name| names.contains(&name.as_str())).count() as f64;
    let events: [&[&str]; 5] = [
        &["enqueue", "drop_early", "drop_forced", "drop_tail"],
        &["mark"],
        &["drop_early"],
        &["drop_forced"],
        &["drop_tail"],
    ];
    for (name, events) in COUNTERS.iter().zip(events) {
        let counter = series(&out, name);
        let counted: Vec<f64> = intervals.iter().skip(1).map(|one| count(one, events)).collect();
        assert_eq!(steps(&counter), counted, "{name}");
        // The first of two rows of each link in `queues_run` is that of all groups.
        assert_eq!(counter.last().copied(), Some(number(&out, "queues_run", name, 2 * PIPE as usize)), "{name}");
    }
    let quantiles = [("sojourn_p50_s", 0.5), ("sojourn_p99_s", 0.99)].map(|(name, q)| (series(&out, name), q));
    for (i, (one, found)) in intervals.iter().zip(series(&out, "sojourn_mean_s")).enumerate() {
        assert!(close(found, mean(&one.sojourns) * 1e-12, 1e-9), "{i}: {found}");
        for (values, q) in &quantiles {
            let exact = if queue.common.quantiles && !one.sojourns.is_empty() {
                quantile(&one.sojourns, *q) * 1e-12
            } else {
                f64::NAN
            };
            assert!(close(values[i], exact, 0.004), "{i}, {q}: {} and {exact}", values[i]);
        }
    }
    out
}

#[test]
fn a_full_droptail_queue_drops_what_the_link_cannot_carry() {
    let out = compare(&with_quantiles(droptail(10.0)));
    // 100 packets arrive in 0.5 s and 62.5 leave. The queue of 10 is full within the first 0.15 s.
    assert_eq!(steps(&series(&out, "arrived"))[1..], [100.0; 9]);
    assert!(steps(&series(&out, "tail_drops"))[1..].iter().all(|drops| (37.0..=38.0).contains(drops)));
    assert_eq!(series(&out, "marks"), vec![0.0; 11]);
    // A packet admitted to a full queue waits for nine others and the rest of a transmission: 72 to 80 ms.
    for name in ["sojourn_mean_s", "sojourn_p50_s", "sojourn_p99_s"] {
        assert!(series(&out, name)[2..].iter().all(|time| (0.0717..=0.0803).contains(time)), "{name}");
    }
}

#[test]
fn laws_that_mark_count_marks_in_each_interval() {
    for queue in [red(5.0, 15.0, 0.1), with_quantiles(red(5.0, 15.0, 0.1)), codel(), with_quantiles(codel())] {
        let out = compare(&queue);
        assert!(series(&out, "marks").last() > Some(&20.0));
    }
}

#[test]
fn the_sides_of_an_interval_do_not_depend_on_events_or_the_end_of_the_warmup() {
    let columns = [&COUNTERS[..], &["sojourn_mean_s"]].concat();
    let of = |plan: &Plan| {
        let out = run(plan, 1).expect("a run");
        columns.iter().map(|name| column(&out, "queue_series", name).iter().map(|x| x.to_bits()).collect()).collect()
    };
    for queue in [droptail(10.0), with_quantiles(droptail(10.0)), codel()] {
        let (with, without) = (plan(&queue, true), plan(&queue, false));
        let reference: Vec<Vec<u64>> = of(&with);
        assert_eq!(of(&without), reference);
        assert_eq!(of(&Plan { warmup: Dur::ZERO, ..without }), reference);
    }
}

#[test]
fn packets_that_need_not_wait_have_a_sojourn_of_zero_and_no_quantiles() {
    let out = run(&plan(&droptail(10.0), false), 1).expect("a run");
    let access = |name| column(&out, "queue_series", name).into_iter().step_by(LINKS).collect::<Vec<f64>>();
    assert_eq!(access("sojourn_mean_s")[1..], [0.0; 10]);
    assert!(access("sojourn_p50_s").iter().all(|time| time.is_nan()));
    // Nothing leaves on the way back.
    let back = column(&out, "queue_series", "sojourn_mean_s").into_iter().skip(1).step_by(LINKS);
    assert!(back.into_iter().all(f64::is_nan));
}

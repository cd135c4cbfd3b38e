//! Marks and drops of each flow in `flow_series`, against hand arithmetic, the events of packets and `queue_series`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::common::{droptail, flow, ftp, number, path, red, tcp};
use ecnlab_aqm::registry::Params as Law;
use ecnlab_aqm::{Common, Config};
use ecnlab_base::{Dur, Length};
use ecnlab_engine::{Column, Output, Plan, run};
use ecnlab_tcp::registry::EcnKind;

const COUNTERS: [&str; 4] = ["marks", "early_drops", "forced_drops", "tail_drops"];
const EVENTS: [&str; 4] = ["mark", "drop_early", "drop_forced", "drop_tail"];

fn tcp_with(ecn: EcnKind) -> Arc<ecnlab_tcp::Config> {
    tcp("modern", |config| config.ecn = ecn)
}

fn law(kind: &str, json: &str, limit: f64) -> Config {
    let law = match kind {
        "step" => Law::Step(serde_json::from_str(json).expect("step")),
        "dualpi2" => Law::DualPi2(serde_json::from_str(json).expect("DualPI2")),
        _ => Law::FqCodel(serde_json::from_str(json).expect("FQ-CoDel")),
    };
    Config::new(law, Common { ecn: true, ..Common::with_limit(Length::Packets(limit)) })
}

/// A flow for each of `ecn` through a pipe of 1 Mbit/s behind a link of 10 Mbit/s.
fn plan(queue: &Config, ecn: &[EcnKind], sample: Dur) -> Plan {
    let flows = ecn.iter().enumerate().map(|(i, &ecn)| flow(&format!("f{i}"), 2, &tcp_with(ecn), ftp()));
    let network = path(queue, "1 Mbps", "1 ms", flows.collect());
    Plan { duration: Dur::from_s(20), warmup: Dur::ZERO, sample: Some(sample), packet_events: true, ..network }
}

fn rows(out: &Output, table: &str) -> usize {
    out.table(table).map_or(0, ecnlab_engine::Table::rows)
}

/// The names in a column of text.
fn texts(out: &Output, table: &str, column: &str) -> Vec<String> {
    match out.table(table).and_then(|table| table.column(column)) {
        Some(Column::Text { codes, names }) => codes.iter().map(|&code| names[code as usize].clone()).collect(),
        _ => panic!("no {table}.{column}"),
    }
}

fn column(out: &Output, table: &str, name: &str) -> Vec<f64> {
    (0..rows(out, table)).map(|row| number(out, table, name, row)).collect()
}

/// The counters of the only flow at a sample, in the order of [`COUNTERS`].
fn at(out: &Output, row: usize) -> [f64; 4] {
    COUNTERS.map(|name| number(out, "flow_series", name, row))
}

#[test]
fn a_burst_of_ten_loses_what_a_queue_of_four_cannot_hold() {
    // Ten segments follow each other by 1.2 ms, and the first leaves the pipe after 12 ms: one is on the wire, four wait.
    let out = run(&plan(&droptail(4.0), &[EcnKind::Off], Dur::from_ms(16)), 1).expect("a run");
    assert_eq!(at(&out, 0), [0.0; 4]);
    assert_eq!(at(&out, 1), [0.0, 0.0, 0.0, 5.0]);
}

#[test]
fn a_burst_of_ten_is_marked_above_a_step_of_four() {
    // Segment i of the burst finds i - 2 others in the queue: more than four from the seventh on.
    let step = law("step", r#"{"threshold": "4 packets"}"#, 100.0);
    let out = run(&plan(&step, &[EcnKind::Rfc3168], Dur::from_ms(16)), 1).expect("a run");
    assert_eq!(at(&out, 1), [4.0, 0.0, 0.0, 0.0]);
}

/// Compares each row with the events of the flow's packets up to its time; returns the totals at the end by flow.
fn compare(queue: &Config, ecn: &[EcnKind]) -> HashMap<String, [f64; 4]> {
    let out = run(&plan(queue, ecn, Dur::from_ms(500)), 1).expect("a run");
    let (flows, times) = (texts(&out, "flow_series", "flow"), column(&out, "flow_series", "time_s"));
    let (of, events) = (texts(&out, "packets", "flow"), texts(&out, "packets", "event"));
    let when = column(&out, "packets", "time_ps");
    let mut last = HashMap::new();
    for (row, (flow, time)) in flows.iter().zip(&times).enumerate() {
        let counted = EVENTS.map(|event| {
            let is = |i: &usize| &of[*i] == flow && events[*i] == event && when[*i] <= time * 1e12 + 0.5;
            (0..when.len()).filter(is).count() as f64
        });
        assert_eq!(at(&out, row), counted, "{flow} at {time}");
        last.insert(flow.clone(), counted);
    }
    for (i, name) in COUNTERS.iter().enumerate() {
        // The last four rows of `queue_series` are the links at the end of the run.
        let queues: f64 = column(&out, "queue_series", name).iter().rev().take(4).sum();
        assert_eq!(last.values().map(|counts| counts[i]).sum::<f64>(), queues, "{name}");
    }
    last
}

#[test]
fn each_flow_has_the_marks_and_drops_of_its_own_packets() {
    let mut full = red(3.0, 9.0, 0.1);
    full.common.limit = Length::Packets(12.0);
    let found = compare(&full, &[EcnKind::Off, EcnKind::Rfc3168, EcnKind::Rfc3168]);
    assert_eq!(found["f0"][0], 0.0, "a flow without ECN has no mark");
    assert!(found["f0"][1] > 0.0 && found["f1"][0] > 0.0 && found["f2"][0] > 0.0, "{found:?}");
    assert_ne!(found["f1"], found["f2"]);
}

#[test]
fn queues_in_queues_report_every_mark_and_drop_by_flow() {
    for queue in [law("dualpi2", "{}", 20.0), law("fq_codel", "{}", 20.0)] {
        let found = compare(&queue, &[EcnKind::Off, EcnKind::Dctcp]);
        assert!(found["f1"][0] > 0.0 && found["f0"].iter().sum::<f64>() > 0.0, "{found:?}");
    }
}

#[test]
fn reported_marks_are_those_of_the_flow_where_feedback_counts_them() {
    let out =
        run(&plan(&red(3.0, 9.0, 0.1), &[EcnKind::Dctcp, EcnKind::Rfc3168], Dur::from_ms(500)), 1).expect("a run");
    let (marked, flows) = (column(&out, "flow_series", "bytes_marked"), texts(&out, "flow_series", "flow"));
    let of =
        |name: &str| marked.iter().zip(&flows).filter(|(_, flow)| *flow == name).map(|(&bytes, _)| bytes).collect();
    let (counted, presence): (Vec<f64>, Vec<f64>) = (of("f0"), of("f1"));
    assert_eq!(counted.last().copied(), Some(number(&out, "flows_run", "bytes_marked", 0)));
    assert!(counted.last() > Some(&0.0) && counted.is_sorted());
    assert!(presence.iter().all(|bytes| bytes.is_nan()), "{presence:?}");
}

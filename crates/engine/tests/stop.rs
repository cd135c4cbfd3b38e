//! Flows that stop: what becomes of what they have under way.

use crate::common;

use common::{crr, droptail, flow, ftp, number, path, tcp};
use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_engine::{Column, Errors, FlowPlan, Output, Plan, run};
use ecnlab_traffic::{FtpParams, Params};

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// A flow from `a` to `b` that stops at `ms`, over 2 Mbit/s and 50 ms; every packet's way is recorded.
fn stopped(traffic: Params, ms: u64) -> Plan {
    let tcp = tcp("modern", |_| {});
    let one = FlowPlan { stop: Some(at(ms)), ..flow("f", 2, &tcp, traffic) };
    let plan = path(&droptail(50.0), "2 Mbps", "50 ms", vec![one]);
    Plan { warmup: Dur::ZERO, packet_events: true, ..plan }
}

fn json(text: &str) -> Params {
    serde_json::from_str(text).expect("traffic")
}

/// Times in seconds of the packets' events of one kind on one link, with their payload and flags.
fn events(out: &Output, link: &str, event: &str) -> Vec<(f64, u32, u32)> {
    let table = out.table("packets").expect("the packets");
    let text = |name: &str| {
        let Some(Column::Text { codes, names }) = table.column(name) else { panic!("no {name}") };
        codes.iter().map(|&code| names[code as usize].clone()).collect::<Vec<_>>()
    };
    let numbers = |name: &str| {
        let Some(Column::U32(v)) = table.column(name) else { panic!("no {name}") };
        v.clone()
    };
    let Some(Column::F64(times)) = table.column("time_s") else { panic!("no times") };
    let (links, kinds, lens, flags) = (text("link"), text("event"), numbers("len"), numbers("flags"));
    let wanted = |&i: &usize| links[i] == link && kinds[i] == event;
    (0..times.len()).filter(wanted).map(|i| (times[i], lens[i], flags[i])).collect()
}

#[test]
fn a_bulk_transfer_ends_with_what_it_has_sent() {
    let out = run(&stopped(ftp(), 10_000), 1).expect("a run that balances");
    let sent = events(&out, "access", "enqueue");
    let data = sent.iter().filter(|e| e.1 > 0);
    // Nothing new after the stop; 50 packets of queue are 300 ms.
    assert!(data.clone().all(|e| e.0 <= 10.0) && data.clone().any(|e| e.0 > 9.5));
    let fins: Vec<_> = sent.iter().filter(|e| e.2 & 1 == 1).collect();
    assert!(fins.len() == 1 && fins[0].0 == 10.0 && fins[0].1 == 0, "{fins:?}");
    let bytes = data.map(|e| f64::from(e.1)).sum::<f64>();
    assert_eq!(number(&out, "flows", "bytes_delivered", 0) + resent(&out), bytes);
    let finish = number(&out, "flows", "finish_s", 0);
    assert!((10.05..10.6).contains(&finish), "{finish}");
    // A transfer that was cut is no completed file.
    assert_eq!(number(&out, "flows", "exchanges", 0), 0.0);
    assert!(events(&out, "access", "enqueue").iter().all(|e| e.0 < 11.0), "the connection is over");
}

fn resent(out: &Output) -> f64 {
    number(out, "flows", "bytes_sent", 0) - number(out, "flows", "bytes_delivered", 0)
}

#[test]
fn what_was_lost_before_the_stop_is_sent_again_after_it() {
    let mut plan = stopped(ftp(), 10_000);
    plan.links[2].errors = Errors { loss: 0.1, ..Errors::default() };
    let out = run(&plan, 1).expect("a run that balances");
    let finish = number(&out, "flows", "finish_s", 0);
    assert!(finish > 10.0, "{finish}");
    // Conservation, checked in the run, has compared what was written with what arrived. Everything ends.
    let last = events(&out, "access", "enqueue").iter().map(|e| e.0).fold(0.0, f64::max);
    assert!(last < 40.0, "{last}");
}

#[test]
fn a_file_that_is_on_its_way_entirely_is_complete() {
    // 10 kB are ten segments at most, all sent within the first two round trips of 100 ms; the last arrives later.
    let file = |ms| {
        let size = Some(Bytes(10_000));
        run(&stopped(Params::Ftp(FtpParams { size }), ms), 1).expect("a run")
    };
    let (whole, cut) = (file(130), file(50));
    assert_eq!(
        (number(&whole, "flows", "exchanges", 0), number(&whole, "flows", "bytes_delivered", 0)),
        (1.0, 10_000.0)
    );
    // At 50 ms the SYN is under way: nothing was sent, nothing will be, and the connection closes in order.
    assert_eq!((number(&cut, "flows", "exchanges", 0), number(&cut, "flows", "bytes_delivered", 0)), (0.0, 0.0));
    assert!((number(&cut, "flows", "finish_s", 0) - 0.05).abs() < 1e-12);
    assert!(events(&cut, "access", "enqueue").iter().any(|e| e.2 & 1 == 1));
}

#[test]
fn a_file_that_is_done_before_the_stop_is_as_without_it() {
    let file = || Params::Ftp(FtpParams { size: Some(Bytes(10_000)) });
    let mut plan = stopped(file(), 20_000);
    let with = run(&plan, 1).expect("a run");
    plan.flows[0].stop = None;
    // As texts, for what is missing is equal to nothing.
    assert_eq!(format!("{with:?}"), format!("{:?}", run(&plan, 1).expect("a run")));
}

#[test]
fn the_transaction_under_way_is_completed_and_none_begins() {
    let out = run(&stopped(crr(50_000), 10_000), 1).expect("a run");
    let column = |name: &str| {
        let Some(Column::F64(v)) = out.table("transactions").and_then(|t| t.column(name)) else { panic!("no {name}") };
        v.clone()
    };
    let (start, end) = (column("start_s"), column("end_s"));
    assert!(start.len() > 10 && start.iter().all(|&t| t < 10.0));
    assert!(end[..end.len() - 1].iter().all(|&t| t <= 10.0) && end[end.len() - 1] > 10.0, "{end:?}");
    assert_eq!(number(&out, "flows", "exchanges", 0), start.len() as f64);
}

#[test]
fn datagrams_end_at_the_stop_and_those_under_way_arrive() {
    // One every 8 ms from 0 on: that of 10 s would be the 1251st, and is not sent.
    let cbr = r#"{"kind": "cbr", "rate": "1 Mbps", "packet": "1000 B"}"#;
    let out = run(&stopped(json(cbr), 10_000), 1).expect("a run");
    assert_eq!(number(&out, "flows_run", "data_segments_sent", 0), 1250.0);
    assert_eq!(number(&out, "flows_run", "bytes_delivered", 0), 1250.0 * 972.0);
    let bursts = r#"{"kind": "on-off", "rate": "1 Mbps", "packet": "1000 B", "on": "1 s", "off": "1 s"}"#;
    let out = run(&stopped(json(bursts), 10_000), 1).expect("a run");
    assert!(events(&out, "access", "enqueue").iter().all(|e| e.0 < 10.0));
}

#[test]
fn requests_of_web_clients_are_answered_and_no_more_are_sent() {
    let web = r#"{"kind": "web", "sessions": 100, "inter_session": "100 ms", "pages": 3, "inter_page": "1 s",
        "objects": 4, "inter_object": "50 ms", "object_size": "10 kB", "packet": "1000 B"}"#;
    let out = run(&stopped(json(web), 5_000), 1).expect("a run");
    let table = out.table("objects").expect("the objects");
    let Some(Column::F64(requested)) = table.column("asked_s") else { panic!("no times") };
    let Some(Column::F64(answered)) = table.column("answered_s") else { panic!("no times") };
    let Some(Column::Bool(complete)) = table.column("complete") else { panic!("no flags") };
    assert!(requested.len() > 100 && requested.iter().all(|&t| t < 5.0));
    assert!(complete.iter().all(|&done| done));
    assert!(answered.iter().any(|&t| t > 5.0));
}

#[test]
fn the_stop_of_one_flow_leaves_the_draws_of_another() {
    let tcp = tcp("modern", |_| {});
    let cbr = || json(r#"{"kind": "cbr", "rate": "300 kbps", "packet": "1000 B", "jitter": 0.5}"#);
    let pair = |stop| {
        let flows = vec![FlowPlan { stop, ..flow("a", 2, &tcp, cbr()) }, flow("b", 2, &tcp, cbr())];
        run(&path(&droptail(50.0), "2 Mbps", "50 ms", flows), 1).expect("a run")
    };
    let (with, without) = (pair(Some(at(5_000))), pair(None));
    assert_eq!(number(&with, "flows", "data_segments_sent", 1), number(&without, "flows", "data_segments_sent", 1));
    assert!(
        number(&with, "flows_run", "data_segments_sent", 0) < number(&without, "flows_run", "data_segments_sent", 0)
    );
}

/// Files of `bytes`, each of a flow, over 2 Mbit/s, with an endless flow next to them. `ends` are those that end the run.
fn files(bytes: &[u64], ends: &[u32]) -> Plan {
    let tcp = tcp("modern", |_| {});
    let file = |size: &u64| flow("file", 2, &tcp, Params::Ftp(FtpParams { size: Some(Bytes(*size)) }));
    let flows = bytes.iter().map(file).chain([flow("endless", 2, &tcp, ftp())]).collect();
    let plan = path(&droptail(50.0), "2 Mbps", "50 ms", flows);
    Plan { end_after: ends.to_vec(), warmup: Dur::from_s(2), duration: Dur::from_s(60), ..plan }
}

#[test]
fn a_run_ends_with_the_last_of_its_files() {
    let bytes = [600_000, 1_200_000];
    let (whole, ended) = (run(&files(&bytes, &[]), 1).unwrap(), run(&files(&bytes, &[0, 1]), 1).unwrap());
    let finish = |out: &Output, flow| number(out, "flows_run", "finish_s", flow);
    for flow in [0, 1] {
        assert_eq!(finish(&ended, flow).to_bits(), finish(&whole, flow).to_bits());
    }
    let last = finish(&ended, 1);
    assert!(finish(&ended, 0) < last && last < 30.0, "{last}");
    // Rates are those of the time from the warm-up to the end.
    for flow in 0..3 {
        let [bytes, rate] = ["bytes_delivered", "goodput_bps"].map(|name| number(&ended, "flows", name, flow));
        assert!((rate * (last - 2.0) - 8.0 * bytes).abs() < 1.0, "{rate} {bytes}");
    }
    assert!(number(&ended, "flows_run", "bytes_delivered", 2) < number(&whole, "flows_run", "bytes_delivered", 2));
}

#[test]
fn a_run_whose_files_arrive_within_the_warm_up_lasts_its_duration() {
    let (whole, same) = (run(&files(&[20_000], &[]), 1).unwrap(), run(&files(&[20_000], &[0]), 1).unwrap());
    assert!(number(&same, "flows_run", "finish_s", 0) < 2.0);
    let delivered = |out: &Output| number(out, "flows_run", "bytes_delivered", 1);
    assert!(delivered(&same) > 12e6 && delivered(&same) == delivered(&whole));
}

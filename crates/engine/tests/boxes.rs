//! Boxes that are hostile to ECN, at a link's far end.

use crate::common;

use std::sync::Arc;

use common::{crr, droptail, flow, ftp, number, path, red, tcp};
use ecnlab_base::{Dur, Rng};
use ecnlab_engine::{BoxPlan, Column, FlowPlan, Output, Plan, Setup, run};
use ecnlab_tcp::Config;
use ecnlab_tcp::registry::EcnKind;
use ecnlab_wire::{Ecn, Flags};

/// Rows of `links`, from `a` by `r` to `b` and back.
const ACCESS: usize = 0;
const ACCESS_BACK: usize = 1;
const PIPE: usize = 2;
const PIPE_BACK: usize = 3;

fn host() -> Arc<Config> {
    tcp("modern", |c| c.ecn = EcnKind::Rfc3168)
}

fn bulk(flows: usize) -> Vec<FlowPlan> {
    (0..flows).map(|i| flow(&format!("f{i}"), 2, &host(), ftp())).collect()
}

/// Flows from `a` through the router `r`, which marks, to `b`.
fn plan(flows: Vec<FlowPlan>) -> Plan {
    Plan { warmup: Dur::ZERO, duration: Dur::from_s(20), ..path(&red(5.0, 25.0, 0.1), "2 Mbps", "10 ms", flows) }
}

fn with(mut plan: Plan, link: usize, change: impl FnOnce(&mut BoxPlan)) -> Plan {
    let mut hostile = BoxPlan::idle("box", &format!("box.{}", link / 2));
    change(&mut hostile);
    plan.links[link].boxes.push(hostile);
    plan
}

fn counted(out: &Output, column: &str) -> f64 {
    number(out, "boxes", column, 0)
}

fn sum(out: &Output, flows: usize, column: &str) -> f64 {
    (0..flows).map(|i| number(out, "flows", column, i)).sum()
}

/// The row of all groups in `queues`.
fn queue(out: &Output, link: usize, column: &str) -> f64 {
    number(out, "queues", column, 2 * link)
}

fn to(codepoint: Ecn) -> impl FnOnce(&mut BoxPlan) {
    move |b| b.codepoints = [codepoint; 4]
}

#[test]
fn without_boxes_there_is_no_table_of_them() {
    let out = run(&plan(bulk(1)), 1).expect("a run");
    assert!(out.table("boxes").is_none() && out.table("boxes_run").is_none());
}

#[test]
fn bleached_data_are_dropped_where_they_would_be_marked() {
    let marked = run(&plan(bulk(2)), 1).expect("a run");
    assert!(queue(&marked, PIPE, "marks") > 10.0 && queue(&marked, PIPE, "early_drops_ect") == 0.0);
    let out = run(&with(plan(bulk(2)), ACCESS, to(Ecn::NotEct)), 1).expect("a run");
    assert_eq!((queue(&out, PIPE, "marks"), queue(&out, PIPE, "arrived_ect")), (0.0, 0.0));
    assert!(queue(&out, PIPE, "early_drops") > 10.0);
    // The hosts have agreed on ECN all the same.
    assert_eq!((number(&out, "flows", "ecn", 0), number(&out, "flows", "ecn_reductions", 0)), (1.0, 0.0));
    // Before r they were ECN-capable, but for retransmissions and SYNs.
    assert!(counted(&out, "rewritten") > 0.9 * counted(&out, "packets"));
}

#[test]
fn an_erased_mark_reaches_no_host() {
    for instead in [Ecn::NotEct, Ecn::Ect0] {
        let erase = |b: &mut BoxPlan| b.codepoints[3] = instead;
        let out = run(&with(plan(bulk(2)), PIPE, erase), 1).expect("a run");
        assert!(queue(&out, PIPE, "marks") > 10.0, "{instead:?}");
        assert_eq!((sum(&out, 2, "ce_received"), sum(&out, 2, "ecn_reductions")), (0.0, 0.0), "{instead:?}");
        // Every mark is erased once its packet is through the wire; at the end some are under way.
        let (erased, marks) = (counted(&out, "ce_erased"), queue(&out, PIPE, "marks"));
        assert!(erased == counted(&out, "rewritten") && (0.0..30.0).contains(&(marks - erased)), "{erased} {marks}");
    }
}

#[test]
fn where_every_packet_has_ce_the_window_never_grows() {
    let out = run(&with(plan(bulk(1)), ACCESS, to(Ecn::Ce)), 1).expect("a run");
    let data = number(&out, "flows", "data_segments_sent", 0);
    assert!(sum(&out, 1, "ce_received") >= data - 5.0 && counted(&out, "ce_set") >= data - 5.0);
    assert!(queue(&out, PIPE, "marks") == 0.0 && number(&out, "links", "utilisation", PIPE) < 0.6);
    // From Not-ECT too: SYN, ACKs.
    let out = run(&with(plan(bulk(1)), ACCESS_BACK, to(Ecn::Ce)), 1).expect("a run");
    assert_eq!(counted(&out, "ce_set"), counted(&out, "packets"));
}

#[test]
fn a_dropped_syn_costs_a_timeout_and_ecn_where_the_client_falls_back() {
    let out = run(&with(plan(bulk(1)), ACCESS, |b| b.syn = Setup::Drop), 1).expect("a run");
    assert_eq!((counted(&out, "dropped"), counted(&out, "resets")), (1.0, 0.0));
    assert!(number(&out, "flows", "ecn", 0) == 0.0 && number(&out, "flows", "timeouts", 0) >= 1.0);
    assert!(number(&out, "flows", "bytes_delivered", 0) > 1e6);
    // RFC 2481 knew of no such box: the server cannot be reached.
    let stubborn = tcp("linux-2.2", |c| c.ecn = EcnKind::Rfc2481);
    let plan = with(plan(vec![flow("f0", 2, &stubborn, ftp())]), ACCESS, |b| b.syn = Setup::Drop);
    let out = run(&plan, 1).expect("a run");
    assert!(number(&out, "flows", "bytes_delivered", 0) == 0.0 && counted(&out, "dropped") >= 3.0);
}

#[test]
fn a_reset_is_a_packet_of_the_box() {
    let out = run(&with(plan(bulk(1)), PIPE, |b| b.syn = Setup::Reset), 1).expect("a run");
    assert_eq!((counted(&out, "dropped"), counted(&out, "resets")), (1.0, 1.0));
    // One SYN there, one RST back, both over both links; b has received and sent nothing.
    assert_eq!(number(&out, "links", "delivered", PIPE_BACK), 1.0);
    assert_eq!(number(&out, "links", "delivered", ACCESS_BACK), 1.0);
    assert_eq!(number(&out, "flows", "bytes_delivered", 0), 0.0);
    let mut logged = with(plan(bulk(1)), PIPE, |b| b.syn = Setup::Reset);
    logged.packet_events = true;
    let out = run(&logged, 1).expect("a run");
    let events = match out.table("packets").and_then(|t| t.column("event")) {
        Some(Column::Text { codes, names }) => codes.iter().map(|code| names[*code as usize].as_str()).collect(),
        _ => Vec::new(),
    };
    assert_eq!(events.iter().filter(|event| **event == "drop_box").count(), 1);
    // A box before r answers from there.
    let out = run(&with(plan(bulk(1)), ACCESS, |b| b.syn = Setup::Reset), 1).expect("a run");
    assert_eq!(number(&out, "links", "entered", PIPE_BACK), 0.0);
    assert_eq!(number(&out, "links", "delivered", ACCESS_BACK), 1.0);
}

#[test]
fn a_refused_client_tries_again() {
    let client = flow("f0", 2, &host(), crr(5000));
    let out = run(&with(plan(vec![client]), PIPE_BACK, |b| b.syn = Setup::Reset), 1).expect("a run");
    assert!(counted(&out, "resets") > 100.0 && counted(&out, "connections") == counted(&out, "dropped"));
    assert_eq!(number(&out, "flows", "exchanges", 0), 0.0);
}

#[test]
fn a_stripped_syn_or_syn_ack_leaves_a_connection_without_ecn() {
    let strip = |link, change: fn(&mut BoxPlan)| run(&with(plan(bulk(1)), link, change), 1).expect("a run");
    for out in [strip(ACCESS, |b| b.syn = Setup::Strip), strip(PIPE_BACK, |b| b.syn_ack = Setup::Strip)] {
        assert_eq!((counted(&out, "stripped"), number(&out, "flows", "ecn", 0)), (1.0, 0.0));
        assert!(queue(&out, PIPE, "arrived_ect") == 0.0 && number(&out, "flows", "bytes_delivered", 0) > 1e6);
    }
    // The server, whose SYN-ACK was reset, receives an RST in the client's name.
    let out = strip(PIPE_BACK, |b| b.syn_ack = Setup::Reset);
    assert!(counted(&out, "resets") >= 1.0 && number(&out, "flows", "bytes_delivered", 0) == 0.0);
}

#[test]
fn without_ece_no_mark_reaches_the_sender() {
    let out = run(&with(plan(bulk(2)), PIPE_BACK, |b| b.clear = Flags::ECE), 1).expect("a run");
    assert!(sum(&out, 2, "ce_received") > 10.0 && counted(&out, "ece_cleared") > 10.0);
    assert_eq!((sum(&out, 2, "ece_received"), sum(&out, 2, "ecn_reductions")), (0.0, 0.0));
    assert_eq!(counted(&out, "stripped"), 0.0, "SYNs keep theirs");
}

#[test]
fn without_cwr_the_receiver_never_stops_to_echo() {
    let received = |plan| {
        let out = run(&plan, 1).expect("a run");
        (sum(&out, 1, "ece_received") / number(&out, "links", "delivered", ACCESS_BACK), out)
    };
    let (good, _) = received(plan(bulk(1)));
    let (bad, out) = received(with(plan(bulk(1)), ACCESS, |b| b.clear = Flags::CWR));
    assert!(bad > 3.0 * good, "{bad} {good}");
    assert!((sum(&out, 1, "cwr_sent") - counted(&out, "cwr_cleared")).abs() <= 1.0);
}

/// Which of the flows have ECN.
fn with_ecn(out: &Output, flows: usize) -> Vec<bool> {
    (0..flows).map(|i| number(out, "flows", "ecn", i) > 0.0).collect()
}

#[test]
fn a_share_of_connections_is_drawn_and_no_flow_changes_another() {
    let share = |flows, seed| {
        let plan = with(plan(bulk(flows)), ACCESS, |b| (b.syn, b.share) = (Setup::Strip, 0.3));
        run(&plan, seed).expect("a run")
    };
    let (few, many) = (share(60, 1), share(70, 1));
    assert_eq!(with_ecn(&few, 60), with_ecn(&many, 70)[..60]);
    assert_ne!(with_ecn(&few, 60), with_ecn(&share(60, 2), 60));
    // Of 300 connections 90, by four standard deviations of 8.
    let concerned: f64 = (1..=5).map(|seed| counted(&share(60, seed), "connections_concerned")).sum();
    assert!((58.0..=122.0).contains(&concerned), "{concerned}");
    assert_eq!(counted(&few, "connections"), 60.0);
}

#[test]
fn a_box_in_both_directions_is_concerned_with_the_same_connections() {
    let half = |b: &mut BoxPlan| (b.codepoints, b.share) = ([Ecn::Ect1; 4], 0.5);
    let out = run(&with(with(plan(bulk(20)), PIPE, half), PIPE_BACK, half), 1).expect("a run");
    let concerned = |row| number(&out, "boxes", "connections_concerned", row);
    assert!(concerned(0) == concerned(1) && (2.0..=18.0).contains(&concerned(0)));
    // A packet of b that is concerned has the codepoint with which it left, as its ACKs have.
    assert!(number(&out, "boxes", "concerned", 1) > 0.0);
}

#[test]
fn boxes_stand_one_behind_the_other() {
    let plan = with(plan(bulk(1)), ACCESS, |b| b.codepoints[2] = Ecn::Ect1);
    let out = run(&with(plan, ACCESS, |b| b.codepoints[1] = Ecn::Ce), 1).expect("a run");
    assert_eq!(number(&out, "boxes", "ce_set", 1), number(&out, "boxes", "rewritten", 0));
    assert!(number(&out, "boxes", "ce_set", 1) > 0.0);
}

/// [`run`] checks conservation; here it meets boxes of all kinds on all links.
#[test]
fn packets_are_conserved_whatever_boxes_do() {
    for seed in 0..30 {
        let mut rng = Rng::named(seed, "boxes");
        let mut plan = plan([bulk(3), vec![flow("c", 2, &host(), crr(3000))]].concat());
        (plan.duration, plan.packet_events) = (Dur::from_s(5), seed % 3 == 0);
        let setups = [Setup::Pass, Setup::Strip, Setup::Drop, Setup::Reset];
        for link in 0..4 {
            plan.links[link].errors.loss = 0.02 * rng.unit();
            for _ in 0..rng.below(3) {
                plan = with(plan, link, |b| {
                    b.share = rng.unit();
                    b.codepoints = [0; 4].map(|_| Ecn::from_bits(rng.below(4) as u8));
                    b.clear = Flags::from_bits_truncate(rng.u64() as u16) & (Flags::ECE | Flags::CWR);
                    (b.syn, b.syn_ack) = (setups[rng.below(4) as usize], setups[rng.below(4) as usize]);
                });
            }
        }
        let out = run(&plan, seed).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let same = format!("{:?}", run(&plan, seed).expect("a run")) == format!("{out:?}");
        assert!(same, "{seed}");
    }
}

#[test]
fn a_drop_tail_queue_in_front_of_a_box_is_as_before() {
    let idle = |boxes| {
        let mut plan = Plan { warmup: Dur::ZERO, ..path(&droptail(20.0), "2 Mbps", "10 ms", bulk(2)) };
        plan.links[PIPE].boxes = boxes;
        let out = run(&plan, 1).expect("a run");
        ["flows", "links", "queues"].map(|name| out.table(name).cloned())
    };
    let same = format!("{:?}", idle(Vec::new())) == format!("{:?}", idle(vec![BoxPlan::idle("box", "box")]));
    assert!(same);
}

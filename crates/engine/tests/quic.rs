//! Flows over QUIC, with quinn-proto as both ends.

use std::sync::Arc;

use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_engine::{BoxPlan, FlowPlan, Output, Plan};
use ecnlab_quic::{Settings, Stack};
use ecnlab_traffic::{FtpParams, Params};
use ecnlab_wire::Ecn;

use crate::common::{crr, droptail, flow, ftp, number, path, tcp};

fn settings(change: impl Fn(&mut Settings)) -> Arc<Settings> {
    let mut settings = Settings::of(Stack::Quinn);
    change(&mut settings);
    Arc::new(settings)
}

fn over_quic(name: &str, traffic: Params, settings: &Arc<Settings>) -> FlowPlan {
    let quic = Some([settings.clone(), settings.clone()]);
    FlowPlan { quic, ..flow(name, 2, &tcp("modern", |_| {}), traffic) }
}

/// A path of 10 Mbit/s and 20 ms with a buffer of 50 packets, for `seconds`.
fn plan(seconds: u64, flows: Vec<FlowPlan>) -> Plan {
    let plan = path(&droptail(50.0), "10 Mbps", "10 ms", flows);
    Plan { duration: Dur::from_s(seconds), warmup: Dur::ZERO, ..plan }
}

fn run(plan: &Plan) -> Output {
    ecnlab_engine::run(plan, 1).expect("the run balances")
}

#[test]
fn a_file_arrives_and_its_connection_is_closed() {
    let file = Params::Ftp(FtpParams { size: Some(Bytes(1_000_000)) });
    let out = run(&plan(10, vec![over_quic("file", file, &settings(|_| {}))]));
    assert_eq!(number(&out, "flows", "bytes_delivered", 0), 1e6);
    assert_eq!(number(&out, "flows", "exchanges", 0), 1.0);
    // 1 MB at 10 Mbit/s takes 0.8 s, and slow start from 10 packets some RTTs more.
    let finish = number(&out, "flows", "finish_s", 0);
    assert!((0.8..1.2).contains(&finish), "{finish}");
    let end = number(&out, "quic", "end_s", 0);
    assert!(end > finish && end < 3.0, "closed and drained at {end}");
}

#[test]
fn each_transaction_has_a_handshake_or_shares_a_connection() {
    for (one_connection, connections) in [(false, 10.0..400.0), (true, 1.0..2.0)] {
        let settings = settings(|settings| settings.one_connection = one_connection);
        let out = run(&plan(5, vec![over_quic("calls", crr(1_000), &settings)]));
        assert!(connections.contains(&number(&out, "flows", "connections", 0)), "{one_connection}");
        let latency = number(&out, "transactions", "latency_s", 5);
        // One round trip of 20 ms for the request; one more for a handshake.
        let trips = if one_connection { 1.0 } else { 2.0 };
        let (least, most) = (trips * 0.02, trips * 0.02 + 0.01);
        assert!((least..most).contains(&latency), "{latency}");
    }
}

#[test]
fn marks_reach_the_controller_and_a_bleaching_box_ends_ecn() {
    let out = |rewrite: Option<(Ecn, Ecn)>, host_ecn: bool| {
        let settings = settings(|settings| settings.ecn = host_ecn);
        let mut plan = plan(5, vec![over_quic("bulk", ftp(), &settings)]);
        let pipe = plan.links.iter_mut().find(|link| link.name == "pipe").expect("the bottleneck");
        pipe.errors.mark_packets = (1..20).map(|n| n * 100).collect();
        if let Some((came, leaves)) = rewrite {
            let mut bleach = BoxPlan::idle("bleach", "bleach");
            bleach.codepoints[usize::from(came.bits())] = leaves;
            pipe.boxes = vec![bleach];
        }
        run(&plan)
    };
    let plain = out(None, true);
    assert_eq!(number(&plain, "quic", "to_ce_received", 0), 19.0);
    assert!(number(&plain, "quic", "from_ecn_events", 0) > 5.0);
    // RFC 9000 §13.4.2: the peer counts no ECT(0), so that validation fails and packets are Not-ECT from then on.
    let bleached = out(Some((Ecn::Ect0, Ecn::NotEct)), true);
    assert_eq!(number(&bleached, "quic", "to_ect0_received", 0), 0.0);
    assert!(number(&bleached, "quic", "to_ce_received", 0) <= 1.0, "later packets cannot be marked");
    let off = out(None, false);
    assert_eq!(number(&off, "quic", "to_ce_received", 0) + number(&off, "quic", "to_ect0_received", 0), 0.0);
}

#[test]
fn a_handshake_survives_losses_and_a_black_hole_shortens_packets() {
    let mut lossy = plan(5, vec![over_quic("bulk", ftp(), &settings(|_| {}))]);
    for link in &mut lossy.links {
        link.errors.drop_packets = vec![1];
    }
    assert!(number(&run(&lossy), "flows", "bytes_delivered", 0) > 1e6);
    let mut holed = plan(20, vec![over_quic("bulk", ftp(), &settings(|_| {}))]);
    let pipe = holed.links.iter_mut().find(|link| link.name == "pipe").expect("the bottleneck");
    let start = Time::ZERO + Dur::from_s(5);
    pipe.boxes = vec![BoxPlan { longest: 1300, start, ..BoxPlan::idle("hole", "hole") }];
    let out = run(&holed);
    assert!(number(&out, "quic", "from_black_holes", 0) >= 1.0);
    assert!(number(&out, "quic", "from_mtu", 0) <= 1272.0);
    let before = 5.0 * 10e6 / 8.0;
    assert!(number(&out, "flows", "bytes_delivered", 0) > before, "the transfer goes on");
}

#[test]
fn an_idle_path_ends_the_connection_and_the_next_exchange_has_its_own() {
    let settings = settings(|settings| settings.idle_timeout = Dur::from_s(2));
    let mut plan = plan(20, vec![over_quic("calls", crr(1_000), &settings)]);
    let pipe = plan.links.iter_mut().find(|link| link.name == "pipe").expect("the bottleneck");
    let hole = BoxPlan { longest: 0, start: Time::ZERO + Dur::from_s(1), ..BoxPlan::idle("hole", "hole") };
    pipe.boxes = vec![hole];
    let out = run(&plan);
    let rows = number(&out, "flows", "connections", 0);
    assert!(rows > 10.0 && number(&out, "flows", "connections_established", 0) < rows);
}

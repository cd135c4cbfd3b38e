//! Source quenches on their way from the router to the sender.

use crate::common;

use std::sync::Arc;

use common::{droptail, duplex, flow, ftp, number, path, red, tcp};
use ecnlab_aqm::red as law;
use ecnlab_aqm::registry::Params;
use ecnlab_base::{Dur, Length};
use ecnlab_engine::{Column, Error, Errors, LinkPlan, Output, Plan, run};
use ecnlab_tcp::registry::EcnKind;

/// RED that marks from 5 to 25 packets, with room for whatever comes.
fn silent() -> ecnlab_aqm::Config {
    let mut queue = red(5.0, 25.0, 0.1);
    queue.common.limit = Length::Packets(1000.0);
    queue
}

/// The same, that speaks back from `thresh` on.
fn speaking(thresh: f64) -> ecnlab_aqm::Config {
    let mut queue = silent();
    if let Params::Red(params) = &mut queue.params {
        let json = format!(r#"{{"thresh": "{thresh} packets"}}"#);
        params.becn = Some(serde_json::from_str(&json).expect("BECN's parameters"));
    }
    queue
}

fn host(scheme: EcnKind) -> Arc<ecnlab_tcp::Config> {
    tcp("modern", |c| c.ecn = scheme)
}

/// Four flows from `a` through the router `r` to `b`; the router speaks back.
fn plan(scheme: EcnKind, thresh: f64) -> Plan {
    let flows = (0..4).map(|i| flow(&format!("f{i}"), 2, &host(scheme), ftp())).collect();
    Plan { warmup: Dur::ZERO, ..path(&speaking(thresh), "2 Mbps", "10 ms", flows) }
}

fn sum(out: &Output, column: &str) -> f64 {
    (0..4).map(|i| number(out, "flows", column, i)).sum()
}

/// The rows of `queues` are all and one group for each link: access, access~, pipe, pipe~.
const PIPE: usize = 2 * 2;

#[test]
fn each_quench_reaches_its_sender_and_is_counted_on_its_way() {
    for scheme in [EcnKind::EcnBecn, EcnKind::Becn] {
        let out = run(&plan(scheme, 5.0), 1).expect("a run");
        let (sent, received) = (number(&out, "queues", "quenches", PIPE), sum(&out, "quenches_received"));
        // At the end one may be under way: 40 B take 32 us at 10 Mbit/s.
        assert!(sent > 100.0 && (sent - received).abs() <= 1.0, "{scheme:?}: {sent} {received}");
        assert_eq!(number(&out, "queues", "quenches", PIPE + 1), sent, "of the group");
        // What leaves r for a are the ACKs from b, and the quenches.
        let (back, acks) = (number(&out, "links", "entered", 1), number(&out, "links", "delivered", 3));
        assert_eq!(back - acks, sent, "{scheme:?}");
        assert!(sum(&out, "quench_reductions") > 50.0, "{scheme:?}");
    }
}

#[test]
fn each_mark_is_quenched_with_the_threshold_at_min_th_and_none_at_max_th() {
    for (thresh, of_marks) in [(5.0, 1.0), (25.0, 0.0)] {
        let out = run(&plan(EcnKind::EcnBecn, thresh), 1).expect("a run");
        let count = |column| number(&out, "queues", column, PIPE);
        assert!(count("marks") > 100.0);
        assert_eq!(count("quenches"), of_marks * count("marks") + count("forced_drops_ect"), "{thresh}");
    }
}

#[test]
fn plain_and_ecn_senders_take_no_notice() {
    // Nothing ECN-capable, no quenches: byte for byte the result of a router without them.
    let mut quiet = plan(EcnKind::Off, 5.0);
    let speaking = run(&quiet, 1).expect("a run");
    quiet.links[2].queue = silent().into();
    quiet.links[3].queue = silent().into();
    assert_eq!(number(&speaking, "queues", "quenches", PIPE), 0.0);
    assert!(format!("{speaking:?}") == format!("{:?}", run(&quiet, 1).expect("a run")));
    // ECN-capable: quenches without effect.
    let out = run(&plan(EcnKind::Rfc3168, 5.0), 1).expect("a run");
    assert!(sum(&out, "quenches_received") > 100.0);
    assert_eq!(sum(&out, "quench_reductions"), 0.0);
}

/// Codes of packet events.
const ENQUEUE: u32 = 0;
const DELIVER: u32 = 7;

/// Times of the events of source quenches with this code, in ps.
fn of_quenches(out: &Output, event: u32) -> Vec<u64> {
    let events = out.table("packets").expect("the packets");
    let (Some(Column::Text { codes: protocols, names }), Some(Column::U64(times)), Some(Column::Text { codes, .. })) =
        (events.column("protocol"), events.column("time_ps"), events.column("event"))
    else {
        panic!("columns missing")
    };
    assert_eq!(names[2], "icmp");
    let rows = protocols.iter().zip(codes).zip(times);
    rows.filter(|((p, e), _)| (**p, **e) == (2, event)).map(|(_, time)| *time).collect()
}

#[test]
fn a_quench_is_as_fast_as_the_way_back_and_no_faster() {
    // One flow; ways of 30 ms on either side of the router. A quench of 40 B from r to a takes 32 us at 10 Mbit/s and
    // 30 ms, whatever lies behind the router.
    let mut plan = plan(EcnKind::EcnBecn, 5.0);
    plan.flows.truncate(1);
    plan.links[..2].iter_mut().for_each(|link| link.delay = Dur::from_ms(30));
    plan.packet_events = true;
    let out = run(&plan, 1).expect("a run");
    // The way is idle enough that no two quenches are under way at once.
    let (left, came) = (of_quenches(&out, ENQUEUE), of_quenches(&out, DELIVER));
    assert!(left.len() > 3, "{}", left.len());
    for (left, came) in left.iter().zip(&came) {
        // It may wait for an ACK of 52 B before it, 41.6 us.
        let waited = came - left - 30_032_000_000;
        assert!(waited <= 41_600_000, "{waited}");
    }
}

/// Times at which source quenches are delivered to `a`, in ps, if the router delays each by `delay`. The senders respond to
/// none, so that packets and marks are the same with any delay.
fn arrivals_of_quenches(delay: &str) -> Vec<u64> {
    let mut plan = plan(EcnKind::Rfc3168, 5.0);
    let mut queue = speaking(5.0);
    let Params::Red(law::Params { becn: Some(becn), .. }) = &mut queue.params else { panic!("no source quenches") };
    becn.delay = delay.parse().expect("a duration");
    plan.links[2].queue = queue.into();
    // Without transmission times a quench does not wait for ACKs.
    plan.links[1].rate = None;
    plan.packet_events = true;
    let out = run(&plan, 1).expect("a run that balances");
    of_quenches(&out, DELIVER)
}

#[test]
fn a_delayed_quench_arrives_later_by_its_delay() {
    let at_once = arrivals_of_quenches("0 s");
    let later = arrivals_of_quenches("100 ms");
    // Those of the last 100 ms do not arrive before the end.
    assert!(later.len() > 100 && later.len() < at_once.len(), "{} {}", later.len(), at_once.len());
    let delay = Dur::from_ms(100).ps();
    assert!(at_once.iter().zip(&later).all(|(soon, late)| late - soon == delay));
}

#[test]
fn a_lost_quench_is_lost_and_ecn_makes_up_for_it() {
    let lossy = |scheme| {
        let mut plan = plan(scheme, 5.0);
        plan.links[1].errors = Errors { loss: 0.3, ..Errors::default() };
        run(&plan, 1).expect("a run that balances")
    };
    for scheme in [EcnKind::EcnBecn, EcnKind::Becn] {
        let out = lossy(scheme);
        let (sent, received) = (number(&out, "queues", "quenches", PIPE), sum(&out, "quenches_received"));
        // 0.7 of them arrive, within four standard deviations.
        let expected = 0.7 * sent;
        assert!((received - expected).abs() < 4.0 * (0.3 * expected).sqrt(), "{scheme:?}: {received} of {sent}");
        let echoes = sum(&out, "ecn_reductions");
        assert_eq!(echoes > 0.0, scheme == EcnKind::EcnBecn, "{scheme:?}: {echoes}");
    }
}

#[test]
fn a_host_may_be_the_router_itself() {
    // The queue of the sender's own link notifies it at once, without a packet.
    let mut plan = plan(EcnKind::EcnBecn, 5.0);
    plan.links[0].queue = speaking(5.0).into();
    plan.links[0].rate = Some("1 Mbps".parse().expect("a rate"));
    let out = run(&plan, 1).expect("a run");
    assert!(number(&out, "queues", "quenches", 0) > 100.0);
    assert_eq!(number(&out, "queues", "quenches", 0), sum(&out, "quenches_received"));
    assert_eq!(number(&out, "links", "entered", 1), number(&out, "links", "delivered", 3));
}

/// Simplex links a -> r -> b, and back b -> c -> a: what r sends to a goes by b and c.
fn ring() -> Plan {
    let simplex = |name: &str, from, to| -> LinkPlan {
        let [link, _] = duplex(name, from, to, "10 Mbps", "1 ms", &droptail(1000.0));
        link
    };
    let mut plan = plan(EcnKind::EcnBecn, 5.0);
    let pipe = LinkPlan { from: 1, to: 2, ..plan.links[2].clone() };
    plan.nodes.push("c".to_owned());
    plan.links = vec![simplex("ar", 0, 1), pipe, simplex("bc", 2, 3), simplex("ca", 3, 0)];
    plan
}

#[test]
fn a_router_off_the_way_back_finds_its_own() {
    let out = run(&ring(), 1).expect("a run");
    // The third row of `queues` is the pipe's. The quenches cross it, and, not ECN-capable, may be dropped in it.
    let count = |column| number(&out, "queues", column, 2);
    let dropped = count("dropped") - count("early_drops_ect") - count("forced_drops_ect");
    let (sent, received) = (count("quenches"), sum(&out, "quenches_received"));
    assert!(sent > 100.0 && (0.0..10.0).contains(&(sent - received - dropped)), "{sent} {received} {dropped}");
}

#[test]
fn a_router_without_a_way_to_the_sender_is_an_error() {
    let mut plan = ring();
    // The pipe now ends at d, from which only b's own link leads on: r reaches b and c, but a only by c.
    plan.links[3].from = 0;
    plan.links[3].to = 3;
    let error = run(&plan, 1).expect_err("no way back");
    assert!(matches!(error, Error::NoRoute { .. }), "{error}");
}

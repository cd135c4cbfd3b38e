//! Memory of ECN fall-backs between connections, behind boxes that drop SYNs that offer ECN.

use crate::common;

use common::{crr, droptail, flow, number, path, tcp};
use ecnlab_base::Dur;
use ecnlab_engine::{BoxPlan, Output, Plan, Setup, run};
use ecnlab_tcp::registry::EcnKind;

const SECONDS: u64 = 17;

/// Transactions one after the other for 17 s, opened by node `b` (2), on a round trip of just over 20 ms. A box next to
/// `b` drops the SYNs with an offer of ECN of this share of the connections.
fn transactions(ecn: EcnKind, memory: u64, share: f64) -> Output {
    let tcp = tcp("modern", |c| {
        c.ecn = ecn;
        c.dsack = true;
        c.ecn_fallback_memory = Dur::from_s(memory);
    });
    let mut plan = path(&droptail(100.0), "10 Mbps", "10 ms", vec![flow("t", 2, &tcp, crr(3_000))]);
    plan.links[3].boxes.push(BoxPlan { syn: Setup::Drop, share, ..BoxPlan::idle("firewall", "box") });
    run(&Plan { warmup: Dur::ZERO, duration: Dur::from_s(SECONDS), ..plan }, 1).expect("a run")
}

fn column(out: &Output, name: &str) -> Vec<f64> {
    let rows = out.table("transactions").expect("transactions").rows();
    (0..rows).map(|row| number(out, "transactions", name, row)).collect()
}

/// Of each transaction the time at which its connection was established, and the whole seconds that this took.
fn handshakes(out: &Output) -> Vec<(f64, u64)> {
    let established = column(out, "established_s").into_iter();
    established.zip(column(out, "start_s")).map(|(end, start)| (end, (end - start) as u64)).collect()
}

fn flows(out: &Output, column: &str) -> f64 {
    number(out, "flows_run", column, 0)
}

#[test]
fn after_two_fallbacks_no_offer_is_made_until_the_memory_ends() {
    // The SYN timeout is 1 s at first, then 2 s. RFC 3168 falls back after the first, AccECN after the second.
    for (ecn, wait) in [(EcnKind::Rfc3168, 1), (EcnKind::AccEcn, 3)] {
        let out = transactions(ecn, 6, 1.0);
        let handshakes = handshakes(&out);
        let waits: Vec<_> = handshakes.iter().map(|&(_, wait)| wait).collect();
        // Two failures, then 6 s of transactions of 45 ms or less without a wait, and the next offer, which fails too.
        assert_eq!(waits[..3], [wait, wait, 0], "{ecn:?}");
        let third = 2 + waits[2..].iter().position(|&wait| wait > 0).expect("another offer");
        assert_eq!(waits[third], wait, "{ecn:?}");
        let between = handshakes[third].0 - handshakes[1].0 - wait as f64;
        assert!((6.0..6.1).contains(&between) && third > 130, "{ecn:?}: {between} s, {third} transactions");
        // This single failure renews the memory, of which 17 s see the end only with the shorter wait.
        let offers = 3.0 + f64::from(wait == 1);
        assert_eq!((flows(&out, "ecn_fallbacks"), flows(&out, "ecn_connections")), (offers, 0.0), "{ecn:?}");
    }
}

#[test]
fn without_memory_each_connection_waits() {
    let out = transactions(EcnKind::Rfc3168, 0, 1.0);
    // A transaction takes 1 s and two round trips: 17 s hold 16 of 1.04 s, and the fall-back of another.
    let waits: Vec<_> = handshakes(&out).iter().map(|&(_, wait)| wait).collect();
    assert_eq!(waits, [1; 16]);
    assert_eq!(flows(&out, "ecn_fallbacks"), 16.0);
}

#[test]
fn a_connection_with_ecn_clears_the_memory() {
    let out = transactions(EcnKind::Rfc3168, 3, 0.3);
    // The rule of the memory, applied to what was measured.
    let (mut failures, mut last, mut cleared, mut offered) = (0, 0.0, 0, 0);
    for (row, (established, wait)) in handshakes(&out).into_iter().enumerate() {
        if failures >= 2 && established - (wait as f64) < last + 3.02 {
            assert_eq!(wait, 0, "transaction {row} made no offer");
        } else if wait > 0 {
            (failures, last) = (failures + 1, established);
        } else {
            cleared += u32::from(failures == 1);
            offered += 1;
            failures = 0;
        }
    }
    assert!(cleared > 1, "failures that do not follow each other");
    let capable = flows(&out, "ecn_connections");
    assert!((0.0..=1.0).contains(&(capable - f64::from(offered))), "{capable} {offered}");
}

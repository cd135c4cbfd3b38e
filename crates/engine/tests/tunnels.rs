//! Tunnels: where they begin and end, codepoints at queues within and at the hosts.

use crate::common;

use std::sync::Arc;

use common::{droptail, duplex, flow, ftp, number, red, tcp};
use ecnlab_base::{Bytes, Dur};
use ecnlab_engine::{BoxPlan, Column, Egress, Ingress, Output, Plan, TunnelPlan, run};
use ecnlab_tcp::Config;
use ecnlab_tcp::registry::EcnKind;
use ecnlab_traffic::{self as traffic, Codepoint};
use ecnlab_wire::Ecn;

/// Rows of `links`: from `a` by `r` and `s` to `b`, each direction one.
const ACCESS: usize = 0;
const PIPE: usize = 2;
const EXIT: usize = 4;

fn host() -> Arc<Config> {
    tcp("modern", |c| c.ecn = EcnKind::Rfc3168)
}

fn tunnel(ingress: Ingress, egress: Egress) -> TunnelPlan {
    TunnelPlan { name: "vpn".to_owned(), number: 0, ingress, egress, overhead: 20 }
}

/// Two flows over three links; RED in front of `pipe` marks.
fn plan(traffic: &traffic::Params) -> Plan {
    let mut links = Vec::new();
    links.extend(duplex("access", 0, 1, "10 Mbps", "1 ms", &droptail(1000.0)));
    links.extend(duplex("pipe", 1, 2, "2 Mbps", "5 ms", &red(5.0, 25.0, 0.1)));
    links.extend(duplex("exit", 2, 3, "10 Mbps", "1 ms", &droptail(1000.0)));
    Plan {
        nodes: ["a", "r", "s", "b"].map(str::to_owned).to_vec(),
        links,
        groups: vec!["all".to_owned()],
        flows: (0..2).map(|i| flow(&format!("f{i}"), 3, &host(), traffic.clone())).collect(),
        duration: Dur::from_s(20),
        warmup: Dur::ZERO,
        sample: None,
        packet_events: false,
        end_after: Vec::new(),
    }
}

fn through(mut plan: Plan, links: &[usize], ingress: Ingress, egress: Egress) -> Plan {
    links.iter().for_each(|&link| plan.links[link].tunnel = Some(tunnel(ingress, egress)));
    plan
}

fn ran(plan: &Plan) -> Output {
    run(plan, 1).expect("a run")
}

/// The row of all groups in `queues`.
fn queue(out: &Output, link: usize, column: &str) -> f64 {
    number(out, "queues", column, 2 * link)
}

fn sum(out: &Output, column: &str) -> f64 {
    (0..2).map(|i| number(out, "flows", column, i)).sum()
}

/// Datagrams of 1000 B with this codepoint, a quarter of the pipe from each flow.
fn udp(ecn: Codepoint) -> traffic::Params {
    let rate = "0.5 Mbps".parse().expect("a rate");
    traffic::Params::Cbr(traffic::CbrParams { rate, packet: Bytes(1000), jitter: 0.0, ecn, quench: None })
}

#[test]
fn without_tunnels_there_is_no_table_of_them() {
    let out = ran(&plan(&ftp()));
    assert!(out.table("tunnels").is_none() && out.table("tunnels_run").is_none());
}

#[test]
fn a_mark_within_reaches_the_hosts() {
    let out = ran(&through(plan(&ftp()), &[PIPE], Ingress::Normal, Egress::Rfc6040));
    let (marks, copied) = (queue(&out, PIPE, "marks"), number(&out, "tunnels", "ce_propagated", 0));
    // The last ones are still on the wire.
    assert!(marks > 10.0 && (0.0..5.0).contains(&(marks - copied)), "{marks} {copied}");
    assert!((0.0..5.0).contains(&(copied - sum(&out, "ce_received"))));
    assert!(sum(&out, "ecn_reductions") > 5.0);
    for column in ["dropped", "dangerous", "possibly_dangerous", "ce_discarded", "ect1_propagated"] {
        assert_eq!(number(&out, "tunnels", column, 0), 0.0, "{column}");
    }
    let (entered, left) = (number(&out, "tunnels", "encapsulated", 0), number(&out, "tunnels", "decapsulated", 0));
    assert_eq!((entered, left), (queue(&out, PIPE, "arrived"), number(&out, "links", "delivered", PIPE)));
}

#[test]
fn in_compatibility_mode_queues_within_drop() {
    let out = ran(&through(plan(&ftp()), &[PIPE], Ingress::Compatibility, Egress::Rfc6040));
    assert_eq!((queue(&out, PIPE, "marks"), queue(&out, PIPE, "arrived_ect")), (0.0, 0.0));
    assert!(queue(&out, PIPE, "early_drops") > 10.0 && sum(&out, "ecn_reductions") == 0.0);
    // What was ECN-capable before is so again behind.
    assert!(queue(&out, EXIT, "arrived_ect") > 1000.0);
}

#[test]
fn an_egress_without_ecn_takes_the_marks_away() {
    let out = ran(&through(plan(&ftp()), &[PIPE], Ingress::Normal, Egress::Rfc2003));
    let (marks, discarded) = (queue(&out, PIPE, "marks"), number(&out, "tunnels", "ce_discarded", 0));
    assert!(marks > 10.0 && (0.0..30.0).contains(&(marks - discarded)), "{marks} {discarded}");
    assert_eq!((sum(&out, "ce_received"), sum(&out, "ecn_reductions")), (0.0, 0.0));
    // RFC 3168's limited functionality drops what was marked.
    let out = ran(&through(plan(&ftp()), &[PIPE], Ingress::Normal, Egress::Rfc3168Limited));
    let (marks, dropped) = (queue(&out, PIPE, "marks"), number(&out, "tunnels", "dropped", 0));
    assert!(marks > 10.0 && (0.0..5.0).contains(&(marks - dropped)), "{marks} {dropped}");
    assert!(sum(&out, "retransmits") > 10.0 && sum(&out, "ecn_reductions") == 0.0);
}

#[test]
fn links_in_succession_are_one_tunnel_and_the_outer_header_has_its_bytes_on_each() {
    let udp = udp(Codepoint::Ect0);
    let plain = ran(&plan(&udp));
    let out = ran(&through(plan(&udp), &[PIPE, EXIT], Ingress::Normal, Egress::Rfc6040));
    let packets = number(&out, "links", "delivered", PIPE);
    assert_eq!(packets, number(&plain, "links", "delivered", PIPE));
    assert_eq!(number(&out, "links", "delivered_bytes", ACCESS), 1000.0 * number(&out, "links", "delivered", ACCESS));
    for link in [PIPE, EXIT] {
        assert_eq!(number(&out, "links", "delivered_bytes", link), 1020.0 * number(&out, "links", "delivered", link));
    }
    // Rows of `tunnels`: pipe, exit. It begins at the first and ends at the second.
    let of = |column, row| number(&out, "tunnels", column, row);
    assert_eq!((of("encapsulated", 0), of("encapsulated", 1)), (queue(&out, PIPE, "arrived"), 0.0));
    assert_eq!((of("decapsulated", 0), of("decapsulated", 1)), (0.0, number(&out, "links", "delivered", EXIT)));
    // Hosts get what was sent, without the outer header.
    assert_eq!(sum(&out, "bytes_delivered"), 972.0 * number(&out, "links", "delivered", EXIT));
}

#[test]
fn of_two_tunnels_in_succession_the_first_ends_where_the_second_begins() {
    let udp = udp(Codepoint::Ect0);
    let mut two = through(plan(&udp), &[PIPE, EXIT], Ingress::Normal, Egress::Rfc6040);
    let other = TunnelPlan { name: "other".to_owned(), number: 1, ..tunnel(Ingress::Normal, Egress::Rfc6040) };
    two.links[EXIT].tunnel = Some(other);
    let out = ran(&two);
    for row in 0..2 {
        let (entered, left) =
            (number(&out, "tunnels", "encapsulated", row), number(&out, "tunnels", "decapsulated", row));
        assert!(entered > 1000.0 && (0.0..30.0).contains(&(entered - left)), "{entered} {left}");
    }
}

#[test]
fn an_egress_drops_ce_on_what_is_not_ecn_capable() {
    let mut bad = through(plan(&udp(Codepoint::NotEct)), &[PIPE], Ingress::Normal, Egress::Rfc6040);
    let mut marker = BoxPlan::idle("marker", "box");
    marker.codepoints = [Ecn::Ce; 4];
    bad.links[PIPE].boxes.push(marker);
    bad.packet_events = true;
    let out = ran(&bad);
    let delivered = number(&out, "links", "delivered", PIPE);
    assert!(delivered > 1000.0);
    for column in ["decapsulated", "dropped", "dangerous"] {
        assert_eq!(number(&out, "tunnels", column, 0), delivered, "{column}");
    }
    assert_eq!((sum(&out, "bytes_delivered"), number(&out, "links", "entered", EXIT)), (0.0, 0.0));
    let Some(Column::Text { codes, names }) = out.table("packets").and_then(|t| t.column("event")) else {
        panic!("no events")
    };
    let dropped = codes.iter().filter(|&&code| names[code as usize] == "drop_tunnel").count();
    assert_eq!(dropped as f64, delivered);
}

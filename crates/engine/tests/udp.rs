//! ECN-capable datagrams, and senders of datagrams that obey source quenches.

use crate::common;

use std::sync::atomic::AtomicBool;

use common::{Kept, droptail, flow, ftp, number, path, red, tcp};
use ecnlab_aqm::registry::Params as Law;
use ecnlab_base::{Dur, Length};
use ecnlab_engine::capture::{Capture, Interface};
use ecnlab_engine::{Column, Errors, Output, Plan, run, run_captured};
use ecnlab_traffic::Params;
use ecnlab_wire::{Checksum, Ecn, IcmpHeader, IpPacket, Ipv4Header, UdpHeader, protocol};

/// RED that marks from 5 to 25 packets, with room for whatever comes, and speaks back from 5 on if it is to.
fn queue(speaks: bool) -> ecnlab_aqm::Config {
    let mut queue = red(5.0, 25.0, 0.1);
    queue.common.limit = Length::Packets(1000.0);
    if let Law::Red(params) = &mut queue.params {
        params.becn = speaks.then(|| serde_json::from_str(r#"{"thresh": "5 packets"}"#).expect("BECN's parameters"));
    }
    queue
}

/// A constant rate of 1.1 Mbit/s, with more keys.
fn cbr(more: &str) -> Params {
    serde_json::from_str(&format!(r#"{{"kind": "cbr", "rate": "1.1 Mbps", "packet": "1000 B"{more}}}"#)).expect("cbr")
}

/// Two senders of datagrams into 2 Mbit/s.
fn plan(more: &str, speaks: bool) -> Plan {
    let tcp = tcp("modern", |_| {});
    let flows = (0..2).map(|i| flow(&format!("u{i}"), 2, &tcp, cbr(more))).collect();
    Plan { warmup: Dur::ZERO, ..path(&queue(speaks), "2 Mbps", "10 ms", flows) }
}

fn sum(out: &Output, column: &str) -> f64 {
    (0..2).map(|flow| number(out, "flows", column, flow)).sum()
}

/// The rows of `queues` are all and one group for each link: access, access~, pipe, pipe~.
const PIPE: usize = 2 * 2;

#[test]
fn ect_datagrams_are_marked_and_others_are_dropped() {
    let not_ect = run(&plan("", false), 1).expect("a run");
    let queue = |out: &Output, column| number(out, "queues", column, PIPE);
    assert_eq!(
        (queue(&not_ect, "arrived_ect"), queue(&not_ect, "marks"), sum(&not_ect, "ce_received")),
        (0.0, 0.0, 0.0)
    );
    assert!(queue(&not_ect, "early_drops") > 100.0);
    assert_eq!(number(&not_ect, "flows", "ecn", 0), 0.0);
    for codepoint in [r#", "ecn": "ect0""#, r#", "ecn": "ect1""#] {
        let out = run(&plan(codepoint, false), 1).expect("a run");
        assert_eq!(queue(&out, "arrived_ect"), queue(&out, "arrived"));
        assert_eq!(queue(&out, "early_drops"), 0.0);
        let (marks, received) = (queue(&out, "marks"), sum(&out, "ce_received"));
        // Those that are queued or on the wire at the end have not arrived.
        let held = number(&out, "links", "held", 2);
        assert!(marks > 100.0 && marks - received <= held && received <= marks, "{marks} {received} {held}");
        assert_eq!((number(&out, "flows", "ecn", 0), number(&out, "flows", "ecn", 1)), (1.0, 1.0));
    }
}

#[test]
fn the_log_has_the_codepoint_with_which_datagrams_leave_and_arrive() {
    let mut plan = plan(r#", "ecn": "ect1""#, false);
    plan.duration = Dur::from_s(20);
    plan.packet_events = true;
    let out = run(&plan, 1).expect("a run");
    let table = out.table("packets").expect("the packets");
    let Some(Column::U32(ecn)) = table.column("ecn") else { panic!("no codepoints") };
    let Some(Column::Text { codes: link, .. }) = table.column("link") else { panic!("no links") };
    let on = |wanted: u32| ecn.iter().zip(link).filter(move |(_, l)| **l == wanted).map(|(e, _)| *e);
    assert!(on(0).all(|e| e == u32::from(Ecn::Ect1.bits())));
    assert!(on(2).any(|e| e == u32::from(Ecn::Ce.bits())) && on(2).all(|e| e == 1 || e == 3));
}

/// A recovery of seconds, so that a minute shows it.
const QUICK: &str =
    r#", "ecn": "ect0", "quench": { "increase": "1 ms", "least": "1 ms", "period": "500 ms", "decrease": "500 us" }"#;

#[test]
fn senders_that_obey_quenches_stop_flooding_the_queue() {
    let unresponsive = run(&plan(r#", "ecn": "ect0""#, true), 1).expect("a run");
    let obedient = run(&plan(QUICK, true), 1).expect("a run that balances");
    for out in [&unresponsive, &obedient] {
        let (sent, received) = (number(out, "queues", "quenches", PIPE), sum(out, "quenches_received"));
        // At the end one may be under way.
        assert!(sent > 20.0 && (sent - received).abs() <= 2.0, "{sent} {received}");
        // What leaves r for a are the quenches alone: datagrams have no ACKs.
        assert_eq!(number(out, "links", "entered", 1), sent);
    }
    assert_eq!(sum(&unresponsive, "quench_reductions"), 0.0);
    assert!(sum(&obedient, "quench_reductions") > 5.0);
    let queue = |out: &Output| number(out, "links", "queue_mean_packets", 2);
    assert!(
        queue(&unresponsive) > 20.0 && queue(&obedient) < 0.5 * queue(&unresponsive),
        "{} {}",
        queue(&unresponsive),
        queue(&obedient)
    );
    // They come back: the link stays busy.
    assert!(number(&obedient, "links", "utilisation", 2) > 0.85, "{}", number(&obedient, "links", "utilisation", 2));
}

#[test]
fn rfc_1016_as_it_stands_is_a_delay_of_75_ms() {
    // One sender of 1.1 Mbit/s into 1 Mbit/s: 137.5 datagrams a second up to the first quench at q. From then on one every
    // 75 ms, which falls by 1 ms with the first datagram after each second and is never again too much.
    let mut plan = plan(r#", "ecn": "ect0", "quench": {}"#, true);
    plan.flows.truncate(1);
    plan.links[2].rate = Some("1 Mbps".parse().expect("a rate"));
    plan.packet_events = true;
    let out = run(&plan, 1).expect("a run");
    let events = out.table("packets").expect("the packets");
    let Some(Column::F64(times)) = events.column("time_s") else { panic!("no times") };
    let Some(Column::Text { codes: protocol, .. }) = events.column("protocol") else { panic!("no protocols") };
    let Some(Column::U32(ecn)) = events.column("ecn") else { panic!("no codepoints") };
    // The last event of an ICMP message is its arrival; the first is heeded.
    let quench = (0..times.len()).find(|&i| protocol[i] == 2).map(|i| times[i]).expect("a quench");
    let (mut now, mut fell, mut delay, mut expected) = (quench, quench, 0.075, 137.5 * quench);
    while now < 60.0 {
        (now, expected) = (now + delay, expected + 1.0);
        if now - fell >= 1.0 {
            (fell, delay) = (now, delay - 0.001);
        }
    }
    let sent = number(&out, "flows_run", "data_segments_sent", 0);
    assert!((sent - expected).abs() < 3.0, "{sent} {expected} {quench}");
    assert_eq!(number(&out, "flows_run", "quench_reductions", 0), 1.0);
    assert!(ecn.contains(&3));
}

#[test]
fn not_ect_datagrams_cause_no_quenches() {
    let out = run(&plan("", true), 1).expect("a run");
    assert_eq!((number(&out, "queues", "quenches", PIPE), sum(&out, "quenches_received")), (0.0, 0.0));
}

#[test]
fn lost_quenches_are_lost() {
    let mut plan = plan(r#", "ecn": "ect0""#, true);
    plan.links[1].errors = Errors { loss: 0.3, ..Errors::default() };
    let out = run(&plan, 1).expect("a run that balances");
    let (sent, received) = (number(&out, "queues", "quenches", PIPE), sum(&out, "quenches_received"));
    assert!((received - 0.7 * sent).abs() < 4.0 * (0.21 * sent).sqrt() + 2.0, "{received} of {sent}");
}

#[test]
fn connections_beside_them_receive_their_own_quenches() {
    // The endpoint of a quench about a datagram is no connection's, whatever its number.
    let host = tcp("modern", |c| c.ecn = ecnlab_tcp::registry::EcnKind::EcnBecn);
    let flows = vec![flow("f0", 2, &host, ftp()), flow("u", 2, &host, cbr(QUICK)), flow("f1", 2, &host, ftp())];
    let plan = Plan { warmup: Dur::ZERO, ..path(&queue(true), "2 Mbps", "10 ms", flows) };
    let out = run(&plan, 1).expect("a run that balances");
    let received: Vec<f64> = (0..3).map(|flow| number(&out, "flows", "quenches_received", flow)).collect();
    let returned = number(&out, "queues", "quenches", PIPE);
    assert!(
        received.iter().all(|&n| n > 10.0) && (received.iter().sum::<f64>() - returned).abs() <= 2.0,
        "{received:?} {returned}"
    );
}

#[test]
fn captures_have_the_codepoints_and_what_quenches_return_is_what_came() {
    let (plan, mut kept) = (plan(QUICK, true), Kept::default());
    let interface = |name: &str, out, into| Interface { name: name.into(), out: Some(out), into: Some(into) };
    let interfaces = vec![interface("access", 1, 0), interface("pipe", 2, 3)];
    let captures = [Capture { name: "r".into(), interfaces, before_queue: false }];
    let out = run_captured(&plan, 1, &AtomicBool::new(false), &captures, &mut kept).expect("a run");
    assert!(format!("{out:?}") == format!("{:?}", run(&plan, 1).expect("a run")), "a capture changes nothing");
    let (mut came, mut marked, mut quenches) = (std::collections::HashSet::new(), 0.0, 0.0);
    for (seen, packet) in &kept.0 {
        let ip = IpPacket::parse(packet).expect("an IP packet");
        assert!(Ipv4Header::is_intact(&packet[..20]));
        if ip.protocol == protocol::UDP {
            UdpHeader::parse(ip.payload).expect("a UDP header");
            assert_eq!(ip.ecn == Ecn::Ect0, !seen.outbound || ip.ecn != Ecn::Ce);
            marked += f64::from(u8::from(ip.ecn == Ecn::Ce));
            if !seen.outbound {
                came.insert(packet[..28].to_vec());
            }
            continue;
        }
        assert_eq!(ip.protocol, protocol::ICMP);
        assert!(Checksum::new().bytes(ip.payload).is_valid());
        let (header, returned) = IcmpHeader::parse(ip.payload).expect("an ICMP header");
        assert_eq!((header.kind, header.code), (IcmpHeader::SOURCE_QUENCH, 0));
        // Ports, length and checksum of the datagram, and its sender receives a quench.
        assert!(came.contains(returned), "{returned:?}");
        assert_eq!(returned[12..16], packet[16..20]);
        quenches += 1.0;
    }
    assert!(marked > 10.0);
    assert!((quenches - number(&out, "queues", "quenches", PIPE)).abs() <= 1.0);
}

#[test]
fn who_heeds_nothing_sends_as_ever() {
    // The codepoint alone changes what queues do, not what is sent.
    let tcp = tcp("modern", |_| {});
    let one = |more: &str| {
        let flows = vec![flow("u", 2, &tcp, cbr(&format!(r#", "jitter": 0.5{more}"#)))];
        run(&path(&droptail(100.0), "2 Mbps", "10 ms", flows), 1).expect("a run")
    };
    let (plain, capable) = (one(""), one(r#", "ecn": "ect0", "quench": {}"#));
    for column in ["segments_sent", "bytes_delivered"] {
        assert_eq!(number(&plain, "flows", column, 0), number(&capable, "flows", column, 0));
    }
}

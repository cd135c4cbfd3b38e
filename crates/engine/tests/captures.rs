//! What captures see: packets as the bytes that they would have on a wire, and what became of each.

use crate::common;

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use common::{Kept, droptail, duplex, flow, ftp, number, path, red, tcp};
use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Item, MarkAt};
use ecnlab_base::Dur;
use ecnlab_engine::capture::{Capture, Fate, Interface, Seen};
use ecnlab_engine::{FlowPlan, Output, Plan, run, run_captured};
use ecnlab_tcp::registry::EcnKind;
use ecnlab_wire::{Checksum, Dscp, Ecn, IpPacket, Ipv4Header, Quench, QuenchCause, UdpHeader, protocol};

/// Indices of the links; the reverse of each is the next.
const ACCESS: usize = 0;
const PIPE: usize = 2;
const SIDE: usize = 4;

/// `a` and `c` send through the router `r` to `b`: two endless connections and datagrams from `a`, web pages from both.
/// The router marks, and speaks back.
fn plan() -> Plan {
    let mut queue = red(5.0, 15.0, 0.1);
    if let Params::Red(params) = &mut queue.params {
        params.becn = Some(serde_json::from_str(r#"{"thresh": "5 packets"}"#).expect("BECN's parameters"));
    }
    let host = tcp("modern", |c| c.ecn = EcnKind::EcnBecn);
    let cbr = serde_json::from_str(r#"{"kind": "cbr", "rate": "300 kbps", "packet": "500 B"}"#).expect("datagrams");
    let web = r#"{"kind": "web", "sessions": 40, "inter_session": "500 ms", "pages": 3, "inter_page": "1 s",
        "objects": 2, "inter_object": "100 ms", "object_size": "20 kB", "packet": "1460 B"}"#;
    let web = serde_json::from_str(web).expect("web pages");
    let flows = vec![
        flow("f0", 2, &host, ftp()),
        flow("f1", 2, &host, ftp()),
        flow("datagrams", 2, &host, cbr),
        FlowPlan { from: vec![0, 3], ..flow("web", 2, &host, web) },
    ];
    let mut plan = path(&queue, "2 Mbps", "10 ms", flows);
    plan.nodes.push("c".to_owned());
    plan.links.extend(duplex("side", 3, 1, "10 Mbps", "1 ms", &droptail(1000.0)));
    (plan.duration, plan.warmup) = (Dur::from_s(25), Dur::ZERO);
    plan
}

/// All interfaces of the router.
fn at_router(before_queue: bool) -> Capture {
    let interface = |(name, out, into): (&str, _, _)| Interface { name: name.into(), out: Some(out), into: Some(into) };
    let interfaces = [("access", ACCESS + 1, ACCESS), ("pipe", PIPE, PIPE + 1), ("side", SIDE + 1, SIDE)];
    Capture { name: "r".into(), interfaces: interfaces.map(interface).into(), before_queue }
}

/// A run's tables, and all that was seen in it.
type Run = (Output, Vec<(Seen, Vec<u8>)>);

/// The plan's run, captured behind the queues: several tests read it.
fn run_of_plan() -> &'static Run {
    static RUN: LazyLock<Run> = LazyLock::new(|| captured(&plan(), false));
    &RUN
}

fn captured(plan: &Plan, before_queue: bool) -> Run {
    let mut kept = Kept::default();
    let captures = [at_router(before_queue)];
    let output = run_captured(plan, 1, &AtomicBool::new(false), &captures, &mut kept).expect("a run");
    (output, kept.0)
}

/// The IPv4 address of a node.
fn address(node: u8) -> std::net::IpAddr {
    [10, 0, 0, node + 1].into()
}

#[test]
fn every_packet_is_intact_and_identifies_its_sender() {
    let (_, kept) = run_of_plan();
    let mut ends = BTreeSet::new();
    for (seen, bytes) in kept {
        let ip = IpPacket::parse(bytes).expect("an IP packet");
        assert!(Ipv4Header::is_intact(&bytes[..20]));
        let sum = match ip.protocol {
            protocol::ICMP => Checksum::new(),
            other => Checksum::pseudo(ip.source, ip.destination, other, ip.payload_len),
        };
        assert!(sum.bytes(ip.payload).is_valid(), "{seen:?}");
        ends.insert((ip.protocol, ip.source, ip.destination));
        if ip.protocol == protocol::UDP {
            let (udp, data) = UdpHeader::parse(ip.payload).expect("a UDP header");
            // 500 B on the wire, 20 of them IP's; those after a drop are numbered on.
            assert_eq!((bytes.len(), udp.len, data.len()), (500, 480, 472));
        }
    }
    let [a, r, b, c] = [0, 1, 2, 3].map(address);
    let (icmp, tcp, udp) = (protocol::ICMP, protocol::TCP, protocol::UDP);
    let expected = [(icmp, r, a), (icmp, r, c), (tcp, a, b), (tcp, b, a), (tcp, b, c), (tcp, c, b), (udp, a, b)];
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn each_packet_has_the_dscp_of_its_flow() {
    let mut plan = plan();
    let dscps = [46, 45, 1, 63].map(Dscp::from_bits);
    plan.flows.iter_mut().zip(dscps).for_each(|(flow, dscp)| flow.dscp = dscp);
    let (_, kept) = captured(&plan, false);
    let mut seen_of = HashSet::new();
    for (seen, bytes) in &kept {
        let dscp = dscps[seen.packet.flow() as usize].bits();
        assert_eq!((bytes[1] >> 2, seen.packet.dscp().bits()), (dscp, dscp), "{seen:?}");
        // Behind IPv4's header and the eight bytes of ICMP stands the header that a source quench returns.
        let returned = (bytes[9] == protocol::ICMP).then(|| bytes[29] >> 2);
        assert!(returned.is_none_or(|returned| returned == dscp), "{seen:?}");
        seen_of.insert((dscp, bytes[9], seen.outbound));
    }
    // Both directions of TCP and UDP's one come in and go out; two flows at least are quenched.
    let tcp_of = |dscp: Dscp| [true, false].map(|out| (dscp.bits(), protocol::TCP, out));
    assert!([dscps[0], dscps[1], dscps[3]].into_iter().flat_map(tcp_of).all(|of| seen_of.contains(&of)));
    assert!(seen_of.contains(&(1, protocol::UDP, true)));
    assert!(seen_of.iter().filter(|(_, protocol, _)| *protocol == protocol::ICMP).count() >= 2);
}

#[test]
fn a_source_quench_returns_the_beginning_of_a_packet_that_came() {
    let (output, kept) = run_of_plan();
    let mut came: HashSet<&[u8]> = HashSet::new();
    let mut quenches = 0;
    for (seen, bytes) in kept {
        if !seen.outbound {
            came.insert(&bytes[..28]);
        } else if bytes[9] == protocol::ICMP {
            let message = &bytes[20..];
            let quench = Quench::parse(message).expect("a source quench");
            assert!(came.contains(&message[8..]), "{seen:?}");
            // The sender of the returned packet is notified.
            assert_eq!(message[20..24], bytes[16..20]);
            quenches += u64::from(quench.cause == QuenchCause::Marked);
        }
    }
    // Each of them is about a mark; one may still be in a queue.
    let marks = number(output, "queues", "marks", queue_row(PIPE)) as u64;
    assert!(marks > 100 && marks - quenches <= 1, "{marks} {quenches}");
}

/// The row of `queues` for all packets of a link: behind it is one for the only group.
fn queue_row(link: usize) -> usize {
    2 * link
}

#[test]
fn before_the_queue_the_capture_states_the_fate_of_each_packet() {
    for mark_at in [MarkAt::Tail, MarkAt::Front] {
        let mut plan = plan();
        Arc::make_mut(&mut plan.links[PIPE].queue).common.mark_at = mark_at;
        let (output, kept) = captured(&plan, true);
        let at_pipe = |fate: fn(Fate) -> bool| {
            kept.iter().filter(|(seen, _)| seen.outbound && seen.interface == 1 && fate(seen.fate)).count() as f64
        };
        let count = |column| number(&output, "queues", column, queue_row(PIPE));
        assert_eq!(at_pipe(|_| true), count("arrived"));
        let dropped = at_pipe(|fate| matches!(fate, Fate::Dropped(_)));
        assert_eq!(dropped, count("dropped"));
        assert!(dropped > 10.0, "{dropped}");
        // Some of those marked may still be in the queue.
        let waiting = count("marks") - at_pipe(|fate| fate == Fate::Marked);
        assert!(count("marks") > 100.0 && (0.0..10.0).contains(&waiting), "{mark_at:?} {waiting}");
        let not_ce =
            |(seen, bytes): &&(Seen, Vec<u8>)| seen.fate == Fate::Marked && Ecn::from_bits(bytes[1]) != Ecn::Ce;
        assert_eq!(kept.iter().filter(not_ce).count(), 0);
    }
}

#[test]
fn behind_the_queue_is_seen_what_leaves_it() {
    let (output, kept) = run_of_plan();
    let at_pipe: Vec<_> = kept.iter().filter(|(seen, _)| seen.outbound && seen.interface == 1).collect();
    assert_eq!(at_pipe.len() as f64, number(output, "queues", "departed", queue_row(PIPE)));
    for (seen, bytes) in at_pipe {
        assert_eq!(seen.fate == Fate::Marked, Ecn::from_bits(bytes[1]) == Ecn::Ce, "{seen:?}");
    }
}

#[test]
fn to_be_captured_changes_nothing() {
    let plan = Plan { packet_events: true, duration: Dur::from_s(45), ..plan() };
    let (output, kept) = captured(&plan, false);
    // As text, since some numbers are not there.
    assert!(format!("{output:?}") == format!("{:?}", run(&plan, 1).expect("a run")));
    // More than are gathered at a time: they were handed on several times, and are in order all the same.
    assert!(kept.len() > 1 << 15, "{}", kept.len());
    assert!(kept.is_sorted_by_key(|(seen, _)| seen.time));
}

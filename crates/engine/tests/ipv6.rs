//! Flows over IPv6: lengths on links by hand arithmetic, and their bytes in captures.

use crate::common;

use std::sync::atomic::AtomicBool;

use common::{Kept, droptail, flow, ftp, number, path, red, tcp};
use ecnlab_aqm::Item as _;
use ecnlab_base::{Bytes, Dur};
use ecnlab_engine::capture::{Capture, Interface};
use ecnlab_engine::{BoxPlan, Column, FlowPlan, Plan, Setup, run, run_captured};
use ecnlab_tcp::registry::EcnKind;
use ecnlab_traffic::Params;
use ecnlab_wire::{Checksum, Dscp, Ecn, IpPacket, IpVersion, Ipv6Header, protocol};

/// One bulk transfer over IPv6 with segments of 1440 bytes and without options, over 1.5 Mbit/s.
fn bulk(ecn: EcnKind) -> FlowPlan {
    let host = tcp("modern", |c| {
        (c.mss, c.timestamps, c.sack, c.ecn) = (Bytes(1440), false, false, ecn);
        c.recovery = ecnlab_tcp::registry::RecoveryKind::NewReno;
        (c.window_scaling, c.receive_buffer) = (false, Bytes(65_535));
    });
    FlowPlan { ip: IpVersion::V6, dscp: Dscp::from_bits(46), ..flow("six", 2, &host, ftp()) }
}

fn datagrams() -> FlowPlan {
    let cbr = r#"{"kind": "cbr", "rate": "200 kbps", "packet": "1000 B", "ecn": "ect1"}"#;
    let cbr: Params = serde_json::from_str(cbr).expect("datagrams");
    FlowPlan { ip: IpVersion::V6, ..flow("udp", 2, &tcp("modern", |_| {}), cbr) }
}

fn plan(flows: Vec<FlowPlan>) -> Plan {
    let plan = path(&red(5.0, 15.0, 0.1), "1.5 Mbps", "10 ms", flows);
    Plan { duration: Dur::from_s(20), warmup: Dur::ZERO, ..plan }
}

/// The link of the bottleneck, and the rows of `queues` for it: all and one group for each of four links.
const PIPE: usize = 2;

#[test]
fn a_full_segment_takes_eight_milliseconds() {
    let mut plan = plan(vec![bulk(EcnKind::Off)]);
    (plan.duration, plan.packet_events) = (Dur::from_s(2), true);
    plan.links[PIPE].queue = droptail(1000.0).into();
    let out = run(&plan, 1).expect("a run");
    let packets = out.table("packets").expect("the packets");
    let column = |name| packets.column(name).unwrap_or_else(|| panic!("no {name}"));
    let (Column::U32(len), Column::U64(time), Column::Text { codes: link, .. }, Column::Text { codes, names }) =
        (column("wire_len"), column("time_ps"), column("link"), column("event"))
    else {
        panic!("other types")
    };
    let deliver = names.iter().position(|name| name == "deliver").expect("the event") as u32;
    let at = |wanted: u32| move |&i: &usize| link[i] == wanted && codes[i] == deliver;
    // 1440 bytes, 20 of TCP and 40 of IPv6: 12,000 bits at 1.5 Mbit/s are 8 ms.
    let full: Vec<usize> = (0..len.len()).filter(at(PIPE as u32)).filter(|&i| len[i] == 1500).collect();
    let gaps: Vec<u64> = full.windows(2).map(|pair| time[pair[1]] - time[pair[0]]).collect();
    let eight_ms = Dur::from_ms(8).ps();
    assert!(gaps.len() > 100 && gaps.iter().all(|gap| *gap >= eight_ms));
    assert!(gaps.iter().filter(|gap| **gap == eight_ms).count() > 100);
    // ACKs: 40 bytes of IPv6 and 20 of TCP; the SYN-ACK has an MSS option of 4 bytes more.
    let acks: Vec<u32> = (0..len.len()).filter(at(PIPE as u32 + 1)).map(|i| len[i]).collect();
    assert_eq!((acks[0], acks[1..].iter().all(|len| *len == 60)), (64, true));
}

#[test]
fn the_same_segments_have_twenty_bytes_more() {
    for (ip, headers) in [(IpVersion::V4, 40.0), (IpVersion::V6, 60.0)] {
        let mut plan = plan(vec![FlowPlan { ip, ..bulk(EcnKind::Off) }]);
        plan.links[PIPE].queue = droptail(1000.0).into();
        // The run also checks that packets and bytes are conserved.
        let out = run(&plan, 1).expect("a run");
        let [packets, bytes] = ["delivered", "delivered_bytes"].map(|column| number(&out, "links", column, PIPE));
        // All have full segments but the SYN, which has an MSS option: the last ACK of the handshake is a full one.
        assert_eq!(bytes, 1440.0 * (packets - 1.0) + headers * packets + 4.0);
        assert!(packets > 1000.0);
    }
}

#[test]
fn captured_packets_are_those_of_ipv6() {
    let capture = Capture {
        name: "r".into(),
        interfaces: vec![Interface { name: "pipe".into(), out: Some(PIPE), into: Some(PIPE + 1) }],
        before_queue: false,
    };
    let mut kept = Kept::default();
    let four = FlowPlan { ip: IpVersion::V4, ..flow("four", 2, &tcp("modern", |_| {}), ftp()) };
    let plan = plan(vec![bulk(EcnKind::Rfc3168), datagrams(), four]);
    run_captured(&plan, 1, &AtomicBool::new(false), &[capture], &mut kept).expect("a run");
    let mut marks = [0; 2];
    for (seen, bytes) in &kept.0 {
        assert_eq!(bytes.len(), seen.packet.wire_len() as usize);
        let ip = IpPacket::parse(bytes).expect("an IP packet");
        let sum = Checksum::pseudo(ip.source, ip.destination, ip.protocol, ip.payload_len);
        assert!(sum.bytes(ip.payload).is_valid(), "{seen:?}");
        if seen.packet.flow() == 2 {
            assert!(ip.source.is_ipv4() && ip.destination.is_ipv4());
            continue;
        }
        let (header, rest) = Ipv6Header::parse(bytes).expect("an IPv6 packet");
        assert_eq!((usize::from(header.payload_len), header.hop_limit), (rest.len(), 64));
        let is_udp = seen.packet.flow() == 1;
        assert_eq!((header.next_header, header.dscp), if is_udp { (protocol::UDP, 0) } else { (protocol::TCP, 46) });
        let ends = [header.source, header.destination].map(|address| address.to_string());
        assert_eq!(ends, if seen.outbound { ["2001:db8::1", "2001:db8::3"] } else { ["2001:db8::3", "2001:db8::1"] });
        marks[usize::from(is_udp)] += u32::from(header.ecn == Ecn::Ce);
    }
    assert!(marks.iter().all(|marks| *marks > 5), "{marks:?}");
}

#[test]
fn the_reset_of_a_box_has_the_version_of_the_connection() {
    let mut plan = plan(vec![bulk(EcnKind::Rfc3168)]);
    plan.links[PIPE].boxes = vec![BoxPlan { syn: Setup::Reset, ..BoxPlan::idle("wall", "pipe") }];
    let out = run(&plan, 1).expect("a run");
    // 40 bytes of IPv6 and 20 of TCP.
    assert_eq!(number(&out, "links", "delivered_bytes", 1) / number(&out, "links", "delivered", 1), 60.0);
}

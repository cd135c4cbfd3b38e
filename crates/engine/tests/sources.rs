//! UDP and web traffic over simulated links, against arithmetic done by hand.

use crate::common;

use std::collections::BTreeSet;

use common::{droptail, duplex, flow, ftp, number, path, tcp};
use ecnlab_base::{Bytes, Dist, Dur, Rate, Tail};
use ecnlab_engine::{Column, Errors, FlowPlan, Output, Plan, run};
use ecnlab_traffic::{CbrParams, Codepoint, PageSpacing, Params, WebParams};

fn cbr(rate: u64, jitter: f64) -> Params {
    Params::Cbr(CbrParams {
        rate: Rate::from_bps(rate),
        packet: Bytes(1000),
        jitter,
        ecn: Codepoint::NotEct,
        quench: None,
    })
}

/// One session of one page of one object of 8 packets.
fn one_object() -> WebParams {
    WebParams {
        sessions: 1,
        inter_session: Dist::Constant(Dur::from_s(1)),
        pages: Dist::Constant(1.0),
        inter_page: Dist::Constant(Dur::from_s(10)),
        page_spacing: PageSpacing::EndToStart,
        objects: Dist::Constant(1.0),
        inter_object: Dist::Constant(Dur::from_ms(100)),
        object_size: Dist::Constant(Bytes(8000)),
        packet: Bytes(1000),
    }
}

fn column<'a>(output: &'a Output, table: &str, name: &str) -> &'a Column {
    output.table(table).and_then(|t| t.column(name)).unwrap_or_else(|| panic!("no {table}.{name}"))
}

#[test]
fn datagrams_arrive_at_their_rate() {
    let tcp = tcp("modern", |_| {});
    let out = run(&path(&droptail(100.0), "2 Mbps", "10 ms", vec![flow("u", 2, &tcp, cbr(1_000_000, 0.0))]), 1)
        .expect("a run");
    // One every 8 ms, of which 972 B are payload; 50 s hold 6250.
    assert_eq!(number(&out, "flows", "bytes_delivered", 0), 6250.0 * 972.0);
    assert_eq!(number(&out, "flows", "data_segments_sent", 0), 6250.0);
    assert_eq!(number(&out, "flows", "goodput_bps", 0), 972_000.0);
    assert_eq!(number(&out, "flows", "ecn", 0), 0.0);
    assert!((number(&out, "links", "utilisation", 2) - 0.5).abs() < 1e-9);
}

#[test]
fn the_table_of_packets_distinguishes_datagrams_from_segments() {
    let tcp = tcp("modern", |_| {});
    let flows = vec![flow("u", 2, &tcp, cbr(1_000_000, 0.0)), flow("f", 2, &tcp, ftp())];
    let plan = Plan { packet_events: true, ..path(&droptail(20.0), "2 Mbps", "10 ms", flows) };
    let out = run(&plan, 1).expect("a run");
    let texts = |name: &str| {
        let Column::Text { codes, names } = column(&out, "packets", name) else { panic!("no text") };
        codes.iter().map(|&code| names[code as usize].clone()).collect::<Vec<_>>()
    };
    let (protocol, flow, event, link) = (texts("protocol"), texts("flow"), texts("event"), texts("link"));
    assert!(protocol.iter().zip(&flow).all(|(p, f)| (p == "udp") == (f == "u")));
    let Column::U32(seq) = column(&out, "packets", "seq") else { panic!("no numbers") };
    let Column::U32(connection) = column(&out, "packets", "connection") else { panic!("no numbers") };
    let Column::U32(wire_len) = column(&out, "packets", "wire_len") else { panic!("no lengths") };
    let sent = |&i: &usize| protocol[i] == "udp" && event[i] == "enqueue" && link[i] == "access";
    let arrived: Vec<usize> = (0..seq.len()).filter(sent).collect();
    // Numbered from 0 in the order of sending; one pair of ports, which no connection of TCP has.
    assert!(arrived.iter().enumerate().all(|(n, &i)| seq[i] == n as u32 && wire_len[i] == 1000));
    let ports: BTreeSet<u32> = arrived.iter().map(|&i| connection[i]).collect();
    assert_eq!(ports.len(), 1);
    assert!((0..seq.len()).filter(|&i| protocol[i] == "tcp").all(|i| !ports.contains(&connection[i])));
}

#[test]
fn nobody_slows_datagrams_down() {
    let tcp = tcp("modern", |_| {});
    let flows = vec![flow("u", 2, &tcp, cbr(1_000_000, 0.5)), flow("f", 2, &tcp, ftp())];
    let out = run(&path(&droptail(10.0), "500 kbps", "10 ms", flows), 1).expect("a run");
    // Twice what the link carries is sent all the same, up to 2 Mbit/s of it at times: at least half is lost,
    // and what little TCP gets is less than a tenth.
    let sent = number(&out, "flows", "data_segments_sent", 0);
    assert!((sent - 6250.0).abs() < 5.0 * 79.0 * 0.29, "{sent}");
    let share = number(&out, "flows", "bytes_delivered", 0) / (sent * 972.0);
    assert!((0.45..0.51).contains(&share), "{share}");
    assert!(number(&out, "flows", "goodput_bps", 1) < 50_000.0);
}

#[test]
fn a_web_object_takes_its_round_trips() {
    // As in `a_transaction_takes_its_round_trips`, round trips of just over 100 ms: the client's SYN and the
    // request, until it is acknowledged: two. The server's SYN: one. Windows of 2 and 4 segments, and the
    // last 2, until they are acknowledged: three.
    let tcp = tcp("linux-2.0", |c| {
        c.ack_every = 1;
        c.mss = Bytes(1000);
    });
    let plan = Plan {
        warmup: Dur::ZERO,
        ..path(&droptail(100.0), "8 Mbps", "50 ms", vec![flow("w", 2, &tcp, Params::Web(one_object()))])
    };
    let out = run(&plan, 1).expect("a run");
    let at = |name| number(&out, "objects", name, 0);
    assert_eq!(at("asked_s"), 0.0);
    assert!((0.2..0.21).contains(&at("answered_s")), "{}", at("answered_s"));
    assert!((0.6..0.62).contains(&at("delay_s")), "{}", at("delay_s"));
    assert_eq!((at("bytes"), at("complete"), at("measured")), (8000.0, 1.0, 1.0));
    assert_eq!(number(&out, "flows_run", "exchanges", 0), 2.0);
    assert_eq!(number(&out, "flows_run", "bytes_delivered", 0), 9000.0 - 1000.0);
}

/// Three servers, a bottleneck, two clients.
fn pools(traffic: WebParams, loss: f64) -> Plan {
    let tcp = tcp("ns-2.29", |_| {});
    let mut links: Vec<_> =
        (0..3).flat_map(|i| duplex(&format!("s{i}"), i, 3, "10 Mbps", "2 ms", &droptail(1000.0))).collect();
    links.extend(duplex("pipe", 3, 4, "2 Mbps", "20 ms", &droptail(20.0)));
    links.extend((5..7).flat_map(|i| duplex(&format!("c{i}"), 4, i, "10 Mbps", "2 ms", &droptail(1000.0))));
    for link in &mut links {
        link.errors = Errors { loss, ..Errors::default() };
    }
    let web = FlowPlan { from: vec![0, 1, 2], to: vec![5, 6], ..flow("web", 6, &tcp, Params::Web(traffic)) };
    Plan {
        nodes: ["s0", "s1", "s2", "r1", "r2", "c0", "c1"].map(str::to_owned).to_vec(),
        links,
        ..path(&droptail(1.0), "1 Mbps", "1 ms", vec![web])
    }
}

fn busy() -> WebParams {
    WebParams {
        sessions: 100,
        inter_session: Dist::Exponential(Dur::from_ms(500)),
        pages: Dist::Constant(3.0),
        inter_page: Dist::Exponential(Dur::from_s(1)),
        objects: Dist::Pareto2(Tail { mean: 3.0, shape: 1.5 }),
        ..one_object()
    }
}

#[test]
fn pages_are_spread_over_a_pool_of_servers() {
    let out = run(&pools(busy(), 0.0), 1).expect("a run");
    let pages = |name: &str| {
        let Column::Text { codes, names } = column(&out, "objects", name) else { panic!("no text") };
        codes.iter().map(|&code| names[code as usize].clone()).collect::<BTreeSet<_>>()
    };
    assert_eq!(pages("from"), ["s0", "s1", "s2"].map(str::to_owned).into());
    assert_eq!(pages("to"), ["c0", "c1"].map(str::to_owned).into());
    let Column::Text { codes, names } = column(&out, "flows", "from") else { panic!("no text") };
    assert_eq!(names[codes[0] as usize], "s0..s2");
}

#[test]
fn lost_packets_delay_objects_and_stop_nobody() {
    let complete = |loss: f64| {
        let out = run(&pools(busy(), loss), 1).expect("a run that balances");
        let Column::Bool(complete) = column(&out, "objects", "complete") else { panic!("no flags") };
        let Column::F64(delay) = column(&out, "objects", "delay_s") else { panic!("no times") };
        let done = complete.iter().filter(|done| **done).count();
        (done, complete.len(), delay.iter().filter(|d| d.is_finite()).sum::<f64>() / done as f64)
    };
    let (clean, lossy) = (complete(0.0), complete(0.02));
    assert!(clean.0 > 600 && clean.0 as f64 > 0.97 * clean.1 as f64, "{clean:?}");
    assert!(lossy.0 > 500, "{lossy:?}");
    assert!(lossy.2 > clean.2, "{lossy:?} {clean:?}");
}

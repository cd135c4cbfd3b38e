//! Small networks for the tests.

use std::sync::Arc;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, droptail, red};
use ecnlab_base::{Bytes, Dist, Dur, Length, Time};
use ecnlab_engine::capture::{Seen, Sink, bytes};
use ecnlab_engine::{Changes, Column, Errors, FlowPlan, Link, LinkPlan, Output, Packet, Plan};
use ecnlab_traffic as traffic;

/// All packets captured, with their bytes.
#[derive(Default)]
pub struct Kept(pub Vec<(Seen, Vec<u8>)>);

impl Sink for Kept {
    fn take(&mut self, seen: &Seen) -> bool {
        let mut packet = Vec::new();
        let len = bytes::emit(seen, 65_535, &mut packet);
        assert_eq!(packet.len(), len as usize);
        self.0.push((seen.clone(), packet));
        true
    }
}

/// A drop-tail queue of `limit` packets.
pub fn droptail(limit: f64) -> Config {
    Config::new(Params::DropTail(droptail::Params {}), Common::with_limit(Length::Packets(limit)))
}

/// RED as Floyd and Jacobson published it, with thresholds in packets, marking where it can.
#[allow(dead_code, reason = "not every test file has a RED queue")]
pub fn red(min_th: f64, max_th: f64, max_p: f64) -> Config {
    let json = format!(r#"{{"min_th": "{min_th} packets", "max_th": "{max_th} packets", "max_p": {max_p}}}"#);
    let params: red::Params = serde_json::from_str(&json).expect("RED's parameters");
    let common = Common { ecn: true, ..Common::with_limit(Length::Packets(100.0)) };
    Config::new(Params::Red(params), common)
}

/// A duplex link between nodes `a` and `b`, the queue in both directions.
pub fn duplex(name: &str, a: usize, b: usize, rate: &str, delay: &str, queue: &Config) -> [LinkPlan; 2] {
    let queue = Arc::new(queue.clone());
    [(name.to_owned(), a, b), (format!("{name}~"), b, a)].map(|(name, from, to)| LinkPlan {
        name,
        from,
        to,
        rate: Some(rate.parse().expect("a rate")),
        delay: delay.parse().expect("a time"),
        queue: queue.clone(),
        shaper: None,
        jitter: None,
        changes: Changes::default(),
        errors: Errors::default(),
        boxes: Vec::new(),
        tunnel: None,
    })
}

/// A profile with departures.
pub fn tcp(profile: &str, change: impl FnOnce(&mut ecnlab_tcp::Config)) -> Arc<ecnlab_tcp::Config> {
    let mut config = ecnlab_tcp::profile(profile).expect("a profile").config.clone();
    change(&mut config);
    let config = config.settled(profile);
    config.check().expect("a possible configuration");
    Arc::new(config)
}

/// A flow from node 0 to node `to`.
pub fn flow(name: &str, to: usize, tcp: &Arc<ecnlab_tcp::Config>, traffic: traffic::Params) -> FlowPlan {
    FlowPlan {
        name: name.to_owned(),
        group: 0,
        dscp: ecnlab_wire::Dscp::default(),
        ip: ecnlab_wire::IpVersion::V4,
        from: vec![0],
        to: vec![to],
        traffic,
        tcp_from: Arc::clone(tcp),
        tcp_to: Arc::clone(tcp),
        quic: None,
        start: Time::ZERO,
        stop: None,
        reads: None,
    }
}

/// Endless data.
pub fn ftp() -> traffic::Params {
    traffic::Params::Ftp(traffic::FtpParams { size: None })
}

/// Transactions with responses of `response` bytes.
#[allow(dead_code, reason = "not every test file has transactions")]
pub fn crr(response: u64) -> traffic::Params {
    let (request, response) = (Dist::Constant(Bytes(128)), Dist::Constant(Bytes(response)));
    traffic::Params::Crr(traffic::CrrParams { request, response, think: Dur::ZERO })
}

/// A path of three nodes: a fast link, then the bottleneck.
#[allow(dead_code, reason = "not every test file has this path")]
pub fn path(bottleneck: &Config, rate: &str, delay: &str, flows: Vec<FlowPlan>) -> Plan {
    let mut links = Vec::new();
    links.extend(duplex("access", 0, 1, "10 Mbps", "0 ms", &droptail(1000.0)));
    links.extend(duplex("pipe", 1, 2, rate, delay, bottleneck));
    Plan {
        nodes: ["a", "r", "b"].map(str::to_owned).to_vec(),
        links,
        groups: vec!["all".to_owned()],
        flows,
        duration: Dur::from_s(60),
        warmup: Dur::from_s(10),
        sample: None,
        packet_events: false,
        end_after: Vec::new(),
    }
}

/// Handles the events of `link` up to `until`, as the engine does; passes each delivered packet to `out`, with its time.
#[allow(dead_code, reason = "not every test file has a link alone")]
pub fn drain(link: &mut Link, until: Time, mut out: impl FnMut(Time, Packet)) {
    loop {
        let at = link.next_event();
        if at > until || at == Time::NEVER {
            break;
        }
        link.replay(at, &mut ());
        while link.first_arrival() <= at {
            out(at, link.deliver());
        }
    }
}

/// One number of a table.
#[allow(dead_code, reason = "not every test file reads single numbers")]
pub fn number(output: &Output, table: &str, column: &str, row: usize) -> f64 {
    let column = output.table(table).and_then(|t| t.column(column)).unwrap_or_else(|| panic!("no {table}.{column}"));
    match column {
        Column::U64(v) => v[row] as f64,
        Column::U32(v) => f64::from(v[row]),
        Column::F64(v) => v[row],
        Column::Bool(v) => f64::from(u8::from(v[row])),
        Column::Text { codes, .. } => f64::from(codes[row]),
    }
}

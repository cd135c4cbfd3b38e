//! Our TCP at both ends of a path: between them the kernels of two namespaces, which forward, and our router.
//!
//! Historic feedback, which the kernel's TCP ignores, on real packets: RFC 2481's ECN with
//! source quenches.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use ecnlab_live::{
    Clock, Conversation, Impairments, Outcome, Role, Router, RouterFailure, Settings, Tun, converse, private,
};
use ecnlab_scenario::{Scenario, parse_scenario};
use ecnlab_trace::{Rule, Standard};
use ecnlab_wire::pcap::{Format, Writer};

use crate::stretch::{Digest, Stretch};
use crate::transfer;
use crate::transfer::{LIMIT, Result, all_bytes, in_virtual_time, keep, only_connection, report, seed};
use crate::window::{Signal, windows};

/// RED speaks back about every mark; no packet is dropped.
const SCENARIO: &str = r#"
format = 1
duration = "300 s"
profile = "modern"

link.access = { from = "sender", to = "router", rate = "100 Mbps", delay = "1 ms" }
link.narrow = { from = "router", to = "receiver", rate = "10 Mbps", delay = "7 ms", queue = "red" }
tcp.ours = { ecn = "ecn-becn", ack_every = 1 }
flow.bulk = { from = "sender", to = "receiver", traffic = "ftp", tcp = "ours" }

[queue.red]
discipline = "red"
limit = "1000 packets"
min_th = "5 packets"
max_th = "50 packets"
max_p = 1.0
weight = 0.02
ecn = true
becn = { thresh = "5 packets" }

# As in Akujobi et al. no ACK is delayed: one for both a marked segment and the CWR behind it would have ECE, and be heard.
"#;

const PORT: u16 = 5001;

/// 2 MB take 2 s of the narrow link, and are some reductions: more would only take longer.
fn size() -> u64 {
    all_bytes().min(2_000_000)
}

/// Where a host is: its node, its address, its port.
struct Place {
    node: &'static str,
    at: SocketAddrV4,
    role: Role,
}

const SENDER: Place =
    Place { node: "sender", at: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 40_000), role: Role::Client };
const RECEIVER: Place =
    Place { node: "receiver", at: SocketAddrV4::new(Ipv4Addr::new(10, 0, 2, 2), PORT), role: Role::Server };

/// What came of a host's part.
struct Part {
    outcome: Outcome,
    sum: Digest,
    capture: Vec<u8>,
}

/// The window of a sender that responds to source quenches is halved once a round trip.
pub fn quenches_halve_the_window() -> Result<()> {
    let [sender, receiver] = run()?;
    keep("becn/sender", &sender.capture)?;
    keep("becn/receiver", &receiver.capture)?;
    let sent = Stretch::new("up", size()).digest().map_err(|e| e.to_string())?;
    if sent.hex() != receiver.sum.hex() {
        return Err(format!("of {} bytes {} arrived, not the same", sent.len, receiver.sum.len));
    }
    let (counters, marked) = (&sender.outcome.counters, receiver.outcome.counters.ce_received);
    let seen = windows(&sender.capture, *SENDER.at.ip(), Signal::Quench)?;
    report(|| format!("becn: {} marks, {} source quenches, {} reductions", marked, seen.quenches, seen.notified));
    if seen.quenches == 0 || [marked, counters.quenches_received] != [seen.quenches; 2] {
        return Err(format!("{marked} marks, {} source quenches on the wire, {counters:?}", seen.quenches));
    }
    // Behind the last data no CWR can be sent, and the echo goes on: that of a mark near the end may be received.
    if counters.quench_reductions != seen.notified || counters.ecn_reductions > 1 {
        return Err(format!("not one reduction a round trip: {} seen, {counters:?}", seen.notified));
    }
    let mss = 1448;
    if seen.reductions.is_empty() {
        return Err("no reduction with new data after it".into());
    }
    let halved = |r: &crate::window::Reduction| r.after.abs_diff(r.before / 2) <= 2 * mss;
    if let Some(wrong) = seen.reductions.iter().find(|r| !halved(r)) {
        return Err(format!("not halved: {wrong:?} of {:?}", seen.reductions));
    }
    // ECN+BECN is on top of RFC 2481, whose CWR may be on a retransmission.
    let ends = only_connection(&sender.capture, Standard::Rfc2481)?.ends;
    // A source quench that is passed over is answered by CWR again (Akujobi et al. §IV-B): the one rule that ECN+BECN
    // breaks.
    let broken = ends.iter().flat_map(|end| end.violations.list()).find(|v| v.rule != Rule::CwrTwice);
    broken.map_or(Ok(()), |v| Err(format!("packet {}: {}", v.packet, v.rule.text())))
}

/// Both hosts and the router, to the end of the transfer.
fn run() -> Result<[Part; 2]> {
    let scenario = parse_scenario("becn.toml", SCENARIO).map_err(|e| e.to_string())?;
    let stop = AtomicBool::new(false);
    let done = [AtomicBool::new(false), AtomicBool::new(false)];
    let (give, take) = mpsc::channel();
    thread::scope(|scope| {
        let [one, other] = &done;
        let host = |own: &'static Place, peer: &'static Place, done| {
            let (give, scenario) = (give.clone(), &scenario);
            scope.spawn(move || converse_from(own, peer, scenario, &give, done))
        };
        let hosts = [host(&SENDER, &RECEIVER, [one, other]), host(&RECEIVER, &SENDER, [other, one])];
        let router = scope.spawn({
            let (scenario, stop) = (&scenario, &stop);
            move || carry(scenario, take, stop)
        });
        let parts = hosts.map(|host| host.join().unwrap_or_else(|_| Err("a host panicked".into())));
        stop.store(true, Ordering::Release);
        router.join().map_err(|_| "the router panicked")??;
        let [sender, receiver] = parts;
        Ok([sender?, receiver?])
    })
}

fn carry(scenario: &Scenario, devices: mpsc::Receiver<(Tun, &'static Place)>, stop: &AtomicBool) -> Result<()> {
    let text = |failure: RouterFailure| failure.to_string();
    let plan = scenario.plan(seed());
    let nodes = plan.nodes.clone();
    let mut router = Router::new(plan, seed(), PORT).map_err(text)?;
    if in_virtual_time() {
        router = router.sleepy();
    }
    for _ in 0..2 {
        let (tun, place) = devices.recv_timeout(std::time::Duration::from_secs(60)).map_err(|e| e.to_string())?;
        let node = nodes.iter().position(|name| name == place.node).ok_or("no such node")?;
        router.attach(tun, node, *place.at.ip()).map_err(text)?;
    }
    match router.run(Clock::start(), stop) {
        Err(RouterFailure::Engine(ecnlab_engine::Error::Cancelled)) => Ok(()),
        Err(other) => Err(text(other)),
        Ok(_) => Err("the transfer took too long".into()),
    }
}

/// A host in a namespace of its own, whose kernel forwards between our endpoint's device and the router's.
fn converse_from(
    own: &'static Place,
    peer: &Place,
    scenario: &Scenario,
    router: &mpsc::Sender<(Tun, &'static Place)>,
    done: [&AtomicBool; 2],
) -> Result<Part> {
    let text = |error: std::io::Error| error.to_string();
    private().map_err(text)?;
    let [ours, routers] = ["e0", "u0"].map(Tun::create);
    let (ours, routers) = (ours.map_err(text)?, routers.map_err(text)?);
    settings(own).apply().map_err(text)?;
    router.send((routers, own)).map_err(|e| e.to_string())?;
    let talk = Conversation {
        role: own.role,
        own: own.at,
        peer: peer.at,
        config: Arc::clone(&scenario.plan(seed()).flows[0].tcp_from),
        impairments: [Impairments::default(); 2],
        seed: seed(),
        limit: LIMIT,
    };
    let source = Stretch::new("up", if own.role == Role::Client { size() } else { 0 });
    let mut sum = Digest::default();
    let mut capture = Writer::new(Vec::new(), Format::Pcapng, &[own.node.to_owned()], 128).map_err(text)?;
    // Called once our end is done; it stays as long as the other end may need its last ACK again.
    let over = || {
        done[0].store(true, Ordering::Release);
        done[1].load(Ordering::Acquire)
    };
    let outcome = converse(&ours, &talk, source, &mut sum, Some(&mut capture), over).map_err(|e| e.to_string())?;
    Ok(Part { outcome, sum, capture: capture.finish().map_err(text)? })
}

fn settings(own: &Place) -> Settings {
    let no_ipv6 = transfer::no_ipv6().into_iter();
    let sysctls = no_ipv6.chain([("ipv4/ip_forward".to_owned(), "1".to_owned())]);
    let up = ["e0", "u0"].map(|device| format!("link set {device} up mtu 1500"));
    let routes = [format!("route add {}/32 dev e0", own.at.ip()), "route add default dev u0".to_owned()];
    Settings { sysctls: sysctls.collect(), ip: up.into_iter().chain(routes).collect() }
}

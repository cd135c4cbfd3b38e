//! The prober on real packets: the kernel's TCP answers from behind each of the boxes, which our router has.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ecnlab_live::{Clock, Router, RouterFailure, Settings, Target, Tun, private, probe};
use ecnlab_probe::Answers;
use ecnlab_scenario::{Scenario, parse_scenario};

use crate::transfer::{self, Result, report};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/ecnlab/probing");
const PORT: u16 = 5001;
const PROBER: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);
/// A busy machine may deliver a window in two parts, which the prober takes for two: wrong answers are probed again.
const TRIES: usize = 3;

/// Linux takes a SYN with ECT or CE for one whose field was mangled, and refuses ECN (net/ipv4/tcp_input.c,
/// tcp_ecn_create_request): a client sees so much of these boxes. The simulated server has no such rule.
const REFUSED: [&str; 2] = ["there-ce-set", "there-ect-set"];

/// Every server of the classification table, with the class that the simulated one has, but for [`REFUSED`].
pub fn every_box_is_classified() -> Result<()> {
    let text = |file: &str| std::fs::read_to_string(format!("{FOLDER}/{file}")).map_err(|e| format!("{file}: {e}"));
    let scenario = parse_scenario("boxes.toml", &text("boxes.toml")?).map_err(|e| e.to_string())?;
    let expected: toml::Table = toml::from_str(&text("expected.toml")?).map_err(|e| e.to_string())?;
    let flows = scenario.plan(1).flows;
    let class = |flow: usize| match flows[flow].name.as_str() {
        name if REFUSED.contains(&name) => "ecn-refused",
        name => expected.get(name).and_then(toml::Value::as_str).unwrap_or_default(),
    };
    let mut requested: Vec<usize> = (0..flows.len()).collect();
    let mut wrong = Vec::new();
    for _ in 0..TRIES {
        wrong.clear();
        for (&flow, answers) in requested.iter().zip(ask_all(&scenario, &requested)) {
            let (name, answers) = (&flows[flow].name, answers?);
            report(|| format!("{name}: {}", answers.class()));
            if answers.class() != class(flow) {
                wrong.push((flow, format!("{name} is {}, not {}: {answers:?}", answers.class(), class(flow))));
            }
        }
        requested = wrong.iter().map(|(flow, _)| *flow).collect();
    }
    let wrong: Vec<String> = wrong.into_iter().map(|(_, why)| why).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The answers of several servers, all at once: most of the time passes in waiting for a silent server.
fn ask_all(scenario: &Scenario, flows: &[usize]) -> Vec<Result<Answers>> {
    thread::scope(|scope| {
        let requested: Vec<_> = flows.iter().map(|&flow| scope.spawn(move || ask(scenario, flow))).collect();
        requested.into_iter().map(|probe| probe.join().unwrap_or_else(|_| Err("a probe panicked".into()))).collect()
    })
}

/// The kernel of one namespace serves, that of another forwards for the prober; between them the router.
fn ask(scenario: &Scenario, flow: usize) -> Result<Answers> {
    let stop = AtomicBool::new(false);
    let (give, take) = mpsc::channel();
    thread::scope(|scope| {
        let plan = scenario.plan(1);
        let (ecn, node) = (plan.flows[flow].tcp_from.ecn.name() != "off", plan.flows[flow].from[0]);
        let (to_router, stop) = (give.clone(), &stop);
        let server = scope.spawn(move || serve(ecn, node, PORT + flow as u16, &to_router, stop));
        let node = plan.flows[flow].to[0];
        let prober = scope.spawn(move || probe_from(node, PORT + flow as u16, &give, stop));
        let router = scope.spawn(move || carry(scenario, &take, stop));
        let answers = prober.join().unwrap_or_else(|_| Err("the prober panicked".into()));
        stop.store(true, Ordering::Release);
        router.join().map_err(|_| "the router panicked")??;
        server.join().map_err(|_| "the server panicked")??;
        answers
    })
}

/// A device for the router, with the node and the address behind it.
type Attached = (Tun, usize, Ipv4Addr);

fn carry(scenario: &Scenario, devices: &mpsc::Receiver<Attached>, stop: &AtomicBool) -> Result<()> {
    let text = |failure: RouterFailure| failure.to_string();
    let mut router = Router::new(scenario.plan(1), 1, PORT).map_err(text)?.sleepy();
    for _ in 0..2 {
        let (tun, node, address) = devices.recv_timeout(Duration::from_secs(60)).map_err(|e| e.to_string())?;
        router.attach(tun, node, address).map_err(text)?;
    }
    match router.run(Clock::start(), stop) {
        Err(RouterFailure::Engine(ecnlab_engine::Error::Cancelled)) => Ok(()),
        Err(other) => Err(text(other)),
        Ok(_) => Err("the probe took too long".into()),
    }
}

fn probe_from(node: usize, port: u16, router: &mpsc::Sender<Attached>, stop: &AtomicBool) -> Result<Answers> {
    let text = |error: std::io::Error| error.to_string();
    private().map_err(text)?;
    let [ours, routers] = ["e0", "u0"].map(Tun::create);
    let (ours, routers) = (ours.map_err(text)?, routers.map_err(text)?);
    let forward = ("ipv4/ip_forward".to_owned(), "1".to_owned());
    let up = ["e0", "u0"].map(|device| format!("link set {device} up mtu 1500"));
    let routes = [format!("route add {PROBER}/32 dev e0"), "route add default dev u0".to_owned()];
    apply(vec![forward], up.into_iter().chain(routes).collect())?;
    router.send((routers, node, PROBER)).map_err(|e| e.to_string())?;
    let server = SocketAddrV4::new(SERVER, port);
    let target =
        Target { server: server.into(), own: PROBER.into(), first_port: 40_000, request: vec![b'x'; 100], seed: 1 };
    probe(&ours, &target, stop).map_err(text)?.ok_or_else(|| "stopped".into())
}

/// An ordinary socket, which answers each request of 100 bytes with 200 kB.
fn serve(ecn: bool, node: usize, port: u16, router: &mpsc::Sender<Attached>, stop: &AtomicBool) -> Result<()> {
    let text = |error: std::io::Error| error.to_string();
    private().map_err(text)?;
    let tun = Tun::create("u0").map_err(text)?;
    let ecn = ("ipv4/tcp_ecn".to_owned(), if ecn { "1" } else { "0" }.to_owned());
    // The machine's own default may be BBR, which sends CWR and does not slow down: the prober reports it.
    let law = ("ipv4/tcp_congestion_control".to_owned(), "reno".to_owned());
    let ip =
        [format!("addr add {SERVER}/32 dev u0"), "link set u0 up mtu 1500".into(), "route add default dev u0".into()];
    apply(vec![ecn, law], ip.to_vec())?;
    let listener = TcpListener::bind((SERVER, port)).map_err(text)?;
    listener.set_nonblocking(true).map_err(text)?;
    router.send((tun, node, SERVER)).map_err(|e| e.to_string())?;
    thread::scope(|scope| {
        while !stop.load(Ordering::Acquire) {
            match listener.accept() {
                Ok((stream, _)) => drop(scope.spawn(move || answer(stream))),
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(text(error)),
            }
        }
        Ok(())
    })
}

/// That the prober goes away in the middle is no failure.
fn answer(mut stream: TcpStream) -> Option<()> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    stream.set_write_timeout(Some(Duration::from_secs(10))).ok()?;
    stream.read_exact(&mut [0; 100]).ok()?;
    stream.write_all(&vec![0; 200_000]).ok()?;
    stream.read_exact(&mut [0]).ok()
}

fn apply(sysctls: Vec<(String, String)>, ip: Vec<String>) -> Result<()> {
    let sysctls = transfer::no_ipv6().into_iter().chain(sysctls).collect();
    Settings { sysctls, ip }.apply().map_err(|e| e.to_string())
}

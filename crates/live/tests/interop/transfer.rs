//! One conversation, and its checks and figures.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ecnlab_base::Dur;
use ecnlab_live::{Conversation, Impairments, Outcome, Role, Settings, Tun, converse, private};
use ecnlab_tcp::{Config, profile};
use ecnlab_trace::{Connection, Input, RULES, Standard, Tracker, analyse};
use ecnlab_wire::pcap::{Format, Writer};

use crate::kernel::Side;
use crate::stretch::{Digest, Stretch};

pub type Result<T> = std::result::Result<T, String>;

/// How the two agree on ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Both want it.
    Agreed,
    /// The opener requests it, the other end has it off.
    Refused,
    /// Neither wants it.
    Off,
}

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// We do.
    Up,
    /// The kernel does.
    Down,
    /// Both at once.
    Both,
}

/// Every way.
pub const WAYS: [Way; 3] = [Way::Up, Way::Down, Way::Both];

/// A transfer to make.
#[derive(Clone, Debug)]
pub struct Case {
    pub role: Role,
    pub ecn: Ecn,
    pub way: Way,
    profile: &'static str,
    /// Keys of our TCP that are not its profile's, as TOML.
    departures: Vec<(&'static str, &'static str)>,
    wire: Impairments,
}

impl Case {
    pub fn new(role: Role, ecn: Ecn, way: Way) -> Case {
        Case { role, ecn, way, profile: "modern", departures: Vec::new(), wire: BAD }
    }
    pub fn with(&self, key: &'static str, value: &'static str) -> Case {
        let mut case = self.clone();
        case.departures.push((key, value));
        case
    }
    pub fn profile(&self, profile: &'static str) -> Case {
        Case { profile, ..self.clone() }
    }
    pub fn wire(&self, wire: Impairments) -> Case {
        Case { wire, ..self.clone() }
    }
    /// Without blanks: it is a word of a plan, too.
    pub fn name(&self) -> String {
        let keys = self.departures.iter().map(|(key, value)| format!(",{key}={}", value.trim_matches('"')));
        let keys = keys.collect::<String>().replace(' ', "");
        let Case { role, ecn, way, profile, .. } = self;
        format!("{profile}{keys}/{role:?}/ECN-{ecn:?}/{way:?}").to_lowercase()
    }

    fn config(&self) -> Result<Arc<Config>> {
        let mut table = profile(self.profile).ok_or("no such profile")?.table();
        let wants = self.ecn == Ecn::Agreed || (self.ecn == Ecn::Refused && self.role == Role::Client);
        let ecn = ("ecn", if wants { "\"rfc3168\"" } else { "\"off\"" });
        for (key, value) in self.departures.iter().copied().chain([ecn]) {
            let text: toml::Table = toml::from_str(&format!("{key} = {value}")).map_err(|e| e.to_string())?;
            table.extend(text);
        }
        let config = Config::read(table).map_err(|e: toml::de::Error| e.to_string())?;
        config.check().map_err(|e| e.to_string())?;
        Ok(Arc::new(config))
    }

    /// Settings of the kernel: its address, no other traffic, and its ECN mode.
    fn settings(&self) -> Settings {
        let wants = self.ecn == Ecn::Agreed || (self.ecn == Ecn::Refused && self.role == Role::Server);
        let ecn = ("ipv4/tcp_ecn".to_owned(), if wants { "1" } else { "0" }.to_owned());
        let up = format!("link set {DEVICE} up mtu 1500");
        Settings {
            sysctls: no_ipv6().into_iter().chain([ecn]).collect(),
            ip: vec![format!("address add {KERNEL}/24 dev {DEVICE}"), up],
        }
    }

    /// Bytes that we send, and the kernel.
    fn bytes(&self) -> [u64; 2] {
        let all = all_bytes();
        match self.way {
            Way::Up => [all, 0],
            Way::Down => [0, all],
            Way::Both => [all, all],
        }
    }
}

/// Settings from the environment.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How many bytes each transfer carries.
pub fn all_bytes() -> u64 {
    number("ECNLAB_LIVE_BYTES").unwrap_or(2_000_000)
}

/// The seed of all chance.
pub fn seed() -> u64 {
    number("ECNLAB_LIVE_SEED").unwrap_or(1)
}

/// Whether this runs in the kernel of virtual time.
pub fn in_virtual_time() -> bool {
    std::env::var("ECNLAB_LIVE_CLOCK").is_ok_and(|clock| clock == "virtual")
}

/// IPv6 is off, where the kernel has it.
pub fn no_ipv6() -> Option<(String, String)> {
    let has = std::fs::exists("/proc/sys/net/ipv6").is_ok_and(|has| has);
    has.then(|| ("ipv6/conf/default/disable_ipv6".to_owned(), "1".to_owned()))
}

const DEVICE: &str = "tun0";
const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
pub const OURS: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const PORT: u16 = 5001;

/// Where the two stand in a connection of the analysis: the lower address comes first.
const KERNELS_END: usize = 0;
const OUR_END: usize = 1;

/// A wire that does everything a wire may do to packets.
const BAD: Impairments =
    Impairments { loss: 0.005, mark: 0.01, duplicate: 0.005, reorder: 0.01, wait: Dur::from_us(300), delay: Dur::ZERO };

/// A wire that marks and does nothing else, seldom enough for windows of some tens of segments.
pub const MARKING: Impairments = Impairments { loss: 0.0, mark: 0.002, duplicate: 0.0, reorder: 0.0, ..BAD };

/// Of each way where packets would otherwise take no time, and windows and timers meant nothing.
const VIRTUAL_DELAY: Dur = Dur::from_ms(2);

/// Against hanging only.
pub const LIMIT: Dur = Dur::from_s(300);

/// What came of a transfer.
pub struct Done {
    pub outcome: Outcome,
    pub connection: Connection,
    /// (sent, received) of our data and of the kernel's.
    sums: [(Digest, Digest); 2],
    /// Of our end of the wire.
    pub capture: Vec<u8>,
}

/// Why such tests cannot run here.
pub fn missing() -> Option<String> {
    if all_bytes() == 0 {
        return Some("ECNLAB_LIVE_BYTES is 0".into());
    }
    thread::spawn(|| {
        private().map_err(|e| format!("a network namespace cannot be made: {e}"))?;
        let _tun = Tun::create(DEVICE).map_err(|e| format!("a TUN device cannot be made: {e}"))?;
        Case::new(Role::Client, Ecn::Off, Way::Up).settings().apply().map_err(|e| e.to_string())
    })
    .join()
    .map_or_else(|_| Some("the check panicked".into()), std::result::Result::err)
}

pub fn run(case: &Case) -> Result<Done> {
    thread::scope(|scope| {
        let inside = scope.spawn(|| run_inside(case));
        inside.join().map_err(|_| "our side panicked".to_owned())?
    })
}

/// In a thread of its own, whose namespace goes with it.
fn run_inside(case: &Case) -> Result<Done> {
    let text = |error: std::io::Error| error.to_string();
    private().map_err(text)?;
    let tun = Tun::create(DEVICE).map_err(text)?;
    case.settings().apply().map_err(text)?;
    let [own, kernel] = match case.role {
        Role::Client => [SocketAddrV4::new(OURS, 40_000), SocketAddrV4::new(KERNEL, PORT)],
        Role::Server => [SocketAddrV4::new(OURS, PORT), SocketAddrV4::new(KERNEL, 0)],
    };
    // Real packets take their time, those of virtual time the time in their settings.
    let delay = if in_virtual_time() { VIRTUAL_DELAY } else { Dur::ZERO };
    let wire = Impairments { delay, ..case.wire };
    let talk = Conversation {
        role: case.role,
        own,
        peer: kernel,
        config: case.config()?,
        impairments: [wire, wire],
        seed: seed(),
        limit: LIMIT,
    };
    let [up, down] = case.bytes();
    let side = Side::new(case.role, kernel, own).map_err(text)?;
    let mut capture = Writer::new(Vec::new(), Format::Pcapng, &["ours".to_owned()], 128).map_err(text)?;
    let (mut ours, over, given_up) = (Digest::default(), AtomicBool::new(false), AtomicBool::new(false));
    let (outcome, theirs) = thread::scope(|scope| {
        let kernel = scope.spawn(|| {
            let sum = side.talk(Stretch::new("down", down), &given_up);
            over.store(true, Ordering::Release);
            sum
        });
        let source = Stretch::new("up", up);
        let outcome = converse(&tun, &talk, source, &mut ours, Some(&mut capture), || over.load(Ordering::Acquire));
        given_up.store(outcome.is_err(), Ordering::Release);
        (outcome, kernel.join().unwrap_or_else(|_| Err("the kernel's side panicked".into())))
    });
    let bytes = capture.finish().map_err(text)?;
    keep(&case.name(), &bytes)?;
    let outcome = outcome.map_err(|failure| failure.to_string())?;
    let expected = |name: &str, len| Stretch::new(name, len).digest().map_err(text);
    let done = Done {
        connection: only_connection(&bytes, Standard::Rfc3168)?,
        capture: bytes,
        sums: [(expected("up", up)?, theirs?), (expected("down", down)?, ours)],
        outcome,
    };
    report(|| done.figures(case));
    Ok(done)
}

/// Writes a capture to the folder `ECNLAB_LIVE_CAPTURES`.
pub fn keep(name: &str, capture: &[u8]) -> Result<()> {
    let Ok(folder) = std::env::var("ECNLAB_LIVE_CAPTURES") else { return Ok(()) };
    let file = std::path::Path::new(&folder).join(format!("{}.pcapng", name.replace('/', "_")));
    std::fs::write(file, capture).map_err(|error| error.to_string())
}

/// Prints the figures of large transfers.
pub fn report(figures: impl Fn() -> String) {
    if std::env::var_os("ECNLAB_LIVE_BYTES").is_some() {
        println!("{}", figures());
    }
}

/// The only connection in a capture, analysed by the rules of `standard`.
pub fn only_connection(capture: &[u8], standard: Standard) -> Result<Connection> {
    let input = Input::new(Box::new(std::io::Cursor::new(capture.to_vec()))).map_err(|e| e.to_string())?;
    let found = analyse(input, Tracker::new(standard), |_| true).map_err(|e| e.to_string())?;
    if let Some(damage) = found.damage {
        return Err(format!("the capture: {damage}"));
    }
    match found.tracker.len() {
        1 => Ok(found.tracker.connection(0).into_owned()),
        all => Err(format!("{all} connections in the capture")),
    }
}

impl Done {
    pub fn sums_agree(&self) -> Result<()> {
        for ((sent, received), who) in self.sums.iter().zip(["the kernel", "our endpoint"]) {
            if (sent.len, sent.hex()) != (received.len, received.hex()) {
                return Err(format!("of {} bytes {who} received {}, not the same", sent.len, received.len));
            }
        }
        Ok(())
    }

    /// All four faults have happened to what was sent most.
    pub fn wire_was_bad(&self) -> Result<()> {
        let wire = self.outcome.wire.iter().max_by_key(|tally| tally.packets).copied().unwrap_or_default();
        let faults = [wire.lost, wire.duplicated, wire.reordered];
        if faults.contains(&0) { Err(format!("the wire did not do its worst: {wire:?}")) } else { Ok(()) }
    }

    /// Marks were seen, echoed and obeyed, in both directions that had data; or there was nothing to mark.
    pub fn marks_were_answered(&self, case: &Case) -> Result<()> {
        let (counters, [out, into]) = (&self.outcome.counters, &self.outcome.wire);
        let [ours, kernels] = [OUR_END, KERNELS_END].map(|end| &self.connection.ends[end].ecn.counts);
        if case.ecn != Ecn::Agreed {
            let none = out.marked + into.marked + counters.ce_received + counters.ece_received == 0;
            return if none { Ok(()) } else { Err("marks, without ECN".into()) };
        }
        let sent =
            case.way == Way::Down || (out.marked > 0 && kernels.ece > 0 && counters.ecn_reductions > 0 && ours.cwr > 0);
        let received = case.way == Way::Up
            || (into.marked > 0 && counters.ce_received > 0 && counters.ece_sent > 0 && counters.cwr_received > 0);
        if sent && received {
            Ok(())
        } else {
            Err(format!("marks without answer: {:?}, {counters:?}", self.outcome.wire))
        }
    }

    /// What our end broke.
    pub fn violations_of_ours(&self) -> Vec<String> {
        self.violations(OUR_END)
    }

    fn violations(&self, end: usize) -> Vec<String> {
        let found = &self.connection.ends[end].violations;
        let counted = RULES.iter().map(|&rule| (rule, found.count(rule))).filter(|(_, count)| *count > 0);
        counted
            .map(|(rule, count)| {
                let packets: Vec<u64> =
                    found.list().iter().filter(|v| v.rule == rule).map(|v| v.packet).take(5).collect();
                format!("{count} {} at packets {packets:?}", rule.name())
            })
            .collect()
    }

    /// A line for people.
    fn figures(&self, case: &Case) -> String {
        let outcome = &self.outcome;
        let megabytes: u64 = self.sums.iter().map(|(sent, _)| sent.len).sum::<u64>() / 1_000_000;
        let (up, down) = (outcome.wire[0], outcome.wire[1]);
        let retransmits = [OUR_END, KERNELS_END].map(|end| self.connection.ends[end].counts.retransmits);
        let broken = self.violations(KERNELS_END);
        format!(
            "{}: {megabytes} MB in {:.2} s, {} timeouts; sent {up:?}; received {down:?}; retransmissions {retransmits:?}; \
             the kernel's violations: {}",
            case.name(),
            outcome.took.as_secs(),
            outcome.counters.timeouts,
            if broken.is_empty() { "none".to_owned() } else { broken.join("; ") },
        )
    }
}

//! SFB, Stochastic Fair BLUE: Feng, Kandlur, Saha and Shin, INFOCOM 2001, as Linux's net/sched/sch_sfb.c.
//!
//! Flows are hashed over the bins of several levels, each of which has a probability that follows its length as BLUE's. A packet
//! is signalled with the least probability of its bins: a flow is unresponsive if all its bins are.

use std::collections::VecDeque;

use ecnlab_base::{Dur, Length, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::machine::layout::{Classifier, Compose, Inner, Layout, Rule, mixed};
use crate::machine::scheduler::Scheduler;
use crate::registry;
use crate::{
    Across, AcrossView, Common, Config, Decision, Full, Impossible, LawParams, LinkContext, MarkReason, PacketView,
    droptail,
};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "sfb",
    label: "SFB",
    summary: "Stochastic Fair BLUE (Feng et al. 2001): flows share the probabilities of hashed bins",
    reference: "W. Feng, D. Kandlur, D. Saha and K. Shin, 'Stochastic fair BLUE', INFOCOM 2001; Linux, net/sched/sch_sfb.c",
    shown: &["bin_size", "max"],
    // Linux marks every ECN-capable packet.
    defaults: &[("ecn", "true")],
    ..Facts::PLAIN
};

/// SFB's keys in `[queue.NAME]`. The defaults are those of Linux (`sfb_default_ops`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Number of packets in a bin from which its probability increases. Default 20.
    pub bin_size: u16,
    /// Number of packets: a packet is dropped if all its bins hold this many. Default 25.
    pub max: u16,
    /// Increment of the probability of a long bin per packet, rounded to a multiple of 1/65535. Default 1/1000
    /// (66/65535).
    pub increment: f64,
    /// Decrement of the probability of an empty bin per packet, rounded to a multiple of 1/65535. Default 1/6000
    /// (11/65535).
    pub decrement: f64,
    /// Interval after which flows are rehashed; 0 s disables it. Default 600 s.
    pub rehash: Dur,
    /// Time before a rehash, less than `rehash`, in which unresponsive flows are also counted in the next bins. Default
    /// 60 s.
    pub warmup: Dur,
    /// Packets of unresponsive flows admitted per second. Default 10.
    pub penalty_rate: u32,
    /// Burst size of these packets. Default 20.
    pub penalty_burst: u32,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            bin_size: 20,
            max: 25,
            increment: 1.0 / 1000.0,
            decrement: 1.0 / 6000.0,
            rehash: Dur::from_s(600),
            warmup: Dur::from_s(60),
            penalty_rate: 10,
            penalty_burst: 20,
        }
    }
}

/// A probability of 1 (`SFB_MAX_PROB`).
const CERTAIN: u32 = 0xffff;
/// Levels of bins.
const LEVELS: usize = 8;
/// Bins of a level.
const BINS: usize = 16;
/// Maximum time over which tokens of the penalty box accumulate.
const MOST_AGE: Dur = Dur::from_s(10);

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        Impossible::unless(config.classes.is_empty(), "class", || "it has one queue: leave it out".to_owned())?;
        Impossible::unless(config.common.full == Full::Tail, "full", || {
            "it has one queue, which drops what arrives: leave it out".to_owned()
        })?;
        Impossible::unless(self.bin_size > 0, "bin_size", || {
            "0 packets are an empty bin: write such as 20".to_owned()
        })?;
        Impossible::unless(self.max > 0, "max", || "0 would drop every packet: write such as 25".to_owned())?;
        for (key, step) in [("increment", self.increment), ("decrement", self.decrement)] {
            Impossible::unless(step * f64::from(CERTAIN) >= 1.0 && step <= 1.0, key, || {
                format!("{step} is not a valid step of a probability: it must be 1/65535 to 1")
            })?;
        }
        Impossible::unless(self.rehash.is_zero() || self.warmup < self.rehash, "warmup", || {
            format!("{} must be less than rehash, {}", self.warmup, self.rehash)
        })
    }
}

/// A virtual queue.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    packets: u16,
    p: u32,
}

/// The bins of one hash.
#[derive(Clone, Debug)]
struct Bins([[Bin; BINS]; LEVELS]);

impl Bins {
    /// The bins of a hash, one of each level: four bits of it each.
    fn of(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        self.0.iter_mut().enumerate().map(move |(level, bins)| &mut bins[hash as usize >> (4 * level) & (BINS - 1)])
    }
}

/// SFB on one queue.
#[derive(Clone, Debug)]
pub struct Sfb {
    params: Params,
    increment: u32,
    decrement: u32,
    sets: Box<[Bins; 2]>,
    /// Salts of the hashes of both sets; drawn on the first arrival.
    salts: Option<[u64; 2]>,
    /// The set in use.
    slot: usize,
    /// Time at which the set came into use.
    hashed: Time,
    /// Whether unresponsive flows are counted in the other set, too.
    double: bool,
    tokens: u64,
    token_time: Time,
    /// For each queued packet, in order, its hash in each set where it is counted.
    held: VecDeque<[Option<u32>; 2]>,
}

impl Sfb {
    /// Advances the time: switches to the next hash, or prepares it.
    fn rehash(&mut self, now: Time, salts: &mut [u64; 2], rng: &mut Rng) {
        let Params { rehash, warmup, .. } = self.params;
        if rehash.is_zero() {
            return;
        }
        let due = self.hashed.saturating_add(rehash);
        if now > due {
            coverage_mark!("sfb.rehash");
            salts[self.slot] = rng.u64();
            self.slot ^= 1;
            self.double = false;
            self.hashed = now;
        } else if !warmup.is_zero() && now.saturating_add(warmup) > due {
            coverage_mark!("sfb.warmup");
            self.double = true;
        }
    }

    /// Updates the probabilities of the bins of a set on the arrival of a packet with this hash.
    fn learn(&mut self, set: usize, hash: u32) {
        for bin in self.sets[set].of(hash) {
            if bin.packets == 0 {
                bin.p = bin.p.saturating_sub(self.decrement);
            } else if bin.packets >= self.params.bin_size {
                bin.p = (bin.p + self.increment).min(CERTAIN);
            }
        }
    }

    /// Returns whether the penalty box has no token left. (`sfb_rate_limit` also discards the accumulated credit then.)
    fn refuses(&mut self, now: Time) -> bool {
        if self.tokens == 0 {
            let age = now.since(self.token_time).min(MOST_AGE);
            let gathered = libm::floor(age.as_secs() * f64::from(self.params.penalty_rate)) as u64;
            self.tokens = gathered.min(self.params.penalty_burst.into());
            self.token_time = now;
        }
        let refuses = self.tokens == 0;
        self.tokens = self.tokens.saturating_sub(1);
        refuses
    }

    /// Decides on a packet whose bins have the minimum probability `p`.
    fn draw(p: u32, rng: &mut Rng) -> Decision {
        let drawn = (rng.u64() >> 48) as u32;
        if drawn >= p {
            Decision::Pass
        } else if drawn < 2 * p.saturating_sub(CERTAIN / 2) {
            coverage_mark!("sfb.drop_by_chance");
            Decision::SignalByDrop
        } else {
            coverage_mark!("sfb.signal");
            Decision::Signal(MarkReason::Law)
        }
    }

    /// Removes the oldest records so that `packets` remain, after a departure or drops caused by other packets.
    fn catch_up(&mut self, packets: u64) {
        while self.held.len() as u64 > packets {
            let gone = self.held.pop_front().unwrap_or_default();
            self.recount(gone, |packets| packets.saturating_sub(1));
        }
    }

    /// Changes the packets of a packet's bins.
    fn recount(&mut self, hashes: [Option<u32>; 2], change: impl Fn(u16) -> u16) {
        for (bins, hash) in self.sets.iter_mut().zip(hashes) {
            if let Some(hash) = hash {
                bins.of(hash).for_each(|bin| bin.packets = change(bin.packets));
            }
        }
    }
}

/// A flow's hash.
fn hash(flow: u64, salt: u64) -> u32 {
    mixed(flow ^ salt) as u32
}

impl Compose for Sfb {
    type Params = Params;

    fn layout(_params: &Params, _config: &Config, _groups: &[String]) -> Layout {
        let common = Common::with_limit(Length::Packets(f64::INFINITY));
        let fifo = Config::new(registry::Params::DropTail(droptail::Params {}), common);
        Layout {
            classifier: Classifier::Rules(vec![(0, Rule::ALL)]),
            scheduler: Scheduler::Fifo,
            queues: Inner::Alike(1, vec![(String::new(), fifo)]),
            memory: None,
            batch: 1,
            law: None,
        }
    }
}

impl LawParams for Params {
    type Law = Sfb;

    fn law(&self, _link: LinkContext) -> Sfb {
        let whole = |step: f64| libm::round(step * f64::from(CERTAIN)) as u32;
        Sfb {
            params: *self,
            increment: whole(self.increment),
            decrement: whole(self.decrement),
            sets: Box::new([(); 2].map(|()| Bins([[Bin::default(); BINS]; LEVELS]))),
            salts: None,
            slot: 0,
            hashed: Time::ZERO,
            double: false,
            tokens: self.penalty_burst.into(),
            token_time: Time::ZERO,
            held: VecDeque::new(),
        }
    }
}

impl Across for Sfb {
    /// `sfb_enqueue`.
    fn on_enqueue(&mut self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
        self.catch_up(view.own().packets);
        let mut salts = self.salts.unwrap_or_else(|| [rng.u64(), rng.u64()]);
        self.rehash(view.now, &mut salts, rng);
        self.salts = Some(salts);
        let (slot, other) = (self.slot, self.slot ^ 1);
        let mut hashes = [None; 2];
        let own = hash(packet.flow, salts[slot]);
        hashes[slot] = Some(own);
        self.learn(slot, own);
        let (packets, p) = self.sets[slot]
            .of(own)
            .fold((u16::MAX, CERTAIN), |(packets, p), bin| (packets.min(bin.packets), p.min(bin.p)));
        if packets >= self.params.max {
            coverage_mark!("sfb.bins_full");
            return Decision::SignalByDrop;
        }
        let decision = if p < CERTAIN {
            Sfb::draw(p, rng)
        } else {
            if self.double {
                let next = hash(packet.flow, salts[other]);
                hashes[other] = Some(next);
                self.learn(other, next);
            }
            if self.refuses(view.now) {
                coverage_mark!("sfb.penalty_drop");
                Decision::SignalByDrop
            } else {
                coverage_mark!("sfb.penalty_pass");
                Decision::Pass
            }
        };
        let enters = match decision {
            Decision::Pass => true,
            Decision::Signal(_) => packet.can_mark,
            Decision::SignalByDrop => false,
        };
        if enters {
            self.recount(hashes, |packets| packets.saturating_add(1));
            self.held.push_back(hashes);
        }
        decision
    }

    fn on_dequeue(&mut self, _packet: &PacketView, view: &AcrossView<'_>, _rng: &mut Rng) -> Decision {
        self.catch_up(view.own().packets);
        Decision::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InnerView;
    use ecnlab_base::Rate;
    use ecnlab_base::coverage::must_reach;

    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };

    fn config(params: Params) -> Config {
        Config::new(registry::Params::Sfb(params), Common::with_limit(Length::Packets(9.0)))
    }

    /// SFB, and the chance that it has.
    struct Bench {
        law: Sfb,
        rng: Rng,
    }

    impl Bench {
        fn new(keys: &str) -> Bench {
            let params: Params = toml::from_str(keys).unwrap();
            assert_eq!(params.check(&config(params)), Ok(()));
            Bench { law: params.law(LINK), rng: Rng::named(1, "sfb") }
        }
        /// A packet of `flow` comes and finds so many held.
        fn arrive_with(&mut self, ms: u64, flow: u64, packets: u64, can_mark: bool) -> Decision {
            let ecn = ecnlab_wire::Ecn::Ect0;
            let packet = PacketView { size: 1000, ecn, flow, can_mark, sojourn: Dur::ZERO };
            let queues = [InnerView { packets, ..InnerView::default() }];
            let view = AcrossView { queues: &queues, of: 0, now: Time::ZERO + Dur::from_ms(ms) };
            self.law.on_enqueue(&packet, &view, &mut self.rng)
        }
        fn arrive(&mut self, ms: u64, flow: u64) -> Decision {
            let held = self.law.held.len() as u64;
            self.arrive_with(ms, flow, held, true)
        }
        /// A packet leaves so many behind.
        fn leave(&mut self, packets: u64) {
            let ecn = ecnlab_wire::Ecn::Ect0;
            let packet = PacketView { size: 1000, ecn, flow: 0, can_mark: true, sojourn: Dur::ZERO };
            let queues = [InnerView { packets, ..InnerView::default() }];
            let view = AcrossView { queues: &queues, of: 0, now: Time::ZERO };
            assert_eq!(self.law.on_dequeue(&packet, &view, &mut self.rng), Decision::Pass);
        }
        /// The least of packets and of probabilities of a flow's bins in a set.
        fn bins(&mut self, set: usize, flow: u64) -> (u16, u32) {
            let salt = self.law.salts.unwrap()[set];
            let least = |(packets, p): (u16, u32), bin: &mut Bin| (packets.min(bin.packets), p.min(bin.p));
            self.law.sets[set].of(hash(flow, salt)).fold((u16::MAX, u32::MAX), least)
        }
        fn packets(&self, set: usize) -> u32 {
            self.law.sets[set].0.iter().flatten().map(|bin| u32::from(bin.packets)).sum()
        }
    }

    #[test]
    fn what_a_scenario_leaves_out_is_of_linux() {
        let params: Params = toml::from_str("").unwrap();
        assert_eq!((params.bin_size, params.max), (20, 25));
        assert_eq!((params.rehash, params.warmup), (Dur::from_s(600), Dur::from_s(60)));
        assert_eq!((params.penalty_rate, params.penalty_burst), (10, 20));
        // (65535 + 500)/1000 and (65535 + 3000)/6000, rounded down.
        let law = params.law(LINK);
        assert_eq!((law.increment, law.decrement), (66, 11));
    }

    #[test]
    fn a_hash_has_four_bits_for_each_level() {
        let mut bins = Bins([[Bin::default(); BINS]; LEVELS]);
        bins.of(0x7654_3210).for_each(|bin| bin.p = 1);
        let at = |level: usize| bins.0[level].iter().position(|bin| bin.p == 1);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(at), [0, 1, 2, 3, 4, 5, 6, 7].map(Some));
        assert_eq!(bins.0.iter().flatten().filter(|bin| bin.p == 1).count(), 8);
    }

    #[test]
    fn long_bins_gain_and_empty_bins_lose() {
        let mut bench = Bench::new("bin_size = 2\nincrement = 0.25\ndecrement = 0.125");
        // The third finds two in its bins. 0.25·65535 is 16384.
        for (packets, p) in [(1, 0), (2, 0)] {
            assert_eq!(bench.arrive(0, 1), Decision::Pass);
            assert_eq!(bench.bins(0, 1), (packets, p));
        }
        bench.arrive(0, 1);
        assert_eq!(bench.bins(0, 1).1, 16_384);
        // All leave: an empty bin loses 8192 at each arrival, and no more than all.
        for p in [8192, 0, 0] {
            bench.leave(0);
            bench.arrive(0, 1);
            assert_eq!(bench.bins(0, 1).1, p);
        }
        // Bins neither empty nor long keep it.
        bench.leave(0);
        bench.law.sets[0].0.iter_mut().flatten().for_each(|bin| *bin = Bin { packets: 1, p: 7 });
        bench.arrive(0, 1);
        assert_eq!(bench.bins(0, 1).1, 7);
    }

    #[test]
    fn a_packet_whose_bins_are_all_full_is_dropped() {
        let _reached = must_reach(["sfb.bins_full"]);
        let mut bench = Bench::new("bin_size = 100\nmax = 3");
        let drop = Decision::SignalByDrop;
        let pass = Decision::Pass;
        assert_eq!([(); 5].map(|()| bench.arrive(0, 1)), [pass, pass, pass, drop, drop]);
        assert_eq!((bench.arrive(0, 2), bench.law.held.len(), bench.packets(0)), (pass, 4, 32));
        bench.leave(3);
        assert_eq!(bench.arrive(0, 1), pass);
    }

    #[test]
    fn up_to_a_half_packets_are_marked_and_above_some_are_dropped() {
        let _reached = must_reach(["sfb.signal", "sfb.drop_by_chance"]);
        let mut rng = Rng::named(1, "sfb");
        let mut of = |p: u32| {
            let drawn: Vec<Decision> = (0..4000).map(|_| Sfb::draw(p, &mut rng)).collect();
            [Decision::Pass, Decision::Signal(MarkReason::Law), Decision::SignalByDrop]
                .map(|one| drawn.iter().filter(|&&other| other == one).count())
        };
        assert_eq!(of(0), [4000, 0, 0]);
        // 1/2: standard deviation 31.6; four of them.
        let [_, marks, drops] = of(32_767);
        assert!((1873..=2127).contains(&marks) && drops == 0, "{marks}");
        // 3/4: 2·(3/4 - 1/2) are dropped, and what is left of 3/4 is marked; 31.6 and 27.4.
        let [_, marks, drops] = of(49_151);
        assert!((1873..=2127).contains(&drops) && (890..=1110).contains(&marks), "{drops} {marks}");
    }

    #[test]
    fn an_unresponsive_flow_has_the_tokens_of_the_penalty_box() {
        let _reached = must_reach(["sfb.penalty_pass", "sfb.penalty_drop"]);
        let mut bench = Bench::new("bin_size = 1\nincrement = 1.0\npenalty_rate = 10\npenalty_burst = 2\nmax = 100");
        bench.arrive(0, 1);
        // p is 1 from the second on: two tokens; then 0.5 for 50 ms, which are none, and 0.9 for the next 90 ms, which are
        // none either; 1.1 for 110 ms.
        let passed = [1, 2, 50, 140, 250, 251].map(|ms| bench.arrive(ms, 1) == Decision::Pass);
        assert_eq!(passed, [true, true, false, false, true, false]);
        // After long two at most: what gathers in 10 s is 100.
        let passed = [20_000, 20_001, 20_002].map(|ms| bench.arrive(ms, 1) == Decision::Pass);
        assert_eq!(passed, [true, true, false]);
        // Another flow has bins of its own.
        assert_eq!(bench.arrive(20_003, 2), Decision::Pass);
    }

    #[test]
    fn tokens_gather_for_ten_seconds_at_most() {
        let mut bench = Bench::new("penalty_rate = 1\npenalty_burst = 50");
        bench.law.tokens = 0;
        let at = |s: u64| Time::ZERO + Dur::from_s(s);
        assert_eq!((bench.law.refuses(at(40)), bench.law.tokens), (false, 9));
    }

    #[test]
    fn what_does_not_enter_is_not_counted() {
        let mut bench = Bench::new("");
        bench.arrive(0, 1);
        bench.law.sets[0].0.iter_mut().flatten().for_each(|bin| *bin = Bin { packets: 1, p: 32_767 });
        let mut passed = 0;
        for _ in 0..15 {
            let held = bench.law.held.len() as u64;
            passed += usize::from(bench.arrive_with(0, 1, held, false) == Decision::Pass);
        }
        assert!((1..15).contains(&passed));
        assert_eq!((bench.law.held.len(), bench.bins(0, 1).0), (1 + passed, 1 + passed as u16));
    }

    #[test]
    fn packets_dropped_for_others_are_forgotten() {
        let mut bench = Bench::new("");
        (0..5).for_each(|_| {
            bench.arrive(0, 1);
        });
        assert_eq!(bench.bins(0, 1).0, 5);
        bench.arrive_with(0, 1, 2, true);
        assert_eq!(bench.bins(0, 1).0, 3);
        bench.leave(1);
        assert_eq!((bench.bins(0, 1).0, bench.packets(0)), (1, 8));
    }

    #[test]
    fn the_next_hash_is_warmed_up_with_unresponsive_flows() {
        let _reached = must_reach(["sfb.warmup", "sfb.rehash"]);
        let keys = "bin_size = 1\nincrement = 1.0\nrehash = \"10 s\"\nwarmup = \"2 s\"\nmax = 100";
        let mut bench = Bench::new(keys);
        (0..3).for_each(|_| {
            bench.arrive(0, 1);
        });
        bench.arrive(8000, 1);
        assert_eq!((bench.law.double, bench.packets(1)), (false, 0));
        // From 8 s on, flow 1 is counted in both, and has p = 1 there, too, with its second packet; flow 2 is not.
        bench.arrive(8001, 1);
        bench.arrive(8002, 2);
        bench.arrive(8003, 1);
        assert_eq!((bench.law.double, bench.bins(1, 1), bench.packets(1)), (true, (2, CERTAIN), 16));
        assert_eq!(bench.law.slot, 0);
        let salts = bench.law.salts.unwrap();
        bench.arrive(10_000, 3);
        assert_eq!(bench.law.slot, 0);
        bench.arrive(10_001, 3);
        let now = bench.law.salts.unwrap();
        assert_eq!((bench.law.slot, bench.law.double, now[1], now[0] == salts[0]), (1, false, salts[1], false));
        // What came under the old hash leaves under it.
        bench.leave(0);
        assert_eq!((bench.packets(0), bench.packets(1)), (0, 0));
        // The next change is 10 s later.
        bench.arrive(20_001, 3);
        assert_eq!((bench.law.slot, bench.law.double), (1, true));
        bench.arrive(20_002, 3);
        assert_eq!((bench.law.slot, bench.law.double), (0, false));
    }

    #[test]
    fn without_rehash_or_warmup_nothing_changes() {
        let mut bench = Bench::new("rehash = \"0 s\"");
        bench.arrive(0, 1);
        bench.arrive(1_000_000, 1);
        assert_eq!((bench.law.slot, bench.law.double), (0, false));
        let mut bench = Bench::new("rehash = \"10 s\"\nwarmup = \"0 s\"");
        bench.arrive(10_000, 1);
        assert_eq!((bench.law.slot, bench.law.double), (0, false));
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in [
            "bin_size = 0",
            "max = 0",
            "increment = 0.00001",
            "increment = 1.01",
            "decrement = 0.0",
            "decrement = nan",
            "warmup = \"600 s\"",
        ] {
            let params: Params = toml::from_str(keys).unwrap();
            let key = config(params).check().err().map(|e| e.key).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        let mut front = config(Params::default());
        front.common.full = Full::Fattest;
        assert_eq!(front.check().err().map(|e| e.key), Some("full".to_owned()));
        let mut classes = config(Params::default());
        let class = crate::Class { member: crate::Member::default(), queue: config(Params::default()) };
        classes.classes.insert("a".to_owned(), class);
        assert_eq!(classes.check().err().map(|e| e.key), Some("class".to_owned()));
        Bench::new("increment = 1.0\ndecrement = 1.0\nbin_size = 1\nmax = 1\nrehash = \"0 s\"");
    }
}

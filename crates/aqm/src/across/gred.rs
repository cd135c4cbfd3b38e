//! Generalised RED: one FIFO whose packets belong to virtual queues by DSCP, each with thresholds of its own. Linux's
//! net/sched/sch_gred.c, and RIO: Clark and Fang, "Explicit allocation of best-effort packet delivery service", IEEE/ACM ToN 6(4),
//! 1998, where packets in and out of profile are two such queues.

use std::collections::BTreeMap;

use ecnlab_base::{Bytes, Length, Rng, Time, coverage_mark};
use ecnlab_wire::Dscp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::machine::layout::{Classifier, Compose, Inner, Layout, Rule};
use crate::machine::scheduler::Scheduler;
use crate::red::{self, Above, Curve, Ewma, Spacer, Threshold};
use crate::registry;
use crate::{
    Across, AcrossView, Common, Config, Decision, Full, Impossible, InnerView, LawParams, LinkContext, MarkReason,
    PacketView, View, droptail,
};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "gred",
    label: "GRED",
    summary: "GRED (Linux) and RIO (Clark & Fang 1998): RED with thresholds by DSCP, over one queue",
    reference: "Linux, net/sched/sch_gred.c; D. Clark and W. Fang, 'Explicit allocation of best-effort packet delivery service', IEEE/ACM ToN 6(4), 1998",
    shown: &["average", "virtual.*.min_th", "virtual.*.max_th"],
    ..Facts::PLAIN
};

/// GRED's keys in `[queue.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The average used for a packet. Default `own` (Linux without `grio`).
    #[serde(default)]
    pub average: Average,
    /// The virtual queues: tables `[queue.NAME.virtual.QUEUE]`, 1 to 16 (Linux's `MAX_DPs`).
    #[serde(rename = "virtual")]
    pub queues: BTreeMap<String, Virtual>,
    /// The weight of the newest sample in an average, above 0 and at most 1. Default 0.002 (RED's, FJ93; ns-2.35's
    /// `Queue/RED/RIO`).
    #[serde(default = "default_weight")]
    pub weight: f64,
    /// A packet's typical size, which scales idle time. Default 500 B (RED's; ns-2.35's `Queue/RED/RIO`).
    #[serde(default = "default_mean_packet")]
    pub mean_packet: Bytes,
    /// Treatment of packets from `max_th` on. Default `mark`: they are signalled (`sch_gred.c` without `harddrop`).
    #[serde(default = "default_above")]
    pub above: Above,
}

/// The average used for a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GredAverage")]
pub enum Average {
    /// Average of its virtual queue's length (Linux's GRED).
    #[default]
    Own,
    /// Average of the total length (Linux's WRED mode).
    All,
    /// Sum of the averages of its virtual queue and of non-idle ones with lower `prio` (Linux's `grio`).
    Grio,
    /// Average of the length of its virtual queue together with those of lower or equal `prio` (Clark and Fang's RIO).
    Rio,
}

/// A virtual queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GredVirtual")]
pub struct Virtual {
    /// The DSCPs of its packets. One virtual queue has none: it takes all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<Dscp>,
    /// The average from which its packets are signalled.
    pub min_th: Length,
    /// The average from which all its packets are signalled.
    pub max_th: Length,
    /// The probability as the average reaches `max_th`. Default 0.02 (FJ93).
    #[serde(default = "default_max_p")]
    pub max_p: f64,
    /// Priority among the virtual queues for `grio` and `rio`: queues with lower numbers are included. Default 0.
    #[serde(default)]
    pub prio: u8,
}

fn default_weight() -> f64 {
    0.002
}
fn default_mean_packet() -> Bytes {
    Bytes(500)
}
fn default_above() -> Above {
    Above::Mark
}
fn default_max_p() -> f64 {
    0.02
}

/// Maximum number of virtual queues (Linux's `MAX_DPs`).
const MAX_QUEUES: usize = 16;

impl Virtual {
    fn red(&self, weight: f64) -> red::Params {
        let weight = red::Weight::Of(weight);
        let [min, max] = [self.min_th, self.max_th].map(Threshold::At);
        red::Params { max_p: self.max_p, weight, ..red::Params::new(min, max) }
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        Impossible::unless(config.classes.is_empty(), "class", || {
            "it has one queue: leave it out, and write its virtual queues as tables `virtual.NAME`".to_owned()
        })?;
        Impossible::unless(config.common.full == Full::Tail, "full", || {
            "it has one queue, which drops what arrives: leave it out".to_owned()
        })?;
        Impossible::unless((1..=MAX_QUEUES).contains(&self.queues.len()), "virtual", || {
            format!("{} virtual queues are not possible: write 1 to {MAX_QUEUES}", self.queues.len())
        })?;
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let strange = self.queues.keys().find(|name| !is_name(name));
        Impossible::unless(strange.is_none(), "virtual", || {
            format!("`{}` cannot be a name: names are letters, digits, `-` and `_`", strange.map_or("", |name| name))
        })?;
        let rest = self.queues.values().filter(|queue| queue.dscp.is_empty()).count();
        Impossible::unless(rest == 1, "virtual", || {
            format!("{rest} virtual queues have no `dscp`: leave it out of one, which takes all other packets")
        })?;
        Impossible::unless(self.weight > 0.0 && self.weight <= 1.0, "weight", || {
            format!("{} must be above 0 and at most 1", self.weight)
        })?;
        Impossible::unless(self.mean_packet.0 > 0, "mean_packet", || "a packet has at least one byte".to_owned())?;
        self.queues.iter().try_for_each(|(name, queue)| {
            let inside = |e: Impossible| Impossible { key: format!("virtual.{name}.{}", e.key), ..e };
            queue.red(self.weight).check().map_err(inside)
        })
    }

    /// The virtual queues in order; the last one takes all other packets.
    fn ordered(&self) -> Vec<(&String, &Virtual)> {
        let (rest, named): (Vec<_>, Vec<_>) = self.queues.iter().partition(|(_, queue)| queue.dscp.is_empty());
        named.into_iter().chain(rest).collect()
    }
}

/// GRED on one queue.
#[derive(Clone, Debug)]
pub struct Gred {
    average: Average,
    above: Above,
    queues: Vec<State>,
}

/// A virtual queue's RED.
#[derive(Clone, Debug)]
struct State {
    prio: u8,
    in_bytes: bool,
    curve: Curve,
    ewma: Ewma,
    spacer: Spacer,
    /// Time since which the averaged length has been zero.
    idle: Option<Time>,
}

impl State {
    fn new(queue: &Virtual, params: &Params, link: LinkContext) -> State {
        let (Length::Packets(min) | Length::Bytes(min)) = queue.min_th;
        let (Length::Packets(max) | Length::Bytes(max)) = queue.max_th;
        let per_second = link.rate.bps() as f64 / (8.0 * params.mean_packet.0 as f64);
        State {
            prio: queue.prio,
            in_bytes: matches!(queue.min_th, Length::Bytes(_)),
            curve: Curve::new(min, max, queue.max_p, false, false),
            ewma: Ewma::new(params.weight, red::Idle::Fj93, per_second),
            spacer: Spacer::new(&queue.red(params.weight)),
            idle: None,
        }
    }

    fn avg(&self) -> f64 {
        if self.in_bytes { self.ewma.bytes } else { self.ewma.packets }
    }

    /// Updates the average on a packet that counts for it, arrives at `now` and finds `held`.
    fn arrival(&mut self, held: InnerView, now: Time) {
        let InnerView { packets, bytes, .. } = held;
        let idle = self.idle.take().map(|since| now.since(since));
        self.ewma.arrival(&View { packets, bytes, in_all: bytes, idle, polled: false }, now);
    }
}

impl Gred {
    /// Whether a packet of virtual queue `j` counts for the average of `i`.
    fn counts(&self, i: usize, j: usize) -> bool {
        match self.average {
            Average::Own | Average::Grio => i == j,
            Average::All => true,
            Average::Rio => i == j || self.queues[j].prio <= self.queues[i].prio,
        }
    }

    /// Returns the length that the average of virtual queue `i` measures.
    fn held(&self, i: usize, view: &AcrossView<'_>) -> InnerView {
        let counted = view.queues.iter().enumerate().filter(|(j, _)| self.counts(i, *j));
        counted.fold(InnerView::default(), |sum, (_, queue)| InnerView {
            packets: sum.packets + queue.packets,
            bytes: sum.bytes + queue.bytes,
            head_since: None,
        })
    }

    /// Returns the average used for a packet of virtual queue `i`.
    fn judged_by(&self, i: usize) -> f64 {
        let own = &self.queues[i];
        let lower = self
            .queues
            .iter()
            .filter(|queue| self.average == Average::Grio && queue.prio < own.prio && queue.idle.is_none());
        own.avg() + lower.map(State::avg).sum::<f64>()
    }
}

impl Compose for Gred {
    type Params = Params;

    fn layout(params: &Params, _config: &Config, _groups: &[String]) -> Layout {
        // Only all together have a limit.
        let common = Common::with_limit(Length::Packets(f64::INFINITY));
        let fifo = || Config::new(registry::Params::DropTail(droptail::Params {}), common);
        let queues = params.ordered();
        let rule =
            |(i, (_, queue)): (usize, &(&String, &Virtual))| (i, Rule { dscps: queue.dscp.clone(), ..Rule::ALL });
        Layout {
            classifier: Classifier::Rules(queues.iter().enumerate().map(rule).collect()),
            scheduler: Scheduler::Fifo,
            queues: Inner::Named(queues.iter().map(|(name, _)| ((*name).clone(), fifo())).collect()),
            memory: None,
            batch: 1,
            law: None,
        }
    }
}

impl LawParams for Params {
    type Law = Gred;

    fn law(&self, link: LinkContext) -> Gred {
        let queues = self.ordered().into_iter().map(|(_, queue)| State::new(queue, self, link)).collect();
        Gred { average: self.average, above: self.above, queues }
    }
}

impl Across for Gred {
    fn on_enqueue(&mut self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
        for i in 0..self.queues.len() {
            if self.counts(i, view.of) {
                let held = self.held(i, view);
                self.queues[i].arrival(held, view.now);
            }
        }
        let avg = self.judged_by(view.of);
        let queue = &mut self.queues[view.of];
        if avg < queue.curve.min_th() {
            coverage_mark!("gred.passes_below_min_th");
            queue.spacer.restart();
            Decision::Pass
        } else if self.above == Above::Drop && avg >= queue.curve.max_th() {
            coverage_mark!("gred.forced_drop");
            queue.spacer.restart();
            Decision::SignalByDrop
        } else if queue.spacer.chooses(queue.curve.probability(avg), packet.size, rng) {
            coverage_mark!("gred.signal");
            Decision::Signal(MarkReason::Law)
        } else {
            coverage_mark!("gred.passes_by_chance");
            Decision::Pass
        }
    }

    fn on_dequeue(&mut self, _packet: &PacketView, view: &AcrossView<'_>, _rng: &mut Rng) -> Decision {
        for i in 0..self.queues.len() {
            if self.counts(i, view.of) && self.held(i, view).packets == 0 {
                self.queues[i].idle = Some(view.now);
            }
        }
        Decision::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::coverage::must_reach;
    use ecnlab_base::{Dur, Rate};

    /// 1250 B take 10 ms.
    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };
    const IN: usize = 0;
    const OUT: usize = 1;

    fn config(params: Params) -> Config {
        Config::new(registry::Params::Gred(params), Common::with_limit(Length::Packets(99.0)))
    }

    fn params(keys: &str) -> Params {
        let queues = "mean_packet = \"1250 B\"\n[virtual.in]\ndscp = [\"AF11\"]\nmin_th = \"5 packets\"\nmax_th = \"8 packets\"\n\
                      [virtual.any]\nmin_th = \"2 packets\"\nmax_th = \"4 packets\"\nprio = 1";
        toml::from_str(&format!("{keys}\n{queues}")).unwrap()
    }

    fn law(keys: &str) -> Gred {
        let params = params(keys);
        assert_eq!(params.check(&config(params.clone())), Ok(()));
        params.law(LINK)
    }

    fn packet() -> PacketView {
        let ecn = ecnlab_wire::Ecn::Ect0;
        PacketView { size: 1250, ecn, flow: 0, can_mark: true, sojourn: Dur::ZERO }
    }

    fn holding(held: [u64; 2]) -> [InnerView; 2] {
        held.map(|packets| InnerView { packets, bytes: 1250 * packets, head_since: None })
    }

    /// A packet of a virtual queue comes and finds so many of each.
    fn arrive(law: &mut Gred, ms: u64, of: usize, held: [u64; 2]) -> Decision {
        let view = AcrossView { queues: &holding(held), of, now: Time::ZERO + Dur::from_ms(ms) };
        law.on_enqueue(&packet(), &view, &mut Rng::named(1, "gred"))
    }

    /// A packet leaves so many behind.
    fn leave(law: &mut Gred, ms: u64, of: usize, held: [u64; 2]) {
        let view = AcrossView { queues: &holding(held), of, now: Time::ZERO + Dur::from_ms(ms) };
        assert_eq!(law.on_dequeue(&packet(), &view, &mut Rng::named(1, "gred")), Decision::Pass);
    }

    const SIGNAL: Decision = Decision::Signal(MarkReason::Law);

    #[test]
    fn the_virtual_queue_that_takes_the_rest_is_the_last() {
        let params = params("");
        let names: Vec<&str> = params.ordered().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["in", "any"]);
        assert_eq!((params.average, params.weight, params.above), (Average::Own, 0.002, Above::Mark));
        assert_eq!(params.queues["in"].max_p, 0.02);
    }

    #[test]
    fn each_is_judged_by_its_own_average_and_thresholds() {
        let _reached = must_reach(["gred.passes_below_min_th", "gred.passes_by_chance", "gred.signal"]);
        let mut law = law("weight = 1.0");
        assert_eq!(arrive(&mut law, 0, IN, [4, 9]), Decision::Pass);
        assert_eq!(arrive(&mut law, 0, OUT, [9, 1]), Decision::Pass);
        assert_eq!(arrive(&mut law, 0, OUT, [0, 4]), SIGNAL);
        assert_eq!(arrive(&mut law, 0, IN, [7, 0]), Decision::Pass);
        assert_eq!(arrive(&mut law, 0, IN, [8, 0]), SIGNAL);
    }

    #[test]
    fn from_max_th_on_all_may_be_dropped() {
        let _reached = must_reach(["gred.forced_drop"]);
        let mut law = law("weight = 1.0\nabove = \"drop\"");
        assert_eq!(arrive(&mut law, 0, OUT, [0, 4]), Decision::SignalByDrop);
        assert_eq!(arrive(&mut law, 0, OUT, [0, 1]), Decision::Pass);
    }

    #[test]
    fn averages_are_of_what_counts_for_them() {
        // Of weight 1/2. IN finds 4 and 2, then OUT finds 2 and 6.
        for (average, expected, judged) in [
            // 0 + (4 - 0)/2 and 0 + (6 - 0)/2; each alone.
            ("own", [2.0, 3.0], [2.0, 3.0]),
            // (0 + 6)/2 = 3, (3 + 8)/2 = 5.5.
            ("all", [5.5, 5.5], [5.5, 5.5]),
            // As own, and OUT is judged by both.
            ("grio", [2.0, 3.0], [2.0, 5.0]),
            // IN alone, OUT as all.
            ("rio", [2.0, 5.5], [2.0, 5.5]),
        ] {
            let mut law = law(&format!("weight = 0.5\naverage = \"{average}\""));
            arrive(&mut law, 0, IN, [4, 2]);
            arrive(&mut law, 0, OUT, [2, 6]);
            assert_eq!([law.queues[IN].avg(), law.queues[OUT].avg()], expected, "{average}");
            assert_eq!([law.judged_by(IN), law.judged_by(OUT)], judged, "{average}");
        }
    }

    #[test]
    fn thresholds_in_bytes_have_the_average_in_bytes() {
        let keys = "weight = 1.0\n[virtual.a]\nmin_th = \"2 kB\"\nmax_th = \"5 kB\"";
        let mut law = toml::from_str::<Params>(keys).unwrap().law(LINK);
        let at = |law: &mut Gred, packets: u64| {
            let queues = [InnerView { packets, bytes: 1250 * packets, head_since: None }];
            let view = AcrossView { queues: &queues, of: 0, now: Time::ZERO };
            law.on_enqueue(&packet(), &view, &mut Rng::named(1, "gred"))
        };
        assert_eq!([1, 4].map(|packets| at(&mut law, packets)), [Decision::Pass, SIGNAL]);
        assert_eq!(law.queues[0].avg(), 5000.0);
    }

    #[test]
    fn an_average_decays_while_what_it_is_of_is_empty() {
        for (average, after) in [("own", 1.0), ("grio", 1.0), ("all", 2.5), ("rio", 1.0)] {
            let mut law = law(&format!("weight = 0.5\naverage = \"{average}\""));
            arrive(&mut law, 0, IN, [8, 0]);
            // IN is empty at 10 ms, for the time of two packets: 4·(1/2)²; with all, 4 + (1 - 4)/2.
            leave(&mut law, 0, IN, [1, 1]);
            leave(&mut law, 10, IN, [0, 1]);
            arrive(&mut law, 30, IN, [0, 1]);
            assert!((law.queues[IN].avg() - after).abs() < 1e-12, "{average}: {}", law.queues[IN].avg());
            // Only once: the next finds 5.
            arrive(&mut law, 90, IN, [5, 0]);
            assert!((law.queues[IN].avg() - (after + 5.0) / 2.0).abs() < 1e-12, "{average}");
        }
    }

    #[test]
    fn an_idle_virtual_queue_does_not_count_for_others() {
        let mut law = law("weight = 0.5\naverage = \"grio\"");
        arrive(&mut law, 0, IN, [8, 0]);
        arrive(&mut law, 0, OUT, [8, 2]);
        assert_eq!((law.judged_by(IN), law.judged_by(OUT)), (4.0, 5.0));
        leave(&mut law, 10, IN, [0, 2]);
        assert_eq!(law.judged_by(OUT), 1.0);
    }

    #[test]
    fn between_the_thresholds_chance_decides_and_below_the_count_restarts() {
        let mut law = law("weight = 1.0");
        law.queues[OUT].curve.set_max_p(1.0);
        // p is 1·(3 - 2)/(4 - 2) = 1/2: uniform on the first and the second.
        let mut rng = Rng::named(1, "gred");
        let mut gaps = [0; 3];
        let mut gap = 0;
        for _ in 0..900 {
            let view = AcrossView { queues: &holding([0, 3]), of: OUT, now: Time::ZERO };
            gap += 1;
            if law.on_enqueue(&packet(), &view, &mut rng) == SIGNAL {
                gaps[gap - 1] += 1;
                gap = 0;
            }
        }
        // 600 signals, 300 of each gap; the standard deviation is 12.
        assert!((240..=360).contains(&gaps[0]) && (240..=360).contains(&gaps[1]) && gaps[2] == 0, "{gaps:?}");
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        let one = "min_th = \"2 packets\"\nmax_th = \"4 packets\"\n";
        for (keys, key) in [
            (format!("weight = 0.0\n[virtual.a]\n{one}"), "weight"),
            (format!("weight = 1.01\n[virtual.a]\n{one}"), "weight"),
            (format!("mean_packet = \"0 B\"\n[virtual.a]\n{one}"), "mean_packet"),
            ("[virtual]".to_owned(), "virtual"),
            (format!("[virtual.\"a/b\"]\n{one}"), "virtual"),
            (format!("[virtual.\"\"]\n{one}"), "virtual"),
            (format!("[virtual.a]\ndscp = [1]\n{one}"), "virtual"),
            (format!("[virtual.a]\n{one}[virtual.b]\n{one}"), "virtual"),
            (format!("[virtual.a]\nmax_p = 0.0\n{one}"), "virtual.a.max_p"),
            ("[virtual.a]\nmin_th = \"4 packets\"\nmax_th = \"4 packets\"".to_owned(), "virtual.a.min_th"),
            ("[virtual.a]\nmin_th = \"4 packets\"\nmax_th = \"5 kB\"".to_owned(), "virtual.a.max_th"),
            ((0..17).map(|i| format!("[virtual.q{i}]\n{one}")).collect(), "virtual"),
        ] {
            let refused = config(toml::from_str(&keys).unwrap()).check().err().map(|e| e.key);
            assert_eq!(refused.as_deref(), Some(key), "{keys}");
        }
        let mut front = config(params(""));
        front.common.full = Full::Fattest;
        assert_eq!(front.check().err().map(|e| e.key), Some("full".to_owned()));
        let mut classes = config(params(""));
        let class = crate::Class { member: crate::Member::default(), queue: config(params("")) };
        classes.classes.insert("a".to_owned(), class);
        assert_eq!(classes.check().err().map(|e| e.key), Some("class".to_owned()));
    }
}

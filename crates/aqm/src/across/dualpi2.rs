//! DualPI2: the coupled dual queue of RFC 9332, appendix A, and of Linux's net/sched/sch_dualpi2.c.
//!
//! L4S packets have their own queue L; all others use the queue C. One controller computes a base probability p' from
//! the delay. C is signalled with p'², L with the greater of k·p' and the probability of its own shallow threshold.
//! `docs/laws/dualpi2.md` lists the differences of the two profiles.

pub mod pi;
mod profile;
pub mod protection;

use ecnlab_base::facts::Column;
use ecnlab_base::{Bytes, Dur, Length, Rng, Time, coverage_mark};
use ecnlab_wire::Dscp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::{ActsAbove, Facts};
use crate::machine::layout::{Classifier, Compose, Inner, Layout, Rule};
use crate::machine::scheduler::{Credit, MTU, Scheduler};
use crate::record::columns::{Average, Columns, Integral};
use crate::registry;
use crate::{
    Across, AcrossView, Codepoint, Common, Config, Decision, Impossible, InnerView, LawParams, LinkContext, PacketView,
    droptail,
};
use profile::{Linux, Rfc9332};
use protection::Protection;

pub(crate) use profile::roll;

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "dualpi2",
    label: "DualPI2",
    summary: "DualPI2 (RFC 9332): a queue for L4S and one for the rest, coupled by one controller",
    reference: "RFC 9332; Linux, net/sched/sch_dualpi2.c",
    columns: Columns {
        values: &[
            CONTROLLER.values[0],
            Column::new(
                "sanctioned",
                "packets",
                "packets that queue protection redirected since the start of the run; missing without `protection`",
            )
            .with_fractions(),
        ],
        means: &[
            CONTROLLER.means[0],
            Column::new(
                "sanctioned_per_s",
                "1/s",
                "packets that queue protection redirected, in each second; missing without `protection`",
            ),
        ],
    },
    shown: &["profile", "target", "coupling_factor", "protection"],
    acts_above: &[
        ActsAbove { key: "step_thresh", consequence: "every packet that finds another one in L is marked" },
        ActsAbove::aim("target"),
    ],
    // Linux (`dualpi2_reset_default`).
    defaults: &[("limit", "\"10000 packets\""), ("ecn", "true")],
    ..Facts::PLAIN
};

/// DualPI2's keys in `[queue.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Variant of the law. Default `linux`.
    #[serde(default)]
    pub profile: Profile,
    /// Packets of the queue L: those that match any entry of the table. Default `{ codepoints = ["ect1", "ce"] }` (RFC
    /// 9331 §5.1).
    #[serde(default)]
    pub l4s: L4s,
    /// Target delay of the controller. Default 15 ms (RFC 9332 A.1, Linux).
    #[serde(default = "default_target")]
    pub target: Dur,
    /// Time between updates of p', at least 10 µs; the first is one interval after the start of the run. Default: 16 ms
    /// (Linux); with `rfc9332` the lesser of `target` and a third of 100 ms (RFC 9332 A.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tupdate: Option<Dur>,
    /// The integral gain, in Hz. Default: 41/256 (Linux); with `rfc9332` 0.1·`tupdate`/(100 ms)² = 0.15 (RFC 9332 A.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The proportional gain, in Hz. Default: 819/256 (Linux); with `rfc9332` 0.3/(100 ms) = 3 (RFC 9332 A.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// k, 1 to 255: the queue L is marked with k·p'. Default 2 (RFC 9332 A.1, Linux).
    #[serde(default = "default_coupling")]
    pub coupling_factor: u8,
    /// The share of the queue C in percent while both queues hold packets, shared by a credit. Default 10 (Linux; the
    /// pseudo-code of the RFC leaves the scheduler open).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classic_protection: Option<u8>,
    /// Instead of a share: time shift by which packets of C count as arrived later (RFC 9332 §4.2.2, time-shifted
    /// FIFO).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tshift: Option<Dur>,
    /// Only `rfc9332`: the sojourn in L from which packets may be marked. Default 800 µs (RFC 9332 A.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_th: Option<Dur>,
    /// Only `rfc9332`: width of the ramp above `min_th`, at whose end all packets are marked. Default 400 µs (RFC 9332
    /// A.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Dur>,
    /// Only `rfc9332`: while no more packets than this are left in L, its own threshold marks no packet. Default 1 (RFC
    /// 9332 A.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub th_len: Option<u64>,
    /// Only `linux`: packets with a longer sojourn in L are marked. Default 1 ms (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_thresh: Option<Dur>,
    /// Only `linux`: the coupled law decides on arrival instead of departure. Default false (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_enqueue: Option<bool>,
    /// Only `linux`: if k·p' exceeds 1, packets of both queues are dropped with probability p'². If false, p' is limited
    /// to 1/k (`overflow` of `tc`). Default true (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_on_overload: Option<bool>,
    /// Only `linux`: the device's MTU and header, at most 1 MiB. The coupled law signals no packet while less than twice
    /// this is held, and the credit starts at this times the difference of the shares. Default 1514 B (an Ethernet
    /// frame: Linux's `psched_mtu`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Bytes>,
    /// DSCPs of non-queue-building packets (RFC 9956), such as "NQB", which is 45. They belong to L, where those that
    /// are not ECN-capable are dropped only in overload. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nqb: Vec<Dscp>,
    /// Queue protection (RFC 9957): packets of flows that cause the queue in L are redirected to C; `{}` has all defaults.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<protection::Params>,
}

/// Variant of the law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The pseudo-code of RFC 9332, appendix A.2: signals at even distances, a ramp in L.
    Rfc9332,
    /// `sch_dualpi2` of Linux: signals at random, a step in L.
    #[default]
    Linux,
}

/// Packets of the queue L: those that match any of the lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L4s {
    /// Codepoints. Default `["ect1", "ce"]` (RFC 9331 §5.1).
    #[serde(default = "default_codepoints")]
    pub codepoints: Vec<Codepoint>,
    /// DSCPs, with any codepoint. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<Dscp>,
    /// Flow groups, with any codepoint. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

impl Default for L4s {
    fn default() -> L4s {
        L4s { codepoints: default_codepoints(), dscp: Vec::new(), groups: Vec::new() }
    }
}

fn default_codepoints() -> Vec<Codepoint> {
    vec![Codepoint::Ect1, Codepoint::Ce]
}
fn default_target() -> Dur {
    Dur::from_ms(15)
}
fn default_coupling() -> u8 {
    2
}

/// The share of C in percent (Linux).
const CLASSIC_PROTECTION: u8 = 10;
/// Maximum expected RTT, `RTT_max` (RFC 9332 A.1).
const MAX_RTT: f64 = 0.1;

/// Indices of the queues.
const L: usize = 0;
const C: usize = 1;

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        Impossible::unless(config.classes.is_empty(), "class", || {
            "L and C are its only classes: leave it out".to_owned()
        })?;
        let least = if self.profile == Profile::Linux { 1.0 / 256.0 } else { f64::MIN_POSITIVE };
        check_controller(self.tupdate(), [self.alpha, self.beta], least, self.coupling_factor)?;
        Impossible::unless(self.classic_protection.is_none_or(|share| share <= 100), "classic_protection", || {
            "a share is 0 to 100 percent: write one of them".to_owned()
        })?;
        Impossible::unless(self.classic_protection.is_none() || self.tshift.is_none(), "tshift", || {
            "a time-shifted FIFO has no shares: leave out tshift or classic_protection".to_owned()
        })?;
        Impossible::unless(self.mtu.is_none_or(|mtu| (1..=1 << 20).contains(&mtu.0)), "mtu", || {
            "Linux counts 1 B to 1 MiB: write such as 1514 B".to_owned()
        })?;
        self.protection.iter().try_for_each(protection::Params::check)?;
        self.check_profile()
    }

    /// Rejects keys of the other profile, which would have no effect.
    fn check_profile(&self) -> Result<(), Impossible> {
        let of_rfc =
            [("min_th", self.min_th.is_some()), ("range", self.range.is_some()), ("th_len", self.th_len.is_some())];
        let of_linux = [
            ("step_thresh", self.step_thresh.is_some()),
            ("drop_enqueue", self.drop_enqueue.is_some()),
            ("drop_on_overload", self.drop_on_overload.is_some()),
            ("mtu", self.mtu.is_some()),
        ];
        let (foreign, other): (&[(&str, bool)], _) = match self.profile {
            Profile::Rfc9332 => (&of_linux, "linux"),
            Profile::Linux => (&of_rfc, "rfc9332"),
        };
        foreign.iter().try_for_each(|(key, given)| {
            Impossible::unless(!given, key, || format!("only profile \"{other}\" has it: leave it out"))
        })
    }

    fn tupdate(&self) -> Dur {
        self.tupdate.unwrap_or_else(|| match self.profile {
            Profile::Rfc9332 => self.target.min(Dur::from_secs(MAX_RTT / 3.0)),
            Profile::Linux => Dur::from_ms(16),
        })
    }

    /// α and β, in Hz.
    fn gains(&self) -> [f64; 2] {
        let [alpha, beta] = match self.profile {
            Profile::Rfc9332 => [0.1 * self.tupdate().as_secs() / (MAX_RTT * MAX_RTT), 0.3 / MAX_RTT],
            Profile::Linux => [41.0 / 256.0, 819.0 / 256.0],
        };
        [self.alpha.unwrap_or(alpha), self.beta.unwrap_or(beta)]
    }

    fn min_th(&self) -> Dur {
        self.min_th.unwrap_or(Dur::from_us(800))
    }

    fn range(&self) -> Dur {
        self.range.unwrap_or(Dur::from_us(400))
    }

    fn th_len(&self) -> u64 {
        self.th_len.unwrap_or(1)
    }

    fn step_thresh(&self) -> Dur {
        self.step_thresh.unwrap_or(Dur::from_ms(1))
    }

    fn drop_enqueue(&self) -> bool {
        self.drop_enqueue.unwrap_or(false)
    }

    fn drop_on_overload(&self) -> bool {
        self.drop_on_overload.unwrap_or(true)
    }

    fn classic_protection(&self) -> u8 {
        self.classic_protection.unwrap_or(CLASSIC_PROTECTION)
    }

    /// The MTU with the device's header, `psched_mtu`.
    fn mtu(&self) -> u32 {
        self.mtu.map_or(MTU, |mtu| mtu.0 as u32)
    }

    fn scheduler(&self) -> Scheduler {
        let share = i64::from(self.classic_protection());
        match self.tshift {
            Some(tshift) => Scheduler::TimeShifted(tshift),
            None => Scheduler::Credit(Credit::new(vec![100 - share, share], self.mtu())),
        }
    }

    /// The rules of L, then that of C.
    fn rules(&self, groups: &[String]) -> Vec<(usize, Rule)> {
        let L4s { codepoints, dscp, groups: named } = &self.l4s;
        let place = |name: &String| groups.iter().position(|group| group == name);
        let codepoints =
            (!codepoints.is_empty()).then(|| codepoints.iter().map(|&codepoint| codepoint.into()).collect());
        let of_l = [
            codepoints.map(|codepoints| Rule { codepoints, ..Rule::ALL }),
            (!dscp.is_empty()).then(|| Rule { dscps: dscp.clone(), ..Rule::ALL }),
            (!self.nqb.is_empty()).then(|| Rule { dscps: self.nqb.clone(), ..Rule::ALL }),
            (!named.is_empty()).then(|| Rule {
                groups: named.iter().filter_map(place).collect(),
                of_groups: true,
                ..Rule::ALL
            }),
        ];
        let of_l = of_l.into_iter().flatten().map(|rule| (L, rule));
        of_l.chain([(C, Rule::ALL)]).collect()
    }
}

/// Checks the values of a controller whose gains are at least `least`, in Hz; the error names the key.
pub(crate) fn check_controller(
    tupdate: Dur,
    [alpha, beta]: [Option<f64>; 2],
    least: f64,
    coupling_factor: u8,
) -> Result<(), Impossible> {
    Impossible::unless(coupling_factor > 0, "coupling_factor", || {
        "0 would leave scalable traffic without any signal: write at least 1".to_owned()
    })?;
    Impossible::unless_interval(tupdate, "tupdate")?;
    for (key, gain) in [("alpha", alpha), ("beta", beta)] {
        // Linux takes 31 bits of 1/256 Hz.
        let possible = gain.is_none_or(|hz| hz >= least && hz <= 8_388_607.0);
        Impossible::unless(possible, key, || {
            format!("{} is not a valid gain of the controller: write such as 0.16, in Hz", gain.unwrap_or_default())
        })?;
    }
    Ok(())
}

/// DualPI2 on one link.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    tupdate: Dur,
    form: Form,
    average: Average,
    /// Boxed, so that its buckets do not enlarge the enum of all laws.
    protection: Option<Box<Protection>>,
    /// Number of redirected packets at the last count.
    counted: u64,
}

/// The law in the chosen variant.
#[derive(Clone, Debug)]
enum Form {
    Rfc9332(Rfc9332),
    Linux(Linux),
}

impl Form {
    /// p'.
    fn p(&self) -> f64 {
        match self {
            Form::Rfc9332(rfc) => rfc.pi.p(),
            Form::Linux(linux) => linux.pi.p(),
        }
    }
}

impl Compose for DualPi2 {
    type Params = Params;

    fn groups(params: &Params) -> Vec<(&'static str, &str)> {
        params.l4s.groups.iter().map(|group| ("l4s.groups", group.as_str())).collect()
    }

    fn layout(params: &Params, _config: &Config, groups: &[String]) -> Layout {
        // Only both together have a limit.
        let common = Common::with_limit(Length::Packets(f64::INFINITY));
        let fifo = || Config::new(registry::Params::DropTail(droptail::Params {}), common);
        Layout {
            classifier: Classifier::Rules(params.rules(groups)),
            scheduler: params.scheduler(),
            queues: Inner::Named(["L", "C"].map(|name| (name.to_owned(), fifo())).into()),
            memory: None,
            batch: 1,
            law: None,
        }
    }
}

impl LawParams for Params {
    type Law = DualPi2;

    fn in_force(&self, _link: LinkContext, _limit: Length) -> Params {
        let [alpha, beta] = self.gains();
        let both = Params {
            tupdate: Some(self.tupdate()),
            alpha: Some(alpha),
            beta: Some(beta),
            classic_protection: self.tshift.is_none().then(|| self.classic_protection()),
            protection: self.protection.map(protection::Params::in_force),
            ..self.clone()
        };
        match self.profile {
            Profile::Rfc9332 => {
                Params { min_th: Some(self.min_th()), range: Some(self.range()), th_len: Some(self.th_len()), ..both }
            }
            Profile::Linux => Params {
                step_thresh: Some(self.step_thresh()),
                drop_enqueue: Some(self.drop_enqueue()),
                drop_on_overload: Some(self.drop_on_overload()),
                mtu: Some(Bytes(self.mtu().into())),
                ..both
            },
        }
    }

    fn law(&self, link: LinkContext) -> DualPi2 {
        let form = match self.profile {
            Profile::Rfc9332 => Form::Rfc9332(Rfc9332::new(self)),
            Profile::Linux => Form::Linux(Linux::new(self)),
        };
        DualPi2 {
            tupdate: self.tupdate(),
            form,
            average: Average::default(),
            protection: self.protection.map(|protection| Box::new(Protection::new(&protection, link.rate))),
            counted: 0,
        }
    }
}

impl Across for DualPi2 {
    fn redirects(&self) -> bool {
        self.protection.is_some()
    }

    fn place(&mut self, packet: &PacketView, view: &AcrossView<'_>) -> usize {
        let of_l = self.protection.as_mut().filter(|_| view.of == L);
        let sanctioned = of_l.is_some_and(|protection| protection.sanctions(packet, view.own().bytes, view.now));
        if sanctioned {
            coverage_mark!("dualpi2.redirected");
            C
        } else {
            view.of
        }
    }

    fn judges_arrivals(&self) -> bool {
        matches!(&self.form, Form::Linux(linux) if linux.drop_enqueue())
    }

    fn on_enqueue(&mut self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
        match &self.form {
            Form::Rfc9332(_) => Decision::Pass,
            Form::Linux(linux) => linux.on_enqueue(packet, view, rng),
        }
    }

    fn on_dequeue(&mut self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
        match &mut self.form {
            Form::Rfc9332(rfc) => rfc.on_dequeue(packet, view),
            Form::Linux(linux) => linux.on_dequeue(packet, view, rng),
        }
    }

    fn tick(&self) -> Option<Dur> {
        Some(self.tupdate)
    }

    /// The controller uses the greater of both delays (RFC 9332 A.2; Linux's `calculate_probability`).
    fn on_tick(&mut self, queues: &[InnerView], now: Time) {
        let delay = queues.iter().map(|queue| queue.delay(now)).max().unwrap_or_default();
        match &mut self.form {
            Form::Rfc9332(rfc) => rfc.pi.update(delay),
            Form::Linux(linux) => linux.pi.update(delay),
        }
    }

    fn values(&self) -> Vec<f64> {
        let sanctioned = self.protection.as_ref().map_or(f64::NAN, |protection| protection.sanctioned() as f64);
        vec![self.form.p(), sanctioned]
    }

    fn elapsed(&mut self, time: Dur) {
        self.average.elapsed(self.form.p(), time);
    }

    fn cut(&mut self) -> Vec<Integral> {
        let Some(protection) = &self.protection else {
            return vec![self.average.cut(), Integral::Value(f64::NAN)];
        };
        // Over picoseconds, as all integrals.
        let new = protection.sanctioned() - std::mem::replace(&mut self.counted, protection.sanctioned());
        vec![self.average.cut(), Integral::Value(new as f64 * 1e12)]
    }
}

/// The columns of all laws with this controller.
pub const CONTROLLER: Columns = Columns {
    values: &[Column::new("pi2_p", "ratio", "PI2's base probability p'")],
    means: &[Column::new("mean_pi2_p", "ratio", "time average of PI2's base probability p'")],
};

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(keys: &str) -> Option<String> {
        let params: Params = toml::from_str(keys).unwrap();
        let common = Common::with_limit(Length::Packets(9.0));
        Config::new(registry::Params::DualPi2(params), common).check().err().map(|e| e.key)
    }

    #[test]
    fn what_a_scenario_leaves_out_is_of_linux_or_of_the_rfc() {
        let linux: Params = toml::from_str("").unwrap();
        assert_eq!(
            (linux.profile, linux.target, linux.tupdate()),
            (Profile::Linux, Dur::from_ms(15), Dur::from_ms(16))
        );
        assert_eq!((linux.gains(), linux.coupling_factor), ([0.160_156_25, 3.199_218_75], 2));
        // RFC 9332 A.1: 15 ms is less than 33 ms; 0.1·0.015/0.01 = 0.15 Hz and 0.3/0.1 = 3 Hz.
        let rfc: Params = toml::from_str("profile = \"rfc9332\"").unwrap();
        let [alpha, beta] = rfc.gains();
        assert_eq!((rfc.tupdate(), rfc.coupling_factor), (Dur::from_ms(15), 2));
        assert!((alpha - 0.15).abs() < 1e-12 && (beta - 3.0).abs() < 1e-12);
        // A target of 50 ms is sampled each third of 100 ms, and alpha follows.
        let slow: Params = toml::from_str("profile = \"rfc9332\"\ntarget = \"50 ms\"").unwrap();
        assert!((slow.tupdate().as_secs() - 0.1 / 3.0).abs() < 1e-9 && (slow.gains()[0] - 1.0 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in [
            "coupling_factor = 0",
            "tupdate = \"0 s\"",
            "tupdate = \"9.999 us\"",
            "alpha = 0.0",
            "alpha = 0.0039",
            "alpha = 0.0\nprofile = \"rfc9332\"",
            "beta = -1.0",
            "classic_protection = 101",
            "tshift = \"50 ms\"\nclassic_protection = 10",
            "min_th = \"1 ms\"",
            "range = \"1 ms\"",
            "th_len = 2",
            "step_thresh = \"1 ms\"\nprofile = \"rfc9332\"",
            "drop_enqueue = true\nprofile = \"rfc9332\"",
            "drop_on_overload = false\nprofile = \"rfc9332\"",
            "mtu = \"1500 B\"\nprofile = \"rfc9332\"",
            "mtu = \"0 B\"",
            "mtu = \"1048577 B\"",
            "protection.lg_aging = 31",
            "protection.lg_range = 0",
        ] {
            let key = refused(keys).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        for keys in [
            "",
            "profile = \"rfc9332\"",
            "classic_protection = 100",
            "tshift = \"0 s\"",
            "mtu = \"1048576 B\"",
            "alpha = 0.00390625\nbeta = 8388607.0",
        ] {
            assert_eq!(refused(keys), None, "{keys}");
        }
    }

    #[test]
    fn the_base_probability_is_averaged_over_time() {
        let link = LinkContext { rate: ecnlab_base::Rate::from_bps(1_000_000), delay: Dur::ZERO };
        let mut law = toml::from_str::<Params>("profile = \"rfc9332\"").unwrap().law(link);
        law.elapsed(Dur::from_ps(10));
        let head_since = Some(Time::ZERO);
        law.on_tick(
            &[InnerView::default(), InnerView { packets: 1, bytes: 1, head_since }],
            Time::ZERO + Dur::from_ms(25),
        );
        // 0 for 10 ps, and 0.0765 for 20 (dualpi2/pi.rs).
        law.elapsed(Dur::from_ps(20));
        let [Integral::Value(sum), Integral::Value(none)] = law.cut()[..] else { panic!("not two values") };
        assert!((sum - 1.53).abs() < 1e-9 && law.cut()[0] == Integral::Value(0.0) && none.is_nan());
    }
}

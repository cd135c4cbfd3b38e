//! PIE: "Proportional Integral Controller Enhanced", RFC 8033, and Linux's net/sched/sch_pie.c.
//!
//! A controller computes a drop probability from the queueing delay, with which arriving packets are signalled.
//! `docs/laws/pie.md` lists the differences of the two profiles.

mod linux;
mod rfc8033;

use ecnlab_base::facts::Column;
use ecnlab_base::{Bytes, Dur, Length, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::{ActsAbove, Facts};
use crate::record::columns::{Average, Columns, averages_first};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};
use linux::Linux;
use rfc8033::Rfc8033;

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "pie",
    label: "PIE",
    summary: "Proportional Integral controller Enhanced (RFC 8033): signals with a probability that follows the delay",
    reference: "RFC 8033; Linux, net/sched/sch_pie.c",
    columns: Columns {
        values: &[
            Column::new("pie_p", "ratio", "PIE's drop probability"),
            Column::new("pie_delay_s", "s", "delay at PIE's last update"),
        ],
        means: &[Column::new("mean_pie_p", "ratio", "time average of PIE's drop probability")],
    },
    shown: &["profile", "target"],
    acts_above: &[ActsAbove::aim("target")],
    // Linux (`pie_params_init`).
    defaults: &[("limit", "\"1000 packets\"")],
    ..Facts::PLAIN
};

/// PIE's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Variant of the law. Default `linux`.
    #[serde(default)]
    pub profile: Profile,
    /// Target delay of the controller. Default 15 ms (RFC 8033 §4.2, Linux).
    #[serde(default = "default_target")]
    pub target: Dur,
    /// Time between updates of the drop probability, at least 10 µs; `linux` rounds it as its timers do. Default 15 ms
    /// (RFC 8033 §4.2, Linux).
    #[serde(default = "default_tupdate")]
    pub tupdate: Dur,
    /// The integral gain, in Hz, up to 1000; with `linux` a multiple of 1/16. Default 1/8 (RFC 8033 A, Linux).
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// The proportional gain, in Hz, up to 1000; with `linux` a multiple of 1/16. Default 5/4 (RFC 8033 A, Linux).
    #[serde(default = "default_beta")]
    pub beta: f64,
    /// Whether the delay is the backlog divided by a measured departure rate; if not, the sojourn time of the last departure.
    /// Default false (Linux; RFC 8033 §4.3 has both).
    #[serde(default)]
    pub dq_rate_estimator: bool,
    /// Up to this drop probability ECN-capable packets are marked, above it they are dropped; with `rfc8033` only below it. 1 does
    /// not mean that all are marked: `rfc8033` drops at p = 1, `linux` at p > 1, which its p reaches. Default 0.1 (RFC 8033 §5.1,
    /// Linux).
    #[serde(default = "default_mark_ecnth")]
    pub mark_ecnth: f64,
    /// Only `rfc8033`: burst allowance. Default 150 ms (RFC 8033 §4.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_burst: Option<Dur>,
    /// Only `rfc8033`: no packet is signalled while at most twice this is held. Default 1024 B (RFC 8034 A.1; RFC 8033 has no
    /// value).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_pktsize: Option<Bytes>,
    /// Only `rfc8033`: queue length at which the law becomes active; it becomes inactive when congestion is over
    /// (§5.3). Default: it is always active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_threshold: Option<Length>,
    /// Only `linux`: packets shorter than `mtu` are signalled with a probability in proportion to their size. Default
    /// false (Linux).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytemode: Option<bool>,
    /// Only `linux`: no packet is signalled while less than twice this, 1 B to 1 MiB, is held. Default 1514 B (an Ethernet
    /// frame: Linux's `psched_mtu`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Bytes>,
}

/// Variant of the law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "PieProfile")]
pub enum Profile {
    /// RFC 8033, §4 and §5, in real numbers.
    Rfc8033,
    /// `sch_pie` of Linux, in whole numbers.
    #[default]
    Linux,
}

fn default_target() -> Dur {
    Dur::from_ms(15)
}
fn default_tupdate() -> Dur {
    Dur::from_ms(15)
}
fn default_alpha() -> f64 {
    0.125
}
fn default_beta() -> f64 {
    1.25
}
fn default_mark_ecnth() -> f64 {
    0.1
}

/// The highest gain in Hz: several times that of data centres (RFC 8033 §4.2: a hundred times the default).
const MOST_GAIN: f64 = 1000.0;
/// Maximum packet size in Linux's calculations.
const MOST_MTU: Bytes = Bytes(1 << 20);

impl Default for Params {
    fn default() -> Params {
        Params {
            profile: Profile::default(),
            target: default_target(),
            tupdate: default_tupdate(),
            alpha: default_alpha(),
            beta: default_beta(),
            dq_rate_estimator: false,
            mark_ecnth: default_mark_ecnth(),
            max_burst: None,
            mean_pktsize: None,
            active_threshold: None,
            bytemode: None,
            mtu: None,
        }
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        Impossible::unless(!self.target.is_zero(), "target", || {
            "every queued packet would exceed 0 s: write the target delay".to_owned()
        })?;
        Impossible::unless_interval(self.tupdate, "tupdate")?;
        self.check_gain(self.alpha, "alpha", "0.125")?;
        self.check_gain(self.beta, "beta", "1.25")?;
        Impossible::unless((0.0..=1.0).contains(&self.mark_ecnth), "mark_ecnth", || {
            format!("{} is not a probability: write 0 to 1", self.mark_ecnth)
        })?;
        let threshold = match self.active_threshold {
            Some(Length::Packets(n) | Length::Bytes(n)) => n,
            None => 1.0,
        };
        Impossible::unless(threshold > 0.0, "active_threshold", || {
            "with 0 it is always active: leave it out".to_owned()
        })?;
        let mtu = self.mtu();
        Impossible::unless((Bytes(1)..=MOST_MTU).contains(&mtu), "mtu", || {
            format!("{mtu} is not a packet size in Linux: write 1 B to {MOST_MTU}")
        })?;
        self.check_profile()
    }

    fn check_gain(&self, hz: f64, key: &str, such: &str) -> Result<(), Impossible> {
        Impossible::unless(hz > 0.0 && hz <= MOST_GAIN, key, || {
            format!("{hz} is not a valid gain of the controller: write such as {such}, in Hz, up to {MOST_GAIN}")
        })?;
        let whole = linux::sixteenths(hz) * linux::SIXTEENTH == hz;
        Impossible::unless(whole || self.profile != Profile::Linux, key, || {
            format!(
                "Linux counts gains in sixteenths of a Hz, and {hz} is not a multiple of 1/16: write such as {such}"
            )
        })
    }

    /// Rejects keys of the other profile, which would have no effect.
    fn check_profile(&self) -> Result<(), Impossible> {
        let of_rfc = [
            ("max_burst", self.max_burst.is_some()),
            ("mean_pktsize", self.mean_pktsize.is_some()),
            ("active_threshold", self.active_threshold.is_some()),
        ];
        let of_linux = [("bytemode", self.bytemode.is_some()), ("mtu", self.mtu.is_some())];
        let (foreign, other): (&[(&str, bool)], _) = match self.profile {
            Profile::Rfc8033 => (&of_linux, "linux"),
            Profile::Linux => (&of_rfc, "rfc8033"),
        };
        foreign.iter().try_for_each(|(key, given)| {
            Impossible::unless(!given, key, || format!("only profile \"{other}\" has it: leave it out"))
        })
    }

    fn mtu(&self) -> Bytes {
        self.mtu.unwrap_or(Bytes(1514))
    }

    fn bytemode(&self) -> bool {
        self.bytemode.unwrap_or(false)
    }

    fn max_burst(&self) -> Dur {
        self.max_burst.unwrap_or(Dur::from_ms(150))
    }

    fn mean_pktsize(&self) -> Bytes {
        self.mean_pktsize.unwrap_or(Bytes(1024))
    }
}

/// PIE on one queue.
#[derive(Clone, Debug)]
pub struct Pie {
    form: Form,
    average: Average,
}

/// The law in the chosen variant.
#[derive(Clone, Debug)]
enum Form {
    Rfc8033(Rfc8033),
    Linux(Linux),
}

impl Form {
    /// The drop probability.
    fn p(&self) -> f64 {
        match self {
            Form::Rfc8033(rfc) => rfc.p(),
            Form::Linux(linux) => linux.p(),
        }
    }
    /// The delay at the last update.
    fn delay(&self) -> Dur {
        match self {
            Form::Rfc8033(rfc) => rfc.last_delay(),
            Form::Linux(linux) => linux.delay(),
        }
    }
}

impl LawParams for Params {
    type Law = Pie;

    fn in_force(&self, _link: LinkContext, _limit: Length) -> Params {
        match self.profile {
            Profile::Rfc8033 => {
                Params { max_burst: Some(self.max_burst()), mean_pktsize: Some(self.mean_pktsize()), ..*self }
            }
            Profile::Linux => Params { bytemode: Some(self.bytemode()), mtu: Some(self.mtu()), ..*self },
        }
    }

    fn law(&self, _link: LinkContext) -> Pie {
        let form = match self.profile {
            Profile::Rfc8033 => Form::Rfc8033(Rfc8033::new(self)),
            Profile::Linux => Form::Linux(Linux::new(self)),
        };
        Pie { form, average: Average::default() }
    }
}

impl Aqm for Pie {
    fn on_enqueue(&mut self, packet: &PacketView, view: &View, _now: Time, rng: &mut Rng) -> Verdict {
        match &mut self.form {
            Form::Rfc8033(rfc) => rfc.on_enqueue(view, rng),
            Form::Linux(linux) => linux.on_enqueue(packet, view, rng),
        }
    }

    fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, _rng: &mut Rng) -> Verdict {
        match &mut self.form {
            Form::Rfc8033(rfc) => rfc.on_dequeue(packet, view, now),
            Form::Linux(linux) => linux.on_dequeue(packet, view, now),
        }
        Verdict::Pass
    }

    fn on_full(&mut self) {
        match &mut self.form {
            Form::Rfc8033(rfc) => rfc.on_full(),
            Form::Linux(linux) => linux.on_full(),
        }
    }

    fn tick(&self) -> Option<Dur> {
        Some(match &self.form {
            Form::Rfc8033(rfc) => rfc.tupdate(),
            Form::Linux(linux) => linux.period(),
        })
    }

    fn first_tick(&self) -> Option<Dur> {
        match &self.form {
            Form::Rfc8033(_) => self.tick(),
            Form::Linux(_) => Some(linux::FIRST_UPDATE),
        }
    }

    fn on_tick(&mut self, view: &View) {
        match &mut self.form {
            Form::Rfc8033(rfc) => rfc.update(view),
            Form::Linux(linux) => linux.update(view.bytes),
        }
    }

    averages_first! { self => self.form.p(), self.form.delay().as_secs() }
}

/// Returns the divisor of a probability step: the lighter the congestion, the smaller the gains (RFC 8033 §4.2).
pub(crate) fn scale(p: f64) -> f64 {
    const TABLE: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];
    TABLE.into_iter().find(|(below, _)| p < *below).map_or(1.0, |(_, scale)| scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Integral;
    use crate::{Common, Config, registry};
    use ecnlab_base::Rate;

    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };
    const VIEW: View = View { packets: 9, bytes: 9000, in_all: 9000, idle: None, polled: false };

    fn refused(keys: &str) -> Option<String> {
        let params: Params = toml::from_str(keys).unwrap();
        let common = Common::with_limit(Length::Packets(9.0));
        Config::new(registry::Params::Pie(params), common).check().err().map(|e| e.key)
    }

    #[test]
    fn what_a_scenario_leaves_out_is_of_linux_or_of_the_rfc() {
        let params: Params = toml::from_str("").unwrap();
        assert_eq!((params, params.profile), (Params::default(), Profile::Linux));
        assert_eq!((params.target, params.tupdate), (Dur::from_ms(15), Dur::from_ms(15)));
        assert_eq!((params.alpha, params.beta, params.mark_ecnth), (0.125, 1.25, 0.1));
        assert_eq!((params.dq_rate_estimator, params.mtu()), (false, Bytes(1514)));
    }

    #[test]
    fn the_first_update_of_linux_comes_after_half_a_second() {
        let ticks = |keys: &str| {
            let pie = toml::from_str::<Params>(keys).unwrap().law(LINK);
            (pie.first_tick(), pie.tick())
        };
        let ms = |ms| Some(Dur::from_ms(ms));
        assert_eq!(ticks(""), (ms(504), ms(16)));
        assert_eq!(ticks("profile = \"rfc8033\"\ntupdate = \"20 ms\""), (ms(20), ms(20)));
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in [
            "target = \"0 s\"",
            "tupdate = \"9.999 us\"",
            "alpha = 0.0",
            "alpha = 0.13",
            "alpha = -0.125",
            "beta = 0.03125",
            "beta = 1000.0625",
            "beta = nan",
            "alpha = 0.0\nprofile = \"rfc8033\"",
            "beta = 1001.0\nprofile = \"rfc8033\"",
            "mark_ecnth = 1.01",
            "mark_ecnth = -0.01",
            "max_burst = \"1 s\"",
            "mean_pktsize = \"1500 B\"",
            "active_threshold = \"300 packets\"",
            "active_threshold = \"0 packets\"\nprofile = \"rfc8033\"",
            "active_threshold = \"0 B\"\nprofile = \"rfc8033\"",
            "bytemode = true\nprofile = \"rfc8033\"",
            "mtu = \"1500 B\"\nprofile = \"rfc8033\"",
            "mtu = \"0 B\"",
            "mtu = \"1048577 B\"",
        ] {
            let key = refused(keys).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        for keys in [
            "",
            "alpha = 0.0625\nbeta = 1000.0\nmtu = \"1 B\"\ntupdate = \"10 us\"\nmark_ecnth = 0.0",
            "mtu = \"1048576 B\"\nbytemode = true\ndq_rate_estimator = true\nmark_ecnth = 1.0",
            "profile = \"rfc8033\"\nalpha = 0.13\nmax_burst = \"0 s\"\nmean_pktsize = \"0 B\"\nactive_threshold = \"1 B\"",
        ] {
            assert_eq!(refused(keys), None, "{keys}");
        }
    }

    #[test]
    fn the_probability_and_the_delay_are_kept_for_the_record() {
        // From 0 to 30 ms: (0.125·0.015 + 1.25·0.030)/2048 = 0.039375/2048, in Linux 1,385,384,062,500/(2^56 - 1) (pie/*.rs).
        for (keys, p) in
            [("profile = \"rfc8033\"", 0.039_375 / 2048.0), ("", 1_385_384_062_500.0 / ((1_u64 << 56) as f64))]
        {
            let mut law = toml::from_str::<Params>(keys).unwrap().law(LINK);
            let packet = PacketView {
                size: 1000,
                ecn: ecnlab_wire::Ecn::NotEct,
                flow: 0,
                can_mark: false,
                sojourn: Dur::from_ms(30),
            };
            law.elapsed(Dur::from_ps(10));
            law.on_dequeue(&packet, &VIEW, Time::ZERO + Dur::from_ms(64), &mut Rng::named(1, "pie"));
            law.on_tick(&VIEW);
            assert!((law.values()[0] - p).abs() < 1e-12 && law.values()[1] == 0.03, "{keys}: {:?}", law.values());
            // 0 for 10 ps, and p for 20.
            law.elapsed(Dur::from_ps(20));
            let [Integral::Value(sum)] = law.cut()[..] else { panic!("not one value") };
            assert!((sum - 20.0 * p).abs() < 1e-12 && law.cut() == [Integral::Value(0.0)]);
        }
    }
}

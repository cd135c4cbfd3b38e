//! Random Early Detection: Floyd & Jacobson, "Random Early Detection gateways for congestion
//! avoidance", IEEE/ACM ToN 1(4), 1993 (FJ93), and the variants used in papers.
//!
//! The default of every switch is FJ93 as published; `docs/laws/red.md` has the values of ns-2. This file has the order
//! of the decision; its parts are in the modules: `average` the moving average, `curve` the probability, `spacing` the
//! distance between signals, `adaptive` the laws that adapt `max_p`, `auto` values derived from the link, `becn` source
//! quenches, `record` the recorded columns.

mod adaptive;
mod auto;
mod average;
mod becn;
mod curve;
mod record;
mod spacing;

use ecnlab_base::facts::Column;
use ecnlab_base::{Bytes, Dur, Length, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::record::columns::{Columns, Integral};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, SpeaksBack, Verdict, View};
use adaptive::Adaptation;
use record::{Record, Region};

pub use adaptive::{Bottom, Clock, Feng, Floyd};
pub use auto::{Threshold, Unit, Weight};
pub use average::Idle;
pub use becn::Becn;
pub use spacing::{CountReset, Probability, Spacing};

pub(crate) use average::Ewma;
pub(crate) use curve::Curve;
pub(crate) use spacing::Spacer;

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "red",
    label: "RED",
    summary: "Random Early Detection (Floyd & Jacobson 1993) and its variants",
    reference: "S. Floyd and V. Jacobson, 'Random early detection gateways for congestion avoidance', IEEE/ACM ToN 1(4), 1993",
    columns: Columns {
        values: &[
            Column::new("average_packets", "packets", "the discipline's average queue").with_fractions(),
            Column::new("average_bytes", "bytes", "the discipline's average queue").with_fractions(),
            Column::new("max_p", "ratio", "RED's max_p at that time"),
        ],
        means: &[
            Column::new("average_mean_packets", "packets", "time average of the discipline's own average queue"),
            Column::new("average_mean_bytes", "bytes", "time average of the discipline's own average queue"),
            Column::new("share_below", "ratio", "share of time RED's average was below min_th"),
            Column::new("share_in_region", "ratio", "share of time RED's average was in [min_th, max_th)"),
            Column::new("share_above", "ratio", "share of time RED's average was at or above max_th"),
        ],
    },
    shown: &["min_th", "max_th", "max_p"],
    quenches: Some("becn"),
    judges_departures: false,
    ..Facts::PLAIN
};

/// RED's keys in `[queue.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The average from which packets are signalled, such as "5 packets", "15 kB", or automatic. Its unit is that of
    /// the average in use. An automatic one is half of the packets that the link sends in `target_delay`, at
    /// least 5.
    pub min_th: Threshold,
    /// The average from which all packets are signalled or dropped (with `gentle`: twice this), in the unit of
    /// `min_th`. An automatic one is three times `min_th`.
    pub max_th: Threshold,
    /// The probability as the average reaches `max_th`: above 0, at most 1. Default 0.02 (FJ93: 1/50).
    #[serde(default = "default_max_p")]
    pub max_p: f64,
    /// The weight w of the newest sample in the average: a number, a time constant such as "100 ms", or automatic.
    /// Default 0.002 (FJ93).
    #[serde(default)]
    pub weight: Weight,
    /// A packet's typical size: scales idle time, byte mode and automatic values. Default 500 B
    /// (Floyd's `mean_pktsize` in tcpsim and ns-2).
    #[serde(default = "default_mean_packet")]
    pub mean_packet: Bytes,
    /// Decay of the average over idle time. Default `fj93` (FJ93 §4).
    #[serde(default)]
    pub idle: Idle,
    /// Whether each packet or each byte is as likely to be signalled. Default `packets` (FJ93).
    #[serde(default)]
    pub probability: Probability,
    /// Spacing of signals. Default `uniform` (FJ93 §7, method 2).
    #[serde(default)]
    pub spacing: Spacing,
    /// With `uniform`: the count of packets since the last signal includes the arriving one, as in FJ93's pseudo-code
    /// (figure 2) and ns-2, but not in FJ93's equations (§7). Default false (FJ93 §7).
    #[serde(default)]
    pub count_arrival: bool,
    /// Drops that restart the count, in addition to signals. Default `forced` (FJ93 figure 2).
    #[serde(default)]
    pub count_reset: CountReset,
    /// The packet on which the average crosses `min_th` upwards always passes (ns-2). Default false (FJ93).
    #[serde(default)]
    pub first_passes: bool,
    /// A packet that finds at most one packet held always passes; at most one byte, where the thresholds are in bytes
    /// (ns-2). Default false (FJ93).
    #[serde(default)]
    pub spare_short: bool,
    /// Above `max_th` the probability rises linearly to 1 at twice `max_th` (Floyd 2000). Default false (FJ93).
    #[serde(default)]
    pub gentle: bool,
    /// Treatment of packets when the probability has reached 1. Default `drop` (RFC 2884 §1).
    #[serde(default)]
    pub above: Above,
    /// At this probability p_b or more, above 0, ECN-capable packets too are signalled by drops (ns-2's `mark_p_`).
    /// Default: at none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_p: Option<f64>,
    /// The queueing delay from which an automatic `min_th` is computed. Default 5 ms (Floyd, Gummadi & Shenker 2001).
    #[serde(default = "default_target_delay")]
    pub target_delay: Dur,
    /// Adapts `max_p` as in Floyd, Gummadi & Shenker 2001. Default: off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Floyd>,
    /// Adapts `max_p` as in Feng et al. 1999. Default: off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feng: Option<Feng>,
    /// The gentle slope keeps the initial `max_p` while `max_p` is adapted (ns-2). Default false.
    #[serde(default)]
    pub frozen_gentle: bool,
    /// Also notify senders by source quench (Akujobi et al. 2003). Default: off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becn: Option<Becn>,
}

/// Treatment of packets when the probability has reached 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Above {
    /// All are dropped, ECN-capable or not.
    #[default]
    Drop,
    /// All are signalled: ECN-capable ones carry CE.
    Mark,
}

fn default_max_p() -> f64 {
    0.02
}
fn default_mean_packet() -> Bytes {
    Bytes(500)
}
fn default_target_delay() -> Dur {
    Dur::from_ms(5)
}

impl Params {
    /// Returns FJ93's parameters with these thresholds.
    pub fn new(min_th: Threshold, max_th: Threshold) -> Params {
        Params {
            min_th,
            max_th,
            max_p: default_max_p(),
            weight: Weight::default(),
            mean_packet: default_mean_packet(),
            idle: Idle::default(),
            probability: Probability::default(),
            spacing: Spacing::default(),
            count_arrival: false,
            count_reset: CountReset::default(),
            first_passes: false,
            spare_short: false,
            gentle: false,
            above: Above::default(),
            mark_p: None,
            target_delay: default_target_delay(),
            adaptive: None,
            feng: None,
            frozen_gentle: false,
            becn: None,
        }
    }

    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        auto::check_thresholds(self.min_th, self.max_th)?;
        self.weight.check()?;
        let max_p = self.max_p;
        Impossible::unless(max_p > 0.0 && max_p <= 1.0, "max_p", || {
            format!("{max_p} is not a valid probability: it must be above 0 and at most 1")
        })?;
        Impossible::unless(self.mean_packet.0 > 0, "mean_packet", || "a packet has at least one byte".to_owned())?;
        let mark_p = self.mark_p.unwrap_or(1.0);
        Impossible::unless(mark_p > 0.0, "mark_p", || {
            format!("{mark_p} would leave nothing to mark: it must be above 0; leave it out to mark always")
        })?;
        Impossible::unless(!self.count_arrival || self.spacing == Spacing::Uniform, "count_arrival", || {
            "only spacing = \"uniform\" has a choice of counts".to_owned()
        })?;
        self.check_linux()?;
        self.becn.map_or(Ok(()), |becn| becn.check(self))?;
        self.check_adaptation()
    }

    fn check_linux(&self) -> Result<(), Impossible> {
        let linux = self.spacing == Spacing::Linux;
        Impossible::unless(!linux || !self.first_passes, "first_passes", || {
            "spacing = \"linux\" lets that packet pass: leave it out".to_owned()
        })?;
        Impossible::unless(!linux || self.probability == Probability::Packets, "probability", || {
            "spacing = \"linux\" counts packets: write \"packets\"".to_owned()
        })
    }

    fn check_adaptation(&self) -> Result<(), Impossible> {
        Impossible::unless(self.adaptive.is_none() || self.feng.is_none(), "feng", || {
            "`adaptive` moves max_p too: keep one of them".to_owned()
        })?;
        let moves = self.adaptive.is_some() || self.feng.is_some();
        Impossible::unless(!self.frozen_gentle || (self.gentle && moves), "frozen_gentle", || {
            "it needs `gentle` and a law that moves max_p, `adaptive` or `feng`".to_owned()
        })?;
        self.adaptive.as_ref().map_or(Ok(()), Floyd::check)?;
        self.feng.as_ref().map_or(Ok(()), Feng::check)
    }
}

/// RED on one link.
#[derive(Clone, Debug)]
pub struct Red {
    switches: Switches,
    curve: Curve,
    ewma: Ewma,
    spacer: Spacer,
    adaptation: Adaptation,
    becn: Option<Becn>,
    record: Record,
    /// The average has been over `min_th` since a packet was last spared.
    crossed: bool,
}

/// The parameters used by the decision itself.
#[derive(Clone, Copy, Debug)]
struct Switches {
    unit: Unit,
    above: Above,
    mark_p: f64,
    count_reset: CountReset,
    first_passes: bool,
    spare_short: bool,
}

impl Red {
    /// RED whose average counts in whole packets ([`Ewma::in_whole_packets`]).
    pub(crate) fn in_whole_packets(self) -> Red {
        Red { ewma: self.ewma.in_whole_packets(), ..self }
    }

    /// The average in the thresholds' unit.
    fn avg(&self) -> f64 {
        match self.switches.unit {
            Unit::Packets => self.ewma.read(),
            Unit::Bytes => self.ewma.bytes,
        }
    }

    /// The region of the average relative to the thresholds.
    #[inline]
    fn region(&self) -> Region {
        let avg = self.avg();
        if avg < self.curve.min_th() {
            Region::Below
        } else if avg < self.curve.max_th() {
            Region::Inside
        } else {
            Region::Above
        }
    }

    /// Whether the queue is too short for a signal (ns-2).
    fn spares(&self, view: &View) -> bool {
        let held = match self.switches.unit {
            Unit::Packets => view.packets,
            Unit::Bytes => view.bytes,
        };
        let spared = self.switches.spare_short && held <= 1;
        if spared {
            coverage_mark!("red.spared_short");
        }
        spared
    }

    /// Updates the average on the arrival of a packet, and returns the decision.
    #[inline]
    pub(crate) fn arrival(&mut self, view: &View, now: Time) {
        self.ewma.arrival(view, now);
        let avg = self.avg();
        self.adaptation.on_average(avg, now, &mut self.curve);
    }

    /// Whether the average is at the lower threshold or above.
    #[inline]
    pub(crate) fn is_over_min(&self) -> bool {
        self.avg() >= self.curve.min_th()
    }

    /// Returns the verdict on the arriving packet.
    #[inline(always)]
    pub(crate) fn decide(&mut self, size: u32, view: &View, rng: &mut Rng) -> Verdict {
        let avg = self.avg();
        if !self.is_over_min() || self.spares(view) {
            coverage_mark!("red.passes_below_min_th");
            self.crossed = false;
            self.spacer.restart();
            return Verdict::Pass;
        }
        if self.switches.above == Above::Drop && avg >= self.curve.certain_from() {
            return self.force(size);
        }
        if self.switches.first_passes && !self.crossed {
            coverage_mark!("red.first_passes");
            self.crossed = true;
            self.spacer.restart();
            self.spacer.passed(size);
            return Verdict::Pass;
        }
        self.draw(avg, size, rng)
    }

    /// Returns the verdict where no random number is needed.
    fn force(&mut self, size: u32) -> Verdict {
        coverage_mark!("red.forced_drop");
        match self.switches.count_reset {
            CountReset::Signals => {
                coverage_mark!("red.forced_drop_keeps_count");
                self.spacer.passed(size);
            }
            CountReset::Forced | CountReset::All => self.spacer.restart(),
        }
        Verdict::Drop
    }

    /// The verdict between the thresholds and, for `above = "mark"`, over them.
    #[inline(always)]
    fn draw(&mut self, avg: f64, size: u32, rng: &mut Rng) -> Verdict {
        let p_b = self.curve.probability(avg);
        if !self.spacer.chooses(p_b, size, rng) {
            coverage_mark!("red.passes_by_chance");
            Verdict::Pass
        } else if p_b < self.switches.mark_p {
            coverage_mark!("red.signal");
            Verdict::Signal
        } else {
            coverage_mark!("red.signal_by_drop");
            Verdict::SignalByDrop
        }
    }
}

impl LawParams for Params {
    type Law = Red;

    fn in_force(&self, link: LinkContext, _limit: Length) -> Params {
        let (min_th, max_th) = auto::thresholds(self, link).lengths();
        let adaptive = self.adaptive.map(|law| law.in_force(link));
        let weight = Weight::Of(self.weight.resolve(link, self.mean_packet));
        Params { min_th: Threshold::At(min_th), max_th: Threshold::At(max_th), weight, adaptive, ..self.clone() }
    }

    fn law(&self, link: LinkContext) -> Red {
        let th = auto::thresholds(self, link);
        let weight = self.weight.resolve(link, self.mean_packet);
        Red {
            switches: Switches {
                unit: th.unit,
                above: self.above,
                mark_p: self.mark_p.unwrap_or(f64::INFINITY),
                count_reset: self.count_reset,
                first_passes: self.first_passes,
                spare_short: self.spare_short,
            },
            curve: Curve::new(th.min, th.max, self.max_p, self.gentle, self.frozen_gentle),
            ewma: Ewma::new(weight, self.idle, auto::capacity(link, self.mean_packet)),
            spacer: Spacer::new(self),
            adaptation: Adaptation::new(self, link),
            becn: self.becn,
            record: Record::default(),
            crossed: false,
        }
    }
}

impl Aqm for Red {
    #[inline(always)]
    fn on_enqueue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
        self.arrival(view, now);
        self.decide(packet.size, view, rng)
    }

    fn on_full(&mut self) {
        if self.switches.count_reset == CountReset::All {
            coverage_mark!("red.overflow_restarts_count");
            self.spacer.restart();
        }
    }

    fn speaks_back(&self) -> Option<SpeaksBack> {
        let becn = self.becn?;
        Some(SpeaksBack { wire_len: becn.quench_size.0 as u32, delay: becn.delay, now: self.avg() >= becn.from() })
    }

    fn tick(&self) -> Option<Dur> {
        self.adaptation.tick()
    }

    fn on_tick(&mut self, _view: &View) {
        let avg = self.avg();
        self.adaptation.on_tick(avg, &mut self.curve);
    }

    fn values(&self) -> Vec<f64> {
        vec![self.ewma.packets, self.ewma.bytes, self.curve.max_p()]
    }

    #[inline]
    fn elapsed(&mut self, time: Dur) {
        let region = self.region();
        self.record.elapsed(time, &self.ewma, region);
    }

    fn cut(&mut self) -> Vec<Integral> {
        std::mem::take(&mut self.record).integrals()
    }
}

#[cfg(test)]
mod tests;

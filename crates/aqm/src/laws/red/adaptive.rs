//! Laws that move `max_p` so that the average stays between the thresholds.

use std::borrow::Cow;
use std::fmt;

use ecnlab_base::{Dur, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Params;
use super::curve::Curve;
use crate::{Impossible, LinkContext};

/// Floyd, Gummadi & Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active
/// queue management", 2001, figure 1: each interval, additive increase of `max_p` over the target
/// range, multiplicative decrease under it. The target is the middle fifth between the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Floyd {
    /// Time between steps, at least 10 µs. Default 500 ms (the paper).
    pub interval: Dur,
    /// Maximum of an increase, above 0 and at most 1; a quarter of `max_p` if that is less. Default 0.01 (the paper).
    pub alpha: f64,
    /// Factor of a decrease, above 0 and below 1. Default 0.9 (the paper).
    pub beta: f64,
    /// `max_p` is not increased from this value on; at most 1. Default 0.5 (the paper).
    pub top: f64,
    /// `max_p` is not decreased from this value on; below `top`. Automatic is ns-2's `bottom_ 0`: 80000 bit/s divided by
    /// the rate of the link, at most 0.01. Default 0.01 (the paper).
    pub bottom: Bottom,
    /// Clock of the steps. Default `timer`.
    pub clock: Clock,
}

/// Lower bound of `max_p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bottom {
    /// Here.
    At(f64),
    /// `"auto"`: one over the packets of 1000 B that the link sends in 100 ms, but at most 0.01
    /// (ns-2's `bottom_ 0`).
    Auto,
}

/// Clock of the steps of [`Floyd`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The end of each interval (the paper).
    #[default]
    Timer,
    /// The first arrival more than an interval after the last step that moved `max_p` (ns-2).
    Arrivals,
}

/// Feng, Kandlur, Saha & Shin, "A self-configuring RED gateway", INFOCOM 1999: one step each time the
/// average leaves the range between the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Feng {
    /// Divisor of `max_p` when the average falls below `min_th`; above 1. Default 3 (the paper).
    pub alpha: f64,
    /// Factor of `max_p` when the average rises above `max_th`, up to 1; above 1. Default 2 (the paper).
    pub beta: f64,
}

impl Default for Floyd {
    fn default() -> Floyd {
        Floyd {
            interval: Dur::from_ms(500),
            alpha: 0.01,
            beta: 0.9,
            top: 0.5,
            bottom: Bottom::At(0.01),
            clock: Clock::Timer,
        }
    }
}

impl Default for Feng {
    fn default() -> Feng {
        Feng { alpha: 3.0, beta: 2.0 }
    }
}

impl Floyd {
    pub(super) fn check(&self) -> Result<(), Impossible> {
        let Floyd { interval, alpha, beta, top, .. } = *self;
        Impossible::unless_interval(interval, "adaptive.interval")?;
        Impossible::unless(alpha > 0.0 && alpha <= 1.0, "adaptive.alpha", || {
            format!("{alpha} must be above 0 and at most 1")
        })?;
        Impossible::unless(beta > 0.0 && beta < 1.0, "adaptive.beta", || {
            format!("{beta} must be above 0 and below 1")
        })?;
        Impossible::unless(top > 0.0 && top <= 1.0, "adaptive.top", || format!("{top} must be above 0 and at most 1"))?;
        match self.bottom {
            Bottom::At(bottom) => Impossible::unless(bottom > 0.0 && bottom < top, "adaptive.bottom", || {
                format!("{bottom} must be above 0 and below `top`, {top}")
            }),
            Bottom::Auto => Ok(()),
        }
    }

    /// `max_p` after a step at the average `avg`, or `None` if it stays.
    fn step(&self, bottom: f64, avg: f64, curve: &Curve) -> Option<f64> {
        let max_p = curve.max_p();
        let margin = 0.4 * (curve.max_th() - curve.min_th());
        if avg < curve.min_th() + margin && max_p > bottom {
            Some(max_p * self.beta)
        } else if avg > curve.max_th() - margin && max_p < self.top {
            Some(max_p + libm::fmin(self.alpha, max_p / 4.0))
        } else {
            None
        }
    }
}

impl Feng {
    pub(super) fn check(&self) -> Result<(), Impossible> {
        let Feng { alpha, beta } = *self;
        Impossible::unless(alpha > 1.0, "feng.alpha", || format!("{alpha} divides max_p: it must be above 1"))?;
        Impossible::unless(beta > 1.0, "feng.beta", || format!("{beta} multiplies max_p: it must be above 1"))
    }

    fn step(&self, status: &mut Status, avg: f64, curve: &mut Curve) {
        if avg < curve.min_th() && *status != Status::Below {
            *status = Status::Below;
            curve.set_max_p(curve.max_p() / self.alpha);
        } else if avg > curve.max_th() && *status != Status::Above {
            *status = Status::Above;
            curve.set_max_p(libm::fmin(curve.max_p() * self.beta, 1.0));
        } else if curve.min_th() < avg && avg < curve.max_th() {
            *status = Status::Between;
        }
    }
}

impl Floyd {
    /// Returns the parameters with the value of `bottom` on `link`.
    pub(super) fn in_force(self, link: LinkContext) -> Floyd {
        Floyd { bottom: Bottom::At(self.bottom.resolve(link)), ..self }
    }
}

impl Bottom {
    fn resolve(self, link: LinkContext) -> f64 {
        match self {
            Bottom::At(bottom) => bottom,
            Bottom::Auto => libm::fmin(0.01, 80_000.0 / link.rate.bps() as f64),
        }
    }
}

/// Last region of the average, as stored by [`Feng`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Under `min_th`.
    Below,
    /// Between the thresholds.
    Between,
    /// Over `max_th`.
    Above,
}

/// The adaptation law in use, or none. As with [`crate::registry::Law`], it is selected for each packet.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Adaptation {
    /// `max_p` stays.
    None,
    /// [`Floyd`].
    Floyd {
        /// Its parameters.
        law: Floyd,
        /// Its lower bound on this link.
        bottom: f64,
        /// The last step that moved `max_p`, for [`Clock::Arrivals`].
        stepped: Time,
    },
    /// [`Feng`].
    Feng {
        /// Its parameters.
        law: Feng,
        /// Last position of the average. It starts below, so that an empty queue causes no step.
        status: Status,
    },
}

impl Adaptation {
    /// Returns the adaptation selected by `params`.
    pub fn new(params: &Params, link: LinkContext) -> Adaptation {
        match (params.adaptive, params.feng) {
            (Some(law), _) => Adaptation::Floyd { law, bottom: law.bottom.resolve(link), stepped: Time::ZERO },
            (None, Some(law)) => Adaptation::Feng { law, status: Status::Below },
            (None, None) => Adaptation::None,
        }
    }

    /// Handles an arrival after which the average is `avg`.
    #[inline]
    pub fn on_average(&mut self, avg: f64, now: Time, curve: &mut Curve) {
        match self {
            Adaptation::None => {}
            Adaptation::Floyd { law, bottom, stepped } => {
                if law.clock == Clock::Arrivals
                    && now > stepped.saturating_add(law.interval)
                    && let Some(max_p) = law.step(*bottom, avg, curve)
                {
                    curve.set_max_p(max_p);
                    *stepped = now;
                }
            }
            Adaptation::Feng { law, status } => law.step(status, avg, curve),
        }
    }

    /// The interval of the timer, if there is one.
    pub fn tick(&self) -> Option<Dur> {
        match self {
            Adaptation::Floyd { law, .. } if law.clock == Clock::Timer => Some(law.interval),
            _ => None,
        }
    }

    /// Handles the end of the timer's interval, with the average at `avg`.
    pub fn on_tick(&self, avg: f64, curve: &mut Curve) {
        if let Adaptation::Floyd { law, bottom, .. } = self
            && let Some(max_p) = law.step(*bottom, avg, curve)
        {
            curve.set_max_p(max_p);
        }
    }
}

impl<'de> Deserialize<'de> for Bottom {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Bottom, D::Error> {
        d.deserialize_any(BottomVisitor)
    }
}

struct BottomVisitor;

impl Visitor<'_> for BottomVisitor {
    type Value = Bottom;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as 0.01, or \"auto\"")
    }
    fn visit_f64<E>(self, bottom: f64) -> Result<Bottom, E> {
        Ok(Bottom::At(bottom))
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Bottom, E> {
        match text {
            "auto" => Ok(Bottom::Auto),
            other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
        }
    }
}

impl Serialize for Bottom {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Bottom::At(bottom) => s.serialize_f64(*bottom),
            Bottom::Auto => s.serialize_str("auto"),
        }
    }
}

impl JsonSchema for Bottom {
    fn schema_name() -> Cow<'static, str> {
        "Bottom".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }, { "const": "auto" }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Rate;

    fn curve(max_p: f64) -> Curve {
        Curve::new(5.0, 15.0, max_p, false, false)
    }

    fn floyd(max_p: f64, avg: f64) -> Option<f64> {
        Floyd::default().step(0.01, avg, &curve(max_p)).map(|p| libm::round(p * 1e9) / 1e9)
    }

    #[test]
    fn floyd_decreases_under_the_target_and_increases_over_it() {
        // Thresholds 5 and 15: the target is 9 to 11.
        assert_eq!(floyd(0.1, 8.9), Some(0.09));
        assert_eq!(floyd(0.1, 9.0), None);
        assert_eq!(floyd(0.1, 11.0), None);
        assert_eq!(floyd(0.1, 11.1), Some(0.11));
        // A quarter of 0.02 is less than 0.01.
        assert_eq!(floyd(0.02, 11.1), Some(0.025));
    }

    #[test]
    fn floyd_stays_between_bottom_and_top() {
        assert_eq!(floyd(0.01, 0.0), None);
        assert_eq!(floyd(0.5, 20.0), None);
    }

    #[test]
    fn floyds_parameters_past_their_bounds_are_refused() {
        let key = |change: fn(&mut Floyd)| {
            let mut law = Floyd::default();
            change(&mut law);
            law.check().err().map(|e| e.key)
        };
        let [alpha, beta, top, bottom] = ["alpha", "beta", "top", "bottom"].map(|key| Some(format!("adaptive.{key}")));
        assert_eq!(
            [key(|l| l.alpha = 0.0), key(|l| l.alpha = 1.01), key(|l| l.alpha = 1.0)],
            [alpha.clone(), alpha, None]
        );
        assert_eq!([key(|l| l.beta = 0.0), key(|l| l.beta = 1.0), key(|l| l.beta = 0.99)], [beta.clone(), beta, None]);
        assert_eq!([key(|l| l.top = 0.0), key(|l| l.top = 1.01), key(|l| l.top = 1.0)], [top.clone(), top, None]);
        let at = [0.0, 0.5, 0.49].map(|at| {
            let law = Floyd { bottom: Bottom::At(at), ..Floyd::default() };
            law.check().err().map(|e| e.key)
        });
        assert_eq!(at, [bottom.clone(), bottom, None]);
    }

    #[test]
    fn fengs_parameters_must_move_max_p() {
        let key = |alpha, beta| Feng { alpha, beta }.check().err().map(|e| e.key);
        assert_eq!(key(3.0, 2.0), None);
        assert_eq!([key(1.0, 2.0), key(0.5, 2.0)], ["feng.alpha"; 2].map(|key| Some(key.to_owned())));
        assert_eq!([key(3.0, 1.0), key(3.0, 0.5)], ["feng.beta"; 2].map(|key| Some(key.to_owned())));
    }

    #[test]
    fn only_a_timer_ticks() {
        let tick = |clock| {
            let law = Floyd { clock, ..Floyd::default() };
            Adaptation::Floyd { law, bottom: 0.01, stepped: Time::ZERO }.tick()
        };
        assert_eq!([tick(Clock::Timer), tick(Clock::Arrivals)], [Some(Dur::from_ms(500)), None]);
    }

    #[test]
    fn a_threshold_itself_is_no_crossing() {
        // Feng et al. 1999, figure 2: avg < min_th, avg > max_th and min_th < avg < max_th, each strictly.
        let max_p_after = |status, averages: &[f64]| {
            let mut law = Adaptation::Feng { law: Feng { alpha: 2.0, beta: 2.0 }, status };
            let mut curve = curve(0.25);
            averages.iter().for_each(|&avg| law.on_average(avg, Time::ZERO, &mut curve));
            curve.max_p()
        };
        // At a threshold nothing moves, and what was last seen stays: falling from there is no second crossing.
        assert_eq!(max_p_after(Status::Between, &[5.0]), 0.25);
        assert_eq!(max_p_after(Status::Below, &[5.0, 4.0]), 0.25);
        assert_eq!(max_p_after(Status::Between, &[15.0]), 0.25);
        assert_eq!(max_p_after(Status::Above, &[15.0, 16.0]), 0.25);
    }

    #[test]
    fn an_automatic_bottom_is_a_packet_in_100_ms_of_1000_byte_packets() {
        let on = |bps| {
            let link = LinkContext { rate: Rate::from_bps(bps), delay: Dur::ZERO };
            Bottom::Auto.resolve(link)
        };
        // 100 Mbit/s: 1250 packets in 100 ms. 1 Mbit/s: 12.5, whose 0.08 is over 0.01.
        assert_eq!(on(100_000_000), 0.000_8);
        assert_eq!(on(1_000_000), 0.01);
    }

    #[test]
    fn on_arrivals_a_step_that_moves_nothing_stays_due() {
        let law = Floyd { clock: Clock::Arrivals, ..Floyd::default() };
        let mut law = Adaptation::Floyd { law, bottom: 0.01, stepped: Time::ZERO };
        let mut curve = curve(0.1);
        let mut max_p_at = |ms: u64, avg| {
            law.on_average(avg, Time::ZERO + Dur::from_ms(ms), &mut curve);
            libm::round(curve.max_p() * 1e9) / 1e9
        };
        assert_eq!(max_p_at(500, 8.0), 0.1); // not more than an interval yet
        assert_eq!(max_p_at(600, 10.0), 0.1); // on target
        assert_eq!(max_p_at(601, 8.0), 0.09); // still due
        assert_eq!(max_p_at(1101, 8.0), 0.09); // an interval after the step, not more
        assert_eq!(max_p_at(1102, 8.0), 0.081);
    }

    #[test]
    fn feng_steps_once_for_each_crossing() {
        let mut law = Adaptation::Feng { law: Feng::default(), status: Status::Below };
        let mut curve = curve(0.09);
        let mut max_p_after = |avg| {
            law.on_average(avg, Time::ZERO, &mut curve);
            libm::round(curve.max_p() * 1e9) / 1e9
        };
        assert_eq!(max_p_after(0.0), 0.09); // where it began
        assert_eq!(max_p_after(10.0), 0.09);
        assert_eq!(max_p_after(4.0), 0.03); // fell below: a third
        assert_eq!(max_p_after(3.0), 0.03);
        assert_eq!(max_p_after(16.0), 0.06); // straight to above: twice
        assert_eq!(max_p_after(17.0), 0.06);
        assert_eq!(max_p_after(10.0), 0.06);
        assert_eq!(max_p_after(16.0), 0.12);
        // Doubling ends at 1.
        for _ in 0..10 {
            max_p_after(10.0);
            max_p_after(16.0);
        }
        assert_eq!(max_p_after(16.0), 1.0);
    }
}

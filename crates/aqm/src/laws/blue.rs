//! BLUE: Feng, Kandlur, Saha and Shin, "BLUE: a new class of active queue management algorithms", University of Michigan
//! CSE-TR-387-99, 1999; "The BLUE active queue management algorithms", IEEE/ACM ToN 10(4), 2002.
//!
//! A probability grows when the queue overflows and falls when the link is idle; arriving packets are signalled with it.

use ecnlab_base::{Dur, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::record::columns::{Average, SIGNAL_P, averages_first};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "blue",
    label: "BLUE",
    summary: "BLUE (Feng et al. 1999): signals more often after overflows, less after idle times",
    reference: "W. Feng, D. Kandlur, D. Saha and K. Shin, 'The BLUE active queue management algorithms', IEEE/ACM ToN 10(4), 2002",
    columns: SIGNAL_P,
    shown: &["increment", "decrement", "freeze_time"],
    judges_departures: false,
    ..Facts::PLAIN
};

/// BLUE's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Increment of the probability on an overflow, above 0 and at most 1. Default 0.0025.
    pub increment: f64,
    /// Decrement of the probability on an idle link, above 0 and at most 1. Default 0.00025.
    pub decrement: f64,
    /// Minimum time between changes of the probability, above 0 s. Default 100 ms.
    pub freeze_time: Dur,
}

impl Default for Params {
    fn default() -> Params {
        Params { increment: 0.0025, decrement: 0.000_25, freeze_time: Dur::from_ms(100) }
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        for (key, step) in [("increment", self.increment), ("decrement", self.decrement)] {
            Impossible::unless(step > 0.0 && step <= 1.0, key, || {
                format!("{step} is not a valid step of a probability: it must be above 0 and at most 1")
            })?;
        }
        Impossible::unless(!self.freeze_time.is_zero(), "freeze_time", || {
            "with 0 s an idle link would end all signals at once: write such as 100 ms".to_owned()
        })
    }
}

/// BLUE on one queue.
#[derive(Clone, Debug)]
pub struct Blue {
    params: Params,
    p: f64,
    /// Time at which the probability last changed.
    changed: Time,
    /// Arrival time of the current packet.
    now: Time,
    average: Average,
}

impl Blue {
    /// Handles idle time of the link since `since`: one event at its start, and one per `freeze_time`.
    fn was_idle(&mut self, since: Time) {
        let freeze = self.params.freeze_time;
        let first = since.max(self.changed.saturating_add(freeze));
        if first <= self.now {
            coverage_mark!("blue.idle_decrement");
            let more = self.now.since(first).whole(freeze);
            self.p = libm::fmax(self.p - self.params.decrement * (1 + more) as f64, 0.0);
            self.changed = first.saturating_add(freeze.saturating_mul(more));
        }
    }
}

impl LawParams for Params {
    type Law = Blue;

    fn law(&self, _link: LinkContext) -> Blue {
        Blue { params: *self, p: 0.0, changed: Time::ZERO, now: Time::ZERO, average: Average::default() }
    }
}

impl Aqm for Blue {
    fn on_enqueue(&mut self, _packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
        self.now = now;
        if let Some(idle) = view.idle {
            self.was_idle(Time::from_ps(now.ps() - idle.ps()));
        }
        if rng.unit() < self.p {
            coverage_mark!("blue.signal");
            Verdict::Signal
        } else {
            Verdict::Pass
        }
    }

    fn on_full(&mut self) {
        if self.now.since(self.changed) > self.params.freeze_time {
            coverage_mark!("blue.overflow_increment");
            self.p = libm::fmin(self.p + self.params.increment, 1.0);
            self.changed = self.now;
        }
    }

    averages_first! { self => self.p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Integral;
    use ecnlab_base::Rate;
    use ecnlab_base::coverage::must_reach;

    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };

    fn law(keys: &str) -> Blue {
        let params: Params = toml::from_str(keys).unwrap();
        assert_eq!(params.check(), Ok(()));
        params.law(LINK)
    }

    /// A packet comes after the link was idle for so long, if it was.
    fn arrive(law: &mut Blue, ms: u64, idle_ms: Option<u64>) -> Verdict {
        let ecn = ecnlab_wire::Ecn::Ect0;
        let packet = PacketView { size: 1000, ecn, flow: 0, can_mark: true, sojourn: Dur::ZERO };
        let view = View { packets: 0, bytes: 0, in_all: 0, idle: idle_ms.map(Dur::from_ms), polled: false };
        law.on_enqueue(&packet, &view, Time::ZERO + Dur::from_ms(ms), &mut Rng::named(ms, "blue"))
    }

    #[test]
    fn what_a_scenario_leaves_out() {
        let Params { increment, decrement, freeze_time } = toml::from_str("").unwrap();
        assert_eq!((increment, decrement, freeze_time), (0.0025, 0.00025, Dur::from_ms(100)));
    }

    #[test]
    fn an_overflow_adds_its_step_once_in_longer_than_the_freeze_time() {
        let _reached = must_reach(["blue.overflow_increment"]);
        let mut law = law("increment = 0.375\nfreeze_time = \"10 ms\"");
        for (ms, p) in [(10, 0.0), (11, 0.375), (20, 0.375), (21, 0.375), (22, 0.75), (40, 1.0), (60, 1.0)] {
            arrive(&mut law, ms, None);
            law.on_full();
            assert_eq!(law.values(), [p], "at {ms} ms");
        }
    }

    #[test]
    fn an_idle_link_takes_its_step_at_once_and_each_freeze_time() {
        let _reached = must_reach(["blue.idle_decrement"]);
        let mut law = law("increment = 1.0\ndecrement = 0.125\nfreeze_time = \"10 ms\"");
        arrive(&mut law, 100, None);
        law.on_full();
        // Idle from 101 ms on, but p changed at 100 ms: not before 110 ms.
        for (ms, idle, p) in [(109, 8, 1.0), (110, 9, 0.875), (119, 3, 0.875)] {
            arrive(&mut law, ms, Some(idle));
            assert_eq!(law.values(), [p], "at {ms} ms");
        }
        // Idle from 130 ms on: at 130, 140 and 150 ms. Then from 155 ms on: at 160 ms.
        for (ms, idle, p) in [(159, 29, 0.5), (160, 5, 0.375), (999, 800, 0.0)] {
            arrive(&mut law, ms, Some(idle));
            assert_eq!(law.values(), [p], "at {ms} ms");
        }
    }

    #[test]
    fn packets_are_signalled_with_the_probability() {
        let _reached = must_reach(["blue.signal"]);
        let mut law = law("increment = 0.5\nfreeze_time = \"10 ms\"");
        let signals = |law: &mut Blue, from: u64| {
            (from..from + 1000).filter(|&ms| arrive(law, ms, None) == Verdict::Signal).count()
        };
        assert_eq!(signals(&mut law, 0), 0);
        law.on_full();
        // 500 of 1000, with a standard deviation of 15.8; four of them.
        let half = signals(&mut law, 1000);
        assert!((437..=563).contains(&half), "{half}");
        law.on_full();
        assert_eq!(signals(&mut law, 2000), 1000);
    }

    #[test]
    fn the_probability_is_averaged_over_time() {
        let mut law = law("increment = 0.5\nfreeze_time = \"1 ms\"");
        law.elapsed(Dur::from_ps(10));
        arrive(&mut law, 2, None);
        law.on_full();
        law.elapsed(Dur::from_ps(30));
        assert_eq!((law.cut(), law.cut()), (vec![Integral::Value(15.0)], vec![Integral::Value(0.0)]));
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in [
            "increment = 0.0",
            "increment = 1.01",
            "increment = nan",
            "decrement = 0.0",
            "decrement = 1.01",
            "freeze_time = \"0 s\"",
        ] {
            let params: Params = toml::from_str(keys).unwrap();
            let key = params.check().err().map(|refused| refused.key).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        law("increment = 1.0\ndecrement = 1.0\nfreeze_time = \"1 ns\"");
    }
}

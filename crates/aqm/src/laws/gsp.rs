//! GSP, Global Synchronization Protection: Lautenschlaeger and Francini, "Global synchronization protection for bandwidth
//! sharing TCP flows in high-speed links", HPSR 2015; Lautenschlaeger, draft-lauten-aqm-gsp-03.
//!
//! The first packet over a threshold is signalled, and no other packet for an interval after it.

use ecnlab_base::{Dur, Length, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::{ActsAbove, Facts};
use crate::step::Threshold;
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "gsp",
    label: "GSP",
    summary: "Global Synchronization Protection (Lautenschlaeger 2016): one signal at a threshold, then none for an interval",
    reference: "W. Lautenschlaeger and A. Francini, 'Global synchronization protection for bandwidth sharing TCP flows in high-speed links', HPSR 2015; draft-lauten-aqm-gsp-03",
    shown: &["threshold", "interval"],
    acts_above: &[ActsAbove::late("threshold")],
    ..Facts::PLAIN
};

/// GSP's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Above this a packet is signalled: a length of the queue that it finds, "50 packets" or "75 kB", or the sojourn
    /// of the packet that last left, "20 ms".
    pub threshold: Threshold,
    /// Minimum time between signals: constant, or its maximum if it adapts. Default 200 ms.
    #[serde(default = "default_interval")]
    pub interval: Dur,
    /// Shorten the interval while the queue is above the threshold for longer than below. Default true.
    #[serde(default = "default_adaptive")]
    pub adaptive: bool,
    /// The time constant of the adaptation. Default 1 s.
    #[serde(default = "default_tau")]
    pub tau: Dur,
    /// Weight of time above the threshold relative to time below, above 0 and at most 1000. Default 2.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// Maximum lead of the time above. Default 60 s.
    #[serde(default = "default_max_time")]
    pub max_time: Dur,
}

fn default_interval() -> Dur {
    Dur::from_ms(200)
}
fn default_adaptive() -> bool {
    true
}
fn default_tau() -> Dur {
    Dur::from_s(1)
}
fn default_alpha() -> f64 {
    2.0
}
fn default_max_time() -> Dur {
    Dur::from_s(60)
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        let possible = match self.threshold {
            Threshold::Length(Length::Packets(n) | Length::Bytes(n)) => n >= 0.0,
            Threshold::Sojourn(_) => true,
        };
        Impossible::unless(possible, "threshold", || format!("{} is not a valid length", self.threshold))?;
        Impossible::unless(!self.interval.is_zero(), "interval", || {
            "0 s would signal every packet over the threshold: write such as 200 ms, or take \"step\"".to_owned()
        })?;
        Impossible::unless(!self.tau.is_zero(), "tau", || "0 s is not a time constant: write such as 1 s".to_owned())?;
        Impossible::unless(self.alpha > 0.0 && self.alpha <= 1000.0, "alpha", || {
            format!("{} is not a valid weight: write such as 2, above 0 and at most 1000", self.alpha)
        })
    }
}

/// GSP on one queue.
#[derive(Clone, Debug)]
pub struct Gsp {
    params: Params,
    /// End of the interval without signals.
    expiry: Time,
    /// Time above the threshold times alpha, minus the time below, in seconds.
    ahead: f64,
    /// Time of the last update.
    seen: Time,
    /// The sojourn of the packet that last left.
    delay: Dur,
    phase: Phase,
}

/// Whether time below the threshold counts: from an overflow on it does not, until the queue has been empty and then above the
/// threshold again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Clear,
    Overflown,
    Emptied,
}

impl Gsp {
    /// Whether a queue of this length is above the threshold.
    fn is_above(&self, packets: u64, bytes: u64) -> bool {
        match self.params.threshold {
            Threshold::Length(Length::Packets(most)) => packets as f64 > most,
            Threshold::Length(Length::Bytes(most)) => bytes as f64 > most,
            Threshold::Sojourn(most) => packets > 0 && self.delay > most,
        }
    }

    /// Accounts for the time above or below the threshold since the last update.
    fn gather(&mut self, above: bool, now: Time) {
        let time = now.since(std::mem::replace(&mut self.seen, now)).as_secs();
        if above {
            self.ahead += self.params.alpha * time;
        } else if self.phase == Phase::Clear {
            self.ahead -= time;
        }
        self.ahead = self.ahead.clamp(0.0, self.params.max_time.as_secs());
    }

    fn interval(&self) -> Dur {
        let Params { interval, tau, adaptive, .. } = self.params;
        if adaptive { Dur::from_secs(interval.as_secs() / (1.0 + self.ahead / tau.as_secs())) } else { interval }
    }
}

impl LawParams for Params {
    type Law = Gsp;

    fn law(&self, _link: LinkContext) -> Gsp {
        Gsp { params: *self, expiry: Time::ZERO, ahead: 0.0, seen: Time::ZERO, delay: Dur::ZERO, phase: Phase::Clear }
    }
}

impl Aqm for Gsp {
    fn on_enqueue(&mut self, _packet: &PacketView, view: &View, now: Time, _rng: &mut Rng) -> Verdict {
        let above = self.is_above(view.packets, view.bytes);
        self.gather(above, now);
        if above && self.phase == Phase::Emptied {
            coverage_mark!("gsp.clear_after_overflow");
            self.phase = Phase::Clear;
        }
        if above && now > self.expiry {
            coverage_mark!("gsp.signal");
            self.expiry = now.saturating_add(self.interval());
            return Verdict::Signal;
        }
        Verdict::Pass
    }

    fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, _rng: &mut Rng) -> Verdict {
        self.gather(self.is_above(view.packets + 1, view.bytes + u64::from(packet.size)), now);
        self.delay = packet.sojourn;
        if view.packets == 0 && self.phase == Phase::Overflown {
            coverage_mark!("gsp.emptied_after_overflow");
            self.phase = Phase::Emptied;
        }
        Verdict::Pass
    }

    fn on_full(&mut self) {
        coverage_mark!("gsp.overflow");
        self.phase = Phase::Overflown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Rate;
    use ecnlab_base::coverage::must_reach;

    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };

    fn law(keys: &str) -> Gsp {
        let params: Params = toml::from_str(keys).unwrap();
        assert_eq!(params.check(), Ok(()));
        params.law(LINK)
    }

    fn packet(sojourn_ms: u64) -> PacketView {
        let ecn = ecnlab_wire::Ecn::Ect0;
        PacketView { size: 1000, ecn, flow: 0, can_mark: true, sojourn: Dur::from_ms(sojourn_ms) }
    }

    fn view(packets: u64) -> View {
        View { packets, bytes: 1000 * packets, in_all: 1000 * packets, idle: None, polled: false }
    }

    /// A packet comes and finds so many. Whether it is signalled.
    fn arrive(law: &mut Gsp, ms: u64, packets: u64) -> bool {
        let now = Time::ZERO + Dur::from_ms(ms);
        law.on_enqueue(&packet(0), &view(packets), now, &mut Rng::named(1, "gsp")) == Verdict::Signal
    }

    /// A packet leaves so many behind.
    fn leave(law: &mut Gsp, ms: u64, packets: u64, sojourn_ms: u64) {
        let now = Time::ZERO + Dur::from_ms(ms);
        let verdict = law.on_dequeue(&packet(sojourn_ms), &view(packets), now, &mut Rng::named(1, "gsp"));
        assert_eq!(verdict, Verdict::Pass);
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn what_a_scenario_leaves_out() {
        let params: Params = toml::from_str("threshold = \"5 packets\"").unwrap();
        assert_eq!((params.interval, params.adaptive, params.tau), (Dur::from_ms(200), true, Dur::from_s(1)));
        assert_eq!((params.alpha, params.max_time), (2.0, Dur::from_s(60)));
    }

    #[test]
    fn one_packet_over_the_threshold_is_signalled_in_an_interval() {
        let _reached = must_reach(["gsp.signal"]);
        for threshold in ["5 packets", "5 kB"] {
            let mut law = law(&format!("threshold = \"{threshold}\"\ninterval = \"10 ms\"\nadaptive = false"));
            let signalled =
                [(1, 5), (2, 6), (3, 9), (12, 9), (13, 5), (14, 6), (15, 6)].map(|(ms, n)| arrive(&mut law, ms, n));
            assert_eq!(signalled, [false, true, false, false, false, true, false], "{threshold}");
        }
    }

    #[test]
    fn the_delay_is_that_of_the_packet_that_last_left() {
        let mut law = law("threshold = \"4 ms\"\ninterval = \"10 ms\"\nadaptive = false");
        leave(&mut law, 1, 3, 4);
        assert!(!arrive(&mut law, 1, 3));
        leave(&mut law, 2, 3, 5);
        // Nobody waits in an empty queue.
        assert!(!arrive(&mut law, 3, 0));
        assert!(arrive(&mut law, 3, 1));
    }

    #[test]
    fn time_above_shortens_the_interval_and_time_below_lengthens_it() {
        let mut law =
            law("threshold = \"5 packets\"\ninterval = \"100 ms\"\ntau = \"2 s\"\nalpha = 3.0\nmax_time = \"7 s\"");
        // Below for a second: no further back than nothing.
        assert!(!arrive(&mut law, 1000, 5) && law.ahead == 0.0);
        // Above for a second, as the next packet shows: 3·1 s; 100 ms/(1 + 3/2) = 40 ms.
        assert!(arrive(&mut law, 2000, 6) && close(law.ahead, 3.0));
        assert_eq!(law.expiry, Time::ZERO + Dur::from_ms(2040));
        // A packet that leaves was in the queue until now: 6 with it.
        leave(&mut law, 3000, 5, 0);
        assert!(close(law.ahead, 6.0));
        leave(&mut law, 4000, 4, 0);
        assert!(close(law.ahead, 5.0));
        // 7 s at most: 100 ms/(1 + 7/2).
        leave(&mut law, 9000, 6, 0);
        assert!(close(law.ahead, 7.0) && close(law.interval().as_secs(), 0.1 / 4.5));
    }

    #[test]
    fn from_an_overflow_on_time_below_does_not_count_until_the_queue_was_empty_and_is_above_again() {
        let _reached = must_reach(["gsp.overflow", "gsp.emptied_after_overflow", "gsp.clear_after_overflow"]);
        let mut law = law("threshold = \"5 packets\"\nalpha = 1.0");
        arrive(&mut law, 2000, 9);
        assert!(close(law.ahead, 2.0));
        law.on_full();
        // 3 s below; above for 1 s, but it has not been empty.
        leave(&mut law, 5000, 3, 0);
        arrive(&mut law, 6000, 6);
        assert!(close(law.ahead, 3.0) && law.phase == Phase::Overflown);
        leave(&mut law, 6000, 1, 0);
        assert_eq!(law.phase, Phase::Overflown);
        // Empty at 7 s, and above at 9 s; only then does a second below count.
        leave(&mut law, 7000, 0, 0);
        arrive(&mut law, 8000, 5);
        assert!(close(law.ahead, 3.0) && law.phase == Phase::Emptied);
        arrive(&mut law, 9000, 6);
        assert!(close(law.ahead, 4.0) && law.phase == Phase::Clear);
        arrive(&mut law, 10_000, 5);
        assert!(close(law.ahead, 3.0));
        // No overflow, and so no waiting for an empty queue.
        leave(&mut law, 10_000, 0, 0);
        assert_eq!(law.phase, Phase::Clear);
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in [
            "interval = \"0 s\"\nthreshold = \"1 ms\"",
            "tau = \"0 s\"\nthreshold = \"1 ms\"",
            "alpha = 0.0\nthreshold = \"1 ms\"",
            "alpha = 1000.5\nthreshold = \"1 ms\"",
        ] {
            let params: Params = toml::from_str(keys).unwrap();
            let key = params.check().err().map(|refused| refused.key).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        law("threshold = \"0 packets\"\ninterval = \"1 ns\"\ntau = \"1 ns\"\nalpha = 1000.0\nmax_time = \"0 s\"");
        law("threshold = \"0 ms\"");
        let aimless =
            Params { threshold: Threshold::Length(Length::Bytes(f64::NAN)), ..law("threshold = \"1 ms\"").params };
        assert_eq!(aimless.check().err().map(|refused| refused.key), Some("threshold".to_owned()));
    }
}

//! CUBIC (RFC 9438): after a reduction the window follows a cubic function of time, flat near the window of the last
//! congestion, and is never below what Reno would have at the same loss rate. Slow start, floors and rounding are Reno's.
//! `docs/laws/cubic.md` lists the differences of the two profiles.

mod linux;
mod rfc9438;
#[cfg(test)]
mod tests;

use ecnlab_base::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{AckSample, CcState, CongestionControl, CongestionEvent, Sent, Start, Window};
use crate::facts::Facts;
use crate::invalid::{Invalid, ensure};
use linux::Linux;
use rfc9438::Rfc9438;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "cubic",
    label: "CUBIC",
    summary: "A window that after a reduction follows a cubic function of time, and never falls behind Reno's.",
    reference: "RFC 9438; Linux, net/ipv4/tcp_cubic.c",
    samples: true,
    feedback: true,
    ..Facts::PLAIN
};

/// CUBIC with its parameters; the defaults are those of RFC 9438.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Variant of CUBIC; `linux` has no `beta`, `beta_ecn` and `c`. Default `rfc9438`.
    #[serde(skip_serializing_if = "Profile::is_default")]
    pub profile: Profile,
    /// Factor of the window reduction on congestion. Default 0.7 (§4.6).
    pub beta: f64,
    /// Factor of the reduction on ECN-Echo in congestion avoidance: 0.85 with ABE (RFC 8511 §3.1). Default: as `beta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta_ecn: Option<f64>,
    /// Growth of the cubic function, in segments per cubic second. Default 0.4 (§5.1).
    pub c: f64,
    /// Fast convergence: a flow whose window shrinks from one congestion to the next reduces more. Default true (§4.7).
    pub fast_convergence: bool,
}

/// Variant of CUBIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// RFC 9438, in real numbers.
    #[default]
    Rfc9438,
    /// `tcp_cubic` of Linux 7, in whole segments and milliseconds.
    Linux,
}

impl Profile {
    fn is_default(&self) -> bool {
        *self == Profile::default()
    }
}

impl Default for Params {
    fn default() -> Params {
        Params { profile: Profile::default(), beta: 0.7, beta_ecn: None, c: 0.4, fast_convergence: true }
    }
}

impl super::Params for Params {
    type Law = Cubic;
    type Start = Start;

    fn check(&self) -> Result<(), Invalid> {
        let own = Params::default();
        let settable = self.profile != Profile::Linux;
        for (key, left) in [
            ("congestion.beta", self.beta == own.beta),
            ("congestion.beta_ecn", self.beta_ecn.is_none()),
            ("congestion.c", self.c == own.c),
        ] {
            ensure(settable || left, key, || {
                "must be left out with profile = \"linux\": the kernel's is fixed".to_owned()
            })?;
        }
        for (key, beta) in [("congestion.beta", Some(self.beta)), ("congestion.beta_ecn", self.beta_ecn)] {
            let in_bounds = beta.is_none_or(|beta| beta > 0.0 && beta < 1.0);
            ensure(in_bounds, key, || format!("must be above 0 and below 1, not {}", beta.unwrap_or_default()))?;
        }
        ensure(self.c > 0.0 && self.c <= 1_000.0, "congestion.c", || {
            format!("must be above 0 and at most 1000 segments per cubic second, not {}", self.c)
        })
    }

    fn slow_start(&self) -> &'static str {
        match self.profile {
            Profile::Linux => "hystart",
            Profile::Rfc9438 => "standard",
        }
    }

    fn law(&self, start: Start) -> Cubic {
        Cubic::new(*self, start)
    }
}

/// CUBIC.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Cubic {
    reno: Reno,
    variant: Variant,
    /// Time of the last ACK, or of the first segment after an idle time.
    last_ack: Time,
    /// Smoothed RTT at the last ACK.
    srtt: Dur,
}

/// State of a [`Profile`].
#[derive(Clone, Debug)]
enum Variant {
    Rfc9438(Rfc9438),
    Linux(Linux),
}

impl Cubic {
    /// CUBIC that begins with `start`.
    pub fn new(params: Params, start: Start) -> Cubic {
        let variant = match params.profile {
            Profile::Rfc9438 => Variant::Rfc9438(Rfc9438::new(params)),
            Profile::Linux => Variant::Linux(Linux::new(params.fast_convergence)),
        };
        Cubic { reno: Reno::new(start), variant, last_ack: Time::ZERO, srtt: Dur::ZERO }
    }
}

impl CongestionControl for Cubic {
    fn window(&self) -> &Window {
        self.reno.window()
    }

    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }

    fn grow(&mut self, acked: u64) {
        match &mut self.variant {
            Variant::Rfc9438(rfc) => rfc.grow(&mut self.reno, acked, self.last_ack, self.srtt),
            Variant::Linux(linux) => linux.grow(&mut self.reno, acked, self.last_ack),
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match &mut self.variant {
            Variant::Rfc9438(rfc) => rfc.on_congestion(&mut self.reno, event),
            Variant::Linux(linux) => linux.on_congestion(&mut self.reno, event),
        }
    }

    fn on_feedback(&mut self, sample: &AckSample) {
        if let Variant::Linux(linux) = &mut self.variant {
            linux.on_feedback(sample);
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if let Variant::Rfc9438(rfc) = &mut self.variant {
            rfc.on_ack(sample, self.last_ack);
        }
        (self.last_ack, self.srtt) = (sample.now, sample.srtt);
    }

    fn on_sent(&mut self, sent: &Sent) {
        match &mut self.variant {
            Variant::Rfc9438(rfc) => rfc.on_sent(sent, self.last_ack),
            Variant::Linux(linux) => linux.on_sent(sent),
        }
        if sent.outstanding == 0 {
            self.last_ack = sent.now;
        }
    }

    fn on_undo(&mut self, before: CcState) {
        // RFC 9438 §4.9.2: window and curve come back, unless the window has reached what it was. The threshold does in any
        // case, as in Linux (tcp_undo_cwnd_reduction).
        let now = self.state();
        if let Variant::Rfc9438(rfc) = &mut self.variant
            && now.cwnd < before.cwnd
        {
            rfc.on_undo();
        }
        self.set_cwnd(now.cwnd.max(before.cwnd));
        self.set_ssthresh(now.ssthresh.max(before.ssthresh));
    }
}

//! Common parts of datagram sources: the codepoint, and the response to ICMP source quench.
//!
//! The response is RFC 1016, "Something a Host Could Do with Source Quench: The Source Quench Introduced Delay (SQuID)"
//! (Prue and Postel, July 1987): the host keeps a delay D between the datagrams that it sends to a destination; a
//! quench increases it, time decreases it. Historic: a router must not send source quenches, a host must ignore them
//! (RFC 6633).

use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_wire::Ecn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Impossible;

/// The ECN codepoint of a flow's datagrams (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codepoint {
    /// Not ECN-capable: a queue can only drop them.
    #[default]
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
}

impl Codepoint {
    /// Returns whether it is the default, which a resolved scenario omits.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if hands over a reference")]
    pub(crate) fn is_not_ect(&self) -> bool {
        *self == Codepoint::NotEct
    }
}

impl From<Codepoint> for Ecn {
    fn from(codepoint: Codepoint) -> Ecn {
        match codepoint {
            Codepoint::NotEct => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
        }
    }
}

/// The Source Quench Introduced Delay of RFC 1016; each default is the RFC's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SquidParams {
    /// Increase of the delay between two datagrams by a quench (K). Default 20 ms.
    #[serde(default = "default_increase")]
    pub increase: Dur,
    /// Minimum delay after a quench (I). Default 75 ms.
    #[serde(default = "default_least")]
    pub least: Dur,
    /// Period after an accepted quench in which further quenches are ignored (E). Default 2 s.
    #[serde(default = "default_period")]
    pub period: Dur,
    /// Amount by which the delay decreases (J). Default 1 ms.
    #[serde(default = "default_decrease")]
    pub decrease: Dur,
    /// Interval at which the delay decreases, while datagrams are sent (S). Default 1 s.
    #[serde(default = "default_every")]
    pub every: Dur,
}

fn default_increase() -> Dur {
    Dur::from_ms(20)
}

fn default_least() -> Dur {
    Dur::from_ms(75)
}

fn default_period() -> Dur {
    Dur::from_s(2)
}

fn default_decrease() -> Dur {
    Dur::from_ms(1)
}

fn default_every() -> Dur {
    Dur::from_s(1)
}

/// Maximum delay between two datagrams: deadlines must stay within the range of the clock.
const LONGEST: Dur = Dur::from_s(86_400);

/// Checks that a datagram can hold its headers, that its length fits the 16 bits of RFC 791, and that a flow that
/// responds to source quenches can receive them.
pub(crate) fn check(packet: Bytes, ecn: Codepoint, quench: Option<&SquidParams>) -> Result<(), Impossible> {
    if !(28..=65_535).contains(&packet.0) {
        let message = format!("{packet} is not a possible size of a UDP packet; write 28 B to 65535 B");
        return Err(Impossible { key: "packet", message });
    }
    let Some(squid) = quench else { return Ok(()) };
    if ecn == Codepoint::NotEct {
        let message = "routers send no source quench about Not-ECT datagrams; write ecn = \"ect0\" as well".to_owned();
        return Err(Impossible { key: "quench", message });
    }
    let times = [
        ("quench.increase", squid.increase),
        ("quench.least", squid.least),
        ("quench.period", squid.period),
        ("quench.decrease", squid.decrease),
        ("quench.every", squid.every),
    ];
    match times.into_iter().find(|&(_, time)| time > LONGEST) {
        Some((key, time)) => Err(Impossible { key, message: format!("{time} is too long; write at most 24 h") }),
        None if squid.increase.is_zero() && squid.least.is_zero() => {
            let message =
                "with a `least` of 0 s too, quenches would have no effect; write a time such as \"20 ms\"".to_owned();
            Err(Impossible { key: "quench.increase", message })
        }
        None => Ok(()),
    }
}

/// Release times of the datagrams of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Squid {
    params: Option<SquidParams>,
    /// The delay D of the RFC.
    delay: Dur,
    /// Time of the last datagram.
    sent: Time,
    /// Time of the last accepted quench.
    raised: Option<Time>,
    /// Time of the last decrease of the delay, or of its increase from zero.
    fell: Time,
}

impl Squid {
    /// Starts with no delay; without `params` there is never a delay.
    pub fn new(params: Option<SquidParams>) -> Squid {
        Squid { params, delay: Dur::ZERO, sent: Time::ZERO, raised: None, fell: Time::ZERO }
    }

    /// Records a datagram sent at `now`; returns the release time of the next one, which the source has ready at
    /// `next`.
    pub fn after(&mut self, now: Time, next: Time) -> Time {
        self.sent = now;
        if let Some(params) = &self.params
            && !self.delay.is_zero()
            && now.since(self.fell) >= params.every
        {
            self.delay = self.delay.saturating_sub(params.decrease);
            self.fell = now;
        }
        self.hold(next)
    }

    /// Handles a source quench at `now`. Returns whether it is accepted: the first one, and any at least one period
    /// after the last accepted one.
    pub fn on_quench(&mut self, now: Time) -> bool {
        let Some(params) = &self.params else { return false };
        if self.raised.is_some_and(|at| now.since(at) < params.period) {
            return false;
        }
        if self.delay.is_zero() {
            self.fell = now;
        }
        self.delay = (self.delay + params.increase).max(params.least).min(LONGEST);
        self.raised = Some(now);
        true
    }

    /// Returns the release time of a datagram that the source has ready at `next`.
    pub fn hold(&self, next: Time) -> Time {
        if self.delay.is_zero() { next } else { next.max(self.sent.saturating_add(self.delay)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rfc_1016() -> SquidParams {
        serde_json::from_str("{}").expect("the defaults")
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn the_delay_rises_and_falls_as_in_rfc_1016() {
        let mut squid = Squid::new(Some(rfc_1016()));
        // D = max(0 + 20, 75) = 75 ms; another quench within 2 s is the same event; then 95 ms.
        assert_eq!(squid.after(at(0), at(8)), at(8));
        assert!(squid.on_quench(at(1)));
        assert_eq!(squid.hold(at(8)), at(75));
        assert!(!squid.on_quench(at(2000)));
        assert_eq!(squid.delay, Dur::from_ms(75));
        assert!(squid.on_quench(at(2001)));
        assert_eq!(squid.delay, Dur::from_ms(95));
        // It has been there for more than a second: the next datagram takes 1 ms off, and the one after that, not a
        // second later, nothing.
        assert_eq!(squid.after(at(2002), at(2010)), at(2002 + 94));
        assert_eq!(squid.after(at(2096), at(2104)), at(2096 + 94));
        assert_eq!(squid.after(at(3002), at(3010)), at(3002 + 93));
    }

    #[test]
    fn a_slow_source_is_not_slowed_and_an_idle_one_does_not_recover() {
        let mut squid = Squid::new(Some(rfc_1016()));
        assert!(squid.on_quench(at(0)));
        assert_eq!(squid.after(at(0), at(500)), at(500));
        // Ten seconds of silence are one decrease, when there is a datagram again (RFC 1016).
        squid.after(at(10_000), at(10_001));
        assert_eq!(squid.delay, Dur::from_ms(74));
    }

    #[test]
    fn the_delay_ends_at_nothing() {
        let mut squid = Squid::new(Some(SquidParams { decrease: Dur::from_ms(50), ..rfc_1016() }));
        assert!(squid.on_quench(at(0)));
        squid.after(at(1000), at(1001));
        assert_eq!(squid.after(at(2000), at(2001)), at(2001));
        assert_eq!(squid.delay, Dur::ZERO);
    }

    #[test]
    fn without_params_nothing_is_heeded() {
        let mut squid = Squid::new(None);
        assert!(!squid.on_quench(at(1)));
        assert_eq!(squid.after(at(1), at(9)), at(9));
    }
}

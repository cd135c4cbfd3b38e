//! UDP in bursts: on periods at a constant rate, followed by silent off periods.

use ecnlab_base::{Bytes, Dist, Dur, Rate, Rng, Time};
use ecnlab_wire::Ecn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::udp::{self, Codepoint, Squid, SquidParams};
use crate::{Checked, Demand, Impossible, Source, UnderWay};

/// Bursts of datagrams. With both times exponential this is ns-2's `Exponential` source, with both Pareto its `Pareto`
/// source, whose aggregate is self-similar traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bits per second on the wire during a burst, with IP and UDP headers.
    pub rate: Rate,
    /// Size of each packet on the wire, with IP and UDP headers (28 B).
    pub packet: Bytes,
    /// Length of a burst; a burst has at least one packet.
    pub on: Dist<Dur>,
    /// Duration of the silence after a burst.
    pub off: Dist<Dur>,
    /// The ECN codepoint of the datagrams. Default: `"not-ect"`.
    #[serde(default, skip_serializing_if = "Codepoint::is_not_ect")]
    pub ecn: Codepoint,
    /// The response to source quenches, by RFC 1016; `{}` uses the numbers of the RFC. A burst keeps its number of
    /// packets and takes longer. Default: they are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quench: Option<SquidParams>,
}

impl Checked for Params {
    fn largest_datagram(&self) -> Bytes {
        self.packet
    }
    fn check(&self) -> Result<(), Impossible> {
        udp::check(self.packet, self.ecn, self.quench.as_ref())
    }
}

/// A source of bursts of datagrams; the first burst starts immediately.
#[derive(Clone, Debug)]
pub struct OnOff {
    params: Params,
    pause: Dur,
    next: Time,
    /// Packets of the current burst still to be sent.
    left: u64,
    squid: Squid,
}

impl OnOff {
    /// Creates the source from `params`.
    pub fn new(params: &Params, _ends: [u32; 2]) -> OnOff {
        let pause = params.rate.time_for(params.packet.0);
        let squid = Squid::new(params.quench.clone());
        OnOff { params: params.clone(), pause, next: Time::ZERO, left: 0, squid }
    }

    /// Draws the number of packets of a new burst: those that start within its duration.
    fn burst(&self, rng: &mut Rng) -> u64 {
        self.params.on.draw(rng).ps().div_ceil(self.pause.ps()).max(1)
    }
}

impl Source for OnOff {
    const TCP: bool = false;

    fn poll(&mut self, now: Time, rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time> {
        if now >= self.next {
            if self.left == 0 {
                self.left = self.burst(rng);
            }
            out.push(Demand::Datagram(self.params.packet.0 as u32));
            self.left -= 1;
            let silence = if self.left == 0 { self.params.off.draw(rng) } else { Dur::ZERO };
            // The off period starts after the pause of the last packet, so a delayed burst ends before it.
            self.next = self.squid.after(now, now.saturating_add(self.pause)).saturating_add(silence);
        }
        Some(self.next)
    }

    fn stop(&mut self) -> UnderWay {
        self.next = Time::NEVER;
        UnderWay::Completed
    }

    fn codepoint(&self) -> Ecn {
        self.params.ecn.into()
    }

    fn on_quench(&mut self, now: Time) -> bool {
        let heeded = self.squid.on_quench(now);
        self.next = self.squid.hold(self.next);
        heeded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(on: Dist<Dur>, off: Dist<Dur>) -> Params {
        let (ecn, quench) = (Codepoint::NotEct, None);
        Params { rate: Rate::from_bps(1_000_000), packet: Bytes(1000), on, off, ecn, quench }
    }

    /// Send times of the first `n` packets, in milliseconds.
    fn times(params: &Params, n: usize) -> Vec<f64> {
        let (mut source, mut rng, mut out) = (OnOff::new(params, [1, 1]), Rng::named(3, "on-off"), Vec::new());
        let mut at = Time::ZERO;
        let next = |_| {
            let now = at;
            at = source.poll(now, &mut rng, &mut out).unwrap_or(Time::NEVER);
            now.as_secs() * 1000.0
        };
        (0..n).map(next).collect()
    }

    #[test]
    fn bursts_and_silences_take_turns() {
        // 1000 B at 1 Mbit/s: one every 8 ms; 20 ms hold those at 0, 8 and 16; then 8 + 40 ms.
        let params = params(Dist::Constant(Dur::from_ms(20)), Dist::Constant(Dur::from_ms(40)));
        assert_eq!(times(&params, 5), [0.0, 8.0, 16.0, 64.0, 72.0]);
    }

    #[test]
    fn the_mean_rate_is_that_of_on_and_off_times() {
        let times = times(&params(Dist::Exponential(Dur::from_ms(500)), Dist::Exponential(Dur::from_ms(500))), 100_000);
        // A burst holds ceil(E / 8 ms) packets: 1 / (1 - e^(-8/500)) = 63.0 of them, 504 ms; with the
        // silence 1004 ms. 1600 bursts, each time with a standard deviation of 500 ms: five standard
        // errors of a cycle are 5 * 707 / 40 = 88 ms, 9 percent.
        let per_packet = times[times.len() - 1] / times.len() as f64;
        assert!((per_packet / (1004.0 / 63.0) - 1.0).abs() < 0.09, "{per_packet}");
    }
}

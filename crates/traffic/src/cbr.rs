//! UDP at a constant bit rate.

use ecnlab_base::{Bytes, Dur, Rate, Rng, Time};
use ecnlab_wire::Ecn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::udp::{self, Codepoint, Squid, SquidParams};
use crate::{Checked, Demand, Impossible, Source, UnderWay};

/// A continuous stream of datagrams of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bits per second on the wire, with IP and UDP headers.
    pub rate: Rate,
    /// Size of each packet on the wire, with IP and UDP headers (28 B).
    pub packet: Bytes,
    /// Random variation of the pauses: each is drawn from 1 - jitter to 1 + jitter times the regular pause. ns-2's `random_`
    /// is 0.5. Default 0.
    #[serde(default)]
    pub jitter: f64,
    /// The ECN codepoint of the datagrams. Default: `"not-ect"`.
    #[serde(default, skip_serializing_if = "Codepoint::is_not_ect")]
    pub ecn: Codepoint,
    /// The response to source quenches, by RFC 1016; `{}` uses the numbers of the RFC. Default: they are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quench: Option<SquidParams>,
}

impl Checked for Params {
    fn largest_datagram(&self) -> Bytes {
        self.packet
    }
    fn check(&self) -> Result<(), Impossible> {
        udp::check(self.packet, self.ecn, self.quench.as_ref())?;
        if (0.0..=1.0).contains(&self.jitter) {
            Ok(())
        } else {
            let message = format!("{} is not a share of a pause; write a number from 0 to 1", self.jitter);
            Err(Impossible { key: "jitter", message })
        }
    }
}

/// A source of datagrams at a constant rate.
#[derive(Clone, Debug)]
pub struct Cbr {
    packet: u32,
    pause: Dur,
    jitter: f64,
    next: Time,
    ecn: Codepoint,
    squid: Squid,
}

impl Cbr {
    /// Creates the source from `params`.
    pub fn new(params: &Params, _ends: [u32; 2]) -> Cbr {
        let pause = params.rate.time_for(params.packet.0);
        let squid = Squid::new(params.quench.clone());
        let packet = params.packet.0 as u32;
        Cbr { packet, pause, jitter: params.jitter, next: Time::ZERO, ecn: params.ecn, squid }
    }

    fn pause(&self, rng: &mut Rng) -> Dur {
        if self.jitter == 0.0 {
            return self.pause;
        }
        Dur::from_secs(self.pause.as_secs() * rng.uniform(1.0 - self.jitter, 1.0 + self.jitter))
    }
}

impl Source for Cbr {
    const TCP: bool = false;

    fn poll(&mut self, now: Time, rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time> {
        if now >= self.next {
            out.push(Demand::Datagram(self.packet));
            let next = now.saturating_add(self.pause(rng));
            self.next = self.squid.after(now, next);
        }
        Some(self.next)
    }

    fn stop(&mut self) -> UnderWay {
        self.next = Time::NEVER;
        UnderWay::Completed
    }

    fn codepoint(&self) -> Ecn {
        self.ecn.into()
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

    fn params(rate: u64, packet: u64, jitter: f64) -> Params {
        let (ecn, quench) = (Codepoint::NotEct, None);
        Params { rate: Rate::from_bps(rate), packet: Bytes(packet), jitter, ecn, quench }
    }

    fn times(jitter: f64, n: usize) -> Vec<Time> {
        let params = params(1_000_000, 1000, jitter);
        let (mut cbr, mut rng, mut out) = (Cbr::new(&params, [1, 1]), Rng::named(1, "cbr"), Vec::new());
        let mut at = Time::ZERO;
        let next = |_| {
            let now = at;
            at = cbr.poll(now, &mut rng, &mut out).unwrap_or(Time::NEVER);
            now
        };
        let times = (0..n).map(next).collect();
        assert_eq!(out, vec![Demand::Datagram(1000); n]);
        times
    }

    #[test]
    fn a_megabit_of_kilobytes_is_one_every_eight_milliseconds() {
        let want: Vec<Time> = (0..5).map(|i| Time::ZERO + Dur::from_ms(8 * i)).collect();
        assert_eq!(times(0.0, 5), want);
    }

    #[test]
    fn jitter_moves_each_packet_and_leaves_the_rate() {
        let times = times(0.5, 10_001);
        let pauses: Vec<f64> = times.windows(2).map(|w| w[1].since(w[0]).as_secs() * 1000.0).collect();
        assert!(pauses.iter().all(|p| (4.0..12.0).contains(p)));
        // Uniform on [4, 12) ms: standard deviation 8 / sqrt(12) = 2.31 ms; five standard errors.
        let mean = pauses.iter().sum::<f64>() / 1e4;
        assert!((mean - 8.0).abs() < 5.0 * 2.31 / 100.0, "{mean}");
    }

    #[test]
    fn impossible_sizes_and_shares_are_refused() {
        let params = |packet, jitter| params(1, packet, jitter);
        assert_eq!(params(1000, 1.0).check(), Ok(()));
        for (packet, jitter, key) in
            [(27, 0.0, "packet"), (65_536, 0.0, "packet"), (28, 1.1, "jitter"), (28, f64::NAN, "jitter")]
        {
            assert_eq!(params(packet, jitter).check().map_err(|e| e.key), Err(key));
        }
    }

    #[test]
    fn a_quench_holds_the_next_datagram_back_and_a_stop_all_of_them() {
        let quench: SquidParams = serde_json::from_str("{}").expect("the defaults");
        let params = Params { ecn: Codepoint::Ect0, quench: Some(quench), ..params(1_000_000, 1000, 0.0) };
        let (mut cbr, mut rng, mut out) = (Cbr::new(&params, [1, 1]), Rng::named(1, "cbr"), Vec::new());
        let at = |ms| Time::ZERO + Dur::from_ms(ms);
        assert_eq!((cbr.codepoint(), cbr.poll(at(0), &mut rng, &mut out)), (Ecn::Ect0, Some(at(8))));
        assert!(cbr.on_quench(at(3)));
        // A poll at an earlier time returns the scheduled time: 75 ms after the previous datagram.
        assert_eq!(cbr.poll(at(8), &mut rng, &mut out), Some(at(75)));
        assert_eq!(cbr.poll(at(75), &mut rng, &mut out), Some(at(150)));
        assert_eq!(out.len(), 2);
        cbr.stop();
        assert_eq!(cbr.poll(at(150), &mut rng, &mut out), Some(Time::NEVER));
        assert!(!cbr.on_quench(at(151)), "within the period");
        assert_eq!((cbr.poll(at(900), &mut rng, &mut out), out.len()), (Some(Time::NEVER), 2));
    }

    #[test]
    fn who_is_never_quenched_cannot_heed_it() {
        let quench: SquidParams = serde_json::from_str("{}").expect("the defaults");
        let heeds = Params { quench: Some(quench), ..params(1, 1000, 0.0) };
        assert_eq!(heeds.check().map_err(|e| e.key), Err("quench"));
        assert_eq!(Params { ecn: Codepoint::Ect1, ..heeds }.check(), Ok(()));
    }
}

//! UDP at a constant bit rate.

use ecnlab_base::{Bytes, Dur, Rate, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Checked, Demand, Impossible, Source};

/// Datagrams of one size, one after the other, without end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bits per second on the wire, headers included.
    pub rate: Rate,
    /// Size of each packet on the wire, headers included.
    pub packet: Bytes,
    /// How far each pause may stray from rate and size, as a share of it: a pause is drawn from
    /// 1 - jitter to 1 + jitter times the regular one. ns-2's `random_` is 0.5. None by default.
    #[serde(default)]
    pub jitter: f64,
}

impl Checked for Params {
    fn check(&self) -> Result<(), Impossible> {
        check_packet(self.packet)?;
        if (0.0..=1.0).contains(&self.jitter) {
            Ok(())
        } else {
            let message = format!("{} is no share of a pause; write a number from 0 to 1", self.jitter);
            Err(Impossible { key: "jitter", message })
        }
    }
}

/// A datagram must hold its headers, and its length must fit the 16 bits of RFC 791.
pub(crate) fn check_packet(packet: Bytes) -> Result<(), Impossible> {
    if (28..=65_535).contains(&packet.0) {
        Ok(())
    } else {
        let message = format!("{packet} is no size of a UDP packet; write 28 B to 65535 B");
        Err(Impossible { key: "packet", message })
    }
}

/// A source of datagrams at a constant rate.
#[derive(Clone, Debug)]
pub struct Cbr {
    packet: u32,
    pause: Dur,
    jitter: f64,
    next: Time,
}

impl Cbr {
    /// The source that `params` describe.
    pub fn new(params: &Params, _ends: [u32; 2]) -> Cbr {
        let pause = params.rate.time_for(params.packet.0);
        Cbr { packet: params.packet.0 as u32, pause, jitter: params.jitter, next: Time::ZERO }
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
            self.next = now.saturating_add(self.pause(rng));
        }
        Some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(jitter: f64, n: usize) -> Vec<Time> {
        let params = Params { rate: Rate::from_bps(1_000_000), packet: Bytes(1000), jitter };
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
        let params = |packet, jitter| Params { rate: Rate::from_bps(1), packet: Bytes(packet), jitter };
        assert_eq!(params(1000, 1.0).check(), Ok(()));
        for (packet, jitter, key) in
            [(27, 0.0, "packet"), (65_536, 0.0, "packet"), (28, 1.1, "jitter"), (28, f64::NAN, "jitter")]
        {
            assert_eq!(params(packet, jitter).check().map_err(|e| e.key), Err(key));
        }
    }
}

//! The retransmission timeout, computed from RTT samples. One estimator per file.

mod linux;
mod linux7;
mod ns2;
mod rfc6298;
mod smoothed;

use std::ops::Range;

use ecnlab_base::{Dur, Time};
use linux7::Variation;
use smoothed::Smoothed;

use crate::config::{Config, Estimator, RtoFloor};

/// The retransmission timeout of one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    smoothed: Smoothed,
    variation: Variation,
    /// Smoothed RTT. It is stored because every ACK uses it.
    srtt: Dur,
    /// RTO without backoff and bounds.
    base: Dur,
    /// Number of doublings since the last valid sample (RFC 6298 §5.5).
    backoff: u32,
    /// Current RTO. It is stored because every ACK uses it and only a sample or a backoff changes it.
    current: Dur,
    /// Phase of the RTT clock, which differs between hosts.
    phase: Dur,
}

impl Rto {
    /// The initial RTO. `phase` is the phase of the RTT clock as a fraction of a tick, in units of 2^-32.
    pub fn new(config: &Config, phase: u32) -> Rto {
        // 2^-32 ticks times a tick in picoseconds: the product of two u64 needs 128 bits.
        let phase = (u128::from(config.rtt_tick.ps()) * u128::from(phase)) >> 32;
        let rto = Rto {
            smoothed: Smoothed::default(),
            variation: Variation::default(),
            srtt: Dur::ZERO,
            base: config.initial_rto,
            backoff: 0,
            current: Dur::ZERO,
            phase: Dur::from_ps(phase as u64),
        };
        Rto { current: rto.bounded(config), ..rto }
    }

    /// The RTT from `sent` to `now` on the endpoint's clock.
    pub fn measure(&self, config: &Config, sent: Time, now: Time) -> Dur {
        let tick = config.rtt_tick;
        if tick.is_zero() {
            return now.since(sent);
        }
        let ticks = |t: Time| t.saturating_add(self.phase).since(Time::ZERO).whole(tick);
        tick.saturating_mul(ticks(now).saturating_sub(ticks(sent)))
    }

    /// Processes a valid RTT sample. `cwnd` is in bytes, `mss` is the bytes of a segment; `outstanding` is what is not
    /// acknowledged yet.
    pub fn sample(&mut self, config: &Config, rtt: Dur, cwnd: u64, mss: u32, outstanding: Range<u64>) {
        let tick = config.rtt_tick;
        let window = || cwnd / u64::from(mss);
        self.base = match config.rto_estimator {
            Estimator::Rfc6298 => rfc6298::update(&mut self.smoothed, rtt, tick),
            Estimator::Linux20 => linux::update(&mut self.smoothed, rtt, tick, window(), 1),
            Estimator::Linux22 => linux::update(&mut self.smoothed, rtt, tick, window(), 2),
            Estimator::Linux7 => linux7::update(&mut self.smoothed, &mut self.variation, rtt, outstanding, config),
            Estimator::Ns2 => ns2::update(&mut self.smoothed, rtt, tick),
        };
        self.srtt = self.estimates(config).0;
        self.current = self.bounded(config);
    }

    /// Karn: the backed-off RTO is kept until a segment sent once is acknowledged (RFC 6298 §5.7 note).
    pub fn end_backoff(&mut self, config: &Config) {
        if self.backoff > 0 {
            self.backoff = 0;
            self.current = self.bounded(config);
        }
    }

    /// Doubles the RTO (RFC 6298 §5.5).
    pub fn back_off(&mut self, config: &Config) {
        self.backoff = (self.backoff + 1).min(config.max_doublings);
        config.rto_estimator.back_off(&mut self.smoothed, self.backoff);
        self.srtt = self.estimates(config).0;
        self.current = self.bounded(config);
    }

    /// RFC 6298 §5.7: resets the RTO after a retransmitted SYN; timeouts of the handshake do not apply to data.
    pub fn restart_after_syn_loss(&mut self, config: &Config) {
        self.base = config.initial_rto_after_syn_loss;
        self.backoff = 0;
        self.current = self.bounded(config);
    }

    /// Current RTO.
    pub fn current(&self) -> Dur {
        self.current
    }

    /// The RTO from the estimate, with backoff and bounds applied.
    fn bounded(&self, config: &Config) -> Dur {
        let least = config.rto_estimator.least(config);
        let doubled = |rto: Dur| rto.saturating_mul(1 << self.backoff);
        let rto = match config.min_rto_of {
            RtoFloor::Estimate => doubled(self.base.max(least)),
            RtoFloor::Timeout => doubled(self.base).max(least),
            RtoFloor::Variation => doubled(self.base.max(self.srtt + least)),
        };
        // RFC 6298 §2.5: the upper bound applies to the doubled value.
        rto.min(config.max_rto)
    }

    /// Smoothed RTT; zero before the first sample.
    #[inline]
    pub fn srtt(&self) -> Dur {
        self.srtt
    }

    /// Smoothed RTT and RTT variation, for traces; zero before the first sample.
    #[inline]
    pub fn estimates(&self, config: &Config) -> (Dur, Dur) {
        let Smoothed { srtt, var } = self.smoothed;
        match config.rto_estimator.unit(config.rtt_tick) {
            None => (Dur::from_ps(srtt as u64), Dur::from_ps(var as u64)),
            Some(unit) => {
                let scaled = |v: i64, by: u64| Dur::from_ps((v.max(0) as u64).saturating_mul(unit.ps()) / by);
                (scaled(srtt, 8), scaled(var, 4))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::profile;

    #[test]
    fn what_the_floor_is_of() {
        // One sample of 100 ms: SRTT = 100, RTTVAR = 50, the estimate 300 ms. A floor of 250 ms is below it, but what
        // the estimate adds to SRTT is 200 ms only.
        let mut config = profile("modern").map(|p| p.config.clone()).expect("a profile of ours");
        config.min_rto = Dur::from_ms(250);
        for (floor, ms) in [(RtoFloor::Estimate, 300), (RtoFloor::Timeout, 300), (RtoFloor::Variation, 350)] {
            config.min_rto_of = floor;
            let mut rto = Rto::new(&config, 0);
            rto.sample(&config, Dur::from_ms(100), 14_600, 1_460, 1..1);
            assert_eq!(rto.current(), Dur::from_ms(ms));
            rto.back_off(&config);
            assert_eq!(rto.current(), Dur::from_ms(2 * ms));
        }
    }
}

//! Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area networks", 2003) as Linux has it
//! (net/ipv4/tcp_scalable.c): each segment acknowledged adds a hundredth of one, congestion takes an eighth. Slow start, floors
//! and rounding are Reno's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{CongestionControl, CongestionEvent, Start, Window};
use crate::facts::Facts;
use crate::invalid::{Invalid, ensure};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "scalable",
    label: "Scalable TCP",
    summary: "A window to which each segment acknowledged adds a hundredth of one, and of which congestion takes an eighth (Scalable TCP).",
    reference: "T. Kelly, 'Scalable TCP: improving performance in highspeed wide area networks', CCR 33(2), 2003; Linux, net/ipv4/tcp_scalable.c",
    ..Facts::PLAIN
};

/// Scalable TCP with its parameters; the defaults are Kelly's and Linux's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Segments that each segment acknowledged adds to the window; below a window of 1/`increase` segments it is
    /// Reno's 1/cwnd. Default 0.01 (Linux: TCP_SCALABLE_AI_CNT = 100).
    pub increase: f64,
    /// Part of the window that is given up on congestion. Default 0.125 (Linux: TCP_SCALABLE_MD_SCALE = 3).
    pub decrease: f64,
}

impl Default for Params {
    fn default() -> Params {
        Params { increase: 0.01, decrease: 0.125 }
    }
}

impl super::Params for Params {
    type Law = Scalable;
    type Start = Start;

    fn check(&self) -> Result<(), Invalid> {
        ensure(self.increase > 0.0 && self.increase <= 1.0, "congestion.increase", || {
            format!("must be above 0 and at most 1 segment, not {}", self.increase)
        })?;
        ensure(self.decrease > 0.0 && self.decrease < 1.0, "congestion.decrease", || {
            format!("must be above 0 and below 1, not {}", self.decrease)
        })
    }

    fn law(&self, start: Start) -> Scalable {
        Scalable { reno: Reno::new(start), params: *self, mss: start.window.mss().into() }
    }
}

/// Scalable TCP.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Scalable {
    reno: Reno,
    params: Params,
    mss: f64,
}

impl CongestionControl for Scalable {
    #[inline]
    fn window(&self) -> &Window {
        self.reno.window()
    }

    #[inline]
    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }

    fn grow(&mut self, acked: u64) {
        if self.reno.in_slow_start() {
            return self.reno.slow_start(acked);
        }
        // A window below one segment, as ns-2's, counts as one.
        let each = self.params.increase.max(1.0 / self.window().segments().max(1.0));
        let acked = acked as f64 / self.mss;
        self.window_mut().widen_segments(acked * each);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let kept = 1.0 - self.params.decrease;
        self.reno.reduce(event, |window| (window as f64 * kept).round() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Congestion, Params as _, event};
    use crate::law::start;

    /// A window in segments of 1000 bytes, in congestion avoidance.
    fn law(segments: u64) -> Scalable {
        let mut law = Params::default().law(start("modern", 1_000));
        law.set_cwnd(segments * 1_000);
        law.set_ssthresh(2_000);
        law
    }

    #[test]
    fn from_a_hundred_segments_on_each_acknowledged_adds_a_hundredth() {
        let grown = |segments, acked| {
            let mut law = law(segments);
            law.grow(acked);
            law.cwnd()
        };
        assert_eq!([grown(200, 1_000), grown(200, 3_000), grown(100, 1_000)], [200_010, 200_030, 100_010]);
        // Below, 1/cwnd: 1/50 = 0.02.
        assert_eq!(grown(50, 1_000), 50_020);
    }

    #[test]
    fn congestion_takes_an_eighth() {
        let mut law = law(200);
        law.on_congestion(&event(Congestion::Ecn, 160_000));
        assert_eq!((law.cwnd(), law.state().ssthresh), (140_000, 140_000));
        law.on_congestion(&event(Congestion::Timeout, 140_000));
        assert_eq!((law.cwnd(), law.state().ssthresh), (1_000, 122_500));
        // Slow start is Reno's: 2 segments at most.
        law.grow(3_000);
        assert_eq!(law.cwnd(), 3_000);
    }

    #[test]
    fn deflation_is_reno_s() {
        let mut law = law(10);
        law.deflate(1_500);
        assert_eq!(law.cwnd(), 8_500);
    }

    #[test]
    fn parameters_past_their_bounds_are_refused() {
        let wrong = |increase, decrease| Params { increase, decrease }.check().err().map(|error| error.key);
        assert_eq!([wrong(0.0, 0.5), wrong(f64::NAN, 0.5), wrong(1.01, 0.5)], [Some("congestion.increase"); 3]);
        assert_eq!([wrong(0.1, 0.0), wrong(0.1, f64::NAN), wrong(0.1, 1.0)], [Some("congestion.decrease"); 3]);
        assert_eq!(wrong(1.0, 0.5), None);
    }
}

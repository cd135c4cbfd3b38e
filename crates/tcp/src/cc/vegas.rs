//! Vegas (Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global internet", 1995) as Linux has it
//! (net/ipv4/tcp_vegas.c): adjusts the window once per RTT to keep a target number of its segments queued, estimated from the RTT.
//! Reductions, and all growth while it does not look at RTTs, are Reno's.

use ecnlab_base::{Dur, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{AckSample, CongestionControl, CongestionEvent, Sent, Start, Window};
use crate::facts::Facts;
use crate::invalid::{Invalid, ensure};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "vegas",
    label: "Vegas",
    summary: "Adjusts the window once per RTT to keep a target number of its segments queued, estimated from the RTT (Vegas).",
    reference: "L. Brakmo and L. Peterson, 'TCP Vegas: end to end congestion avoidance on a global internet', JSAC 13(8), 1995; Linux, net/ipv4/tcp_vegas.c",
    samples: true,
    ..Facts::PLAIN
};

/// Samples of a round trip up to which it is ignored: they may all be of delayed ACKs.
const FEW_SAMPLES: u32 = 2;
/// Least window that it leaves, in segments.
const MIN_CWND: f64 = 2.0;

/// Vegas with its parameters, all in segments that wait; the defaults are Linux's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Waiting segments below which the window grows by a segment; at least 1. Default 2 (Linux).
    pub alpha: u32,
    /// Waiting segments above which the window shrinks by a segment. Default 4 (Linux).
    pub beta: u32,
    /// Waiting segments above which slow start ends. Default 1 (Linux).
    pub gamma: u32,
}

impl Default for Params {
    fn default() -> Params {
        Params { alpha: 2, beta: 4, gamma: 1 }
    }
}

impl super::Params for Params {
    type Law = Vegas;
    type Start = Start;

    fn check(&self) -> Result<(), Invalid> {
        ensure(self.alpha >= 1, "congestion.alpha", || "must be at least 1 segment: the window would not grow".into())?;
        ensure(self.alpha <= self.beta, "congestion.beta", || {
            format!("must not be below congestion.alpha, {}: {}", self.alpha, self.beta)
        })
    }

    fn law(&self, start: Start) -> Vegas {
        Vegas {
            reno: Reno::new(start),
            params: *self,
            base_rtt: None,
            una: 0,
            nxt: 0,
            looks_again: None,
            round_end: 0,
            round_rtt: None,
            samples: 0,
            growth: Growth::Reno,
        }
    }
}

/// Vegas. Offsets are bytes of the stream.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Vegas {
    reno: Reno,
    params: Params,
    /// Least RTT since there was nothing outstanding (baseRTT).
    base_rtt: Option<Dur>,
    /// All before is acknowledged; the next new byte.
    una: u64,
    nxt: u64,
    /// After congestion: where it is to be acknowledged up to before RTTs are looked at again.
    looks_again: Option<u64>,
    /// The round trip is over when more than this is acknowledged; its least RTT and its samples.
    round_end: u64,
    round_rtt: Option<Dur>,
    samples: u32,
    growth: Growth,
}

/// By whom the ACK at hand opens the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    /// Reno.
    Reno,
    /// Reno in slow start, nobody in congestion avoidance.
    SlowStart,
    /// Vegas has done so.
    Done,
}

impl Vegas {
    /// A round trip begins that is looked at when it is over (vegas_enable).
    fn begin_round(&mut self) {
        (self.round_end, self.round_rtt, self.samples) = (self.nxt, None, 0);
    }

    fn take_rtt(&mut self, rtt: Dur) {
        // Linux adds a microsecond, so that none is zero.
        let rtt = rtt + Dur::from_us(1);
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |least| least.min(rtt)));
        self.round_rtt = Some(self.round_rtt.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }

    /// Whether RTTs are looked at; they are again when all that was outstanding at the congestion is acknowledged.
    fn looks(&mut self, in_recovery: bool) -> bool {
        let Some(end) = self.looks_again else { return true };
        if in_recovery || self.una < end {
            return false;
        }
        self.looks_again = None;
        self.begin_round();
        true
    }

    /// A round trip is over: how the window changes, and by whom.
    fn end_round(&mut self) -> Growth {
        let (Some(base), Some(rtt)) = (self.base_rtt, self.round_rtt.filter(|_| self.samples > FEW_SAMPLES)) else {
            coverage_mark!("vegas.few_samples");
            return Growth::Reno;
        };
        let (cwnd, share) = (self.window().segments(), base.as_secs() / rtt.as_secs());
        // The window's segments that wait, whole ones.
        let waiting = libm::floor(cwnd / share - cwnd);
        let (low, high) = (f64::from(self.params.alpha), f64::from(self.params.beta));
        let growth = if self.reno.in_slow_start() {
            if waiting <= f64::from(self.params.gamma) {
                Growth::SlowStart
            } else {
                coverage_mark!("vegas.slow_start_ends");
                self.shrink(cwnd.min(libm::floor(cwnd * share) + 1.0));
                Growth::Done
            }
        } else {
            if waiting > high {
                coverage_mark!("vegas.decrease");
                self.shrink(cwnd - 1.0);
            } else if waiting < low {
                coverage_mark!("vegas.increase");
                self.window_mut().widen_segments(1.0);
            }
            Growth::Done
        };
        self.raise_threshold();
        growth
    }

    /// The window becomes so many segments, and ssthresh is no more.
    fn shrink(&mut self, segments: f64) {
        let bytes = (segments.max(MIN_CWND) * f64::from(self.window().mss())) as u64;
        self.set_cwnd(bytes);
        self.set_ssthresh(self.state().ssthresh.min(bytes));
    }

    /// ssthresh is at least three quarters of the window (tcp_current_ssthresh).
    fn raise_threshold(&mut self) {
        let window = self.state();
        self.set_ssthresh(window.ssthresh.max(window.cwnd / 2 + window.cwnd / 4));
    }
}

impl CongestionControl for Vegas {
    fn window(&self) -> &Window {
        self.reno.window()
    }

    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }

    fn grow(&mut self, acked: u64) {
        match self.growth {
            Growth::Reno => self.reno.grow(acked),
            Growth::SlowStart if self.reno.in_slow_start() => self.reno.slow_start(acked),
            Growth::SlowStart | Growth::Done => {}
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.looks_again = Some(self.nxt);
        self.reno.on_congestion(event);
    }

    fn on_ack(&mut self, sample: &AckSample) {
        self.una += sample.acked;
        if let Some(rtt) = sample.rtt {
            self.take_rtt(rtt);
        }
        self.growth = if !self.looks(sample.in_recovery) {
            Growth::Reno
        } else if self.una > self.round_end {
            let growth = self.end_round();
            self.begin_round();
            growth
        } else {
            Growth::SlowStart
        };
    }

    fn on_sent(&mut self, sent: &Sent) {
        if sent.outstanding == 0 {
            // tcp_vegas_init: what was learnt before an idle time is forgotten.
            self.base_rtt = None;
            self.looks_again = None;
            self.begin_round();
        }
        if !sent.again {
            self.nxt = self.una + sent.outstanding + sent.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Congestion, Params as _, event};
    use crate::law::start;
    use crate::slow_start::sample;
    use ecnlab_base::coverage::must_reach;

    /// Vegas that has sent a hundred segments of 1000 bytes, with a window and a threshold in segments.
    fn vegas(cwnd: u64, ssthresh: u64) -> Vegas {
        let mut law = Params::default().law(start("modern", 1_000));
        law.set_cwnd(cwnd * 1_000);
        law.set_ssthresh(ssthresh * 1_000);
        send(&mut law, 100);
        law
    }

    /// So many new segments leave.
    fn send(law: &mut Vegas, segments: u64) {
        for _ in 0..segments {
            law.on_sent(&Sent {
                now: sample(0.0, 0, 0).now,
                bytes: 1_000,
                outstanding: law.nxt - law.una,
                ..Sent::default()
            });
        }
    }

    /// The ACK of a segment, with an RTT in milliseconds.
    fn ack(law: &mut Vegas, rtt: u64) -> u64 {
        law.on_ack(&sample(0.0, 1_000 * rtt, 0));
        law.grow(1_000);
        law.cwnd()
    }

    /// ACKs of a whole round trip, all with an RTT; the next ACK ends it.
    fn round(law: &mut Vegas, rtt: u64) {
        while law.una < law.round_end {
            ack(law, rtt);
        }
    }

    /// Vegas with the least RTT of 100 ms and a round trip behind it with the RTT `rtt`, at whose end this is the window.
    fn after(cwnd: u64, ssthresh: u64, rtt: u64) -> (u64, u64) {
        let mut law = vegas(cwnd, ssthresh);
        ack(&mut law, 100);
        send(&mut law, 3);
        round(&mut law, rtt);
        law.set_cwnd(cwnd * 1_000);
        law.set_ssthresh(ssthresh * 1_000);
        ack(&mut law, rtt);
        (law.cwnd(), law.state().ssthresh)
    }

    #[test]
    fn the_window_follows_the_segments_that_wait() {
        let _reached = must_reach(["vegas.increase", "vegas.decrease"]);
        // Of 10 segments at 119 ms: 10 · 19 / 100.001 = 1.9 wait, whole ones 1: fewer than 2. At 121 ms it is 2.1, at 150 ms 4.99,
        // at 151 ms 5.1: more than 4. ssthresh becomes three quarters of the window.
        assert_eq!(after(10, 5, 119), (11_000, 8_250));
        assert_eq!([after(10, 5, 121), after(10, 5, 150)], [(10_000, 7_500); 2]);
        assert_eq!(after(10, 5, 151), (9_000, 6_750));
        // Nor is it ever above it.
        assert_eq!(after(10, 10, 151), (9_000, 9_000));
        // 2 segments at least.
        assert_eq!(after(2, 2, 500), (2_000, 2_000));
    }

    #[test]
    fn slow_start_ends_with_more_than_gamma_at_the_rate_of_the_path() {
        let _reached = must_reach(["vegas.slow_start_ends"]);
        // 10 · 19 / 100.001 = 1.9: one waits. So it goes on.
        assert_eq!(after(10, 100, 119), (11_000, 100_000));
        // 2.1 wait. 10 · 100.001 / 121.001 = 8.26 segments fill the path, and one more.
        assert_eq!(after(10, 100, 121), (9_000, 9_000));
    }

    #[test]
    fn within_a_round_trip_only_slow_start_opens_the_window() {
        let mut law = vegas(10, 100);
        ack(&mut law, 100);
        assert_eq!([ack(&mut law, 100), ack(&mut law, 100)], [12_000, 13_000]);
        let mut law = vegas(10, 5);
        ack(&mut law, 100);
        assert_eq!([ack(&mut law, 100), ack(&mut law, 100)], [10_000; 2]);
    }

    #[test]
    fn a_round_trip_of_two_samples_is_reno_s() {
        let _reached = must_reach(["vegas.few_samples"]);
        for (samples, cwnd) in [(2, 10_000), (3, 11_000)] {
            let mut law = vegas(10, 5);
            ack(&mut law, 100);
            law.round_end = law.una + 1_000 * (samples - 1);
            // Bytes are counted towards the next segment, as ten must be acknowledged for one.
            (0..samples).for_each(|_| _ = ack(&mut law, 100));
            assert_eq!(law.cwnd(), cwnd, "{samples}");
        }
    }

    #[test]
    fn the_least_rtt_of_a_round_trip_counts() {
        let mut law = vegas(10, 5);
        ack(&mut law, 100);
        ack(&mut law, 110);
        send(&mut law, 3);
        round(&mut law, 200);
        assert_eq!(ack(&mut law, 200), 11_000);
    }

    #[test]
    fn after_congestion_it_is_reno_until_all_that_was_outstanding_is_acknowledged() {
        let mut law = vegas(10, 5);
        ack(&mut law, 100);
        law.on_congestion(&event(Congestion::Loss, 10_000));
        assert_eq!((law.cwnd(), law.state().ssthresh), (5_000, 5_000));
        send(&mut law, 5);
        let before = law.una;
        // 99 are outstanding at the loss; Reno adds a segment for 5, 6, 7 and so on.
        assert_eq!((0..5).map(|_| ack(&mut law, 100)).max(), Some(6_000));
        while law.una < before + 99_000 {
            ack(&mut law, 300);
        }
        assert_eq!((law.looks_again, law.round_end, law.samples), (None, law.nxt, 0));
    }

    #[test]
    fn in_recovery_it_does_not_look() {
        let mut law = vegas(10, 5);
        law.on_congestion(&event(Congestion::Loss, 10_000));
        law.una = law.nxt;
        law.on_ack(&AckSample { in_recovery: true, ..sample(0.0, 100_000, 0) });
        assert_eq!(law.growth, Growth::Reno);
        law.on_ack(&sample(0.0, 100_000, 0));
        assert_eq!(law.looks_again, None);
    }

    #[test]
    fn with_nothing_outstanding_it_begins_anew() {
        let mut law = vegas(10, 5);
        ack(&mut law, 100);
        law.una = law.nxt;
        send(&mut law, 1);
        assert_eq!((law.base_rtt, law.samples, law.round_end), (None, 0, 100_000));
        // A second segment, and one sent again, change nothing.
        ack(&mut law, 100);
        law.una -= 1_000;
        send(&mut law, 1);
        law.on_sent(&Sent {
            now: sample(0.0, 0, 0).now,
            bytes: 1_000,
            outstanding: 2_000,
            again: true,
            ..Sent::default()
        });
        assert_eq!((law.base_rtt, law.nxt), (Some(Dur::from_us(100_001)), 102_000));
    }

    #[test]
    fn deflation_is_reno_s() {
        let mut law = vegas(10, 5);
        law.deflate(1_500);
        assert_eq!(law.cwnd(), 8_500);
    }

    #[test]
    fn parameters_past_their_bounds_are_refused() {
        let wrong = |alpha, beta| Params { alpha, beta, gamma: 1 }.check().err().map(|error| error.key);
        assert_eq!([wrong(0, 4), wrong(5, 4), wrong(4, 4)], [Some("congestion.alpha"), Some("congestion.beta"), None]);
    }
}

//! CUBIC as RFC 9438 has it, in real numbers: windows are segments, times seconds.

use ecnlab_base::{Dur, Time, coverage_mark};

use super::Params;
use crate::cc::reno::Reno;
use crate::cc::{AckSample, Congestion, CongestionControl, CongestionEvent, Sent};

/// State of a connection.
#[derive(Clone, Debug)]
pub struct Rfc9438 {
    pub(super) params: Params,
    pub(super) curve: Curve,
    /// The curve before the last reduction, in case the reduction was spurious.
    before: Curve,
}

/// State of the window's curve in congestion avoidance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Curve {
    /// When this congestion avoidance began (t_epoch); none before its first ACK.
    pub epoch: Option<Time>,
    /// The window at the last congestion, or less (W_max); zero where the curve begins at its plateau.
    pub w_max: f64,
    /// Seconds from the epoch to the plateau (K).
    pub k: f64,
    /// Estimate of Reno's window (W_est).
    pub w_est: f64,
    /// The window at the last congestion (cwnd_prior).
    pub prior: f64,
}

impl Curve {
    /// Congestion avoidance begins with a window of `cwnd` segments (§4.2).
    fn begin(&mut self, now: Time, cwnd: f64, c: f64) -> Time {
        self.w_max = self.w_max.max(cwnd);
        self.k = libm::cbrt((self.w_max - cwnd) / c);
        self.w_est = cwnd;
        self.epoch = Some(now);
        now
    }

    /// W_cubic(t), Figure 1 of §4.2.
    fn at(&self, t: f64, c: f64) -> f64 {
        let away = t - self.k;
        c * away * away * away + self.w_max
    }

    /// Time in which the flow had nothing to send does not count (§4.2, §5.8).
    fn shift(&mut self, by: Dur) {
        self.epoch = self.epoch.map(|epoch| epoch.saturating_add(by));
    }
}

impl Rfc9438 {
    /// State at the beginning.
    pub fn new(params: Params) -> Rfc9438 {
        Rfc9438 { params, curve: Curve::default(), before: Curve::default() }
    }

    /// An ACK of `acked` bytes at `now`.
    pub fn grow(&mut self, reno: &mut Reno, acked: u64, now: Time, srtt: Dur) {
        if reno.in_slow_start() {
            self.curve.epoch = None;
            reno.slow_start(acked);
        } else {
            self.avoid_congestion(reno, acked as f64 / f64::from(reno.window().mss()), now, srtt);
        }
    }

    /// An ACK of `acked` segments in congestion avoidance.
    fn avoid_congestion(&mut self, reno: &mut Reno, acked: f64, now: Time, srtt: Dur) {
        let (cwnd, c) = (reno.window().segments(), self.params.c);
        // A window below one segment, as ns-2's, counts as one.
        let share = acked / cwnd.max(1.0);
        let epoch = self.curve.epoch.unwrap_or_else(|| self.curve.begin(now, cwnd, c));
        let t = now.since(epoch).as_secs();
        // §4.3: Reno's growth with this beta's share of the link, then its own slope.
        let alpha = if self.curve.w_est < self.curve.prior { reno_friendly(self.params.beta) } else { 1.0 };
        self.curve.w_est += alpha * share;
        let to = if self.curve.at(t, c) < self.curve.w_est {
            self.curve.w_est
        } else {
            // §4.2 bounds the target, §4.4 and §4.5 go there within a round trip.
            let target = self.curve.at(t + srtt.as_secs(), c).clamp(cwnd, 1.5 * cwnd);
            (cwnd + (target - cwnd) * share).min(target)
        };
        reno.window_mut().widen_segments(to - cwnd);
    }

    /// Reduces the window and begins a new curve.
    pub fn on_congestion(&mut self, reno: &mut Reno, event: &CongestionEvent) {
        let Params { beta, beta_ecn, fast_convergence, .. } = self.params;
        // RFC 8511, abstract: what changes is the reaction in congestion avoidance.
        let own = beta_ecn.filter(|_| event.why == Congestion::Ecn && !reno.in_slow_start());
        let kept = own.unwrap_or(beta);
        let cwnd = reno.window().segments();
        self.before = self.curve;
        // §4.7: what another flow has taken is left to it. §4.8: after a timeout the plateau is where congestion avoidance
        // begins.
        let w_max = match event.why {
            Congestion::Timeout => {
                coverage_mark!("cubic.timeout");
                0.0
            }
            _ if fast_convergence && cwnd < self.curve.w_max => {
                coverage_mark!("cubic.fast_convergence");
                cwnd * (1.0 + beta) / 2.0
            }
            _ => cwnd,
        };
        self.curve = Curve { w_max, prior: cwnd, ..Curve::default() };
        // §4.6.
        reno.reduce(event, |window| (window as f64 * kept).round() as u64);
    }

    /// An ACK. Since the one at `last_ack` the flow may have had too little to send.
    pub fn on_ack(&mut self, sample: &AckSample, last_ack: Time) {
        if !sample.cwnd_limited && !sample.in_recovery {
            self.curve.shift(sample.now.since(last_ack));
        }
    }

    /// Data leave. With nothing outstanding the flow was idle since `last_ack`.
    pub fn on_sent(&mut self, sent: &Sent, last_ack: Time) {
        if sent.outstanding == 0 {
            self.curve.shift(sent.now.since(last_ack));
        }
    }

    /// Restores the curve before the last reduction.
    pub fn on_undo(&mut self) {
        coverage_mark!("cubic.undo");
        self.curve = self.before;
    }
}

/// The slope with which an AIMD that keeps `beta` has Reno's mean window (§4.3, alpha_cubic).
fn reno_friendly(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

//! Prague: DCTCP's response to marks for the Internet (De Schepper, Tilmans, Briscoe and Goel,
//! draft-briscoe-iccrg-prague-congestion-control-04; the authors' tcp_prague.c for Linux, versions 0.6 and 0.7; RFC 9331
//! §4.3). Its window has a fraction, grows on each segment delivered without a mark, in every state, and is reduced by half
//! of the marked fraction once per virtual RTT, which is at least 25 ms. Segments are paced, so that a window below one
//! segment works, too.
//!
//! The rules are those of the authors' code; docs/laws/prague.md lists the differences. `virtual_rtt` defines the virtual RTT,
//! `classic` detects queues of RFC 3168.

mod classic;
#[cfg(test)]
mod tests;
mod virtual_rtt;

use ecnlab_base::facts::Column;
use ecnlab_base::{Dur, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AckSample, CcState, Codepoint, Congestion, CongestionControl, CongestionEvent, Established, Pacing, Sent, Window,
};
use crate::facts::{Facts, Marks, Paces};
use crate::invalid::{Invalid, ensure};
use crate::window::MAX_CWND;
use classic::Detector;
pub use virtual_rtt::RttControl;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "prague",
    label: "Prague",
    summary: "A paced window with a fraction, which marks reduce by half of their share once in 25 ms or a round trip, for L4S (Prague).",
    reference: "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331, section 4.3; tcp_prague.c of its authors",
    columns: &[
        Column::new("prague_alpha", "ratio", "Prague's estimate of the marked fraction of its segments"),
        Column::new("prague_cwnd_segments", "segments", "Prague's window with its fraction"),
    ],
    samples: true,
    paces: Paces::Sometimes,
    owns_window: true,
    waits_at_one_segment: false,
    marks: Marks::Share,
    ..Facts::PLAIN
};

/// The least window that admits segments; a smaller one is a matter of the rate (MIN_CWND_RTT of 0.7).
const LEAST_CWND: f64 = 2.0;

/// Bytes a second to which marks and losses take a flow at most: 100 kbit/s (MINIMUM_RATE of 0.7).
const LEAST_RATE: f64 = 12_500.0;

/// Bursts last a 4096th of a second at most (prague_burst_shift), of the 250 us of RFC 9331 §4.3.
const BURSTS_PER_SEC: f64 = 4_096.0;

/// Prague with its parameters; the defaults are those of the draft and of tcp_prague.c 0.6.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Weight of the last virtual round trip in the estimate of marks. Default 1/16 (`PRAGUE_SHIFT_G`).
    pub g: f64,
    /// The estimate until the first mark. Default 1 (`prague_init` of tcp_prague.c 0.6).
    pub alpha: f64,
    /// Definition of the virtual RTT. Default `rate` (`prague_rtt_scaling` of 0.6).
    pub rtt_control: RttControl,
    /// The round trip that a shorter one counts as. Default 25 ms (`prague_rtt_target`; RTT_VIRT_MIN of the draft).
    pub rtt_target: Dur,
    /// Round trips behind slow start that count as they are. Default 500 (`DEFAULT_RTT_TRANSITION` of 0.6; 4 in 0.7).
    pub rtt_transition: u64,
    /// Detection of classic ECN queues, behind which marks reduce the window by 31 % at least. Default false
    /// (`prague_ecn_fallback` of 0.6).
    pub classic_detection: bool,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            g: 1.0 / 16.0,
            alpha: 1.0,
            rtt_control: RttControl::Rate,
            rtt_target: Dur::from_ms(25),
            rtt_transition: 500,
            classic_detection: false,
        }
    }
}

impl super::Params for Params {
    type Law = Prague;
    type Start = Window;

    fn check(&self) -> Result<(), Invalid> {
        ensure(self.g > 0.0 && self.g <= 1.0, "congestion.g", || {
            format!("must be above 0 and at most 1, not {}", self.g)
        })?;
        ensure((0.0..=1.0).contains(&self.alpha), "congestion.alpha", || {
            format!("must be from 0 to 1, not {}", self.alpha)
        })?;
        ensure(!self.rtt_target.is_zero(), "congestion.rtt_target", || {
            "must be above 0 s: rtt_control = \"none\" leaves every round trip as it is".into()
        })
    }

    fn needs_count(&self) -> Option<&'static str> {
        Some("congestion")
    }

    fn law(&self, window: Window) -> Prague {
        Prague::new(*self, window)
    }
}

/// What was delivered in the round at hand, in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    delivered: u64,
    marked: u64,
    /// It is over when all up to here is acknowledged.
    end: u64,
}

/// Prague. Offsets are bytes of the stream.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Prague {
    /// What admits segments: the fractional window rounded up, or in slow start what that is.
    window: Window,
    params: Params,
    /// The fractional window in segments.
    segments: f64,
    /// It was so before the last loss.
    before_loss: f64,
    /// Estimate of the part of the segments that is marked.
    alpha: f64,
    /// The peer counts no marks: each is a loss.
    classic: bool,
    slow_start: bool,
    has_seen_mark: bool,
    /// A loss is being repaired that has been answered.
    in_loss: bool,
    srtt: Dur,
    una: u64,
    nxt: u64,
    round: Round,
    /// Rounds since slow start.
    rounds: u64,
    /// When alpha was last updated.
    updated: Time,
    /// When a mark was last answered, and the next new byte then.
    answered: Option<Time>,
    answered_up_to: u64,
    /// With `classic_detection`, once established with a peer that counts marks.
    detector: Option<Detector>,
}

impl Prague {
    fn new(params: Params, window: Window) -> Prague {
        Prague {
            params,
            window,
            segments: window.segments(),
            before_loss: 0.0,
            alpha: params.alpha,
            classic: false,
            slow_start: true,
            has_seen_mark: false,
            in_loss: false,
            srtt: Dur::ZERO,
            una: 0,
            nxt: 0,
            round: Round::default(),
            rounds: 0,
            updated: Time::ZERO,
            answered: None,
            answered_up_to: 0,
            detector: None,
        }
    }

    // ---- the state of the flow ----

    /// Below the least window the rate falls, and a timeout makes it no greater.
    fn in_slow_start(&self) -> bool {
        let CcState { cwnd, ssthresh } = self.state();
        cwnd < ssthresh && ssthresh > LEAST_CWND as u64 * u64::from(self.window.mss())
    }

    /// Slow start moves the window itself, and so do recovery and what ends slow start.
    fn follow_slow_start(&mut self) {
        let now = self.in_slow_start();
        if now || self.slow_start {
            self.segments = self.window.segments();
        }
        self.slow_start = now;
    }

    /// prague_is_rtt_indep.
    fn is_rtt_independent(&self) -> bool {
        !self.classic && !self.in_slow_start() && self.rounds >= self.params.rtt_transition
    }

    /// What passes between two answers to marks, and between two updates of alpha, beside a round trip.
    fn period(&self) -> Dur {
        let Params { rtt_control, rtt_target, .. } = self.params;
        if self.is_rtt_independent() { rtt_control.period(rtt_target, self.srtt) } else { Dur::ZERO }
    }

    /// What marks and losses leave at least, in segments.
    fn least(&self) -> f64 {
        if self.srtt.is_zero() {
            return LEAST_CWND;
        }
        (LEAST_RATE * self.srtt.as_secs() / f64::from(self.window.mss())).min(LEAST_CWND)
    }

    // ---- less ----

    /// Gives up a `part` of the window (prague_enter_cwr, prague_enter_loss). Slow start is over.
    fn reduce(&mut self, part: f64) {
        let least = self.least().min(self.segments);
        self.segments = (self.segments * (1.0 - part)).max(least);
        let ssthresh = self.admitted() * u64::from(self.window.mss());
        self.window.set_ssthresh(ssthresh.min(self.window.cwnd()));
        self.slow_start = false;
    }

    /// prague_enter_cwr: at most once in a virtual round trip.
    fn answer_mark(&mut self, now: Time) {
        let period = self.period();
        if self.answered.is_some_and(|last| now.since(last) < period) {
            return;
        }
        self.answered = Some(now);
        self.answered_up_to = self.nxt;
        let alpha = self.detector.map_or(self.alpha, |detector| detector.alpha(self.alpha));
        self.reduce(alpha / 2.0);
    }

    /// prague_enter_loss.
    fn answer_loss(&mut self) {
        self.before_loss = self.segments;
        self.in_loss = true;
        self.reduce(0.5);
    }

    // ---- more ----

    /// Congestion avoidance: a segment a round trip, or the part of one that makes the rates of short round trips grow as those
    /// of the target, for what came without a mark (prague_update_cwnd).
    fn avoid_congestion(&mut self, sample: &AckSample) {
        let unmarked = sample.delivered.packets.saturating_sub(sample.marked.packets);
        // RFC 7661 §4.3: a window of which half is used is validated. Paced, it is never quite full.
        let is_used = 2 * sample.prior_in_flight >= self.window.cwnd();
        let waits = sample.in_recovery || (self.classic && self.una <= self.answered_up_to);
        if unmarked == 0 || !is_used || waits || self.in_slow_start() {
            return;
        }
        self.segments += unmarked as f64 * self.increase() / self.segments;
    }

    fn increase(&self) -> f64 {
        let Params { rtt_control, rtt_target, .. } = self.params;
        if self.is_rtt_independent() && !self.srtt.is_zero() {
            rtt_control.increase(rtt_target, self.srtt)
        } else {
            1.0
        }
    }

    /// What the fractional window admits, in segments (prague_frac_cwnd_to_snd_cwnd).
    fn admitted(&self) -> u64 {
        (libm::ceil(self.segments).max(LEAST_CWND) as u64).min(MAX_CWND)
    }

    /// The window follows the fractional one by a segment an ACK, so that a reduction is spread over acknowledgements.
    fn follow(&mut self) {
        if self.in_slow_start() {
            return;
        }
        let mss = u64::from(self.window.mss());
        let (now, then) = (self.window.cwnd() / mss, self.admitted());
        if now > then {
            self.window.set_cwnd((now - 1) * mss);
        } else if now < then {
            self.window.set_cwnd((now + 1) * mss);
        }
    }

    // ---- the estimate ----

    /// Counts marks, and updates alpha once a virtual round trip, from the first mark on (prague_update_alpha).
    fn estimate(&mut self, sample: &AckSample) {
        self.round.delivered += sample.delivered.packets;
        self.round.marked += sample.marked.packets;
        self.has_seen_mark |= sample.marked.packets > 0;
        let is_over = self.una >= self.round.end && self.round.delivered > 0;
        if !is_over || sample.now.since(self.updated) < self.period() {
            return;
        }
        if self.has_seen_mark && !self.classic {
            if let Some(detector) = &mut self.detector {
                detector.update(sample.min_rtt);
            }
            let share = (self.round.marked as f64 / self.round.delivered as f64).min(1.0);
            self.alpha += self.params.g * (share - self.alpha);
            self.updated = sample.now;
        }
        self.round = Round { end: self.nxt, ..Round::default() };
        self.rounds += u64::from(!self.in_slow_start());
    }
}

impl CongestionControl for Prague {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Slow start; all else is done by then.
    fn grow(&mut self, acked: u64) {
        if self.in_slow_start() {
            let cwnd = self.window.cwnd();
            self.window.set_cwnd(cwnd + acked);
            self.segments = self.window.segments();
        }
    }

    fn on_established(&mut self, established: &Established) {
        self.follow_slow_start();
        self.srtt = established.rtt.unwrap_or_default();
        self.updated = established.now;
        self.classic = !established.counts_marks;
        if self.classic {
            self.alpha = 1.0;
        } else if self.params.classic_detection {
            self.detector = Some(Detector::new(self.srtt));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.follow_slow_start();
        if let Some(detector) = &mut self.detector {
            detector.scale(self.window.state().ssthresh / u64::from(self.window.mss()));
        }
        match event.why {
            Congestion::Ecn => {
                coverage_mark!("prague.mark");
                self.answer_mark(event.now);
            }
            Congestion::Loss | Congestion::Timeout => {
                coverage_mark!("prague.loss");
                self.answer_loss();
            }
        }
    }

    /// A timeout while a mark is answered: recovery takes both for one.
    fn on_further_loss(&mut self) {
        if !self.in_loss {
            coverage_mark!("prague.timeout_after_mark");
            self.answer_loss();
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        self.una += sample.acked;
        self.srtt = sample.srtt;
        if let (Some(detector), Some(rtt)) = (&mut self.detector, sample.last_rtt) {
            detector.on_rtt(rtt);
        }
        // A loss while a mark is answered: the same.
        if sample.in_recovery && !self.in_loss {
            coverage_mark!("prague.loss_after_mark");
            self.answer_loss();
        }
        self.in_loss = sample.in_recovery;
        self.follow_slow_start();
        self.avoid_congestion(sample);
        self.follow();
        self.estimate(sample);
    }

    fn on_sent(&mut self, sent: &Sent) {
        if !sent.again {
            self.nxt = self.una + sent.outstanding + sent.bytes;
        }
    }

    /// Linux leaves laws with a cong_control alone (tcp_slow_start_after_idle_check); what is sent is paced.
    fn on_idle_restart(&mut self, _: u64) {}

    /// prague_cwnd_undo.
    fn on_undo(&mut self, before: CcState) {
        coverage_mark!("prague.undo");
        let now = self.state();
        self.segments = self.segments.max(self.before_loss);
        self.set_cwnd(now.cwnd.max(before.cwnd));
        self.set_ssthresh(now.ssthresh.max(before.ssthresh));
    }

    fn codepoint(&self) -> Codepoint {
        Codepoint::Ect1
    }

    /// prague_update_pacing_rate: the fractional window in a round trip, twice as much in slow start.
    fn pacing(&self) -> Option<Pacing> {
        if self.classic || self.srtt.is_zero() {
            return None;
        }
        let CcState { cwnd, ssthresh } = self.state();
        let gain = if cwnd < ssthresh / 2 { 2.0 } else { 1.0 };
        let per_sec = gain * self.segments / self.srtt.as_secs();
        let mss = f64::from(self.window.mss());
        let burst = libm::floor(per_sec / BURSTS_PER_SEC).max(1.0);
        Some(Pacing { rate: (per_sec * mss) as u64, quantum: (burst * mss) as u64 })
    }

    fn values(&self) -> Vec<f64> {
        vec![self.alpha, self.segments]
    }
}

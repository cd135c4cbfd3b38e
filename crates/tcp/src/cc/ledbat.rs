//! LEDBAT (RFC 6817): a window for background traffic, which grows as long as the flow's own queueing delay is below a target
//! and shrinks above it. There is no slow start.

use ecnlab_base::{Dur, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckSample, Congestion, CongestionControl, CongestionEvent, Window};
use crate::config::Config;
use crate::facts::Facts;
use crate::invalid::{Invalid, ensure};
use crate::window::FRACTION;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "ledbat",
    label: "LEDBAT",
    summary: "A window for background traffic, which grows while its queueing delay is below a target and shrinks above it (LEDBAT).",
    reference: "RFC 6817",
    samples: true,
    one_way: true,
    slow_start: false,
    ..Facts::PLAIN
};

/// The greatest target (§2.5).
const MAX_TARGET: Dur = Dur::from_ms(100);
/// Number of minutes whose minimum delays are kept (§2.5).
const BASE_HISTORY: usize = 10;
const MINUTE: Dur = Dur::from_s(60);
/// Number of recent delays whose minimum is the current delay.
const CURRENT_FILTER: usize = 4;
/// Segments by which the window may exceed the data in flight; its minimum is two segments (§2.5).
const ALLOWED_INCREASE: f64 = 1.0;
const MIN_CWND: f64 = 2.0;

/// The delays that are compared with the base delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// RTTs: queues on the path of the ACKs count, too.
    Rtt,
    /// Delays of the data's direction, from the timestamps of the ACKs (RFC 7323). Both ends must have the same `timestamp_clock`.
    OneWay,
}

/// LEDBAT with its parameters; the defaults are those of RFC 6817.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The queueing delay at which the window neither grows nor shrinks: at most 100 ms. Default 100 ms (§2.5).
    pub target: Dur,
    /// Growth per RTT without queueing, in segments: at most 1. Default 1 (§2.5).
    pub gain: f64,
    /// The delays that are compared with the base delay. Default `rtt`.
    pub delay: Delay,
}

impl Default for Params {
    fn default() -> Params {
        Params { target: Dur::from_ms(100), gain: 1.0, delay: Delay::Rtt }
    }
}

impl super::Params for Params {
    /// Boxed, for its histories are larger than the other laws.
    type Law = Box<Ledbat>;
    type Start = Start;

    fn check(&self) -> Result<(), Invalid> {
        ensure(!self.target.is_zero() && self.target <= MAX_TARGET, "congestion.target", || {
            format!("must be above 0 s and at most {MAX_TARGET}, not {}", self.target)
        })?;
        ensure(self.gain > 0.0 && self.gain <= 1.0, "congestion.gain", || {
            format!("must be above 0 and at most 1, not {}", self.gain)
        })
    }

    fn needs_timestamps(&self) -> bool {
        self.delay == Delay::OneWay
    }

    fn law(&self, Start { window, tick }: Start) -> Box<Ledbat> {
        let (base, current) = ([None; BASE_HISTORY], [None; CURRENT_FILTER]);
        Box::new(Ledbat { window, params: *self, tick, first: None, base, minute: None, current })
    }
}

/// The initial window, and the tick of the timestamp clock.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    window: Window,
    tick: Dur,
}

impl From<(&Config, u32)> for Start {
    fn from((config, mss): (&Config, u32)) -> Start {
        Start { window: (config, mss).into(), tick: config.timestamp_clock }
    }
}

/// LEDBAT.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Ledbat {
    window: Window,
    params: Params,
    tick: Dur,
    /// The first one-way delay, in ticks; half of their range before it counts as no delay.
    first: Option<u32>,
    /// Least delay of each of the last minutes in which there was one, the youngest last, and which minute that is.
    base: [Option<Dur>; BASE_HISTORY],
    minute: Option<u64>,
    /// The last delays, the youngest last.
    current: [Option<Dur>; CURRENT_FILTER],
}

impl Ledbat {
    /// The delay that the ACK brings: of one way only if it acknowledges new data, whose timestamp it echoes then. One-way delays
    /// begin at half of the range of the timestamps, since later ones may be less. RTTs if the peer has no timestamps.
    fn delay(&mut self, sample: &AckSample) -> Option<Dur> {
        match sample.one_way {
            Some(ticks) if self.params.delay == Delay::OneWay => {
                let first = *self.first.get_or_insert(ticks);
                let delay = || self.tick.saturating_mul(ticks.wrapping_sub(first).wrapping_add(1 << 31).into());
                (sample.acked > 0).then(delay)
            }
            _ => sample.rtt,
        }
    }

    /// update_base_delay and update_current_delay, §2.4.2.
    fn take_delay(&mut self, delay: Dur, now: Time) {
        let minute = now.since(Time::ZERO).whole(MINUTE);
        if self.minute != Some(minute) {
            self.minute = Some(minute);
            self.base.rotate_left(1);
            self.base[BASE_HISTORY - 1] = None;
        }
        let last = &mut self.base[BASE_HISTORY - 1];
        *last = Some(last.map_or(delay, |least| least.min(delay)));
        self.current.rotate_left(1);
        self.current[CURRENT_FILTER - 1] = Some(delay);
    }

    /// The queueing delay; none before the first sample.
    fn queueing_delay(&self) -> Option<Dur> {
        let least = |delays: &[Option<Dur>]| delays.iter().flatten().min().copied();
        Some(least(&self.current)?.saturating_sub(least(&self.base)?))
    }

    fn set_segments(&mut self, segments: f64) {
        let mss = f64::from(self.window.mss());
        self.window.set_cwnd_with_fraction((segments * mss * f64::from(1 << FRACTION)).round() as u64);
    }
}

impl CongestionControl for Ledbat {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// The window has moved in [`on_ack`](CongestionControl::on_ack).
    fn grow(&mut self, _: u64) {}

    fn on_congestion(&mut self, event: &CongestionEvent) {
        // §2.4.2, "on data loss"; §1.3: a mark is no other. The window itself, not the flight, is halved.
        let cwnd = self.window.segments();
        let kept = cwnd.min((cwnd / 2.0).max(MIN_CWND));
        self.set_segments(kept);
        self.window.set_ssthresh(self.window.cwnd());
        if event.why == Congestion::Timeout {
            coverage_mark!("ledbat.timeout");
            self.set_segments(1.0);
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(delay) = self.delay(sample) {
            self.take_delay(delay, sample.now);
        }
        let Some(queueing) = self.queueing_delay().filter(|_| sample.acked > 0 && !sample.in_recovery) else {
            return;
        };
        let mss = f64::from(self.window.mss());
        let (cwnd, target) = (self.window.segments(), self.params.target.as_secs());
        let off_target = (target - queueing.as_secs()) / target;
        let grown = cwnd + self.params.gain * off_target * (sample.acked as f64 / mss) / cwnd;
        // What was in flight before the ACK.
        let flight = (sample.in_flight + sample.delivered.bytes) as f64 / mss;
        self.set_segments(grown.min(flight + ALLOWED_INCREASE).max(MIN_CWND));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Params as _, event};
    use crate::slow_start::sample;
    use ecnlab_base::coverage::must_reach;

    /// The same with parameters, and a timestamp clock of 1 ms.
    fn with(params: Params, segments: u32) -> Box<Ledbat> {
        params.law(Start { window: Window::new(segments, 1_000), tick: Dur::from_ms(1) })
    }

    /// LEDBAT with a window in segments of 1000 bytes.
    fn ledbat(segments: u32) -> Box<Ledbat> {
        with(Params::default(), segments)
    }

    /// The ACK of a segment at `s` seconds, with an RTT in milliseconds and much in flight.
    fn ack(law: &mut Ledbat, s: u64, rtt: u64) -> u64 {
        law.on_ack(&AckSample { in_flight: 1_000_000, ..sample(1_000.0 * s as f64, 1_000 * rtt, 0) });
        law.cwnd()
    }

    #[test]
    fn the_window_grows_below_the_target_and_shrinks_above_it() {
        let mut law = ledbat(10);
        // Nothing waits: 10 + 1/10. An ACK of two segments opens it twice as far.
        assert_eq!(ack(&mut law, 1, 50), 10_100);
        let mut twice = ledbat(10);
        twice.on_ack(&AckSample { in_flight: 1_000_000, acked: 2_000, ..sample(1_000.0, 50_000, 0) });
        assert_eq!(twice.cwnd(), 10_200);
        let after = |rtt| {
            let mut law = law.clone();
            (0..3).for_each(|_| _ = ack(&mut law, 1, rtt));
            law.set_cwnd(10_000);
            ack(&mut law, 1, rtt)
        };
        // 50 ms wait, half of the target; 100 ms, all of it; 250 ms: 1.5 of it too much.
        assert_eq!([100, 150, 300].map(after), [10_050, 10_000, 9_850]);
    }

    /// Delays in ticks, on a clock whose offsets wrap past 2^32; the RTT of 1 s is none of the law's.
    #[test]
    fn one_way_delays_differ_by_ticks_whatever_the_offsets_of_the_clocks() {
        let after = |ticks: u32, timestamps| {
            let mut law = with(Params { delay: Delay::OneWay, ..Params::default() }, 10);
            let one_way = |ticks: u32| Some(ticks.wrapping_sub(20)).filter(|_| timestamps);
            let sample = sample(1_000.0, 1_000_000, 0);
            law.on_ack(&AckSample { in_flight: 1_000_000, one_way: one_way(30), ..sample });
            (0..3).for_each(|_| law.on_ack(&AckSample { acked: 1, one_way: one_way(ticks), ..sample }));
            // An ACK of no new data may echo any time.
            law.on_ack(&AckSample { acked: 0, one_way: one_way(0), ..sample });
            law.set_cwnd(10_000);
            law.on_ack(&AckSample { in_flight: 1_000_000, one_way: one_way(ticks), ..sample });
            (law.cwnd(), law.queueing_delay().map(|delay| delay.as_secs()))
        };
        // 50 ticks more than at first, half of the target; 100, all of it. Less than at first is the new base.
        assert_eq!(after(80, true), (10_050, Some(0.05)));
        assert_eq!(after(130, true), (10_000, Some(0.1)));
        assert_eq!(after(5, true), (10_100, Some(0.0)));
        // Without timestamps of the peer: RTTs, which do not change.
        assert_eq!(after(130, false), (10_100, Some(0.0)));
    }

    #[test]
    fn the_least_of_four_delays_is_the_current_one() {
        let mut law = ledbat(10);
        ack(&mut law, 1, 50);
        (0..3).for_each(|_| _ = ack(&mut law, 1, 150));
        // The first is among the four still, then not.
        assert_eq!(law.queueing_delay(), Some(Dur::ZERO));
        ack(&mut law, 1, 150);
        assert_eq!(law.queueing_delay(), Some(Dur::from_ms(100)));
    }

    #[test]
    fn the_base_delay_is_that_of_ten_minutes() {
        let mut law = ledbat(10);
        ack(&mut law, 59, 50);
        for minute in 1..10 {
            (0..4).for_each(|_| _ = ack(&mut law, 60 * minute, 80));
            assert_eq!(law.queueing_delay(), Some(Dur::from_ms(30)), "{minute}");
        }
        ack(&mut law, 600, 80);
        assert_eq!(law.queueing_delay(), Some(Dur::ZERO));
        // Within a minute the least counts.
        ack(&mut law, 601, 70);
        (0..4).for_each(|_| _ = ack(&mut law, 602, 90));
        assert_eq!(law.queueing_delay(), Some(Dur::from_ms(20)));
    }

    #[test]
    fn the_window_is_a_segment_above_the_flight_at_most_and_two_at_least() {
        let mut law = ledbat(10);
        // 4 segments in flight after the ACK of one: 5 and 1.
        law.on_ack(&AckSample { in_flight: 4_000, ..sample(0.0, 50_000, 0) });
        assert_eq!(law.cwnd(), 6_000);
        law.on_ack(&AckSample { in_flight: 0, ..sample(0.0, 50_000, 0) });
        assert_eq!(law.cwnd(), 2_000);
    }

    #[test]
    fn congestion_halves_the_window_and_a_timeout_leaves_a_segment() {
        let _reached = must_reach(["ledbat.timeout"]);
        let after = |cwnd, why| {
            let mut law = ledbat(cwnd);
            law.on_congestion(&event(why, 5_000));
            (law.cwnd(), law.state().ssthresh)
        };
        assert_eq!([after(10, Congestion::Loss), after(10, Congestion::Ecn)], [(5_000, 5_000); 2]);
        assert_eq!([after(3, Congestion::Loss), after(1, Congestion::Loss)], [(2_000, 2_000), (1_000, 1_000)]);
        assert_eq!(after(10, Congestion::Timeout), (1_000, 5_000));
    }

    #[test]
    fn what_acknowledges_nothing_and_recovery_leave_the_window() {
        let mut law = ledbat(10);
        law.on_ack(&AckSample { in_recovery: true, ..sample(0.0, 50_000, 0) });
        law.on_ack(&AckSample { acked: 0, ..sample(0.0, 50_000, 0) });
        law.grow(1_000);
        assert_eq!(law.cwnd(), 10_000);
        let mut law = ledbat(10);
        law.on_ack(&AckSample { rtt: None, ..sample(0.0, 50_000, 0) });
        assert_eq!(law.cwnd(), 10_000, "no delay is known");
    }

    #[test]
    fn parameters_past_their_bounds_are_refused() {
        let wrong = |ms, gain| {
            Params { target: Dur::from_ms(ms), gain, ..Params::default() }.check().err().map(|error| error.key)
        };
        assert_eq!([wrong(0, 1.0), wrong(101, 1.0)], [Some("congestion.target"); 2]);
        assert_eq!([wrong(100, 0.0), wrong(100, 1.1), wrong(100, f64::NAN)], [Some("congestion.gain"); 3]);
        assert_eq!(wrong(100, 1.0), None);
    }
}

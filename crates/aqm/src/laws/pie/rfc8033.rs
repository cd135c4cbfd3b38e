//! RFC 8033: §4, with the options of §5. The pseudo-code is in its appendices A and B.

use ecnlab_base::{Dur, Length, Rng, Time, coverage_mark};

use super::{Params, scale};
use crate::{PacketView, Verdict, View};

/// Sums of probabilities below which no packet is signalled, and from which all are (§5.4).
const ACCU: [f64; 2] = [0.85, 8.5];
/// Bytes of a measurement of the departure rate (appendix B, `DQ_THRESHOLD`).
const DQ_THRESHOLD: u64 = 1 << 14;
/// The weight of a measurement in the average: `DQ_THRESHOLD`/2^16 (§5.2).
const WEIGHT: f64 = 0.25;
/// Factor of the probability at an update of an idle queue (§4.2).
const DECAY: f64 = 0.98;
/// Maximum increase of a probability of at least [`LIGHT`] per update (§5.5).
const MOST_STEP: f64 = 0.02;
/// A probability below it may grow by more than [`MOST_STEP`] at once (§5.5).
const LIGHT: f64 = 0.1;
/// Below this probability no packet is signalled while the delay is short (§4.1).
const LOW: f64 = 0.2;

/// PIE in real numbers.
#[derive(Clone, Debug)]
pub struct Rfc8033 {
    target: Dur,
    tupdate: Dur,
    alpha: f64,
    beta: f64,
    mark_ecnth: f64,
    max_burst: Dur,
    mean_pktsize: u64,
    active_threshold: Option<Length>,
    estimator: Option<Estimator>,
    active: bool,
    burst_allowance: Dur,
    /// `drop_prob_`.
    p: f64,
    /// `accu_prob_`.
    accu: f64,
    /// `current_qdelay`.
    delay: Dur,
    /// `qdelay_old_`.
    old: Dur,
}

impl Rfc8033 {
    pub fn new(params: &Params) -> Rfc8033 {
        let max_burst = params.max_burst();
        Rfc8033 {
            target: params.target,
            tupdate: params.tupdate,
            alpha: params.alpha,
            beta: params.beta,
            mark_ecnth: params.mark_ecnth,
            max_burst,
            mean_pktsize: params.mean_pktsize().0,
            active_threshold: params.active_threshold,
            estimator: params.dq_rate_estimator.then(Estimator::default),
            active: params.active_threshold.is_none(),
            burst_allowance: max_burst,
            p: 0.0,
            accu: 0.0,
            delay: Dur::ZERO,
            old: Dur::ZERO,
        }
    }

    pub fn p(&self) -> f64 {
        self.p
    }
    /// The delay at the last update.
    pub fn last_delay(&self) -> Dur {
        self.old
    }
    pub fn tupdate(&self) -> Dur {
        self.tupdate
    }

    /// `enque` of appendix B, with §4.4 and §5.3.
    pub fn on_enqueue(&mut self, view: &View, rng: &mut Rng) -> Verdict {
        if self.p == 0.0 && self.is_short(self.delay) && self.is_short(self.old) {
            coverage_mark!("pie.rfc8033_burst_refilled");
            self.burst_allowance = self.max_burst;
            self.active = self.active_threshold.is_none();
        }
        if !self.active && self.active_threshold.is_some_and(|threshold| reaches(view, threshold)) {
            coverage_mark!("pie.rfc8033_activated");
            self.activate();
        }
        if !self.active || !self.drop_early(view.bytes, rng) {
            return Verdict::Pass;
        }
        // As in appendix B, the accumulated probability includes packets of the burst allowance.
        if !self.burst_allowance.is_zero() {
            coverage_mark!("pie.rfc8033_burst_passes");
            return Verdict::Pass;
        }
        self.accu = 0.0;
        if self.p < self.mark_ecnth {
            coverage_mark!("pie.rfc8033_signal");
            Verdict::Signal
        } else {
            coverage_mark!("pie.rfc8033_drop");
            Verdict::SignalByDrop
        }
    }

    fn activate(&mut self) {
        self.active = true;
        self.burst_allowance = self.max_burst;
        (self.p, self.accu, self.old) = (0.0, 0.0, Dur::ZERO);
    }

    /// `drop_early`.
    fn drop_early(&mut self, backlog: u64, rng: &mut Rng) -> bool {
        if self.is_short(self.old) && self.p < LOW || backlog <= 2 * self.mean_pktsize {
            coverage_mark!("pie.rfc8033_short_queue_passes");
            return false;
        }
        if self.p == 0.0 {
            self.accu = 0.0;
        }
        self.accu += self.p;
        if self.accu < ACCU[0] || self.accu >= ACCU[1] {
            coverage_mark!("pie.rfc8033_decided_by_sum");
            return self.accu >= ACCU[1];
        }
        let drop = rng.unit() < self.p;
        if drop {
            coverage_mark!("pie.rfc8033_by_chance");
            self.accu = 0.0;
        }
        drop
    }

    /// Whether a delay is below half of the target.
    fn is_short(&self, delay: Dur) -> bool {
        delay * 2 < self.target
    }

    /// Handles a packet dropped because the queue is full.
    pub fn on_full(&mut self) {
        coverage_mark!("pie.rfc8033_full");
        self.accu = 0.0;
    }

    /// `deque`. A queue that is empty afterwards has no delay.
    pub fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time) {
        match &mut self.estimator {
            Some(estimator) => estimator.on_dequeue(packet.size, view.bytes, now),
            None => self.delay = if view.packets == 0 { Dur::ZERO } else { packet.sojourn },
        }
    }

    /// `calculate_drop_prob`.
    pub fn update(&mut self, view: &View) {
        if let Some(estimator) = &self.estimator {
            self.delay = estimator.delay(view.bytes);
        }
        if self.active {
            self.p = self.next_p();
            self.burst_allowance = self.burst_allowance.saturating_sub(self.tupdate);
        }
        self.old = self.delay;
    }

    fn next_p(&self) -> f64 {
        let [delay, target, old] = [self.delay, self.target, self.old].map(Dur::as_secs);
        let mut step = (self.alpha * (delay - target) + self.beta * (delay - old)) / scale(self.p);
        if self.p >= LIGHT {
            step = libm::fmin(step, MOST_STEP);
        }
        let idle = self.delay.is_zero() && self.old.is_zero();
        let left = if idle {
            coverage_mark!("pie.rfc8033_idle_decay");
            DECAY
        } else {
            1.0
        };
        let p = (self.p + step) * left;
        p.clamp(0.0, 1.0)
    }
}

/// Whether at least `threshold` is held.
fn reaches(view: &View, threshold: Length) -> bool {
    match threshold {
        Length::Packets(packets) => view.packets as f64 >= packets,
        Length::Bytes(bytes) => view.bytes as f64 >= bytes,
    }
}

/// The departure rate, measured while enough is held (§5.2; appendix B, `deque`).
#[derive(Clone, Debug, Default)]
struct Estimator {
    /// Start of the current measurement, and bytes since then.
    measurement: Option<(Time, u64)>,
    /// `avg_dq_time_`: time to send [`DQ_THRESHOLD`] bytes; `None` before the first measurement.
    average: Dur,
}

impl Estimator {
    fn on_dequeue(&mut self, size: u32, backlog: u64, now: Time) {
        if let Some((since, bytes)) = self.measurement {
            let bytes = bytes + u64::from(size);
            let complete = bytes >= DQ_THRESHOLD;
            self.measurement = (!complete).then_some((since, bytes));
            if complete {
                self.average = self.with(now.since(since));
            }
        }
        if self.measurement.is_none() && backlog >= DQ_THRESHOLD {
            self.measurement = Some((now, 0));
        }
    }

    /// The average with one more measurement; the first is taken as it is.
    fn with(&self, time: Dur) -> Dur {
        if self.average.is_zero() {
            return time;
        }
        Dur::from_ps((time.ps() as f64 * WEIGHT + self.average.ps() as f64 * (1.0 - WEIGHT)) as u64)
    }

    /// Returns the time that `bytes` take.
    fn delay(&self, bytes: u64) -> Dur {
        Dur::from_ps((u128::from(bytes) * u128::from(self.average.ps()) / u128::from(DQ_THRESHOLD)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pie::Profile;
    use Verdict::{Pass, Signal, SignalByDrop};
    use ecnlab_base::coverage::must_reach;
    use ecnlab_wire::Ecn;

    fn law(change: impl FnOnce(&mut Params)) -> Rfc8033 {
        let mut params = Params { profile: Profile::Rfc8033, ..Params::default() };
        change(&mut params);
        assert_eq!(params.check(), Ok(()));
        Rfc8033::new(&params)
    }
    /// A queue of so many bytes, in packets of 1000.
    fn holding(bytes: u64) -> View {
        View { packets: bytes.div_ceil(1000), bytes, in_all: bytes, idle: None, polled: false }
    }
    fn ms(ms: f64) -> Dur {
        Dur::from_ps((ms * 1e9) as u64)
    }
    fn packet(sojourn: Dur) -> PacketView {
        PacketView { size: 1500, ecn: Ecn::Ect0, flow: 0, can_mark: true, sojourn }
    }
    /// The probability after `p`, where the delay was `old` and is `now`.
    fn after(p: f64, old: f64, now: f64) -> f64 {
        let mut law = law(|_| {});
        (law.p, law.old) = (p, ms(old));
        law.on_dequeue(&packet(ms(now)), &holding(9000), Time::ZERO);
        law.update(&holding(9000));
        assert_eq!((law.old, law.last_delay()), (ms(now), ms(now)));
        law.p()
    }
    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-15
    }
    /// A law past its burst, whose delay was long and whose probability is `p`.
    fn congested(p: f64) -> Rfc8033 {
        let mut law = law(|_| {});
        (law.p, law.delay, law.old, law.burst_allowance) = (p, ms(20.0), ms(20.0), Dur::ZERO);
        law
    }
    fn judge(law: &mut Rfc8033, seed: u64) -> Verdict {
        law.on_enqueue(&holding(9000), &mut Rng::named(seed, "pie"))
    }

    #[test]
    fn a_step_is_divided_the_more_the_lighter_congestion_is() {
        // From 20 to 25 ms: 0.125·(0.025 - 0.015) + 1.25·(0.025 - 0.020) = 0.00125 + 0.00625 = 0.0075 (§4.2).
        let table = [
            (0.0, 2048.0),
            (0.99e-6, 2048.0),
            (1e-6, 512.0),
            (0.99e-5, 512.0),
            (1e-5, 128.0),
            (0.99e-4, 128.0),
            (1e-4, 32.0),
            (0.99e-3, 32.0),
            (1e-3, 8.0),
            (0.99e-2, 8.0),
            (1e-2, 2.0),
            (0.099, 2.0),
            (0.1, 1.0),
            (0.9, 1.0),
        ];
        for (p, divisor) in table {
            assert!(close(after(p, 20.0, 25.0), p + 0.0075 / divisor), "{p}: {}", after(p, 20.0, 25.0));
        }
    }

    #[test]
    fn from_a_tenth_on_a_step_is_no_more_than_two_hundredths() {
        // From 10 to 30 ms: 0.125·0.015 + 1.25·0.020 = 0.026875. Below 0.1 half of it, 0.0134375, and nothing limits it; from
        // 0 to 60 ms 0.5·(0.005625 + 0.075) = 0.0403125.
        assert!(close(after(0.1, 10.0, 30.0), 0.12) && close(after(0.5, 10.0, 30.0), 0.52));
        assert!(close(after(0.05, 10.0, 30.0), 0.0634375) && close(after(0.05, 0.0, 60.0), 0.0903125));
        // Downwards there is no such limit: from 60 to 15 ms -1.25·0.045 = -0.05625.
        assert!(close(after(0.5, 60.0, 15.0), 0.44375));
    }

    #[test]
    fn an_idle_queue_loses_two_hundredths_of_what_is_left() {
        let _reached = must_reach(["pie.rfc8033_idle_decay"]);
        // 0.125·(0 - 0.015) = -0.001875, and 0.98 of the rest.
        assert!(close(after(0.5, 0.0, 0.0), 0.98 * 0.498125));
        // At two updates one after the other: 1 ms before, 1.25·(-0.001) comes to it, and 1 ms now, -0.00175 + 0.00125.
        assert!(close(after(0.5, 1.0, 0.0), 0.5 - 0.003125) && close(after(0.5, 0.0, 1.0), 0.4995));
    }

    #[test]
    fn a_probability_is_at_least_0_and_at_most_1() {
        // 1e-5 - 0.001875/128 is below 0, and 0.99 + 0.02 is above 1.
        assert_eq!((after(1e-5, 0.0, 0.0), after(0.99, 10.0, 30.0)), (0.0, 1.0));
    }

    #[test]
    fn the_allowance_lets_ten_updates_pass() {
        let _reached = must_reach(["pie.rfc8033_burst_passes"]);
        // 150 ms are ten updates of 15 ms (§4.4).
        let mut law = congested(1.0);
        law.burst_allowance = law.max_burst;
        for _ in 0..10 {
            assert_eq!(judge(&mut law, 1), Pass);
            law.p = 1.0;
            law.update(&holding(9000));
        }
        assert_eq!((law.burst_allowance, judge(&mut law, 1)), (Dur::ZERO, SignalByDrop));
        // Of 50 ms the fourth update leaves nothing.
        let mut short = self::law(|p| p.max_burst = Some(Dur::from_ms(50)));
        (0..4).for_each(|_| short.update(&holding(9000)));
        assert_eq!(short.burst_allowance, Dur::ZERO);
    }

    #[test]
    fn a_burst_that_passes_leaves_its_trace_in_the_sum() {
        // Appendix B calls drop_early() first: 3·0.25 is left of three arrivals, and the fourth, 1.0, may be signalled.
        let mut law = congested(0.25);
        law.burst_allowance = Dur::from_ms(15);
        (0..3).for_each(|_| assert_eq!(judge(&mut law, 1), Pass));
        assert_eq!(law.accu, 0.75);
    }

    #[test]
    fn the_allowance_is_full_again_once_congestion_is_over() {
        let _reached = must_reach(["pie.rfc8033_burst_refilled"]);
        // p is 0, and both delays are below 7.5 ms.
        let refilled = |p: f64, delay: f64, old: f64| {
            let mut law = congested(p);
            (law.delay, law.old) = (ms(delay), ms(old));
            judge(&mut law, 1);
            law.burst_allowance == Dur::from_ms(150)
        };
        assert!(refilled(0.0, 7.499, 7.499));
        assert_eq!([refilled(1e-9, 7.0, 7.0), refilled(0.0, 7.5, 7.0), refilled(0.0, 7.0, 7.5)], [false; 3]);
    }

    #[test]
    fn a_short_delay_or_a_short_queue_is_not_signalled() {
        let _reached = must_reach(["pie.rfc8033_short_queue_passes"]);
        // The sum is at 8.5: all that is judged is signalled.
        let verdict = |p: f64, old: f64, bytes: u64| {
            let mut law = congested(p);
            (law.old, law.accu) = (ms(old), 8.5);
            law.on_enqueue(&holding(bytes), &mut Rng::named(1, "pie"))
        };
        // Below half of 15 ms while p is below 0.2; up to 2·1024 B in any case (§4.1).
        assert_eq!(
            [verdict(0.199, 7.499, 9000), verdict(0.2, 7.499, 9000), verdict(0.199, 7.5, 9000)],
            [Pass, SignalByDrop, SignalByDrop]
        );
        assert_eq!([verdict(0.9, 20.0, 2048), verdict(0.9, 20.0, 2049)], [Pass, SignalByDrop]);
        let mut small = congested(0.9);
        (small.mean_pktsize, small.accu) = (500, 8.5);
        assert_eq!(small.on_enqueue(&holding(1001), &mut Rng::named(1, "pie")), SignalByDrop);
    }

    #[test]
    fn signals_are_neither_too_close_nor_too_far_apart() {
        // p 0.25: the sum is 0.75 after three arrivals, below 0.85, and 8.5 after 34 (§5.4).
        let mut law = congested(0.25);
        let mut rng = Rng::named(1, "pie");
        let signals: Vec<usize> =
            (1..=1_000_000).filter(|_| law.on_enqueue(&holding(9000), &mut rng) != Pass).collect();
        let gaps: Vec<usize> = signals.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // Three that pass, then a quarter each: 3 + 4 = 7 on average; one in 0.75^-30 = 5600 gets to the 34th.
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&4), Some(&34)));
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        // Four standard deviations of 3.46/√143,000.
        assert!((mean - 7.0).abs() < 0.037, "{mean}");
    }

    #[test]
    fn the_bounds_of_the_sum_are_0_85_and_8_5() {
        let _reached = must_reach(["pie.rfc8033_decided_by_sum", "pie.rfc8033_by_chance"]);
        // How many of 1000 laws with this sum signal an arrival to which p = 0.5 belongs.
        let signalled = |accu: f64| {
            let judged = |seed| {
                let mut law = congested(0.5);
                law.accu = accu;
                let verdict = judge(&mut law, seed);
                assert_eq!(law.accu, if verdict == Pass { accu + 0.5 } else { 0.0 });
                verdict
            };
            (0..1000).filter(|&seed| judged(seed) != Pass).count()
        };
        assert_eq!([signalled(0.349), signalled(8.0)], [0, 1000]);
        let drawn = [signalled(0.35), signalled(7.99)];
        assert!(drawn.iter().all(|n| (430..570).contains(n)), "{drawn:?}");
    }

    #[test]
    fn below_a_tenth_signals_may_be_marks() {
        let _reached = must_reach(["pie.rfc8033_signal", "pie.rfc8033_drop"]);
        let verdict = |p: f64| {
            let mut law = congested(p);
            law.accu = 8.5;
            (judge(&mut law, 1), law.accu)
        };
        assert_eq!([verdict(0.0999), verdict(0.1)], [(Signal, 0.0), (SignalByDrop, 0.0)]);
        let mut all = self::law(|p| p.mark_ecnth = 1.0);
        (all.p, all.old, all.burst_allowance, all.accu) = (0.9, ms(20.0), Dur::ZERO, 8.5);
        assert_eq!(judge(&mut all, 1), Signal);
    }

    #[test]
    fn a_probability_of_0_and_a_full_queue_clear_the_sum() {
        let _reached = must_reach(["pie.rfc8033_full"]);
        let mut law = congested(0.0);
        law.accu = 5.0;
        assert_eq!((judge(&mut law, 1), law.accu), (Pass, 0.0));
        law.accu = 5.0;
        law.on_full();
        assert_eq!(law.accu, 0.0);
    }

    #[test]
    fn a_packet_that_leaves_nothing_behind_has_no_delay() {
        let mut law = law(|_| {});
        let delay = |law: &mut Rfc8033, bytes| {
            law.on_dequeue(&packet(ms(40.0)), &holding(bytes), Time::ZERO);
            law.delay
        };
        assert_eq!([delay(&mut law, 1000), delay(&mut law, 0)], [ms(40.0), Dur::ZERO]);
    }

    #[test]
    fn departures_are_measured_over_16384_bytes() {
        let mut law = law(|p| p.dq_rate_estimator = true);
        let leaves = |law: &mut Rfc8033, at: u64, backlog: u64| {
            law.on_dequeue(&packet(Dur::ZERO), &holding(backlog), Time::ZERO + Dur::from_ms(at));
        };
        let delay = |law: &mut Rfc8033, bytes: u64| {
            law.update(&holding(bytes));
            law.last_delay().as_secs()
        };
        // 16,383 B are not enough to begin, and before a measurement there is no delay.
        leaves(&mut law, 0, 16_383);
        assert!(law.estimator.as_ref().unwrap().measurement.is_none() && delay(&mut law, 99_000) == 0.0);
        // From 12 ms on each 12 ms 1500 B: 11 of them are 16,500 B, in 132 ms.
        (1..=11).for_each(|i| leaves(&mut law, 12 * i, 16_384));
        assert!(delay(&mut law, 99_000) == 0.0);
        leaves(&mut law, 144, 16_384);
        // 30,000 B take 30,000·0.132/16,384 s.
        assert!((delay(&mut law, 30_000) - 0.241_699_218_75).abs() < 1e-12);
        // The next 11 in 66 ms: 0.25·66 + 0.75·132 = 115.5 ms. With too little behind it no measurement begins.
        (1..=11).for_each(|i| leaves(&mut law, 144 + 6 * i, 16_383));
        assert!((delay(&mut law, 16_384) - 0.1155).abs() < 1e-12);
        assert!(law.estimator.as_ref().unwrap().measurement.is_none());
    }

    #[test]
    fn an_inactive_law_signals_none_and_its_probability_stays() {
        let _reached = must_reach(["pie.rfc8033_activated"]);
        for (threshold, bytes) in [(Length::Packets(9.0), 9000), (Length::Bytes(8500.0), 8500)] {
            let mut law = law(|p| p.active_threshold = Some(threshold));
            law.delay = ms(200.0);
            law.update(&holding(bytes - 1000));
            assert_eq!((law.p, law.burst_allowance), (0.0, Dur::from_ms(150)));
            law.on_enqueue(&holding(bytes - 1000), &mut Rng::named(1, "pie"));
            assert!(!law.active);
            // The old delay counts as 0 when it becomes active (appendix B).
            law.accu = 3.0;
            law.on_enqueue(&holding(bytes), &mut Rng::named(1, "pie"));
            assert_eq!((law.active, law.old, law.accu), (true, Dur::ZERO, 0.0));
            law.update(&holding(bytes));
            // (0.125·0.185 + 1.25·0.2)/2048.
            assert!(close(law.p, 0.273125 / 2048.0) && law.burst_allowance == Dur::from_ms(135));
            // It ends when congestion is over.
            (law.p, law.delay, law.old) = (0.0, ms(7.0), ms(7.0));
            law.on_enqueue(&holding(1000), &mut Rng::named(1, "pie"));
            assert!(!law.active && law.burst_allowance == Dur::from_ms(150));
        }
    }
}

//! `sch_pie` of Linux, in whole numbers: times in ticks of 64 ns, probabilities in units of 1/(2^56 - 1).

use ecnlab_base::{Dur, Rng, Time, coverage_mark};

use super::Params;
use crate::{PacketView, Verdict, View};

/// A gain's unit, in Hz.
pub const SIXTEENTH: f64 = 1.0 / 16.0;
/// The first update: half a second after `pie_init`, at the next multiple of 8 jiffies, which is the grain of the kernel's timers
/// for such times (kernel/time/timer.c); from a start at a multiple of 8.
pub const FIRST_UPDATE: Dur = Dur::from_ms(504);

/// A jiffy with HZ 1000.
const JIFFY: Dur = Dur::from_ms(1);
/// A unit of `psched_time_t`.
const TICK: Dur = Dur::from_ns(64);
const TICKS_PER_SEC: u64 = 15_625_000;
/// The probability 1.
const MAX_PROB: u64 = u64::MAX >> 8;
/// Bytes of a measurement of the departure rate.
const QUEUE_THRESHOLD: u64 = 16_384;
/// Rates are in units of 2^-8 bytes per tick.
const SCALE: u32 = 8;
/// Duration of the burst allowance.
const BURST: Dur = Dur::from_ms(150);
/// Above this delay the probability rises by another 2 % per update.
const HIGH: Dur = Dur::from_ms(250);

/// PIE in whole numbers.
#[derive(Clone, Debug)]
pub struct Linux {
    target: u64,
    period: Dur,
    /// Gains, in units of probability per tick of delay.
    alpha: u64,
    beta: u64,
    bytemode: bool,
    estimates: bool,
    mtu: u64,
    /// The highest probability with which packets are marked.
    mark_most: u64,
    vars: Vars,
}

/// Linux's `struct pie_vars`.
#[derive(Clone, Debug)]
struct Vars {
    qdelay: u64,
    qdelay_old: u64,
    prob: u64,
    /// State reset by `pie_vars_init`.
    cycle: Cycle,
}

/// State that is reset when congestion is over (`pie_vars_init`).
#[derive(Clone, Debug)]
struct Cycle {
    burst_time: u64,
    /// Time of the last dequeue, or the start of a measurement.
    dq_tstamp: Option<u64>,
    accu_prob: u64,
    /// Bytes of the current measurement.
    dq_count: Option<u64>,
    avg_dq_rate: u32,
}

impl Cycle {
    fn new() -> Cycle {
        Cycle { burst_time: BURST.whole(TICK), dq_tstamp: None, accu_prob: 0, dq_count: None, avg_dq_rate: 0 }
    }

    fn reduce_burst(&mut self, dtime: u32) {
        self.burst_time = self.burst_time.saturating_sub(dtime.into());
    }

    /// The part of `pie_process_dequeue` with timestamps.
    fn left_at(&mut self, now: u64) {
        let since = self.dq_tstamp.replace(now);
        self.reduce_burst(since.map_or(0, |since| (now - since) as u32));
    }

    /// The part of `pie_process_dequeue` that measures the departure rate.
    fn measure(&mut self, size: u32, backlog: u64, now: u64) {
        let enough = backlog >= QUEUE_THRESHOLD;
        if enough && self.dq_count.is_none() {
            (self.dq_tstamp, self.dq_count) = (Some(now), Some(0));
        }
        let (Some(count), Some(since)) = (&mut self.dq_count, self.dq_tstamp) else { return };
        *count += u64::from(size);
        let dtime = (now - since) as u32;
        if *count < QUEUE_THRESHOLD || dtime == 0 {
            return;
        }
        let rate = ((*count << SCALE) as u32) / dtime;
        let average = self.avg_dq_rate;
        self.avg_dq_rate = if average == 0 { rate } else { average - (average >> 3) + (rate >> 3) };
        (self.dq_tstamp, self.dq_count) = (Some(now), enough.then_some(0));
        self.reduce_burst(dtime);
    }
}

impl Linux {
    pub fn new(params: &Params) -> Linux {
        let gain = |hz: f64| ((sixteenths(hz) as u64) * (MAX_PROB / TICKS_PER_SEC)) >> 4;
        Linux {
            target: params.target.whole(TICK),
            period: period(params.tupdate),
            alpha: gain(params.alpha),
            beta: gain(params.beta),
            bytemode: params.bytemode(),
            estimates: params.dq_rate_estimator,
            mtu: params.mtu().0,
            mark_most: (MAX_PROB as f64 * params.mark_ecnth) as u64,
            vars: Vars { qdelay: 0, qdelay_old: 0, prob: 0, cycle: Cycle::new() },
        }
    }

    /// The probability; it may be above 1.
    pub fn p(&self) -> f64 {
        self.vars.prob as f64 / MAX_PROB as f64
    }
    /// The delay at the last update.
    pub fn delay(&self) -> Dur {
        TICK.saturating_mul(if self.estimates { self.vars.qdelay } else { self.vars.qdelay_old })
    }
    /// Between two updates.
    pub fn period(&self) -> Dur {
        self.period
    }

    /// `pie_qdisc_enqueue`.
    pub fn on_enqueue(&mut self, packet: &PacketView, view: &View, rng: &mut Rng) -> Verdict {
        if !self.drop_early(packet.size, view.bytes, rng) {
            return Verdict::Pass;
        }
        // A mark leaves the sum as it is: from 8.5 on, all are marked until one is dropped.
        if self.vars.prob <= self.mark_most && packet.can_mark {
            coverage_mark!("pie.linux_mark");
            return Verdict::Signal;
        }
        coverage_mark!("pie.linux_drop");
        self.vars.cycle.accu_prob = 0;
        Verdict::SignalByDrop
    }

    /// `pie_drop_early`.
    fn drop_early(&mut self, size: u32, backlog: u64, rng: &mut Rng) -> bool {
        let Vars { qdelay, prob, cycle, .. } = &mut self.vars;
        if cycle.burst_time > 0 {
            coverage_mark!("pie.linux_burst_passes");
            return false;
        }
        if *qdelay < self.target / 2 && *prob < MAX_PROB / 5 || backlog < 2 * self.mtu {
            coverage_mark!("pie.linux_short_queue_passes");
            return false;
        }
        let scaled = self.bytemode && u64::from(size) <= self.mtu;
        let prob = if scaled { u64::from(size).wrapping_mul(*prob / self.mtu) } else { *prob };
        cycle.accu_prob = if prob == 0 { 0 } else { cycle.accu_prob.wrapping_add(prob) };
        if cycle.accu_prob < MAX_PROB / 100 * 85 {
            coverage_mark!("pie.linux_sum_below_0_85");
            return false;
        }
        if cycle.accu_prob >= MAX_PROB / 2 * 17 {
            coverage_mark!("pie.linux_sum_of_8_5");
            return true;
        }
        let drop = rng.u64() >> 8 < prob;
        if drop {
            coverage_mark!("pie.linux_by_chance");
            cycle.accu_prob = 0;
        }
        drop
    }

    /// Handles a packet dropped because the queue is full.
    pub fn on_full(&mut self) {
        coverage_mark!("pie.linux_full");
        self.vars.cycle.accu_prob = 0;
    }

    /// `pie_process_dequeue`.
    pub fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time) {
        let Vars { qdelay, cycle, .. } = &mut self.vars;
        if self.estimates {
            return cycle.measure(packet.size, view.bytes, ticks(now));
        }
        let came = Time::from_ps(now.ps() - packet.sojourn.ps());
        *qdelay = if view.bytes == 0 { 0 } else { ticks(now) - ticks(came) };
        cycle.left_at(ticks(now));
    }

    /// `pie_calculate_probability`.
    pub fn update(&mut self, backlog: u64) {
        if self.estimates {
            self.estimate(backlog);
        }
        let Vars { qdelay, qdelay_old, prob, .. } = self.vars;
        let idle = qdelay == 0 && qdelay_old == 0 && backlog == 0;
        self.vars.prob = moved(prob, limited(self.change(), prob, qdelay), idle);
        let measured = !self.estimates || self.vars.cycle.avg_dq_rate > 0;
        if qdelay < self.target / 2 && qdelay_old < self.target / 2 && self.vars.prob == 0 && measured {
            coverage_mark!("pie.linux_burst_refilled");
            self.vars.cycle = Cycle::new();
        }
        if !self.estimates {
            self.vars.qdelay_old = qdelay;
        }
    }

    /// Returns the delay: the time to send the backlog at the average rate.
    fn estimate(&mut self, backlog: u64) {
        let bytes = (backlog << SCALE) as u32;
        self.vars.qdelay_old = self.vars.qdelay;
        self.vars.qdelay = bytes.checked_div(self.vars.cycle.avg_dq_rate).unwrap_or(0).into();
    }

    /// Returns the controller's change of the probability, before limits.
    fn change(&self) -> i64 {
        let Vars { qdelay, qdelay_old, prob, .. } = self.vars;
        let shift = shift(prob);
        let above = (self.alpha >> shift).wrapping_mul(qdelay.wrapping_sub(self.target));
        let grown = (self.beta >> shift).wrapping_mul(qdelay.wrapping_sub(qdelay_old));
        above.wrapping_add(grown) as i64
    }
}

/// Returns the number of bits by which gains are reduced while congestion is light.
fn shift(prob: u64) -> u32 {
    if prob >= MAX_PROB / 10 {
        return 0;
    }
    let powers = (2..=6).take_while(|&power| prob < MAX_PROB / 10_u64.pow(power));
    1 + 2 * powers.count() as u32
}

/// A change by at most 2 % from a probability of 10 % on, and 2 % more while the delay is high.
fn limited(change: i64, prob: u64, qdelay: u64) -> i64 {
    let most = (MAX_PROB / 50) as i64;
    let step = if change > most && prob >= MAX_PROB / 10 { (MAX_PROB / 100 * 2) as i64 } else { change };
    if qdelay > HIGH.whole(TICK) { step.wrapping_add(most) } else { step }
}

/// The probability after a change, at least 0 and in 64 bits, and less by a 64th of an idle queue.
fn moved(prob: u64, change: i64, idle: bool) -> u64 {
    let sum = prob.checked_add_signed(change);
    let prob = sum.unwrap_or(if change > 0 { MAX_PROB } else { 0 });
    if idle {
        coverage_mark!("pie.linux_idle_decay");
        prob - prob / 64
    } else {
        prob
    }
}

/// A gain in sixteenths of a Hz.
pub fn sixteenths(hz: f64) -> f64 {
    libm::round(hz / SIXTEENTH)
}

/// In whole jiffies, rounded up; and a timer fires in the jiffy after the one that it is set to, so that it never does so early
/// (kernel/time/timer.c, `calc_index`).
fn period(tupdate: Dur) -> Dur {
    JIFFY * (tupdate.ps().div_ceil(JIFFY.ps()) + 1)
}

fn ticks(time: Time) -> u64 {
    time.ps() / TICK.ps()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Pass, Signal, SignalByDrop};
    use ecnlab_base::Bytes;
    use ecnlab_base::coverage::must_reach;
    use ecnlab_wire::Ecn;

    fn law(change: impl FnOnce(&mut Params)) -> Linux {
        let mut params = Params::default();
        change(&mut params);
        assert_eq!(params.check(), Ok(()));
        Linux::new(&params)
    }
    fn holding(bytes: u64) -> View {
        View { packets: bytes.div_ceil(1000), bytes, in_all: bytes, idle: None, polled: false }
    }
    fn packet(size: u32, can_mark: bool, sojourn: Dur) -> PacketView {
        PacketView { size, ecn: Ecn::Ect0, flow: 0, can_mark, sojourn }
    }
    fn at(us: u64) -> Time {
        Time::ZERO + Dur::from_us(us)
    }
    /// 15,625 ticks a ms.
    const MS: u64 = 15_625;

    /// The probability after `prob`, where the delay was `old` and is `now`, in ms, with 9000 B held.
    fn after(prob: u64, old: u64, now: u64) -> u64 {
        let mut law = law(|_| {});
        (law.vars.prob, law.vars.qdelay_old, law.vars.qdelay) = (prob, old * MS, now * MS);
        law.update(9000);
        assert_eq!((law.vars.qdelay_old, law.delay()), (now * MS, Dur::from_ms(now)));
        law.vars.prob
    }
    /// A law past its burst, whose delay is long.
    fn congested(prob: u64) -> Linux {
        let mut law = law(|_| {});
        (law.vars.prob, law.vars.qdelay, law.vars.cycle.burst_time) = (prob, 20 * MS, 0);
        law
    }
    fn judge(law: &mut Linux, size: u32, bytes: u64, can_mark: bool) -> Verdict {
        law.on_enqueue(&packet(size, can_mark, Dur::ZERO), &holding(bytes), &mut Rng::named(1, "pie"))
    }

    #[test]
    fn gains_are_whole_numbers_for_each_tick() {
        // (2^56 - 1)/15,625,000 = 4,611,686,018.4; times 2 and 20, over 16.
        let law = law(|_| {});
        assert_eq!((law.alpha, law.beta, law.target), (576_460_752, 5_764_607_522, 234_375));
    }

    #[test]
    fn gains_lose_two_bits_for_each_power_of_ten_and_one_below_a_tenth() {
        let below = |power: u32| MAX_PROB / 10_u64.pow(power) - 1;
        let shifts = [0, below(6), below(5), below(4), below(3), below(2), below(1), MAX_PROB].map(shift);
        assert_eq!(shifts, [11, 11, 9, 7, 5, 3, 1, 0]);
        let at = |power: u32| shift(MAX_PROB / 10_u64.pow(power));
        assert_eq!([at(6), at(5), at(4), at(3), at(2), at(1)], [9, 7, 5, 3, 1, 0]);
    }

    #[test]
    fn an_update_is_the_kernel_s_to_the_last_unit() {
        // From 0 to 30 ms at p = 0: gains 576,460,752 >> 11 = 281,474 and 5,764,607,522 >> 11 = 2,814,749 for each tick:
        // 281,474·234,375 + 2,814,749·468,750.
        assert_eq!(after(0, 0, 30), 1_385_384_062_500);
        // From 20 to 25 ms at p = 1/2: 576,460,752·156,250 + 5,764,607,522·78,125 = 540,431,955,156,250.
        let half = MAX_PROB / 2;
        assert_eq!(after(half, 20, 25), half + 90_071_992_500_000 + 450_359_962_656_250);
        // Down: from 25 to 20 ms 576,460,752·78,125 - 5,764,607,522·78,125.
        assert_eq!(after(half, 25, 20), half + 45_035_996_250_000 - 450_359_962_656_250);
        // Below 0: nothing is left.
        assert_eq!(after(1_000_000, 30, 0), 0);
    }

    #[test]
    fn from_a_tenth_on_a_step_is_no_more_than_two_hundredths() {
        let (tenth, step) = (MAX_PROB / 10, MAX_PROB / 100 * 2);
        // From 0 to 30 ms 0.039375.
        assert_eq!((after(tenth, 0, 30), after(MAX_PROB / 2, 0, 30)), (tenth + step, MAX_PROB / 2 + step));
        assert!(after(tenth - 1, 0, 60) > tenth + step);
        assert_eq!(limited(MAX_PROB as i64 / 50, tenth, 0), MAX_PROB as i64 / 50);
        assert_eq!(limited(MAX_PROB as i64 / 50 + 1, tenth, 0), step as i64);
    }

    #[test]
    fn above_250_ms_two_hundredths_more_are_added() {
        let more = (MAX_PROB / 50) as i64;
        assert_eq!((limited(7, 0, 250 * MS), limited(7, 0, 250 * MS + 1)), (7, 7 + more));
        // From 300 to 300 ms, at p = 0: 281,474·(285·15,625) besides.
        assert_eq!(after(0, 300, 300), 281_474 * 285 * MS + MAX_PROB / 50);
    }

    #[test]
    fn an_idle_queue_loses_a_64th() {
        let _reached = must_reach(["pie.linux_idle_decay"]);
        let idle = |delay: u64, old: u64, bytes: u64| {
            let mut law = law(|_| {});
            (law.vars.prob, law.vars.qdelay, law.vars.qdelay_old) = (MAX_PROB / 2, delay, old);
            law.update(bytes);
            law.vars.prob
        };
        // 576,460,752·(-234,375) before.
        let rest = MAX_PROB / 2 - 576_460_752 * 234_375;
        assert_eq!((idle(0, 0, 0), idle(0, 0, 1)), (rest - rest / 64, rest));
        // A tick of delay now adds both gains; one before takes beta away.
        assert_eq!((idle(1, 0, 0), idle(0, 1, 0)), (rest + 576_460_752 + 5_764_607_522, rest - 5_764_607_522));
    }

    #[test]
    fn a_probability_may_pass_1_and_ends_with_64_bits() {
        // 7 % above 1, a step is 2 % still.
        let high = MAX_PROB + MAX_PROB / 100 * 7;
        assert_eq!(after(high, 0, 30), high + MAX_PROB / 100 * 2);
        assert!((congested(high).p() - 1.07).abs() < 1e-12);
        assert_eq!((moved(u64::MAX - 1, 1, false), moved(u64::MAX - 1, 2, false)), (u64::MAX, MAX_PROB));
        assert_eq!((moved(1, -1, false), moved(1, -2, false)), (0, 0));
    }

    #[test]
    fn the_allowance_falls_by_the_time_between_departures() {
        let _reached = must_reach(["pie.linux_burst_passes"]);
        let mut law = congested(MAX_PROB);
        law.vars.cycle = Cycle::new();
        let leaves = |law: &mut Linux, us: u64| {
            law.on_dequeue(&packet(1500, true, Dur::from_ms(20)), &holding(9000), at(us));
            judge(law, 1500, 9000, false)
        };
        // The first at 30 ms, and 150 ms from then on: 64 µs before that 1000 ticks are left.
        assert_eq!([leaves(&mut law, 30_000), leaves(&mut law, 100_000), leaves(&mut law, 179_936)], [Pass; 3]);
        assert_eq!(law.vars.cycle.burst_time, 1000);
        assert_eq!(leaves(&mut law, 180_000), SignalByDrop);
    }

    #[test]
    fn the_delay_is_counted_in_ticks_and_is_0_of_an_empty_queue() {
        let mut law = law(|_| {});
        // It came at 50 ns, tick 0, and leaves at 64 µs, tick 1000.
        law.on_dequeue(&packet(1500, true, Dur::from_ns(63_950)), &holding(1), at(64));
        assert_eq!(law.vars.qdelay, 1000);
        law.on_dequeue(&packet(1500, true, Dur::from_ms(1)), &holding(0), at(2000));
        assert_eq!(law.vars.qdelay, 0);
    }

    #[test]
    fn a_calm_queue_begins_anew() {
        let _reached = must_reach(["pie.linux_burst_refilled"]);
        let begins = |prob: u64, qdelay: u64, old: u64| {
            let mut law = congested(prob);
            (law.vars.qdelay, law.vars.qdelay_old, law.vars.cycle.accu_prob) = (qdelay, old, 5);
            law.update(9000);
            (law.vars.cycle.burst_time, law.vars.cycle.accu_prob)
        };
        // Below 117,187 ticks, half of the target.
        assert_eq!(begins(0, 117_186, 117_186), (150 * MS, 0));
        assert_eq!([begins(0, 117_187, 117_186), begins(0, 0, 117_187), begins(MAX_PROB / 9, 0, 0)], [(0, 5); 3]);
    }

    #[test]
    fn a_short_delay_or_a_short_queue_is_not_signalled() {
        let _reached = must_reach(["pie.linux_short_queue_passes"]);
        // The sum is at 8.5: all that is judged is signalled.
        let verdict = |prob: u64, qdelay: u64, bytes: u64| {
            let mut law = congested(prob);
            (law.vars.qdelay, law.vars.cycle.accu_prob) = (qdelay, MAX_PROB / 2 * 17);
            judge(&mut law, 1500, bytes, false)
        };
        let fifth = MAX_PROB / 5;
        assert_eq!([verdict(fifth - 1, 117_186, 9000), verdict(1, 0, 9000)], [Pass; 2]);
        assert_eq!([verdict(fifth, 117_186, 9000), verdict(1, 117_187, 9000)], [SignalByDrop; 2]);
        assert_eq!([verdict(fifth, 9 * MS, 3027), verdict(fifth, 9 * MS, 3028)], [Pass, SignalByDrop]);
    }

    #[test]
    fn the_bounds_of_the_sum_are_0_85_and_8_5() {
        let _reached = must_reach(["pie.linux_sum_below_0_85", "pie.linux_sum_of_8_5", "pie.linux_by_chance"]);
        // How many of 1000 laws with this sum signal an arrival to which p = 1/2 belongs.
        let half = MAX_PROB / 2;
        let signalled = |accu: u64| {
            let judged = |seed| {
                let mut law = congested(half);
                law.vars.cycle.accu_prob = accu;
                let view = holding(9000);
                law.on_enqueue(&packet(1500, false, Dur::ZERO), &view, &mut Rng::named(seed, "pie")) != Pass
            };
            (0..1000).filter(|&seed| judged(seed)).count()
        };
        let (low, high) = (MAX_PROB / 100 * 85, MAX_PROB / 2 * 17);
        assert_eq!([signalled(low - half - 1), signalled(high - half)], [0, 1000]);
        let drawn = [signalled(low - half), signalled(high - half - 1)];
        assert!(drawn.iter().all(|n| (430..570).contains(n)), "{drawn:?}");
    }

    #[test]
    fn a_sum_of_8_5_marks_until_a_drop() {
        let (low, high) = (MAX_PROB / 20, MAX_PROB / 2 * 17);
        let mut law = congested(low);
        law.vars.cycle.accu_prob = high;
        assert_eq!((judge(&mut law, 1500, 9000, true), law.vars.cycle.accu_prob), (Signal, high + low));
        assert_eq!((judge(&mut law, 1500, 9000, true), law.vars.cycle.accu_prob), (Signal, high + 2 * low));
        assert_eq!((judge(&mut law, 1500, 9000, false), law.vars.cycle.accu_prob), (SignalByDrop, 0));
        // A mark by chance clears it: p is 1, and all of it is marked.
        let mut by_chance = self::law(|p| p.mark_ecnth = 1.0);
        (by_chance.vars.prob, by_chance.vars.qdelay, by_chance.vars.cycle.burst_time) = (MAX_PROB, 20 * MS, 0);
        assert_eq!((judge(&mut by_chance, 1500, 9000, true), by_chance.vars.cycle.accu_prob), (Signal, 0));
    }

    #[test]
    fn up_to_a_tenth_signals_may_be_marks() {
        let _reached = must_reach(["pie.linux_mark", "pie.linux_drop"]);
        let verdict = |prob: u64| {
            let mut law = congested(prob);
            law.vars.cycle.accu_prob = MAX_PROB / 2 * 17;
            judge(&mut law, 1500, 9000, true)
        };
        let most = congested(0).mark_most;
        assert!(most.abs_diff(MAX_PROB / 10) <= 1);
        assert_eq!([verdict(most), verdict(most + 1)], [Signal, SignalByDrop]);
    }

    #[test]
    fn bytemode_counts_short_packets_in_proportion() {
        let sum = |bytemode: bool, size: u32| {
            let mut law = self::law(|p| (p.bytemode, p.mtu) = (Some(bytemode), Some(Bytes(1500))));
            (law.vars.prob, law.vars.qdelay, law.vars.cycle.burst_time) = (1_499_999, 20 * MS, 0);
            judge(&mut law, size, 9000, false);
            law.vars.cycle.accu_prob
        };
        // 1,499,999/1500 = 999, cut down.
        assert_eq!([sum(true, 300), sum(true, 1500), sum(true, 1501)], [299_700, 1_498_500, 1_499_999]);
        assert_eq!(sum(false, 300), 1_499_999);
    }

    #[test]
    fn a_probability_of_0_and_a_full_queue_clear_the_sum() {
        let mut law = congested(0);
        law.vars.cycle.accu_prob = 5;
        judge(&mut law, 1500, 9000, false);
        assert_eq!(law.vars.cycle.accu_prob, 0);
        law.vars.cycle.accu_prob = 5;
        law.on_full();
        assert_eq!(law.vars.cycle.accu_prob, 0);
    }

    #[test]
    fn departures_are_measured_over_16384_bytes() {
        let mut law = law(|p| p.dq_rate_estimator = true);
        let leaves = |law: &mut Linux, us: u64, backlog: u64| {
            law.on_dequeue(&packet(1500, true, Dur::from_ms(90)), &holding(backlog), at(us));
        };
        leaves(&mut law, 0, 16_383);
        assert_eq!((law.vars.cycle.dq_count, law.vars.qdelay), (None, 0));
        // At 12 ms it begins, and this packet counts: 11 are 16,500 B, the last at 132 ms. 16,500·256/(120·15,625 ticks) = 2.
        (1..=10).for_each(|i| leaves(&mut law, 12_000 * i, 16_384));
        assert_eq!((law.vars.cycle.dq_count, law.vars.cycle.avg_dq_rate), (Some(15_000), 0));
        leaves(&mut law, 132_000, 16_384);
        assert_eq!((law.vars.cycle.dq_count, law.vars.cycle.avg_dq_rate), (Some(0), 2));
        // The allowance falls by the 120 ms of the measurement.
        assert_eq!(law.vars.cycle.burst_time, 30 * MS);
        // 30,000·256/2 ticks.
        law.update(30_000);
        assert_eq!((law.vars.qdelay, law.vars.qdelay_old, law.delay()), (3_840_000, 0, Dur::from_us(245_760)));
        law.update(0);
        assert_eq!((law.vars.qdelay, law.vars.qdelay_old), (0, 3_840_000));
        // 11 more at 1 ms: 16,500·256/(1·15,625) = 270, and 2 - 0 + 270/8 = 35. With less behind it, no measurement begins.
        (1..=11).for_each(|_| leaves(&mut law, 133_000, 16_383));
        assert_eq!((law.vars.cycle.dq_count, law.vars.cycle.avg_dq_rate), (None, 35));
    }

    #[test]
    fn an_average_of_rates_has_a_weight_of_an_eighth() {
        let mut law = law(|p| p.dq_rate_estimator = true);
        let mut measured = |average: u32| {
            law.vars.cycle = Cycle { avg_dq_rate: average, dq_tstamp: Some(0), dq_count: Some(15_000), ..Cycle::new() };
            law.on_dequeue(&packet(1500, true, Dur::ZERO), &holding(0), at(1000));
            law.vars.cycle.avg_dq_rate
        };
        // 270 is measured: 800 - 100 + 33.
        assert_eq!(measured(800), 733);
        // Nothing is measured in no time.
        law.vars.cycle = Cycle { dq_tstamp: Some(MS), dq_count: Some(16_384), ..Cycle::new() };
        law.on_dequeue(&packet(1500, true, Dur::ZERO), &holding(0), at(1000));
        assert_eq!((law.vars.cycle.avg_dq_rate, law.vars.cycle.dq_count), (0, Some(17_884)));
    }

    #[test]
    fn a_calm_queue_begins_anew_only_once_a_rate_is_known() {
        let mut law = law(|p| p.dq_rate_estimator = true);
        law.vars.cycle.burst_time = 0;
        law.update(0);
        assert_eq!(law.vars.cycle.burst_time, 0);
        law.vars.cycle.avg_dq_rate = 5;
        law.update(0);
        assert_eq!((law.vars.cycle.burst_time, law.vars.cycle.avg_dq_rate), (150 * MS, 0));
    }

    #[test]
    fn updates_come_a_jiffy_after_they_are_due() {
        let ms = |us: u64| period(Dur::from_us(us));
        assert_eq!([ms(15_000), ms(14_001), ms(10)].map(|dur| dur.ps() / 1_000_000_000), [16, 16, 2]);
    }
}

//! CoDel: "Controlled Delay Active Queue Management", RFC 8289. It decides on departure, by the packet's own sojourn time.
//!
//! Differences in Linux (include/net/codel_impl.h) are documented in `docs/laws/codel.md`.

use ecnlab_base::facts::Column;
use ecnlab_base::{Bytes, Dur, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::{ActsAbove, Facts};
use crate::record::columns::{Columns, Integral};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "codel",
    label: "CoDel",
    summary: "Controlled Delay (RFC 8289): signals by the packets' sojourn time",
    reference: "RFC 8289; Linux, include/net/codel_impl.h",
    columns: Columns {
        values: &[Column::new("codel_count", "count", "CoDel's count while it is dropping, else 0").with_fractions()],
        means: &[Column::new("share_dropping", "ratio", "share of time CoDel was dropping")],
    },
    shown: &["target", "interval"],
    acts_above: &[ActsAbove::late("target")],
    ..Facts::PLAIN
};

/// CoDel's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Target sojourn time. Default 5 ms (RFC 8289 §5.3).
    #[serde(default = "default_target")]
    pub target: Dur,
    /// Time for which sojourn times must stay at or above the target before the first signal: the RTT of most flows.
    /// Default 100 ms (RFC 8289 §5.3).
    #[serde(default = "default_interval")]
    pub interval: Dur,
    /// A backlog of at most this is never signalled. Default 1514 B (an Ethernet frame: Linux's `psched_mtu`).
    #[serde(default = "default_mtu")]
    pub mtu: Bytes,
    /// Computation of 1/√count. Default `exact` (RFC 8289 §5.6).
    #[serde(default)]
    pub sqrt: Sqrt,
    /// Time unit. Default `exact`.
    #[serde(default, skip_serializing_if = "Clock::is_exact")]
    pub clock: Clock,
    /// Sojourn above which ECN-capable packets are marked, independent of the law's state. Default: no such marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Dur>,
}

/// Time units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CodelClock")]
pub enum Clock {
    /// The clock of the queue.
    #[default]
    Exact,
    /// Units of 1.024 µs, rounded down, and the first signal later than an interval rather than at it (Linux's
    /// `codel_time_t` and `codel_should_drop`).
    Linux,
}

impl Clock {
    pub(crate) fn is_exact(&self) -> bool {
        *self == Clock::Exact
    }

    /// `ps` picoseconds in whole units of this clock.
    fn floor(self, ps: u64) -> u64 {
        match self {
            Clock::Exact => ps,
            Clock::Linux => ps - ps % LINUX_UNIT,
        }
    }

    fn time(self, time: Time) -> Time {
        Time::from_ps(self.floor(time.ps()))
    }

    fn dur(self, dur: Dur) -> Dur {
        Dur::from_ps(self.floor(dur.ps()))
    }

    /// Returns the time between the packet's arrival and `now`, both in this clock's resolution.
    fn sojourn(self, sojourn: Dur, now: Time) -> Dur {
        match self {
            Clock::Exact => sojourn,
            Clock::Linux => self.time(now).since(self.time(Time::from_ps(now.ps().saturating_sub(sojourn.ps())))),
        }
    }
}

/// Picoseconds of a unit of Linux's `codel_time_t`, 2^10 ns.
const LINUX_UNIT: u64 = 1_024_000;

/// Methods to compute 1/√count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sqrt {
    /// In floating point.
    #[default]
    Exact,
    /// One step of Newton's method from the last value, in 16 bits (Linux's `codel_Newton_step`).
    Linux,
}

fn default_target() -> Dur {
    Dur::from_ms(5)
}
fn default_interval() -> Dur {
    Dur::from_ms(100)
}
fn default_mtu() -> Bytes {
    Bytes(1514)
}

impl Default for Params {
    fn default() -> Params {
        Params {
            target: default_target(),
            interval: default_interval(),
            mtu: default_mtu(),
            sqrt: Sqrt::default(),
            clock: Clock::default(),
            ce_threshold: None,
        }
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        let Params { target, interval, clock, .. } = *self;
        Impossible::unless(!clock.dur(interval).is_zero(), "interval", || {
            format!("{interval} would drop everything: write a round trip")
        })?;
        Impossible::unless(target <= interval, "target", || {
            format!("{target} is above the interval, {interval}: write less, RFC 8289 has a twentieth of it")
        })
    }
}

/// CoDel on one queue.
#[derive(Clone, Debug)]
pub struct Codel {
    params: Params,
    /// Time at which sojourn times will have been above the target for an interval.
    first_above: Option<Time>,
    dropping: bool,
    /// The next signal while `dropping`.
    drop_next: Time,
    /// Number of signals since `dropping` started, and its initial value.
    count: u32,
    /// `count` at the start of the last `dropping`.
    last_count: u32,
    /// 1/√count in units of 2^-16, if computed as in Linux.
    root: u16,
    /// Treatment of the packet after a dropped one.
    behind: Behind,
    /// Time spent dropping, in picoseconds, since the last cut.
    time_dropping: u64,
}

/// RFC 8289 §5.5 processes the next packet directly after a drop; here it gets its own decision at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    /// No packet was just dropped.
    Nothing,
    /// The first drop: the packet passes.
    Entry,
    /// A later drop: the packet advances `drop_next`, or ends the dropping.
    Drop,
}

impl Codel {
    /// Whether sojourns have been above the target for an interval (RFC 8289 §5.6, `dodequeue`).
    fn is_above(&mut self, sojourn: Dur, backlog: u64, now: Time) -> bool {
        if sojourn < self.params.target || backlog <= self.params.mtu.0 {
            coverage_mark!("codel.below_target");
            self.first_above = None;
            return false;
        }
        let Some(since) = self.first_above else {
            self.first_above = Some(now.saturating_add(self.params.interval));
            return false;
        };
        match self.params.clock {
            Clock::Exact => now >= since,
            Clock::Linux => now > since,
        }
    }

    /// RFC 8289 §5.5, `dequeue`, packet by packet.
    fn judge(&mut self, above: bool, can_mark: bool, now: Time) -> Verdict {
        match std::mem::replace(&mut self.behind, Behind::Nothing) {
            Behind::Entry => {
                coverage_mark!("codel.passes_behind_first_drop");
                return Verdict::Pass;
            }
            Behind::Drop if above => {
                coverage_mark!("codel.late_behind_drop");
                self.drop_next = self.after(self.drop_next);
            }
            Behind::Drop | Behind::Nothing => {}
        }
        if !self.dropping {
            return if above { self.enter(can_mark, now) } else { Verdict::Pass };
        }
        self.dropping = above;
        if !above || now < self.drop_next {
            return Verdict::Pass;
        }
        self.set_count(self.count.wrapping_add(1));
        if can_mark {
            coverage_mark!("codel.next_mark");
            // A marked packet leaves: there is at most one mark per departure.
            self.drop_next = self.after(self.drop_next);
        } else {
            coverage_mark!("codel.next_drop");
            self.behind = Behind::Drop;
        }
        Verdict::Signal
    }

    /// Starts a series of signals. If the last series ended recently, it continues at about the same rate (RFC 8289
    /// §5.5).
    fn enter(&mut self, can_mark: bool, now: Time) -> Verdict {
        let signals = self.count.wrapping_sub(self.last_count);
        // Before the first series `drop_next` is not set.
        let recent = self.last_count > 0 && now.since(self.drop_next) < self.params.interval * 16;
        self.dropping = true;
        if recent && signals > 1 {
            coverage_mark!("codel.first_signal_resumes_rate");
            self.set_count(signals);
        } else {
            coverage_mark!("codel.first_signal");
            (self.count, self.root) = (1, u16::MAX);
        }
        self.last_count = self.count;
        self.drop_next = self.after(now);
        self.behind = if can_mark { Behind::Nothing } else { Behind::Entry };
        Verdict::Signal
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.root = newton_step(self.root, count);
    }

    /// `control_law`: interval/√count later.
    fn after(&self, time: Time) -> Time {
        let interval = self.params.interval.ps();
        let gap = match self.params.sqrt {
            Sqrt::Exact => (interval as f64 / libm::sqrt(f64::from(self.count))) as u64,
            Sqrt::Linux => ((u128::from(interval) * u128::from(self.root)) >> 16) as u64,
        };
        time.saturating_add(self.params.clock.dur(Dur::from_ps(gap)))
    }
}

/// x·(3 - count·x²)/2 in the fixed point of Linux's `codel_Newton_step`, in which 2^16 is 1.
fn newton_step(root: u16, count: u32) -> u16 {
    let root = u64::from(root) << 16;
    let square = (root * root) >> 32;
    let rest = (3_u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square)) >> 2;
    (rest.wrapping_mul(root) >> 31 >> 16) as u16
}

impl LawParams for Params {
    type Law = Codel;

    fn law(&self, _link: LinkContext) -> Codel {
        let clock = self.clock;
        Codel {
            params: Params {
                target: clock.dur(self.target),
                interval: clock.dur(self.interval),
                ce_threshold: self.ce_threshold.map(|threshold| clock.dur(threshold)),
                ..*self
            },
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            root: 0,
            behind: Behind::Nothing,
            time_dropping: 0,
        }
    }
}

impl Aqm for Codel {
    /// An idle transmitter has already polled and found the queue empty.
    fn on_enqueue(&mut self, _packet: &PacketView, view: &View, _now: Time, _rng: &mut Rng) -> Verdict {
        if view.polled {
            self.on_empty();
        }
        Verdict::Pass
    }

    fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, _rng: &mut Rng) -> Verdict {
        let sojourn = self.params.clock.sojourn(packet.sojourn, now);
        let now = self.params.clock.time(now);
        let above = self.is_above(sojourn, view.in_all, now);
        let verdict = self.judge(above, packet.can_mark, now);
        let late = self.params.ce_threshold.is_some_and(|threshold| sojourn > threshold);
        if verdict == Verdict::Pass && late {
            coverage_mark!("codel.ce_threshold");
            Verdict::MarkIfCapable
        } else {
            verdict
        }
    }

    fn on_empty(&mut self) {
        coverage_mark!("codel.empty");
        self.first_above = None;
        self.dropping &= self.behind == Behind::Entry;
        self.behind = Behind::Nothing;
    }

    /// Linux's `fq_codel_drop`.
    fn on_shed(&mut self, packets: u32) {
        coverage_mark!("codel.shed");
        self.count = self.count.wrapping_add(packets);
    }

    fn values(&self) -> Vec<f64> {
        vec![if self.dropping { f64::from(self.count) } else { 0.0 }]
    }

    fn elapsed(&mut self, time: Dur) {
        self.time_dropping += if self.dropping { time.ps() } else { 0 };
    }

    fn cut(&mut self) -> Vec<Integral> {
        vec![Integral::Time(std::mem::take(&mut self.time_dropping))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{MarkIfCapable, Pass, Signal};
    use ecnlab_base::Rate;
    use ecnlab_base::coverage::must_reach;
    use ecnlab_wire::Ecn;
    use std::cmp::Ordering::{Equal, Less};

    /// A CoDel whose packets are dequeued one by one.
    struct Bench {
        codel: Codel,
        can_mark: bool,
    }

    impl Bench {
        fn new(change: impl FnOnce(&mut Params)) -> Bench {
            let mut params = Params::default();
            change(&mut params);
            assert_eq!(params.check(), Ok(()));
            let link = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::from_ms(10) };
            Bench { codel: params.law(link), can_mark: false }
        }
        /// The verdict on a packet that leaves at `at` µs after `sojourn` ms, 3000 bytes behind it.
        fn leaves(&mut self, at: u64, sojourn: u64) -> Verdict {
            self.before(at, sojourn, 3000)
        }
        fn before(&mut self, at: u64, sojourn: u64, bytes: u64) -> Verdict {
            let sojourn = Dur::from_ms(sojourn);
            let packet = PacketView { size: 1500, ecn: Ecn::Ect0, flow: 0, can_mark: self.can_mark, sojourn };
            let view = View { packets: 2, bytes, in_all: bytes, idle: None, polled: false };
            self.codel.on_dequeue(&packet, &view, Time::ZERO + Dur::from_us(at), &mut Rng::named(1, "codel"))
        }
        /// Packets that leave every 100 µs from 0 on, all of them late: when the first `n` signals come, in 0.1 ms.
        fn signals(&mut self, n: usize) -> Vec<u64> {
            (0..100_000).filter(|&at| self.leaves(100 * at, 50) == Signal).take(n).collect()
        }
    }

    #[test]
    fn signals_come_at_interval_over_the_root_of_their_number() {
        let _reached = must_reach(["codel.first_signal", "codel.next_mark"]);
        // Marks, of which none takes the next packet's turn. The first after an interval above the target: 100 ms. Then
        // + 100/√1 = 200, + 100/√2 = 270.71, + 100/√3 = 328.45, + 100/√4 = 378.45, + 100/√5 = 423.17; each
        // at the next multiple of 0.1 ms.
        let mut bench = Bench::new(|_| {});
        bench.can_mark = true;
        assert_eq!(bench.signals(6), [1000, 2000, 2708, 3285, 3785, 4232]);
    }

    #[test]
    fn linux_finds_roots_by_one_step_of_newtons_method() {
        // In units of 2^-16, from 65535 at 1: x·(3-n·x²)/2. n = 2: 1·(3-2)/2 = 0.5; 3: 0.5·(3-0.75)/2 = 0.5625; 4:
        // 0.5625·(3-1.2656)/2 = 0.48779; 5: 0.48779·(3-1.18970)/2 = 0.44153. Sums: 200.0, 250.0, 306.2, 355.0, 399.2.
        let mut bench = Bench::new(|p| p.sqrt = Sqrt::Linux);
        bench.can_mark = true;
        assert_eq!(bench.signals(6), [1000, 2000, 2500, 3063, 3551, 3992]);
        let mut root = u16::MAX;
        let roots: Vec<f64> = (2..=6)
            .map(|count| {
                root = newton_step(root, count);
                f64::from(root) / 65.536
            })
            .collect();
        // Gaps of an interval of 100 ms, in 0.1 ms.
        let expected = [500.0, 562.5, 487.8, 441.5, 404.1];
        assert!(roots.iter().zip(expected).all(|(gap, expected)| (gap - expected).abs() < 0.1), "{roots:?}");
    }

    #[test]
    fn linux_counts_in_units_of_1024_nanoseconds() {
        // 1 s is 976562.5 units, so 976562; the interval, 100 ms, 97656.25, so 97656. The sum is 1074218 units, and signals
        // are due later: at 1074219, 1.1000003 s. The next 97656·65535/65536 = 97654.5, so 97654 units later, at 1171873:
        // 1.199998 s.
        let mut bench = Bench::new(|p| (p.clock, p.sqrt) = (Clock::Linux, Sqrt::Linux));
        bench.can_mark = true;
        assert_eq!([1_000_000, 1_100_000, 1_100_001].map(|us| bench.leaves(us, 9)), [Pass, Pass, Signal]);
        assert_eq!([1_199_997, 1_199_998].map(|us| bench.leaves(us, 9)), [Pass, Signal]);
        // Came at 2.000 ms, 1953 units, and leaves at 7.000 ms, 6835 units: 4882 units, and 5 ms are 4882 units, too.
        // Came at 2.001 ms, 1954 units: 4881 units.
        let sojourn = |came, left| Clock::Linux.sojourn(Dur::from_us(left - came), Time::ZERO + Dur::from_us(left));
        let target = Clock::Linux.dur(Dur::from_ms(5));
        assert_eq!((sojourn(2_000, 7_000).cmp(&target), sojourn(2_001, 7_000).cmp(&target)), (Equal, Less));
    }

    /// Drops at 210 and 420 ms of a queue that was last looked at after 10 ms: ns-3's CoDelQueueDiscBasicDrop.
    fn drops(sqrt: Sqrt) -> Vec<usize> {
        let mut bench = Bench::new(|p| p.sqrt = sqrt);
        let dequeue = |bench: &mut Bench, ms: u64| {
            let dropped = (0..20).take_while(|_| bench.leaves(1000 * ms, ms) == Signal);
            dropped.count()
        };
        [10, 210, 210, 420].map(|ms| dequeue(&mut bench, ms)).to_vec()
    }

    #[test]
    fn one_call_drops_as_many_as_are_due() {
        let _reached = must_reach(["codel.next_drop", "codel.late_behind_drop", "codel.passes_behind_first_drop"]);
        // Above since 10: at 210 it is an interval: one drop, the next due at 310. At 420: 310 is past, then 310 + 70.7
        // = 380.7 is, then 438.4 is not: two.
        assert_eq!(drops(Sqrt::Exact), [0, 1, 0, 2]);
        // Linux: 310, 310 + 50 = 360, 360 + 56.2 = 416.2, and 465 is not past: three.
        assert_eq!(drops(Sqrt::Linux), [0, 1, 0, 3]);
    }

    #[test]
    fn short_sojourns_and_a_short_backlog_end_it() {
        let _reached = must_reach(["codel.below_target"]);
        let mut bench = Bench::new(|_| {});
        bench.can_mark = true;
        assert_eq!((bench.leaves(0, 5), bench.leaves(100_000, 5)), (Pass, Signal));
        // 4 ms is below the target: the 100 ms begin anew.
        assert_eq!((bench.leaves(150_000, 4), bench.leaves(210_000, 9), bench.leaves(309_999, 9)), (Pass, Pass, Pass));
        assert_eq!(bench.leaves(310_000, 9), Signal);
        // 1514 B behind it are no queue.
        assert_eq!((bench.before(500_000, 9, 1514), bench.before(590_000, 9, 1515)), (Pass, Pass));
        assert_eq!((bench.before(689_000, 9, 1515), bench.before(690_000, 9, 1515)), (Pass, Signal));
    }

    #[test]
    fn soon_after_signals_go_on_at_their_rate() {
        let _reached = must_reach(["codel.first_signal_resumes_rate"]);
        let mut bench = Bench::new(|_| {});
        bench.can_mark = true;
        // Six marks in a first time (signals_come_at_...): count 6, begun with 1.
        assert_eq!(bench.signals(6).len(), 6);
        assert_eq!(bench.leaves(430_000, 1), Pass);
        // Above again: at 540 the difference, 6 - 1 = 5, is where the count begins: the next is 100/√5 = 44.7 later.
        assert_eq!((bench.leaves(440_000, 9), bench.leaves(540_000, 9)), (Pass, Signal));
        assert_eq!((bench.leaves(584_700, 9), bench.leaves(584_722, 9)), (Pass, Signal));
        // 16 intervals after the last time that was due, it is forgotten.
        let mut late = Bench::new(|_| {});
        late.can_mark = true;
        assert_eq!(late.signals(6).len(), 6);
        assert_eq!(late.leaves(430_000, 1), Pass);
        assert_eq!((late.leaves(2_000_000, 9), late.leaves(2_100_000, 9)), (Pass, Signal));
        assert_eq!((late.leaves(2_199_900, 9), late.leaves(2_200_000, 9)), (Pass, Signal));
    }

    #[test]
    fn sixteen_intervals_after_the_next_signal_was_due_the_rate_is_forgotten() {
        // A mark at 100 ms, two packets shed, a mark at 200 ms: count 1 + 2 + 1 = 4, and the next is due 100/√4 = 50 ms
        // later, at 250 ms. RFC 8289 §5.5: while now - drop_next is less than 16 intervals, until 1850 ms, the count
        // begins with 4 - 1 = 3, and the next is 100/√3 = 57.735 ms later; from then on with 1.
        for (at, next) in [(1_849_999, 57_736), (1_850_000, 100_000)] {
            let mut bench = Bench::new(|_| {});
            bench.can_mark = true;
            assert_eq!(bench.signals(1), [1000]);
            bench.codel.on_shed(2);
            assert_eq!((bench.leaves(200_000, 9), bench.leaves(210_000, 1)), (Signal, Pass));
            assert_eq!((bench.leaves(at - 100_000, 9), bench.leaves(at, 9)), (Pass, Signal));
            assert_eq!((bench.leaves(at + next - 1, 9), bench.leaves(at + next, 9)), (Pass, Signal), "{at}");
        }
    }

    #[test]
    fn a_drop_behind_which_the_queue_is_short_is_the_last() {
        // RFC 8289 §5.5 moves drop_next only if the packet behind a drop was late, too. Drops at 100 ms, at 200 ms, which
        // moves it to 200 + 100/√2 = 270.7 ms, and at 271 ms, behind which one was short.
        let mut bench = Bench::new(|_| {});
        assert_eq!((bench.leaves(0, 9), bench.leaves(100_000, 9), bench.leaves(100_000, 9)), (Pass, Signal, Pass));
        assert_eq!((bench.leaves(200_000, 9), bench.leaves(200_000, 9)), (Signal, Pass));
        assert_eq!((bench.leaves(271_000, 9), bench.leaves(271_000, 1)), (Signal, Pass));
        // At 1900 ms that is more than 16 intervals ago, and the next drop is due 100 ms later. Had it moved to 270.7 +
        // 100/√3 = 328.4 ms it would be less, and the next due 100/√2 ms later.
        assert_eq!((bench.leaves(1_800_000, 9), bench.leaves(1_900_000, 9)), (Pass, Signal));
        assert_eq!(bench.leaves(1_900_000, 9), Pass);
        assert_eq!((bench.leaves(1_999_000, 9), bench.leaves(2_000_000, 9)), (Pass, Signal));
    }

    #[test]
    fn one_signal_since_is_no_rate_to_go_on_at() {
        // Linux (codel_dequeue) takes the count on only if it grew by more than one, and else begins with 1 and the root
        // of 1. Here it grew from 1 to 2.
        let mut bench = Bench::new(|p| p.sqrt = Sqrt::Linux);
        bench.can_mark = true;
        assert_eq!(bench.signals(2), [1000, 2000]);
        assert_eq!(
            (bench.leaves(210_000, 1), bench.leaves(220_000, 9), bench.leaves(320_000, 9)),
            (Pass, Pass, Signal)
        );
        // An interval on, not 0.6875 of one: 0.5·(3 - 0.25)/2.
        assert_eq!((bench.leaves(419_000, 9), bench.leaves(420_000, 9)), (Pass, Signal));
    }

    #[test]
    fn packets_shed_for_others_count_as_signals() {
        let _reached = must_reach(["codel.shed"]);
        // Linux's fq_codel_drop adds them to the count.
        let mut bench = Bench::new(|_| {});
        bench.can_mark = true;
        assert_eq!(bench.signals(1), [1000]);
        bench.codel.on_shed(3);
        assert_eq!(bench.codel.values(), [4.0]);
    }

    #[test]
    fn what_was_shed_before_the_first_signal_is_no_series() {
        // Count 5, and nothing was ever signalled: the first series begins with 1, and its second signal is 100 ms later, not
        // 100/√5 = 44.7.
        let mut bench = Bench::new(|_| {});
        bench.can_mark = true;
        bench.codel.on_shed(5);
        assert_eq!(bench.signals(2), [1000, 2000]);
    }

    /// Late packets up to the first mark, and then an arrival, before which the link has found all queues empty or not.
    fn values_after_an_arrival(polled: bool) -> Vec<f64> {
        let mut bench = Bench::new(|_| {});
        bench.can_mark = true;
        assert_eq!(bench.signals(1), [1000]);
        let packet = PacketView { size: 1500, ecn: Ecn::Ect0, flow: 0, can_mark: true, sojourn: Dur::ZERO };
        let view = View { packets: 0, bytes: 0, in_all: 0, idle: Some(Dur::ZERO), polled };
        let verdict =
            bench.codel.on_enqueue(&packet, &view, Time::ZERO + Dur::from_ms(110), &mut Rng::named(1, "codel"));
        assert_eq!(verdict, Pass);
        bench.codel.values()
    }

    #[test]
    fn an_idle_transmitter_has_found_the_queue_empty() {
        assert_eq!(values_after_an_arrival(true), [0.0]);
        // While the last packet is sent, or another flow's, the law is not polled.
        assert_eq!(values_after_an_arrival(false), [1.0]);
    }

    #[test]
    fn an_empty_queue_ends_it() {
        let _reached = must_reach(["codel.empty"]);
        let mut bench = Bench::new(|_| {});
        assert_eq!((bench.leaves(0, 9), bench.leaves(100_000, 9), bench.leaves(100_000, 9)), (Pass, Signal, Pass));
        bench.codel.on_empty();
        assert_eq!(bench.codel.values(), [0.0]);
        // The interval begins anew.
        assert_eq!((bench.leaves(200_000, 9), bench.leaves(299_000, 9)), (Pass, Pass));
    }

    #[test]
    fn over_the_threshold_the_capable_are_marked_whatever_the_law_decides() {
        let _reached = must_reach(["codel.ce_threshold"]);
        let mut bench = Bench::new(|p| p.ce_threshold = Some(Dur::from_ms(1)));
        assert_eq!((bench.leaves(0, 1), bench.leaves(0, 2)), (Pass, MarkIfCapable));
    }

    #[test]
    fn impossible_values_are_refused_by_key() {
        let refused = |change: fn(&mut Params)| {
            let mut params = Params::default();
            change(&mut params);
            params.check().unwrap_err().key
        };
        assert_eq!(refused(|p| p.interval = Dur::ZERO), "interval");
        assert_eq!(refused(|p| p.target = Dur::from_ms(101)), "target");
    }
}

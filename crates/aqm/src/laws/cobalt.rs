//! COBALT: CoDel combined with BLUE, as in Linux's net/sched/sch_cake.c. The decision on departure uses the packet's
//! own sojourn time; a full queue also makes BLUE drop at random.
//!
//! Times are whole nanoseconds; 1/√count and probabilities have 32 fractional bits, as in Linux. `docs/laws/cobalt.md`.

use ecnlab_base::facts::Column;
use ecnlab_base::{Dur, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::{ActsAbove, Facts};
use crate::record::columns::{Average, Columns, Integral};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "cobalt",
    label: "COBALT",
    summary: "COBALT (Linux's CAKE): CoDel whose count fades, with BLUE",
    reference: "Linux, net/sched/sch_cake.c",
    columns: Columns {
        values: &[
            Column::new("cobalt_count", "count", "COBALT's count, also while it fades").with_fractions(),
            Column::new("cobalt_p", "ratio", "drop probability of COBALT's BLUE"),
        ],
        means: &[Column::new("mean_cobalt_p", "ratio", "time average of the drop probability of COBALT's BLUE")],
    },
    shown: &["target", "interval"],
    acts_above: &[ActsAbove::late("target")],
    ..Facts::PLAIN
};

/// COBALT's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Target sojourn time, and the time between two steps of BLUE. Default 5 ms (`cake_config_init`).
    #[serde(default = "default_target")]
    pub target: Dur,
    /// The time between the first two signals; at most 4.294967295 s. Default 100 ms (`cake_config_init`).
    #[serde(default = "default_interval")]
    pub interval: Dur,
    /// Transmission time of the longest packet: sojourn times of up to four of these are acceptable. Default 0 s, as CAKE
    /// without a rate.
    #[serde(default)]
    pub mtu_time: Dur,
    /// Increment of BLUE's drop probability when the queue is full. Default 1/256 (`cake_set_rate`).
    #[serde(default = "default_p_inc")]
    pub p_inc: f64,
    /// Decrement of BLUE's drop probability when the queue is found empty. Default 1/4096 (`cake_set_rate`).
    #[serde(default = "default_p_dec")]
    pub p_dec: f64,
}

fn default_target() -> Dur {
    Dur::from_ms(5)
}
fn default_interval() -> Dur {
    Dur::from_ms(100)
}
fn default_p_inc() -> f64 {
    1.0 / 256.0
}
fn default_p_dec() -> f64 {
    1.0 / 4096.0
}

impl Default for Params {
    fn default() -> Params {
        Params {
            target: default_target(),
            interval: default_interval(),
            mtu_time: Dur::ZERO,
            p_inc: default_p_inc(),
            p_dec: default_p_dec(),
        }
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        let Params { target, interval, p_inc, p_dec, .. } = *self;
        let most = Dur::from_ns(u32::MAX.into());
        Impossible::unless(interval >= Dur::from_ns(1), "interval", || {
            format!("{interval} would drop everything: write a round trip")
        })?;
        Impossible::unless(interval <= most, "interval", || {
            format!("{interval} is more than {most}, 32 bits of nanoseconds: write a round trip")
        })?;
        Impossible::unless(target <= interval, "target", || {
            format!("{target} is above the interval, {interval}: write less, such as a twentieth of it")
        })?;
        for (key, p) in [("p_inc", p_inc), ("p_dec", p_dec)] {
            Impossible::unless((0.0..=1.0).contains(&p), key, || format!("{p} is not a probability: write 0 to 1"))?;
        }
        Ok(())
    }
}

/// A time before all others, in nanoseconds: "never yet".
const LONG_AGO: i64 = i64::MIN / 2;

/// COBALT on one queue.
#[derive(Clone, Debug)]
pub struct Cobalt {
    /// In nanoseconds.
    target: u64,
    interval: u64,
    mtu_time: u64,
    /// In units of 2^-32.
    p_inc: u32,
    p_dec: u32,
    /// Number of flows that take turns with this one, for which the delay is adjusted; `None` if the queue is the only
    /// one.
    among: Option<u32>,
    /// The time, from [`Aqm::elapsed`].
    clock: Time,
    /// Signals since the queue was above the target, less those that faded since it has not been.
    count: u32,
    /// 1/√count in units of 2^-32.
    root: u32,
    /// The next signal while `dropping`; else when `count` fades by one.
    drop_next: i64,
    dropping: bool,
    /// BLUE's drop probability in units of 2^-32, and when it last changed.
    p_drop: u32,
    blue_changed: i64,
    average: Average,
}

/// Returns CoDel's decision on a packet.
struct Judgement {
    signal: bool,
    /// Nanoseconds since the signal that is next was due.
    late: i64,
}

impl Cobalt {
    /// `cobalt_should_drop` up to BLUE.
    fn codel(&mut self, sojourn: u64, now: i64) -> Judgement {
        let due = self.is_due(now);
        let mut late = now - self.drop_next;
        let above = self.is_above(sojourn);
        if above && !self.dropping {
            self.drop_next = self.after(now);
        }
        self.dropping = above;
        if above {
            self.count = self.count.max(1);
            if due {
                late = self.step(self.count.saturating_add(1), now);
            }
            return Judgement { signal: due, late };
        }
        while self.is_due(now) {
            coverage_mark!("cobalt.count_fades");
            late = self.step(self.count - 1, now);
        }
        Judgement { signal: false, late }
    }

    fn is_due(&self, now: i64) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    fn is_above(&self, sojourn: u64) -> bool {
        let flows = u64::from(self.among.unwrap_or_default());
        sojourn > self.target && sojourn > self.mtu_time * flows * 2 && sojourn > self.mtu_time * 4
    }

    /// Sets `count` and advances `drop_next`. Returns the time since then in ns, negative if it is in the future.
    fn step(&mut self, count: u32, now: i64) -> i64 {
        self.count = count;
        self.root = next_root(self.root, count);
        self.drop_next = self.after(self.drop_next);
        now - self.drop_next
    }

    /// `cobalt_control`: interval/√count later. Linux takes the lower 32 bits of the interval.
    fn after(&self, time: i64) -> i64 {
        time + ((u64::from(self.interval as u32) * u64::from(self.root)) >> 32) as i64
    }

    /// The end of `cobalt_should_drop`: `drop_next` is also the time until which state is kept, and missed signals are
    /// not made up for.
    fn settle(&mut self, late: i64, dropped: bool, now: i64) {
        if self.count == 0 {
            self.drop_next = now + self.interval as i64;
        } else if late > 0 && !dropped {
            self.drop_next = now;
        }
    }

    /// Whether BLUE may change.
    fn blue_is_due(&self, now: i64) -> bool {
        (now - self.blue_changed) as u64 > self.target
    }

    /// `cobalt_queue_full`.
    fn full(&mut self, now: i64) {
        if self.blue_is_due(now) {
            coverage_mark!("cobalt.blue_rises");
            self.p_drop = self.p_drop.saturating_add(self.p_inc);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// `cobalt_queue_empty`.
    fn empty(&mut self, now: i64) {
        if self.p_drop > 0 && self.blue_is_due(now) {
            coverage_mark!("cobalt.blue_falls");
            self.p_drop = self.p_drop.saturating_sub(self.p_dec);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.is_due(now) {
            self.step(self.count - 1, now);
        }
    }

    /// BLUE's drop probability.
    fn p(&self) -> f64 {
        f64::from(self.p_drop) / ONE
    }
}

/// 1 in units of 2^-32.
const ONE: f64 = 4_294_967_296.0;

/// Counts below this one have their roots in a table (`REC_INV_SQRT_CACHE`).
const EXACT: usize = 16;

/// 1/√count in units of 2^-32, to the last digit those of sch_cake (`inv_sqrt_cache`), which are up to 1 off; 1 - 2^-32 also
/// for none.
const ROOTS: [u32; EXACT] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// 1/√count (`cobalt_invsqrt`): from 16 on one step of Newton's method, x·(3 - count·x²)/2, from the last value.
fn next_root(root: u32, count: u32) -> u32 {
    if let Some(known) = ROOTS.get(count as usize) {
        return *known;
    }
    let x = u64::from(root);
    let square = (x * x) >> 32;
    let rest = (3_u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square)) >> 2;
    (rest.wrapping_mul(x) >> 31) as u32
}

/// Converts a probability to units of 2^-32; the maximum represents 1.
fn fixed(p: f64) -> u32 {
    libm::round(p * ONE) as u32
}

impl LawParams for Params {
    type Law = Cobalt;

    fn law(&self, _link: LinkContext) -> Cobalt {
        let ns = |dur: Dur| dur.whole(Dur::from_ns(1));
        Cobalt {
            target: ns(self.target),
            interval: ns(self.interval),
            mtu_time: ns(self.mtu_time),
            p_inc: fixed(self.p_inc),
            p_dec: fixed(self.p_dec),
            among: None,
            clock: Time::ZERO,
            count: 0,
            root: 0,
            drop_next: 0,
            dropping: false,
            p_drop: 0,
            blue_changed: LONG_AGO,
            average: Average::default(),
        }
    }
}

impl Aqm for Cobalt {
    /// An idle link has polled the queue, if it is the only one, when it became free.
    fn on_enqueue(&mut self, _packet: &PacketView, view: &View, now: Time, _rng: &mut Rng) -> Verdict {
        if view.polled && self.among.is_none() {
            coverage_mark!("cobalt.found_empty");
            let idle = view.idle.unwrap_or(Dur::ZERO);
            self.empty(Time::from_ps(now.ps() - idle.ps()).ns() as i64);
        }
        Verdict::Pass
    }

    fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
        let came = Time::from_ps(now.ps().saturating_sub(packet.sojourn.ps()));
        let (sojourn, ns) = (now.ns() - came.ns(), now.ns() as i64);
        let Judgement { signal, late } = self.codel(sojourn, ns);
        let refused = signal && !packet.can_mark;
        let flooded = !refused && self.p_drop > 0 && ((rng.u64() >> 32) as u32) < self.p_drop;
        self.settle(late, refused || flooded, ns);
        // The last packet of a queue is never dropped (`cake_dequeue`).
        let is_last = view.packets == 0;
        if flooded && !is_last {
            coverage_mark!("cobalt.blue_drop");
            Verdict::Drop
        } else if signal && (packet.can_mark || !is_last) {
            coverage_mark!("cobalt.signal");
            Verdict::Signal
        } else {
            Verdict::Pass
        }
    }

    fn on_full(&mut self) {
        self.full(self.clock.ns() as i64);
    }

    fn on_shed(&mut self, packets: u32) {
        (0..packets).for_each(|_| self.on_full());
    }

    fn on_empty(&mut self) {
        self.empty(self.clock.ns() as i64);
    }

    fn among(&mut self, flows: u32) {
        self.among = Some(flows);
    }

    fn is_at_rest(&self) -> bool {
        self.p_drop == 0 && self.count == 0 && self.clock.ns() as i64 >= self.drop_next
    }

    fn values(&self) -> Vec<f64> {
        vec![f64::from(self.count), self.p()]
    }

    fn elapsed(&mut self, time: Dur) {
        self.clock += time;
        if self.p_drop > 0 {
            self.average.elapsed(self.p(), time);
        }
    }

    fn cut(&mut self) -> Vec<Integral> {
        vec![self.average.cut()]
    }
}

#[cfg(test)]
mod tests;

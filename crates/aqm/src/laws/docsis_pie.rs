//! DOCSIS-PIE: the PIE variant of cable modems, RFC 8034.
//!
//! Its differences from RFC 8033 are in §4, the pseudo-code in appendix A. All parameters except the target are fixed
//! there.

use ecnlab_base::{Bytes, Dur, Length, Rate, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::{ActsAbove, Facts};
use crate::record::columns::{Average, averages_first};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View, pie};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "docsis_pie",
    label: "DOCSIS-PIE",
    summary: "DOCSIS-PIE (RFC 8034): the PIE variant of cable modems",
    reference: "RFC 8034",
    columns: pie::FACTS.columns,
    shown: &["target"],
    acts_above: &[ActsAbove::aim("target")],
    marks: false,
    uses_ecn: false,
    ..Facts::PLAIN
};

/// DOCSIS-PIE's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `LATENCY_TARGET`: the target delay of the controller. Default 10 ms (RFC 8034 §4.1).
    #[serde(default = "default_target")]
    pub target: Dur,
    /// `MSR`, the maximum sustained traffic rate. Default: the rate at which the queue drains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msr: Option<Rate>,
    /// `PEAK_RATE`, at which bytes leave while there are tokens. Default: `msr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rate: Option<Rate>,
    /// The maximum traffic burst: the maximum number of tokens accumulated at `msr`. Default 0 B.
    #[serde(default = "default_burst")]
    pub burst: Bytes,
}

fn default_target() -> Dur {
    Dur::from_ms(10)
}
fn default_burst() -> Bytes {
    Bytes(0)
}

impl Params {
    /// `msr` and `peak_rate` on `link`.
    fn rates(&self, link: LinkContext) -> (Rate, Rate) {
        let msr = self.msr.unwrap_or(link.rate);
        (msr, self.peak_rate.unwrap_or(msr))
    }

    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        Impossible::unless(!self.target.is_zero(), "target", || {
            "every queued packet would exceed 0 s: write the target delay".to_owned()
        })?;
        for (key, rate) in [("msr", self.msr), ("peak_rate", self.peak_rate)] {
            Impossible::unless(rate.is_none_or(|rate| rate.bps() > 0), key, || {
                "nothing would ever leave: write such as \"10 Mbps\"".to_owned()
            })?;
        }
        Ok(())
    }
}

/// Weights of the controller, in Hz: `A` and `B`.
const GAINS: [f64; 2] = [0.25, 2.5];
/// Between two updates.
const INTERVAL: Dur = Dur::from_ms(16);
/// A queue that has been idle for longer is inactive.
const BURST_RESET_TIMEOUT: Dur = Dur::from_s(1);
/// Duration of the burst allowance after the first drop: 150 ms minus half an interval.
const MAX_BURST: Dur = Dur::from_ms(142);
const MEAN_PKTSIZE: u64 = 1024;
const MIN_PKTSIZE: u64 = 64;
/// The sum below which no packet is dropped, and the maximum probability of one packet.
const PROB_LOW: f64 = 0.85;
/// The sum from which all packets are dropped.
const PROB_HIGH: f64 = 8.5;
/// Below it the probability decays.
const LATENCY_LOW: Dur = Dur::from_ms(5);
/// Above it the probability rises faster.
const LATENCY_HIGH: Dur = Dur::from_ms(200);

/// DOCSIS-PIE on one queue.
#[derive(Clone, Debug)]
pub struct DocsisPie {
    target: Dur,
    shaper: Shaper,
    /// `BUFFER_SIZE`.
    buffer: Length,
    /// `drop_prob_`, which may be above 1.
    p: f64,
    /// `accu_prob_`.
    accu: f64,
    /// `qdelay_old_`.
    old: Dur,
    burst_allowance: Dur,
    burst_reset: Dur,
    state: State,
    average: Average,
}

/// `aqm_state_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The queue has stayed below a third of the buffer: no packet is dropped.
    Inactive,
    /// The next drop starts a burst allowance.
    Quiescent,
    Active,
}

/// The modem's model of its own shaper.
#[derive(Clone, Debug)]
struct Shaper {
    msr: Rate,
    peak_rate: Rate,
    burst: f64,
    tokens: f64,
    /// Time at which `tokens` were counted.
    since: Time,
    /// The next update.
    next: Time,
}

impl Shaper {
    fn new(params: &Params, link: LinkContext) -> Shaper {
        let (msr, peak_rate) = params.rates(link);
        let burst = params.burst.0 as f64;
        Shaper { msr, peak_rate, burst, tokens: burst, since: Time::ZERO, next: Time::ZERO + INTERVAL }
    }

    /// Returns the tokens at `now`.
    fn fill(&mut self, now: Time) {
        let earned = now.since(self.since).as_secs() * self.msr.bps() as f64 / 8.0;
        self.tokens = libm::fmin(self.tokens + earned, self.burst);
        self.since = now;
    }

    /// Accounts for the departure of `size` bytes.
    fn spend(&mut self, size: u32, now: Time) {
        self.fill(now);
        self.tokens = libm::fmax(self.tokens - f64::from(size), 0.0);
    }

    /// Returns the predicted time to send `bytes`, at an update.
    fn delay(&mut self, bytes: u64) -> Dur {
        self.fill(self.next);
        self.next = self.next.saturating_add(INTERVAL);
        let at_peak = bytes.min(self.tokens as u64);
        self.peak_rate.time_for(at_peak) + self.msr.time_for(bytes - at_peak)
    }
}

impl DocsisPie {
    /// `drop_early`.
    fn drops(&mut self, packet: &PacketView, view: &View, rng: &mut Rng) -> bool {
        if !self.burst_allowance.is_zero() {
            coverage_mark!("docsis_pie.burst_passes");
            return false;
        }
        if self.p == 0.0 {
            self.accu = 0.0;
        }
        if self.state == State::Inactive {
            if is_below_a_third(view, self.buffer) {
                coverage_mark!("docsis_pie.inactive_passes");
                return false;
            }
            coverage_mark!("docsis_pie.wakes");
            self.state = State::Quiescent;
        }
        let p = libm::fmin(self.p * f64::from(packet.size) / MEAN_PKTSIZE as f64, PROB_LOW);
        self.accu += p;
        if self.is_short(self.old) && self.p < 0.2 || view.bytes <= 2 * MEAN_PKTSIZE || self.accu < PROB_LOW {
            coverage_mark!("docsis_pie.spared");
            return false;
        }
        self.accu >= PROB_HIGH || rng.unit() <= p
    }

    /// Whether a delay is below half of the target.
    fn is_short(&self, delay: Dur) -> bool {
        delay * 2 < self.target
    }

    /// `calculate_drop_prob` outside a burst allowance.
    fn next_p(&self, delay: Dur) -> f64 {
        let [now, target, old] = [delay, self.target, self.old].map(Dur::as_secs);
        let mut step = (GAINS[0] * (now - target) + GAINS[1] * (now - old)) / scale(self.p);
        if self.p >= 0.1 {
            step = libm::fmin(step, 0.02);
        }
        let mut p = self.p + step;
        if delay < LATENCY_LOW && self.old < LATENCY_LOW {
            p *= 0.98;
        } else if delay > LATENCY_HIGH {
            p += 0.02;
        }
        p.clamp(0.0, PROB_LOW * (MEAN_PKTSIZE / MIN_PKTSIZE) as f64)
    }

    /// The state after an update.
    fn settle(&mut self, quiet: bool) {
        match self.state {
            State::Active if quiet => (self.state, self.burst_reset) = (State::Quiescent, Dur::ZERO),
            State::Quiescent if quiet => {
                self.burst_reset += INTERVAL;
                if self.burst_reset > BURST_RESET_TIMEOUT {
                    (self.state, self.burst_reset) = (State::Inactive, Dur::ZERO);
                }
            }
            State::Quiescent => self.burst_reset = Dur::ZERO,
            State::Active | State::Inactive => {}
        }
    }
}

/// Returns the divisor of a step (A.2; §4.4).
fn scale(p: f64) -> f64 {
    match p {
        p if p < 0.1 => pie::scale(p),
        p if p < 1.0 => 0.5,
        p if p < 10.0 => 0.125,
        _ => 0.03125,
    }
}

/// Whether less than a third of the buffer is held.
fn is_below_a_third(view: &View, buffer: Length) -> bool {
    match buffer {
        Length::Packets(packets) => (view.packets as f64) < packets / 3.0,
        Length::Bytes(bytes) => (view.bytes as f64) < bytes / 3.0,
    }
}

impl LawParams for Params {
    type Law = DocsisPie;

    fn in_force(&self, link: LinkContext, _limit: Length) -> Params {
        let (msr, peak_rate) = self.rates(link);
        Params { msr: Some(msr), peak_rate: Some(peak_rate), ..*self }
    }

    fn law(&self, link: LinkContext) -> DocsisPie {
        DocsisPie {
            target: self.target,
            shaper: Shaper::new(self, link),
            buffer: Length::Packets(f64::INFINITY),
            p: 0.0,
            accu: 0.0,
            old: Dur::ZERO,
            burst_allowance: Dur::ZERO,
            burst_reset: Dur::ZERO,
            state: State::Inactive,
            average: Average::default(),
        }
    }
}

impl Aqm for DocsisPie {
    fn limited(&mut self, limit: Length) {
        self.buffer = limit;
    }

    fn on_enqueue(&mut self, packet: &PacketView, view: &View, _now: Time, rng: &mut Rng) -> Verdict {
        if !self.drops(packet, view, rng) {
            return Verdict::Pass;
        }
        self.accu = 0.0;
        if self.state == State::Quiescent {
            coverage_mark!("docsis_pie.drop_begins_burst");
            (self.state, self.burst_allowance) = (State::Active, MAX_BURST);
        }
        coverage_mark!("docsis_pie.drop");
        Verdict::SignalByDrop
    }

    fn on_dequeue(&mut self, packet: &PacketView, _view: &View, now: Time, _rng: &mut Rng) -> Verdict {
        self.shaper.spend(packet.size, now);
        Verdict::Pass
    }

    fn on_full(&mut self) {
        coverage_mark!("docsis_pie.full");
        self.accu = 0.0;
    }

    fn tick(&self) -> Option<Dur> {
        Some(INTERVAL)
    }

    /// `calculate_drop_prob`.
    fn on_tick(&mut self, view: &View) {
        let delay = self.shaper.delay(view.bytes);
        if self.burst_allowance.is_zero() {
            self.p = self.next_p(delay);
        } else {
            self.p = 0.0;
            self.burst_allowance = self.burst_allowance.saturating_sub(INTERVAL);
        }
        let calm = self.is_short(delay) && self.is_short(self.old);
        self.settle(calm && self.p == 0.0 && self.burst_allowance.is_zero());
        self.old = delay;
    }

    averages_first! { self => self.p, self.old.as_secs() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Integral;
    use crate::{Common, Config, registry};
    use ecnlab_base::coverage::must_reach;
    use ecnlab_wire::Ecn;

    /// On a link of 8 Mbit/s, where 1000 B take 1 ms, with a buffer of 90 packets.
    fn law(keys: &str) -> DocsisPie {
        let params: Params = toml::from_str(keys).unwrap();
        assert_eq!(params.check(), Ok(()));
        let link = LinkContext { rate: Rate::from_bps(8_000_000), delay: Dur::ZERO };
        let mut law = params.law(link);
        law.limited(Length::Packets(90.0));
        law
    }
    /// A law that judges what arrives, whose delay was long.
    fn active(p: f64) -> DocsisPie {
        DocsisPie { p, state: State::Active, old: Dur::from_ms(20), ..law("") }
    }
    fn holding(bytes: u64) -> View {
        View { packets: bytes.div_ceil(1000), bytes, in_all: bytes, idle: None, polled: false }
    }
    fn packet(size: u32) -> PacketView {
        PacketView { size, ecn: Ecn::Ect0, flow: 0, can_mark: true, sojourn: Dur::ZERO }
    }
    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }
    /// Whether an arrival is dropped, by the chance of a seed.
    fn judged(law: &mut DocsisPie, size: u32, bytes: u64, seed: u64) -> bool {
        let verdict = law.on_enqueue(&packet(size), &holding(bytes), Time::ZERO, &mut Rng::named(seed, "pie"));
        assert!(matches!(verdict, Verdict::Pass | Verdict::SignalByDrop));
        verdict == Verdict::SignalByDrop
    }
    /// The probability after `p`, where the delay was `old` and is `now`, in ms.
    fn after(p: f64, old: u64, now: u64) -> f64 {
        let mut law = active(p);
        law.old = Dur::from_ms(old);
        law.on_tick(&holding(1000 * now));
        assert_eq!(law.values(), [law.p, now as f64 / 1000.0]);
        law.p
    }
    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-14
    }

    #[test]
    fn what_a_scenario_leaves_out_is_of_rfc_8034() {
        let expected = Params { target: Dur::from_ms(10), msr: None, peak_rate: None, burst: Bytes(0) };
        assert_eq!(toml::from_str::<Params>("").unwrap(), expected);
        assert_eq!(law("").tick(), Some(Dur::from_ms(16)));
        let refused = |keys: &str| toml::from_str::<Params>(keys).unwrap().check().err().map(|e| e.key);
        assert_eq!(refused("target = \"0 s\"").as_deref(), Some("target"));
    }

    #[test]
    fn a_step_is_divided_the_more_the_lighter_congestion_is() {
        // From 8 to 12 ms: 0.25·0.002 + 2.5·0.004 = 0.0105; from 0.1 on it is doubled and limited to 0.02 (A.2).
        let table =
            [(0.0, 2048.0), (1e-6, 512.0), (1e-5, 128.0), (1e-4, 32.0), (1e-3, 8.0), (1e-2, 2.0), (0.0999, 2.0)];
        for (p, divisor) in table {
            assert!(close(after(p, 8, 12), p + 0.0105 / divisor), "{p}");
        }
        assert!(close(after(0.1, 8, 12), 0.12) && close(after(5.0, 8, 12), 5.02));
        // From 12 to 11 ms: 0.25·0.001 - 2.5·0.001 = -0.00225: times 2 from 0.1, 8 from 1 and 32 from 10 on.
        assert!(close(after(0.1, 12, 11), 0.1 - 0.0045) && close(after(0.99, 12, 11), 0.99 - 0.0045));
        assert!(close(after(1.0, 12, 11), 1.0 - 0.018) && close(after(9.9, 12, 11), 9.9 - 0.018));
        assert!(close(after(10.0, 12, 11), 10.0 - 0.072));
        // The limit is for what is at least 0.1: from 0 to 30 ms 0.25·0.02 + 2.5·0.03 = 0.08.
        assert!(close(after(0.05, 0, 30), 0.09));
    }

    #[test]
    fn below_5_ms_it_decays_and_above_200_ms_it_rises_faster() {
        // From 4 to 4 ms: 0.25·(-0.006)·2 = -0.003.
        assert!(close(after(0.5, 4, 4), 0.98 * 0.497));
        // 5 ms now: 0.25·(-0.005) + 2.5·0.001 = 0.00125, times 2; or before: -0.0015 - 0.0025.
        assert!(close(after(0.5, 4, 5), 0.5025) && close(after(0.5, 5, 4), 0.5 - 0.008));
        // At 200 ms 0.25·0.19·2 is limited to 0.02; above it there are 0.02 more.
        assert!(close(after(0.5, 200, 200), 0.52) && close(after(0.5, 201, 201), 0.54));
        // At most 0.85·1024/64, at least 0.
        assert!(close(after(13.59, 201, 201), 13.6));
        assert_eq!(after(0.0001, 4, 4), 0.98 * (0.0001 - 0.0015 / 32.0));
        assert_eq!(after(0.00001, 4, 4), 0.0);
    }

    #[test]
    fn a_packet_counts_in_proportion_to_its_size_and_at_most_085() {
        let sum = |p: f64, size: u32| {
            let mut law = active(p);
            judged(&mut law, size, 1000, 1);
            law.accu
        };
        // 0.5·512/1024, 0.5·1536/1024 and 0.85.
        assert_eq!([sum(0.5, 512), sum(0.5, 1536), sum(0.6, 1536), sum(13.6, 64)], [0.25, 0.75, 0.85, 0.85]);
        assert_eq!(sum(0.0, 1024), 0.0);
    }

    #[test]
    fn a_short_delay_or_a_short_queue_is_not_signalled_and_its_packets_count() {
        let _reached = must_reach(["docsis_pie.spared", "docsis_pie.drop"]);
        // The sum is at 8.5: all that is judged is dropped.
        let judge = |p: f64, old: u64, bytes: u64| {
            let mut law = active(p);
            (law.old, law.accu) = (Dur::from_us(old), 8.5);
            let dropped = judged(&mut law, 1024, bytes, 1);
            assert_eq!(law.accu, if dropped { 0.0 } else { 8.5 + p });
            dropped
        };
        assert_eq!([judge(0.125, 4_999, 9000), judge(0.5, 9_000, 2048)], [false; 2]);
        assert_eq!([judge(0.2, 4_999, 9000), judge(0.125, 5_000, 9000), judge(0.5, 9_000, 2049)], [true; 3]);
    }

    #[test]
    fn the_bounds_of_the_sum_are_0_85_and_8_5() {
        let _reached = must_reach(["docsis_pie.full"]);
        // How many of 1000 laws with this sum drop an arrival to which p = 0.5 belongs.
        let dropped = |accu: f64| {
            let judge = |seed| {
                let mut law = active(0.5);
                law.accu = accu;
                judged(&mut law, 1024, 9000, seed)
            };
            (0..1000).filter(|&seed| judge(seed)).count()
        };
        assert_eq!([dropped(0.349), dropped(8.0)], [0, 1000]);
        let drawn = [dropped(0.35), dropped(7.99)];
        assert!(drawn.iter().all(|n| (430..570).contains(n)), "{drawn:?}");
        let mut full = active(0.5);
        full.accu = 5.0;
        full.on_full();
        assert_eq!(full.accu, 0.0);
    }

    #[test]
    fn a_third_of_the_buffer_wakes_it_and_its_first_drop_begins_the_burst() {
        let _reached = must_reach([
            "docsis_pie.inactive_passes",
            "docsis_pie.wakes",
            "docsis_pie.drop_begins_burst",
            "docsis_pie.burst_passes",
        ]);
        let mut law = law("");
        (law.p, law.old, law.accu) = (0.5, Dur::from_ms(20), 8.5);
        // 29 of 90 packets.
        assert!(!judged(&mut law, 1024, 29_000, 1) && law.state == State::Inactive && law.accu == 8.5);
        assert!(judged(&mut law, 1024, 30_000, 1));
        assert_eq!((law.state, law.burst_allowance), (State::Active, Dur::from_ms(142)));
        // 142 ms are nine updates of 16 ms, in which p is 0; the tenth makes a new one.
        law.accu = 8.5;
        for _ in 0..9 {
            assert!(!judged(&mut law, 1024, 30_000, 1) && law.accu == 8.5);
            law.on_tick(&holding(30_000));
            assert_eq!(law.p, 0.0);
        }
        law.on_tick(&holding(30_000));
        // 0.25·0.02/2048: the delay has stayed 30 ms.
        assert!(close(law.p, 0.005 / 2048.0) && law.burst_allowance.is_zero());
        // A drop in the active state begins no other burst.
        law.accu = 8.5;
        assert!(judged(&mut law, 1024, 30_000, 1) && law.burst_allowance.is_zero());
        // A limit in bytes has a third of these.
        let mut bytes = self::law("");
        bytes.limited(Length::Bytes(9_000.0));
        (bytes.p, bytes.old, bytes.accu) = (0.5, Dur::from_ms(20), 8.5);
        assert!(!judged(&mut bytes, 1024, 2_999, 1) && judged(&mut bytes, 1024, 3_000, 1));
    }

    #[test]
    fn quiet_makes_it_quiescent_and_a_second_of_it_inactive() {
        let mut law = active(0.0);
        law.old = Dur::from_us(4_999);
        law.on_tick(&holding(0));
        assert_eq!(law.state, State::Quiescent);
        // 62 updates are 992 ms; an update that is not quiet begins anew.
        (0..62).for_each(|_| law.on_tick(&holding(0)));
        law.on_tick(&holding(5_000));
        assert_eq!((law.state, law.burst_reset), (State::Quiescent, Dur::ZERO));
        law.on_tick(&holding(0));
        // That update has p = 0 and a delay of 5 ms before it.
        assert_eq!(law.burst_reset, Dur::ZERO);
        (0..62).for_each(|_| law.on_tick(&holding(0)));
        assert_eq!((law.state, law.burst_reset), (State::Quiescent, Dur::from_ms(992)));
        law.on_tick(&holding(0));
        assert_eq!((law.state, law.burst_reset), (State::Inactive, Dur::ZERO));
        // Neither with a probability, nor during a burst.
        for (p, burst) in [(0.5, 0), (0.0, 17)] {
            let mut law = DocsisPie { p, burst_allowance: Dur::from_ms(burst), old: Dur::ZERO, ..active(p) };
            law.on_tick(&holding(0));
            assert_eq!(law.state, State::Active);
        }
    }

    #[test]
    fn bytes_leave_at_the_peak_rate_while_there_are_tokens() {
        // 8 Mbit/s are 1000 B/ms; 16 Mbit/s at the peak, with 10,000 tokens at first.
        let mut law = law("peak_rate = \"16 Mbps\"\nburst = \"10 kB\"");
        // Up to 10,000 B all leave at the peak rate, of 30,000 B 20,000 do not: 5 ms, 25 ms.
        law.on_tick(&holding(10_000));
        assert_eq!(law.old, Dur::from_ms(5));
        law.on_tick(&holding(30_000));
        assert_eq!(law.old, Dur::from_ms(25));
        // 12,000 B at 40 ms leave none of the tokens, and 8000 are there again at 48 ms: 4 ms and 22 ms.
        law.on_dequeue(&packet(12_000), &holding(30_000), at(40), &mut Rng::named(1, "pie"));
        law.on_tick(&holding(30_000));
        assert_eq!(law.old, Dur::from_ms(26));
        // Another sustained rate than the link's: 30,000 B at 4 Mbit/s.
        let mut slow = self::law("msr = \"4 Mbps\"");
        slow.on_tick(&holding(30_000));
        assert_eq!(slow.old, Dur::from_ms(60));
    }

    #[test]
    fn ecn_is_refused() {
        let check = |ecn| {
            let common = Common { ecn, ..Common::with_limit(Length::Packets(9.0)) };
            let config = Config::new(registry::Params::DocsisPie(toml::from_str("").unwrap()), common);
            config.check().err().map(|e| e.key)
        };
        assert_eq!((check(true).as_deref(), check(false)), (Some("ecn"), None));
    }

    #[test]
    fn the_probability_is_averaged_over_time() {
        let mut law = active(0.5);
        law.elapsed(Dur::from_ps(10));
        let [Integral::Value(sum)] = law.cut()[..] else { panic!("not one value") };
        assert_eq!((sum, law.cut()), (5.0, vec![Integral::Value(0.0)]));
    }
}

//! Queue protection (RFC 9957 §4): scores the contribution of each flow to the queue L, and redirects packets of flows
//! with high scores to C.

use ecnlab_base::{Dur, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::layout::mixed;
use crate::{Impossible, PacketView};

/// The keys of `protection`, in the RFC's names. The defaults are those of RFC 9957 §4.1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The delay of L above which packets may be redirected (CRITICALqL). Default: `max_th`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_ql: Option<Dur>,
    /// The score above which they are redirected, at a delay of `critical_ql` (CRITICALqLSCORE). Default 4 ms.
    pub critical_ql_score: Dur,
    /// The score of a flow falls by 2^(`lg_aging` - 30) B/ns (LG_AGING), 1 to 30. By this conversion of the RFC 19 is
    /// 488,281 B/s; its text has 2^19 B/s. Default 19.
    pub lg_aging: u8,
    /// The delay of L from which a packet adds its whole size to the score (MAXTH). Default 1 ms.
    pub max_th: Dur,
    /// The fraction added grows from 0 to 1 over 2^`lg_range` ns below that (LG_RANGE), 1 to 30. Default 19.
    pub lg_range: u8,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            critical_ql: None,
            critical_ql_score: Dur::from_ms(4),
            lg_aging: 19,
            max_th: Dur::from_ms(1),
            lg_range: 19,
        }
    }
}

impl Params {
    /// Returns the parameters with the value of `critical_ql` filled in.
    pub(super) fn in_force(self) -> Params {
        Params { critical_ql: Some(self.critical_ql()), ..self }
    }

    fn critical_ql(&self) -> Dur {
        self.critical_ql.unwrap_or(self.max_th)
    }

    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        for (key, exponent) in [("protection.lg_aging", self.lg_aging), ("protection.lg_range", self.lg_range)] {
            Impossible::unless((1..=30).contains(&exponent), key, || {
                format!("{exponent} is not a valid exponent of a score: write 1 to 30")
            })?;
        }
        Ok(())
    }
}

/// Number of buckets for single flows (NBUCKETS), selected by bits of a hash (BI_SIZE).
const BUCKETS: usize = 1 << BI_SIZE;
const BI_SIZE: u32 = 5;
/// Number of buckets tried for a flow (ATTEMPTS).
const ATTEMPTS: u32 = 2;
/// A frame's greatest size (MAX_FRAME_SIZE).
const MAX_FRAME: u64 = 2000;
/// Maximum score (qLSCORE_MAX).
const MAX_SCORE: Dur = Dur::from_s(5);

/// Buckets of flows and the thresholds for their scores.
#[derive(Clone, Debug)]
pub struct Protection {
    rate: Rate,
    critical_ql: Dur,
    critical_ql_score: Dur,
    /// The time by which a byte pushes the expiry, in picoseconds: 1/AGING.
    byte: u64,
    min_th: Dur,
    range: Dur,
    /// The last one, the dregs, is shared by flows that find no other.
    buckets: [Bucket; BUCKETS + 1],
    sanctioned: u64,
}

/// The state of a flow: its score is the time until it expires.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    flow: Option<u64>,
    expiry: Time,
}

impl Protection {
    /// Starts without scores; L is in front of a link of rate `rate`.
    pub fn new(params: &Params, rate: Rate) -> Protection {
        let range = Dur::from_ns(1 << params.lg_range);
        let floor = rate.time_for(2 * MAX_FRAME);
        Protection {
            rate,
            critical_ql: params.critical_ql(),
            critical_ql_score: params.critical_ql_score,
            byte: 1000 << (30 - params.lg_aging),
            min_th: params.max_th.saturating_sub(range).max(floor),
            range,
            buckets: [Bucket::default(); BUCKETS + 1],
            sanctioned: 0,
        }
    }

    /// `qprotect`: returns whether `packet`, which arrives at `now` while L holds `bytes`, is redirected.
    pub fn sanctions(&mut self, packet: &PacketView, bytes: u64, now: Time) -> bool {
        let delay = self.rate.time_for(bytes);
        let share = self.share(delay);
        let i = self.pick(packet.flow, now);
        let score = self.fill(i, packet.size, share, now);
        let product = |delay: Dur, score: Dur| u128::from(delay.ps()) * u128::from(score.ps());
        let critical = product(self.critical_ql, self.critical_ql_score);
        let blamed = delay > self.critical_ql && product(delay, score) > critical;
        let sanctioned = blamed || score >= MAX_SCORE;
        self.sanctioned += u64::from(sanctioned);
        sanctioned
    }

    /// `calcProbNative`: the fraction of a packet's size that is added to its flow's score at a `delay` of L.
    fn share(&self, delay: Dur) -> f64 {
        let past = delay.saturating_sub(self.min_th);
        if past >= self.range { 1.0 } else { past.ps() as f64 / self.range.ps() as f64 }
    }

    /// `pick_bucket`: the bucket of `flow`, with score zero if it had expired.
    fn pick(&mut self, flow: u64, now: Time) -> usize {
        let hash = mixed(flow);
        let tried = (0..ATTEMPTS).map(|attempt| (hash >> (BI_SIZE * attempt)) as usize % BUCKETS);
        let own = tried.clone().find(|&i| self.buckets[i].flow == Some(flow));
        let i = own.or_else(|| tried.clone().find(|&i| self.buckets[i].expiry <= now)).unwrap_or(BUCKETS);
        let bucket = &mut self.buckets[i];
        *bucket = Bucket { flow: Some(flow), expiry: bucket.expiry.max(now) };
        i
    }

    /// `fill_bucket`: the score of bucket `i` after another packet, of which the fraction `share` counts.
    fn fill(&mut self, i: usize, size: u32, share: f64, now: Time) -> Dur {
        let added = Dur::from_ps((share * (u64::from(size) * self.byte) as f64) as u64);
        let bucket = &mut self.buckets[i];
        let score = (bucket.expiry.since(now) + added).min(MAX_SCORE);
        bucket.expiry = now + score;
        score
    }

    /// Packets redirected since the start.
    pub fn sanctioned(&self) -> u64 {
        self.sanctioned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_wire::Ecn;

    /// In front of 120 Mbit/s, 15 B a µs: the floor of two frames of 2000 B is 266.67 µs, less than 1 ms - 2^19 ns.
    fn fast(keys: &str) -> Protection {
        Protection::new(&toml::from_str(keys).unwrap(), Rate::from_bps(120_000_000))
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Dur::from_us(us)
    }

    fn packet(flow: u64, size: u32) -> PacketView {
        PacketView { size, ecn: Ecn::Ect1, flow, can_mark: true, sojourn: Dur::ZERO }
    }

    /// The score that a packet of this flow would find at `now`.
    fn score(law: &mut Protection, flow: u64, now: Time) -> Dur {
        let i = law.pick(flow, now);
        law.buckets[i].expiry.since(now)
    }

    #[test]
    fn the_share_is_a_ramp_below_max_th() {
        let law = fast("");
        // MINTH = 1,000,000 - 524,288 = 475,712 ns. A quarter of 524,288 ns further: 606,784 ns.
        let share = |ns| law.share(Dur::from_ns(ns));
        assert_eq!(
            [share(0), share(475_712), share(606_784), share(1_000_000), share(5_000_000)],
            [0.0, 0.0, 0.25, 1.0, 1.0]
        );
        assert!(share(999_999) < 1.0);
    }

    #[test]
    fn on_a_slow_link_the_ramp_begins_at_two_frames() {
        // 10 Mbit/s: FLOOR = 2·8·2000/10 Mbit/s = 3.2 ms, and the ramp ends 524,288 ns later. CRITICALqL stays at 1 ms.
        let law = Protection::new(&Params::default(), Rate::from_bps(10_000_000));
        let share = |ns| law.share(Dur::from_ns(ns));
        assert_eq!([share(3_200_000), share(3_331_072), share(3_724_288)], [0.0, 0.25, 1.0]);
        assert_eq!(law.critical_ql, Dur::from_ms(1));
    }

    #[test]
    fn a_score_is_bytes_over_aging_and_falls_with_time() {
        let mut law = fast("");
        // AGING = 2^(19-30) B/ns: 1500 B are 1500·2048 ns = 3.072 ms. 15,000 B at 15 B/µs are 1 ms, the whole share, and not
        // above CRITICALqL.
        assert!(!law.sanctions(&packet(7, 1500), 15_000, us(0)));
        assert_eq!(score(&mut law, 7, us(0)), Dur::from_us(3072));
        // 1 ms later it is 2.072 ms; a second packet adds 3.072 ms.
        assert!(!law.sanctions(&packet(7, 1500), 15_000, us(1000)));
        assert_eq!(score(&mut law, 7, us(1000)), Dur::from_us(5144));
        assert_eq!(score(&mut law, 7, us(6143)), Dur::from_us(1));
        assert_eq!(score(&mut law, 7, us(6145)), Dur::ZERO);
        // At a quarter of the ramp, 606,784 ns, a quarter counts: 9101.76 B; 9102 B are 606.8 µs: 16 ns more than a quarter.
        law.sanctions(&packet(8, 1000), 9102, us(7000));
        let quarter = score(&mut law, 8, us(7000)).as_secs();
        assert!((quarter - 0.25 * 1000.0 * 2048e-9).abs() < 1e-7, "{quarter}");
        // Another aging: 2^(20-30) B/ns, half of the time.
        let mut faster = fast("lg_aging = 20");
        faster.sanctions(&packet(7, 1500), 15_000, us(0));
        assert_eq!(score(&mut faster, 7, us(0)), Dur::from_us(1536));
    }

    #[test]
    fn a_longer_queue_allows_a_lower_score() {
        // Scores of 3.072 ms. At a delay of 1.3 ms: 1.3·3.072 = 3.9936, not above 1·4 ms². At 1.302 ms: 3.99974; at 1.304 ms:
        // 4.005888.
        let at = |bytes| fast("").sanctions(&packet(1, 1500), bytes, us(0));
        assert_eq!([at(19_500), at(19_530), at(19_560)], [false, false, true]);
        // At 1 ms the delay is not above CRITICALqL, whatever the score.
        let mut law = fast("");
        assert!((0..100).all(|_| !law.sanctions(&packet(1, 1500), 15_000, us(0))));
        assert_eq!(law.sanctioned(), 0);
        // 300 ms of score, and 15 B more: 1.001 ms.
        assert!(law.sanctions(&packet(1, 1500), 15_015, us(0)));
        // Another flow has done nothing yet: its first packet is 3.075 ms of 4.
        assert!(!law.sanctions(&packet(2, 1500), 15_015, us(0)));
        assert_eq!(law.sanctioned(), 1);
    }

    #[test]
    fn thresholds_are_the_user_s() {
        // 2 ms·1 ms = 2 ms²: at 2.1 ms, 3.072 ms of score is too much, at 2 ms nothing is.
        let at = |bytes| {
            fast("critical_ql = \"2 ms\"\ncritical_ql_score = \"1 ms\"").sanctions(&packet(1, 1500), bytes, us(0))
        };
        assert_eq!([at(30_000), at(31_500)], [false, true]);
        // CRITICALqL is MAXTH: 2 ms.
        assert_eq!(fast("max_th = \"2 ms\"").critical_ql, Dur::from_ms(2));
        // The ramp of 2^10 ns ends at 1 ms.
        assert_eq!(fast("lg_range = 10").share(Dur::from_ns(999_488)), 0.5);
    }

    #[test]
    fn a_score_ends_at_5_s_and_is_then_sanctioned_whatever_the_delay() {
        let mut law = fast("");
        // 5 s/3.072 ms = 1627.6: 1628 packets.
        let first = (1..).find(|_| law.sanctions(&packet(1, 1500), 15_000, us(0)));
        assert_eq!((first, score(&mut law, 1, us(0))), (Some(1628), Dur::from_s(5)));
        assert!(law.sanctions(&packet(1, 1500), 15_000, us(0)));
        assert_eq!(score(&mut law, 1, us(0)), Dur::from_s(5));
        // 1 µs later, without a queue, nothing is added.
        assert!(!law.sanctions(&packet(1, 1500), 0, us(1)));
    }

    /// Flows whose two places are these.
    fn of_places(places: [usize; 2]) -> impl Iterator<Item = u64> {
        (0_u64..).filter(move |&flow| [mixed(flow) as usize % 32, (mixed(flow) >> 5) as usize % 32] == places)
    }

    #[test]
    fn a_flow_has_one_of_two_buckets_or_the_dregs() {
        let mut law = fast("");
        let flows: Vec<u64> = of_places([3, 9]).take(4).collect();
        let fill = |law: &mut Protection, flow: usize, at| {
            let i = law.pick(flows[flow], at);
            law.fill(i, 1500, 1.0, at);
            i
        };
        assert_eq!([0, 1, 2, 3].map(|flow| fill(&mut law, flow, us(0))), [3, 9, 32, 32]);
        // The dregs have the score of both; each finds its own again.
        assert_eq!(law.buckets[32].expiry, us(6144));
        assert_eq!([0, 1, 2].map(|flow| law.pick(flows[flow], us(1))), [3, 9, 32]);
        // From 3.072 ms on the bucket 3 is free: for the first that comes; the former owner takes the other free one.
        assert_eq!([law.pick(flows[2], us(3071)), fill(&mut law, 2, us(3072))], [32, 3]);
        assert_eq!(law.pick(flows[0], us(3072)), 9);
        // A flow that owns the second place keeps it, though the first is free.
        let mut law = fast("");
        fill(&mut law, 0, us(0));
        assert_eq!((fill(&mut law, 1, us(2000)), fill(&mut law, 1, us(4000))), (9, 9));
    }

    #[test]
    fn exponents_have_a_range() {
        let refused = |keys: &str| toml::from_str::<Params>(keys).unwrap().check().err().map(|e| e.key);
        assert_eq!((refused(""), refused("lg_aging = 30\nlg_range = 1")), (None, None));
        assert_eq!(refused("lg_aging = 0"), Some("protection.lg_aging".to_owned()));
        assert_eq!(refused("lg_aging = 31"), Some("protection.lg_aging".to_owned()));
        assert_eq!(refused("lg_range = 31"), Some("protection.lg_range".to_owned()));
    }
}

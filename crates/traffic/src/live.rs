//! A live source on one TCP connection: data that TCP has not sent when the next are ready are out of date, and discarded.

use ecnlab_base::{Dur, Rate, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Checked, Demand, Done, ENDLESS, Exchange, Impossible, Side, Source, UnderWay};

/// Time between writes.
const EVERY: Dur = Dur::from_ms(10);

/// A transfer from `from` to `to` that the application limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Rate at which data become ready, of payload. Default: none do, but in the times of `bulk`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Time between writes, each of `rate` times this. Default 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Dur>,
    /// Times of the run at which there are always data to send, as pairs of a start and a length, in order:
    /// `[["0 s", "2 s"]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bulk: Vec<(Dur, Dur)>,
}

impl Params {
    fn every(&self) -> Dur {
        self.every.unwrap_or(EVERY)
    }

    /// Bytes of a write.
    fn bytes(&self) -> u64 {
        let bits = u128::from(self.rate.map_or(0, Rate::bps)) * u128::from(self.every().ps()) / 1_000_000_000_000;
        u64::try_from(bits / 8).unwrap_or(ENDLESS)
    }
}

impl Checked for Params {
    fn check(&self) -> Result<(), Impossible> {
        let impossible = |key, message: &str| Err(Impossible { key, message: message.to_owned() });
        if self.rate.is_none() && self.bulk.is_empty() {
            return impossible("rate", "without `rate` and `bulk` nothing is sent; add one of them");
        }
        if self.every() < Dur::from_us(1) {
            return impossible("every", "the writes have no time between them; write at least 1 us");
        }
        if self.rate.is_some() && self.bytes() == 0 {
            return impossible("rate", "a write has less than a byte; write a higher rate, or a longer `every`");
        }
        let ends = self.bulk.iter().map(|&(start, length)| (Time::ZERO + start).saturating_add(length));
        let apart = ends.zip(self.bulk.iter().skip(1)).all(|(end, &(start, _))| end < Time::ZERO + start);
        if !apart || self.bulk.iter().any(|(_, length)| length.is_zero()) {
            return impossible(
                "bulk",
                "the times overlap, touch or are empty; write pairs of a start and a length, in order",
            );
        }
        Ok(())
    }
}

/// One transfer, started at the first poll.
#[derive(Clone, Debug)]
pub struct Live {
    params: Params,
    begun: bool,
    stopped: bool,
    next: Time,
}

impl Live {
    /// Creates the source from `params`.
    pub fn new(params: &Params, _ends: [u32; 2]) -> Live {
        Live { params: params.clone(), begun: false, stopped: false, next: Time::ZERO }
    }

    /// The bytes ready at `now`, and the time of the next write.
    fn ready(&self, now: Time) -> (u64, Time) {
        let edges = self.params.bulk.iter().map(|&(start, length)| {
            let start = Time::ZERO + start;
            (start, start.saturating_add(length))
        });
        match edges.into_iter().find(|&(_, end)| now < end) {
            Some((start, end)) if start <= now => (ENDLESS, end),
            later => {
                let regular = self.params.rate.map_or(Time::NEVER, |_| now.saturating_add(self.params.every()));
                (self.params.bytes(), later.map_or(regular, |(start, _)| regular.min(start)))
            }
        }
    }
}

impl Source for Live {
    fn poll(&mut self, now: Time, _rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time> {
        if !self.stopped && now >= self.next {
            if !self.begun {
                self.begun = true;
                let (opener, ends, done) = (Side::From, [0, 0], Done::Arrived);
                out.push(Demand::Exchange(Exchange { key: 0, opener, ends, request: ENDLESS, response: 0, done }));
            }
            let (bytes, next) = self.ready(now);
            out.push(Demand::Live(bytes));
            self.next = next;
        }
        Some(self.next).filter(|&next| !self.stopped && next != Time::NEVER)
    }

    fn on_done(&mut self, _key: u32, _now: Time) -> Option<Time> {
        self.stopped = true;
        None
    }

    fn stop(&mut self) -> UnderWay {
        self.stopped = true;
        UnderWay::Cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(rate: Option<u64>, bulk: &[(u64, u64)]) -> Params {
        let bulk = bulk.iter().map(|&(start, length)| (Dur::from_ms(start), Dur::from_ms(length))).collect();
        Params { rate: rate.map(Rate::from_bps), every: None, bulk }
    }

    /// Times in milliseconds and bytes of the first `n` writes.
    fn writes(params: &Params, n: usize) -> Vec<(u64, u64)> {
        let (mut live, mut rng, mut out) = (Live::new(params, [1, 1]), Rng::named(1, "live"), Vec::new());
        let (mut at, mut found) = (Time::ZERO, Vec::new());
        while found.len() < n {
            out.clear();
            let next = live.poll(at, &mut rng, &mut out);
            found.extend(out.iter().filter_map(|demand| match demand {
                Demand::Live(bytes) => Some((at.ms(), *bytes)),
                _ => None,
            }));
            let Some(next) = next else { break };
            at = next;
        }
        found
    }

    #[test]
    fn data_become_ready_at_the_rate_and_in_bulk_without_end() {
        // 8 Mbit/s for 10 ms are 10 kB. Bulk from 15 to 30 ms; then the next write, and 10 ms later another.
        let found = writes(&params(Some(8_000_000), &[(15, 15)]), 5);
        assert_eq!(found, [(0, 10_000), (10, 10_000), (15, ENDLESS), (30, 10_000), (40, 10_000)]);
    }

    #[test]
    fn without_a_rate_the_source_is_silent_between_bulk_times() {
        assert_eq!(writes(&params(None, &[(0, 5), (20, 5)]), 9), [(0, ENDLESS), (5, 0), (20, ENDLESS), (25, 0)]);
    }

    #[test]
    fn what_sends_nothing_or_has_no_order_is_refused() {
        let key = |params: &Params| params.check().err().map(|impossible| impossible.key);
        assert_eq!(key(&params(None, &[])), Some("rate"));
        assert_eq!(key(&params(Some(799), &[])), Some("rate"), "7.99 bits in 10 ms");
        assert_eq!(key(&Params { every: Some(Dur::ZERO), ..params(Some(8_000), &[]) }), Some("every"));
        assert_eq!(key(&params(None, &[(0, 5), (5, 5)])), Some("bulk"));
        assert_eq!(key(&params(None, &[(0, 0)])), Some("bulk"));
        assert_eq!(key(&params(Some(800), &[(0, 5), (6, 5)])), None);
    }
}

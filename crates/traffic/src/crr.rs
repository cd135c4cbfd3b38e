//! Connect, request, response, close, and again: Netperf's TCP_CRR (RFC 2884 §5.3).
//!
//! One transaction at a time, each on its own connection and port. A transaction is complete when the last byte of the
//! response has arrived; the requester then closes and opens the next connection after the think time.

use ecnlab_base::{Bytes, Dist, Dur, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Checked, Demand, Done, ENDLESS, Exchange, Side, Source, UnderWay};

/// Transactions opened by `to` and answered by `from`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bytes of each request, drawn per request; at least 1 B if random.
    pub request: Dist<Bytes>,
    /// Bytes of each response, drawn per response; at least 1 B if random.
    pub response: Dist<Bytes>,
    /// Pause between the end of a transaction and the next connection. Default 0 s (RFC 2884 §5.3).
    #[serde(default)]
    pub think: Dur,
}

impl Checked for Params {}

/// A continuous series of transactions.
#[derive(Clone, Debug)]
pub struct Crr {
    params: Params,
    next: u32,
    busy: bool,
    stopped: bool,
}

impl Crr {
    /// Creates the source from `params`.
    pub fn new(params: &Params, _ends: [u32; 2]) -> Crr {
        Crr { params: params.clone(), next: 0, busy: false, stopped: false }
    }
}

impl Source for Crr {
    fn poll(&mut self, _now: Time, rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time> {
        if !self.busy && !self.stopped {
            self.busy = true;
            let [request, response] = [self.params.request, self.params.response].map(|dist| size(dist, rng));
            let (key, opener, ends, done) = (self.next, Side::To, [0, 0], Done::Arrived);
            out.push(Demand::Exchange(Exchange { key, opener, ends, request, response, done }));
            self.next += 1;
        }
        None
    }

    fn on_done(&mut self, _key: u32, now: Time) -> Option<Time> {
        self.busy = false;
        Some(now + self.params.think)
    }

    fn stop(&mut self) -> UnderWay {
        self.stopped = true;
        UnderWay::Completed
    }
}

/// Limits a random size, which may be zero or equal the value for an endless transfer.
fn size(dist: Dist<Bytes>, rng: &mut Rng) -> u64 {
    match dist {
        Dist::Constant(bytes) => bytes.0,
        random => random.draw(rng).0.clamp(1, ENDLESS - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(request: Dist<Bytes>, response: Dist<Bytes>) -> Params {
        Params { request, response, think: Dur::from_ms(30) }
    }

    /// Sizes of the first `n` transactions, each `takes` long.
    fn sizes(params: &Params, n: usize, takes: Dur) -> Vec<(u64, u64)> {
        let (mut crr, mut rng, mut out) = (Crr::new(params, [1, 1]), Rng::named(5, "crr"), Vec::new());
        let mut now = Time::ZERO;
        for key in 0..n {
            crr.poll(now, &mut rng, &mut out);
            now = crr.on_done(key as u32, now + takes).unwrap_or(Time::NEVER);
        }
        out.iter()
            .map(|demand| if let Demand::Exchange(e) = demand { (e.request, e.response) } else { (0, 0) })
            .collect()
    }

    #[test]
    fn random_sizes_have_their_mean_and_do_not_depend_on_the_network() {
        let params = params(Dist::Uniform(Bytes(0), Bytes(2)), Dist::Exponential(Bytes(5_000)));
        let all = sizes(&params, 10_000, Dur::from_ms(1));
        assert_eq!(all, sizes(&params, 10_000, Dur::from_s(3)));
        // 0 or 1 B, of which nothing is sent as one byte.
        assert!(all.iter().all(|&(request, response)| request == 1 && response >= 1));
        // Exponential: the standard deviation is the mean; five standard errors are 5 * 5000 / 100.
        let mean = all.iter().map(|&(_, response)| response as f64).sum::<f64>() / 1e4;
        assert!((mean - 5_000.0).abs() < 250.0, "{mean}");
    }

    #[test]
    fn no_transaction_begins_after_the_stop() {
        let params = params(Dist::Constant(Bytes(1)), Dist::Constant(Bytes(1)));
        let (mut crr, mut rng, mut out) = (Crr::new(&params, [1, 1]), Rng::named(5, "crr"), Vec::new());
        crr.poll(Time::ZERO, &mut rng, &mut out);
        assert_eq!(crr.stop(), UnderWay::Completed);
        let wake = crr.on_done(0, Time::ZERO + Dur::from_ms(1));
        crr.poll(wake.unwrap_or(Time::NEVER), &mut rng, &mut out);
        assert_eq!(out.len(), 1);
    }

    #[test]
    fn the_next_transaction_waits_for_the_last_and_the_think_time() {
        let params = params(Dist::Constant(Bytes(128)), Dist::Constant(Bytes(5_000)));
        let mut crr = Crr::new(&params, [1, 1]);
        let (mut out, mut rng) = (Vec::new(), Rng::named(1, "crr"));
        crr.poll(Time::ZERO, &mut rng, &mut out);
        crr.poll(Time::ZERO, &mut rng, &mut out);
        let exchange = |key| {
            let (opener, ends, done) = (Side::To, [0, 0], Done::Arrived);
            Demand::Exchange(Exchange { key, opener, ends, request: 128, response: 5_000, done })
        };
        assert_eq!(out, [exchange(0)]);
        let done = Time::ZERO + Dur::from_ms(100);
        assert_eq!(crr.on_done(0, done), Some(Time::ZERO + Dur::from_ms(130)));
        crr.poll(Time::ZERO + Dur::from_ms(130), &mut rng, &mut out);
        assert_eq!(out[1], exchange(1));
    }
}

//! Connect, request, response, close, and again: Netperf's TCP_CRR (RFC 2884 §5.3).
//!
//! One transaction at a time, each on a connection (and port) of its own. A transaction is complete
//! when the last byte of the response has arrived; the requester then closes and, after the think
//! time, opens the next.

use ecnlab_base::{Bytes, Dur, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Checked, Demand, Done, Exchange, Side, Source};

/// Transactions that `to` opens and `from` answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bytes of each request.
    pub request: Bytes,
    /// Bytes of each response.
    pub response: Bytes,
    /// Pause between the end of a transaction and the next connect; none by default (RFC 2884 §5.3).
    #[serde(default)]
    pub think: Dur,
}

impl Checked for Params {}

/// An endless series of transactions.
#[derive(Clone, Debug)]
pub struct Crr {
    params: Params,
    next: u32,
    busy: bool,
}

impl Crr {
    /// The source that `params` describe.
    pub fn new(params: &Params, _ends: [u32; 2]) -> Crr {
        Crr { params: params.clone(), next: 0, busy: false }
    }
}

impl Source for Crr {
    fn poll(&mut self, _now: Time, _rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time> {
        if !self.busy {
            self.busy = true;
            let (request, response) = (self.params.request.0, self.params.response.0);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_transaction_waits_for_the_last_and_the_think_time() {
        let params = Params { request: Bytes(128), response: Bytes(5_000), think: Dur::from_ms(30) };
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

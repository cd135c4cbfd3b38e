//! ACK processing of a sender: the same steps in the same order for all schemes and window laws.

use crate::cc::CongestionControl;
use crate::flight::{AckSeen, Cx, Flight, Known};
use crate::recovery::Scheme;

/// Processes an acceptable ACK with the scheme in use. Compiled to two functions per scheme: a single function for all
/// would increase register pressure.
#[inline(always)]
pub fn on_ack<S: Scheme>(scheme: &mut S, tx: &mut Flight, seen: &AckSeen, cx: &mut Cx) {
    if tx.law.wants_samples() { sampled(scheme, tx, seen, cx) } else { plain(scheme, tx, seen, cx) }
}

/// The same for a law that uses samples.
#[inline(never)]
fn sampled<S: Scheme>(scheme: &mut S, tx: &mut Flight, seen: &AckSeen, cx: &mut Cx) {
    steps::<S, true>(scheme, tx, seen, cx)
}

/// The same for the other laws.
#[inline(never)]
fn plain<S: Scheme>(scheme: &mut S, tx: &mut Flight, seen: &AckSeen, cx: &mut Cx) {
    steps::<S, false>(scheme, tx, seen, cx)
}

#[inline(always)]
fn steps<S: Scheme, const SAMPLED: bool>(scheme: &mut S, tx: &mut Flight, seen: &AckSeen, cx: &mut Cx) {
    let una = tx.una;
    let first = cx.config.ecn_response.takes_echo_first();
    if first && seen.echo {
        tx.on_echo_ns2(seen.ack, scheme.counts_sacks(), cx);
    }
    let prior_in_flight = if SAMPLED { scheme.in_flight_before(tx, seen) } else { 0 };
    // Updates the scoreboard and the delivered bytes.
    scheme.deliver(tx, seen, cx);
    let limited = tx.rate_limited.is_some();
    if limited {
        tx.measure_ack(cx);
    }
    let rtt = scheme.rtt(tx, seen, una, cx);
    if let Some(rtt) = rtt {
        tx.take_rtt(rtt, cx);
        if !(seen.echo && tx.timer.echo_at_one) {
            tx.timer.rto.end_backoff(cx.config);
        }
    }
    // `decide` detects losses, responds to ECN-Echo, and returns the bytes by which the window may open.
    let grow = if SAMPLED {
        let known = Known { prior_in_flight, rtt, last_rtt: scheme.last_rtt(rtt, cx) };
        let mut sample = tx.feedback(known, seen, una, cx);
        if tx.law.wants_feedback() {
            sample.in_recovery = scheme.in_recovery(tx);
            (sample.lost_total, sample.in_flight) = (scheme.lost(tx), scheme.in_flight(tx));
            tx.law.on_feedback(&sample);
        }
        let grow = scheme.decide(tx, seen, una, cx);
        tx.notify_law(scheme.lost(tx), scheme.in_flight(tx), scheme.in_recovery(tx), &mut sample);
        grow
    } else {
        scheme.decide(tx, seen, una, cx)
    };
    if grow > 0 {
        if limited {
            tx.open_within_limit(cx.config, |tx| scheme.open(&mut tx.law, grow));
        } else {
            scheme.open(&mut tx.law, grow);
        }
        tx.timer.echo_at_one = false; // in ns-2, the next ECN-Echo at one segment counts as the first again
    }
    if first {
        tx.shut_below_one_segment();
    }
    if limited {
        tx.end_ack(cx);
    }
}

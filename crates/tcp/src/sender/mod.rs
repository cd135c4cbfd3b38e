//! The sending half: what is outstanding ([`Flight`]), and the recovery scheme that works on it.

mod acks;
mod cwnd_validation;
mod delivery;
mod flight;
mod ns2;
mod pacer;
mod quench;
mod reduction;
mod sampler;
mod scoreboard;

use ecnlab_base::Time;
use ecnlab_wire::Seq;

pub(crate) use acks::AckSeen;
pub(crate) use cwnd_validation::{Burst, CwndValidation};
pub(crate) use delivery::Delivery;
pub(crate) use flight::{Chunk, Cx, Flight, How, timestamp};
use pacer::Pacer;
use sampler::Sampler;
pub(crate) use scoreboard::{Outstanding, Scoreboard};

use crate::cc::CongestionControl;
use crate::config::Config;
use crate::recovery::InUse;
use crate::registry::RecoveryKind;

/// The sending half.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub flight: Flight,
    pub scheme: InUse,
}

impl Sender {
    pub fn new(config: &Config, iss: Seq) -> Sender {
        Sender { flight: Flight::new(config, iss), scheme: InUse::new(config.recovery) }
    }

    /// The SYN is acknowledged, by a segment that echoes the timestamp `echoed`: data may flow, repaired by `recovery`.
    pub fn establish(&mut self, recovery: RecoveryKind, mss: u32, echoed: Option<u32>, cx: &mut Cx) {
        let rtt = self.flight.establish(mss, echoed, cx);
        self.scheme = InUse::new(recovery);
        self.scheme.on_established(&mut self.flight, rtt);
    }

    /// Whether a recovery is going on, for time series and source quenches.
    pub fn in_recovery(&self) -> bool {
        self.scheme.in_recovery(&self.flight)
    }

    // ---- what to send ----

    /// Before a burst: the restart after idleness, and the scheme's estimates.
    pub fn begin_burst(&mut self, config: &Config, now: Time) {
        self.flight.restart_after_idle(config, now);
        self.flight.recovery.burst_left = u32::MAX;
        if self.flight.recovery.active {
            self.scheme.begin_burst(&mut self.flight, config);
        }
        let flight = &mut self.flight;
        if let Some(pacing) = flight.law.pacing()
            && !flight.pacer.begin(pacing, now)
        {
            flight.recovery.burst_left = 0;
        }
    }

    /// What may be sent now.
    #[inline]
    pub fn next(&mut self, config: &Config) -> Option<Chunk> {
        let flight = &mut self.flight;
        if flight.recovery.head_due {
            flight.recovery.head_due = false;
            return Some(flight.head());
        }
        let held = flight.is_held() && !config.ecn_response.sends_while_held();
        if held || flight.recovery.burst_left == 0 {
            return None;
        }
        let in_recovery = flight.recovery.active;
        let chunk = if in_recovery { self.scheme.next(flight, config) } else { flight.next_in_window(config) }?;
        flight.recovery.burst_left -= 1;
        Some(chunk)
    }

    /// Books a chunk that leaves now.
    #[inline(always)]
    pub fn sent(&mut self, chunk: Chunk, cx: &mut Cx) {
        let flight = &mut self.flight;
        let stop = chunk.start + u64::from(chunk.len) + u64::from(chunk.fin);
        let first_outstanding = flight.max == flight.una;
        if flight.law.wants_samples() {
            flight.tell_sent(chunk, cx);
        }
        flight.advance(chunk, stop);
        if chunk.start < flight.max {
            self.scheme.on_sent(flight, chunk, cx);
            flight.count_retransmission(chunk, stop, cx);
        }
        if stop > flight.max {
            flight.max = stop;
            if !self.scheme.on_sent(flight, chunk, cx) {
                flight.time(stop, cx);
            }
            flight.count_limited_transmit(chunk);
        }
        flight.note_sent(cx.now);
        if !flight.pacer.sent(chunk.len.into(), cx.now) {
            flight.recovery.burst_left = 0;
        }
        // RFC 6298 §5.1. A fast retransmit gives its segment a whole timeout; so does what is sent while the timer runs for
        // a window that was shut.
        if flight.deadline == Time::NEVER || first_outstanding || chunk.how == How::FastHead {
            self.scheme.arm(flight, cx);
        }
    }

    /// A burst has ended: the timer may be needed although nothing is in flight.
    pub fn end_burst(&mut self, config: &Config, now: Time) {
        self.scheme.end_burst(&mut self.flight, config, now);
        self.flight.arm_if_waiting(config, now);
        self.flight.pacer.end();
    }

    // ---- the timer ----

    /// The deadline has come; whether it was the scheme's own and no retransmission timeout.
    pub fn on_timer(&mut self, cx: &mut Cx) -> bool {
        self.scheme.on_timer(&mut self.flight, cx)
    }

    /// The retransmission timer has fired with data outstanding.
    pub fn on_timeout(&mut self, cx: &mut Cx) {
        self.scheme.on_timeout(&mut self.flight, cx);
    }
}

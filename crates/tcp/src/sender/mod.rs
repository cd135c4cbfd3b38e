//! The sending half of a connection: outstanding data ([`Flight`]) and the recovery scheme that works on it.

mod acks;
mod scheme;
mod send_buffer;

use ecnlab_base::Time;
use ecnlab_wire::{QuenchCause, SackBlocks, Seq};

use crate::config::Config;
use crate::ecn::{Feedback, QuenchSeen};
use crate::flight::{AckSeen, Chunk, Cx, Flight, How, Opened, WindowProbe};
use crate::registry::RecoveryKind;
pub(crate) use scheme::InUse;
use send_buffer::SendBuffer;

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    pub flight: Flight,
    pub scheme: InUse,
    /// With [`Push::Linux7`](crate::config::Push::Linux7), determines the segments with PSH.
    send_buffer: Option<Box<SendBuffer>>,
}

impl Sender {
    pub fn new(config: &Config, iss: Seq) -> Sender {
        Sender { flight: Flight::new(config, iss), scheme: InUse::new(config.recovery), send_buffer: None }
    }

    /// Initializes the sender when its SYN is acknowledged. `recovery` is the recovery scheme.
    pub fn establish(&mut self, recovery: RecoveryKind, opened: &Opened, cx: &mut Cx) {
        let rtt = self.flight.establish(opened, cx);
        self.send_buffer = SendBuffer::open(cx.config, &self.flight);
        self.scheme = InUse::new(recovery);
        self.scheme.on_established(&mut self.flight, rtt);
    }

    /// Whether a recovery is in progress, for time series and source quenches.
    pub fn in_recovery(&self) -> bool {
        self.scheme.in_recovery(&self.flight)
    }

    // ---- received segments ----

    /// Processes the SACK blocks of an ACK up to the offset `ack`. Returns whether they report bytes not reported before.
    pub fn note_sacks(&mut self, blocks: &SackBlocks, ack: u64, config: &Config, now: Time) -> bool {
        let flight = &mut self.flight;
        if flight.timer.timeouts > 0 && !config.sack_after_timeout {
            return false;
        }
        if let Some(block) = flight.duplicate_block(blocks.as_slice(), ack) {
            self.scheme.on_dsack(flight, block, ack);
        }
        let mut new = 0;
        for block in blocks.as_slice() {
            // RFC 2018 §3: only data sent and not yet acknowledged can be SACKed.
            if let (Some(start), Some(end)) = (flight.offset(block.start), flight.offset(block.end))
                && start > ack
            {
                let bytes = flight.sacked.insert(start, end);
                new += bytes;
                if bytes > 0 {
                    self.scheme.on_sacked(flight, start..end, bytes, now);
                }
            }
        }
        new > 0
    }

    /// Processes an acceptable ACK.
    #[inline]
    pub fn on_ack(&mut self, seen: &AckSeen, cx: &mut Cx) {
        self.scheme.on_ack(&mut self.flight, seen, cx);
    }

    /// Processes a source quench for the segment at `offset`, at or above `una`.
    pub fn on_quench(&mut self, offset: u64, cause: QuenchCause, cx: &mut Cx) {
        let flight = &self.flight;
        // Without data in flight at `offset`, the quench is old or forged (RFC 5927 §4.1).
        if offset >= flight.max || self.in_recovery() {
            return;
        }
        // A round trip ends when data sent after the reduction is acknowledged, as for ECN-Echo. For source quenches in
        // ns-2 it ends when all data sent before the reduction is (tcp.cc, quench).
        let response = cx.config.ecn_response;
        let reduced = response.quench_point(self.scheme.reduced_until(flight));
        let quench =
            QuenchSeen { cause, una: flight.una, max: flight.max, reduced, round: response.quench_point(flight.max) };
        if !cx.ecn.on_quench(&quench) {
            return;
        }
        if response.takes_echo_first() {
            self.flight.reduce_for_ecn_ns2(self.scheme.counts_sacks(), cx);
        } else {
            self.scheme.reduce_for_ecn(&mut self.flight, 0, cx);
        }
        cx.counters.quench_reductions += 1;
    }

    // ---- next chunk ----

    /// Called before a burst: restart after idle time, and the scheme's estimates. Returns whether anything may be sent.
    pub fn begin_burst(&mut self, config: &Config, now: Time) -> bool {
        let scheme = &self.scheme;
        self.flight.restart_after_idle(|| scheme.probes_without_data(), config, now);
        if let Some(buffer) = &mut self.send_buffer {
            buffer.fill(&self.flight);
        }
        self.flight.recovery.burst_left = u32::MAX;
        if self.flight.recovery.active {
            self.scheme.begin_burst(&mut self.flight, config);
        }
        let admitted = self.flight.begin_burst(config, now);
        if !admitted {
            self.flight.recovery.burst_left = 0;
        }
        admitted || self.flight.recovery.head_due
    }

    /// Returns the next chunk that may be sent now.
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

    /// Whether the segment of data that ends at `end` carries PSH (RFC 9293 §3.9.1.2).
    #[inline(always)]
    pub fn pushes(&mut self, end: u64) -> bool {
        match &mut self.send_buffer {
            None => end == self.flight.end,
            Some(buffer) => buffer.pushes(end),
        }
    }

    /// Records that a chunk is sent now.
    #[inline(always)]
    pub fn sent(&mut self, chunk: Chunk, cx: &mut Cx) {
        let flight = &mut self.flight;
        let stop = chunk.start + u64::from(chunk.len) + u64::from(chunk.fin);
        let first_outstanding = flight.max == flight.una;
        if flight.law.wants_samples() {
            self.scheme.notify_sent(flight, chunk.start..stop, chunk.len, cx);
        }
        flight.advance(chunk, stop);
        if chunk.start < flight.max {
            self.scheme.on_sent(flight, chunk, cx);
            flight.count_retransmission(chunk, stop, cx);
        }
        if stop > flight.max {
            flight.max = stop;
            if !self.scheme.on_sent(flight, chunk, cx) {
                flight.time(chunk, stop, cx);
            }
            flight.count_limited_transmit(chunk);
        }
        flight.note_sent(cx.now);
        if !flight.pacer.sent(chunk.len.into(), cx.now) {
            flight.recovery.burst_left = 0;
        }
        // RFC 6298 §5.1. A fast retransmit restarts the timer, and so does data sent while the timer runs for a closed
        // window.
        if flight.timer.deadline == Time::NEVER || first_outstanding || chunk.how == How::FastHead {
            self.scheme.arm(flight, cx);
        }
    }

    /// Called at the end of a burst: the timer may be needed although no data is in flight.
    pub fn end_burst(&mut self, config: &Config, now: Time) {
        self.scheme.end_burst(&mut self.flight, config, now);
        self.flight.arm_if_waiting(config, now);
        self.flight.pacer.end(now);
        self.flight.check_application_limited();
    }

    // ---- the timer ----

    /// Called when the timer fires. Returns whether it was a timer of the scheme, and not a retransmission timeout.
    pub fn on_timer(&mut self, cx: &mut Cx) -> bool {
        let own = self.scheme.on_timer(&mut self.flight, cx);
        self.flight.notify_losses(cx.now);
        own
    }

    /// Called when the timer fires with nothing outstanding. Returns the probe of a closed window, if one is due.
    pub fn on_idle_timer(&mut self, cx: &mut Cx) -> Option<WindowProbe> {
        self.flight.on_idle_timer(self.scheme.probes_without_data(), cx)
    }

    /// Called on a retransmission timeout with data outstanding.
    pub fn on_timeout(&mut self, cx: &mut Cx) {
        self.scheme.on_timeout(&mut self.flight, cx);
        self.flight.notify_losses(cx.now);
    }
}

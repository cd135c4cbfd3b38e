//! The RACK model of a stream: when it starts and stops, and the segments and ACKs passed to it.

use ecnlab_wire::TcpOptions;

use super::{CapturedAck, Counts, ORIGIN, Stream};
use crate::rack::{Evidence, Rack, Tally, View};
use crate::ticks::Ticks;

impl Stream {
    /// Evidence for and against RACK.
    pub(crate) fn evidence(&self) -> Evidence {
        self.no_rack.or(self.rack.as_ref().map(|rack| rack.evidence)).unwrap_or_default()
    }

    /// Returns whether the RACK model is or was used.
    pub(crate) fn has_second_reading(&self) -> bool {
        self.rack.is_some() || self.no_rack.is_some()
    }

    /// Records a timestamp sent by this end.
    pub(crate) fn note_stamp(&mut self, time: u64, stamp: u32) {
        match &mut self.clock {
            Some(clock) => clock.note(time, stamp),
            None => self.clock = Some(Ticks::new(time, stamp)),
        }
    }

    /// Adds an RTT sample to the minimum.
    pub(crate) fn least_round_trip(&mut self, time: u64) {
        self.arrivals.least(time);
    }

    /// Adopts the classification of the RACK model; returns its number of reductions by ECN.
    pub(crate) fn settle_for_rack(&mut self) -> Option<u64> {
        let Tally { causes, timeouts, recoveries, reductions } = self.rack.as_ref()?.tally;
        let counts = &mut self.counts;
        (counts.causes, counts.timeouts, counts.recoveries) = (causes, timeouts, recoveries);
        Some(reductions)
    }

    /// Starts the RACK model, unless it was dropped; returns whether it is active.
    pub(super) fn watch(&mut self) -> bool {
        // Before the handshake ends only the SYN is sent.
        if self.no_rack.is_some() || !self.has_sack || self.una == ORIGIN {
            return false;
        }
        if self.rack.is_none() {
            let Counts { causes, timeouts, recoveries, .. } = self.counts;
            let tally = Tally { causes, timeouts, recoveries, reductions: 0 };
            self.rack = Some(Rack::begin(&self.segments, tally));
        }
        true
    }

    pub(super) fn give_up_rack(&mut self) {
        self.no_rack = Some(self.evidence());
        self.rack = None;
    }

    pub(super) fn with_rack<T>(&mut self, time: u64, f: impl FnOnce(&mut Rack, &mut View) -> T) -> Option<T> {
        let rack = self.rack.as_mut()?;
        let (segments, arrivals) = (&mut self.segments, &mut self.arrivals);
        Some(f(rack, &mut View { segments, arrivals, una: self.una, next: self.next, time, clock: self.clock }))
    }

    /// Returns whether a transmission at `time` was triggered by a timer: no packet in either direction for two RTTs.
    pub(super) fn is_quiet(&self, time: u64) -> bool {
        let last = self.ack_time.max(self.segments.back().map(|s| s.time)).unwrap_or(time);
        let wait = if self.answer == Some(0) { 1 } else { self.last_rtt.saturating_mul(2) };
        time.saturating_sub(last) >= wait
    }

    /// Processes new data above all data sent before.
    #[inline(never)]
    pub(super) fn watch_new(&mut self, start: u64, end: u64, time: u64, options: &[u8]) {
        let quiet = self.una < self.next && self.is_quiet(time);
        if (self.rack.is_none() && !quiet) || !self.watch() {
            return;
        }
        if self.rack.as_ref().is_some_and(|rack| rack.waits_for_stamp(time)) {
            let stamps = TcpOptions::parse(options).timestamps;
            stamps.into_iter().for_each(|own| self.note_stamp(time, own.value));
        }
        let first = self.segments.is_empty();
        self.with_rack(time, |rack, view| rack.send(view, (start, end), quiet, first));
    }

    /// Passes an ACK of `offset` to the RACK model before other processing; returns whether the model is active.
    #[inline(never)]
    pub(super) fn watch_ack(&mut self, captured: &CapturedAck<'_>, offset: u64, same_window: bool) -> bool {
        if !self.watch() {
            return false;
        }
        let duplicate = captured.bare && same_window;
        let echoed = TcpOptions::parse(captured.options).timestamps.map(|stamps| stamps.echo);
        let mut ends: [(u64, u64); 4] = std::array::from_fn(|i| {
            captured.blocks.get(i).map_or((0, 0), |b| (self.offset(b.start), self.offset(b.end)))
        });
        ends.sort_unstable();
        self.with_rack(captured.time, |rack, view| {
            rack.begin_ack(view, offset, duplicate, captured.echo, echoed);
            ends.into_iter().for_each(|(start, end)| rack.report(view, start, end));
        });
        true
    }
}

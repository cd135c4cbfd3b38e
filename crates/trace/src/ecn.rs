//! ECN of one direction: marks on its data, the receiver's echo, and the sender's response.

use ecnlab_wire::Ecn;

use crate::echo_cause::Cause;
use crate::ecn_seen::{Data, Echo};
use crate::rules::{Rule, Violations};
use crate::stats::Summary;

/// ECN counts of one direction.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Packets by codepoint: Not-ECT, ECT(1), ECT(0), CE.
    pub codepoints: [u64; 4],
    /// ACKs with ECE and without SYN.
    pub ece: u64,
    /// Packets with CWR, without SYN.
    pub cwr: u64,
    /// Episodes of ECE: each lasts from the first ACK with ECE to the first ACK without it.
    pub episodes: u64,
    /// Packets with CE that were acknowledged without ECE.
    pub unechoed: u64,
    /// Reductions required by ECE: at most one per window of data.
    pub reductions: u64,
    /// Time from CE on data to the first ECE, in nanoseconds.
    pub ce_to_ece: Summary,
    /// Time from the first ECE of an episode to CWR, in nanoseconds.
    pub ece_to_cwr: Summary,
    /// Time from the ECE that requires a reduction until the data outstanding is smaller by at least a tenth, in
    /// nanoseconds.
    pub ece_to_reduction: Summary,
}

/// A CE mark that is not yet echoed.
#[derive(Clone, Copy, Debug)]
struct Mark {
    end: u64,
    time: u64,
}

/// A reduction required by ECE.
#[derive(Clone, Copy, Debug)]
struct Required {
    time: u64,
    /// Time from which captured data shows the response: the ECE has reached the sender and the response has returned
    /// to the capture point, with an allowance for queues.
    shown_from: u64,
    /// End of the window of data in which the ECE arrived.
    point: u64,
    /// Maximum bytes outstanding before the ECE.
    flight: u64,
    /// Upper bound of the window: exceeds `flight` if the sender had not filled its window since the previous
    /// reduction.
    most: u64,
    /// The receive window, not the congestion window, limited the data outstanding before the ECE.
    limited: bool,
    /// New data sent since the ECE, in bytes.
    sent: u64,
    announced: bool,
    /// The previous reduction was not confirmed by CWR although new data was sent.
    overdue: bool,
    /// Everything was acknowledged, and at most one segment was ever outstanding: the next data has CWR.
    single: bool,
    seen: bool,
    grown: bool,
}

/// ECN state of one direction.
#[derive(Clone, Debug, Default)]
pub struct EcnState {
    /// Counts.
    pub counts: Counts,
    mark: Option<Mark>,
    /// Known cause of the echo.
    cause: Cause,
    echoing: Option<Echoing>,
    /// An ACK without ECE has been captured: an episode that began before the capture has no known start.
    plain_seen: bool,
    /// No reduction is due before this offset is acknowledged.
    recover: u64,
    /// The last reduction was required by ECE, not by a loss.
    by_ecn: bool,
    required: Option<Required>,
    /// Maximum bytes outstanding since the window of the last reduction.
    peak: u64,
    /// The receive window limited the data outstanding.
    limited: bool,
    segment: u64,
    last_cwr: Option<u64>,
    /// End of the data that had been sent when a retransmission had CWR: ECE for that data requires no other CWR.
    answered_by_retransmission: u64,
    /// ACK number that shows that the last CWR has arrived.
    under_way: Option<u64>,
    /// The capture point is closer to the receiver than to the sender.
    far: bool,
    /// Data captured before this time was sent before the sender received the echo.
    echo_arrives: u64,
    ended: bool,
}

#[derive(Clone, Copy, Debug)]
struct Echoing {
    time: u64,
    answered: bool,
    /// The echo must last until CWR; false if its start was not captured or CWR was already in flight.
    lasts: bool,
}

impl EcnState {
    /// Records a loss, detected by the `timer` or by duplicate ACKs, with data up to `point` sent: that data requires
    /// no further reduction. The last ACK was captured at `ack_time`.
    pub fn lost(&mut self, timer: bool, una: u64, point: u64, ack_time: Option<u64>) {
        // The ACK that revealed the loss also had ECE: one reduction for the window, attributed to the loss.
        if !timer && self.required.is_some_and(|required| Some(required.time) == ack_time) {
            self.counts.reductions -= 1;
            self.by_ecn = false;
        }
        // RFC 3168 §6.1.2: a loss in a window already reduced for ECE requires no second reduction.
        if timer || !self.by_ecn || una >= self.recover {
            self.recover = point;
        }
        self.by_ecn = false;
        self.unclear();
    }

    /// Resets the state that explains the window, because the capture may not show the reason for the sender's next
    /// action.
    pub fn unclear(&mut self) {
        self.last_cwr = None;
        self.required = None;
        (self.peak, self.limited) = (0, false);
    }

    /// Returns whether every ECE so far could be compared with captured marks; `None` before the first ECE.
    pub fn echo_checked(&self) -> Option<bool> {
        self.cause.checked()
    }

    /// Returns whether the last ACK in order had ECE.
    pub fn is_echoing(&self) -> bool {
        self.echoing.is_some()
    }

    /// Records that this end has closed its direction and its FIN is acknowledged: no CWR can follow.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Processes data.
    #[inline]
    pub fn send(&mut self, data: &Data, found: &mut Violations) {
        self.segment = self.segment.max(data.len.into());
        if data.cwr {
            self.on_cwr(data, found);
        }
        self.cause.send(data);
        if data.ecn == Ecn::Ce && !data.dropped && !data.again && self.mark.is_none() {
            self.mark = Some(Mark { end: data.end, time: data.time });
        }
        if data.time < self.echo_arrives {
            self.recover = data.next;
            if let Some(required) = &mut self.required {
                required.point = data.next;
            }
        } else if !data.again {
            self.peak = self.peak.max(data.flight);
            self.limited |= data.limited;
            if let Some(required) = self.required {
                self.answer(required, data, found);
            }
        }
    }

    #[cold]
    fn on_cwr(&mut self, data: &Data, found: &mut Violations) {
        if data.again {
            found.add(Rule::CwrOnRetransmission, data.number, data.time);
        } else if !self.far && self.last_cwr.is_some_and(|point| data.una < point) {
            found.add(Rule::CwrTwice, data.number, data.time);
        }
        self.last_cwr = Some(data.next);
        // The ACK of a retransmission may acknowledge the original; only data sent later proves its arrival.
        self.under_way = Some(if data.again { data.next + 1 } else { data.end });
        if data.again {
            self.answered_by_retransmission = data.next;
        } else {
            // CWR is on the first new data after the reduction: the window it confirms is the data sent before.
            self.recover = self.recover.max(data.start);
        }
        // The receiver ends the echo at this packet; an earlier mark may get no echo of its own.
        self.mark = None;
        if let Some(echoing) = &mut self.echoing
            && !echoing.answered
        {
            echoing.answered = true;
            self.counts.ece_to_cwr.add(data.time.saturating_sub(echoing.time));
        }
        if let Some(required) = &mut self.required {
            required.announced = true;
        }
    }

    /// Checks new data sent while a reduction is due.
    #[inline(never)]
    fn answer(&mut self, mut required: Required, data: &Data, found: &mut Violations) {
        if required.single && !required.announced {
            found.add(Rule::CwrMissing, data.number, data.time);
            self.required = None;
            return;
        }
        if data.time < required.shown_from {
            required.flight = required.flight.max(data.flight);
            required.most = required.most.max(data.flight);
            required.limited |= data.limited;
            self.required = Some(required);
            return;
        }
        required.sent += u64::from(data.len);
        if !required.seen && data.flight * 10 <= required.flight * 9 {
            required.seen = true;
            self.counts.ece_to_reduction.add(data.time.saturating_sub(required.time));
        }
        let free = !data.beyond && !required.limited;
        if self.echoing.is_some() && !required.grown && free && data.flight > required.most + self.segment {
            required.grown = true;
            found.add(Rule::GrowthOnEce, data.number, data.time);
        }
        if required.overdue && !required.announced {
            required.overdue = false;
            found.add(Rule::CwrMissing, data.number, data.time);
        }
        if data.una <= required.point {
            self.required = Some(required);
            return;
        }
        // A window later: all data outstanding at the ECE has been acknowledged.
        if !required.announced {
            found.add(Rule::CwrMissing, data.number, data.time);
        }
        // Fewer than four segments may be the minimum window, and a sender with little data was not limited by its
        // window.
        let full = required.flight >= 4 * self.segment && required.sent >= required.flight && !required.limited;
        if full && !required.seen && !required.grown && data.flight >= required.flight {
            found.add(Rule::NoReduction, data.number, data.time);
        }
        self.required = None;
        (self.peak, self.limited) = (data.flight, data.limited);
    }

    /// Processes an ACK.
    #[inline]
    pub fn echo(&mut self, echo: &Echo, found: &mut Violations) {
        if echo.ece && !self.ended {
            self.cause.echo(echo, self.echoing.is_some(), found);
        }
        if echo.ece {
            self.on_ece(echo);
        } else if !echo.old {
            self.on_plain(echo, found);
        }
        self.under_way = self.under_way.filter(|&end| echo.una < end);
    }

    fn on_ece(&mut self, echo: &Echo) {
        let mark = self.mark.take();
        if let Some(mark) = mark {
            self.counts.ce_to_ece.add(echo.time.saturating_sub(mark.time));
        }
        // A reordered ACK may have been sent before those that ended its echo.
        if self.echoing.is_none() && !echo.old {
            self.counts.episodes += 1;
            // CWR sent after a loss also ends the echo of all marks sent before it.
            let lasts = self.plain_seen && (self.under_way.is_none() || mark.is_some());
            self.echoing = Some(Echoing { time: echo.time, answered: false, lasts });
        }
        // RFC 3168 §6.1.2: once per window of data, for any congestion signal.
        let too_early = self.required.is_some_and(|required| echo.time < required.shown_from);
        if echo.una > self.recover && !echo.old && !too_early {
            self.counts.reductions += 1;
            self.recover = echo.next;
            self.by_ecn = true;
            self.echo_arrives = echo.time.saturating_add(echo.answer);
            let flight = self.peak.max(echo.flight);
            let unfilled = self.required.filter(|before| before.sent < before.most);
            let most = flight.max(unfilled.map_or(0, |before| before.most));
            let limited = self.limited;
            let overdue = self.required.is_some_and(|before| !before.announced && before.sent > 0);
            let (time, point, shown_from) =
                (echo.time, echo.next, echo.time.saturating_add(echo.answer.saturating_mul(4)));
            let single = echo.flight > 0 && echo.una == echo.next && flight <= self.segment;
            let overdue = overdue && !single;
            let required = Required {
                time,
                shown_from,
                point,
                flight,
                most,
                limited,
                sent: 0,
                announced: echo.una < self.answered_by_retransmission,
                overdue,
                single,
                seen: false,
                grown: false,
            };
            self.required = echo.near.then_some(required);
            self.far |= !echo.near;
        }
    }

    #[inline]
    fn on_plain(&mut self, echo: &Echo, found: &mut Violations) {
        self.plain_seen = true;
        self.cause.end(echo);
        if let Some(echoing) = self.echoing.take()
            && echoing.lasts
            && !echoing.answered
            && !self.ended
        {
            found.add(Rule::EceStopped, echo.number, echo.time);
        }
        if let Some(mark) = self.mark
            && echo.una >= mark.end
        {
            self.mark = None;
            if !self.ended {
                self.counts.unechoed += 1;
                found.add(Rule::EceMissing, echo.number, echo.time);
            }
        }
    }

    /// The segment that carried a mark was retransmitted: it is unknown whether the mark arrived.
    #[cold]
    pub fn resent(&mut self, start: u64, end: u64) {
        self.cause.resent(start, end);
        if self.mark.is_some_and(|mark| start < mark.end && mark.end <= end) {
            self.mark = None;
        }
    }
}

#[cfg(test)]
mod tests;

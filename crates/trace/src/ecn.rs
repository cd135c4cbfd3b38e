//! One direction's ECN: marks on its data, the echo that comes back, and how the sender answers.

use ecnlab_wire::Ecn;

use crate::echo_cause::Cause;
use crate::ecn_seen::{Data, Echo};
use crate::rules::{Rule, Violations};
use crate::stats::Summary;

/// Numbers of a direction's ECN.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Packets by codepoint: Not-ECT, ECT(1), ECT(0), CE.
    pub codepoints: [u64; 4],
    /// Packets with ECE, without SYN.
    pub ece: u64,
    /// Packets with CWR, without SYN.
    pub cwr: u64,
    /// Stretches of ACKs with ECE, from the first to the first without it.
    pub episodes: u64,
    /// Reductions that ECE must have caused: at most one for each window of data.
    pub reductions: u64,
    /// From CE on data to the first ECE.
    pub ce_to_ece: Summary,
    /// From the first ECE of an episode to CWR.
    pub ece_to_cwr: Summary,
    /// From the ECE that asks for it to the outstanding data being less by a tenth or more.
    pub ece_to_reduction: Summary,
}

/// A mark that has not been echoed.
#[derive(Clone, Copy, Debug)]
struct Mark {
    end: u64,
    time: u64,
}

/// A reduction that ECE asked for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    time: u64,
    /// When the sender has heard of it and what it sends then has come by, with room for queues on the way.
    heard: u64,
    /// The end of the window of data in which it was asked.
    point: u64,
    /// The most data outstanding before.
    flight: u64,
    /// What the window may be: more than `flight` if the sender had not yet filled its window since the reduction before.
    most: u64,
    /// The peer's window, not the sender's, limited the data outstanding before.
    limited: bool,
    /// New data sent since.
    sent: u64,
    told: bool,
    /// The one before this was not told of, although new data went out.
    overdue: bool,
    /// All was acknowledged, and at most one segment was ever outstanding: what goes out next has CWR.
    single: bool,
    seen: bool,
    grown: bool,
}

/// One direction's ECN.
#[derive(Clone, Debug, Default)]
pub struct EcnState {
    /// Numbers.
    pub counts: Counts,
    mark: Option<Mark>,
    /// What the echo tells of, if it tells of anything.
    cause: Cause,
    echoing: Option<Echoing>,
    /// Whether an ACK without ECE has been seen: the echo that runs when a capture begins has no known beginning.
    plain_seen: bool,
    /// No reduction is due before this is acknowledged.
    recover: u64,
    /// Whether ECE, not a loss, asked for the last one.
    by_ecn: bool,
    asked: Option<Asked>,
    /// The most data outstanding since the window of the last one.
    peak: u64,
    /// The peer's window limited them.
    limited: bool,
    segment: u64,
    last_cwr: Option<u64>,
    /// What an ACK has to reach for the last CWR to have come.
    under_way: Option<u64>,
    /// Whether this place is nearer to the receiver.
    far: bool,
    /// Up to when what comes by was sent before the sender had heard of the echo.
    unheard_until: u64,
    ended: bool,
}

#[derive(Clone, Copy, Debug)]
struct Echoing {
    time: u64,
    answered: bool,
    /// Whether it has to go on until CWR: not where its beginning was not seen, nor where CWR was already on its way.
    lasts: bool,
}

impl EcnState {
    /// A loss was found, by the `timer` or by duplicate ACKs, with data up to `point` sent: the next reduction is not due
    /// for them. The last ACK came at `ack_time`.
    pub fn lost(&mut self, timer: bool, una: u64, point: u64, ack_time: Option<u64>) {
        // The ACK that told of the loss had ECE, too: one window, one reduction, and it is the loss's.
        if !timer && self.asked.is_some_and(|asked| Some(asked.time) == ack_time) {
            self.counts.reductions -= 1;
            self.by_ecn = false;
        }
        // RFC 3168 §6.1.2: a loss in the window that ECE has reduced asks for no second reduction.
        if timer || !self.by_ecn || una >= self.recover {
            self.recover = point;
        }
        self.by_ecn = false;
        self.unclear();
    }

    /// What the sender does now may have a reason that this capture does not show.
    pub fn unclear(&mut self) {
        self.last_cwr = None;
        self.asked = None;
        (self.peak, self.limited) = (0, false);
    }

    /// Whether it was told what ECE is about: `None` before there was any.
    pub fn echo_checked(&self) -> Option<bool> {
        self.cause.checked()
    }

    /// This end has closed its direction and that was acknowledged: no CWR can be expected.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Data are sent.
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
        if data.time < self.unheard_until {
            self.recover = data.next;
            if let Some(asked) = &mut self.asked {
                asked.point = data.next;
            }
        } else if !data.again {
            self.peak = self.peak.max(data.flight);
            self.limited |= data.limited;
            if let Some(asked) = self.asked {
                self.answer(asked, data, found);
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
        // The ACK of a retransmission may be that of the segment sent before: not so what was sent after it.
        self.under_way = Some(if data.again { data.next + 1 } else { data.end });
        if !data.again {
            // CWR is on the first new data after the reduction: what was sent before is the window that it was for.
            self.recover = self.recover.max(data.start);
        }
        // The receiver stops with this packet; a mark before it may go without an echo of its own.
        self.mark = None;
        if let Some(echoing) = &mut self.echoing
            && !echoing.answered
        {
            echoing.answered = true;
            self.counts.ece_to_cwr.add(data.time.saturating_sub(echoing.time));
        }
        if let Some(asked) = &mut self.asked {
            asked.told = true;
        }
    }

    /// New data are sent while a reduction is due.
    #[inline(never)]
    fn answer(&mut self, mut asked: Asked, data: &Data, found: &mut Violations) {
        if asked.single && !asked.told {
            found.add(Rule::CwrMissing, data.number, data.time);
            self.asked = None;
            return;
        }
        if data.time < asked.heard {
            asked.flight = asked.flight.max(data.flight);
            asked.most = asked.most.max(data.flight);
            asked.limited |= data.limited;
            self.asked = Some(asked);
            return;
        }
        asked.sent += u64::from(data.len);
        if !asked.seen && data.flight * 10 <= asked.flight * 9 {
            asked.seen = true;
            self.counts.ece_to_reduction.add(data.time.saturating_sub(asked.time));
        }
        let free = !data.beyond && !asked.limited;
        if self.echoing.is_some() && !asked.grown && free && data.flight > asked.most + self.segment {
            asked.grown = true;
            found.add(Rule::GrowthOnEce, data.number, data.time);
        }
        if asked.overdue && !asked.told {
            asked.overdue = false;
            found.add(Rule::CwrMissing, data.number, data.time);
        }
        if data.una <= asked.point {
            self.asked = Some(asked);
            return;
        }
        // A window later: all that was outstanding when ECE came has been acknowledged.
        if !asked.told {
            found.add(Rule::CwrMissing, data.number, data.time);
        }
        // Less than four segments cannot be told from a window at its floor, and who sends little was not held back.
        let full = asked.flight >= 4 * self.segment && asked.sent >= asked.flight && !asked.limited;
        if full && !asked.seen && !asked.grown && data.flight >= asked.flight {
            found.add(Rule::NoReduction, data.number, data.time);
        }
        self.asked = None;
        (self.peak, self.limited) = (data.flight, data.limited);
    }

    /// An ACK comes back.
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
        // An old ACK may have been overtaken by those that ended its echo.
        if self.echoing.is_none() && !echo.old {
            self.counts.episodes += 1;
            // CWR that reduced for another reason, a loss, ends the echo of all marks that left before it.
            let lasts = self.plain_seen && (self.under_way.is_none() || mark.is_some());
            self.echoing = Some(Echoing { time: echo.time, answered: false, lasts });
        }
        // RFC 3168 §6.1.2: once for each window of data, whatever told of congestion first.
        let unheard = self.asked.is_some_and(|asked| echo.time < asked.heard);
        if echo.una > self.recover && !echo.old && !unheard {
            self.counts.reductions += 1;
            self.recover = echo.next;
            self.by_ecn = true;
            self.unheard_until = echo.time.saturating_add(echo.answer);
            let flight = self.peak.max(echo.flight);
            let unfilled = self.asked.filter(|before| before.sent < before.most);
            let most = flight.max(unfilled.map_or(0, |before| before.most));
            let limited = self.limited;
            let overdue = self.asked.is_some_and(|before| !before.told && before.sent > 0);
            let (time, point, heard) = (echo.time, echo.next, echo.time.saturating_add(echo.answer.saturating_mul(4)));
            let single = echo.flight > 0 && echo.una == echo.next && flight <= self.segment;
            let overdue = overdue && !single;
            let asked = Asked {
                time,
                heard,
                point,
                flight,
                most,
                limited,
                sent: 0,
                told: false,
                overdue,
                single,
                seen: false,
                grown: false,
            };
            self.asked = echo.near.then_some(asked);
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
                found.add(Rule::EceMissing, echo.number, echo.time);
            }
        }
    }

    /// What carried a mark was sent again: whether the mark arrived is not known.
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

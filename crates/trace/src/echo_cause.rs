//! Cause of an echo: a captured CE mark or none, where the capture point shows CE.

use ecnlab_wire::Ecn;

use crate::ecn_seen::{AT_ONCE, Data, Echo, Place};
use crate::rules::{Rule, Violations};

/// CWR was captured, and no CE since.
#[derive(Clone, Copy, Debug)]
struct Ended {
    /// Start of the segment with CWR.
    start: u64,
    end: u64,
    /// End of the data outstanding when CWR was first acknowledged: the echo of a mark set downstream may last until
    /// there.
    window: Option<u64>,
    /// ACK number of the first ACK of CWR, which may also cover a packet with CE (RFC 3168 §6.1.3).
    first: Option<u64>,
    noted: bool,
}

/// Known causes of one direction's echo.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cause {
    /// End and time of the last CE mark not yet known to be followed by an ACK without ECE.
    mark: Option<(u64, u64)>,
    /// The current echo began after a captured CE mark.
    explained: bool,
    ended: Option<Ended>,
    /// ECE was compared with the captured marks; `None` before the first ECE.
    checked: Option<bool>,
}

impl Cause {
    pub fn checked(&self) -> Option<bool> {
        self.checked
    }

    /// Processes data.
    #[inline]
    pub fn send(&mut self, data: &Data) {
        if data.dropped {
            return;
        }
        if data.cwr && data.end > data.una {
            let Data { start, end, .. } = *data;
            self.ended = Some(Ended { start, end, window: None, first: None, noted: false });
        }
        if data.ecn == Ecn::Ce {
            self.mark = Some((data.end, data.time));
            self.ended = None;
        }
    }

    /// The segment with CWR was retransmitted: it is unknown whether CWR arrived.
    #[cold]
    pub fn resent(&mut self, start: u64, end: u64) {
        self.ended = self.ended.filter(|ended| ended.end <= start || end <= ended.start);
    }

    /// Processes an ACK with ECE; `goes_on` if the previous one had ECE.
    pub fn echo(&mut self, echo: &Echo, goes_on: bool, found: &mut Violations) {
        if echo.old {
            return;
        }
        let at_receiver = echo.place == Place::Receiver;
        self.checked = Some(self.checked.unwrap_or(true) && at_receiver);
        if !goes_on {
            self.explained = self.mark.is_some();
            if at_receiver && !self.explained {
                found.add(Rule::EceWithoutCe, echo.number, echo.time);
            }
        }
        if let Some(ended) = &mut self.ended
            && echo.una >= ended.end
        {
            let first = *ended.first.get_or_insert(echo.una);
            let window = *ended.window.get_or_insert(echo.next);
            let late = if at_receiver { echo.una > first } else { echo.una > window };
            let shown = at_receiver || (self.explained && echo.place == Place::Before);
            if shown && late && goes_on && !ended.noted {
                ended.noted = true;
                found.add(Rule::EceAfterCwr, echo.number, echo.time);
            }
        }
    }

    /// Processes an ACK without ECE that is not reordered.
    #[inline]
    pub fn end(&mut self, echo: &Echo) {
        // The ACK may have been sent before the receiver processed a mark captured just now.
        self.mark = self.mark.filter(|&(end, time)| echo.una < end || echo.time < time.saturating_add(AT_ONCE));
        self.ended = self.ended.filter(|ended| echo.una < ended.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Standard;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_receiver_answers_at_once_and_in_less_than_a_tenth_of_the_senders_time() {
        let of = |receiver, sender| Place::of(Some(receiver), Some(sender), false);
        assert_eq!([of(AT_ONCE, SECOND), of(AT_ONCE + 1, SECOND)], [Place::Receiver, Place::Before]);
        assert_eq!([of(100, 1001), of(100, 1000)], [Place::Receiver, Place::Before]);
        assert_eq!(Place::of(Some(100), Some(1001), true), Place::Gaps);
        assert_eq!([Place::of(None, Some(1001), false), Place::of(Some(100), None, false)], [Place::Before; 2]);
    }

    fn data(time: u64, start: u64, end: u64, una: u64) -> Data {
        Data {
            number: 1,
            time,
            start,
            end,
            len: (end - start) as u32,
            ecn: Ecn::Ect0,
            cwr: false,
            again: false,
            dropped: false,
            flight: 0,
            beyond: false,
            limited: false,
            una,
            next: end,
        }
    }

    fn cwr(start: u64, end: u64, una: u64) -> Data {
        Data { cwr: true, ..data(0, start, end, una) }
    }

    /// An ACK with ECE at the receiver's own interface.
    fn echo(time: u64, una: u64) -> Echo {
        Echo {
            number: una,
            time,
            ece: true,
            old: false,
            una,
            next: una,
            flight: 0,
            answer: 0,
            near: true,
            place: Place::Receiver,
        }
    }

    /// Returns the acknowledgement numbers of those ACKs, with ECE and ending at `acks`, that break the rule.
    fn after_cwr(cause: &mut Cause, acks: &[u64]) -> Vec<u64> {
        let mut found = Violations::of(Standard::Rfc3168);
        acks.iter().for_each(|&una| cause.echo(&echo(SECOND, una), true, &mut found));
        found.list().iter().map(|one| one.packet).collect()
    }

    #[test]
    fn cwr_on_data_that_were_acknowledged_before_ends_nothing() {
        let seen = |una| {
            let mut cause = Cause::default();
            cause.send(&cwr(1000, 2000, una));
            after_cwr(&mut cause, &[2000, 3000])
        };
        // The whole segment was acknowledged: nothing shows that this copy arrived.
        assert_eq!([seen(1999), seen(2000)], [vec![3000], vec![]]);
    }

    #[test]
    fn cwr_that_was_sent_again_may_not_have_arrived() {
        let seen = |start, end| {
            let mut cause = Cause::default();
            cause.send(&cwr(1000, 2000, 0));
            cause.resent(start, end);
            after_cwr(&mut cause, &[2000, 3000])
        };
        // A segment that overlaps 1000 to 2000 retransmits part of it.
        assert!([seen(1999, 3000), seen(0, 1001), seen(1200, 1300)].iter().all(Vec::is_empty));
        assert_eq!([seen(2000, 3000), seen(0, 1000)], [vec![3000], vec![3000]]);
    }

    #[test]
    fn an_ack_without_ece_ends_what_marks_explain() {
        // CE on 0 to 1000 at 1 s; an ACK without ECE; another with ECE. `true`: the last one is spurious.
        let of_nothing = |una, after| {
            let mut cause = Cause::default();
            cause.send(&Data { ecn: Ecn::Ce, ..data(SECOND, 0, 1000, 0) });
            cause.end(&echo(SECOND + after, una));
            let mut found = Violations::of(Standard::Rfc3168);
            cause.echo(&echo(3 * SECOND, 2000), false, &mut found);
            found.count(Rule::EceWithoutCe) == 1
        };
        // The mark is still in flight if its segment is not acknowledged or was acknowledged within the last
        // millisecond.
        assert_eq!([of_nothing(999, SECOND), of_nothing(1000, AT_ONCE - 1)], [false, false]);
        assert_eq!([of_nothing(1000, AT_ONCE), of_nothing(1001, SECOND)], [true, true]);
    }

    #[test]
    fn an_ack_without_ece_for_cwr_ends_the_wait_for_it() {
        let seen = |una| {
            let mut cause = Cause::default();
            cause.send(&cwr(1000, 2000, 0));
            cause.end(&echo(SECOND, una));
            after_cwr(&mut cause, &[2000, 3000])
        };
        assert_eq!([seen(1999), seen(2000), seen(2001)], [vec![3000], vec![], vec![]]);
    }
}

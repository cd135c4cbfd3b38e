//! What an echo tells of: CE that came by here, or nothing; where CE could be seen.

use ecnlab_wire::Ecn;

use crate::ecn_seen::{AT_ONCE, Data, Echo, Place};
use crate::rules::{Rule, Violations};

/// CWR came by, and no CE since.
#[derive(Clone, Copy, Debug)]
struct Ended {
    /// The segment with it.
    start: u64,
    end: u64,
    /// What was outstanding when it was first acknowledged ends here: the echo of a mark on the way may go on to there.
    window: Option<u64>,
    /// What the first ACK of it acknowledges: that may cover a packet with CE besides (RFC 3168 §6.1.3).
    first: Option<u64>,
    told: bool,
}

/// What the echo of one direction tells of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cause {
    /// The end and the time of the last CE that no ACK without ECE is known to have followed.
    mark: Option<(u64, u64)>,
    /// The echo going on began after CE that came by here.
    explained: bool,
    ended: Option<Ended>,
    /// Whether ECE was held against what came by; `None` before there was any.
    checked: Option<bool>,
}

impl Cause {
    pub fn checked(&self) -> Option<bool> {
        self.checked
    }

    /// Data come by.
    #[inline]
    pub fn send(&mut self, data: &Data) {
        if data.dropped {
            return;
        }
        if data.cwr && data.end > data.una {
            let Data { start, end, .. } = *data;
            self.ended = Some(Ended { start, end, window: None, first: None, told: false });
        }
        if data.ecn == Ecn::Ce {
            self.mark = Some((data.end, data.time));
            self.ended = None;
        }
    }

    /// What carried CWR was sent again: whether CWR arrived is not known.
    #[cold]
    pub fn resent(&mut self, start: u64, end: u64) {
        self.ended = self.ended.filter(|ended| ended.end <= start || end <= ended.start);
    }

    /// An ACK with ECE; `goes_on` if the last had it, too.
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
            if shown && late && goes_on && !ended.told {
                ended.told = true;
                found.add(Rule::EceAfterCwr, echo.number, echo.time);
            }
        }
    }

    /// An ACK without ECE, no older than others.
    #[inline]
    pub fn end(&mut self, echo: &Echo) {
        // A mark that has just come may not yet be what the ACK tells of.
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

    /// The ACKs of an echo that goes on, up to here each, and those of them that break the rule, by what they acknowledge.
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
        // All of it was: nothing says that this copy arrived.
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
        // What shares a byte with 1000 to 2000 has sent some of it again.
        assert!([seen(1999, 3000), seen(0, 1001), seen(1200, 1300)].iter().all(Vec::is_empty));
        assert_eq!([seen(2000, 3000), seen(0, 1000)], [vec![3000], vec![3000]]);
    }

    #[test]
    fn an_ack_without_ece_ends_what_marks_explain() {
        // CE on 0 to 1000 at 1 s; an ACK without ECE; another with ECE. `true`: that one is of nothing.
        let of_nothing = |una, after| {
            let mut cause = Cause::default();
            cause.send(&Data { ecn: Ecn::Ce, ..data(SECOND, 0, 1000, 0) });
            cause.end(&echo(SECOND + after, una));
            let mut found = Violations::of(Standard::Rfc3168);
            cause.echo(&echo(3 * SECOND, 2000), false, &mut found);
            found.count(Rule::EceWithoutCe) == 1
        };
        // The mark is still on its way if its segment is not acknowledged, or was so within a millisecond.
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

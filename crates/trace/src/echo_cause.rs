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

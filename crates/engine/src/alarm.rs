//! Timer events of an endpoint, whose deadline moves with nearly every segment.

use ecnlab_base::Time;

/// The next two timer events that are pending for an endpoint. A deadline that moves back leaves its event in the queue, which
/// asks for the deadline again when it is due; so does the event of a retransmission timeout behind those of pacing.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    next: Time,
    later: Time,
}

impl Alarm {
    /// No event is pending.
    pub const OFF: Alarm = Alarm { next: Time::NEVER, later: Time::NEVER };

    /// Returns whether an event at `deadline` has to be scheduled: none is pending up to then.
    #[inline(always)]
    pub fn set(&mut self, deadline: Time) -> bool {
        let schedule = deadline < self.next;
        if schedule {
            (self.next, self.later) = (deadline, self.next);
        }
        schedule
    }

    /// Takes an event that is due at `now`. Returns whether it was the next one, and not one that a nearer one has displaced:
    /// answering that would breed another.
    #[inline(always)]
    pub fn take(&mut self, now: Time) -> bool {
        let taken = self.next == now;
        if taken {
            (self.next, self.later) = (self.later, Time::NEVER);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn a_later_deadline_needs_no_event_of_its_own() {
        let mut alarm = Alarm::OFF;
        assert_eq!([50, 50, 60, 10].map(|ps| alarm.set(at(ps))), [true, false, false, true]);
        // The event at 50 is still in the queue.
        assert!(alarm.take(at(10)) && !alarm.set(at(50)) && alarm.take(at(50)) && alarm.set(at(70)));
    }

    #[test]
    fn of_three_events_the_last_is_forgotten() {
        let mut alarm = Alarm::OFF;
        assert_eq!([50, 20, 10].map(|ps| alarm.set(at(ps))), [true; 3]);
        assert!(alarm.take(at(10)) && alarm.take(at(20)) && !alarm.take(at(50)) && alarm.set(at(50)));
    }
}

//! The event queue: a total order of (time, class, sequence).
//!
//! A 4-ary heap whose root may stand vacant: a handler that schedules the successor of the event it
//! is handling (a link its next delivery, a timer its next deadline) refills the root in one sift
//! instead of a pop and a push.

use ecnlab_base::Time;

/// What an event is about; the order breaks ties between events of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A packet reaches the far end of a link, or a link's shaper lets the next one go.
    Link,
    /// An endpoint's deadline.
    Timer,
    /// A source wants to be asked.
    Wake,
    /// The warm-up ends.
    Warmup,
    /// Time series are sampled: after everything else of that instant.
    Sample,
}

const CLASSES: [Class; 5] = [Class::Link, Class::Timer, Class::Wake, Class::Warmup, Class::Sample];
const SEQUENCE_BITS: u32 = 60;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: Time,
    /// Class in the high bits, sequence in the low ones.
    order: u64,
    target: u32,
}

/// An event that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// What kind.
    pub class: Class,
    /// Which link, endpoint or flow.
    pub target: u32,
}

/// Pending events, earliest first.
#[derive(Default)]
pub struct EventQueue {
    heap: Vec<Entry>,
    /// The root has been handed out and its place not yet refilled.
    vacant: bool,
    sequence: u64,
}

impl EventQueue {
    /// Schedules an event. Of two at the same time and class, the one pushed first is due first.
    pub fn push(&mut self, time: Time, class: Class, target: u32) {
        let entry = Entry { time, order: (class as u64) << SEQUENCE_BITS | self.sequence, target };
        self.sequence += 1;
        if self.vacant {
            self.vacant = false;
            self.sift_down(entry);
        } else {
            self.heap.push(entry);
            self.sift_up(entry);
        }
    }

    /// Takes the earliest event.
    pub fn pop(&mut self) -> Option<Event> {
        if self.vacant {
            self.vacant = false;
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.sift_down(last);
            }
        }
        let top = *self.heap.first()?;
        self.vacant = true;
        Some(Event { time: top.time, class: CLASSES[(top.order >> SEQUENCE_BITS) as usize], target: top.target })
    }

    fn sift_up(&mut self, entry: Entry) {
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    /// Puts `entry` where the root stood.
    fn sift_down(&mut self, entry: Entry) {
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let last = (first + 4).min(self.heap.len());
            let Some(least) = (first..last).min_by_key(|&child| self.heap[child]) else { break };
            if self.heap[least] >= entry {
                break;
            }
            self.heap[at] = self.heap[least];
            at = least;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_are_broken_by_class_and_then_by_age() {
        let mut q = EventQueue::default();
        let t = Time::from_ps(5);
        q.push(t, Class::Sample, 0);
        q.push(t, Class::Timer, 1);
        q.push(t, Class::Link, 2);
        q.push(t, Class::Link, 3);
        q.push(Time::from_ps(4), Class::Sample, 4);
        let order: Vec<u32> = std::iter::from_fn(|| q.pop()).map(|e| e.target).collect();
        assert_eq!(order, [4, 2, 3, 1, 0]);
    }

    proptest! {
        /// Against a sorted list, with pushes between pops so that the vacant root is refilled.
        #[test]
        fn events_leave_in_order(ops in prop::collection::vec((0_u64..50, 0_usize..5, any::<bool>()), 1..300)) {
            let mut q = EventQueue::default();
            let mut model: Vec<(u64, usize, u32)> = Vec::new();
            for (i, (time, class, pop)) in ops.into_iter().enumerate() {
                q.push(Time::from_ps(time), CLASSES[class], i as u32);
                model.push((time, class, i as u32));
                if pop {
                    model.sort_unstable();
                    let got = q.pop().map(|e| (e.time.ps(), e.class as usize, e.target));
                    prop_assert_eq!(got, Some(model.remove(0)));
                }
            }
            model.sort_unstable();
            for want in model {
                let got = q.pop().map(|e| (e.time.ps(), e.class as usize, e.target));
                prop_assert_eq!(got, Some(want));
            }
            prop_assert_eq!(q.pop(), None);
        }
    }
}

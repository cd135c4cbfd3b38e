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

const TARGET_BITS: u32 = 28;
const SEQUENCE_BITS: u32 = 33;
const CLASS_SHIFT: u32 = TARGET_BITS + SEQUENCE_BITS;
const TIME_SHIFT: u32 = 64;

/// Time, class, sequence and target, from high bits to low: one comparison gives the order.
type Entry = u128;

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
    /// Counts pushes modulo 2^33; two events of one instant are never that far apart.
    sequence: u64,
}

impl EventQueue {
    /// Schedules an event. Of two at the same time and class, the one pushed first is due first.
    pub fn push(&mut self, time: Time, class: Class, target: u32) {
        let order = (class as u64) << CLASS_SHIFT | self.sequence << TARGET_BITS | u64::from(target);
        let entry = u128::from(time.ps()) << TIME_SHIFT | u128::from(order);
        self.sequence = (self.sequence + 1) & ((1 << SEQUENCE_BITS) - 1);
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
        let order = top as u64;
        Some(Event {
            time: Time::from_ps((top >> TIME_SHIFT) as u64),
            class: CLASSES[(order >> CLASS_SHIFT) as usize],
            target: order as u32 & ((1 << TARGET_BITS) - 1),
        })
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
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        while let Some(least) = least_child(heap, at) {
            if heap[least] >= entry {
                break;
            }
            heap[at] = heap[least];
            at = least;
        }
        heap[at] = entry;
    }
}

/// The least of the up to four children of `at`. Of four, as two rounds of a knock-out: without branches.
#[inline]
fn least_child(heap: &[Entry], at: usize) -> Option<usize> {
    let first = 4 * at + 1;
    let least = |i: usize, j: usize| if heap[j] < heap[i] { j } else { i };
    if first + 3 < heap.len() {
        Some(least(least(first, first + 1), least(first + 2, first + 3)))
    } else {
        (first..heap.len()).reduce(least)
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

//! The event queue: a total order of (time, class, sequence).
//!
//! Near-future events are in a [wheel], those of the next quarter of a second in the buckets of [later], the others in a heap.
//! Where many are due within a microsecond, as in fast networks, the events of that bucket of the wheel are sorted when it is
//! reached. The earliest of the first events of wheel, sorted bucket and heap is next. Before it, the events of a later bucket
//! that begins earlier are moved to the wheel.

mod later;
mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ecnlab_base::Time;

use later::{Inserted, Later};
use wheel::{Entry, Least, Wheel};

/// Kind of an event; the order breaks ties at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A packet reaches the far end of a link, or a link's shaper releases the next one.
    Link,
    /// An endpoint's deadline.
    Timer,
    /// A flow stops.
    Stop,
    /// A traffic source is polled.
    Wake,
    /// An application reads, or a deadline of an endpoint of QUIC.
    Read,
    /// A router sends a source quench that it has delayed.
    Quench,
    /// The warm-up ends.
    Warmup,
    /// Time series are sampled: after all other events at that time.
    Sample,
}

/// Length from which the sorted events of a bucket are not sorted again with later ones of it.
const LONG: usize = 128;

const TARGET_BITS: u32 = 28;
const CLASS_SHIFT: u32 = 61;

/// A due event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its time.
    pub time: Time,
    order: u64,
}

impl Event {
    /// Returns whether it is of [`Class::Link`], as nearly all are; cheaper than comparing the class.
    #[inline(always)]
    pub const fn is_of_link(&self) -> bool {
        self.order >> CLASS_SHIFT == Class::Link as u64
    }
    /// Its class.
    pub const fn class(&self) -> Class {
        match self.order >> CLASS_SHIFT {
            0 => Class::Link,
            1 => Class::Timer,
            2 => Class::Stop,
            3 => Class::Wake,
            4 => Class::Read,
            5 => Class::Quench,
            6 => Class::Warmup,
            _ => Class::Sample,
        }
    }
    /// Index of the link, endpoint, flow or cargo.
    #[inline(always)]
    pub const fn target(&self) -> u32 {
        self.order as u32 & ((1 << TARGET_BITS) - 1)
    }
}

/// Pending events, earliest first.
pub struct EventQueue {
    near: Wheel,
    /// Events of a crowded bucket of `near`, latest first.
    sorted: Vec<Entry>,
    later: Later,
    far: BinaryHeap<Reverse<Entry>>,
    /// The first of `sorted` and `far`, or the start of `later`; [`Entry::LAST`] if there is none.
    first_other: Entry,
    /// Counts pushes modulo 2^32; two events at the same time are never that far apart.
    sequence: u32,
}

impl EventQueue {
    /// Schedules an event, not before the last one popped. Of two events with equal time and class, the one pushed
    /// first is due first.
    #[inline(never)]
    pub fn push(&mut self, time: Time, class: Class, target: u32) {
        self.push_inlined(time, class, target);
    }

    /// [`EventQueue::push`] for the most frequent caller.
    #[inline(always)]
    pub fn push_inlined(&mut self, time: Time, class: Class, target: u32) {
        let place = (class as u64) << CLASS_SHIFT | u64::from(target);
        let entry = Entry::new(time.ps(), place | u64::from(self.sequence) << TARGET_BITS);
        self.sequence = self.sequence.wrapping_add(1);
        if !self.near.insert(entry) {
            self.push_far(entry);
        }
    }

    /// Removes and returns the earliest event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Event> {
        let first = self.near.first_bucket();
        let entry = match first.and_then(|bucket| self.near.take_only_before(self.first_other, bucket)) {
            Some(entry) => entry,
            None => self.take_other(first)?,
        };
        self.near.turn_to(entry.time());
        Some(Event { time: Time::from_ps(entry.time()), order: entry.order() })
    }

    #[cold]
    fn push_far(&mut self, entry: Entry) {
        match self.later.insert(entry, self.near.time()) {
            Inserted::Behind => {}
            Inserted::First => self.first_other = self.first_other.min(self.later.start),
            Inserted::Nowhere => self.push_farthest(entry),
        }
    }

    #[cold]
    #[inline(never)]
    fn push_farthest(&mut self, entry: Entry) {
        self.far.push(Reverse(entry));
        self.first_other = self.first_other.min(entry);
    }

    /// Removes the earliest event if the wheel's first bucket, `bucket`, has several events or only later ones.
    #[inline(never)]
    fn take_other(&mut self, bucket: Option<usize>) -> Option<Entry> {
        if let Some(bucket) = bucket {
            match self.near.take_least_before(self.first_other, bucket) {
                Least::Is(entry) => return Some(entry),
                Least::Crowd => self.empty(bucket),
                Least::NotBefore => {}
            }
        }
        let entry = self.first_other;
        if entry == self.later.start && entry != Entry::LAST {
            self.advance();
            let first = self.near.first_bucket();
            let only = first.and_then(|bucket| self.near.take_only_before(self.first_other, bucket));
            return only.or_else(|| self.take_other(first));
        }
        if self.sorted.last() == Some(&entry) {
            self.sorted.pop();
        } else {
            self.far.pop()?;
        }
        self.first_other = self.first_of_others();
        Some(entry)
    }

    /// Moves the events of the first later bucket to the wheel, which has only events of that bucket's time on.
    fn advance(&mut self) {
        self.near.turn_to(self.later.start.time());
        self.later.empty_first(|entry| {
            self.near.insert(entry);
        });
        self.first_other = self.first_of_others();
    }

    /// Moves the events of `bucket` to `sorted`; to `far` if `sorted` is long, so that it is not sorted too often.
    #[inline(never)]
    fn empty(&mut self, bucket: usize) {
        if self.sorted.len() < LONG {
            self.near.empty(bucket, |entry| self.sorted.push(entry));
            self.sorted.sort_unstable_by(|a, b| b.cmp(a));
        } else {
            self.near.empty(bucket, |entry| self.far.push(Reverse(entry)));
        }
        self.first_other = self.first_of_others();
    }

    fn first_of_others(&self) -> Entry {
        let far = self.far.peek().map_or(Entry::LAST, |&Reverse(entry)| entry);
        self.sorted.last().map_or(far, |&sorted| sorted.min(far)).min(self.later.start)
    }
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue {
            near: Wheel::default(),
            sorted: Vec::new(),
            later: Later::default(),
            far: BinaryHeap::new(),
            first_other: Entry::LAST,
            sequence: 0,
        }
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
        let order: Vec<u32> = std::iter::from_fn(|| q.pop()).map(|e| e.target()).collect();
        assert_eq!(order, [4, 2, 3, 1, 0]);
    }

    #[test]
    fn a_crowd_leaves_in_order_and_is_not_walked_for_each() {
        let mut q = EventQueue::default();
        let mut left: Vec<u64> = (0..3_000).map(|i| i * 7_919 % 3).collect();
        left.iter().enumerate().for_each(|(i, &ps)| q.push(Time::from_ps(ps), Class::Wake, i as u32));
        left.sort_unstable();
        for (i, &ps) in left.iter().enumerate() {
            let event = q.pop().unwrap();
            assert_eq!(event.time.ps(), ps);
            if i == 0 {
                assert_eq!(q.sorted.len(), 2_999);
                q.push(Time::from_ps(2), Class::Link, 9_999);
            }
            if i == 1_999 {
                let early = q.pop().unwrap();
                assert_eq!((early.time.ps(), early.target()), (2, 9_999));
            }
        }
        assert_eq!(q.pop(), None);
    }

    proptest! {
        /// Compares with a sorted list; steps from zero to beyond all buckets, pushes between pops.
        #[test]
        fn events_leave_in_order(
            ops in prop::collection::vec(
                (prop_oneof![0_u64..3, 0_u64..1 << 22, 0_u64..1 << 34, 0_u64..1 << 40], 0_usize..8, 0_u8..3),
                1..200,
            ),
        ) {
            use Class::{Link, Quench, Read, Sample, Stop, Timer, Wake, Warmup};
            const CLASSES: [Class; 8] = [Link, Timer, Stop, Wake, Read, Quench, Warmup, Sample];
            let mut q = EventQueue::default();
            let mut model: Vec<(u64, usize, u32)> = Vec::new();
            let mut now = 0;
            for (i, (step, class, pops)) in ops.into_iter().enumerate() {
                q.push(Time::from_ps(now + step), CLASSES[class], i as u32);
                model.push((now + step, class, i as u32));
                for _ in 0..pops.min(model.len() as u8) {
                    model.sort_unstable();
                    let want = model.remove(0);
                    let got = q.pop().map(|e| (e.time.ps(), e.class() as usize, e.target()));
                    prop_assert_eq!(got, Some(want));
                    now = want.0;
                }
            }
            model.sort_unstable();
            for want in model {
                let got = q.pop().map(|e| (e.time.ps(), e.class() as usize, e.target()));
                prop_assert_eq!(got, Some(want));
            }
            prop_assert_eq!(q.pop(), None);
        }
    }
}

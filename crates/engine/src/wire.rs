//! The packets on a wire, a FIFO.

use ecnlab_aqm::Item;
use ecnlab_base::Time;

use crate::packet::Packet;

/// A ring of packets with their arrival times at the far end.
#[derive(Debug)]
pub struct Wire {
    /// Arrival time of the first packet, [`Time::NEVER`] if there is none; cached here to avoid an access to the ring.
    first: Time,
    head: u32,
    len: u32,
    /// The number of slots is a power of two.
    slots: Box<[(Time, Packet)]>,
}

impl Wire {
    /// An empty wire.
    pub fn new() -> Wire {
        Wire { first: Time::NEVER, head: 0, len: 0, slots: Box::default() }
    }

    /// Packets on the wire.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        (0..self.len).map(|i| u64::from(self.slots[self.wrap(self.head + i)].1.wire_len())).sum()
    }

    /// Arrival time of the first packet; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn first(&self) -> Time {
        self.first
    }

    /// Adds a packet that arrives at `at`, not before those already on the wire.
    #[inline(always)]
    pub fn push(&mut self, at: Time, packet: Packet) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        if self.len == 0 {
            self.first = at;
        }
        let place = self.wrap(self.head + self.len);
        self.slots[place] = (at, packet);
        self.len += 1;
    }

    /// Inserts a packet that arrives at `at` after those that arrive no later.
    #[cold]
    pub fn insert(&mut self, at: Time, packet: Packet) {
        self.push(at, packet);
        let mut place = self.len - 1;
        while place > 0 {
            let (here, before) = (self.wrap(self.head + place), self.wrap(self.head + place - 1));
            if self.slots[before].0 <= at {
                break;
            }
            self.slots.swap(here, before);
            place -= 1;
        }
        self.first = self.slots[self.head as usize].0;
    }

    /// Removes the first packet, which must exist.
    #[inline(always)]
    pub fn pop(&mut self) -> Packet {
        let (_, packet) = self.slots[self.head as usize];
        self.len -= 1;
        // An empty ring restarts at its start: a wire that is often empty stays on the same cache lines.
        (self.head, self.first) = if self.len == 0 {
            (0, Time::NEVER)
        } else {
            let head = self.wrap(self.head + 1);
            (head as u32, self.slots[head].0)
        };
        packet
    }

    #[inline]
    fn wrap(&self, place: u32) -> usize {
        place as usize & (self.slots.len() - 1)
    }

    /// Doubles the full ring.
    #[cold]
    fn grow(&mut self) {
        self.slots.rotate_left(self.head as usize);
        self.head = 0;
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.resize((2 * self.len()).max(4), (Time::NEVER, Packet::default()));
        self.slots = slots.into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Label;
    use std::collections::VecDeque;

    use proptest::prelude::*;

    fn packet(cargo: u32) -> Packet {
        Label { cargo, ..Label::default() }.into()
    }

    proptest! {
        /// Compares with a stable sort by arrival time.
        #[test]
        fn packets_that_overtake_leave_by_their_time(bursts in prop::collection::vec((0_u32..9, 0_u64..12), 1..40)) {
            let mut wire = Wire::new();
            let mut model: Vec<(Time, u32)> = Vec::new();
            let (mut sent, mut now) = (0_u32, 0);
            for (packets, wait) in bursts {
                for _ in 0..packets {
                    // Scattered over 16 instants, so that some are the same.
                    let at = Time::from_ps(now + u64::from(sent.wrapping_mul(2_654_435_761) >> 28));
                    wire.insert(at, packet(sent));
                    model.push((at, sent));
                    model.sort_by_key(|&(at, _)| at);
                    sent += 1;
                }
                now += wait;
                while wire.first() <= Time::from_ps(now) {
                    prop_assert_eq!(wire.pop().cargo(), model.remove(0).1);
                }
                prop_assert_eq!(wire.first(), model.first().map_or(Time::NEVER, |&(at, _)| at));
                prop_assert_eq!(wire.len(), model.len());
            }
        }

        /// Compares with a plain queue: bursts in and out, so that the ring wraps, grows and runs empty.
        #[test]
        fn packets_leave_in_order_once_they_have_arrived(bursts in prop::collection::vec((0_u32..9, 0_u64..12), 1..40)) {
            let mut wire = Wire::new();
            let mut model: VecDeque<(Time, u32)> = VecDeque::new();
            let (mut sent, mut now) = (0, 0);
            for (packets, wait) in bursts {
                for _ in 0..packets {
                    let at = Time::from_ps(u64::from(sent));
                    wire.push(at, packet(sent));
                    model.push_back((at, sent));
                    sent += 1;
                }
                now += wait;
                while wire.first() <= Time::from_ps(now) {
                    let got = wire.pop();
                    let want = model.pop_front();
                    prop_assert_eq!(Some(got.cargo()), want.map(|(_, packet)| packet));
                    prop_assert!(want.is_some_and(|(at, _)| at.ps() <= now));
                }
                prop_assert_eq!(wire.first(), model.front().map_or(Time::NEVER, |&(at, _)| at));
                prop_assert!(wire.first().ps() > now);
                prop_assert_eq!(wire.len(), model.len());
            }
        }
    }
}

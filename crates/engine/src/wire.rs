//! The packets on a wire, which leave it in the order they entered.

use ecnlab_base::Time;

use crate::packet::Packet;

/// A ring of packets, each with the time at which it reaches the far end.
#[derive(Debug)]
pub struct Wire {
    /// When the first packet arrives, [`Time::NEVER`] if there is none: kept here so that to ask costs
    /// no look into the ring.
    first: Time,
    head: usize,
    len: usize,
    /// As many as a power of two.
    slots: Vec<(Time, Packet)>,
}

impl Wire {
    /// An empty wire.
    pub fn new() -> Wire {
        Wire { first: Time::NEVER, head: 0, len: 0, slots: Vec::new() }
    }

    /// Packets on the wire.
    pub fn len(&self) -> usize {
        self.len
    }

    /// When the first packet arrives; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn first(&self) -> Time {
        self.first
    }

    /// Adds a packet that arrives at `at`, not before those there.
    #[inline]
    pub fn push(&mut self, at: Time, packet: &Packet) {
        if self.len == self.slots.len() {
            self.grow(packet);
        }
        if self.len == 0 {
            self.first = at;
        }
        let place = self.wrap(self.head + self.len);
        self.slots[place] = (at, *packet);
        self.len += 1;
    }

    /// Takes the first packet, if it has arrived by `now`.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Packet> {
        if self.first > now || self.len == 0 {
            return None;
        }
        let (_, packet) = self.slots[self.head];
        self.len -= 1;
        // An empty ring begins again at its start: a wire that is often empty stays on the same cache lines.
        self.head = if self.len == 0 { 0 } else { self.wrap(self.head + 1) };
        self.first = if self.len == 0 { Time::NEVER } else { self.slots[self.head].0 };
        Some(packet)
    }

    #[inline]
    fn wrap(&self, place: usize) -> usize {
        place & (self.slots.len() - 1)
    }

    /// Doubles the full ring; `filler` stands in the new places.
    #[cold]
    fn grow(&mut self, filler: &Packet) {
        self.slots.rotate_left(self.head);
        self.head = 0;
        self.slots.resize((2 * self.len).max(4), (Time::NEVER, *filler));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    use ecnlab_wire::Segment;
    use proptest::prelude::*;

    use crate::packet::Body;

    fn packet(connection: u32) -> Packet {
        Packet { body: Body::Tcp(Segment::default()), to: 0, endpoint: 0, connection, flow: 0, group: 0 }
    }

    proptest! {
        /// Against a plain queue: bursts in and bursts out, so that the ring wraps, grows and runs empty.
        #[test]
        fn packets_leave_in_order_once_they_have_arrived(bursts in prop::collection::vec((0_u32..9, 0_u64..12), 1..40)) {
            let mut wire = Wire::new();
            let mut model: VecDeque<(Time, u32)> = VecDeque::new();
            let (mut sent, mut now) = (0, 0);
            for (packets, wait) in bursts {
                for _ in 0..packets {
                    let at = Time::from_ps(u64::from(sent));
                    wire.push(at, &packet(sent));
                    model.push_back((at, sent));
                    sent += 1;
                }
                now += wait;
                while let Some(got) = wire.pop(Time::from_ps(now)) {
                    let want = model.pop_front();
                    prop_assert_eq!(Some(got.connection), want.map(|(_, packet)| packet));
                    prop_assert!(want.is_some_and(|(at, _)| at.ps() <= now));
                }
                prop_assert_eq!(wire.first(), model.front().map_or(Time::NEVER, |&(at, _)| at));
                prop_assert!(wire.first().ps() > now);
                prop_assert_eq!(wire.len(), model.len());
            }
        }
    }
}

//! Admission to a queue: its limit and condition, in whole packets or bytes.

use ecnlab_base::Length;

use crate::{Admit, Common, Tally};

/// Capacity of a queue. A limit that is not whole is converted to the whole numbers that it admits, so that no floating
/// point is used per packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    in_bytes: bool,
    admit: Admit,
    /// The limit rounded down: the queue including an arriving packet never exceeds it.
    most: u64,
    /// The limit rounded up: before an arrival the queue must be below it.
    below: u64,
}

impl Room {
    /// Returns the capacity given by `common`.
    pub fn of(common: &Common) -> Room {
        let (Length::Packets(limit) | Length::Bytes(limit)) = common.limit;
        // `as` saturates: an infinite limit is the greatest number.
        Room {
            in_bytes: matches!(common.limit, Length::Bytes(_)),
            admit: common.admit,
            most: libm::floor(limit) as u64,
            below: libm::ceil(limit) as u64,
        }
    }

    /// Returns whether a packet of `len` bytes fits in addition to `held`.
    #[inline]
    pub fn has_room(&self, held: Tally, len: u32) -> bool {
        let (held, added) = if self.in_bytes { (held.bytes, u64::from(len)) } else { (held.packets, 1) };
        match self.admit {
            Admit::Fits => held + added <= self.most,
            Admit::Below => held < self.below,
        }
    }

    /// Returns whether `held` is within the limit.
    pub fn is_within(&self, held: Tally) -> bool {
        let held = if self.in_bytes { held.bytes } else { held.packets };
        held <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_stand_for_any_limit() {
        for limit in [0.5, 1.0, 2.5, 3.0, 3.999, 1e6, f64::INFINITY] {
            for (unit, len) in [(Length::Packets(limit), 1), (Length::Bytes(limit), 2)] {
                for admit in [Admit::Fits, Admit::Below] {
                    let room = Room::of(&Common { admit, ..Common::with_limit(unit) });
                    for n in (0..6).chain(999_996..1_000_003) {
                        let fits = match admit {
                            Admit::Fits => (n + u64::from(len)) as f64 <= limit,
                            Admit::Below => (n as f64) < limit,
                        };
                        let held = Tally { packets: n, bytes: n };
                        assert_eq!(room.has_room(held, len), fits, "{n} of {unit:?}, {admit:?}");
                        assert_eq!(room.is_within(held), n as f64 <= limit, "{n} of {unit:?}");
                    }
                }
            }
        }
    }
}

//! Whether a queue has room: its limit and how it admits, in whole packets or bytes.

use ecnlab_base::Length;

use crate::{Admit, Common, Tally};

/// What a queue may hold. A limit that is not whole stands for the whole numbers that it admits, so that a packet's way
/// has no floating point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    in_bytes: bool,
    admit: Admit,
    /// The limit rounded down: no more is held with what arrives, nor without it.
    most: u64,
    /// The limit rounded up: less is held before what arrives.
    below: u64,
}

impl Room {
    /// What `common` says.
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

    /// Whether a packet of `len` bytes has room beside what is `held`.
    #[inline]
    pub fn has_room(&self, held: Tally, len: u32) -> bool {
        let (held, added) = if self.in_bytes { (held.bytes, u64::from(len)) } else { (held.packets, 1) };
        match self.admit {
            Admit::Fits => held + added <= self.most,
            Admit::Below => held < self.below,
        }
    }

    /// Whether what is `held` is within the limit.
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

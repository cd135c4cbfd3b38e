//! List of packets found at one point only.

use ecnlab_wire::Ecn;

/// Maximum number of packets listed for each direction.
pub(super) const MAX_LOST: usize = 256;

/// A packet that was not found, or not entirely, at the other point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The point that has it: 0 for the first, 1 for the second.
    pub side: usize,
    /// Its number in the capture of that point.
    pub number: u64,
    /// Its time there, in nanoseconds since 1970.
    pub time: u64,
    /// Its codepoint.
    pub ecn: u8,
    /// Payload bytes.
    pub len: u64,
    /// Payload bytes that were not found at the other point.
    pub missing: u64,
}

/// Adds `packet` to a list that keeps the earliest packets, those with CE before others.
pub(super) fn list(lost: &mut Vec<Lost>, packet: Lost) {
    let order = |packet: &Lost| (packet.ecn != Ecn::Ce.bits(), packet.time, packet.side, packet.number);
    let place = lost.partition_point(|other| order(other) < order(&packet));
    if place < MAX_LOST {
        lost.truncate(MAX_LOST - 1);
        lost.insert(place, packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_list_keeps_packets_with_ce_and_the_earliest_others() {
        let lost = |number: u64, ecn: Ecn| Lost { side: 0, number, time: number, ecn: ecn.bits(), len: 1, missing: 1 };
        let mut found = Vec::new();
        for number in (0..600).rev() {
            list(&mut found, lost(number, if number % 100 == 99 { Ecn::Ce } else { Ecn::Ect0 }));
        }
        assert_eq!(found.len(), MAX_LOST);
        let marked: Vec<u64> = found[..6].iter().map(|packet| packet.number).collect();
        assert_eq!(marked, [99, 199, 299, 399, 499, 599]);
        // Without 99 and 199, 250 others are the numbers up to 251.
        assert_eq!((found[6].number, found[255].number), (0, 251));
    }
}

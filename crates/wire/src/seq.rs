//! Sequence numbers modulo 2^32.

use std::ops::{Add, AddAssign, Sub};

/// A TCP sequence number; comparisons are modulo 2^32 (RFC 9293 §3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// Returns whether `self` is before `other`.
    pub const fn before(self, other: Seq) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }
    /// Returns whether `self` is after `other`.
    pub const fn after(self, other: Seq) -> bool {
        other.before(self)
    }
    /// Returns whether `self` equals `other` or is before it.
    pub const fn at_or_before(self, other: Seq) -> bool {
        !self.after(other)
    }
    /// Returns the later of the two.
    pub const fn max(self, other: Seq) -> Seq {
        if self.before(other) { other } else { self }
    }
}

impl Add<u32> for Seq {
    type Output = Seq;
    fn add(self, n: u32) -> Seq {
        Seq(self.0.wrapping_add(n))
    }
}
impl AddAssign<u32> for Seq {
    fn add_assign(&mut self, n: u32) {
        *self = *self + n;
    }
}
/// The distance from `other` up to `self`, modulo 2^32.
impl Sub for Seq {
    type Output = u32;
    fn sub(self, other: Seq) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        let top = Seq(u32::MAX - 5);
        assert!(top.before(top + 10));
        assert!((top + 10).after(top));
        assert_eq!((top + 10) - top, 10);
        assert!(top.at_or_before(top));
    }
}

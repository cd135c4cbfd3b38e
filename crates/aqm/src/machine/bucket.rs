//! A token bucket.

use ecnlab_base::{Bytes, Dur, Rate, Time};

/// A token bucket that counts in time: `full_at` is the time at which it will be full. It starts full.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    rate: Rate,
    /// Time to fill it from empty.
    depth: Dur,
    full_at: Time,
}

impl Bucket {
    /// Creates a bucket of `burst` that fills at `rate`.
    pub fn new(rate: Rate, burst: Bytes) -> Bucket {
        Bucket { rate, depth: rate.time_for(burst.0), full_at: Time::ZERO }
    }

    /// The rate at which it fills.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Time at which it holds `len` bytes, or at which it is full if it never holds as many.
    #[inline(never)]
    pub fn ready(&self, len: u32) -> Time {
        let need = self.rate.time_for(u64::from(len)).min(self.depth);
        Time::from_ps(self.full_at.ps().saturating_sub((self.depth - need).ps()))
    }

    /// Takes `len` bytes out at `now`, going into debt if necessary.
    #[inline(never)]
    pub fn spend(&mut self, now: Time, len: u32) {
        self.full_at = self.full_at.max(now).saturating_add(self.rate.time_for(u64::from(len)));
    }

    /// Cancels the debt above `most` at `now`.
    pub(crate) fn forgive(&mut self, now: Time, most: Dur) {
        self.full_at = self.full_at.min(now.saturating_add(self.depth).saturating_add(most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn a_bucket_is_ready_when_it_holds_as_much_or_is_full() {
        // 1 byte a millisecond, 100 bytes deep.
        let mut bucket = Bucket::new(Rate::from_bps(8_000), Bytes(100));
        assert_eq!(bucket.ready(100), at(0));
        bucket.spend(at(0), 100);
        // Empty at 0 ms: 0 bytes now, 60 at 60 ms, 100 and whatever is more at 100 ms.
        assert_eq!([0, 60, 100, 500].map(|len| bucket.ready(len)), [0, 60, 100, 100].map(at));
        // 40 bytes at 40 ms, of which 60 are taken: 0 bytes at 60 ms.
        bucket.spend(at(40), 60);
        assert_eq!(bucket.ready(0), at(60));
    }

    #[test]
    fn what_is_owed_is_forgiven_past_a_time() {
        let mut bucket = Bucket::new(Rate::from_bps(8_000), Bytes(100));
        bucket.spend(at(0), 1_100);
        assert_eq!(bucket.ready(0), at(1_000));
        bucket.forgive(at(0), Dur::from_ms(300));
        assert_eq!(bucket.ready(0), at(300));
        // No more is given than was owed.
        bucket.forgive(at(0), Dur::from_ms(400));
        assert_eq!(bucket.ready(0), at(300));
    }
}

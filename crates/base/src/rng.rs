//! Named random streams.
//!
//! Each component draws from a stream of its own, found from the run's seed and the component's
//! name, so that adding a flow never changes another's draws (docs/design.md, invariant 5).

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One component's random stream: xoshiro256++, seeded from the run's seed and a name.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream of the component `name` in the run with `seed`.
    pub fn named(seed: u64, name: &str) -> Rng {
        // FNV-1a over the seed's and the name's bytes: stable across platforms and compilers,
        // which std's hasher does not promise. SplitMix64 inside `seed_from_u64` spreads it.
        let bytes = seed.to_le_bytes().into_iter().chain(name.bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Rng(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Uniform on 0..2^64.
    pub fn u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1): the 53 high bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform on [lo, hi).
    pub fn uniform(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    /// Uniform on 0..n by Lemire's multiplication, whose bias (below n/2^64) no run can see.
    /// `n` must not be zero.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let mut a = Rng::named(1, "flow.a");
        let mut b = Rng::named(1, "flow.b");
        let mut again = Rng::named(1, "flow.a");
        let first = a.u64();
        assert_eq!(first, again.u64());
        assert_ne!(first, b.u64());
        assert_ne!(first, Rng::named(2, "flow.a").u64());
    }

    #[test]
    fn draws_have_their_moments() {
        let mut rng = Rng::named(7, "moments");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        // Five standard errors: 0.289/sqrt(n) for the uniform, 1/sqrt(n) for the exponential.
        assert!((mean(&mut || rng.unit()) - 0.5).abs() < 5.0 * 0.289 / 447.0);
        assert!((mean(&mut || rng.exponential(3.0)) - 3.0).abs() < 5.0 * 3.0 / 447.0);
        assert!((mean(&mut || rng.below(10) as f64) - 4.5).abs() < 5.0 * 2.873 / 447.0);
    }
}

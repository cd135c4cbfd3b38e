//! Estimate of the memory of a queue without packets.

use crate::machine::fifo::Held;
use crate::machine::layout::Inner;
use crate::machine::tree::Branch;
use crate::{Config, Item, Queue};

/// Bytes that a scheduler keeps for each inner queue: quantum, deficit, and a place in a list.
const SCHEDULED: u64 = 26;
/// Bytes of an object of Python with some attributes.
const OBJECT: u64 = 1000;
/// The key of the number of inner queues, in a discipline whose inner queues have the same settings.
const FLOWS: &str = "flows";

impl<P: Item> Queue<P> {
    /// Bytes of a queue used by `flows` flows, without the packets; limited to `u64::MAX`. `config` has passed
    /// [`Config::check`].
    pub fn memory(config: &Config, flows: f64) -> u64 {
        (size_of::<Queue<P>>() as u64).saturating_add(heap::<P>(config, flows))
    }

    /// Bytes of a packet that is held.
    pub const fn memory_of_packet() -> u64 {
        size_of::<Held<P>>() as u64
    }
}

/// Bytes that a queue, whole or inner, has on the heap.
fn heap<P: Item>(config: &Config, flows: f64) -> u64 {
    let place = Branch::<P>::CLASS as u64 + SCHEDULED;
    let inner = match config.params.inner(config) {
        None if config.params.user_law().is_some() => return OBJECT,
        None => return 0,
        Some(Inner::Named(queues)) => queues
            .iter()
            .fold(0, |sum: u64, (_, queue)| sum.saturating_add(place).saturating_add(heap::<P>(queue, flows))),
        Some(Inner::Alike(n, groups)) => {
            let of_group = |(_, queue): &(String, Config)| alike::<P>(n, queue, flows, place);
            groups.iter().map(of_group).fold(0, u64::saturating_add)
        }
    };
    inner.saturating_add(size_of::<Branch<P>>() as u64)
}

/// Bytes of `n` inner queues, each of which has its `place` from the start. Those with inner queues are created on the
/// arrival of their first packet, the first of them at the start.
fn alike<P: Item>(n: usize, queue: &Config, flows: f64, place: u64) -> u64 {
    let made = if queue.params.is_composed() { (hit(n, flows) + 1.0).min(n as f64) } else { n as f64 };
    let each = heap::<P>(queue, flows / made);
    // `as` saturates.
    ((each as f64 * made) as u64).saturating_add(place.saturating_mul(n as u64))
}

/// Mean number of `n` queues to which `flows` flows are hashed: `n - n (1 - 1/n)^flows`.
fn hit(n: usize, flows: f64) -> f64 {
    let n = n as f64;
    -n * libm::expm1(flows * libm::log1p(-1.0 / n))
}

impl Config {
    /// Returns the key of the number of inner queues of the discipline with the most of them in this queue.
    pub fn inner_key(&self) -> Option<String> {
        self.most_inner().map(|(_, key)| key)
    }

    /// Whether an inner queue has inner queues.
    pub fn is_nested(&self) -> bool {
        self.classes.values().any(|class| class.queue.params.is_composed())
    }

    fn most_inner(&self) -> Option<(u32, String)> {
        let own = match self.params.inner(self) {
            Some(Inner::Alike(n, _)) => Some(u32::try_from(n).unwrap_or(u32::MAX)),
            Some(Inner::Named(_)) | None => None,
        };
        let within = self.classes.iter().filter_map(|(name, class)| {
            class.queue.most_inner().map(|(flows, key)| (flows, format!("class.{name}.{key}")))
        });
        // The outermost of several with equal numbers.
        own.map(|flows| (flows, FLOWS.to_owned()))
            .into_iter()
            .chain(within)
            .reduce(|most, next| if next.0 > most.0 { next } else { most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_hit_as_many_queues_as_chance_has_it() {
        // Two flows share one of two queues half the time. Of three queues, two flows hit 1 with probability 1/3, else 2.
        for (n, flows, mean) in [(1, 1.0, 1.0), (5, 0.0, 0.0), (5, 1.0, 1.0), (2, 2.0, 1.5), (3, 2.0, 5.0 / 3.0)] {
            assert!((hit(n, flows) - mean).abs() < 1e-12, "{n} queues, {flows} flows: {}", hit(n, flows));
        }
        assert_eq!((hit(7, f64::INFINITY), hit(1, 5.0)), (7.0, 1.0));
    }
}

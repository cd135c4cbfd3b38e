//! Estimate of the memory that a queue takes before any packet comes.

use crate::fifo::Held;
use crate::layout::Inner;
use crate::tree::Branch;
use crate::{Config, Item, Queue};

/// Bytes that a scheduler keeps for each inner queue: quantum, deficit, and a place in a list.
const SCHEDULED: u64 = 26;
/// Bytes of an object of Python with some attributes.
const OBJECT: u64 = 1000;
/// The key of a discipline with inner queues that are all alike, which states how many there are.
const FLOWS: &str = "flows";

impl<P: Item> Queue<P> {
    /// Bytes of an empty queue, inner queues at every depth included; `u64::MAX` if they are more. `config` has passed
    /// [`Config::check`].
    pub fn memory(config: &Config) -> u64 {
        (size_of::<Queue<P>>() as u64).saturating_add(heap::<P>(config))
    }

    /// Bytes of a packet that is held.
    pub const fn memory_of_packet() -> u64 {
        size_of::<Held<P>>() as u64
    }
}

/// Bytes that a queue, whole or inner, has on the heap.
fn heap<P: Item>(config: &Config) -> u64 {
    let class = |queue: &Config| (Branch::<P>::CLASS as u64 + SCHEDULED).saturating_add(heap::<P>(queue));
    let inner = match config.params.inner(config) {
        None if config.params.outside().is_some() => return OBJECT,
        None => return 0,
        Some(Inner::Named(queues)) => queues.iter().fold(0, |sum: u64, (_, queue)| sum.saturating_add(class(queue))),
        Some(Inner::Alike(n, groups)) => {
            let of_group = |(_, queue): &(String, Config)| class(queue).saturating_mul(n as u64);
            groups.iter().map(of_group).fold(0, u64::saturating_add)
        }
    };
    inner.saturating_add(size_of::<Branch<P>>() as u64)
}

impl Config {
    /// The key that states how many inner queues there are, of all disciplines in this queue that which has the most.
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
        // Of equally many the outermost.
        own.map(|flows| (flows, FLOWS.to_owned()))
            .into_iter()
            .chain(within)
            .reduce(|most, next| if next.0 > most.0 { next } else { most })
    }
}

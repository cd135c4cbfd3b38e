//! Index of the inner queue with the most droppable bytes.

/// Droppable bytes of each inner queue, their sum, and the queue with the most, the first of several.
///
/// A tournament: the leaves are the queues, and each node above has the larger of its two. A change is only noted; it is
/// entered when the fattest queue is requested, at a cost of the logarithm of the number of queues.
#[derive(Clone, Debug)]
pub(super) struct Fattest {
    /// The node `i` has the children `2 i` and `2 i + 1`; 1 is the root.
    nodes: Vec<u64>,
    total: u64,
    changed: Vec<u32>,
    noted: Vec<bool>,
}

impl Fattest {
    /// The index of queues with these droppable bytes.
    pub fn new(bytes: impl ExactSizeIterator<Item = u64>) -> Fattest {
        let n = bytes.len();
        let leaves = n.next_power_of_two();
        let mut nodes = vec![0; leaves];
        nodes.extend(bytes);
        nodes.resize(2 * leaves, 0);
        for i in (1..leaves).rev() {
            nodes[i] = nodes[2 * i].max(nodes[2 * i + 1]);
        }
        Fattest { total: nodes[leaves..].iter().sum(), nodes, changed: Vec::new(), noted: vec![false; n] }
    }

    /// Notes that the queue `i` may have other droppable bytes than before.
    #[inline]
    pub fn note(&mut self, i: usize) {
        if !self.noted[i] {
            self.noted[i] = true;
            self.changed.push(i as u32);
        }
    }

    /// Enters the changes; `bytes` are those of a queue.
    pub fn update(&mut self, mut bytes: impl FnMut(usize) -> u64) {
        while let Some(i) = self.changed.pop() {
            let i = i as usize;
            self.noted[i] = false;
            self.set(i, bytes(i));
        }
    }

    fn set(&mut self, i: usize, bytes: u64) {
        let mut node = self.nodes.len() / 2 + i;
        self.total = self.total - self.nodes[node] + bytes;
        self.nodes[node] = bytes;
        while node > 1 {
            node /= 2;
            let larger = self.nodes[2 * node].max(self.nodes[2 * node + 1]);
            if self.nodes[node] == larger {
                return;
            }
            self.nodes[node] = larger;
        }
    }

    /// The queue with the most bytes, as of the last [`Fattest::update`].
    pub fn first(&self) -> usize {
        let (leaves, mut node) = (self.nodes.len() / 2, 1);
        while node < leaves {
            node *= 2;
            node += usize::from(self.nodes[node] < self.nodes[node + 1]);
        }
        node - leaves
    }

    /// The bytes of all queues, as of the last [`Fattest::update`].
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_of_the_fattest_is_found_and_the_sum_follows() {
        let mut bytes = [3, 7, 7, 1, 0];
        let mut index = Fattest::new(bytes.into_iter());
        assert_eq!((index.first(), index.total()), (1, 18));
        (bytes[1], bytes[4]) = (2, 9);
        for i in [1, 4, 1] {
            index.note(i);
        }
        assert_eq!(index.first(), 1, "changes are entered by update");
        index.update(|i| bytes[i]);
        assert_eq!((index.first(), index.total()), (4, 22));
        assert_eq!(Fattest::new([0, 0, 0].into_iter()).first(), 0);
        assert_eq!(Fattest::new([5].into_iter()).first(), 0);
    }

    proptest! {
        #[test]
        fn it_finds_what_a_scan_finds(
            mut bytes in prop::collection::vec(0u64..9, 1..40),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u64..9, any::<bool>()), 0..60),
        ) {
            let mut index = Fattest::new(bytes.clone().into_iter());
            for (at, value, update) in changes {
                let i = at.index(bytes.len());
                bytes[i] = value;
                index.note(i);
                if update {
                    index.update(|i| bytes[i]);
                    let scan = (0..bytes.len()).max_by_key(|&i| (bytes[i], std::cmp::Reverse(i)));
                    prop_assert_eq!(Some(index.first()), scan);
                    prop_assert_eq!(index.total(), bytes.iter().sum::<u64>());
                }
            }
        }
    }
}

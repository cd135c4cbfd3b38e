//! Numbers of packets that a capture has more than once.

/// Maximum number of pairs of interfaces that are counted separately.
const PAIRS: usize = 64;

/// Number of packets that the capture has more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Twice {
    /// Packets compared.
    pub packets: u64,
    /// Copies at the same interface.
    pub same: u64,
    /// Copies at another interface: the interface of the first packet, that of the copy, and their number.
    pub between: Vec<(u32, u32, u64)>,
}

impl Twice {
    /// Returns whether there is any copy.
    pub(crate) fn found(&self) -> bool {
        self.same > 0 || !self.between.is_empty()
    }

    /// Counts a copy at interface `device` of a packet at interface `first`.
    #[cold]
    pub(crate) fn add(&mut self, first: u32, device: u32) {
        if first == device {
            self.same += 1;
            return;
        }
        if let Some(pair) = self.between.iter_mut().find(|pair| (pair.0, pair.1) == (first, device)) {
            pair.2 += 1;
        } else if self.between.len() < PAIRS {
            self.between.push((first, device, 1));
        }
    }
}

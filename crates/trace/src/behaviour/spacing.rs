//! Distances of a connection's data segments at a point on their way.

use super::{Data, Sizes};
use crate::stats::Distribution;

/// Distances and bursts of the data segments of one direction.
#[derive(Clone, Debug, Default)]
pub struct Spacing {
    /// Nanoseconds from each data segment to the next.
    pub gaps: Distribution,
    /// Data segments that follow each other within the longest distance of a burst.
    pub bursts: Sizes,
    last: Option<u64>,
    burst: u64,
}

impl Spacing {
    /// Segments at most `longest` nanoseconds apart are one burst. A burst counts when the next one begins.
    pub(super) fn data(&mut self, data: &Data, longest: u64) {
        if !data.counted {
            return;
        }
        if let Some(last) = self.last.replace(data.time) {
            let gap = data.time.saturating_sub(last);
            self.gaps.add(gap);
            if gap > longest {
                self.bursts.add(std::mem::take(&mut self.burst));
            }
        }
        self.burst += 1;
    }
}

//! Time gaps between a connection's data segments at a point on the path.

use super::{Data, Sizes};
use crate::stats::Distribution;

/// Gaps and bursts of the data segments of one direction.
#[derive(Clone, Debug, Default)]
pub struct Spacing {
    /// Nanoseconds from each data segment to the next.
    pub gaps: Distribution,
    /// Sizes of bursts: runs of data segments whose gaps do not exceed the burst limit.
    pub bursts: Sizes,
    last: Option<u64>,
    burst: u64,
}

impl Spacing {
    /// Processes a data segment. Segments at most `longest` nanoseconds apart form one burst. A burst is counted when
    /// the next one begins.
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

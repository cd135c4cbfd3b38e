//! The analysis of a whole capture, on one thread or two.

use std::num::NonZero;

use crate::capture::{Analysis, Capture};
use crate::error::TraceError;
use crate::input::Input;
use crate::packet::Segment;
use crate::pipeline::{self, SEGMENTS};
use crate::tracker::Tracker;

/// Reads `input` to its end; `tracker` analyses the segments that pass the filter `wanted`. If the process may use more
/// than one processor, a second thread reads; the result is the same.
///
/// # Errors
/// If nothing could be read. An error after the first packet is stored in [`Analysis::damage`].
pub fn analyse(input: Input, tracker: Tracker, wanted: impl Fn(&Segment<'_>) -> bool) -> Result<Analysis, TraceError> {
    let capture = Capture::new(input)?;
    let several = std::thread::available_parallelism().is_ok_and(|processors| processors > NonZero::<usize>::MIN);
    let mut analysis =
        if several { pipeline::analyse(capture, tracker, wanted) } else { alone(capture, tracker, wanted) };
    analysis.tracker.finish();
    Ok(analysis)
}

/// Reads and analyses on this thread.
fn alone(mut capture: Capture, mut tracker: Tracker, wanted: impl Fn(&Segment<'_>) -> bool) -> Analysis {
    let mut left = SEGMENTS;
    let damage = loop {
        let step = capture.step(|segment| {
            left -= 1;
            if wanted(segment) {
                tracker.take(segment);
            }
        });
        if left == 0 || !matches!(step, Ok(true)) {
            if let Some(full) = tracker.full(capture.totals().packets) {
                break Some(full);
            }
            left = SEGMENTS;
        }
        match step {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
    };
    Analysis { tracker, totals: capture.totals().clone(), interfaces: capture.interfaces().to_vec(), damage }
}

#[cfg(test)]
mod tests;

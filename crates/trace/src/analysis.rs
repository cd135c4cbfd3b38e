//! The analysis of a whole capture, on one thread or two.

use std::num::NonZero;

use crate::capture::{Analysis, Capture};
use crate::duplicates::Watched;
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
    Ok(analyse_capture(Capture::new(input)?, tracker, wanted))
}

/// Like [`analyse`], for a capture that is open.
pub fn analyse_capture(capture: Capture, tracker: Tracker, wanted: impl Fn(&Segment<'_>) -> bool) -> Analysis {
    let watched = Watched::new(tracker);
    let several = std::thread::available_parallelism().is_ok_and(|processors| processors > NonZero::<usize>::MIN);
    let mut analysis =
        if several { pipeline::analyse(capture, watched, wanted) } else { alone(capture, watched, wanted) };
    analysis.tracker.finish();
    analysis
}

/// Reads and analyses on this thread.
fn alone(mut capture: Capture, mut watched: Watched, wanted: impl Fn(&Segment<'_>) -> bool) -> Analysis {
    let mut left = SEGMENTS;
    let damage = loop {
        let step = capture.step(|segment| {
            left -= 1;
            if wanted(segment) {
                watched.take(segment);
            }
        });
        if left == 0 || !matches!(step, Ok(true)) {
            if let Some(full) = watched.tracker.full(capture.totals().packets) {
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
    watched.analysis(capture.totals().clone(), capture.interfaces().to_vec(), damage)
}

#[cfg(test)]
mod tests;

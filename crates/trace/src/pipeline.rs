//! The analysis of a capture on two threads: one reads packets and parses their headers, the other follows the
//! connections. A fixed number of batches of segments circulates between them, so that memory does not grow.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::capture::{Analysis, Capture, Totals};
use crate::error::TraceError;
use crate::packet::Segment;
use crate::tracker::Tracker;

/// Segments in a batch: enough to make the exchange cheap, few enough for the processor's cache.
const SEGMENTS: usize = 512;
/// Batches in circulation: one that is filled, one that is analysed, two between them.
const BATCHES: usize = 4;

/// Segments in the order of the capture.
#[derive(Default)]
struct Batch {
    segments: Vec<Stored>,
    /// The option bytes of all segments.
    options: Vec<u8>,
    /// State of the reading after each segment; empty if no memory limit can stop the analysis.
    progress: Vec<Progress>,
}

/// A segment, and the end of its options in the batch.
struct Stored {
    segment: Segment<'static>,
    options_end: usize,
}

/// State of the reading.
struct Progress {
    totals: Totals,
    interfaces: usize,
}

impl Batch {
    fn clear(&mut self) {
        self.segments.clear();
        self.options.clear();
        self.progress.clear();
    }

    #[inline]
    fn push(&mut self, segment: &Segment<'_>) {
        self.options.extend_from_slice(segment.options);
        self.segments.push(Stored { segment: Segment { options: &[], ..*segment }, options_end: self.options.len() });
    }

    #[inline]
    fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let mut start = 0;
        self.segments.iter().map(move |Stored { segment, options_end }| {
            let options = &self.options[start..*options_end];
            start = *options_end;
            Segment { options, ..*segment }
        })
    }
}

/// Reads on a second thread, and analyses on this one.
pub(crate) fn analyse(mut capture: Capture, mut tracker: Tracker, wanted: impl Fn(&Segment<'_>) -> bool) -> Analysis {
    let limited = tracker.is_limited();
    let (give_back, empty) = channel();
    let (hand_on, filled) = channel();
    for _ in 0..BATCHES {
        // The other end of the channel is in this function: the batch cannot be refused.
        let _ = give_back.send(Batch::default());
    }
    let (capture, damage, stop) = thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let damage = read(&mut capture, limited, &empty, &hand_on);
            (capture, damage)
        });
        let stop = follow(&mut tracker, wanted, filled, give_back);
        let (capture, damage) = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
        (capture, damage, stop)
    });
    let mut interfaces = capture.interfaces().to_vec();
    match stop {
        Some((full, progress)) => {
            interfaces.truncate(progress.interfaces);
            Analysis { tracker, totals: progress.totals, interfaces, damage: Some(full) }
        }
        None => Analysis { tracker, totals: capture.totals().clone(), interfaces, damage },
    }
}

/// Reads to the end of the capture, or until the analysis stops. Returns the error that ended the reading.
fn read(capture: &mut Capture, limited: bool, empty: &Receiver<Batch>, hand_on: &Sender<Batch>) -> Option<TraceError> {
    // A channel fails only if the analysis has stopped: then nobody waits for more.
    while let Ok(mut batch) = empty.recv() {
        let end = fill(capture, limited, &mut batch);
        hand_on.send(batch).ok()?;
        match end {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(error),
        }
    }
    None
}

/// Fills a batch; returns false at the end of the capture.
fn fill(capture: &mut Capture, limited: bool, batch: &mut Batch) -> Result<bool, TraceError> {
    batch.clear();
    while batch.segments.len() < SEGMENTS {
        if !capture.step(|segment| batch.push(segment))? {
            return Ok(false);
        }
        if limited && batch.progress.len() < batch.segments.len() {
            let (totals, interfaces) = (capture.totals().clone(), capture.interfaces().len());
            batch.progress.push(Progress { totals, interfaces });
        }
    }
    Ok(true)
}

/// Analyses all batches. If the connections exceed their memory, returns the error and the state of the reading there.
fn follow(
    tracker: &mut Tracker,
    wanted: impl Fn(&Segment<'_>) -> bool,
    filled: Receiver<Batch>,
    give_back: Sender<Batch>,
) -> Option<(TraceError, Progress)> {
    for mut batch in filled {
        let mut stop = None;
        for (i, segment) in batch.segments().enumerate().filter(|(_, segment)| wanted(segment)) {
            tracker.take(&segment);
            if let Some(full) = tracker.full(segment.number) {
                stop = Some((i, full));
                break;
            }
        }
        if let Some((i, full)) = stop {
            return Some((full, batch.progress.swap_remove(i)));
        }
        // After the end of the capture nobody fills it again.
        let _ = give_back.send(batch);
    }
    None
}

//! The analysis of a capture on two threads: one reads packets and parses their headers, the other follows the
//! connections. A fixed number of batches of segments circulates between them, so that memory does not grow.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::capture::{Analysis, Capture, Totals};
use crate::duplicates::Watched;
use crate::error::TraceError;
use crate::packet::Segment;

/// Segments in a batch: enough to make the exchange cheap, few enough for the processor's cache. The memory of the
/// connections is compared with its limit after each.
pub(crate) const SEGMENTS: usize = 512;
/// Batches in circulation.
const BATCHES: usize = 16;
/// Batches given back at once: a reader without empty batches sleeps, and is woken once for all of them.
const GIVEN_BACK: usize = BATCHES / 2;

/// Segments in the order of the capture.
#[derive(Default)]
struct Batch {
    segments: Vec<Stored>,
    /// The option bytes of all segments.
    options: Vec<u8>,
    /// State of the reading after the last segment.
    progress: Progress,
}

/// A segment, and the end of its options in the batch.
struct Stored {
    segment: Segment<'static>,
    options_end: usize,
}

/// State of the reading.
#[derive(Default)]
struct Progress {
    totals: Totals,
    interfaces: usize,
}

impl Batch {
    fn clear(&mut self) {
        self.segments.clear();
        self.options.clear();
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
pub(crate) fn analyse(mut capture: Capture, mut watched: Watched, wanted: impl Fn(&Segment<'_>) -> bool) -> Analysis {
    let (give_back, empty) = channel();
    let (hand_on, filled) = channel();
    for _ in 0..BATCHES {
        // The other end of the channel is in this function: the batch cannot be refused.
        let _ = give_back.send(Batch::default());
    }
    let (capture, damage, stop) = thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let damage = read(&mut capture, &empty, &hand_on);
            (capture, damage)
        });
        let stop = follow(&mut watched, wanted, filled, give_back);
        let (capture, damage) = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
        (capture, damage, stop)
    });
    let mut interfaces = capture.interfaces().to_vec();
    match stop {
        Some((full, progress)) => {
            interfaces.truncate(progress.interfaces);
            watched.analysis(progress.totals, interfaces, Some(full))
        }
        None => watched.analysis(capture.totals().clone(), interfaces, damage),
    }
}

/// Reads to the end of the capture, or until the analysis stops. Returns the error that ended the reading.
fn read(capture: &mut Capture, empty: &Receiver<Batch>, hand_on: &Sender<Batch>) -> Option<TraceError> {
    // A channel fails only if the analysis has stopped: then nobody waits for more.
    while let Ok(mut batch) = empty.recv() {
        let end = fill(capture, &mut batch);
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
fn fill(capture: &mut Capture, batch: &mut Batch) -> Result<bool, TraceError> {
    batch.clear();
    let mut end = Ok(true);
    while batch.segments.len() < SEGMENTS && matches!(end, Ok(true)) {
        end = capture.step(|segment| batch.push(segment));
    }
    batch.progress = Progress { totals: capture.totals().clone(), interfaces: capture.interfaces().len() };
    end
}

/// Analyses all batches. If the connections exceed their memory, returns the error and the state of the reading there.
fn follow(
    watched: &mut Watched,
    wanted: impl Fn(&Segment<'_>) -> bool,
    filled: Receiver<Batch>,
    give_back: Sender<Batch>,
) -> Option<(TraceError, Progress)> {
    let mut done = Vec::with_capacity(GIVEN_BACK);
    for batch in filled {
        for segment in batch.segments().filter(|segment| wanted(segment)) {
            watched.take(&segment);
        }
        if let Some(full) = watched.tracker.full(batch.progress.totals.packets) {
            return Some((full, batch.progress));
        }
        done.push(batch);
        if done.len() == GIVEN_BACK {
            // After the end of the capture nobody fills them again.
            done.drain(..).for_each(|batch| drop(give_back.send(batch)));
        }
    }
    None
}

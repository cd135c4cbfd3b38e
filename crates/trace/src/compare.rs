//! Comparison of one flow captured at two points: changes to the ECN bits between them.

use crate::capture::Capture;
use crate::error::TraceError;
use crate::input::Input;
use crate::packet::Segment;
use crate::pairing::{Comparison, Packet, Pairing, Print};

/// Reads both captures in order of time and pairs their packets. A packet waits at most two minutes of capture time for
/// its counterpart, and so do packets that only their order distinguishes: memory does not grow with the captures.
///
/// # Errors
/// If one of them cannot be read to its end.
pub fn compare(first: Input, second: Input) -> Result<Comparison, TraceError> {
    let mut pairing = Pairing::default();
    let mut sides = [Side::new(first)?, Side::new(second)?];
    while let Some(which) = earlier(&sides) {
        let side = &mut sides[which];
        if let Some((print, packet)) = side.head.take() {
            pairing.take(print, packet, which == 0);
        }
        side.advance()?;
    }
    let starts = sides.map(|side| side.capture.totals().times.map_or(0, |times| times.0));
    Ok(Comparison { starts, ..pairing.finish() })
}

fn earlier(sides: &[Side; 2]) -> Option<usize> {
    match [&sides[0].head, &sides[1].head].map(|head| head.as_ref().map(|h| h.1.time)) {
        [Some(a), Some(b)] => Some(usize::from(b < a)),
        [Some(_), None] => Some(0),
        [None, Some(_)] => Some(1),
        [None, None] => None,
    }
}

struct Side {
    capture: Capture,
    head: Option<(Print, Packet)>,
}

impl Side {
    fn new(input: Input) -> Result<Side, TraceError> {
        let mut side = Side { capture: Capture::new(input)?, head: None };
        side.advance()?;
        Ok(side)
    }

    /// Advances to the next TCP segment of this capture.
    fn advance(&mut self) -> Result<(), TraceError> {
        let head = &mut self.head;
        while head.is_none() {
            let more = self.capture.step(|segment| {
                if !segment.dropped {
                    let Segment { number, time, id, ecn, flags, .. } = *segment;
                    *head = Some((Print::of(segment), Packet { number, time, id, ecn, flags }));
                }
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }
}

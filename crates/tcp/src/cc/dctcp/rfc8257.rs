//! DCTCP as RFC 8257 has it: bytes are counted, and alpha is a real number.

use ecnlab_base::coverage_mark;

use crate::cc::reno::Reno;
use crate::cc::{AckSample, Congestion, CongestionControl, CongestionEvent};

/// State of a connection.
#[derive(Clone, Debug)]
pub struct Rfc8257 {
    g: f64,
    /// Estimate of the marked fraction of the bytes (DCTCP.Alpha).
    alpha: f64,
    /// Bytes delivered and marked in this window of data (DCTCP.BytesAcked, DCTCP.BytesMarked).
    delivered: u64,
    marked: u64,
    /// The window of data, by the count of round trips.
    round: u64,
}

impl Rfc8257 {
    /// State at the beginning.
    pub fn new(alpha: f64, g: f64) -> Rfc8257 {
        Rfc8257 { g, alpha, delivered: 0, marked: 0, round: 0 }
    }

    /// The estimate.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// An ACK (§3.3 steps 1 to 8).
    pub fn on_feedback(&mut self, sample: &AckSample) {
        self.delivered += sample.delivered.bytes;
        self.marked += sample.marked.bytes;
        if sample.round == self.round || self.delivered == 0 {
            return;
        }
        let marked = self.marked as f64 / self.delivered as f64;
        self.alpha += self.g * (marked - self.alpha);
        (self.delivered, self.marked, self.round) = (0, 0, sample.round);
    }

    /// Reduces the window by half of alpha on a mark, by half on a loss.
    pub fn on_congestion(&self, reno: &mut Reno, event: &CongestionEvent) {
        if event.why != Congestion::Ecn {
            coverage_mark!("dctcp.loss");
            // §3.5.
            return reno.on_congestion(event);
        }
        coverage_mark!("dctcp.mark");
        // §3.3 step 9: the window itself, not the flight, is reduced.
        let kept = 1.0 - self.alpha / 2.0;
        let event = CongestionEvent { in_flight: reno.cwnd(), ..*event };
        let window = reno.window().cwnd_with_fraction();
        // Where windows are whole segments so is the reduction, rounded down (Linux, dctcp_ssthresh).
        let lost = reno.rounded(window - (window as f64 * kept).round() as u64);
        reno.reduce(&event, |window| window - lost);
    }
}

//! The congestion window and the slow-start threshold.

/// Fraction bits of the window: SMSS²/cwnd is less than a byte at large windows, and simulators that store cwnd as a
/// float do not round it.
pub(crate) const FRACTION: u32 = 16;

/// Upper limit of windows in bytes, 2^40: more than any path holds.
pub(crate) const MAX_CWND: u64 = 1 << 40;

/// Congestion window and slow-start threshold of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcState {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` is none.
    pub ssthresh: u64,
}

/// Congestion window and slow-start threshold of a connection. The window law and loss recovery change them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window in 2^-16 bytes.
    cwnd: u64,
    ssthresh: u64,
    mss: u32,
}

impl Window {
    /// A window of `segments` of `mss` bytes, without a threshold.
    pub fn new(segments: u32, mss: u32) -> Window {
        let cwnd = (u64::from(segments) * u64::from(mss)).min(MAX_CWND) << FRACTION;
        Window { cwnd, ssthresh: u64::MAX, mss }
    }

    /// Congestion window in bytes.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.cwnd >> FRACTION
    }

    /// Slow-start threshold in bytes; `u64::MAX` is none.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Payload bytes of a full segment.
    #[inline]
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Window and threshold.
    pub fn state(&self) -> CcState {
        CcState { cwnd: self.cwnd(), ssthresh: self.ssthresh }
    }

    /// Sets the window to `cwnd` bytes, at least one segment.
    pub fn set_cwnd(&mut self, cwnd: u64) {
        self.cwnd = cwnd.clamp(u64::from(self.mss), MAX_CWND) << FRACTION;
    }

    /// Reduces the window by `bytes`, down to one segment.
    pub fn deflate(&mut self, bytes: u64) {
        let less = self.cwnd.saturating_sub(bytes.min(MAX_CWND) << FRACTION);
        self.cwnd = less.max(u64::from(self.mss) << FRACTION);
    }

    /// Sets the threshold to `ssthresh` bytes.
    pub fn set_ssthresh(&mut self, ssthresh: u64) {
        self.ssthresh = ssthresh;
    }

    /// Undoes a spurious reduction: window and threshold are raised to at least the values `before` it.
    pub fn undo(&mut self, before: CcState) {
        self.set_cwnd(self.cwnd().max(before.cwnd));
        self.set_ssthresh(self.ssthresh.max(before.ssthresh));
    }

    /// Reduces the window to `restart` bytes if it is larger.
    pub fn restart(&mut self, restart: u64) {
        if self.cwnd() > restart {
            self.set_cwnd(restart);
        }
    }

    /// The window in segments, with its fraction.
    pub fn segments(&self) -> f64 {
        // Below 2^63, where the conversion of a signed number is a single instruction.
        self.cwnd as i64 as f64 / f64::from(1 << FRACTION) / f64::from(self.mss)
    }

    /// Opens the window by `segments`.
    #[inline]
    pub fn widen_segments(&mut self, segments: f64) {
        self.widen(rounded(segments * f64::from(self.mss) * f64::from(1 << FRACTION)));
    }

    /// The window in 2^-16 bytes.
    #[inline]
    pub fn cwnd_with_fraction(&self) -> u64 {
        self.cwnd
    }

    /// Sets the window to `cwnd`, in 2^-16 bytes, without a minimum.
    pub fn set_cwnd_with_fraction(&mut self, cwnd: u64) {
        self.cwnd = cwnd;
    }

    /// Opens the window by `more`, in 2^-16 bytes.
    #[inline]
    pub(crate) fn widen(&mut self, more: u64) {
        self.cwnd = self.cwnd.saturating_add(more).min(MAX_CWND << FRACTION);
    }
}

/// `value.round() as u64`, at most 2^63, without the call that `round` is on processors without SSE 4.1.
fn rounded(value: f64) -> u64 {
    let whole = value as i64;
    let up = value - whole as f64 >= 0.5;
    whole.saturating_add(i64::from(up)).max(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_by_the_standard_library() {
        let near = |n: f64| [n - 0.5, n, n + 0.25, (n + 0.5).next_down(), n + 0.5, n + 0.75];
        let numbers = [0.0, 1.0, 2.0, 12_345.0, 1e9, (1_u64 << 52) as f64 - 1.0, (1_u64 << 60) as f64];
        for value in numbers.into_iter().flat_map(near).flat_map(|value| [value, -value]).chain([f64::NAN]) {
            assert_eq!(rounded(value), value.round() as u64, "{value}");
        }
        assert!(rounded(f64::INFINITY) > MAX_CWND << FRACTION);
    }
}

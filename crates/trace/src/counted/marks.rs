//! Marks reported to a sender, per round trip.

/// Gain of alpha per round trip (RFC 8257 §4.2).
const GAIN: f64 = 1.0 / 16.0;

/// Marks reported by feedback.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Packets: from the ACE field with AccECN; from acknowledged bytes, in full segments, with DCTCP.
    pub packets: u64,
    /// Bytes: from the option if there is one.
    pub bytes: u64,
    /// Completed windows of data, each a round trip.
    pub rounds: u64,
    /// Packets reported in the completed windows.
    pub in_rounds: u64,
    /// Packets reported in the last completed window.
    pub last: u64,
    /// DCTCP's estimate of the marked fraction, initially 1 (RFC 8257 §3.3).
    pub alpha: f64,
    /// The window in progress: its end, acknowledged and marked bytes.
    point: Option<u64>,
    until: u64,
    una: u64,
    acked: u64,
    marked: u64,
    now: u64,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks {
            packets: 0,
            bytes: 0,
            rounds: 0,
            in_rounds: 0,
            last: 0,
            alpha: 1.0,
            point: None,
            until: 0,
            una: 0,
            acked: 0,
            marked: 0,
            now: 0,
        }
    }
}

impl Marks {
    /// Processes an ACK up to `una` at `time` that reports marks, with data sent up to `next`. The sender's response
    /// passes the capture point `answer` later: a round trip takes at least that long.
    pub(super) fn on_ack(&mut self, (una, next): (u64, u64), (time, answer): (u64, u64), packets: u64, bytes: u64) {
        self.packets += packets;
        self.bytes += bytes;
        let Some(point) = self.point else {
            (self.point, self.until, self.una) = (Some(next), time.saturating_add(answer), una);
            return;
        };
        self.acked += una - self.una.min(una);
        self.una = una;
        self.marked += bytes;
        self.now += packets;
        if una > point && time >= self.until {
            let share = if self.acked == 0 { 0.0 } else { (self.marked as f64 / self.acked as f64).min(1.0) };
            self.alpha += GAIN * (share - self.alpha);
            self.rounds += 1;
            self.in_rounds += self.now;
            self.last = self.now;
            (self.point, self.until) = (Some(next), time.saturating_add(answer));
            (self.acked, self.marked, self.now) = (0, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_follows_the_marked_share_of_each_window() {
        let mut marks = Marks::default();
        // The first ACK begins a window that ends with an ACK above 4000.
        marks.on_ack((1_000, 4_000), (0, 0), 0, 0);
        marks.on_ack((4_000, 9_000), (0, 0), 1, 1_000);
        assert_eq!((marks.rounds, marks.alpha), (0, 1.0));
        marks.on_ack((5_000, 9_000), (0, 0), 1, 1_000);
        // 2000 of 4000 bytes: 1 + (0.5 - 1) / 16.
        assert_eq!((marks.rounds, marks.in_rounds, marks.last, marks.alpha), (1, 2, 2, 0.968_75));
        marks.on_ack((9_000, 9_000), (0, 0), 0, 0);
        assert_eq!(marks.rounds, 1, "not past its end");
        marks.on_ack((9_001, 9_001), (0, 0), 0, 0);
        // None of 4001: 0.96875 · 15/16.
        assert_eq!((marks.rounds, marks.last, marks.alpha), (2, 0, 0.908_203_125));
        assert_eq!((marks.packets, marks.bytes), (2, 2_000));
    }

    #[test]
    fn far_from_the_sender_a_window_takes_its_time() {
        // Each ACK acknowledges everything; the response follows 40 later.
        let mut marks = Marks::default();
        (0..=8).for_each(|n| marks.on_ack((n * 1_000, n * 1_000), (n * 10, 40), 0, 0));
        assert_eq!(marks.rounds, 2);
    }

    #[test]
    fn more_marked_than_acknowledged_is_all() {
        let mut marks = Marks::default();
        marks.on_ack((0, 1_000), (0, 0), 0, 0);
        marks.on_ack((1_001, 2_000), (0, 0), 9, 9_000);
        assert_eq!(marks.alpha, 1.0);
    }
}

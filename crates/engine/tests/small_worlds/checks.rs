//! What must hold in every world, seen from outside: segments, and the window that the endpoint reports.

use ecnlab_base::{Dur, Time};
use ecnlab_tcp::registry::RecoveryKind;
use ecnlab_tcp::{Endpoint, Sample};
use ecnlab_wire::{Segment, Seq};

use super::case::{BYTES, Case};
use super::feedback::Feedback;
use super::world::{CLIENT, Fate, ISS, Observe, SERVER, Step, World};

/// Longest RTT: 20 ms of delay, 12 segments of 1.2 ms ahead in the queue, an ACK delayed by 40 ms, 6 ms of lateness.
const LONGEST_RTT: Dur = Dur::from_ms(84);
/// Longest timeout without backoff, SRTT + max(200 ms, 4 · RTTVAR), with both at most the RTT.
const LONGEST_RTO: Dur = Dur::from_ms(420);
/// Round trips of a transfer at a window of one segment, its handshake and its end.
const ROUND_TRIPS: u64 = 14 + 3;

/// A broken invariant: its name, and the values.
pub type Broken = (&'static str, String);

/// The checks of one world.
pub struct Checks {
    case: Case,
    late: usize,
    feedback: Feedback,
    /// First broken invariant.
    pub broken: Option<Broken>,
    /// Bytes of a full segment: the first one.
    mss: u64,
    /// Offsets: the greatest ACK number received, one past the highest data sent.
    acked: u64,
    sent: u64,
    /// Duplicate ACKs since the greatest ACK number was received.
    duplicates: u64,
    /// Offsets reported by SACK, and segments that arrived twice by D-SACK.
    sacked: Vec<(u64, u64)>,
    twice: u64,
    /// One past the highest data sent at the last reduction.
    reduced: u64,
    before: Option<State>,
}

/// The sender's state at the last step.
#[derive(Clone)]
struct State {
    sample: Sample,
    timeouts: u64,
    fast_recoveries: u64,
    ecn_reductions: u64,
}

impl Observe for Checks {
    fn see(&mut self, step: &Step<'_>, ends: &[Endpoint; 2]) {
        if self.broken.is_none() {
            let seen =
                if step.side == CLIENT { self.see_sender(step, &ends[CLIENT]) } else { self.feedback.see(step, ends) };
            self.broken = seen.err().map(|(name, what)| (name, format!("at {}: {what}", step.now)));
        }
    }
}

impl Checks {
    /// Of a world that begins.
    pub fn new(case: &Case, world: &World) -> Checks {
        Checks {
            case: *case,
            late: world.data.iter().filter(|(_, fate)| *fate == Fate::Late).count(),
            feedback: Feedback::new(case, world),
            broken: None,
            mss: 0,
            acked: 0,
            sent: 0,
            duplicates: 0,
            sacked: Vec::new(),
            twice: 0,
            reduced: 0,
            before: None,
        }
    }

    fn see_sender(&mut self, step: &Step<'_>, end: &Endpoint) -> Result<(), Broken> {
        let high = self.sent;
        if let Some(ack) = step.arrived.filter(|_| end.is_established()) {
            self.see_ack(ack);
        }
        let now = end.sample();
        let counters = end.counters();
        let (timeouts, fast_recoveries) = (counters.timeouts, counters.fast_recoveries);
        let ecn_reductions = counters.ecn_reductions + counters.quench_reductions;
        let state = State { sample: now, timeouts, fast_recoveries, ecn_reductions };
        let before = self.before.replace(state.clone());
        let data: Vec<&Segment> = step.sent.iter().filter(|segment| segment.len > 0).collect();
        for segment in &data {
            self.see_data(segment, step.arrived.is_none())?;
        }
        if self.mss == 0 {
            return Ok(());
        }
        self.see_window(&now, counters.dupacks_received)?;
        self.see_flight(&data, high, &now, step.under_way)?;
        self.feedback.see_data(&data, high, ecn_reductions)?;
        let Some(before) = before else { return Ok(()) };
        self.see_loss(&before, &state)?;
        self.see_reduction(&before, &state, high)
    }

    fn see_ack(&mut self, ack: &Segment) {
        let offset = |seq: Seq| u64::from(seq - ISS[CLIENT]);
        let acked = self.acked.max(offset(ack.ack));
        self.duplicates = if acked > self.acked { 0 } else { self.duplicates + 1 };
        self.feedback.see_ack(ack, acked - self.acked, self.mss);
        self.acked = acked;
        let blocks = ack.sack.as_slice();
        if let Some(first) = blocks.first().map(|block| offset(block.start)..offset(block.end)) {
            // RFC 2883 §4.
            let held = blocks.get(1).is_some_and(|b| offset(b.start) <= first.start && first.end <= offset(b.end));
            let again = if first.start < offset(ack.ack) || held { first.end - first.start } else { 0 };
            self.twice += again.div_ceil(self.mss.max(1));
        }
        for block in ack.sack.as_slice() {
            let (mut from, mut to) = (offset(block.start), offset(block.end));
            let merged = self.sacked.extract_if(.., |other| other.0 <= to && from <= other.1);
            (from, to) = merged.fold((from, to), |(from, to), other| (from.min(other.0), to.max(other.1)));
            self.sacked.push((from, to));
        }
        self.sacked.retain(|block| block.1 > self.acked);
    }

    /// No retransmission of data that the peer has acknowledged, cumulatively or by SACK. RACK's probe is the last segment
    /// also if it is SACKed (tcp_send_loss_probe).
    fn see_data(&mut self, segment: &Segment, by_timer: bool) -> Result<(), Broken> {
        let start = u64::from(segment.seq - ISS[CLIENT]);
        let end = start + u64::from(segment.len);
        self.mss = self.mss.max(u64::from(segment.len));
        self.sent = self.sent.max(end);
        if start < self.acked {
            return Err(("sent-acked", format!("{start}:{end} is sent, {} is acknowledged", self.acked)));
        }
        let probe = self.case.recovery == RecoveryKind::Rack && by_timer && end == self.sent;
        if self.case.recovery.needs_sack() && !probe && self.sacked.iter().any(|&(from, to)| from <= start && end <= to)
        {
            return Err(("sent-sacked", format!("{start}:{end} is sent, but SACKed")));
        }
        Ok(())
    }

    /// cwnd is at least one segment (RFC 5681 §3.1: the loss window), ssthresh at least one; cwnd at most the initial
    /// window and the acknowledged bytes (RFC 5681 §3.1: slow start). Duplicates inflate it in a textbook recovery, and
    /// count as delivered segments in Linux (tcp_add_reno_sack), as SACKed ones do. With D-SACK a segment that was
    /// delivered twice counts twice (tcp_dsack_seen).
    fn see_window(&self, now: &Sample, dupacks: u64) -> Result<(), Broken> {
        let least = self.mss;
        if now.cwnd < least || now.ssthresh < least {
            return Err(("floor", format!("cwnd {} or ssthresh {} is below {least}", now.cwnd, now.ssthresh)));
        }
        let sacked: u64 = self.sacked.iter().map(|&(from, to)| to - from.max(self.acked)).sum();
        let duplicates = match self.case.recovery {
            RecoveryKind::Rack => sacked + self.twice * self.mss,
            RecoveryKind::LinuxNewReno => dupacks * self.mss,
            _ if now.in_recovery => (dupacks + 3) * self.mss,
            _ => 0,
        };
        // Linux counts segments, also small ones.
        let acked = if self.case.is_linux() { self.acked.next_multiple_of(self.mss) } else { self.acked };
        let most = 4 * self.mss + acked + duplicates;
        if now.cwnd > most {
            return Err(("ceiling", format!("cwnd {} is above {most}", now.cwnd)));
        }
        Ok(())
    }

    /// New data fit into cwnd and two segments of limited transmit (RFC 3042); data on the wire into cwnd, these two, the
    /// retransmission that begins a recovery (RFC 5681 §3.2 step 2), and late packets, which may be considered lost.
    fn see_flight(&self, data: &[&Segment], high: u64, now: &Sample, under_way: usize) -> Result<(), Broken> {
        let window = now.cwnd + 2 * self.mss;
        let textbook = !self.case.is_linux() && !self.case.recovery.needs_sack();
        if textbook && self.sent > high && self.sent > self.acked + window {
            return Err(("flight", format!("{} is sent, {} acknowledged, cwnd {}", self.sent, self.acked, now.cwnd)));
        }
        let most = window.div_ceil(self.mss) as usize + 1 + self.late;
        // Tahoe sends all again while the data of the first flight is under way.
        let exempt = data.len() == 1 && self.sent == high || self.case.recovery == RecoveryKind::Tahoe;
        if !data.is_empty() && !exempt && under_way > most {
            return Err(("on-wire", format!("{under_way} packets are under way, cwnd {}", now.cwnd)));
        }
        Ok(())
    }

    /// A timeout sets cwnd to one segment (RFC 5681 §3.1). Three duplicate ACKs begin a fast retransmit (§3.2), or SACK of
    /// more than three segments above the first hole (RFC 6675 §5, FACK).
    fn see_loss(&self, before: &State, now: &State) -> Result<(), Broken> {
        if now.timeouts > before.timeouts && now.sample.cwnd > self.mss {
            return Err(("loss-window", format!("cwnd is {} after a timeout", now.sample.cwnd)));
        }
        let begins = now.fast_recoveries > before.fast_recoveries;
        let top = self.sacked.iter().map(|block| block.1).max().unwrap_or(0);
        let shown = self.duplicates >= 3 || self.case.recovery.needs_sack() && top > self.acked + 3 * self.mss;
        if begins && !self.case.is_linux() && !shown {
            return Err(("early", format!("fast retransmit after {} duplicate ACKs", self.duplicates)));
        }
        Ok(())
    }

    /// At most one reduction for each window of data (RFC 5681 §3.2, RFC 6582 §3.2, RFC 3168 §6.1.2) and one for each
    /// timeout: a fall of ssthresh. Prague and Linux's DCTCP reduce
    /// for a mark and again for a loss (dctcp_react_to_loss).
    fn see_reduction(&mut self, before: &State, now: &State, high: u64) -> Result<(), Broken> {
        // A spurious recovery of Linux ends at once, and another may begin (tcp_try_undo_partial, tcp_fastretrans_alert).
        let begins = now.fast_recoveries > before.fast_recoveries;
        let undone = self.case.is_linux() && before.sample.in_recovery && (begins || !now.sample.in_recovery);
        if now.sample.ssthresh > before.sample.ssthresh || undone {
            self.reduced = 0;
        }
        // Vegas also leaves slow start, and follows the RTT, without congestion (tcp_vegas_cong_avoid).
        let congestion = begins || now.timeouts > before.timeouts || now.ecn_reductions > before.ecn_reductions;
        if now.sample.ssthresh >= before.sample.ssthresh || self.case.law == "vegas" && !congestion {
            return Ok(());
        }
        let twice = matches!((self.case.profile, self.case.law), (_, "prague") | ("linux-7", "dctcp"));
        let exempt = twice || now.timeouts > before.timeouts;
        if self.acked < self.reduced && !exempt {
            let what = format!("ssthresh falls from {} to {}", before.sample.ssthresh, now.sample.ssthresh);
            return Err(("twice", format!("{what}, {} acknowledged of {}", self.acked, self.reduced)));
        }
        self.reduced = high;
        Ok(())
    }

    /// What must hold at the end of the world, with `events` events.
    pub fn finish(self, end: Time, ends: &[Endpoint; 2], events: u32) -> Result<(), Broken> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        if ends[SERVER].received() != BYTES || ends[CLIENT].acked() != BYTES {
            return Err(("delivery", format!("{} of {BYTES} bytes arrived by {end}", ends[SERVER].received())));
        }
        let bound = latest(events);
        if end > bound {
            return Err(("time", format!("the transfer ends at {end}, later than {bound}")));
        }
        self.feedback.finish(ends)
    }
}

/// Each event costs at most one timeout, the next of the same segment twice as long, and a round trip.
fn latest(events: u32) -> Time {
    Time::ZERO + LONGEST_RTO * ((1 << events) - 1) + LONGEST_RTT * (ROUND_TRIPS + u64::from(events))
}

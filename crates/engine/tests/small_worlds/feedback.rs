//! What the receiver must report of CE, by its feedback scheme.

use ecnlab_tcp::Endpoint;
use ecnlab_tcp::registry::EcnKind;
use ecnlab_wire::{Ecn, Flags, Segment};

use super::case::Case;
use super::checks::Broken;
use super::world::{CLIENT, Fate, ISS, SERVER, Step, World};

/// The receiver's marks.
pub struct Feedback {
    scheme: EcnKind,
    /// BBR responds to no mark (`docs/laws/bbr.md`).
    responds: bool,
    /// CWR also ends the echo of marks that a delayed ACK would report (Linux, tcp_ecn_accept_cwr).
    forgets: bool,
    /// No data is lost or late, and no ACK: feedback that infers marked bytes from ACKs is exact.
    exact: bool,
    /// RFC 3168 §6.1.3: ECE until CWR.
    echo: bool,
    /// CE has arrived since the last segment was sent: a delayed ACK reports it also after CWR (RFC 3168 §6.1.3).
    waiting: bool,
    /// Packets and payload bytes that arrived with CE.
    packets: u64,
    bytes: u64,
    /// The receiver's next byte at the last step, its last ACK number, and TS.Recent.
    next: u64,
    acked: u64,
    recent: u32,
    /// Reductions by marks at the sender, and whether CWR has not yet left since the last one.
    reductions: u64,
    cwr_due: bool,
    /// An ACK did not show whether its ACE field had wrapped.
    unclear: bool,
}

impl Feedback {
    /// Of a connection that begins.
    pub fn new(case: &Case, world: &World) -> Feedback {
        let exact = world.acks.is_empty() && world.data.iter().all(|(_, fate)| *fate == Fate::Marked);
        let (scheme, responds) = (case.feedback, case.law != "bbr");
        Feedback {
            scheme,
            responds,
            forgets: case.profile == "linux-7" && scheme == EcnKind::Rfc3168,
            exact,
            echo: false,
            waiting: false,
            packets: 0,
            bytes: 0,
            next: 1,
            acked: 1,
            recent: 0,
            reductions: 0,
            cwr_due: false,
            unclear: false,
        }
    }

    /// CWR is on the first new data after a reduction (RFC 3168 §6.1.2), or the first data (RFC 2481 §6.1.3): `data` that
    /// the sender has sent, where those from `high` are new, after so many `reductions` by marks.
    pub fn see_data(&mut self, data: &[&Segment], high: u64, reductions: u64) -> Result<(), Broken> {
        let any = match self.scheme {
            EcnKind::Rfc3168 => false,
            EcnKind::Rfc2481 | EcnKind::EcnBecn | EcnKind::EcnBecnBoth => true,
            _ => return Ok(()),
        };
        self.cwr_due |= reductions > std::mem::replace(&mut self.reductions, reductions);
        for segment in data.iter().filter(|segment| any || u64::from(segment.seq - ISS[CLIENT]) >= high) {
            if std::mem::take(&mut self.cwr_due) && !segment.flags.contains(Flags::CWR) {
                return Err(("cwr", "data after a reduction have no CWR".to_owned()));
            }
        }
        Ok(())
    }

    /// An ACK of `acked` new bytes has arrived. Without an option its ACE field may have wrapped if it acknowledges more than seven
    /// segments of `mss` bytes, and the sender counts the most marks that it may stand for (RFC 9768 §3.2.2.5.2).
    pub fn see_ack(&mut self, ack: &Segment, acked: u64, mss: u64) {
        self.unclear |= ack.acc_ecn.is_none() && acked > 7 * mss;
    }

    /// Checks the receiver's segments.
    pub fn see(&mut self, step: &Step<'_>, ends: &[Endpoint; 2]) -> Result<(), Broken> {
        if let Some(segment) = step.arrived {
            if segment.flags.contains(Flags::SYN) {
                self.recent = segment.timestamps.map_or(0, |stamp| stamp.value);
            }
            self.arrived(segment);
        }
        self.next = ends[SERVER].received() + 1;
        for sent in step.sent.iter().filter(|sent| !sent.flags.contains(Flags::SYN)) {
            self.sent(sent)?;
            self.waiting = false;
            self.acked = u64::from(sent.ack - ISS[CLIENT]);
        }
        Ok(())
    }

    fn arrived(&mut self, segment: &Segment) {
        if segment.len == 0 || !self.counts(segment) {
            return;
        }
        if segment.flags.contains(Flags::CWR) {
            self.echo = false;
            self.waiting &= !self.forgets;
        }
        if segment.ecn == Ecn::Ce {
            (self.echo, self.waiting) = (true, true);
            self.packets += 1;
            self.bytes += u64::from(segment.len);
        }
    }

    /// Whether CE and CWR of a data segment count: not those of data that have arrived before (RFC 3168 §6.1.5), nor those of
    /// a segment that PAWS refuses (RFC 7323 §5.3 R1), such as a late one sent before a retransmission that has filled the
    /// hole. RFC 2481 §6.1.3 has no such rule. Linux counts CE of a duplicate that reaches the last ACK (tcp_sequence).
    fn counts(&mut self, segment: &Segment) -> bool {
        let start = u64::from(segment.seq - ISS[CLIENT]);
        let end = start + u64::from(segment.len);
        match self.scheme {
            EcnKind::Rfc2481 | EcnKind::EcnBecn | EcnKind::EcnBecnBoth => true,
            EcnKind::AccEcnLinux => end >= self.acked && !self.is_old(segment, start),
            _ => end > self.next && !self.is_old(segment, start),
        }
    }

    /// Whether the timestamp of `segment` is older than TS.Recent, which it updates (RFC 7323 §4.3).
    fn is_old(&mut self, segment: &Segment, start: u64) -> bool {
        let Some(stamp) = segment.timestamps.map(|stamp| stamp.value) else { return false };
        let is_old = (stamp.wrapping_sub(self.recent) as i32) < 0;
        if !is_old && start <= self.acked {
            self.recent = stamp;
        }
        is_old
    }

    fn sent(&self, segment: &Segment) -> Result<(), Broken> {
        let flags = segment.flags;
        match self.scheme {
            EcnKind::Rfc3168 | EcnKind::Rfc2481 | EcnKind::EcnBecn | EcnKind::EcnBecnBoth
                if flags.contains(Flags::ECE) != (self.echo || self.waiting) =>
            {
                Err(("echo", format!("ECE is {}", flags.contains(Flags::ECE))))
            }
            EcnKind::AccEcn | EcnKind::AccEcnLinux => {
                let bit = |flag, value| u64::from(flags.contains(flag)) * value;
                let (ace, expected) =
                    (bit(Flags::AE, 4) + bit(Flags::CWR, 2) + bit(Flags::ECE, 1), (5 + self.packets) & 7);
                let fault = || ("ace", format!("ACE is {ace}, expected {expected}"));
                if ace == expected { Ok(()) } else { Err(fault()) }
            }
            EcnKind::Off | EcnKind::Becn if flags.intersects(Flags::ECE | Flags::CWR) => {
                Err(("echo", "ECE without ECN".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The sender has the receiver's counts, and has received each echo.
    pub fn finish(&self, ends: &[Endpoint; 2]) -> Result<(), Broken> {
        let client = ends[CLIENT].counters();
        let counted = match self.scheme {
            EcnKind::AccEcn | EcnKind::AccEcnLinux => true,
            EcnKind::Dctcp => self.exact,
            _ => false,
        };
        let missed = client.bytes_marked < self.bytes;
        if counted && (missed || client.bytes_marked > self.bytes && !self.unclear) {
            return Err(("marked", format!("{} bytes had CE, the sender counts {}", self.bytes, client.bytes_marked)));
        }
        if !counted
            && !matches!(self.scheme, EcnKind::Off | EcnKind::Becn)
            && self.packets > 0
            && client.ece_received == 0
        {
            return Err(("no-echo", "CE has arrived, but no ECE at the sender".to_owned()));
        }
        let reductions = client.ecn_reductions + client.quench_reductions + client.fast_recoveries;
        let responses = reductions + client.timeouts + client.ecn_holds;
        if self.packets > 0 && responses == 0 && self.responds {
            return Err(("no-response", format!("{} packets had CE, but the sender has not responded", self.packets)));
        }
        Ok(())
    }
}

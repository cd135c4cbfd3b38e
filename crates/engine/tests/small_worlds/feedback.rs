//! What the receiver must report of CE, by its feedback scheme.

use ecnlab_tcp::Endpoint;
use ecnlab_tcp::registry::EcnKind;
use ecnlab_wire::{Ecn, Flags, Segment};

use super::checks::Broken;
use super::world::{CLIENT, Fate, ISS, SERVER, Step, World};

/// The receiver's marks.
pub struct Feedback {
    scheme: EcnKind,
    /// No data is lost or late, and no ACK: feedback that infers marked bytes from ACKs is exact.
    exact: bool,
    /// RFC 3168: ECE until CWR.
    echo: bool,
    /// Packets and payload bytes that arrived with CE.
    packets: u64,
    bytes: u64,
    /// The receiver's next byte at the last step.
    next: u64,
}

impl Feedback {
    /// Of a connection that begins.
    pub fn new(scheme: EcnKind, world: &World) -> Feedback {
        let exact = world.acks.is_empty() && world.data.iter().all(|(_, fate)| *fate == Fate::Marked);
        Feedback { scheme, exact, echo: false, packets: 0, bytes: 0, next: 1 }
    }

    /// Checks the receiver's segments.
    pub fn see(&mut self, step: &Step<'_>, ends: &[Endpoint; 2]) -> Result<(), Broken> {
        if let Some(segment) = step.arrived {
            self.arrived(segment);
        }
        self.next = ends[SERVER].received() + 1;
        step.sent.iter().filter(|sent| !sent.flags.contains(Flags::SYN)).try_for_each(|sent| self.sent(sent))
    }

    fn arrived(&mut self, segment: &Segment) {
        let ce = segment.ecn == Ecn::Ce;
        // CE of data that have arrived before does not count (RFC 3168 §6.1.5).
        let end = u64::from(segment.seq - ISS[CLIENT]) + u64::from(segment.len);
        let is_new = end > self.next;
        if segment.len > 0 && segment.flags.contains(Flags::CWR) {
            self.echo = false;
        }
        if ce && is_new {
            self.echo = true;
            self.packets += 1;
            self.bytes += u64::from(segment.len);
        }
    }

    fn sent(&self, segment: &Segment) -> Result<(), Broken> {
        let flags = segment.flags;
        match self.scheme {
            EcnKind::Rfc3168 | EcnKind::Rfc2481 if flags.contains(Flags::ECE) != self.echo => {
                Err(("echo", format!("ECE is {}, expected {}", !self.echo, self.echo)))
            }
            EcnKind::AccEcn | EcnKind::AccEcnLinux => {
                let bit = |flag, value| u64::from(flags.contains(flag)) * value;
                let (ace, expected) =
                    (bit(Flags::AE, 4) + bit(Flags::CWR, 2) + bit(Flags::ECE, 1), (5 + self.packets) & 7);
                let fault = || ("ace", format!("ACE is {ace}, expected {expected}"));
                if ace == expected { Ok(()) } else { Err(fault()) }
            }
            EcnKind::Off if flags.intersects(Flags::ECE | Flags::CWR) => Err(("echo", "ECE without ECN".to_owned())),
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
        if counted && client.bytes_marked != self.bytes {
            return Err(("marked", format!("{} bytes had CE, the sender counts {}", self.bytes, client.bytes_marked)));
        }
        if !counted && self.scheme != EcnKind::Off && self.packets > 0 && client.ece_received == 0 {
            return Err(("unheard", "CE has arrived, but no ECE at the sender".to_owned()));
        }
        let responses = client.ecn_reductions + client.fast_recoveries + client.timeouts + client.ecn_holds;
        if self.packets > 0 && responses == 0 {
            return Err(("no-response", format!("{} packets had CE, but the sender has not responded", self.packets)));
        }
        Ok(())
    }
}

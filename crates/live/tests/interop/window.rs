//! The window of a sender as its packets show it: bytes in flight at its notification of marks, and afterwards.

use std::io::Cursor;
use std::net::Ipv4Addr;

use ecnlab_trace::{Input, Reader};
use ecnlab_wire::{Flags, Ipv4Header, Seq, TcpHeader, TcpOptions, protocol};

use crate::transfer::Result;

/// Notification of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// An ACK with ECE.
    Echo,
    /// A source quench.
    Quench,
}

/// A reduction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Bytes in flight when the sender was notified.
    pub before: u64,
    /// Bytes under way once it had sent new data again.
    pub after: u64,
}

/// What a capture at a sender shows of it.
#[derive(Debug, Default)]
pub struct Windows {
    /// Round trips in which it was notified, in each of which RFC 3168 §6.1.2 wants one reduction.
    pub notified: u64,
    /// The reductions after which the congestion window limited the sender: it sent new data at a later ACK, too, and
    /// the window that its receiver advertised had room for another segment.
    pub reductions: Vec<Reduction>,
    /// Source quenches that came.
    pub quenches: u64,
    /// New data sent with CWR.
    pub cwr: u64,
    una: u64,
    next: u64,
    /// Right edge of the receiver's window.
    edge: u64,
    /// Shift of that window.
    scale: u8,
    /// Bytes in the largest segment sent.
    mss: u64,
    /// All before it had been sent at the last reduction.
    recover: u64,
    first: Option<Seq>,
    phase: Phase,
    /// The last reduction, until new data follow.
    last: Option<Reduction>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Steady,
    /// Notified, and nothing new sent since.
    Notified(u64),
    /// Sends what the new window admits.
    Sending,
}

/// Replays `capture`, taken at `own`, in which nothing of its data is lost. It is `signal` that counts.
pub fn windows(capture: &[u8], own: Ipv4Addr, signal: Signal) -> Result<Windows> {
    let text = |error: ecnlab_trace::TraceError| error.to_string();
    let mut reader = Reader::new(Input::new(Box::new(Cursor::new(capture.to_vec()))).map_err(text)?).map_err(text)?;
    let mut seen = Windows::default();
    while let Some(record) = reader.read().map_err(text)? {
        seen.packet(record.bytes, own, signal).ok_or("a packet in the capture is none")?;
    }
    Ok(seen)
}

impl Windows {
    fn packet(&mut self, bytes: &[u8], own: Ipv4Addr, signal: Signal) -> Option<()> {
        let (ip, behind) = Ipv4Header::parse(bytes).ok()?;
        if ip.protocol == protocol::ICMP {
            self.quenches += 1;
            self.notified(self.flight(), signal == Signal::Quench);
            return Some(());
        }
        let (tcp, tcp_len) = TcpHeader::parse_cut(behind).ok()?;
        if ip.source == own {
            let len = u64::from(ip.total_len) - (ip.len() + tcp_len) as u64;
            self.sent(&tcp, len);
        } else {
            self.on_ack(&tcp, signal);
        }
        Some(())
    }

    fn sent(&mut self, tcp: &TcpHeader<'_>, len: u64) {
        if tcp.flags.contains(Flags::SYN) {
            self.first = Some(tcp.seq + 1);
        }
        let end = self.offset(tcp.seq) + len;
        if len == 0 || end <= self.next {
            return;
        }
        self.next = end;
        self.mss = self.mss.max(len);
        self.cwr += u64::from(tcp.flags.contains(Flags::CWR));
        match (self.phase, self.flight()) {
            (Phase::Notified(before), after) => {
                self.last = Some(Reduction { before, after });
                self.phase = Phase::Sending;
            }
            (Phase::Sending, now) => self.last.iter_mut().for_each(|r| r.after = now),
            (Phase::Steady, _) => self.reductions.extend(self.last.take()),
        }
    }

    fn on_ack(&mut self, tcp: &TcpHeader<'_>, signal: Signal) {
        let before = self.flight();
        self.una = self.una.max(self.offset(tcp.ack).min(self.next));
        if self.phase == Phase::Sending {
            self.phase = Phase::Steady;
            // The receiver stopped the sender, not the congestion window.
            self.last = self.last.filter(|_| self.next + self.mss <= self.edge);
        }
        self.advertised(tcp);
        let echo = tcp.flags.contains(Flags::ECE) && !tcp.flags.contains(Flags::SYN);
        self.notified(before, echo && signal == Signal::Echo);
    }

    /// RFC 7323 §2.2: the window of a SYN is not scaled.
    fn advertised(&mut self, tcp: &TcpHeader<'_>) {
        let of_syn = tcp.flags.contains(Flags::SYN);
        if of_syn {
            self.scale = TcpOptions::parse(tcp.options).window_scale.unwrap_or(0);
        }
        let window = u64::from(tcp.window) << if of_syn { 0 } else { self.scale };
        self.edge = self.edge.max(self.una + window);
    }

    /// A round trip is over when data sent after the reduction is acknowledged.
    fn notified(&mut self, before: u64, counts: bool) {
        if counts && self.una > self.recover {
            self.notified += 1;
            self.recover = self.next;
            self.phase = Phase::Notified(before);
        }
    }

    fn flight(&self) -> u64 {
        self.next - self.una
    }

    fn offset(&self, seq: Seq) -> u64 {
        let here = self.first.unwrap_or(seq) + self.next as u32;
        self.next.saturating_add_signed(i64::from((seq - here) as i32))
    }
}

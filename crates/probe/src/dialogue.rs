//! One connection of the prober.

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{Ecn, Flags, Segment, Seq};

use crate::answers::{Back, Echo, Reply, Seen};
use crate::reader::{PATIENCE, Reader};

/// Number of SYNs sent; the first timeout doubles with each retransmission (RFC 6298 section 5.5).
const SYNS: u32 = 3;
const SYN_WAIT: Dur = Dur::from_ms(1000);
/// Number of transmissions of data, each with the same timeout: a delayed ACK takes up to 0.5 s (RFC 9293 section
/// 3.8.6.3).
const SENDS: u32 = 3;
const ACK_WAIT: Dur = Dur::from_ms(1000);
/// The default of RFC 9293 section 3.7.1, small so that a window holds many segments.
const MSS: u16 = 536;

/// Codepoint and flags of the parts in which a request is sent with ECN.
const PARTS: [(Ecn, Flags); 5] = [
    (Ecn::Ect0, Flags::empty()),
    (Ecn::Ce, Flags::empty()),
    (Ecn::Ect0, Flags::empty()),
    (Ecn::Ect0, Flags::CWR),
    (Ecn::Ect0, Flags::empty()),
];

/// A connection: opens, sends the request, receives the response, resets.
#[derive(Debug)]
pub struct Dialogue {
    ecn: bool,
    iss: Seq,
    /// Bytes of the request.
    request: u32,
    phase: Phase,
    tries: u32,
    sent_at: Time,
    /// Time at which [`Dialogue::on_deadline`] is due.
    pub deadline: Time,
    /// Reply to the SYN.
    pub reply: Reply,
    /// The codepoint of the SYN-ACK.
    pub syn_ack: Option<Ecn>,
    /// ECE in the ACK of each part.
    echoes: [Option<bool>; PARTS.len()],
    reader: Option<Reader>,
    unclear: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Opening,
    /// Waits for the ACK of the part with this number.
    Sending(usize),
    Reading,
    Over,
}

impl Dialogue {
    /// Sends the SYN, with or without ECN. The request will have `request` bytes.
    pub fn open(ecn: bool, iss: Seq, request: u32, now: Time, out: &mut Vec<Segment>) -> Dialogue {
        let mut dialogue = Dialogue {
            ecn,
            iss,
            request,
            phase: Phase::Opening,
            tries: 0,
            sent_at: now,
            deadline: Time::NEVER,
            reply: Reply::Silence,
            syn_ack: None,
            echoes: [None; PARTS.len()],
            reader: None,
            unclear: None,
        };
        dialogue.send_syn(now, out);
        dialogue
    }

    /// Sequence number of its SYN.
    pub fn iss(&self) -> Seq {
        self.iss
    }

    /// Returns whether the dialogue has ended.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// The echo of CE in the ACKs.
    pub fn echo(&self) -> Echo {
        let [before_ce, of_ce, until_cwr, _, after_cwr] = self.echoes;
        Echo { before_ce, of_ce, until_cwr, after_cwr }
    }

    /// The server's data.
    pub fn back(&self) -> Back {
        self.reader.as_ref().map(|reader| reader.learned().0).unwrap_or_default()
    }

    /// Codepoints of the server's data.
    pub fn data(&self) -> Seen {
        self.reader.as_ref().map(Reader::seen).unwrap_or_default()
    }

    /// Reason why a test could not be completed.
    pub fn unclear(&self) -> Option<&'static str> {
        self.unclear.or_else(|| self.reader.as_ref().and_then(|reader| reader.learned().1))
    }

    /// Processes a segment from the server.
    pub fn on_segment(&mut self, segment: &Segment, now: Time, out: &mut Vec<Segment>) {
        if self.phase == Phase::Opening {
            return self.on_answer(segment, now, out);
        }
        if self.phase == Phase::Over {
            return;
        }
        if segment.flags.contains(Flags::RST) {
            self.unclear = self.unclear.or(Some("the connection was reset"));
            return self.end();
        }
        if segment.flags.contains(Flags::SYN) {
            return out.push(self.ack(Flags::empty()));
        }
        if let Some(end) = self.reader.as_mut().and_then(|reader| reader.take(segment, now))
            && self.phase == Phase::Reading
        {
            self.deadline = end;
        }
        if let Phase::Sending(part) = self.phase
            && segment.flags.contains(Flags::ACK)
            && segment.ack == self.iss + 1 + self.cut(part + 1)
        {
            self.echoes[part] = Some(segment.flags.contains(Flags::ECE));
            self.tries = 0;
            self.send_part(part + 1, now, out);
        }
    }

    /// Processes the expiry of the deadline.
    pub fn on_deadline(&mut self, now: Time, out: &mut Vec<Segment>) {
        match self.phase {
            Phase::Opening if self.tries < SYNS => self.send_syn(now, out),
            Phase::Sending(part) if self.tries < SENDS => self.send_part(part, now, out),
            Phase::Sending(_) => {
                self.unclear = Some("data was not acknowledged");
                self.reset(out);
            }
            Phase::Reading => self.read_on(now, out),
            Phase::Opening | Phase::Over => self.end(),
        }
    }

    fn send_syn(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.sent_at = now;
        self.deadline = now + SYN_WAIT * (1 << self.tries);
        self.tries += 1;
        let ecn = if self.ecn { Flags::ECE | Flags::CWR } else { Flags::empty() };
        let mut syn =
            Segment { seq: self.iss, flags: Flags::SYN | ecn, mss: Some(MSS), window: u16::MAX, ..Segment::default() };
        syn.wire_len = syn.ipv4_len();
        out.push(syn);
    }

    /// Processes a reply to the SYN.
    fn on_answer(&mut self, segment: &Segment, now: Time, out: &mut Vec<Segment>) {
        let flags = segment.flags;
        if !flags.contains(Flags::ACK) || segment.ack != self.iss + 1 {
            return;
        }
        if flags.contains(Flags::RST) {
            self.reply = Reply::Reset;
            return self.end();
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        self.syn_ack = Some(segment.ecn);
        self.reply = match (flags.contains(Flags::ECE), flags.contains(Flags::CWR)) {
            (true, false) => Reply::EcnSetup,
            (true, true) => Reply::Reflected,
            (false, _) => Reply::Plain,
        };
        self.reader = Some(Reader::new(self.ecn, segment.end(), now.since(self.sent_at)));
        self.tries = 0;
        if self.ecn && self.reply != Reply::EcnSetup {
            return self.reset(out);
        }
        self.send_part(0, now, out);
    }

    /// Number of parts of the request: one without ECN.
    fn parts(&self) -> usize {
        if self.ecn { PARTS.len() } else { 1 }
    }

    /// Offset of the part with this number.
    fn cut(&self, part: usize) -> u32 {
        if part >= self.parts() { self.request } else { part as u32 * (self.request / self.parts() as u32) }
    }

    /// Sends the part with this number; after the last one the response is read.
    fn send_part(&mut self, part: usize, now: Time, out: &mut Vec<Segment>) {
        if part == self.parts() {
            self.phase = Phase::Reading;
            self.deadline = now + self.reader.as_ref().map_or(PATIENCE, Reader::wait);
            return;
        }
        self.phase = Phase::Sending(part);
        self.tries += 1;
        self.deadline = now + ACK_WAIT;
        let (start, end) = (self.cut(part), self.cut(part + 1));
        let (ecn, flags) = if self.ecn { PARTS[part] } else { (Ecn::NotEct, Flags::empty()) };
        let mut data = Segment { seq: self.iss + 1 + start, len: end - start, ecn, ..self.ack(flags | Flags::PSH) };
        data.wire_len = data.ipv4_len();
        out.push(data);
    }

    /// Ends a round, or handles a long silence.
    fn read_on(&mut self, now: Time, out: &mut Vec<Segment>) {
        let next = self.reader.as_mut().and_then(Reader::end_round);
        let Some(flags) = next else { return self.reset(out) };
        out.push(self.ack(flags));
        self.deadline = now + PATIENCE;
    }

    /// Returns an ACK of all data so far, with additional flags.
    fn ack(&self, flags: Flags) -> Segment {
        let sent = match self.phase {
            Phase::Opening => 0,
            Phase::Sending(part) => self.cut(part),
            Phase::Reading | Phase::Over => self.request,
        };
        let ack = self.reader.as_ref().map_or(Seq(0), Reader::next);
        let mut segment = Segment {
            seq: self.iss + 1 + sent,
            ack,
            flags: Flags::ACK | flags,
            window: u16::MAX,
            ..Segment::default()
        };
        segment.wire_len = segment.ipv4_len();
        segment
    }

    /// Resets the connection.
    fn reset(&mut self, out: &mut Vec<Segment>) {
        let mut reset = self.ack(Flags::RST);
        if let Phase::Sending(part) = self.phase {
            reset.seq = self.iss + 1 + self.cut(part + 1);
        }
        out.push(reset);
        self.end();
    }

    fn end(&mut self) {
        self.phase = Phase::Over;
        self.deadline = Time::NEVER;
    }
}

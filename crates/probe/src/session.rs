//! All tests of one server: one connection after the other.

use ecnlab_base::Time;
use ecnlab_wire::{Segment, Seq};

use crate::answers::{Answers, Reply, Seen};
use crate::dialogue::Dialogue;

/// Number of connections of a session.
pub const CONNECTIONS: u32 = 2;

/// Bytes of a simulated request.
pub const REQUEST: u32 = 100;

/// A segment to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Number of its connection, from 0: each has its own port.
    pub connection: u32,
    /// The segment, without its payload bytes.
    pub segment: Segment,
    /// Offset of its data in the request.
    pub offset: u32,
}

/// The tests: first without ECN, then with.
#[derive(Debug)]
pub struct Session {
    request: u32,
    iss: Seq,
    dialogues: Vec<Dialogue>,
    out: Vec<Segment>,
}

impl Session {
    /// Opens the first connection. The request has `request` bytes, at least the number of its parts: 5.
    pub fn start(request: u32, iss: Seq, now: Time, out: &mut Vec<Outgoing>) -> Session {
        let mut session = Session { request, iss, dialogues: Vec::new(), out: Vec::new() };
        session.go_on(now, out);
        session
    }

    /// Processes a segment for the connection with this number; its codepoint is the one with which it arrived.
    pub fn on_segment(&mut self, connection: u32, segment: &Segment, now: Time, out: &mut Vec<Outgoing>) {
        if connection as usize + 1 == self.dialogues.len()
            && let Some(dialogue) = self.dialogues.last_mut()
        {
            dialogue.on_segment(segment, now, &mut self.out);
        }
        self.go_on(now, out);
    }

    /// Time at which [`Session::on_deadline`] is due; [`Time::NEVER`] when the session has ended.
    pub fn deadline(&self) -> Time {
        self.dialogues.last().map_or(Time::NEVER, |dialogue| dialogue.deadline)
    }

    /// Processes the deadline if it has expired.
    pub fn on_deadline(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        if let Some(dialogue) = self.dialogues.last_mut().filter(|dialogue| dialogue.deadline <= now) {
            dialogue.on_deadline(now, &mut self.out);
        }
        self.go_on(now, out);
    }

    /// Passes on segments to be sent, and opens the next connection when one has ended.
    fn go_on(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        self.hand_out(out);
        let number = self.dialogues.len() as u32;
        if number < CONNECTIONS && self.dialogues.last().is_none_or(Dialogue::is_over) {
            // RFC 6528: another connection, another initial sequence number.
            let iss = self.iss + number * 0x0100_0000;
            self.dialogues.push(Dialogue::open(number > 0, iss, self.request, now, &mut self.out));
            self.hand_out(out);
        }
    }

    fn hand_out(&mut self, out: &mut Vec<Outgoing>) {
        let Some(dialogue) = self.dialogues.last() else { return };
        let (connection, first) = (self.dialogues.len() as u32 - 1, dialogue.iss() + 1);
        out.extend(self.out.drain(..).map(|segment| Outgoing { connection, segment, offset: segment.seq - first }));
    }

    /// Returns the replies, once the session has ended.
    pub fn answers(&self) -> Option<Answers> {
        let [plain, setup] = self.dialogues.as_slice() else { return None };
        if !setup.is_over() {
            return None;
        }
        let mut unmarked = plain.data();
        plain.syn_ack.iter().chain(&setup.syn_ack).for_each(|ecn| Seen::count(&mut unmarked, *ecn));
        let unclear = setup.unclear().filter(|_| setup.reply == Reply::EcnSetup);
        Some(Answers {
            plain: plain.reply,
            unmarked,
            setup: setup.reply,
            echo: setup.echo(),
            back: setup.back(),
            unclear: unclear.iter().map(|why| (*why).to_owned()).collect(),
        })
    }
}

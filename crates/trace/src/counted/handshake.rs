//! AccECN handshake: ECN fields of SYN, SYN-ACK and last ACK (RFC 9768 §3.1.2 table 2, §3.2.2.1 table 3).

use ecnlab_wire::{Ecn, Flags, TcpOptions};

use super::{Passing, ace_of};
use crate::ecn_seen::Place;
use crate::packet::Segment;
use crate::rules::{Rule, Violations};

/// Kinds of SYNs, or of SYN-ACKs, captured so far.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    accurate: bool,
    classic: bool,
    plain: bool,
}

impl Kinds {
    /// Adds one; returns whether AccECN and RFC 3168 kinds are now both present for the first time.
    fn add(&mut self, kind: fn(&mut Kinds) -> &mut bool) -> bool {
        let before = self.accurate && self.classic;
        *kind(self) = true;
        self.accurate && self.classic && !before
    }
}

/// State of the handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    syns: Kinds,
    answers: Kinds,
    /// The codepoint of the latest SYN.
    syn: Ecn,
    /// The latest SYN-ACK that agrees, until the client's reply: its codepoint, the SYN's codepoint it reports, number
    /// and time.
    answer: Option<Answer>,
    /// The SYN-ACK was captured more than once.
    again: bool,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    ecn: Ecn,
    ace: u8,
    syn: Ecn,
    number: u64,
    time: u64,
}

/// Returns the ACE encoding of a codepoint.
pub(super) const fn reflection(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

impl Handshake {
    pub fn set_up(&mut self, segment: &Segment<'_>, options: &TcpOptions, found: &mut Violations) {
        let answers = segment.flags.contains(Flags::ACK);
        let kinds = if answers { &mut self.answers } else { &mut self.syns };
        let ace = ace_of(segment.flags);
        let mixed = match (ace, answers) {
            (0b000, _) => kinds.add(|kinds| &mut kinds.plain),
            (0b011, false) | (0b001, true) => kinds.add(|kinds| &mut kinds.classic),
            (0b111, true) => false,
            _ => kinds.add(|kinds| &mut kinds.accurate),
        };
        if mixed {
            found.add(Rule::SetupMixed, segment.number, segment.time);
        }
        if answers {
            self.on_answer(segment, ace, options, found);
            return;
        }
        self.syn = segment.ecn;
        if options.acc_ecn.is_some() {
            found.add(Rule::OptionOnSyn, segment.number, segment.time);
        }
    }

    fn on_answer(&mut self, segment: &Segment<'_>, ace: u8, options: &TcpOptions, found: &mut Violations) {
        let (number, time) = (segment.number, segment.time);
        self.again |= self.answer.is_some();
        if !matches!(ace, 0b000 | 0b001 | 0b111) {
            self.answer = Some(Answer { ecn: segment.ecn, ace, syn: self.syn, number, time });
        }
        let begins = |fields: ecnlab_wire::AccEcn| {
            let counters = [fields.ect0(), fields.ce(), fields.ect1()];
            counters
                .into_iter()
                .zip([1, 0, 1])
                .all(|(counters, first)| counters.is_none_or(|counters| counters == first))
        };
        if options.acc_ecn.is_some_and(|fields| !begins(fields)) {
            found.add(Rule::OptionStart, number, time);
        }
    }

    /// Returns whether the server sent a SYN-ACK without AccECN after one with it.
    pub fn is_declined(&self) -> bool {
        self.answers.plain
    }

    /// §3.1.5: a server that has sent a SYN-ACK without AccECN, or has received such a SYN, sends nothing ECN-capable.
    pub fn forbids_ect(&self, place: Place) -> bool {
        self.answers.plain || (self.syns.plain && place == Place::Receiver)
    }

    /// Returns whether a packet of the client after the handshake reflects the SYN-ACK's codepoint instead of a count.
    pub fn reflects(&mut self, passing: &Passing<'_>, found: &mut Violations) -> bool {
        let segment = passing.segment;
        let bare = passing.is_bare() && passing.options.sack().is_empty();
        let of_syn_ack = bare && passing.peers.relative(passing.peers.una()) == 1;
        let Some(answer) = self.answer.take() else { return of_syn_ack };
        let (again, at_client) = (self.again, passing.to_sender() == Place::Receiver);
        if passing.to_peer() == Place::Receiver && answer.ace != reflection(answer.syn) {
            found.add(Rule::SynAckCode, answer.number, answer.time);
        }
        let silent = passing.own.relative(passing.own.next()) <= 1;
        if of_syn_ack && silent && (at_client || !again) {
            let ace = ace_of(segment.flags);
            let known = matches!(ace, 0b010 | 0b011 | 0b100 | 0b110) || (ace == 0 && self.answers.plain);
            if !known || (at_client && !self.answers.plain && ace != reflection(answer.ecn)) {
                found.add(Rule::LastAckCode, segment.number, segment.time);
            }
        }
        of_syn_ack
    }
}

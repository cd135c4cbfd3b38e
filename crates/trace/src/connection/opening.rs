//! The handshake: SYN and SYN-ACK in order, late or crossing, and the first packet after them.

use ecnlab_wire::{Flags, Seq, TcpOptions};

use super::negotiation::{agree, agree_by_syns};
use super::{ACCURATE, Answered, Connection, End, Negotiation, SYN_TICKS};
use crate::counted::{Counted, Scheme};
use crate::packet::Segment;
use crate::rules::{Rule, Standard, Violations};
use crate::ticks::TICK;

impl Connection {
    #[cold]
    pub(super) fn handshake(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions) {
        let answers = segment.flags.contains(Flags::ACK);
        self.ends[i].syn_acks += u32::from(answers);
        if self.is_late(i, answers) {
            self.take_late(i, segment, options);
            return;
        }
        if answers {
            self.answer(i, segment, options);
        } else {
            self.ask(i, segment);
        }
        self.note_setup(i, segment, options);
        if !(self.ends[i].crossed && answers) {
            self.handshake[i] = Some(segment.time);
        }
        self.note_syn(i, segment, options);
    }

    /// Returns whether the first SYN or SYN-ACK of end `i` is captured after packets that were sent in response to it.
    fn is_late(&self, i: usize, answers: bool) -> bool {
        let (me, peer) = (&self.ends[i], &self.ends[1 - i]);
        let later = me.counts.packets > 0 || (answers && peer.counts.packets > peer.counts.syn);
        me.syn_seq.is_none() && (later || (!answers && me.isn.is_some()))
    }

    /// Processes a SYN or SYN-ACK that is captured late. Its time is not used, and counters of AccECN are unknown.
    fn take_late(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions) {
        let answers = segment.flags.contains(Flags::ACK);
        self.opener = if answers { 1 - i } else { i };
        self.has_syn |= !answers;
        self.has_syn_ack |= answers;
        self.note_syn(i, segment, options);
        let [offered, answered] = [self.opener, 1 - self.opener].map(|end| self.ends[end].syn_flags);
        self.negotiation = match (self.has_syn, self.has_syn_ack) {
            (true, true) => agree(offered & ACCURATE, answered & ACCURATE),
            (true, false) if (offered & ACCURATE).is_empty() => Negotiation::NotOffered,
            (true, false) if self.negotiation == Negotiation::Unknown => Negotiation::Unanswered,
            _ => self.negotiation,
        };
        if !self.negotiation.is_classic() {
            self.ends.iter_mut().for_each(End::forget_classic);
        }
        if self.negotiation == Negotiation::AccEcn {
            self.counted.get_or_insert_with(Counted::joined);
        } else if self.negotiation.is_off() {
            self.counted = None;
        }
        let [low, high] = &mut self.ends;
        if let (Some(first), Some(second)) = (low.scale(), high.scale()) {
            low.rescale(first);
            high.rescale(second);
        }
    }

    /// Processes a SYN-ACK of end `i`.
    fn answer(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions) {
        self.has_syn_ack = true;
        let (offered, requested) = (self.ends[1 - i].syn_flags, segment.flags & ACCURATE);
        self.ends[1 - i].isn = Some(Seq(segment.ack.0.wrapping_sub(1)));
        if self.ends[i].crossed {
            // RFC 9768 §3.1.2, RFC 3168: each end answers as if it had only received a SYN.
            let refused = Some(self.negotiation).filter(|before| before.is_off());
            self.negotiation = refused.unwrap_or_else(|| match agree(offered, requested) {
                Negotiation::NotOffered if self.ends[i].syn_flags.intersects(ACCURATE) => Negotiation::Refused,
                agreed => agreed,
            });
            self.counted = None;
        } else {
            self.opener = 1 - i;
            self.negotiation = match (self.has_syn, self.negotiation) {
                (false, _) => Negotiation::Unknown,
                (_, Negotiation::FellBack) if self.counted.is_none() => Negotiation::FellBack,
                (_, before) => self.agreed(before, offered, requested),
            };
        }
        if let Some(syn_time) = self.handshake[1 - i]
            && let Some(answer) = segment.time.checked_sub(syn_time)
        {
            self.ends[i].stream.answer.get_or_insert(answer);
            self.note_round_trip(1 - i, syn_time, segment.time, options);
        }
    }

    /// Processes a SYN of end `i`.
    fn ask(&mut self, i: usize, segment: &Segment<'_>) {
        let requested = segment.flags & ACCURATE;
        let before = self.ends[i].syn_seq.map(|_| self.ends[i].syn_flags & ACCURATE);
        let crosses = self.has_syn && !self.has_syn_ack && before.is_none();
        if crosses {
            self.ends.iter_mut().for_each(|end| (end.crossed, end.offered) = (true, None));
            self.counted = None;
            let both = requested | (self.ends[1 - i].syn_flags & ACCURATE);
            self.negotiation = if both.is_empty() { Negotiation::NotOffered } else { Negotiation::Unanswered };
            return;
        }
        self.has_syn = true;
        if !self.ends[i].crossed {
            self.opener = i;
        }
        self.negotiation = match (before, requested.is_empty()) {
            (Some(before), _) if before == requested && (self.has_syn_ack || self.ends[i].crossed) => self.negotiation,
            (Some(before), true) if !before.is_empty() => Negotiation::FellBack,
            (Some(_), true) if self.negotiation == Negotiation::FellBack => Negotiation::FellBack,
            (_, true) => Negotiation::NotOffered,
            (_, false) => Negotiation::Unanswered,
        };
    }

    /// Records the options and flags of a SYN or SYN-ACK of end `i`.
    fn note_syn(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions) {
        let end = &mut self.ends[i];
        end.syn_seq = Some(segment.seq);
        if !(end.crossed && segment.flags.contains(Flags::ACK)) {
            end.syn_flags = segment.flags;
        }
        if !segment.flags.contains(Flags::ACK) && !end.crossed {
            end.offered = Some(end.offered == Some(true) || segment.flags.intersects(ACCURATE));
        }
        end.options = Some(*options);
        end.note_stamp(segment.time, options);
        let sack = self.ends.iter().all(|end| end.options.is_some_and(|o| o.sack_permitted));
        self.ends.iter_mut().for_each(|end| end.stream.has_sack = sack);
    }

    /// Returns the negotiation agreed by a SYN-ACK with the flags `requested`. An end that has agreed to AccECN keeps it
    /// (RFC 9768 §3.1.5).
    fn agreed(&self, before: Negotiation, offered: Flags, requested: Flags) -> Negotiation {
        if self.counted.is_none() {
            return agree(offered, requested);
        }
        match (before, agree(ACCURATE, requested)) {
            (Negotiation::AccEcn, Negotiation::Refused) => Negotiation::AccEcn,
            (Negotiation::FellBack, Negotiation::Refused) => Negotiation::FellBack,
            (_, agreed) => agreed,
        }
    }

    /// Processes a SYN or SYN-ACK of end `i` on a connection with, or possibly with, counting feedback.
    fn note_setup(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions) {
        let (answers, requested) = (segment.flags.contains(Flags::ACK), segment.flags & ACCURATE);
        let found = &mut self.ends[i].violations;
        // RFC 9768 §3.1.1, §3.1.3: flags allowed together with AE in a SYN, and those of the reply.
        let odd = match (answers, self.counted.is_some()) {
            (false, _) => requested.contains(Flags::AE) && requested != ACCURATE,
            (true, true) => requested == ACCURATE || requested == Flags::AE | Flags::ECE,
            (true, false) => self.has_syn && requested.contains(Flags::AE),
        };
        if odd {
            found.add(Rule::AccEcnSetup, segment.number, segment.time);
        }
        if !answers && requested == ACCURATE && self.counted.is_none() {
            self.counted = Some(Counted::new(Scheme::AccEcn));
        }
        if self.negotiation == Negotiation::Accepted && answers && found.standard() == Standard::Rfc8257 {
            self.counted.get_or_insert_with(|| Counted::new(Scheme::Dctcp));
        }
        if let Some(counted) = &mut self.counted {
            counted.set_up(i, segment, options, found);
        }
    }

    /// Handles a packet with AE on a connection whose handshake is not captured: the AccECN counter is in use (RFC 9768
    /// §3.2.2).
    #[cold]
    pub(super) fn join(&mut self, segment: &Segment<'_>) {
        if !segment.flags.contains(Flags::SYN) && !self.has_syn_ack {
            self.negotiation = Negotiation::AccEcn;
            self.counted = Some(Counted::joined());
        }
    }

    /// The opener's first packet after the SYN-ACK shows its response time.
    pub(super) fn third(&mut self, i: usize, segment: &Segment<'_>) {
        let Some(syn_time) = self.handshake[1 - i].take() else { return };
        if self.ends[i].crossed && self.negotiation == Negotiation::Unanswered {
            self.negotiation = agree_by_syns(self.ends[0].syn_flags, self.ends[1].syn_flags);
        }
        let options = TcpOptions::parse(segment.options);
        if let Some(answer) = segment.time.checked_sub(syn_time) {
            self.ends[i].stream.answer.get_or_insert(answer);
            self.note_round_trip(1 - i, syn_time, segment.time, &options);
            self.read_clock(i, segment.time, &options);
        }
        self.ends[i].note_stamp(segment.time, &options);
        let declined = self.counted.as_ref().is_some_and(|counted| counted.is_declined());
        if declined && i == self.opener && !segment.flags.intersects(ACCURATE) {
            // The client took the SYN-ACK without AccECN as the first one.
            self.negotiation = Negotiation::Refused;
        }
        if !matches!(self.negotiation, Negotiation::AccEcn | Negotiation::Accepted) {
            self.counted = None;
        }
    }

    /// Handles the reply to the SYN of end `i`, last sent at `syn_time`. If the SYN was sent more than once, the echoed
    /// timestamp identifies the copy, by a millisecond clock (Linux: tcp_ack_update_rtt with FLAG_SYN_ACKED).
    fn note_round_trip(&mut self, i: usize, syn_time: u64, time: u64, answer: &TcpOptions) {
        let End { options, counts, stream, .. } = &mut self.ends[i];
        let Some((last, answer)) = options.and_then(|o| o.timestamps).zip(answer.timestamps) else { return };
        let before = last.value.wrapping_sub(answer.echo);
        if before >= SYN_TICKS {
            return;
        }
        let rtt = time.saturating_sub(syn_time).saturating_add(u64::from(before) * TICK);
        if counts.syn > 1 {
            self.answered[i] = Some(Answered { at: time, echo: answer.echo, rtt });
        } else {
            stream.least_round_trip(rtt);
        }
    }

    /// Handles the first packet of end `i` after the reply to a SYN sent more than once. If it is sent immediately, it
    /// has the timestamp with which the sender compares the echo (Linux: tcp_rtt_tsopt_us).
    fn read_clock(&mut self, i: usize, time: u64, options: &TcpOptions) {
        let Some(Answered { at, echo, rtt }) = self.answered[i].take() else { return };
        let clock = options.timestamps.filter(|_| time.saturating_sub(at) < TICK);
        let ticks = clock.map(|clock| clock.value.wrapping_sub(echo)).filter(|&ticks| ticks < SYN_TICKS);
        self.ends[i].stream.least_round_trip(ticks.map_or(rtt, |ticks| u64::from(ticks.max(1)) * TICK));
    }
}

impl End {
    /// Returns whether `segment`, a SYN, belongs to this connection though it is captured after other packets of it: its
    /// number comes directly before the first one known.
    pub(super) fn lacks_syn(&self, segment: &Segment<'_>) -> bool {
        if self.syn_seq.is_some() {
            return false;
        }
        let near = |isn: Seq| isn.0.wrapping_sub(segment.seq.0) <= segment.len;
        match self.isn {
            Some(isn) => near(isn),
            None => {
                let first = self.first_seq.filter(|_| self.counts.packets > 0);
                let known = [first, self.stream.first()].into_iter().flatten();
                known.map(|first| Seq(first.0.wrapping_sub(1))).any(near)
            }
        }
    }

    /// Drops what was found by the rules of RFC 3168, which do not apply to the connection.
    fn forget_classic(&mut self) {
        self.violations = Violations::of(self.violations.standard());
        (self.ecn.counts.episodes, self.ecn.counts.reductions) = (0, 0);
    }

    /// The window scale that its SYN announces.
    fn scale(&self) -> Option<u8> {
        self.options.and_then(|options| options.window_scale).map(|scale| scale.min(14))
    }

    /// Scales the windows announced so far.
    fn rescale(&mut self, scale: u8) {
        self.window = None;
        self.last_window <<= scale;
        self.counts.windows = self.counts.windows.map(|(least, most)| (least << scale, most << scale));
    }
}

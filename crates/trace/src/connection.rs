//! A connection: two directions, and how they agreed on ECN.

use ecnlab_wire::{Ecn, Flags, Seq, TcpOptions};

use crate::counted::{ACE as ACCURATE, Counted, Marks, Passing, Scheme};
use crate::ecn::EcnState;
use crate::ecn_seen::Place;
use crate::ecn_seen::{Data, Echo};
use crate::outstanding::Cause;
use crate::packet::{Key, Segment};
use crate::rack::Evidence;
use crate::rules::{Rule, Standard, Violations};
use crate::stream::{Acked, Heard, Role, Sending, Stream};
use crate::ticks::TICK;

/// What a handshake says of ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Negotiation {
    /// The handshake is not in the capture.
    #[default]
    Unknown,
    /// The SYN did not ask.
    NotOffered,
    /// The SYN asked, and no SYN-ACK is in the capture.
    Unanswered,
    /// The SYN asked, the SYN-ACK declined.
    Refused,
    /// The SYN-ACK gave the SYN's flags back, which RFC 3168 §6.1.1 takes for a refusal.
    Reflected,
    /// The SYN asked, and when it was repeated no longer (RFC 3168 §6.1.1.1).
    FellBack,
    /// RFC 3168.
    Accepted,
    /// RFC 9768 (AccECN).
    AccEcn,
    /// The SYN asked for AccECN, the SYN-ACK agreed to RFC 3168.
    AccEcnToClassic,
}

impl Negotiation {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Negotiation::Unknown => "unknown",
            Negotiation::NotOffered => "not offered",
            Negotiation::Unanswered => "unanswered",
            Negotiation::Refused => "refused",
            Negotiation::Reflected => "reflected",
            Negotiation::FellBack => "fell back",
            Negotiation::Accepted => "accepted",
            Negotiation::AccEcn => "AccECN",
            Negotiation::AccEcnToClassic => "AccECN to RFC 3168",
        }
    }
    /// Whether ECE and CWR have the meaning of RFC 3168. Of a connection that was not seen to begin that is to be supposed.
    pub const fn is_classic(self) -> bool {
        matches!(self, Negotiation::Accepted | Negotiation::AccEcnToClassic | Negotiation::Unknown)
    }
    /// Whether it was seen that ECN is not in use.
    pub const fn is_off(self) -> bool {
        matches!(self, Negotiation::NotOffered | Negotiation::Refused | Negotiation::Reflected | Negotiation::FellBack)
    }
}

/// Numbers of the packets that one end sent.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Of these, with data.
    pub data_packets: u64,
    /// Payload bytes, sent again or not.
    pub bytes: u64,
    /// Payload bytes, each counted once.
    pub unique_bytes: u64,
    /// Packets with data that was sent before.
    pub retransmits: u64,
    /// Payload bytes sent before.
    pub retransmitted_bytes: u64,
    /// SYN and FIN without data, sent again.
    pub control_retransmits: u64,
    /// Packets with data that fills a hole and was not seen before.
    pub out_of_order: u64,
    /// Probes of a closed window.
    pub probes: u64,
    /// Packets with an ACK and nothing else.
    pub pure_acks: u64,
    /// Duplicate ACKs.
    pub duplicate_acks: u64,
    /// Packets with SYN, FIN and RST.
    pub syn: u64,
    /// Packets with FIN.
    pub fin: u64,
    /// Packets with RST.
    pub rst: u64,
    /// Packets with ECE that the other end does not take in: both have closed, or it has acknowledged all that the packet
    /// holds (RFC 9293 §3.10.7.4).
    pub ece_unheard: u64,
    /// Packets that the capture says were dropped.
    pub dropped: u64,
    /// Greatest announced window, scaled.
    pub window_max: u64,
    /// Least announced window, scaled; of packets without SYN and RST.
    pub window_min: Option<u64>,
    /// Announcements of a closed window.
    pub window_zero: u64,
    /// Most data outstanding behind a data packet.
    pub flight_max: u64,
    /// Sum of the data outstanding, over data packets.
    pub flight_sum: u64,
    /// Largest segment.
    pub largest: u32,
}

/// One end: what it sent.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// Numbers.
    pub counts: Counts,
    /// Its data.
    pub stream: Stream,
    /// ECN of its data.
    pub ecn: EcnState,
    /// What its packets break. Rules about the echo are the receiver's to keep: they stand with the end that echoes.
    pub violations: Violations,
    /// When its first and its last packet came.
    pub times: Option<(u64, u64)>,
    /// When its first and its last packet with data came.
    pub data_times: Option<(u64, u64)>,
    /// Options of its SYN.
    pub options: Option<TcpOptions>,
    syn_seq: Option<Seq>,
    syn_flags: Flags,
    fin_end: Option<u64>,
    window: Option<u16>,
    last_window: u64,
}

/// What a packet did, for those who look on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// What it was as data.
    pub sending: Sending,
    /// What it was as an ACK.
    pub acked: Acked,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Addresses and ports.
    pub key: Key,
    /// Numbers of the first and the last packet.
    pub packets: (u64, u64),
    /// Both ends, in the order of the key.
    pub ends: [End; 2],
    /// Which end opened it: the sender of the SYN, or of the first packet where there was none.
    pub opener: usize,
    /// What the handshake said.
    pub negotiation: Negotiation,
    /// Whether the SYN is there.
    pub has_syn: bool,
    /// Whether the SYN-ACK is there.
    pub has_syn_ack: bool,
    reset: bool,
    /// When the last SYN or SYN-ACK came, of either end.
    handshake: [Option<u64>; 2],
    /// The answer to a SYN or SYN-ACK of this end that was sent more than once.
    answered: [Option<Answered>; 2],
    /// Where feedback counts: AccECN, from its SYN on; DCTCP's, where that is the standard.
    counted: Option<Box<Counted>>,
}

/// An answer to what was sent more than once.
#[derive(Clone, Copy, Debug)]
struct Answered {
    at: u64,
    /// The timestamp it echoes.
    echo: u32,
    /// The round trip by the capture's clock.
    rtt: u64,
}

/// No SYN is answered after so many milliseconds.
const SYN_TICKS: u32 = 1 << 20;
/// Flags that ask for ECN or answer.
const ECHO: Flags = Flags::ECE.union(Flags::CWR);

impl Connection {
    /// A connection whose first packet is `segment`.
    pub fn new(segment: &Segment<'_>, standard: Standard) -> Connection {
        let sender = usize::from(!segment.from_low);
        let answers = segment.flags.contains(Flags::SYN | Flags::ACK);
        Connection {
            key: segment.key,
            packets: (segment.number, segment.number),
            ends: [0, 1].map(|_| End { violations: Violations::of(standard), ..End::default() }),
            opener: if answers { 1 - sender } else { sender },
            negotiation: Negotiation::Unknown,
            has_syn: false,
            has_syn_ack: false,
            reset: false,
            handshake: [None; 2],
            answered: [None; 2],
            counted: None,
        }
    }

    /// What was told of marks on the data of end `i`; `None` where feedback does not count them.
    pub fn marks(&self, i: usize) -> Option<&Marks> {
        self.counted.as_ref().map(|counted| counted.marks(i))
    }

    /// Whether `segment`, a SYN, opens another connection between the same ports.
    pub fn is_reopened_by(&self, segment: &Segment<'_>) -> bool {
        let end = &self.ends[usize::from(!segment.from_low)];
        let ended = self.reset || self.ends.iter().all(|end| end.fin_end.is_some());
        match end.syn_seq {
            Some(seq) => seq != segment.seq,
            None => ended || end.counts.packets > 0,
        }
    }

    /// Whether no data can come any more from end `i`.
    pub fn is_closed(&self, i: usize) -> bool {
        self.reset || self.ends[i].fin_end.is_some_and(|end| self.ends[i].stream.una() >= end)
    }

    /// Whether an end has been read as one with RACK.
    pub(crate) fn has_second_reading(&self) -> bool {
        self.ends.iter().any(|end| end.stream.has_second_reading())
    }

    /// Bytes on the heap.
    pub(crate) fn heap(&self) -> usize {
        let counted = self.counted.as_ref().map_or(0, |counted| counted.heap());
        self.ends.iter().map(|end| end.stream.heap() + end.violations.heap()).sum::<usize>() + counted
    }

    /// What tells of an end whether it sends by RACK: the host's address, and the evidence.
    pub(crate) fn evidence(&self, i: usize) -> (std::net::IpAddr, Evidence) {
        (self.key.endpoints()[i].0, self.ends[i].stream.evidence())
    }

    /// The host of end `i` sends by RACK, or not, as far as its other connections tell.
    pub(crate) fn settle(&mut self, i: usize, host: Option<bool>) {
        let End { stream, ecn, .. } = &mut self.ends[i];
        if stream.evidence().verdict().or(host) == Some(true)
            && let Some(reductions) = stream.settle_for_rack()
        {
            ecn.counts.reductions = reductions;
        }
    }

    /// Takes in a packet.
    #[inline]
    pub fn take(&mut self, segment: &Segment<'_>) -> Seen {
        self.packets.1 = segment.number;
        let i = usize::from(!segment.from_low);
        let options = segment.parsed_options();
        if segment.flags.contains(Flags::SYN) {
            self.handshake(i, segment, &options);
        } else if self.handshake[1 - i].is_some() {
            self.third(i, segment);
        }
        if segment.flags.intersects(ECHO)
            && segment.flags.contains(Flags::AE)
            && self.negotiation == Negotiation::Unknown
        {
            self.join(segment);
        }
        let over = self.is_closed(0) && self.is_closed(1);
        let classic = self.negotiation.is_classic();
        let off = self.negotiation.is_off();
        let arrived = if self.counted.is_some() { self.ends[i].stream.in_order() } else { 0 };
        let [low, high] = &mut self.ends;
        let (me, peer) = if i == 0 { (low, high) } else { (high, low) };
        me.count(segment, peer);
        let mut seen = Seen::default();
        if segment.flags.contains(Flags::ACK) {
            seen.acked = acknowledge(me, peer, segment, &options, classic);
        }
        if segment.seq_len() > 0 {
            seen.sending = send(me, peer, segment, classic);
        }
        let accurate = self.counted.is_some() && !classic;
        check(me, segment, &seen, off, classic, accurate);
        if let Some(counted) = &mut self.counted {
            let (sending, acked, own, peers) = (seen.sending, seen.acked, &me.stream, &peer.stream);
            let passing = Passing { segment, options: &options, sending, acked, arrived, own, peers };
            counted.take(i, &passing, self.opener, &mut me.violations);
        }
        let unheard = over || seen.sending.needless;
        me.counts.ece_unheard += u64::from(unheard && segment.flags & (Flags::ECE | Flags::SYN) == Flags::ECE);
        if segment.flags.contains(Flags::RST) {
            self.reset = true;
            self.ends.iter_mut().for_each(|end| end.ecn.end());
        }
        seen
    }

    #[cold]
    fn handshake(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions) {
        let answers = segment.flags.contains(Flags::ACK);
        let asked = segment.flags & ACCURATE;
        if answers {
            self.has_syn_ack = true;
            self.opener = 1 - i;
            let offered = self.ends[1 - i].syn_flags;
            self.negotiation = match (self.has_syn, self.negotiation) {
                (false, _) => Negotiation::Unknown,
                (_, Negotiation::FellBack) if self.counted.is_none() => Negotiation::FellBack,
                (_, before) => self.agreed(before, offered, asked),
            };
            if let Some(asked_at) = self.handshake[1 - i] {
                self.ends[i].stream.answer.get_or_insert(segment.time.saturating_sub(asked_at));
                self.note_round_trip(1 - i, asked_at, segment.time, options);
            }
        } else {
            let before = self.ends[i].syn_seq.map(|_| self.ends[i].syn_flags & ACCURATE);
            self.has_syn = true;
            self.opener = i;
            self.negotiation = match (before, asked.is_empty()) {
                (Some(before), true) if !before.is_empty() => Negotiation::FellBack,
                (Some(_), true) if self.negotiation == Negotiation::FellBack => Negotiation::FellBack,
                (_, true) => Negotiation::NotOffered,
                (_, false) => Negotiation::Unanswered,
            };
        }
        self.note_setup(i, segment, options);
        self.handshake[i] = Some(segment.time);
        let end = &mut self.ends[i];
        end.syn_seq = Some(segment.seq);
        end.syn_flags = segment.flags;
        end.options = Some(*options);
        end.note_stamp(segment.time, options);
        let sack = self.ends.iter().all(|end| end.options.is_some_and(|o| o.sack_permitted));
        self.ends.iter_mut().for_each(|end| end.stream.has_sack = sack);
    }

    /// What a SYN-ACK with the flags `asked` agrees on. RFC 9768 §3.1.5: whoever has agreed to AccECN stays with it.
    fn agreed(&self, before: Negotiation, offered: Flags, asked: Flags) -> Negotiation {
        if self.counted.is_none() {
            return agree(offered, asked);
        }
        match (before, agree(ACCURATE, asked)) {
            (Negotiation::AccEcn, Negotiation::Refused) => Negotiation::AccEcn,
            (Negotiation::FellBack, Negotiation::Refused) => Negotiation::FellBack,
            (_, agreed) => agreed,
        }
    }

    /// A SYN or SYN-ACK of end `i` where feedback counts, or may.
    fn note_setup(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions) {
        let (answers, asked) = (segment.flags.contains(Flags::ACK), segment.flags & ACCURATE);
        let found = &mut self.ends[i].violations;
        // RFC 9768 §3.1.1, §3.1.3: what a SYN may have beside AE, and what answers it.
        let odd = match (answers, self.counted.is_some()) {
            (false, _) => asked.contains(Flags::AE) && asked != ACCURATE,
            (true, true) => asked == ACCURATE || asked == Flags::AE | Flags::ECE,
            (true, false) => self.has_syn && asked.contains(Flags::AE),
        };
        if odd {
            found.add(Rule::AccEcnSetup, segment.number, segment.time);
        }
        if !answers && asked == ACCURATE && self.counted.is_none() {
            self.counted = Some(Counted::new(Scheme::AccEcn));
        }
        if self.negotiation == Negotiation::Accepted && answers && found.standard() == Standard::Rfc8257 {
            self.counted.get_or_insert_with(|| Counted::new(Scheme::Dctcp));
        }
        if let Some(counted) = &mut self.counted {
            counted.set_up(i, segment, options, found);
        }
    }

    /// A field with AE on a connection whose beginning is not in the capture: AccECN's counter (RFC 9768 §3.2.2).
    #[cold]
    fn join(&mut self, segment: &Segment<'_>) {
        if !segment.flags.contains(Flags::SYN) && !self.has_syn_ack {
            self.negotiation = Negotiation::AccEcn;
            self.counted = Some(Counted::joined());
        }
    }

    /// The opener's first packet after the SYN-ACK tells how fast it answers.
    fn third(&mut self, i: usize, segment: &Segment<'_>) {
        let Some(asked_at) = self.handshake[1 - i].take() else { return };
        self.ends[i].stream.answer.get_or_insert(segment.time.saturating_sub(asked_at));
        let options = TcpOptions::parse(segment.options);
        self.note_round_trip(1 - i, asked_at, segment.time, &options);
        self.read_clock(i, segment.time, &options);
        self.ends[i].note_stamp(segment.time, &options);
        let declined = self.counted.as_ref().is_some_and(|counted| counted.is_declined());
        if declined && i == self.opener && !segment.flags.intersects(ACCURATE) {
            // The client took the SYN-ACK without AccECN for the first.
            self.negotiation = Negotiation::Refused;
        }
        if !matches!(self.negotiation, Negotiation::AccEcn | Negotiation::Accepted) {
            self.counted = None;
        }
    }

    /// The SYN of end `i`, last sent at `asked_at`, is answered. Where it was sent before, too, the timestamp tells which
    /// one is, by a clock of milliseconds (Linux: tcp_ack_update_rtt with FLAG_SYN_ACKED).
    fn note_round_trip(&mut self, i: usize, asked_at: u64, time: u64, answer: &TcpOptions) {
        let End { options, counts, stream, .. } = &mut self.ends[i];
        let Some((last, answer)) = options.and_then(|o| o.timestamps).zip(answer.timestamps) else { return };
        let before = last.value.wrapping_sub(answer.echo);
        if before >= SYN_TICKS {
            return;
        }
        let rtt = time.saturating_sub(asked_at).saturating_add(u64::from(before) * TICK);
        if counts.syn > 1 {
            self.answered[i] = Some(Answered { at: time, echo: answer.echo, rtt });
        } else {
            stream.least_round_trip(rtt);
        }
    }

    /// The first packet of end `i` after the answer to a SYN that it sent more than once. If it is sent at once, it has the
    /// timestamp with which the sender compares the echo (Linux: tcp_rtt_tsopt_us).
    fn read_clock(&mut self, i: usize, time: u64, options: &TcpOptions) {
        let Some(Answered { at, echo, rtt }) = self.answered[i].take() else { return };
        let clock = options.timestamps.filter(|_| time.saturating_sub(at) < TICK);
        let ticks = clock.map(|clock| clock.value.wrapping_sub(echo)).filter(|&ticks| ticks < SYN_TICKS);
        self.ends[i].stream.least_round_trip(ticks.map_or(rtt, |ticks| u64::from(ticks.max(1)) * TICK));
    }
}

/// What the flags of SYN and SYN-ACK agree on: RFC 3168 §6.1.1, RFC 9768 §3.1.1 table 2.
fn agree(offered: Flags, answered: Flags) -> Negotiation {
    let accurate = offered.contains(ACCURATE);
    if offered & ACCURATE == Flags::empty() {
        return Negotiation::NotOffered;
    }
    if !offered.contains(ECHO) {
        return Negotiation::Refused;
    }
    match (accurate, answered.contains(Flags::AE), answered.contains(Flags::CWR), answered.contains(Flags::ECE)) {
        (_, false, false, false) => Negotiation::Refused,
        (true, true, true, true) | (false, _, true, true) => Negotiation::Reflected,
        (true, false, false, true) => Negotiation::AccEcnToClassic,
        (true, ..) => Negotiation::AccEcn,
        (false, _, false, true) => Negotiation::Accepted,
        (false, ..) => Negotiation::Refused,
    }
}

impl End {
    fn note_stamp(&mut self, time: u64, options: &TcpOptions) {
        options.timestamps.into_iter().for_each(|own| self.stream.note_stamp(time, own.value));
    }

    #[inline]
    fn count(&mut self, segment: &Segment<'_>, peer: &End) {
        let (flags, counts) = (segment.flags, &mut self.counts);
        counts.packets += 1;
        counts.dropped += u64::from(segment.dropped);
        self.ecn.counts.codepoints[usize::from(segment.ecn.bits())] += 1;
        let first = self.times.map_or(segment.time, |t| t.0);
        self.times = Some((first, segment.time));
        let control = Flags::SYN | Flags::FIN | Flags::RST;
        if flags.intersects(control) {
            counts.syn += u64::from(flags.contains(Flags::SYN));
            counts.fin += u64::from(flags.contains(Flags::FIN));
            counts.rst += u64::from(flags.contains(Flags::RST));
        }
        if !flags.contains(Flags::SYN) && flags.intersects(ECHO) {
            self.ecn.counts.ece += u64::from(flags.contains(Flags::ECE));
            self.ecn.counts.cwr += u64::from(flags.contains(Flags::CWR));
        }
        if segment.len == 0 && !flags.intersects(control) {
            counts.pure_acks += 1;
        }
        if !flags.intersects(Flags::RST) && self.window != Some(segment.window) {
            self.announce(segment, peer);
        }
        self.counts.window_zero += u64::from(segment.window == 0 && !flags.intersects(Flags::SYN | Flags::RST));
    }

    /// Another window than before.
    fn announce(&mut self, segment: &Segment<'_>, peer: &End) {
        let syn = segment.flags.contains(Flags::SYN);
        self.window = (!syn).then_some(segment.window);
        // RFC 7323 §2.2: both must have offered it, and SYNs are not scaled.
        let own = self.options.and_then(|o| o.window_scale);
        let both = peer.options.and_then(|o| o.window_scale).and(own);
        let shift = if syn { 0 } else { both.unwrap_or(0).min(14) };
        let window = u64::from(segment.window) << shift;
        self.last_window = window;
        self.counts.window_max = self.counts.window_max.max(window);
        if !syn {
            let least = self.counts.window_min.map_or(window, |least| least.min(window));
            self.counts.window_min = Some(least);
        }
    }

    /// Payload bytes up to the first that did not come by here.
    pub fn in_order_bytes(&self) -> u64 {
        let end = self.stream.in_order();
        let control = u64::from(self.syn_seq.is_some()) + u64::from(self.fin_end.is_some_and(|fin| fin <= end));
        u64::try_from(self.stream.relative(end)).unwrap_or(0).saturating_sub(control)
    }
    /// The window it last announced, scaled.
    pub fn window(&self) -> u64 {
        self.last_window
    }
}

/// `me` acknowledges what `peer` sent.
#[inline]
fn acknowledge(me: &mut End, peer: &mut End, segment: &Segment<'_>, options: &TcpOptions, classic: bool) -> Acked {
    let control = Flags::SYN | Flags::FIN | Flags::RST;
    let bare = segment.len == 0 && !segment.flags.intersects(control);
    let flight = peer.stream.flight();
    let acked = peer.stream.acknowledge(&Heard {
        ack: segment.ack,
        window: segment.window,
        bare,
        echo: classic && segment.flags & (Flags::ECE | Flags::SYN) == Flags::ECE,
        options: segment.options,
        blocks: options.sack(),
        time: segment.time,
    });
    me.counts.duplicate_acks += u64::from(acked.duplicate);
    if peer.fin_end.is_some_and(|end| peer.stream.una() >= end) {
        peer.ecn.end();
    }
    if classic && !segment.flags.intersects(Flags::SYN | Flags::RST) {
        let echo = Echo {
            number: segment.number,
            time: segment.time,
            ece: segment.flags.contains(Flags::ECE),
            old: acked.old,
            una: peer.stream.una(),
            next: peer.stream.next(),
            flight,
            answer: peer.stream.answer.unwrap_or(0),
            near: peer.stream.answer.unwrap_or(0) <= me.stream.answer.unwrap_or(u64::MAX),
            place: Place::of(me.stream.answer, peer.stream.answer, peer.stream.counts.missing_bytes > 0),
        };
        peer.ecn.echo(&echo, &mut me.violations);
    }
    acked
}

/// `me` sends data, SYN or FIN.
#[inline]
fn send(me: &mut End, peer: &End, segment: &Segment<'_>, classic: bool) -> Sending {
    // RFC 9293 §3.8.6.1: a probe is one byte into a closed window.
    let probe = segment.len == 1 && peer.window == Some(0) && peer.counts.packets > 0;
    let asked = || peer.times.is_some_and(|times| me.stream.is_answer(times.1, segment.time));
    let role = match () {
        () if probe => Role::Probe,
        () if segment.flags.contains(Flags::SYN | Flags::ACK) && peer.counts.syn > 1 && asked() => Role::Answer,
        () => Role::Data,
    };
    let sending = me.stream.send(segment.seq, segment.seq_len(), segment.time, role, segment.options);
    let end = me.stream.offset(segment.seq) + u64::from(segment.seq_len());
    let start = end - u64::from(segment.seq_len());
    if segment.flags.contains(Flags::FIN) {
        me.fin_end = Some(end);
    }
    me.count_data(segment, &sending);
    if sending.again.is_some() {
        me.ecn.resent(start, end);
        if sending.timer || sending.again == Some(Cause::Fast) {
            me.ecn.lost(sending.timer, me.stream.una(), me.stream.next(), me.stream.ack_time());
        }
    } else if sending.late || sending.gap {
        me.ecn.unclear();
    }
    if segment.len > 0 && classic {
        let data = Data {
            number: segment.number,
            time: segment.time,
            start,
            end,
            len: segment.len,
            ecn: segment.ecn,
            cwr: segment.flags.contains(Flags::CWR) && !segment.flags.contains(Flags::SYN),
            again: sending.again.is_some(),
            dropped: segment.dropped,
            flight: me.stream.flight(),
            beyond: me.stream.is_inflated() || !me.stream.answers_an_ack(segment.time),
            limited: me.options.and(peer.options).is_some()
                && me.stream.flight() + u64::from(segment.len) > peer.window(),
            una: me.stream.una(),
            next: me.stream.next(),
        };
        me.ecn.send(&data, &mut me.violations);
    }
    sending
}

impl End {
    #[inline]
    fn count_data(&mut self, segment: &Segment<'_>, sending: &Sending) {
        let counts = &mut self.counts;
        let again = sending.again.is_some();
        if segment.len == 0 {
            counts.control_retransmits += u64::from(again);
            return;
        }
        let control = segment.seq_len() - segment.len;
        let unique = sending.fresh.saturating_sub(control.into()).min(segment.len.into());
        counts.data_packets += 1;
        counts.bytes += u64::from(segment.len);
        counts.unique_bytes += unique;
        counts.retransmitted_bytes += u64::from(segment.len) - unique;
        counts.retransmits += u64::from(again);
        counts.out_of_order += u64::from(sending.late && !again);
        counts.probes += u64::from(sending.probe);
        counts.largest = counts.largest.max(segment.len);
        let flight = self.stream.flight();
        counts.flight_max = counts.flight_max.max(flight);
        counts.flight_sum += flight;
        let first = self.data_times.map_or(segment.time, |t| t.0);
        self.data_times = Some((first, segment.time));
    }
}

/// The rules that a packet can break by itself.
#[inline]
fn check(me: &mut End, segment: &Segment<'_>, seen: &Seen, off: bool, classic: bool, accurate: bool) {
    let echo = segment.flags.intersects(ECHO);
    if segment.ecn == Ecn::NotEct && !echo {
        return;
    }
    let (number, time) = (segment.number, segment.time);
    let mut found = |rule: Rule| me.violations.add(rule, number, time);
    let capable = segment.ecn != Ecn::NotEct;
    if segment.flags.contains(Flags::SYN) {
        if capable {
            found(Rule::EctOnSyn);
        }
        // RFC 9768 §3.1.1: both flags say that a SYN which asked for AccECN came with ECT(1).
        if is_odd(segment.flags) && !accurate {
            found(Rule::SetupFlags);
        }
        return;
    }
    if echo && off {
        found(Rule::EceNotNegotiated);
    }
    if !capable {
        return;
    }
    let control = Flags::FIN | Flags::RST;
    if classic && segment.ecn == Ecn::Ect1 && segment.len > 0 {
        found(Rule::Ect1WithoutAccEcn);
    }
    if off {
        found(Rule::EctNotNegotiated);
    } else if !classic {
        // RFC 9768 §3.2.2.5.1 lets an AccECN host do more.
    } else if segment.len == 0 && !segment.flags.intersects(control) {
        found(Rule::EctOnAck);
    } else if seen.sending.again.is_some() {
        found(Rule::EctOnRetransmission);
    } else if seen.sending.probe {
        found(Rule::EctOnProbe);
    }
}

/// Whether SYN or SYN-ACK has flags that mean nothing: one of the two in a SYN without AE, both in a SYN-ACK without AE.
fn is_odd(flags: Flags) -> bool {
    if flags.contains(Flags::AE) {
        return false;
    }
    let both = flags.contains(ECHO);
    if flags.contains(Flags::ACK) { both } else { flags.intersects(ECHO) && !both }
}

//! A connection: its two directions and its ECN negotiation.

mod negotiation;
mod opening;
mod passing;
mod reset;

use ecnlab_wire::{Flags, Seq, TcpOptions};

use crate::counted::{ACE as ACCURATE, Counted, Marks, Passing, Reported};
use crate::ecn::EcnState;
use crate::packet::{Key, Segment};
use crate::rack::Evidence;
use crate::rules::{Standard, Violations};
use crate::stream::{Acked, Sending, Stream};
use passing::{acknowledge, check, send};

pub use negotiation::Negotiation;

/// Packet counts of one end of a connection.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Packets with data.
    pub data_packets: u64,
    /// Packets with new data, without SYNs, probes and keep-alives, by codepoint: Not-ECT, ECT(1), ECT(0), CE.
    pub fresh: [u64; 4],
    /// Payload bytes, including retransmissions.
    pub bytes: u64,
    /// Payload bytes, each counted once.
    pub unique_bytes: u64,
    /// Packets with retransmitted data.
    pub retransmits: u64,
    /// Retransmitted payload bytes.
    pub retransmitted_bytes: u64,
    /// Retransmitted SYN and FIN segments without data.
    pub control_retransmits: u64,
    /// Packets with data that fills a hole and was not captured before.
    pub out_of_order: u64,
    /// Zero-window probes, with or without a byte.
    pub probes: u64,
    /// Keep-alives, with or without a byte.
    pub keep_alives: u64,
    /// Packets with an ACK and no data, SYN, FIN or RST.
    pub pure_acks: u64,
    /// Duplicate ACKs.
    pub duplicate_acks: u64,
    /// Packets with SYN.
    pub syn: u64,
    /// Packets with FIN.
    pub fin: u64,
    /// Packets with RST.
    pub rst: u64,
    /// Packets with ECE that the other end ignores: both have closed, or it has already acknowledged everything in the
    /// packet (RFC 9293 §3.10.7.4).
    pub ece_unheard: u64,
    /// Packets marked as dropped in the capture.
    pub dropped: u64,
    /// Minimum and maximum advertised window in bytes, scaled; SYN and RST packets excluded.
    pub windows: Option<(u64, u64)>,
    /// Advertisements of a zero window.
    pub window_zero: u64,
    /// Maximum bytes outstanding after a data packet.
    pub flight_max: u64,
    /// Sum of the bytes outstanding after each data packet.
    pub flight_sum: u64,
    /// Largest segment, in bytes.
    pub largest: u32,
}

/// State and counts of one end of a connection.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// Packet counts.
    pub counts: Counts,
    /// Its data stream.
    pub stream: Stream,
    /// ECN state of its data.
    pub ecn: EcnState,
    /// Rules broken by its packets. Violations of rules about the echo are listed under the end that echoes.
    pub violations: Violations,
    /// Times of its first and last packet.
    pub times: Option<(u64, u64)>,
    /// Times of its first and last packet with data.
    pub data_times: Option<(u64, u64)>,
    /// Options of its SYN.
    pub options: Option<TcpOptions>,
    syn_seq: Option<Seq>,
    syn_flags: Flags,
    /// Initial sequence number according to the peer's SYN-ACK, plus the bytes of data in the SYN that it acknowledges.
    isn: Option<Seq>,
    /// Sequence number of its first packet.
    first_seq: Option<Seq>,
    /// Both ends have sent a SYN before they received one: a simultaneous open (RFC 9293 §3.5).
    crossed: bool,
    /// Whether one of its SYNs offered ECN; `None` without a SYN, and in a simultaneous open.
    offered: Option<bool>,
    /// Number of SYN-ACKs.
    syn_acks: u32,
    fin_end: Option<u64>,
    window: Option<u16>,
    last_window: u64,
}

/// The effect of a packet on its connection, for observers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Its effect as data.
    pub sending: Sending,
    /// Its effect as an ACK.
    pub acked: Acked,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Addresses and ports.
    pub key: Key,
    /// Numbers of its first and last packet.
    pub packets: (u64, u64),
    /// Both ends, in the order of the key.
    pub ends: [End; 2],
    /// The end that opened the connection: the sender of the SYN or, without a SYN, of the first packet.
    pub opener: usize,
    /// Result of the ECN negotiation.
    pub negotiation: Negotiation,
    /// The capture has the SYN.
    pub has_syn: bool,
    /// The capture has the SYN-ACK.
    pub has_syn_ack: bool,
    reset: bool,
    /// Time of the last SYN or SYN-ACK of each end.
    handshake: [Option<u64>; 2],
    /// The reply to a SYN or SYN-ACK that this end sent more than once.
    answered: [Option<Answered>; 2],
    /// State of feedback that counts marks: AccECN from its SYN on, DCTCP if that is the standard.
    counted: Option<Box<Counted>>,
}

/// The reply to a retransmitted SYN or SYN-ACK.
#[derive(Clone, Copy, Debug)]
struct Answered {
    at: u64,
    /// The timestamp that the reply echoes.
    echo: u32,
    /// The round-trip time by the capture's clock.
    rtt: u64,
}

/// Maximum plausible time, in milliseconds, between a SYN and its reply.
const SYN_TICKS: u32 = 1 << 20;
/// Flags that offer ECN or reply to the offer.
const ECHO: Flags = Flags::ECE.union(Flags::CWR);

impl Connection {
    /// Starts a connection with its first packet, `segment`.
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

    /// Marks reported to end `i` by counting feedback; `None` if the connection does not use it.
    pub fn marks(&self, i: usize) -> Option<&Marks> {
        self.counted.as_ref().map(|counted| counted.marks(i))
    }

    /// Counters of AccECN options about the data of end `i`; `None` without AccECN.
    pub(crate) fn reported(&self, i: usize) -> Option<Reported> {
        self.counted.as_ref().map(|counted| counted.reported(i))
    }

    /// Returns whether `segment`, a SYN, opens a new connection between the same ports.
    pub fn is_reopened_by(&self, segment: &Segment<'_>) -> bool {
        let end = &self.ends[usize::from(!segment.from_low)];
        let ended = self.reset || self.ends.iter().all(|end| end.fin_end.is_some());
        match (end.syn_seq, end.isn) {
            (Some(seq), _) => seq != segment.seq,
            (None, Some(_)) => !end.lacks_syn(segment),
            (None, None) => !end.lacks_syn(segment) && (ended || end.counts.packets > 0),
        }
    }

    /// Returns whether end `i` can send no more data.
    pub fn is_closed(&self, i: usize) -> bool {
        self.reset || self.ends[i].fin_end.is_some_and(|end| self.ends[i].stream.una() >= end)
    }

    /// Returns whether an end has a RACK interpretation.
    pub(crate) fn has_second_reading(&self) -> bool {
        self.ends.iter().any(|end| end.stream.has_second_reading())
    }

    /// Bytes allocated on the heap.
    pub(crate) fn heap(&self) -> usize {
        let counted = self.counted.as_ref().map_or(0, |counted| counted.heap());
        self.ends.iter().map(|end| end.stream.heap() + end.violations.heap()).sum::<usize>() + counted
    }

    /// Returns the address of end `i` and the evidence whether it uses RACK.
    pub(crate) fn evidence(&self, i: usize) -> (std::net::IpAddr, Evidence) {
        (self.key.endpoints()[i].0, self.ends[i].stream.evidence())
    }

    /// Applies the verdict on RACK from other connections of the host of end `i`.
    pub(crate) fn settle(&mut self, i: usize, host: Option<bool>) {
        let End { stream, ecn, .. } = &mut self.ends[i];
        if stream.evidence().verdict().or(host) == Some(true)
            && let Some(reductions) = stream.settle_for_rack()
        {
            ecn.counts.reductions = reductions;
        }
    }

    /// Processes a packet.
    #[inline]
    pub fn take(&mut self, segment: &Segment<'_>) -> Seen {
        self.packets.1 = segment.number;
        let i = usize::from(!segment.from_low);
        if segment.flags.contains(Flags::RST) && self.ignores_reset(i, segment) {
            return self.ignore(i, segment);
        }
        let options = segment.parsed_options();
        if segment.flags.contains(Flags::SYN) {
            self.handshake(i, segment, &options);
        } else if self.handshake[1 - i].is_some() {
            self.third(i, segment);
        }
        if self.negotiation == Negotiation::Unknown
            && segment.flags.intersects(ECHO)
            && segment.flags.contains(Flags::AE)
        {
            self.join(segment);
        }
        let echoes = segment.flags & (Flags::ECE | Flags::SYN) == Flags::ECE;
        let over = echoes && self.is_closed(0) && self.is_closed(1);
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
        check(me, segment, &seen, off, classic, accurate, peer);
        if let Some(counted) = &mut self.counted {
            let (sending, acked, own, peers) = (seen.sending, seen.acked, &me.stream, &peer.stream);
            let passing = Passing { segment, options: &options, sending, acked, arrived, own, peers };
            counted.take(i, &passing, self.opener, &mut me.violations);
        }
        me.counts.ece_unheard += u64::from(echoes && (over || seen.sending.needless || seen.sending.keep_alive));
        if segment.flags.contains(Flags::RST) {
            self.reset = true;
            self.ends.iter_mut().for_each(|end| end.ecn.end());
        }
        seen
    }
}

impl End {
    /// Returns whether its last SYN or SYN-ACK has one of the flags of ECN.
    pub(crate) fn offers_ecn(&self) -> bool {
        self.syn_flags.intersects(ACCURATE)
    }
    fn note_stamp(&mut self, time: u64, options: &TcpOptions) {
        options.timestamps.into_iter().for_each(|own| self.stream.note_stamp(time, own.value));
    }

    #[inline]
    fn count(&mut self, segment: &Segment<'_>, peer: &End) {
        let (flags, counts) = (segment.flags, &mut self.counts);
        counts.packets += 1;
        counts.dropped += u64::from(segment.dropped);
        self.ecn.counts.codepoints[usize::from(segment.ecn.bits())] += 1;
        match &mut self.times {
            Some(times) => times.1 = segment.time,
            None => (self.times, self.first_seq) = (Some((segment.time, segment.time)), Some(segment.seq)),
        }
        let control = Flags::SYN | Flags::FIN | Flags::RST;
        if flags.intersects(control | ECHO) {
            counts.syn += u64::from(flags.contains(Flags::SYN));
            counts.fin += u64::from(flags.contains(Flags::FIN));
            counts.rst += u64::from(flags.contains(Flags::RST));
            if !flags.contains(Flags::SYN) {
                self.ecn.counts.ece += u64::from(flags.contains(Flags::ECE));
                self.ecn.counts.cwr += u64::from(flags.contains(Flags::CWR));
            }
        }
        counts.pure_acks += u64::from(segment.len == 0 && !flags.intersects(control));
        if self.window != Some(segment.window) && !flags.intersects(Flags::RST) {
            self.announce(segment, peer);
        }
        if segment.window == 0 && !flags.intersects(Flags::SYN | Flags::RST) {
            self.counts.window_zero += 1;
        }
    }

    /// Records the advertised window.
    fn announce(&mut self, segment: &Segment<'_>, peer: &End) {
        let syn = segment.flags.contains(Flags::SYN);
        self.window = (!syn).then_some(segment.window);
        // RFC 7323 §2.2: scaling needs the option from both ends; windows of SYNs are not scaled.
        let own = self.options.and_then(|o| o.window_scale);
        let both = peer.options.and_then(|o| o.window_scale).and(own);
        let shift = if syn { 0 } else { both.unwrap_or(0).min(14) };
        let window = u64::from(segment.window) << shift;
        self.last_window = window;
        if !syn {
            let (least, most) = self.counts.windows.unwrap_or((window, window));
            self.counts.windows = Some((least.min(window), most.max(window)));
        }
    }

    /// Payload bytes up to the first gap in the capture.
    pub fn in_order_bytes(&self) -> u64 {
        let end = self.stream.in_order();
        let control = u64::from(self.syn_seq.is_some()) + u64::from(self.fin_end.is_some_and(|fin| fin <= end));
        let below = self.stream.below_start();
        (u64::try_from(self.stream.relative(end)).unwrap_or(0) + below).saturating_sub(control)
    }
    /// Returns whether the last window announced is zero.
    fn has_closed_window(&self) -> bool {
        self.last_window == 0 && self.counts.packets > self.counts.rst
    }
    /// The last advertised window in bytes, scaled.
    pub fn window(&self) -> u64 {
        self.last_window
    }
}

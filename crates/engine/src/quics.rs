//! The connections over QUIC of a run: their ends, the exchanges on their streams, and the records of those that have ended.

use std::sync::Arc;

use ecnlab_base::{Dur, Time};
use ecnlab_quic::{Closing, Endpoint, Error, Settings, Stats};
use ecnlab_tcp::{Counters, Sample};
use ecnlab_traffic::{Exchange, Side};
use ecnlab_wire::{Datagram, Ecn, IpVersion, UDP_HEADER};

use crate::packet::{Payload, Way};
use crate::table::Labels;
use crate::totals::Totals;
use ecnlab_base::Table;

/// Parameters of a new connection.
pub struct Opening {
    /// Index of the flow.
    pub flow: u32,
    /// The number of the connection in its flow, from 0.
    pub number: u32,
    /// Seed of the random choices of both ends.
    pub seed: u64,
    /// The IP version of the flow's packets.
    pub ip: IpVersion,
    /// Addressing of the packets from `from` and from `to`.
    pub ways: [Way; 2],
}

/// One end of a connection.
pub struct End {
    /// The stack.
    pub endpoint: Box<dyn Endpoint>,
    /// The time of the pending event of its deadline, [`Time::NEVER`] if there is none.
    pub armed: Time,
    /// Addressing of its packets.
    pub way: Way,
    /// Its reason, once it has ended.
    pub closed: Option<Closing>,
    ip: IpVersion,
    sent: u64,
    bytes_sent: u64,
    /// Datagrams sent as ECN-capable.
    capable: u64,
    /// Datagrams received, by the bits of their codepoint.
    received: [u64; 4],
    /// Stream bytes that its application has to send.
    written: u64,
}

/// An exchange on a stream.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The stream's identifier.
    pub stream: u64,
    /// The exchange.
    pub exchange: Exchange,
    /// Time of its request.
    pub started: Time,
    /// The opener was stopped before it had sent all data.
    pub cut: bool,
    /// It has been completed.
    pub done: bool,
}

/// A connection.
pub struct Connection {
    /// Index of the flow.
    pub flow: u32,
    /// The side that opened it, the client.
    pub opener: Side,
    /// Time at which the opener was established.
    pub established: Time,
    /// Exchanges that are not finished.
    pub tasks: Vec<Task>,
    /// The ends at `from` and at `to`.
    pub ends: [End; 2],
    /// Later exchanges between the same nodes are streams of it.
    pub shared: bool,
    number: u32,
    nodes: [u32; 2],
    started: Time,
}

/// All connections over QUIC. Their ends have the indices `2 * i` (from) and `2 * i + 1` (to).
#[derive(Default)]
pub struct Quics {
    /// `None`: it has ended, and has a record.
    connections: Vec<Option<Box<Connection>>>,
    records: Vec<Record>,
}

impl End {
    fn new(endpoint: Box<dyn Endpoint>, way: Way, ip: IpVersion) -> End {
        let (armed, closed, received) = (Time::NEVER, None, [0; 4]);
        End { endpoint, armed, way, closed, ip, sent: 0, bytes_sent: 0, capable: 0, received, written: 0 }
    }

    /// Takes in a datagram with codepoint `ecn`.
    pub fn receive(&mut self, payload: &[u8], ecn: Ecn, now: Time) {
        self.received[usize::from(ecn.bits())] += 1;
        self.endpoint.receive(payload, ecn, now);
    }

    /// Returns the next datagram to send, its payload and its way.
    pub fn transmit(&mut self, now: Time) -> Option<(Datagram, Payload, Way)> {
        let mut payload = Vec::new();
        let ecn = self.endpoint.transmit(now, &mut payload)?;
        let (len, seq) = (payload.len() as u32, self.sent as u32);
        self.sent += 1;
        self.bytes_sent += u64::from(len);
        self.capable += u64::from(ecn.is_capable());
        let wire_len = len + self.ip.header_len() + UDP_HEADER;
        Some((Datagram { wire_len, ecn, len, seq }, payload.into(), self.way))
    }

    /// Its counts in the terms of TCP: segments are datagrams, retransmissions are packets declared lost.
    fn counters(&self) -> Counters {
        let stats = self.endpoint.stats();
        let marks = stats.ecn_events.unwrap_or(0);
        Counters {
            segments_sent: self.sent,
            data_segments_sent: self.sent,
            bytes_sent: self.bytes_sent,
            bytes_retransmitted: stats.bytes_lost,
            retransmits_recovery: stats.packets_lost,
            timeouts: stats.timeouts.unwrap_or(0),
            fast_recoveries: stats.congestion_events.saturating_sub(marks),
            ecn_reductions: marks,
            segments_received: self.received.iter().sum(),
            ce_received: self.received[usize::from(Ecn::Ce.bits())],
            ..Counters::default()
        }
    }
}

impl Connection {
    /// Opens a stream at `side` and writes `bytes` to it; returns its identifier.
    pub fn open(&mut self, side: Side, bytes: u64) -> u64 {
        let end = &mut self.ends[side.index()];
        end.written = end.written.saturating_add(bytes);
        end.endpoint.open(bytes)
    }

    /// Answers a stream that the peer of `side` has opened.
    pub fn respond(&mut self, side: Side, stream: u64, bytes: u64) {
        let end = &mut self.ends[side.index()];
        end.written = end.written.saturating_add(bytes);
        end.endpoint.respond(stream, bytes);
    }

    /// Packets lost by both ends; 0 if it is shared, for they belong to no single exchange.
    pub fn lost(&self) -> u64 {
        if self.shared { 0 } else { self.ends.iter().map(|end| end.endpoint.stats().packets_lost).sum() }
    }

    /// Cuts its exchanges; returns the side of their opener.
    pub fn cut(&mut self) -> Side {
        let end = &mut self.ends[self.opener.index()];
        for task in self.tasks.iter_mut().filter(|task| !task.done) {
            let written = end.endpoint.cut(task.stream);
            task.cut = written < task.exchange.request;
        }
        self.opener
    }
}

impl Quics {
    /// Opens a connection for `exchange` between ends with these `settings`; returns its index.
    pub fn open(
        &mut self,
        settings: &[Arc<Settings>; 2],
        opening: Opening,
        exchange: &Exchange,
        now: Time,
    ) -> Result<u32, Error> {
        let Opening { flow, number, seed, ip, ways } = opening;
        let opener = exchange.opener;
        let [client, server] = [opener, opener.other()].map(|side| &*settings[side.index()]);
        let mut ends = ecnlab_quic::connection([client, server], seed, now)?;
        if opener == Side::To {
            ends.reverse();
        }
        let mut ways = ways.into_iter();
        let ends = ends.map(|endpoint| End::new(endpoint, ways.next().expect("a way for each end"), ip));
        self.connections.push(Some(Box::new(Connection {
            flow,
            opener,
            established: Time::NEVER,
            tasks: Vec::new(),
            ends,
            shared: client.one_connection,
            number,
            nodes: exchange.ends,
            started: now,
        })));
        Ok(self.connections.len() as u32 - 1)
    }

    /// Returns whether `exchange` of the same flow can be a stream of `connection`.
    pub fn admits(&self, connection: u32, exchange: &Exchange) -> bool {
        self.get(connection).is_some_and(|c| {
            let open = c.ends.iter().all(|end| end.closed.is_none());
            c.shared && open && (c.opener, c.nodes) == (exchange.opener, exchange.ends)
        })
    }

    /// The connection at `index`, if it has not ended.
    fn get(&self, index: u32) -> Option<&Connection> {
        self.connections[index as usize].as_deref()
    }

    /// The connection at `index`, if it has not ended.
    pub fn get_mut(&mut self, index: u32) -> Option<&mut Connection> {
        self.connections[index as usize].as_deref_mut()
    }

    /// The end at `index`, if its connection has not ended.
    pub fn end_mut(&mut self, index: u32) -> Option<&mut End> {
        self.get_mut(index / 2).map(|c| &mut c.ends[index as usize % 2])
    }

    /// Returns whether the opener has ended, and so has its peer, or has nothing to do.
    pub fn is_over(&self, connection: u32) -> bool {
        self.get(connection).is_some_and(|c| {
            let over = |end: &End| end.endpoint.deadline() == Time::NEVER;
            c.ends[c.opener.index()].closed.is_some() && c.ends.iter().all(over)
        })
    }

    /// Replaces a connection that has ended at `now` by its record.
    pub fn retire(&mut self, connection: u32, now: Time) {
        if let Some(c) = self.connections[connection as usize].take() {
            self.records.push(Record::of(&c, now));
        }
    }

    /// Adds a connection's counts to `totals`.
    pub fn add(&self, connection: u32, totals: &mut Totals) {
        let Some(c) = self.get(connection) else { return };
        for (sum, end) in totals.tcp.iter_mut().zip(&c.ends) {
            *sum = sum.plus(&end.counters());
        }
        let capable = c.ends[Side::From.index()].capable > 0;
        totals.delivered += c.ends[Side::To.index()].endpoint.stats().received;
        totals.ecn |= capable;
        totals.connections += 1;
        totals.connections_established += u64::from(c.established < Time::NEVER);
        totals.ecn_connections += u64::from(capable);
    }

    /// Stream bytes that the application at `to` has read on `connection`.
    pub fn delivered(&self, connection: u32) -> u64 {
        self.get(connection).map_or(0, |c| c.ends[Side::To.index()].endpoint.stats().received)
    }

    /// A sample of the end at `from`; without the parts that no stack reports.
    pub fn sample(&self, connection: u32) -> Option<Sample> {
        let Stats { cwnd, ssthresh, in_flight, srtt, .. } =
            self.get(connection)?.ends[Side::From.index()].endpoint.stats();
        Some(Sample {
            cwnd,
            ssthresh: ssthresh.unwrap_or(u64::MAX),
            flight: in_flight.unwrap_or(0),
            srtt,
            rttvar: Dur::ZERO,
            rto: Dur::ZERO,
            in_recovery: false,
            counts_marks: false,
        })
    }

    /// Checks that no end of a connection has received more than its peer had to send.
    pub fn balances(&self, connection: u32) -> Result<(), String> {
        let Some(c) = self.get(connection) else { return Ok(()) };
        for side in [Side::From, Side::To] {
            let (written, received) =
                (c.ends[side.index()].written, c.ends[side.other().index()].endpoint.stats().received);
            if received > written {
                return Err(format!("{written} bytes written to streams of QUIC, {received} received"));
            }
        }
        Ok(())
    }
}

/// A connection in the table `quic`.
struct Record {
    flow: u32,
    number: u32,
    started: Time,
    established: Time,
    /// [`Time::NEVER`]: it has not ended.
    ended: Time,
    closed: [String; 2],
    stats: [Stats; 2],
    received: [[u64; 4]; 2],
}

impl Record {
    fn of(c: &Connection, ended: Time) -> Record {
        let closed = |end: &End| end.closed.as_ref().map_or("open".to_owned(), reason);
        let [from, to] = &c.ends;
        Record {
            flow: c.flow,
            number: c.number,
            started: c.started,
            established: c.established,
            ended,
            closed: [closed(from), closed(to)],
            stats: [from.endpoint.stats(), to.endpoint.stats()],
            received: [from.received, to.received],
        }
    }
}

fn reason(closing: &Closing) -> String {
    match closing {
        Closing::Local => "closed here".to_owned(),
        Closing::Peer => "closed by the peer".to_owned(),
        Closing::Idle => "idle timeout".to_owned(),
        Closing::Failed(why) => format!("failed: {why}"),
        Closing::Panicked(why) => format!("the stack panicked: {why}"),
    }
}

/// Returns the table of connections over QUIC; `None` if there was none.
pub fn table(quics: &Quics, labels: &Labels) -> Option<Table> {
    let open = quics.connections.iter().flatten().map(|c| Record::of(c, Time::NEVER));
    let open: Vec<Record> = open.collect();
    let mut rows: Vec<&Record> = quics.records.iter().chain(&open).collect();
    if rows.is_empty() {
        return None;
    }
    rows.sort_by_key(|row| (row.flow, row.number));
    let seconds = |time: Time| if time == Time::NEVER { f64::NAN } else { time.as_secs() };
    let maybe = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64);
    let mut t = Table::new("quic");
    t.text("name", rows.iter().map(|r| r.flow), &labels.flows);
    t.text("group", rows.iter().map(|r| labels.group_of[r.flow as usize]), &labels.groups);
    t.u32("connection", rows.iter().map(|r| r.number));
    t.f64("start_s", rows.iter().map(|r| seconds(r.started)));
    t.f64("established_s", rows.iter().map(|r| seconds(r.established)));
    t.f64("end_s", rows.iter().map(|r| seconds(r.ended)));
    for (side, columns) in [FROM, TO].into_iter().enumerate() {
        let [closed, received, lost, congestion, marks, timeouts, mtu, holes, srtt, not_ect, ect1, ect0, ce] = columns;
        let reasons: Vec<String> = rows.iter().map(|r| r.closed[side].clone()).collect();
        let stats = || rows.iter().map(|r| &r.stats[side]);
        t.text(closed, 0..rows.len() as u32, &reasons);
        t.u64(received, stats().map(|s| s.received));
        t.u64(lost, stats().map(|s| s.packets_lost));
        t.u64(congestion, stats().map(|s| s.congestion_events));
        t.f64(marks, stats().map(|s| maybe(s.ecn_events)));
        t.f64(timeouts, stats().map(|s| maybe(s.timeouts)));
        t.u32(mtu, stats().map(|s| s.mtu.into()));
        t.u64(holes, stats().map(|s| s.black_holes));
        t.f64(srtt, stats().map(|s| if s.srtt.is_zero() { f64::NAN } else { s.srtt.as_secs() }));
        for (column, ecn) in [(not_ect, Ecn::NotEct), (ect1, Ecn::Ect1), (ect0, Ecn::Ect0), (ce, Ecn::Ce)] {
            t.u64(column, rows.iter().map(|r| r.received[side][usize::from(ecn.bits())]));
        }
    }
    Some(t)
}

/// Columns of the end at `from`.
const FROM: [&str; 13] = [
    "from_closed",
    "from_stream_bytes_read",
    "from_packets_lost",
    "from_congestion_events",
    "from_ecn_events",
    "from_probe_timeouts",
    "from_mtu",
    "from_black_holes",
    "from_srtt_s",
    "from_not_ect_received",
    "from_ect1_received",
    "from_ect0_received",
    "from_ce_received",
];

/// Columns of the end at `to`.
const TO: [&str; 13] = [
    "to_closed",
    "to_stream_bytes_read",
    "to_packets_lost",
    "to_congestion_events",
    "to_ecn_events",
    "to_probe_timeouts",
    "to_mtu",
    "to_black_holes",
    "to_srtt_s",
    "to_not_ect_received",
    "to_ect1_received",
    "to_ect0_received",
    "to_ce_received",
];

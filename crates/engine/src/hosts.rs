//! The connections of a run: pairs of endpoints, their timers, and the byte counts their applications wait for.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecnlab_base::Time;
use ecnlab_tcp::{Config, Counters, Endpoint, Out};
use ecnlab_traffic::{ENDLESS, Exchange, Side};
use ecnlab_wire::{Dscp, IpVersion, Seq};

use crate::alarm::Alarm;
use crate::fallbacks::Fallbacks;
use crate::packet::{Label, Way};
use crate::plan::Reads;
use crate::quics::Quics;

/// One end of a connection, with the engine's per-packet state.
pub struct Host {
    /// The TCP endpoint.
    pub endpoint: Endpoint,
    /// The pending timer events.
    pub alarm: Alarm,
    /// Number of received bytes at which the application is called, if it reads at once.
    pub expects: u64,
    /// Addressing of its packets.
    pub way: Way,
}

/// State shared by both ends of a connection. Its hosts have the indices `2 * i` (from) and `2 * i + 1` (to).
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// The exchange it carries.
    pub exchange: Exchange,
    /// Index of the flow.
    pub flow: u32,
    /// Time of the SYN.
    pub started: Time,
    /// Time at which the opener was established.
    pub established: Time,
    /// The exchange has been completed.
    pub done: bool,
    /// The opener was stopped before it had sent all data.
    pub cut: bool,
    /// The connection is in use.
    pub live: bool,
}

/// An application that reads at fixed times.
#[derive(Clone, Copy, Debug)]
pub struct AppReader {
    /// Size of its reads and the time between them.
    pub reads: Reads,
    /// Time of the next read.
    pub next: Time,
    /// Number of bytes read at which the application has what it waits for.
    pub expects: u64,
}

/// Parameters of a new connection.
pub struct Opening<'a> {
    /// Index of the flow.
    pub flow: u32,
    /// The number of the connection in its flow, from 0.
    pub number: u32,
    /// Index of the flow's group.
    pub group: u32,
    /// The DSCP of the flow's packets.
    pub dscp: Dscp,
    /// The IP version of the flow's packets.
    pub ip: IpVersion,
    /// Endpoint settings at `from` and at `to`.
    pub tcp: [&'a Arc<Config>; 2],
    /// The nodes `from` and `to`.
    pub nodes: [u32; 2],
    /// The first link of the path in each direction.
    pub first_links: [u32; 2],
    /// Initial sequence numbers at `from` and at `to`.
    pub iss: [Seq; 2],
    /// Reads of the application at `to`, if it does not read at once.
    pub reads: Option<Reads>,
}

/// All connections; slots of ended ones are reused.
#[derive(Default)]
pub struct Hosts {
    hosts: Vec<Host>,
    connections: Vec<Connection>,
    free: Vec<u32>,
    /// The connection's number in its flow, by serial number.
    numbers: Vec<u32>,
    /// Applications that read at fixed times, by index of their host.
    readers: BTreeMap<u32, AppReader>,
    /// Peers to which hosts offer no ECN.
    fallbacks: Fallbacks,
    /// Connections over QUIC.
    pub quics: Quics,
}

impl Hosts {
    /// Opens a connection and appends its SYN to `out`. Returns the connection's index.
    pub fn open(&mut self, opening: &Opening, exchange: Exchange, now: Time, out: &mut Out) -> u32 {
        let serial = self.take_serial(opening.number);
        let connection = Connection {
            exchange,
            flow: opening.flow,
            started: now,
            established: Time::NEVER,
            done: false,
            cut: false,
            live: true,
        };
        let without_ecn = opening.is_without_ecn(exchange.opener, &self.fallbacks, now);
        let pair = [Side::From, Side::To].map(|side| opening.host(side, &exchange, without_ecn, serial, now, out));
        let index = self.place(connection, pair);
        if let Some(reads) = opening.reads {
            self.read_at_fixed_times(host_of(index, Side::To), reads, now);
        }
        index
    }

    /// Makes the application at the host `index` read at fixed times from `now` on.
    #[cold]
    fn read_at_fixed_times(&mut self, index: u32, reads: Reads, now: Time) {
        let host = self.host_mut(index);
        host.endpoint.read_on_request();
        let expects = std::mem::replace(&mut host.expects, u64::MAX);
        self.readers.insert(index, AppReader { reads, next: now + reads.every, expects });
    }

    /// The application at the host `index`, if it reads at fixed times.
    pub fn reader_mut(&mut self, index: u32) -> Option<&mut AppReader> {
        self.readers.get_mut(&index)
    }

    /// Sets the number of bytes for which the application at `index` waits. Returns whether it has them.
    pub fn expect(&mut self, index: u32, bytes: u64) -> bool {
        let consumed = self.host(index).endpoint.consumed();
        match self.readers.get_mut(&index) {
            Some(reader) => reader.expects = bytes,
            None => self.host_mut(index).expects = bytes,
        }
        consumed >= bytes
    }

    /// Allocates a serial number, which selects a pair of ports, for the connection `number` of its flow.
    pub fn take_serial(&mut self, number: u32) -> u32 {
        self.numbers.push(number);
        self.numbers.len() as u32 - 1
    }

    /// Returns the number in its flow of the connection with the serial number `serial`.
    pub fn number(&self, serial: u32) -> u32 {
        self.numbers[serial as usize]
    }

    fn place(&mut self, connection: Connection, pair: [Host; 2]) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.connections[index as usize] = connection;
                for (side, mut host) in pair.into_iter().enumerate() {
                    let place = &mut self.hosts[2 * index as usize + side];
                    // The pending timer events of the old endpoint serve the new one.
                    host.alarm = place.alarm;
                    *place = host;
                }
                index
            }
            None => {
                self.connections.push(connection);
                self.hosts.extend(pair);
                self.connections.len() as u32 - 1
            }
        }
    }

    /// Frees the slot of a connection.
    pub fn retire(&mut self, index: u32) {
        self.connections[index as usize].live = false;
        if !self.readers.is_empty() {
            self.readers.remove(&host_of(index, Side::To));
        }
        self.free.push(index);
    }

    /// The host at `index`.
    pub fn host(&self, index: u32) -> &Host {
        &self.hosts[index as usize]
    }
    /// The host at `index`.
    pub fn host_mut(&mut self, index: u32) -> &mut Host {
        &mut self.hosts[index as usize]
    }
    /// The connection at `index`.
    pub fn connection(&self, index: u32) -> &Connection {
        &self.connections[index as usize]
    }
    /// The connection at `index`.
    pub fn connection_mut(&mut self, index: u32) -> &mut Connection {
        &mut self.connections[index as usize]
    }
    /// Records the outcome of the handshake between `nodes`, opener first, which the host `opener` completes.
    pub fn record_fallback(&mut self, nodes: [u32; 2], opener: u32, now: Time) {
        self.fallbacks.record(nodes, &self.hosts[opener as usize].endpoint, now);
    }
    /// Counters of a connection's ends, `from` first.
    pub fn counters(&self, index: u32) -> [&Counters; 2] {
        [0, 1].map(|side| self.hosts[2 * index as usize + side].endpoint.counters())
    }
}

impl Opening<'_> {
    /// Whether the host at the side `opener` makes no offer of ECN, because of earlier connections.
    fn is_without_ecn(&self, opener: Side, fallbacks: &Fallbacks, now: Time) -> bool {
        let memory = self.tcp[opener.index()].ecn_fallback_memory;
        !memory.is_zero() && fallbacks.suppress(from_opener(self.nodes, opener), memory, now)
    }

    fn host(&self, side: Side, exchange: &Exchange, without_ecn: bool, serial: u32, now: Time, out: &mut Out) -> Host {
        let i = side.index();
        let (endpoint, expects) = if side == exchange.opener {
            let connect = if without_ecn { Endpoint::connect_without_ecn } else { Endpoint::connect };
            let mut endpoint = connect(self.tcp[i], self.ip, self.iss[i], now, out);
            endpoint.write(exchange.request, now, out);
            if exchange.is_one_way() && exchange.request != ENDLESS {
                endpoint.close(now, out);
            }
            (endpoint, if exchange.is_one_way() { u64::MAX } else { exchange.response })
        } else {
            (Endpoint::listen(self.tcp[i], self.ip, self.iss[i]), exchange.request)
        };
        let (to, flow, group, dscp, ip) = (self.nodes[1 - i], self.flow, self.group, self.dscp, self.ip);
        let label = Label { to, flow, group, dscp, ip, ..Label::default() };
        let way = Way::new(self.first_links[i], self.nodes[i], serial, label);
        Host { endpoint, alarm: Alarm::OFF, expects, way }
    }
}

/// Returns the nodes at `from` and `to` in another order: the one at the side `opener` first.
pub fn from_opener([from, to]: [u32; 2], opener: Side) -> [u32; 2] {
    match opener {
        Side::From => [from, to],
        Side::To => [to, from],
    }
}

/// Returns the host index of a connection's end at `side`.
pub fn host_of(connection: u32, side: Side) -> u32 {
    2 * connection + side.index() as u32
}

/// Returns the side of a host.
pub fn side_of(host: u32) -> Side {
    if host.is_multiple_of(2) { Side::From } else { Side::To }
}

//! Connections and their exchanges: what applications do when bytes have arrived or a connection changes, and when sources
//! open new ones.

use ecnlab_base::Time;
use ecnlab_tcp::State;
use ecnlab_traffic::{Demand, Done, Exchange, Side, Source};

use super::quic::QUIC;
use super::{BLOCK_ROWS, Sim};
use crate::events::Class;
use crate::hosts::{AppReader, Connection, from_opener, host_of, side_of};
use crate::packet::Body;
use crate::packets::Probe;
use crate::transactions::Transaction;

impl<P: Probe> Sim<'_, P> {
    /// Handles a call of the application or a state change of the connection.
    #[cold]
    pub(crate) fn on_milestone(&mut self, index: u32, arrived: bool, changed: bool, now: Time) {
        if arrived {
            self.on_arrived(index, now);
        }
        // The application's reply may have closed the connection.
        if changed || self.hosts.host(index).endpoint.state() != State::Established {
            self.on_change(index, now);
        }
        self.arm_timer(index);
    }

    /// Calls the application at `index`, which has all the bytes it waited for.
    fn on_arrived(&mut self, index: u32, now: Time) {
        let connection = index / 2;
        let exchange = self.hosts.connection(connection).exchange;
        self.hosts.expect(index, u64::MAX);
        let host = self.hosts.host_mut(index);
        if side_of(index) == exchange.opener {
            host.endpoint.close(now, &mut self.out);
            self.complete(connection, now);
        } else if !exchange.is_one_way() {
            host.endpoint.write(exchange.response, now, &mut self.out);
        } else if exchange.done == Done::Arrived {
            self.complete(connection, now);
        }
        self.send(index, now);
    }

    /// Completes the exchange of `connection`.
    fn complete(&mut self, connection: u32, now: Time) {
        let c = self.hosts.connection_mut(connection);
        c.done = true;
        let c = *c;
        if !c.exchange.is_one_way() {
            let [from, to] = self.hosts.counters(connection);
            self.transactions.push(Transaction::new(&c, from, to, now));
            if self.transactions.len() >= BLOCK_ROWS {
                self.hand_on();
            }
        }
        let flow = &mut self.flows[c.flow as usize];
        flow.count_exchange(c.cut, now);
        let next = flow.source.on_done(c.exchange.key, now);
        self.arm_wake(c.flow, next);
        self.end_after(c.flow, now);
    }

    /// Ends the run if `flow`, which is complete, is the last one that it waits for, and the warm-up is over.
    pub(super) fn end_after(&mut self, flow: u32, now: Time) {
        let Some(place) = self.awaited.iter().position(|&awaited| awaited == flow) else { return };
        self.awaited.swap_remove(place);
        if self.awaited.is_empty() && now > Time::ZERO + self.warmup {
            self.end = now;
        }
    }

    /// Schedules a poll of the source of `flow` at `next`.
    pub(super) fn arm_wake(&mut self, flow: u32, next: Option<Time>) {
        let armed = &mut self.flows[flow as usize].armed;
        if let Some(at) = next.filter(|at| at < armed) {
            *armed = at;
            self.events.push(at, Class::Wake, flow);
        }
    }

    /// Handles a state change of the endpoint at `index`: established, closed by its peer, or ended.
    fn on_change(&mut self, index: u32, now: Time) {
        let connection = index / 2;
        let c = *self.hosts.connection(connection);
        if !c.live {
            return;
        }
        let opened_here = side_of(index) == c.exchange.opener;
        let first_time = c.established == Time::NEVER;
        let endpoint = &mut self.hosts.host_mut(index).endpoint;
        if opened_here && first_time && endpoint.is_established() {
            self.hosts.connection_mut(connection).established = now;
            self.remember_fallback(connection, now);
        } else if endpoint.peer_closed() && !endpoint.is_closed() {
            endpoint.close(now, &mut self.out);
            self.send(index, now);
        }
        self.see_acknowledged(index, now);
        let end = |side| &self.hosts.host(host_of(connection, side)).endpoint;
        let both_closed = [Side::From, Side::To].iter().all(|&side| end(side).is_closed());
        // An opener that was refused or gave up leaves an unused listener.
        let opener = c.exchange.opener;
        let refused = end(opener).state() == State::Closed && end(opener.other()).state() == State::Listen;
        if both_closed || refused {
            self.retire(connection, now);
        }
    }

    /// Records whether ECN was negotiated on `connection`, whose opener is established, if its TCP has such a memory.
    fn remember_fallback(&mut self, connection: u32, now: Time) {
        let Connection { flow, exchange, .. } = *self.hosts.connection(connection);
        let flow = &self.flows[flow as usize];
        if !flow.tcp(exchange.opener).ecn_fallback_memory.is_zero() {
            let nodes = from_opener(flow.nodes(exchange.ends), exchange.opener);
            self.hosts.record_fallback(nodes, host_of(connection, exchange.opener), now);
        }
    }

    /// Checks whether everything the endpoint at `index` wrote is acknowledged. It closed after its last byte, so the
    /// final acknowledgement is always a state change.
    fn see_acknowledged(&mut self, index: u32, now: Time) {
        let c = self.hosts.connection(index / 2);
        let Exchange { opener, request, done, .. } = c.exchange;
        let waits = !c.done && done == Done::Acknowledged && opener == side_of(index);
        if waits && self.hosts.host(index).endpoint.acked() >= request {
            self.complete(index / 2, now);
        }
    }

    fn retire(&mut self, connection: u32, now: Time) {
        let c = *self.hosts.connection(connection);
        self.flows[c.flow as usize].retire(connection, &self.hosts);
        self.hosts.retire(connection);
        if !c.done {
            let next = self.flows[c.flow as usize].source.on_failed(c.exchange.key, now);
            self.arm_wake(c.flow, next);
        }
    }

    pub(super) fn on_wake(&mut self, index: u32, now: Time) {
        let flow = &mut self.flows[index as usize];
        if flow.armed != now {
            return; // as in `on_timer`: the source has requested an earlier wake since
        }
        flow.armed = Time::NEVER;
        let mut demands = std::mem::take(&mut self.demands);
        let next = flow.source.poll(now, &mut flow.rng, &mut demands);
        self.arm_wake(index, next);
        for demand in demands.drain(..) {
            match demand {
                Demand::Exchange(exchange) => self.open(index, exchange, now),
                Demand::Live(bytes) => self.replace_unsent(index, bytes, now),
                Demand::Datagram(wire_len) => {
                    let (datagram, way) = self.flows[index as usize].datagram(index, wire_len);
                    let packet = self.hold.load(Body::Datagram(datagram), Side::To.index() as u32, &way);
                    self.offer(way.first_link, packet, now);
                }
            }
        }
        self.demands = demands;
    }

    /// The application of the connection of `flow` has `bytes` to send, in place of what is not sent.
    fn replace_unsent(&mut self, flow: u32, bytes: u64, now: Time) {
        if let Some(&connection) = self.flows[flow as usize].live.last() {
            let opener = host_of(connection, self.hosts.connection(connection).exchange.opener);
            self.hosts.host_mut(opener).endpoint.replace_unsent(bytes, now, &mut self.out);
            self.send(opener, now);
            self.arm_timer(opener);
        }
    }

    fn open(&mut self, flow: u32, exchange: Exchange, now: Time) {
        if self.flows[flow as usize].quic().is_some() {
            return self.open_quic(flow, exchange, now);
        }
        let opening = self.flows[flow as usize].opening(flow, exchange.ends);
        let connection = self.hosts.open(&opening, exchange, now, &mut self.out);
        self.flows[flow as usize].live.push(connection);
        let opener = host_of(connection, exchange.opener);
        self.send(opener, now);
        self.arm_timer(opener);
        self.arm_read(host_of(connection, Side::To));
    }

    /// Schedules the next read of the application at `index`, if it reads at fixed times.
    fn arm_read(&mut self, index: u32) {
        if let Some(reader) = self.hosts.reader_mut(index) {
            self.events.push(reader.next, Class::Read, index);
        }
    }

    /// The application at `index` reads.
    #[cold]
    pub(super) fn on_read(&mut self, index: u32, now: Time) {
        if index & QUIC != 0 {
            return self.on_quic_deadline(index & !QUIC, now);
        }
        // A connection in the same place may have ended with a read to come.
        let Some(reader) = self.hosts.reader_mut(index).filter(|reader| reader.next == now) else { return };
        reader.next = now + reader.reads.every;
        let AppReader { reads, expects, .. } = *reader;
        let endpoint = &mut self.hosts.host_mut(index).endpoint;
        let read = endpoint.read(reads.bytes, now, &mut self.out);
        let (arrived, closed) = (endpoint.consumed() >= expects, endpoint.peer_closed());
        self.arm_read(index);
        self.send(index, now);
        if read > 0 {
            self.on_milestone(index, arrived, closed, now);
        }
    }
}

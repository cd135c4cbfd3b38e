//! Connections over QUIC: their datagrams, their deadlines, and the exchanges on their streams.

use ecnlab_aqm::Item;
use ecnlab_base::Time;
use ecnlab_quic::Event;
use ecnlab_traffic::{Done, Exchange, Source};

use super::{BLOCK_ROWS, Sim};
use crate::events::Class;
use crate::hosts::{host_of, side_of};
use crate::packet::{Cargo, Packet};
use crate::packets::Probe;
use crate::quics::Task;
use crate::transactions::Transaction;

/// Bit of an event's target: the rest is the index of an end of a connection over QUIC.
pub(super) const QUIC: u32 = 1 << 27;

impl<P: Probe> Sim<'_, P> {
    /// Begins `exchange` of `flow`: on the flow's connection between these nodes, or on a new one.
    #[cold]
    pub(super) fn open_quic(&mut self, flow: u32, exchange: Exchange, now: Time) {
        let shared =
            self.flows[flow as usize].live_quic.iter().find(|&&c| self.hosts.quics.admits(c, &exchange)).copied();
        let Some(connection) = shared.or_else(|| self.connect_quic(flow, &exchange, now)) else { return };
        let index = host_of(connection, exchange.opener);
        let Some(c) = self.hosts.quics.get_mut(connection) else { return };
        let stream = c.open(exchange.opener, exchange.request);
        c.tasks.push(Task { stream, exchange, started: now, cut: false, done: false });
        self.after_quic(index, now);
    }

    /// Opens a connection for `exchange` of `flow`; returns its index.
    fn connect_quic(&mut self, flow: u32, exchange: &Exchange, now: Time) -> Option<u32> {
        let of = &mut self.flows[flow as usize];
        let serial = self.hosts.take_serial(of.opened());
        let opening = of.opening_quic(flow, exchange.ends, serial);
        let settings = of.quic()?;
        // The settings were accepted before the run.
        let connection = self.hosts.quics.open(settings, opening, exchange, now).ok()?;
        of.live_quic.push(connection);
        Some(connection)
    }

    /// Passes a datagram to its end of a connection.
    #[cold]
    pub(super) fn receive_quic(&mut self, packet: Packet, now: Time) {
        let &Cargo { endpoint, connection, .. } = self.hold.cargo(packet.cargo());
        let payload = self.hold.payload(packet.cargo()).cloned();
        let end = self.hosts.quics.end_mut(endpoint).filter(|end| end.way.connection == connection);
        let (Some(payload), Some(end)) = (payload, end) else {
            self.stray += 1;
            return;
        };
        end.receive(&payload, packet.ecn(), now);
        self.after_quic(endpoint, now);
    }

    /// Handles the deadline of the end at `index`.
    pub(super) fn on_quic_deadline(&mut self, index: u32, now: Time) {
        let Some(end) = self.hosts.quics.end_mut(index).filter(|end| end.armed == now) else { return };
        end.armed = Time::NEVER;
        if end.endpoint.deadline() <= now {
            end.endpoint.on_deadline(now);
        }
        self.after_quic(index, now);
    }

    /// Handles all effects of a call of the end at `index`: events for the application, datagrams, its deadline, the end of
    /// the connection.
    fn after_quic(&mut self, index: u32, now: Time) {
        while let Some(event) = self.hosts.quics.end_mut(index).and_then(|end| end.endpoint.poll()) {
            self.on_quic_event(index, event, now);
        }
        self.send_quic(index, now);
        let connection = index / 2;
        if let Some(end) = self.hosts.quics.end_mut(index) {
            let deadline = end.endpoint.deadline().max(now);
            if deadline < end.armed {
                end.armed = deadline;
                self.events.push(deadline, Class::Read, index | QUIC);
            }
        }
        if self.hosts.quics.is_over(connection) {
            self.retire_quic(connection, now);
        }
    }

    /// Sends the datagrams of the end at `index`.
    fn send_quic(&mut self, index: u32, now: Time) {
        let Some(end) = self.hosts.quics.end_mut(index) else { return };
        for line in end.endpoint.take_secrets() {
            self.probe.secret(&line);
        }
        while let Some((datagram, payload, way)) = self.hosts.quics.end_mut(index).and_then(|end| end.transmit(now)) {
            let packet = self.hold.load_quic(datagram, payload, index ^ 1, &way);
            self.offer(way.first_link, packet, now);
        }
    }

    /// Handles an event of the end at `index`.
    fn on_quic_event(&mut self, index: u32, event: Event, now: Time) {
        let Some(c) = self.hosts.quics.get_mut(index / 2) else { return };
        let side = side_of(index);
        match event {
            Event::Established => {
                if side == c.opener {
                    c.established = now;
                }
            }
            Event::Arrived(stream) => self.on_quic_arrived(index, stream, now),
            Event::Acknowledged(stream) => self.on_quic_acknowledged(index, stream, now),
            Event::Closed(closing) => {
                c.ends[side.index()].closed = Some(closing);
                if side == c.opener {
                    self.fail_quic(index / 2, now);
                }
            }
        }
    }

    /// All data of the peer's half of `stream` have arrived at `index`.
    fn on_quic_arrived(&mut self, index: u32, stream: u64, now: Time) {
        let (connection, side) = (index / 2, side_of(index));
        let Some(c) = self.hosts.quics.get_mut(connection) else { return };
        let Some(place) = c.tasks.iter().position(|task| task.stream == stream) else { return };
        let exchange = c.tasks[place].exchange;
        if side == exchange.opener {
            // The peer of a one-way exchange ends its half without data.
            if !exchange.is_one_way() {
                self.complete_quic(connection, place, now);
                self.finish_quic(connection, place, now);
            }
            return;
        }
        c.respond(side, stream, exchange.response);
        if exchange.is_one_way() && exchange.done == Done::Arrived {
            self.complete_quic(connection, place, now);
        }
    }

    /// All data that the end at `index` wrote to `stream` are acknowledged.
    fn on_quic_acknowledged(&mut self, index: u32, stream: u64, now: Time) {
        let (connection, side) = (index / 2, side_of(index));
        let Some(c) = self.hosts.quics.get_mut(connection) else { return };
        let Some(place) = c.tasks.iter().position(|task| task.stream == stream) else { return };
        let exchange = c.tasks[place].exchange;
        if side != exchange.opener || !exchange.is_one_way() {
            return;
        }
        if exchange.done == Done::Acknowledged {
            self.complete_quic(connection, place, now);
        }
        self.finish_quic(connection, place, now);
    }

    /// Completes the exchange of the connection's task at `place`.
    fn complete_quic(&mut self, connection: u32, place: usize, now: Time) {
        let Some(c) = self.hosts.quics.get_mut(connection) else { return };
        let (flow, established, lost) = (c.flow, c.established, c.lost());
        let task = &mut c.tasks[place];
        task.done = true;
        let Task { exchange, started, cut, .. } = *task;
        if !exchange.is_one_way() {
            self.transactions.push(Transaction::over_quic(flow, &exchange, [started, established, now], lost));
            if self.transactions.len() >= BLOCK_ROWS {
                self.hand_on();
            }
        }
        let of = &mut self.flows[flow as usize];
        of.count_exchange(cut, now);
        let next = of.source.on_done(exchange.key, now);
        self.arm_wake(flow, next);
        self.end_after(flow, now);
    }

    /// Removes the connection's task at `place`. After its last one the opener closes a connection that is not shared.
    fn finish_quic(&mut self, connection: u32, place: usize, now: Time) {
        let Some(c) = self.hosts.quics.get_mut(connection) else { return };
        c.tasks.remove(place);
        if c.tasks.is_empty() && !c.shared {
            c.ends[c.opener.index()].endpoint.close(now);
        }
    }

    /// The exchanges in progress on `connection` have failed, for it has ended.
    fn fail_quic(&mut self, connection: u32, now: Time) {
        let Some(c) = self.hosts.quics.get_mut(connection) else { return };
        let flow = c.flow;
        for task in std::mem::take(&mut c.tasks).into_iter().filter(|task| !task.done) {
            let next = self.flows[flow as usize].source.on_failed(task.exchange.key, now);
            self.arm_wake(flow, next);
        }
    }

    fn retire_quic(&mut self, connection: u32, now: Time) {
        let Some(flow) = self.hosts.quics.get_mut(connection).map(|c| c.flow) else { return };
        self.flows[flow as usize].retire_quic(connection, &self.hosts.quics);
        self.hosts.quics.retire(connection, now);
    }

    /// Cuts the exchanges of `flow`, which has stopped: openers write no more than their stack has taken.
    pub(crate) fn cut_quic(&mut self, flow: u32, now: Time) {
        for connection in self.flows[flow as usize].live_quic.clone() {
            if let Some(opener) = self.hosts.quics.get_mut(connection).map(|c| c.cut()) {
                self.after_quic(host_of(connection, opener), now);
            }
        }
    }
}

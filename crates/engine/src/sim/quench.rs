//! Source quenches: delivery from the router that owes one to the sender it addresses.

use ecnlab_aqm::{Item, Owed};
use ecnlab_base::Time;
use ecnlab_wire::{Quench, Seq};

use super::Sim;
use crate::events::Class;
use crate::packet::{Body, Cargo, Packet, Returned};
use crate::packets::Probe;

impl<P: Probe> Sim<'_, P> {
    /// Sends the source quenches owed by the router in front of link `index`: each is routed to the sender, and queued,
    /// delayed and lost like any other packet. One that the router delays is held until then.
    #[cold]
    pub(super) fn speak_back(&mut self, index: u32, now: Time) {
        let link = &self.links[index as usize];
        let (router, row) = (link.from(), link.row_behind());
        // All are read before one is sent, because it may reuse the slot of a dropped packet's cargo.
        let owed: Vec<(Owed<Packet>, Cargo)> =
            self.signals.owed.drain(..).map(|owed| (owed, *self.hold.cargo(owed.packet.cargo()))).collect();
        for (Owed { packet, cause, wire_len, delay }, Cargo { body, endpoint, connection, .. }) in owed {
            let (seq, len, udp, way) = match body {
                Body::Tcp(segment) => {
                    (segment.seq, segment.ipv4_len(), false, self.hosts.host(endpoint).way.from(router))
                }
                Body::Datagram(datagram) => {
                    let way = self.flows[packet.flow() as usize].way_back(packet.flow(), router);
                    (Seq(datagram.seq), datagram.wire_len, true, way)
                }
                // QUIC has no response to source quenches (RFC 6633).
                Body::Quic(_) | Body::Quench(..) => continue,
            };
            if way.connection != connection {
                self.stray += 1;
                continue;
            }
            let returned = Returned { to: packet.to(), len, ecn: packet.ecn(), udp };
            let body = Body::Quench(Quench::new(cause, seq, wire_len), returned);
            let quench = self.hold.load(body, endpoint ^ 1, &way);
            if delay.is_zero() {
                self.forward(row, quench, now);
            } else {
                self.signals.later.insert(quench.cargo(), (row, quench));
                self.events.push(now.saturating_add(delay), Class::Quench, quench.cargo());
            }
        }
    }

    /// Sends the delayed source quench with this cargo.
    #[cold]
    pub(super) fn on_delayed_quench(&mut self, cargo: u32, now: Time) {
        if let Some((row, quench)) = self.signals.later.remove(&cargo) {
            self.forward(row, quench, now);
        }
    }

    /// Number of source quenches that routers hold.
    pub(crate) fn delayed_quenches(&self) -> u64 {
        self.signals.later.len() as u64
    }

    /// Discards an ICMP message for a connection that has ended.
    #[cold]
    pub(super) fn receive_quench(&mut self, packet: Packet, now: Time) {
        let &Cargo { body, endpoint, connection, .. } = self.hold.cargo(packet.cargo());
        let Body::Quench(quench, returned) = body else { return };
        if returned.udp {
            return self.flows[packet.flow() as usize].receive_quench(now);
        }
        let host = self.hosts.host_mut(endpoint);
        if host.way.connection != connection {
            self.stray += 1;
            return;
        }
        host.endpoint.on_quench(&quench, now);
        self.arm_timer(endpoint);
    }
}

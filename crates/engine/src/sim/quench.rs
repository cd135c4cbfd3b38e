//! Source quenches: delivery from the router that owes one to the sender it addresses.

use ecnlab_aqm::{Item, Owed};
use ecnlab_base::Time;
use ecnlab_wire::{Quench, Seq};

use super::Sim;
use crate::packet::{Body, Cargo, Packet, Returned};
use crate::packets::Probe;
use crate::routes::ARRIVED;

impl<P: Probe> Sim<'_, P> {
    /// Sends the source quenches owed by the router in front of link `index`: each is routed to the sender, and queued,
    /// delayed and lost like any other packet.
    #[cold]
    pub(super) fn speak_back(&mut self, index: u32, now: Time) {
        let link = &self.links[index as usize];
        let (router, row) = (link.from(), link.row_behind());
        // All are read before one is sent, because it may reuse the slot of a dropped packet's cargo.
        let owed: Vec<(Owed<Packet>, Cargo)> =
            self.signals.owed.drain(..).map(|owed| (owed, *self.hold.cargo(owed.packet.cargo()))).collect();
        for (Owed { packet, cause, wire_len }, Cargo { body, endpoint, connection, .. }) in owed {
            let (seq, len, udp, way) = match body {
                Body::Tcp(segment) => {
                    (segment.seq, segment.ipv4_len(), false, self.hosts.host(endpoint).way.from(router))
                }
                Body::Datagram(datagram) => {
                    let way = self.flows[packet.flow() as usize].way_back(packet.flow(), router);
                    (Seq(datagram.seq), datagram.wire_len, true, way)
                }
                Body::Quench(..) => continue,
            };
            if way.connection != connection {
                self.stray += 1;
                continue;
            }
            let returned = Returned { to: packet.to(), len, ecn: packet.ecn(), udp };
            let body = Body::Quench(Quench::new(cause, seq, wire_len), returned);
            let quench = self.hold.load(body, endpoint ^ 1, &way);
            match self.routes.next(row, way.to()) {
                ARRIVED => self.receive(quench, now),
                link => self.offer(link, quench, now),
            }
        }
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

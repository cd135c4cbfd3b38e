//! The stop time of a flow in the scenario.

use ecnlab_base::Time;
use ecnlab_traffic::{Source, UnderWay};

use crate::hosts::host_of;
use crate::packets::Probe;
use crate::sim::Sim;

impl<P: Probe> Sim<'_, P> {
    /// Stops the flow at `index`: it starts nothing new. The source decides whether exchanges in progress are completed
    /// or cut.
    pub(crate) fn on_stop(&mut self, index: u32, now: Time) {
        let flow = &mut self.flows[index as usize];
        if flow.source.stop() == UnderWay::Cut {
            for connection in flow.live.clone() {
                self.cut(connection, now);
            }
            self.cut_quic(index, now);
        }
    }

    /// Cuts a one-way exchange: the opener writes no more than it has sent; that data still arrives, then the FIN.
    fn cut(&mut self, connection: u32, now: Time) {
        let exchange = self.hosts.connection(connection).exchange;
        let opener = host_of(connection, exchange.opener);
        let written = self.hosts.host_mut(opener).endpoint.withdraw(now, &mut self.out);
        let c = self.hosts.connection_mut(connection);
        c.cut = written < exchange.request;
        c.exchange.request = written;
        let done = c.done;
        self.send(opener, now);
        self.arm_timer(opener);
        let receiver = host_of(connection, exchange.opener.other());
        if !done {
            // The data sent may have arrived already.
            let arrived = self.hosts.expect(receiver, written);
            self.on_milestone(receiver, arrived, true, now);
        }
    }
}

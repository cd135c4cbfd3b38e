//! The end that a scenario sets a flow.

use ecnlab_base::Time;
use ecnlab_traffic::{Source, UnderWay};

use crate::hosts::host_of;
use crate::packets::Probe;
use crate::sim::Sim;

impl<P: Probe> Sim<'_, P> {
    /// The flow at `index` asks for nothing new. Of what it has under way, the source says if it is completed or cut.
    pub(crate) fn on_stop(&mut self, index: u32, now: Time) {
        let flow = &mut self.flows[index as usize];
        if flow.source.stop() == UnderWay::Cut {
            for connection in flow.live.clone() {
                self.cut(connection, now);
            }
        }
    }

    /// The opener of a one-way exchange writes no more than it has sent: that still arrives, then the FIN.
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
        let host = self.hosts.host_mut(receiver);
        if !done {
            host.expects = written;
            // What was sent may have arrived already.
            let arrived = host.endpoint.received() >= written;
            self.on_milestone(receiver, arrived, true, now);
        }
    }
}

//! Conservation checks at the end of every run.

use ecnlab_traffic::{ENDLESS, Side};

use crate::error::Error;
use crate::hosts::{Connection, host_of};
use crate::link;
use crate::packets::Probe;
use crate::plan::Plan;
use crate::sim::Sim;
use crate::totals::Totals;

/// Checks conservation. For every link: entered = left + dropped + held. For every connection: the bytes an application
/// received are those its peer wrote, minus the bytes in flight. For datagrams: no more arrive than were sent.
pub fn check<P: Probe>(plan: &Plan, sim: &Sim<'_, P>) -> Result<(), Error> {
    let on_links: u64 = sim.links.iter().map(|link| link.queue().packets() as u64 + link.on_wire()).sum();
    let held = on_links + sim.delayed_quenches();
    if held != sim.hold.len() as u64 {
        let loaded = sim.hold.len();
        return Err(Error::Conservation(format!("{loaded} packets are in flight, links and routers hold {held}")));
    }
    check_links(plan, &sim.links)?;
    for (plan, flow) in plan.flows.iter().zip(&sim.flows) {
        if !plan.traffic.uses_tcp() {
            datagrams_balance(&flow.totals(&sim.hosts))
                .map_err(|why| Error::Conservation(format!("flow `{}`: {why}", plan.name)))?;
        }
        for &connection in &flow.live_quic {
            sim.hosts
                .quics
                .balances(connection)
                .map_err(|why| Error::Conservation(format!("flow `{}`: {why}", plan.name)))?;
        }
        for &connection in &flow.live {
            let c = sim.hosts.connection(connection);
            for sender in [Side::From, Side::To] {
                stream_balances(sim, connection, c, sender)
                    .map_err(|why| Error::Conservation(format!("flow `{}`: {why}", plan.name)))?;
            }
        }
    }
    Ok(())
}

/// Checks entered = left + dropped + held for every link.
pub fn check_links(plan: &Plan, links: &[link::Link]) -> Result<(), Error> {
    for (plan, link) in plan.links.iter().zip(links) {
        link_balances(link).map_err(|why| Error::Conservation(format!("link `{}`: {why}", plan.name)))?;
    }
    Ok(())
}

fn link_balances(link: &link::Link) -> Result<(), String> {
    if !link.queue().is_balanced() {
        return Err("the packets that arrived differ from those that left, were dropped or are held".to_owned());
    }
    let departed = link.queue().counters().total().all().departed.packets;
    let counters = link.counters();
    let accounted = counters.delivered + counters.lost + link.on_wire();
    if departed != accounted {
        return Err(format!("{departed} packets left the queue, {accounted} were delivered, lost or are on the wire"));
    }
    if !link.boxes_are_balanced() {
        return Err("the packets that arrived at its boxes differ from those that it delivered".to_owned());
    }
    Ok(())
}

/// Checks that a flow's received datagram bytes do not exceed the bytes sent.
fn datagrams_balance(totals: &Totals) -> Result<(), String> {
    let (sent, delivered) = (totals.tcp[Side::From.index()].bytes_sent, totals.delivered);
    if delivered <= sent { Ok(()) } else { Err(format!("{sent} bytes sent in datagrams, {delivered} received")) }
}

/// Checks acked <= received <= written, for data of `sender`; all three are equal once the exchange is done.
fn stream_balances<P: Probe>(sim: &Sim<'_, P>, connection: u32, c: &Connection, sender: Side) -> Result<(), String> {
    let endpoint = |side| &sim.hosts.host(host_of(connection, side)).endpoint;
    let written = if sender == c.exchange.opener { c.exchange.request } else { c.exchange.response };
    let (acked, received) = (endpoint(sender).acked(), endpoint(sender.other()).received());
    let complete = !c.done || written == ENDLESS || received == written;
    if acked <= received && received <= written && complete {
        Ok(())
    } else {
        Err(format!("{written} bytes written, {received} received, {acked} acknowledged"))
    }
}

//! Completed transactions: exchanges that had a response.

use ecnlab_base::Time;
use ecnlab_tcp::Counters;
use ecnlab_traffic::Exchange;

use crate::hosts::Connection;
use crate::table::Labels;
use ecnlab_base::Table;

/// One completed transaction.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    flow: u32,
    index: u32,
    started: Time,
    established: Time,
    /// Arrival time of the last byte of the response.
    pub ended: Time,
    request: u64,
    response: u64,
    retransmits: u64,
    timeouts: u64,
}

impl Transaction {
    /// Creates the record of an exchange over QUIC, requested at `started` on a connection established at `established` that
    /// had `lost` packets for it.
    pub fn over_quic(
        flow: u32,
        exchange: &Exchange,
        [started, established, ended]: [Time; 3],
        lost: u64,
    ) -> Transaction {
        let Exchange { key, request, response, .. } = *exchange;
        Transaction { flow, index: key, started, established, ended, request, response, retransmits: lost, timeouts: 0 }
    }

    /// Creates the record of `connection`, completed at `now`, with the counters of its two ends.
    pub fn new(connection: &Connection, from: &Counters, to: &Counters, now: Time) -> Transaction {
        Transaction {
            flow: connection.flow,
            index: connection.exchange.key,
            started: connection.started,
            established: connection.established,
            ended: now,
            request: connection.exchange.request,
            response: connection.exchange.response,
            retransmits: from.retransmits() + to.retransmits(),
            timeouts: from.timeouts + to.timeouts,
        }
    }
}

/// Returns the table of transactions; the measurement window starts at `warm`.
pub fn table(rows: &[Transaction], labels: &Labels, warm: Time) -> Table {
    let mut t = Table::new("transactions");
    t.u32("flow", rows.iter().map(|r| r.flow));
    t.text("name", rows.iter().map(|r| r.flow), &labels.flows);
    t.text("group", rows.iter().map(|r| labels.group_of[r.flow as usize]), &labels.groups);
    t.u32("index", rows.iter().map(|r| r.index));
    t.f64("start_s", rows.iter().map(|r| r.started.as_secs()));
    t.f64("established_s", rows.iter().map(|r| r.established.as_secs()));
    t.f64("end_s", rows.iter().map(|r| r.ended.as_secs()));
    t.f64("latency_s", rows.iter().map(|r| r.ended.since(r.started).as_secs()));
    t.u64("request_bytes", rows.iter().map(|r| r.request));
    t.u64("response_bytes", rows.iter().map(|r| r.response));
    t.u64("retransmits", rows.iter().map(|r| r.retransmits));
    t.u64("timeouts", rows.iter().map(|r| r.timeouts));
    t.bool("measured", rows.iter().map(|r| r.ended >= warm));
    t
}

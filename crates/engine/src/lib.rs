//! Packet simulator in virtual time, with the endpoints of `tcp` and the queues of `aqm`.
//!
//! [`run`] takes a [`Plan`] and a seed and returns tables. It reads no file, clock or global state; the same plan and
//! seed give identical bytes on every machine.

mod alarm;
mod balance;
mod boxes;
mod bursts;
pub mod capture;
mod error;
mod events;
mod fallbacks;
mod faults;
mod flow;
mod hosts;
mod jitter;
mod ledger;
mod link;
pub mod memory;
mod objects;
mod packet;
mod packet_event;
mod packets;
mod paths;
mod period;
mod plan;
mod quics;
mod routes;
mod series;
mod signals;
mod sim;
mod sojourns;
mod stop;
mod table;
mod totals;
mod transactions;
mod tunnel;
mod unsteady;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};

use ecnlab_base::Time;

pub use boxes::{BoxCounters, Inside, Inspect, Passage, reset_of};
pub use ecnlab_base::{Column, Table};
pub use error::Error;
pub use events::{Class, Event, EventQueue};
pub use flow::source_stream;
pub use ledger::Ledger;
pub use link::{Link, WatchWire};
pub use packet::{Body, Cargo, Label, Packet, Returned};
pub use paths::Paths;
pub use plan::{
    Aggregation, BoxPlan, Bursts, Changes, Egress, Errors, FlowPlan, Ingress, Jitter, LinkPlan, Plan, Reads, Setup,
    Shaper, TunnelPlan,
};
pub use routes::{ARRIVED, Routes};
pub use sim::Watch;
pub use table::Blocks;
pub use tunnel::TunnelCounters;

use capture::{Capture, Sink, Taps};
use packets::{PacketLog, Probe, Recorder};
use period::{Period, Wanted};
use sim::{BLOCK_ROWS, Sim};
use table::Labels;

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// All tables of the run; for tables passed on in blocks, the last rows.
    pub tables: Vec<Table>,
}

/// Receivers of output during a run.
#[derive(Default)]
pub struct Outlets<'s> {
    /// The captures and their sink.
    pub captures: Option<(&'s [Capture], &'s mut dyn Sink)>,
    /// Receiver of the tables that grow during the run: `packets`, `queue_series`, `flow_series` and `transactions`.
    /// Without a receiver they are kept in memory.
    pub blocks: Option<&'s mut dyn Blocks>,
    /// Whether a table is returned, by its name; without it all are.
    pub wanted: Option<&'s dyn Fn(&str) -> bool>,
    /// Called with the virtual time every few milliseconds. Returning false stops only this run, like `cancel`.
    pub watch: Option<Watch<'s>>,
}

impl Output {
    /// Returns the table `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.name == name)
    }
}

/// Runs `plan` with `seed`.
pub fn run(plan: &Plan, seed: u64) -> Result<Output, Error> {
    run_until(plan, seed, &AtomicBool::new(false))
}

/// Runs `plan` with `seed` until `cancel` becomes true, which is checked every few milliseconds.
pub fn run_until(plan: &Plan, seed: u64, cancel: &AtomicBool) -> Result<Output, Error> {
    run_into(plan, seed, cancel, Outlets::default())
}

/// [`run_until`] that passes the packets of `captures` to `sink`.
///
/// # Errors
/// As [`run_until`]; [`Error::Cancelled`] also if the sink returns false.
pub fn run_captured(
    plan: &Plan,
    seed: u64,
    cancel: &AtomicBool,
    captures: &[Capture],
    sink: &mut dyn Sink,
) -> Result<Output, Error> {
    run_into(plan, seed, cancel, Outlets { captures: Some((captures, sink)), ..Outlets::default() })
}

/// [`run_until`] that passes output to `outlets` during the run. The rows of a table's blocks followed by those in the
/// output are the rows of the table returned by [`run_until`].
///
/// # Errors
/// As [`run_until`]; [`Error::Cancelled`] also if an outlet returns false.
pub fn run_into(plan: &Plan, seed: u64, cancel: &AtomicBool, outlets: Outlets<'_>) -> Result<Output, Error> {
    let Outlets { captures, blocks, wanted, watch } = outlets;
    let wanted = wanted.unwrap_or(&|_| true);
    plan.unsupplied().map_or(Ok(()), |law| Err(Error::Unsupplied(law.to_owned())))?;
    plan.check_stacks()?;
    let goes_on = |now| !cancel.load(Ordering::Relaxed) && watch.is_none_or(|watch| watch(now));
    let goes_on: Watch<'_> = &goes_on;
    let block = if blocks.is_some() { BLOCK_ROWS } else { usize::MAX };
    let log = plan.packet_events.then(|| PacketLog::new(block));
    match (captures.filter(|(captures, _)| !captures.is_empty()), log) {
        (Some((captures, sink)), log) => run_with(
            plan,
            seed,
            goes_on,
            Recorder { log, taps: Taps::new(captures, plan.links.len(), sink) },
            blocks,
            wanted,
        ),
        (None, Some(log)) => run_with(plan, seed, goes_on, log, blocks, wanted),
        (None, None) => run_with(plan, seed, goes_on, (), blocks, wanted),
    }
}

fn run_with<P: Probe>(
    plan: &Plan,
    seed: u64,
    goes_on: Watch<'_>,
    probe: P,
    blocks: Option<&mut dyn Blocks>,
    wanted: Wanted<'_>,
) -> Result<Output, Error> {
    let mut sim = Sim::new(plan, seed, probe, blocks)?;
    sim.run(goes_on)?;
    let end = sim.period(sim.end);
    sim.flush(sim.end, true)?;
    balance::check(plan, &sim)?;
    let quic = wanted("quic").then(|| quics::table(&sim.hosts.quics, &sim.labels)).flatten();
    sim.free_network();
    let mut tables = tables(plan, sim, end, wanted);
    tables.extend(quic);
    Ok(Output { tables })
}

fn tables<P: Probe>(plan: &Plan, mut sim: Sim<'_, P>, mut period: Period, wanted: Wanted<'_>) -> Vec<Table> {
    let labels: &Labels = &sim.labels;
    // A warm-up as long as the run leaves nothing to measure; the scenario check rejects it.
    let mut warm = sim.warm.take().unwrap_or_else(|| period.end());
    period.add_stats(&mut warm);
    let whole = period.tables(plan, &sim.flows, "_run", wanted);
    let measured = period.measured(warm);
    let mut tables = measured.tables(plan, &sim.flows, "", wanted);
    tables.extend(whole);
    let warm_at = Time::ZERO + plan.warmup;
    tables.extend(wanted("transactions").then(|| transactions::table(&sim.transactions, labels, warm_at)));
    tables.extend(wanted("objects").then(|| objects::table(plan, &sim.flows)).flatten());
    tables.extend(wanted("sojourn_bins").then(|| measured.sojourn_bins(plan)).flatten());
    drop(measured);
    if plan.sample.is_some() {
        tables.extend(sim.series.tables(&labels.links, &labels.flows));
    }
    tables.extend(sim.probe.table(labels));
    tables
}

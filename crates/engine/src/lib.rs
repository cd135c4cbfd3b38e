//! Virtual time: a packet simulator that drives the endpoints of `tcp` and the queues of `aqm`.
//!
//! [`run`] takes a [`Plan`] and a seed and gives tables. It reads no file, no clock and no global;
//! the same plan and seed give the same bytes anywhere.

mod balance;
mod boxes;
mod bursts;
pub mod capture;
mod events;
mod faults;
mod flow;
mod hosts;
mod jitter;
mod ledger;
mod link;
mod objects;
mod packet;
mod packets;
mod paths;
mod plan;
mod routes;
mod series;
mod sim;
mod stop;
mod table;
mod transactions;
mod window;
mod wire;

use std::sync::atomic::AtomicBool;

use ecnlab_base::Time;

pub use boxes::{BoxCounters, Inside, Inspect, Passage, reset_of};
pub use events::{Class, Event, EventQueue};
pub use flow::source_stream;
pub use ledger::Ledger;
pub use link::{Link, WatchWire};
pub use packet::{Body, Cargo, Label, Packet, Returned};
pub use paths::Paths;
pub use plan::{BoxPlan, Bursts, Errors, FlowPlan, Jitter, LinkPlan, Plan, Setup, Shaper};
pub use routes::{ARRIVED, Routes};
pub use table::{Column, Table};

use capture::{Capture, Sink, Taps};
use packets::{PacketLog, Probe, Recorder};
use sim::Sim;
use window::{Snapshot, Window};

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Two nodes are not connected.
    #[error("flow `{flow}`: there is no way from `{from}` to `{to}`")]
    NoRoute {
        /// The flow.
        flow: String,
        /// Where it starts.
        from: String,
        /// Where it should go.
        to: String,
    },
    /// The run was asked to stop.
    #[error("the run was cancelled")]
    Cancelled,
    /// Packets or bytes came from nowhere or went nowhere: a defect of ecnlab, never of a scenario.
    #[error("conservation is violated (a defect of ecnlab, please report it): {0}")]
    Conservation(String),
}

/// What a run gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Every table of the run.
    pub tables: Vec<Table>,
}

impl Output {
    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.name == name)
    }
}

/// Runs `plan` under `seed`.
pub fn run(plan: &Plan, seed: u64) -> Result<Output, Error> {
    run_until(plan, seed, &AtomicBool::new(false))
}

/// Runs `plan` under `seed`, unless `cancel` becomes true, which is seen within some milliseconds.
pub fn run_until(plan: &Plan, seed: u64, cancel: &AtomicBool) -> Result<Output, Error> {
    if plan.packet_events {
        run_with(plan, seed, cancel, PacketLog::default())
    } else {
        run_with(plan, seed, cancel, ())
    }
}

/// [`run_until`], with what `captures` see handed to `sink`.
///
/// # Errors
/// As [`run_until`]; [`Error::Cancelled`] also if the sink wants no more.
pub fn run_captured(
    plan: &Plan,
    seed: u64,
    cancel: &AtomicBool,
    captures: &[Capture],
    sink: &mut dyn Sink,
) -> Result<Output, Error> {
    if captures.is_empty() {
        return run_until(plan, seed, cancel);
    }
    let log = plan.packet_events.then(PacketLog::default);
    run_with(plan, seed, cancel, Recorder { log, taps: Taps::new(captures, plan.links.len(), sink) })
}

fn run_with<P: Probe>(plan: &Plan, seed: u64, cancel: &AtomicBool, probe: P) -> Result<Output, Error> {
    let mut sim = Sim::new(plan, seed, probe)?;
    let start = sim.snapshot(Time::ZERO);
    sim.run(cancel)?;
    let end = sim.snapshot(Time::ZERO + plan.duration);
    sim.flush(Time::ZERO + plan.duration, true)?;
    balance::check(plan, &sim)?;
    Ok(Output { tables: tables(plan, sim, &start, &end) })
}

fn tables<P: Probe>(plan: &Plan, sim: Sim<P>, start: &Snapshot, end: &Snapshot) -> Vec<Table> {
    let links: Vec<String> = plan.links.iter().map(|l| l.name.clone()).collect();
    let flows: Vec<String> = plan.flows.iter().map(|f| f.name.clone()).collect();
    let group_of: Vec<u32> = plan.flows.iter().map(|f| f.group as u32).collect();

    let mut tables = Vec::new();
    // A warm-up as long as the run leaves nothing to measure; the spec refuses it.
    let warm = sim.warm.as_ref().unwrap_or(end);
    tables.extend(Window::measured(warm, end).tables(plan, &sim.flows, ""));
    tables.extend(Window::whole(start, warm, end).tables(plan, &sim.flows, "_run"));
    let warm_at = Time::ZERO + plan.warmup;
    tables.push(transactions::table(&sim.transactions, &flows, &plan.groups, &group_of, warm_at));
    tables.extend(objects::table(plan, &sim.flows));
    if plan.sample.is_some() {
        tables.extend(sim.series.tables(&links, &flows));
    }
    tables.extend(sim.probe.table(&links, &flows));
    tables
}

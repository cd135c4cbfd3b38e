//! Slow start, then AIMD with a factor of 0.8, as the controller of quinn: `cargo run -p quic-controller examples/quic.toml`.

#[cfg(feature = "qlog")]
mod log;

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use ecnlab_engine::{Column, Output};
use ecnlab_quic::quinn_proto::RttEstimator;
use ecnlab_quic::quinn_proto::congestion::{Controller, ControllerFactory};

#[derive(Clone, Debug)]
struct Aimd {
    window: u64,
    mtu: u64,
    /// Time of the last reduction; none in slow start.
    reduced: Option<Instant>,
}

impl Controller for Aimd {
    fn on_ack(&mut self, _: Instant, _sent: Instant, bytes: u64, app_limited: bool, _: &RttEstimator) {
        if !app_limited {
            self.window += if self.reduced.is_none() { bytes } else { bytes * self.mtu / self.window };
        }
    }

    /// A loss or a mark of a packet that was sent after the last reduction.
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, _persistent: bool, _lost_bytes: u64) {
        if self.reduced.is_none_or(|last| sent > last) {
            self.window = (self.window * 8 / 10).max(2 * self.mtu);
            self.reduced = Some(now);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn initial_window(&self) -> u64 {
        10 * self.mtu
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

struct Factory;

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, _: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Aimd { window: 10 * u64::from(mtu), mtu: mtu.into(), reduced: None })
    }
}

const USAGE: &str = "usage: quic-controller SCENARIO, or with the feature qlog: SCENARIO --qlog DIR";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (path, options) = args.split_first().ok_or(USAGE)?;
    let scenario = ecnlab_scenario::parse_scenario(path, &std::fs::read_to_string(path)?)?;
    let mut plan = scenario.plan(1);
    for settings in plan.flows.iter_mut().filter_map(|flow| flow.quic.as_mut()).flatten() {
        Arc::make_mut(settings).controller = Some(ecnlab_quic::Controller::quinn(Factory));
    }
    match options {
        [] => {}
        #[cfg(feature = "qlog")]
        [option, folder] if option == "--qlog" => log::set(&mut plan, folder)?,
        _ => return Err(USAGE.into()),
    }
    let out = ecnlab_engine::run(&plan, 1)?;
    for (row, flow) in plan.flows.iter().enumerate() {
        let goodput = value(&out, "flows", "goodput_bps", row) / 1e6;
        let reductions = value(&out, "flows", "ecn_reductions", row);
        println!("{}: {goodput:.2} Mb/s, {reductions} reductions by marks", flow.name);
    }
    Ok(())
}

/// A value of a table of the run.
fn value(out: &Output, table: &str, column: &str, row: usize) -> f64 {
    match out.table(table).and_then(|table| table.column(column)) {
        Some(Column::U64(values)) => values[row] as f64,
        Some(Column::F64(values)) => values[row],
        _ => panic!("{table} has no number {column}"),
    }
}

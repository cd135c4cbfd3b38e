//! Time series of queues and windows.

use ecnlab_aqm::{ClassSample, Departures, Kind, Recorded};
use ecnlab_base::Time;
use ecnlab_base::facts::Column;
use ecnlab_tcp::Sample;
use ecnlab_tcp::registry::WindowLaw;
use ecnlab_traffic::Side;

use crate::flow::Flow;
use crate::hosts::{Hosts, host_of};
use crate::link::Link;
use crate::plan::Plan;
use crate::signals::{FlowSignals, Signals};
use crate::table::Table;

/// The quantiles in `queue_series`, and their columns.
const QUANTILES: [(&str, f64); 2] = [("sojourn_p50_s", 0.5), ("sojourn_p99_s", 0.99)];

struct QueueRow {
    time: Time,
    link: u32,
    packets: u64,
    bytes: u64,
    /// Counts since the start of the run.
    counts: Kind,
    sojourns: Sojourns,
}

/// Sojourn times of the packets that left within the interval, in seconds; NaN if none left.
struct Sojourns {
    mean: f64,
    /// Quantiles of [`QUANTILES`]; NaN if the queue keeps none.
    quantiles: [f64; QUANTILES.len()],
}

impl Sojourns {
    fn of(departures: &Departures) -> Sojourns {
        Sojourns { mean: departures.mean_s(), quantiles: QUANTILES.map(|(_, q)| departures.quantile_s(q)) }
    }
}

struct ClassRow {
    time: Time,
    link: u32,
    class: u32,
    sample: ClassSample,
}

struct FlowRow {
    time: Time,
    flow: u32,
    sample: Sample,
    delivered: u64,
    /// Payload that ACKs reported as marked, over all connections.
    marked: u64,
    signals: FlowSignals,
}

/// Samples not yet passed on.
pub struct Series {
    /// Columns added by the laws of queues.
    recorded: Recorded,
    /// Columns that the window laws of senders add to `flow_series`.
    window: Vec<Column>,
    queues: Vec<QueueRow>,
    /// The columns of [`Recorded::queue_series`] of each row of `queues`.
    queue_laws: Vec<f64>,
    classes: Vec<ClassRow>,
    /// Names of classes, concatenated in the order of the links.
    class_names: Vec<String>,
    flows: Vec<FlowRow>,
    /// The columns of `window` of each row of `flows`.
    flow_laws: Vec<f64>,
}

impl Series {
    /// Creates empty series for the links and flows of `plan`.
    pub fn of(plan: &Plan) -> Series {
        let laws = plan.flows.iter().map(|flow| &flow.tcp_from.congestion);
        Series {
            recorded: plan.recorded(),
            window: WindowLaw::columns(laws),
            queues: Vec::new(),
            queue_laws: Vec::new(),
            classes: Vec::new(),
            class_names: Vec::new(),
            flows: Vec::new(),
            flow_laws: Vec::new(),
        }
    }

    /// Samples every queue and every flow with a connection. Links must have been advanced to `now`.
    pub fn sample(&mut self, now: Time, links: &mut [Link], flows: &[Flow], hosts: &Hosts, signals: &Signals) {
        if self.class_names.is_empty() {
            self.class_names = links.iter().flat_map(|link| link.queue().class_names()).collect();
        }
        let mut class = 0;
        for (i, link) in links.iter_mut().enumerate() {
            let sojourns = Sojourns::of(&link.sample_departures());
            let queue = link.queue();
            let (packets, bytes) = (queue.packets() as u64, queue.bytes());
            let columns = self.recorded.queue_series.iter();
            self.queue_laws.extend(columns.map(|column| queue.value(column.name).unwrap_or(f64::NAN)));
            let counts = queue.counters().total().all();
            self.queues.push(QueueRow { time: now, link: i as u32, packets, bytes, counts, sojourns });
            for sample in queue.class_samples(&self.recorded.class_series) {
                self.classes.push(ClassRow { time: now, link: i as u32, class, sample });
                class += 1;
            }
        }
        for (i, flow) in flows.iter().enumerate() {
            // The series of a flow follows its newest connection.
            let Some(&connection) = flow.live.last() else { continue };
            let endpoint = &hosts.host(host_of(connection, Side::From)).endpoint;
            let columns = self.window.iter();
            self.flow_laws.extend(columns.map(|column| endpoint.law_value(column.name).unwrap_or(f64::NAN)));
            let totals = flow.totals(hosts);
            let (delivered, marked) = (totals.delivered, totals.tcp[Side::From.index()].bytes_marked);
            let (sample, signals) = (endpoint.sample(), signals.of(i));
            self.flows.push(FlowRow { time: now, flow: i as u32, sample, delivered, marked, signals });
        }
    }

    /// Returns and removes the tables that have reached `most` rows.
    pub fn take_full(&mut self, most: usize, links: &[String], flows: &[String]) -> Vec<Table> {
        let mut full = Vec::new();
        if self.queues.len() >= most {
            full.push(self.queue_table(links));
            self.queues.clear();
            self.queue_laws.clear();
        }
        if self.classes.len() >= most {
            full.extend(self.class_table(links));
            self.classes.clear();
        }
        if self.flows.len() >= most {
            full.push(self.flow_table(flows));
            self.flows.clear();
            self.flow_laws.clear();
        }
        full
    }

    /// Returns the tables `queue_series` and `flow_series`, and `class_series` if a queue has classes.
    pub fn tables(&self, links: &[String], flows: &[String]) -> Vec<Table> {
        let mut tables = self.queue_tables(links);
        tables.push(self.flow_table(flows));
        tables
    }

    /// Returns only the tables of queues.
    pub fn queue_tables(&self, links: &[String]) -> Vec<Table> {
        std::iter::once(self.queue_table(links)).chain(self.class_table(links)).collect()
    }

    /// Returns the table `class_series`; `None` if no queue has classes.
    fn class_table(&self, links: &[String]) -> Option<Table> {
        let rows = &self.classes;
        if self.class_names.is_empty() {
            return None;
        }
        let mut t = Table::new("class_series");
        t.f64("time_s", rows.iter().map(|r| r.time.as_secs()));
        t.text("link", rows.iter().map(|r| r.link), links);
        t.text("class", rows.iter().map(|r| r.class), &self.class_names);
        t.u64("packets", rows.iter().map(|r| r.sample.held.packets));
        t.u64("bytes", rows.iter().map(|r| r.sample.held.bytes));
        for (i, column) in self.recorded.class_series.iter().enumerate() {
            t.f64(column.name, rows.iter().map(|r| r.sample.values[i]));
        }
        Some(t)
    }

    /// The table `queue_series`.
    fn queue_table(&self, links: &[String]) -> Table {
        let rows = &self.queues;
        let mut t = Table::new("queue_series");
        t.f64("time_s", rows.iter().map(|r| r.time.as_secs()));
        t.text("link", rows.iter().map(|r| r.link), links);
        t.u64("packets", rows.iter().map(|r| r.packets));
        t.u64("bytes", rows.iter().map(|r| r.bytes));
        let count = |f: fn(&Kind) -> u64| rows.iter().map(move |r| f(&r.counts));
        t.u64("arrived", count(|k| k.arrived.packets));
        t.u64("marks", count(|k| k.marks.packets));
        t.u64("early_drops", count(|k| k.early.packets));
        t.u64("forced_drops", count(|k| k.forced.packets));
        t.u64("tail_drops", count(|k| k.tail.packets));
        t.f64("sojourn_mean_s", rows.iter().map(|r| r.sojourns.mean));
        for (i, (name, _)) in QUANTILES.iter().enumerate() {
            t.f64(name, rows.iter().map(|r| r.sojourns.quantiles[i]));
        }
        add_laws(&mut t, &self.recorded.queue_series, &self.queue_laws);
        t
    }

    fn flow_table(&self, flows: &[String]) -> Table {
        let rows = &self.flows;
        let mut t = Table::new("flow_series");
        t.f64("time_s", rows.iter().map(|r| r.time.as_secs()));
        t.text("flow", rows.iter().map(|r| r.flow), flows);
        t.u64("cwnd_bytes", rows.iter().map(|r| r.sample.cwnd));
        t.f64("ssthresh_bytes", rows.iter().map(|r| threshold(r.sample.ssthresh)));
        t.u64("flight_bytes", rows.iter().map(|r| r.sample.flight));
        t.f64("srtt_s", rows.iter().map(|r| if r.sample.srtt.is_zero() { f64::NAN } else { r.sample.srtt.as_secs() }));
        t.f64("rto_s", rows.iter().map(|r| r.sample.rto.as_secs()));
        t.u64("delivered_bytes", rows.iter().map(|r| r.delivered));
        t.f64("bytes_marked", rows.iter().map(|r| if r.sample.counts_marks { r.marked as f64 } else { f64::NAN }));
        t.u64("marks", rows.iter().map(|r| r.signals.marks));
        t.u64("early_drops", rows.iter().map(|r| r.signals.early));
        t.u64("forced_drops", rows.iter().map(|r| r.signals.forced));
        t.u64("tail_drops", rows.iter().map(|r| r.signals.tail));
        add_laws(&mut t, &self.window, &self.flow_laws);
        t
    }
}

/// Adds `columns`, whose `values` are stored row by row.
fn add_laws(table: &mut Table, columns: &[Column], values: &[f64]) {
    for (i, column) in columns.iter().enumerate() {
        table.f64(column.name, values.iter().skip(i).step_by(columns.len()).copied());
    }
}

/// `ssthresh` in bytes; NaN while it is not set.
fn threshold(ssthresh: u64) -> f64 {
    if ssthresh == u64::MAX { f64::NAN } else { ssthresh as f64 }
}

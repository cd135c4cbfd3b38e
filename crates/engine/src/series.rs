//! Time series of queues and windows.

use ecnlab_aqm::{ClassSample, Departures, Queue, Recorded};
use ecnlab_base::Time;
use ecnlab_base::facts::Column;
use ecnlab_tcp::Sample;
use ecnlab_tcp::registry::WindowLaw;
use ecnlab_traffic::Side;

use crate::flow::Flow;
use crate::hosts::{Hosts, host_of};
use crate::link::Link;
use crate::packet::Packet;
use crate::plan::Plan;
use crate::signals::{FlowSignals, Signals};
use ecnlab_base::Table;

/// The counts in `queue_series`.
const COUNTS: [&str; 5] = ["arrived", "marks", "early_drops", "forced_drops", "tail_drops"];

/// The counts of signals in `flow_series`.
const SIGNALS: [&str; 4] = ["marks", "early_drops", "forced_drops", "tail_drops"];

/// The quantiles in `queue_series`, and their columns.
const QUANTILES: [(&str, f64); 2] = [("sojourn_p50_s", 0.5), ("sojourn_p99_s", 0.99)];

/// Columns of `queue_series`.
#[derive(Default)]
struct QueueRows {
    times: Vec<f64>,
    links: Vec<u32>,
    packets: Vec<u64>,
    bytes: Vec<u64>,
    /// Counts since the start of the run, by the columns of [`COUNTS`].
    counts: [Vec<u64>; COUNTS.len()],
    /// Mean sojourn time of the packets that left within the interval, in seconds; NaN if none left.
    means: Vec<f64>,
    /// Quantiles of [`QUANTILES`] of these times; NaN if the queue keeps none.
    quantiles: [Vec<f64>; QUANTILES.len()],
    /// Values of the laws' columns, row by row.
    laws: Vec<f64>,
}

struct ClassRow {
    time: Time,
    link: u32,
    class: u32,
    sample: ClassSample,
}

/// Columns of `flow_series`.
#[derive(Default)]
struct FlowRows {
    times: Vec<f64>,
    flows: Vec<u32>,
    windows: Vec<u64>,
    thresholds: Vec<f64>,
    flights: Vec<u64>,
    srtts: Vec<f64>,
    rtos: Vec<f64>,
    delivered: Vec<u64>,
    /// Payload that ACKs reported as marked, over all connections.
    marked: Vec<f64>,
    signals: [Vec<u64>; SIGNALS.len()],
    /// Values of the laws' columns, row by row.
    laws: Vec<f64>,
}

/// Samples not yet passed on.
pub struct Series {
    /// Columns added by the laws of queues.
    recorded: Recorded,
    /// Columns that the window laws of senders add to `flow_series`.
    window: Vec<Column>,
    queues: QueueRows,
    classes: Vec<ClassRow>,
    /// Names of classes, concatenated in the order of the links; `None` before the first sample.
    class_names: Option<Vec<String>>,
    flows: FlowRows,
}

impl Series {
    /// Creates empty series for the links and flows of `plan`.
    pub fn of(plan: &Plan) -> Series {
        let laws = plan.flows.iter().map(|flow| &flow.tcp_from.congestion);
        Series {
            recorded: plan.recorded(),
            window: WindowLaw::columns(laws),
            queues: QueueRows::default(),
            classes: Vec::new(),
            class_names: None,
            flows: FlowRows::default(),
        }
    }

    /// Samples every queue and every flow with a connection. Links must have been advanced to `now`.
    pub fn sample(&mut self, now: Time, links: &mut [Link], flows: &[Flow], hosts: &Hosts, signals: &Signals) {
        self.class_names.get_or_insert_with(|| links.iter().flat_map(|link| link.queue().class_names()).collect());
        let mut class = 0;
        for (i, link) in links.iter_mut().enumerate() {
            let departures = link.sample_departures();
            let queue = link.queue();
            self.queues.push(now, i as u32, queue, &departures);
            let columns = self.recorded.queue_series.iter();
            self.queues.laws.extend(columns.map(|column| queue.value(column.name).unwrap_or(f64::NAN)));
            for sample in queue.class_samples(&self.recorded.class_series) {
                self.classes.push(ClassRow { time: now, link: i as u32, class, sample });
                class += 1;
            }
        }
        for (i, flow) in flows.iter().enumerate() {
            // The series of a flow follows its newest connection.
            let sample = if let Some(&connection) = flow.live.last() {
                let endpoint = &hosts.host(host_of(connection, Side::From)).endpoint;
                let columns = self.window.iter();
                self.flows.laws.extend(columns.map(|column| endpoint.law_value(column.name).unwrap_or(f64::NAN)));
                endpoint.sample()
            } else if let Some(sample) = flow.live_quic.last().and_then(|&connection| hosts.quics.sample(connection)) {
                self.flows.laws.extend(self.window.iter().map(|_| f64::NAN));
                sample
            } else {
                continue;
            };
            self.flows.push(now, i as u32, &sample, flow.progress(hosts), signals.of(i));
        }
    }

    /// Returns and removes the tables that have reached `most` rows.
    pub fn take_full(&mut self, most: usize, links: &[String], flows: &[String]) -> Vec<Table> {
        let mut full = Vec::new();
        if self.queues.times.len() >= most {
            full.push(self.queue_table(links));
        }
        if self.classes.len() >= most {
            full.extend(self.class_table(links));
            self.classes.clear();
        }
        if self.flows.times.len() >= most {
            full.push(self.flow_table(flows));
        }
        full
    }

    /// Returns and removes the tables `queue_series` and `flow_series`, and `class_series` if a queue has classes.
    pub fn tables(&mut self, links: &[String], flows: &[String]) -> Vec<Table> {
        let mut tables = self.queue_tables(links);
        tables.push(self.flow_table(flows));
        tables
    }

    /// Returns and removes only the tables of queues.
    pub fn queue_tables(&mut self, links: &[String]) -> Vec<Table> {
        std::iter::once(self.queue_table(links)).chain(self.class_table(links)).collect()
    }

    /// Returns the table `class_series`; `None` if no queue has classes.
    fn class_table(&self, links: &[String]) -> Option<Table> {
        let rows = &self.classes;
        let names = self.class_names.as_ref().filter(|names| !names.is_empty())?;
        let mut t = Table::new("class_series");
        t.f64("time_s", rows.iter().map(|r| r.time.as_secs()));
        t.text("link", rows.iter().map(|r| r.link), links);
        t.text("class", rows.iter().map(|r| r.class), names);
        t.u64("packets", rows.iter().map(|r| r.sample.held.packets));
        t.u64("bytes", rows.iter().map(|r| r.sample.held.bytes));
        for (i, column) in self.recorded.class_series.iter().enumerate() {
            t.f64(column.name, rows.iter().map(|r| r.sample.values[i]));
        }
        Some(t)
    }

    fn queue_table(&mut self, links: &[String]) -> Table {
        std::mem::take(&mut self.queues).table(links, &self.recorded.queue_series)
    }

    fn flow_table(&mut self, flows: &[String]) -> Table {
        std::mem::take(&mut self.flows).table(flows, &self.window)
    }
}

impl QueueRows {
    fn push(&mut self, now: Time, link: u32, queue: &Queue<Packet>, departures: &Departures) {
        self.times.push(now.as_secs());
        self.links.push(link);
        self.packets.push(queue.packets() as u64);
        self.bytes.push(queue.bytes());
        let all = queue.counters().total().all();
        let counts = [all.arrived, all.marks, all.early, all.forced, all.tail];
        self.counts.iter_mut().zip(counts).for_each(|(column, count)| column.push(count.packets));
        self.means.push(departures.mean_s());
        self.quantiles.iter_mut().zip(QUANTILES).for_each(|(column, (_, q))| column.push(departures.quantile_s(q)));
    }

    /// The table `queue_series`.
    fn table(self, links: &[String], laws: &[Column]) -> Table {
        let mut t = Table::new("queue_series");
        t.f64("time_s", self.times);
        t.text("link", self.links, links);
        t.u64("packets", self.packets);
        t.u64("bytes", self.bytes);
        COUNTS.into_iter().zip(self.counts).for_each(|(name, counts)| _ = t.u64(name, counts));
        t.f64("sojourn_mean_s", self.means);
        QUANTILES.into_iter().zip(self.quantiles).for_each(|((name, _), values)| _ = t.f64(name, values));
        add_laws(&mut t, laws, &self.laws);
        t
    }
}

impl FlowRows {
    fn push(&mut self, now: Time, flow: u32, sample: &Sample, (delivered, marked): (u64, u64), signals: FlowSignals) {
        self.times.push(now.as_secs());
        self.flows.push(flow);
        self.windows.push(sample.cwnd);
        self.thresholds.push(threshold(sample.ssthresh));
        self.flights.push(sample.flight);
        self.srtts.push(if sample.srtt.is_zero() { f64::NAN } else { sample.srtt.as_secs() });
        self.rtos.push(if sample.rto.is_zero() { f64::NAN } else { sample.rto.as_secs() });
        self.delivered.push(delivered);
        self.marked.push(if sample.counts_marks { marked as f64 } else { f64::NAN });
        let signals = [signals.marks, signals.early, signals.forced, signals.tail];
        self.signals.iter_mut().zip(signals).for_each(|(column, count)| column.push(count));
    }

    /// The table `flow_series`.
    fn table(self, flows: &[String], laws: &[Column]) -> Table {
        let mut t = Table::new("flow_series");
        t.f64("time_s", self.times);
        t.text("flow", self.flows, flows);
        t.u64("cwnd_bytes", self.windows);
        t.f64("ssthresh_bytes", self.thresholds);
        t.u64("flight_bytes", self.flights);
        t.f64("srtt_s", self.srtts);
        t.f64("rto_s", self.rtos);
        t.u64("delivered_bytes", self.delivered);
        t.f64("bytes_marked", self.marked);
        SIGNALS.into_iter().zip(self.signals).for_each(|(name, counts)| _ = t.u64(name, counts));
        add_laws(&mut t, laws, &self.laws);
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

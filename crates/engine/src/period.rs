//! Differences of counters between two times: after the warm-up, or over the whole run.

use ecnlab_aqm as aqm;
use ecnlab_aqm::{ClassReading, Kind, Stats};
use ecnlab_base::{Dur, Time};
use ecnlab_tcp::Counters as TcpCounters;

use crate::boxes::BoxCounters;
use crate::flow::Flow;
use crate::hosts::Hosts;
use crate::link::{self, Link};
use crate::plan::{FlowPlan, Plan};
use crate::sojourns;
use crate::totals::Totals;
use crate::tunnel::TunnelCounters;
use ecnlab_base::Table;

/// Counters at the end of the warm-up.
#[derive(Clone)]
pub struct Snapshot {
    at: Time,
    /// `None` for a flow whose counters are all zero.
    flows: Vec<Option<Box<Totals>>>,
    /// `None` for a link that no packet has reached, if no time has passed: its counters and statistics are all zero.
    links: Vec<Option<Box<LinkReading>>>,
}

#[derive(Clone)]
struct LinkReading {
    wire: link::Counters,
    queue: aqm::Counters,
    /// Statistics since the previous reading.
    stats: Stats,
    /// Readings in the order of the queue's classes.
    classes: Vec<ClassReading>,
    /// Packets in the queue and on the wire.
    held: u64,
    boxes: Vec<BoxCounters>,
    tunnel: Option<TunnelCounters>,
}

impl LinkReading {
    /// Reads the counters at `now`, and reads and resets the statistics of the queue.
    fn cut(now: Time, link: &mut Link) -> LinkReading {
        let wire = link.counters();
        let stats = link.cut_stats(now);
        LinkReading {
            wire,
            classes: link.cut_classes(&stats),
            stats,
            queue: link.queue().counters().clone(),
            held: link.queue().packets() as u64 + link.on_wire(),
            boxes: link.box_counters(),
            tunnel: link.tunnel_counters(),
        }
    }

    /// Adds the statistics of `earlier`, which gets those without the sum.
    fn add_stats(&mut self, earlier: &mut LinkReading) {
        let add = |late: &mut Stats, early: &mut Stats| *early = std::mem::replace(late, early.plus(late));
        add(&mut self.stats, &mut earlier.stats);
        let classes = self.classes.iter_mut().zip(&mut earlier.classes);
        classes.for_each(|(late, early)| add(&mut late.stats, &mut early.stats));
    }

    /// Subtracts the counters of `earlier`, and takes its statistics.
    fn subtract(&mut self, earlier: LinkReading) {
        self.wire = self.wire.since(&earlier.wire);
        self.queue = self.queue.since(&earlier.queue);
        self.stats = earlier.stats;
        for (late, early) in self.classes.iter_mut().zip(earlier.classes) {
            late.counts = late.counts - early.counts;
            late.stats = early.stats;
        }
        self.boxes.iter_mut().zip(&earlier.boxes).for_each(|(late, early)| *late = late.since(early));
        self.tunnel = earlier.tunnel.zip(self.tunnel).map(|(early, late)| late.since(&early));
    }
}

impl Snapshot {
    /// Takes a snapshot at `now`, up to which the links have been advanced. Queue statistics are reset.
    pub fn take(now: Time, links: &mut [Link], flows: &[Flow], hosts: &Hosts) -> Snapshot {
        let reading = |link: &mut Link| {
            let reading = LinkReading::cut(now, link);
            let used = now > Time::ZERO || reading.queue.total().all().arrived.packets > 0;
            used.then(|| Box::new(reading))
        };
        let totals = |flow: &Flow| Some(flow.totals(hosts)).filter(|totals| *totals != Totals::default()).map(Box::new);
        Snapshot { at: now, flows: flows.iter().map(totals).collect(), links: links.iter_mut().map(reading).collect() }
    }
}

/// Returns whether a table is wanted, by its name.
pub type Wanted<'w> = &'w dyn Fn(&str) -> bool;

/// Counters and statistics of a part of the run.
pub struct Period {
    from: Time,
    to: Time,
    span: Dur,
    flows: Vec<Totals>,
    links: Vec<LinkReading>,
}

impl Period {
    /// Returns the counters from the start to `now`, up to which the links have been advanced. Statistics are those since
    /// the last snapshot, and are reset.
    pub fn until(now: Time, links: &mut [Link], flows: &[Flow], hosts: &Hosts) -> Period {
        Period {
            from: Time::ZERO,
            to: now,
            span: now.since(Time::ZERO),
            flows: flows.iter().map(|f| f.totals(hosts)).collect(),
            links: links.iter_mut().map(|link| LinkReading::cut(now, link)).collect(),
        }
    }

    /// Returns a snapshot of the period's end, for a run that ends within the warm-up.
    pub fn end(&self) -> Snapshot {
        Snapshot {
            at: self.to,
            flows: self.flows.iter().map(|totals| Some(Box::new(totals.clone()))).collect(),
            links: self.links.iter().map(|link| Some(Box::new(link.clone()))).collect(),
        }
    }

    /// Adds the statistics of the warm-up, so that they are of the whole run. `warm` gets those after it.
    pub fn add_stats(&mut self, warm: &mut Snapshot) {
        let pairs = self.links.iter_mut().zip(&mut warm.links);
        pairs.for_each(|(late, early)| early.iter_mut().for_each(|early| late.add_stats(early)));
    }

    /// Removes the warm-up from a period of the whole run. [`Period::add_stats`] has been called with `warm`.
    pub fn measured(mut self, warm: Snapshot) -> Period {
        for (late, early) in self.flows.iter_mut().zip(warm.flows) {
            early.iter().for_each(|early| *late = late.since(early));
        }
        for (late, early) in self.links.iter_mut().zip(warm.links) {
            early.into_iter().for_each(|early| late.subtract(*early));
        }
        Period { from: warm.at, span: self.to.since(warm.at), ..self }
    }

    /// Returns the tables `flows`, `queues` and `links`, and `classes`, `sojourns`, `boxes` and `tunnels` if there are
    /// any, with `suffix` appended to their names; only the `wanted` ones.
    pub fn tables(&self, plan: &Plan, flows: &[Flow], suffix: &str, wanted: Wanted<'_>) -> Vec<Table> {
        let mut tables = Vec::new();
        tables.extend(wanted(&format!("flows{suffix}")).then(|| self.flows(plan, flows, suffix)));
        tables.extend(self.link_tables(plan, suffix, wanted));
        tables
    }

    /// Returns these tables without `flows`.
    pub fn link_tables(&self, plan: &Plan, suffix: &str, wanted: Wanted<'_>) -> Vec<Table> {
        let by_group = || sojourns::by_group(plan, self.links.iter().map(|link| &link.stats), suffix);
        let tables: [(&str, &dyn Fn() -> Option<Table>); 6] = [
            ("queues", &|| Some(self.queues(plan, suffix))),
            ("links", &|| Some(self.links(plan, suffix))),
            ("classes", &|| self.classes(plan, suffix)),
            ("sojourns", &by_group),
            ("boxes", &|| self.boxes(plan, suffix)),
            ("tunnels", &|| self.tunnels(plan, suffix)),
        ];
        tables
            .into_iter()
            .filter(|(name, _)| wanted(&format!("{name}{suffix}")))
            .filter_map(|(_, make)| make())
            .collect()
    }

    /// Returns the table `sojourn_bins`, if any queue keeps quantiles.
    pub fn sojourn_bins(&self, plan: &Plan) -> Option<Table> {
        sojourns::bins(plan, self.links.iter().map(|link| (&link.stats, &link.classes[..])))
    }

    fn flows(&self, plan: &Plan, flows: &[Flow], suffix: &str) -> Table {
        let names: Vec<String> = plan.flows.iter().map(|f| f.name.clone()).collect();
        let mut t = Table::new(format!("flows{suffix}"));
        t.u32("flow", 0..names.len() as u32);
        t.text("name", 0..names.len() as u32, &names);
        t.text("group", plan.flows.iter().map(|f| f.group as u32), &plan.groups);
        add_ends(&mut t, plan);
        t.f64("start_s", plan.flows.iter().map(|f| f.start.as_secs()));
        t.f64("finish_s", flows.iter().map(|f| f.finished.map_or(f64::NAN, Time::as_secs)));
        t.bool("ecn", self.flows.iter().map(|f| f.ecn));
        t.u64("connections", self.flows.iter().map(|f| f.connections));
        t.u64("connections_established", self.flows.iter().map(|f| f.connections_established));
        t.u64("ecn_connections", self.flows.iter().map(|f| f.ecn_connections));
        t.u64("ecn_fallbacks", self.flows.iter().map(|f| f.ecn_fallbacks));
        t.u64("bytes_delivered", self.flows.iter().map(|f| f.delivered));
        t.f64("goodput_bps", self.flows.iter().map(|f| f.delivered as f64 * 8.0 / self.span.as_secs()));
        self.tcp_columns(&mut t);
        t.u64("exchanges", self.flows.iter().map(|f| f.exchanges));
        t
    }

    /// Adds counters of the data's sender, and of its receiver in columns named `received`.
    fn tcp_columns(&self, t: &mut Table) {
        let count = |side: usize, f: fn(&TcpCounters) -> u64| self.flows.iter().map(move |x| f(&x.tcp[side]));
        t.u64("segments_sent", count(0, |c| c.segments_sent));
        t.u64("data_segments_sent", count(0, |c| c.data_segments_sent));
        t.u64("bytes_sent", count(0, |c| c.bytes_sent));
        t.u64("retransmits", count(0, TcpCounters::retransmits));
        t.u64("retransmits_fast", count(0, |c| c.retransmits_fast));
        t.u64("retransmits_timeout", count(0, |c| c.retransmits_timeout));
        t.u64("retransmits_recovery", count(0, |c| c.retransmits_recovery));
        t.u64("timeouts", count(0, |c| c.timeouts));
        t.u64("fast_recoveries", count(0, |c| c.fast_recoveries));
        t.u64("ecn_reductions", count(0, |c| c.ecn_reductions));
        t.u64("quench_reductions", count(0, |c| c.quench_reductions));
        t.u64("quenches_received", count(0, |c| c.quenches_received));
        t.u64("ce_received", count(1, |c| c.ce_received));
        t.u64("ece_received", count(0, |c| c.ece_received));
        t.u64("bytes_marked", count(0, |c| c.bytes_marked));
        t.u64("cwr_sent", count(0, |c| c.cwr_sent));
        t.u64("duplicate_bytes_received", count(1, |c| c.duplicate_bytes));
        let rtt = |f: fn(&TcpCounters) -> Dur| self.flows.iter().map(move |x| seconds(x, f));
        t.f64("rtt_mean_s", self.flows.iter().map(|x| x.tcp[0].rtt_sum.as_secs() / x.tcp[0].rtt_samples as f64));
        t.f64("rtt_min_s", rtt(|c| c.rtt_min));
        t.f64("rtt_max_s", rtt(|c| c.rtt_max));
    }

    /// Returns a row per link and group, preceded by one for all groups.
    fn queues(&self, plan: &Plan, suffix: &str) -> Table {
        let link_names: Vec<String> = plan.links.iter().map(|l| l.name.clone()).collect();
        let group_names: Vec<String> = std::iter::once("all".to_owned()).chain(plan.groups.iter().cloned()).collect();
        let totals: Vec<aqm::Group> = self.links.iter().map(|link| link.queue.total()).collect();
        let counts = |i: usize| std::iter::once(&totals[i]).chain(self.links[i].queue.groups());
        let rows =
            || (0..self.links.len()).flat_map(|i| (0..).zip(counts(i)).map(move |(g, counts)| (i as u32, g, counts)));
        let mut t = Table::new(format!("queues{suffix}"));
        t.text("link", rows().map(|r| r.0), &link_names);
        t.text("group", rows().map(|r| r.1), &group_names);
        let all = |f: fn(&Kind) -> u64| rows().map(move |r| f(&r.2.all()));
        let ect = |f: fn(&Kind) -> u64| rows().map(move |r| f(&r.2.ect));
        t.u64("arrived", all(|k| k.arrived.packets));
        t.u64("arrived_ect", ect(|k| k.arrived.packets));
        t.u64("ce_arrived", ect(|k| k.arrived_ce));
        t.u64("arrived_bytes", all(|k| k.arrived.bytes));
        t.u64("departed", all(|k| k.departed.packets));
        t.u64("departed_bytes", all(|k| k.departed.bytes));
        t.u64("marks", all(|k| k.marks.packets));
        t.u64("marks_on_ce", all(|k| k.on_ce.packets));
        t.u64("dropped", all(|k| k.dropped().packets));
        t.u64("early_drops", all(|k| k.early.packets));
        t.u64("early_drops_ect", ect(|k| k.early.packets));
        t.u64("forced_drops", all(|k| k.forced.packets));
        t.u64("forced_drops_ect", ect(|k| k.forced.packets));
        t.u64("tail_drops", all(|k| k.tail.packets));
        t.u64("tail_drops_ect", ect(|k| k.tail.packets));
        t.u64("quenches", all(|k| k.quenches));
        t
    }

    fn links(&self, plan: &Plan, suffix: &str) -> Table {
        let names: Vec<String> = plan.links.iter().map(|l| l.name.clone()).collect();
        let mut t = Table::new(format!("links{suffix}"));
        t.text("link", 0..names.len() as u32, &names);
        t.text("from", plan.links.iter().map(|l| l.from as u32), &plan.nodes);
        t.text("to", plan.links.iter().map(|l| l.to as u32), &plan.nodes);
        // The rate available to data: the shaper's if there is one.
        let rates: Vec<f64> = plan.links.iter().map(|l| l.mean_rate_bps(self.from, self.to)).collect();
        t.f64("rate_bps", rates.iter().copied());
        t.f64("delay_s", plan.links.iter().map(|l| l.delay.as_secs()));
        t.u64("entered", self.links.iter().map(|l| l.queue.total().all().arrived.packets));
        t.u64("delivered", self.links.iter().map(|l| l.wire.delivered));
        t.u64("delivered_bytes", self.links.iter().map(|l| l.wire.delivered_bytes));
        t.u64("lost", self.links.iter().map(|l| l.wire.lost));
        t.u64("held", self.links.iter().map(|l| l.held));
        let sent = self.links.iter().map(|l| l.wire.sent_bytes as f64 * 8.0);
        t.f64("utilisation", sent.zip(rates).map(|(bits, rate)| bits / (rate * self.span.as_secs())));
        let stat = |f: fn(&Stats) -> f64| self.links.iter().map(move |l| f(&l.stats));
        t.f64("queue_mean_packets", stat(Stats::mean_packets));
        t.f64("queue_mean_bytes", stat(Stats::mean_bytes));
        t.f64("queue_var_packets", stat(Stats::variance_packets));
        for column in plan.recorded().links {
            t.f64(column.name, self.links.iter().map(|l| l.stats.mean(column.name)));
        }
        t.f64("sojourn_mean_s", stat(Stats::sojourn_mean_s));
        t.f64("sojourn_max_s", stat(|s| s.sojourn_max().as_secs()));
        sojourns::add_quantiles(&mut t, self.links.iter().map(|link| &link.stats));
        t
    }

    /// Returns a row per class, link by link; `None` if no queue has classes.
    fn classes(&self, plan: &Plan, suffix: &str) -> Option<Table> {
        let links = self.links.iter().enumerate();
        let rows: Vec<(u32, &ClassReading)> =
            links.flat_map(|(i, link)| link.classes.iter().map(move |class| (i as u32, class))).collect();
        if rows.is_empty() {
            return None;
        }
        let links: Vec<String> = plan.links.iter().map(|l| l.name.clone()).collect();
        let names: Vec<String> = rows.iter().map(|(_, class)| class.name.clone()).collect();
        let mut t = Table::new(format!("classes{suffix}"));
        t.text("link", rows.iter().map(|r| r.0), &links);
        t.text("class", 0..rows.len() as u32, &names);
        let all = |f: fn(&Kind) -> u64| rows.iter().map(move |r| f(&r.1.counts.all()));
        let ect = |f: fn(&Kind) -> u64| rows.iter().map(move |r| f(&r.1.counts.ect));
        t.u64("arrived", all(|k| k.arrived.packets));
        t.u64("arrived_ect", ect(|k| k.arrived.packets));
        t.u64("ce_arrived", ect(|k| k.arrived_ce));
        t.u64("departed", all(|k| k.departed.packets));
        t.u64("departed_bytes", all(|k| k.departed.bytes));
        t.u64("marks", all(|k| k.marks.packets));
        t.u64("marks_on_ce", all(|k| k.on_ce.packets));
        t.u64("marks_threshold", all(|k| k.threshold.packets));
        t.u64("marks_coupled", all(|k| k.coupled.packets));
        t.u64("dropped", all(|k| k.dropped().packets));
        t.u64("early_drops", all(|k| k.early.packets));
        t.u64("forced_drops", all(|k| k.forced.packets));
        t.u64("tail_drops", all(|k| k.tail.packets));
        let stat = |f: fn(&Stats) -> f64| rows.iter().map(move |r| f(&r.1.stats));
        t.f64("queue_mean_packets", stat(Stats::mean_packets));
        t.f64("queue_mean_bytes", stat(Stats::mean_bytes));
        for column in plan.recorded().classes {
            t.f64(column.name, rows.iter().map(|r| r.1.stats.mean(column.name)));
        }
        t.f64("sojourn_mean_s", stat(Stats::sojourn_mean_s));
        sojourns::add_quantiles(&mut t, rows.iter().map(|r| &r.1.stats));
        t.f64("sojourn_max_s", stat(|s| s.sojourn_max().as_secs()));
        Some(t)
    }

    /// Returns a row per middlebox, link by link; `None` if there is none.
    fn boxes(&self, plan: &Plan, suffix: &str) -> Option<Table> {
        let links = self.links.iter().enumerate();
        let rows: Vec<(u32, &BoxCounters)> =
            links.flat_map(|(i, link)| link.boxes.iter().map(move |counters| (i as u32, counters))).collect();
        if rows.is_empty() {
            return None;
        }
        let links: Vec<String> = plan.links.iter().map(|l| l.name.clone()).collect();
        let names: Vec<String> = plan.links.iter().flat_map(|l| l.boxes.iter().map(|b| b.name.clone())).collect();
        let mut t = Table::new(format!("boxes{suffix}"));
        t.text("link", rows.iter().map(|r| r.0), &links);
        t.text("box", 0..rows.len() as u32, &names);
        let count = |f: fn(&BoxCounters) -> u64| rows.iter().map(move |r| f(r.1));
        t.u64("packets", count(|b| b.packets));
        t.u64("concerned", count(|b| b.concerned));
        t.u64("connections", count(|b| b.connections));
        t.u64("connections_concerned", count(|b| b.connections_concerned));
        t.u64("rewritten", count(|b| b.rewritten));
        t.u64("ce_erased", count(|b| b.ce_erased));
        t.u64("ce_set", count(|b| b.ce_set));
        t.u64("stripped", count(|b| b.stripped));
        t.u64("ece_cleared", count(|b| b.ece_cleared));
        t.u64("cwr_cleared", count(|b| b.cwr_cleared));
        t.u64("dropped", count(|b| b.dropped));
        t.u64("resets", count(|b| b.resets));
        Some(t)
    }

    /// Returns a row per link that belongs to a tunnel; `None` if there is none.
    fn tunnels(&self, plan: &Plan, suffix: &str) -> Option<Table> {
        let links = self.links.iter().enumerate();
        let rows: Vec<(u32, TunnelCounters)> =
            links.filter_map(|(i, link)| link.tunnel.map(|counters| (i as u32, counters))).collect();
        if rows.is_empty() {
            return None;
        }
        let links: Vec<String> = plan.links.iter().map(|l| l.name.clone()).collect();
        let names: Vec<String> = plan.links.iter().filter_map(|l| l.tunnel.as_ref()).map(|t| t.name.clone()).collect();
        let mut t = Table::new(format!("tunnels{suffix}"));
        t.text("link", rows.iter().map(|r| r.0), &links);
        t.text("tunnel", 0..rows.len() as u32, &names);
        let count = |f: fn(&TunnelCounters) -> u64| rows.iter().map(move |r| f(&r.1));
        t.u64("encapsulated", count(|c| c.encapsulated));
        t.u64("decapsulated", count(|c| c.decapsulated));
        t.u64("ce_propagated", count(|c| c.ce_propagated));
        t.u64("ect1_propagated", count(|c| c.ect1_propagated));
        t.u64("ce_discarded", count(|c| c.ce_discarded));
        t.u64("dropped", count(|c| c.dropped));
        t.u64("dangerous", count(|c| c.dangerous));
        t.u64("possibly_dangerous", count(|c| c.possibly_dangerous));
        Some(t)
    }
}

/// Adds the columns `from` and `to`: for a pool its first and its last node.
fn add_ends(t: &mut Table, plan: &Plan) {
    add_end(t, "from", plan, |flow| &flow.from);
    add_end(t, "to", plan, |flow| &flow.to);
}

fn add_end(t: &mut Table, column: &'static str, plan: &Plan, nodes: fn(&FlowPlan) -> &[usize]) {
    let mut names = plan.nodes.clone();
    let mut code = |nodes: &[usize]| match nodes {
        [first, .., last] => {
            names.push(format!("{}..{}", plan.nodes[*first], plan.nodes[*last]));
            names.len() as u32 - 1
        }
        _ => nodes.first().map_or(0, |&node| node as u32),
    };
    let codes: Vec<u32> = plan.flows.iter().map(|flow| code(nodes(flow))).collect();
    t.text(column, codes, &names);
}

fn seconds(totals: &Totals, f: fn(&TcpCounters) -> Dur) -> f64 {
    let sender = &totals.tcp[0];
    if sender.rtt_samples == 0 { f64::NAN } else { f(sender).as_secs() }
}

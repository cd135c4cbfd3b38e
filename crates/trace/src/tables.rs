//! The tables of an analysed capture.

use std::borrow::Cow;
use std::net::IpAddr;

use ecnlab_base::Table;

use crate::capture::Analysis;
use crate::connection::{Connection, End};
use crate::counted::Marks;
use crate::datagrams::Flow;
use crate::packet::endpoint;
use crate::rules::{RULES, Standard, Violation};
use crate::stats::Summary;

mod series;
mod verdicts;

pub use series::series;
pub use verdicts::verdicts;

use verdicts::of_direction;

impl Analysis {
    /// The connections from `first` to before `end`.
    pub fn numbered(&self, first: usize, end: usize) -> impl Iterator<Item = Numbered<'_>> {
        let timed = |number| !self.untimed.contains(&number);
        (first..end.min(self.tracker.len())).map(move |number| (number, self.tracker.connection(number), timed(number)))
    }

    /// Time of the first packet, in nanoseconds since 1970.
    pub fn start(&self) -> u64 {
        self.totals.times.map_or(0, |times| times.0)
    }
}

/// A connection: its number, the connection, and whether all its packets have times.
pub type Numbered<'a> = (usize, Cow<'a, Connection>, bool);

/// Returns `value`, or NaN if the connection has packets without times.
fn if_timed(timed: bool, value: f64) -> f64 {
    if timed { value } else { f64::NAN }
}

/// Adds a column of names.
fn chosen<'a>(t: &mut Table, name: &'static str, values: impl Iterator<Item = &'a str>) {
    t.texts(name, values.map(str::to_owned));
}

/// Returns a row for each connection; `first` is the time of the first packet, in nanoseconds since 1970.
pub fn connections(all: &[Numbered<'_>], first: u64) -> Table {
    let span = |c: &Connection| {
        let times = c.ends.iter().filter_map(|end| end.times);
        times.fold((u64::MAX, 0), |span, t| (span.0.min(t.0), span.1.max(t.1)))
    };
    let each = || all.iter().map(|(_, connection, _)| &**connection);
    let timed = || all.iter().map(|(_, connection, timed)| (&**connection, *timed));
    let seconds = |ns: u64| ns as f64 / 1e9;
    let mut t = Table::new("connections");
    t.u32("connection", all.iter().map(|(number, _, _)| *number as u32));
    t.texts("opener", each().map(|c| endpoint(c.key.endpoints()[c.opener])));
    t.texts("responder", each().map(|c| endpoint(c.key.endpoints()[1 - c.opener])));
    t.f64("start_s", timed().map(|(c, timed)| if_timed(timed, seconds(span(c).0.saturating_sub(first)))));
    t.f64("duration_s", timed().map(|(c, timed)| if_timed(timed, seconds(span(c).1.saturating_sub(span(c).0)))));
    t.u64("first_packet", each().map(|c| c.packets.0));
    t.u64("last_packet", each().map(|c| c.packets.1));
    t.u64("packets", each().map(|c| c.ends.iter().map(|end| end.counts.packets).sum()));
    t.bool("syn", each().map(|c| c.has_syn));
    t.bool("syn_ack", each().map(|c| c.has_syn_ack));
    t.bool("closed", each().map(|c| c.is_closed(0) && c.is_closed(1)));
    chosen(&mut t, "ecn", each().map(|c| c.negotiation.name()));
    t.bool("both_directions", each().map(|c| c.ends.iter().all(|end| end.counts.packets > 0)));
    t.u64("violations", each().map(|c| c.ends.iter().map(broken).sum()));
    t
}

fn broken(end: &End) -> u64 {
    RULES.iter().map(|rule| u64::from(end.violations.count(*rule))).sum()
}

/// Returns a row for each flow of UDP; `first` is as in [`connections`].
pub fn datagrams(found: &Analysis, first: u64) -> Table {
    let flows = found.totals.datagrams.flows();
    let count = |f: fn(&Flow) -> u64| flows.iter().map(f);
    let known = |f: fn(&Flow) -> Option<f64>| flows.iter().map(move |flow| f(flow).unwrap_or(f64::NAN));
    let mut t = Table::new("datagrams");
    t.texts("from", flows.iter().map(|flow| endpoint(flow.ends[0])));
    t.texts("to", flows.iter().map(|flow| endpoint(flow.ends[1])));
    t.u64("packets", count(|flow| flow.packets));
    t.u64("bytes", count(|flow| flow.bytes));
    t.f64("start_s", flows.iter().map(|flow| flow.times.0.saturating_sub(first) as f64 / 1e9));
    t.f64("duration_s", flows.iter().map(|flow| flow.times.1.saturating_sub(flow.times.0) as f64 / 1e9));
    chosen(&mut t, "numbering", flows.iter().map(Flow::numbering));
    t.f64("lost", known(|flow| flow.lost().map(|(lost, _)| lost as f64)));
    t.f64("loss_share", known(|flow| flow.lost().map(|(lost, expected)| lost as f64 / expected as f64)));
    t.f64("jitter_s", known(Flow::jitter));
    t.u64("not_ect", count(|flow| flow.codepoints[0]));
    t.u64("ect1", count(|flow| flow.codepoints[1]));
    t.u64("ect0", count(|flow| flow.codepoints[2]));
    t.u64("ce", count(|flow| flow.codepoints[3]));
    t
}

/// Returns the sums of counts over both directions of connections, by the names of the columns.
pub fn sums<'a>(all: impl Iterator<Item = Numbered<'a>>) -> Vec<(&'static str, u64)> {
    type Count = (&'static str, fn(&End) -> u64);
    const COUNTS: [Count; 13] = [
        ("packets", |e| e.counts.packets),
        ("data_packets", |e| e.counts.data_packets),
        ("bytes", |e| e.counts.bytes),
        ("unique_bytes", |e| e.counts.unique_bytes),
        ("missing_bytes", |e| e.stream.counts.missing_bytes),
        ("retransmits", |e| e.counts.retransmits),
        ("timeouts", |e| e.stream.counts.timeouts),
        ("out_of_order", |e| e.counts.out_of_order),
        ("duplicate_acks", |e| e.counts.duplicate_acks),
        ("ce", |e| e.ecn.counts.codepoints[3]),
        ("ece_sent", |e| e.ecn.counts.ece),
        ("cwr_sent", |e| e.ecn.counts.cwr),
        ("violations", broken),
    ];
    let mut sums = COUNTS.map(|(name, _)| (name, 0));
    for (_, connection, _) in all {
        for end in &connection.ends {
            for (sum, (_, count)) in sums.iter_mut().zip(COUNTS) {
                sum.1 += count(end);
            }
        }
    }
    sums.to_vec()
}

/// A direction: number of its connection, the connection, its sender's index in the key, and whether all packets of
/// the connection have times.
type Direction<'a> = (usize, &'a Connection, usize, bool);

/// Returns two rows for each connection: the data of the opener, and those of the responder.
pub fn directions(all: &[Numbered<'_>]) -> Table {
    let each = all.iter().map(|(number, connection, timed)| (*number, &**connection, *timed));
    let rows: Vec<Direction<'_>> =
        each.flat_map(|(i, c, timed)| [(i, c, c.opener, timed), (i, c, 1 - c.opener, timed)]).collect();
    let mut t = Table::new("directions");
    t.u32("connection", rows.iter().map(|r| r.0 as u32));
    t.texts("from", rows.iter().map(|r| endpoint(r.1.key.endpoints()[r.2])));
    t.texts("to", rows.iter().map(|r| endpoint(r.1.key.endpoints()[1 - r.2])));
    t.bool("from_opener", rows.iter().map(|r| r.2 == r.1.opener));
    data_columns(&mut t, &rows);
    retransmission_columns(&mut t, &rows);
    window_columns(&mut t, &rows);
    rtt_columns(&mut t, &rows);
    ecn_columns(&mut t, &rows);
    t
}

fn end<'a>(row: &Direction<'a>) -> &'a End {
    &row.1.ends[row.2]
}

fn peer<'a>(row: &Direction<'a>) -> &'a End {
    &row.1.ends[1 - row.2]
}

fn data_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let count = |f: fn(&End) -> u64| rows.iter().map(move |r| f(end(r)));
    t.u64("packets", count(|e| e.counts.packets));
    t.u64("data_packets", count(|e| e.counts.data_packets));
    t.u64("bytes", count(|e| e.counts.bytes));
    t.u64("unique_bytes", count(|e| e.counts.unique_bytes));
    t.u64("in_order_bytes", count(End::in_order_bytes));
    t.u64("pure_acks", count(|e| e.counts.pure_acks));
    t.u64("syn", count(|e| e.counts.syn));
    t.u64("fin", count(|e| e.counts.fin));
    t.u64("rst", count(|e| e.counts.rst));
    t.u64("dropped", count(|e| e.counts.dropped));
    t.u64("missing_bytes", count(|e| e.stream.counts.missing_bytes));
    // As in tcptrace: over the life of the connection, not of the direction.
    let per_second = |r: &Direction<'_>, bytes: u64| {
        let times = r.1.ends.iter().filter_map(|end| end.times);
        let (first, last) = times.fold((u64::MAX, 0), |span, t| (span.0.min(t.0), span.1.max(t.1)));
        if_timed(r.3, bytes as f64 * 8e9 / last.saturating_sub(first) as f64)
    };
    t.f64("throughput_bps", rows.iter().map(|r| finite(per_second(r, end(r).counts.bytes))));
    t.f64("goodput_bps", rows.iter().map(|r| finite(per_second(r, end(r).counts.unique_bytes))));
}

/// Replaces the infinity of a division by zero by NaN.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

fn retransmission_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let count = |f: fn(&End) -> u64| rows.iter().map(move |r| f(end(r)));
    t.u64("retransmits", count(|e| e.counts.retransmits));
    t.u64("retransmitted_bytes", count(|e| e.counts.retransmitted_bytes));
    t.u64("control_retransmits", count(|e| e.counts.control_retransmits));
    let names =
        ["retransmits_fast", "retransmits_sack", "retransmits_partial", "retransmits_timeout", "retransmits_tail"];
    for (i, name) in names.into_iter().enumerate() {
        t.u64(name, rows.iter().map(move |r| end(r).stream.counts.causes[i]));
    }
    t.u64("retransmits_spurious", count(|e| e.stream.counts.needless.max(e.stream.counts.dsacks)));
    t.u64("retransmits_inferred_timeout", count(|e| e.counts.retransmits.saturating_sub(e.stream.counts.causes[0])));
    t.u64("timeouts", count(|e| e.stream.counts.timeouts));
    t.u64("recoveries", count(|e| e.stream.counts.recoveries));
    t.u64("out_of_order", count(|e| e.counts.out_of_order));
    t.u64("duplicate_acks", rows.iter().map(|r| peer(r).counts.duplicate_acks));
    t.u64("probes", count(|e| e.counts.probes));
    t.u64("keep_alives", count(|e| e.counts.keep_alives));
}

fn window_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let count = |f: fn(&End) -> u64| rows.iter().map(move |r| f(end(r)));
    let windows = |f: fn((u64, u64)) -> u64| {
        rows.iter().map(move |r| end(r).counts.windows.map_or(f64::NAN, |windows| f(windows) as f64))
    };
    t.f64("window_max", windows(|windows| windows.1));
    t.f64("window_min", windows(|windows| windows.0));
    t.u64("window_zero", count(|e| e.counts.window_zero));
    t.u64("outstanding_max", count(|e| e.counts.flight_max));
    let mean = |e: &End| e.counts.flight_sum as f64 / e.counts.data_packets as f64;
    t.f64("outstanding_mean", rows.iter().map(|r| mean(end(r))));
    t.u64("segment_max", count(|e| e.counts.largest.into()));
    let option =
        |f: fn(&ecnlab_wire::TcpOptions) -> f64| rows.iter().map(move |r| end(r).options.as_ref().map_or(f64::NAN, f));
    t.f64("mss", option(|o| o.mss.map_or(f64::NAN, f64::from)));
    t.f64("window_scale", option(|o| o.window_scale.map_or(f64::NAN, f64::from)));
    t.bool("sack_permitted", rows.iter().map(|r| end(r).options.is_some_and(|o| o.sack_permitted)));
    t.bool("timestamps", rows.iter().map(|r| end(r).options.is_some_and(|o| o.timestamps.is_some())));
}

fn rtt_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let known = |value: u64, of: &Summary| if of.count == 0 { f64::NAN } else { value as f64 / 1e9 };
    let rtt = |r: &Direction<'_>| if r.3 { end(r).stream.rtt.summary } else { Summary::default() };
    t.u64("rtt_samples", rows.iter().map(|r| rtt(r).count));
    t.f64("rtt_min_s", rows.iter().map(|r| known(rtt(r).min, &rtt(r))));
    t.f64("rtt_mean_s", rows.iter().map(|r| rtt(r).mean() / 1e9));
    for (name, q) in [("rtt_p50_s", 0.5), ("rtt_p95_s", 0.95), ("rtt_p99_s", 0.99)] {
        t.f64(name, rows.iter().map(move |r| if_timed(r.3, end(r).stream.rtt.quantile(q) / 1e9)));
    }
    t.f64("rtt_max_s", rows.iter().map(|r| known(rtt(r).max, &rtt(r))));
}

fn ecn_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let count = |f: fn(&End) -> u64| rows.iter().map(move |r| f(end(r)));
    let verdicts: Vec<_> = rows.iter().map(|r| of_direction(r.1, r.2)).collect();
    chosen(t, "ecn_verdict", verdicts.iter().map(|verdict| verdict.0));
    chosen(t, "vantage", verdicts.iter().map(|verdict| verdict.1));
    t.texts("ecn_evidence", verdicts.into_iter().map(|verdict| verdict.2));
    t.u64("not_ect", count(|e| e.ecn.counts.codepoints[0]));
    t.u64("ect1", count(|e| e.ecn.counts.codepoints[1]));
    t.u64("ect0", count(|e| e.ecn.counts.codepoints[2]));
    t.u64("ce", count(|e| e.ecn.counts.codepoints[3]));
    t.u64("ece_sent", count(|e| e.ecn.counts.ece));
    t.u64("ece_received", rows.iter().map(|r| peer(r).ecn.counts.ece));
    t.u64("ece_unheard", rows.iter().map(|r| peer(r).counts.ece_unheard));
    t.u64("cwr_sent", count(|e| e.ecn.counts.cwr));
    t.u64("congestion_episodes", count(|e| e.ecn.counts.episodes));
    t.u64("ecn_reductions", count(|e| e.ecn.counts.reductions));
    let checked = |e: &End| match e.ecn.echo_checked() {
        Some(true) => "yes",
        Some(false) => "cannot tell",
        None => "no ECE",
    };
    chosen(t, "ece_checked", rows.iter().map(|r| checked(end(r))));
    let mean = |f: fn(&End) -> Summary| rows.iter().map(move |r| if_timed(r.3, f(end(r)).mean() / 1e9));
    t.f64("ce_to_ece_mean_s", mean(|e| e.ecn.counts.ce_to_ece));
    t.f64("ece_to_cwr_mean_s", mean(|e| e.ecn.counts.ece_to_cwr));
    t.f64("ece_to_reduction_mean_s", mean(|e| e.ecn.counts.ece_to_reduction));
    mark_columns(t, rows);
    t.u64("violations", count(broken));
}

/// Adds the marks reported by counting feedback: NaN without it.
fn mark_columns(t: &mut Table, rows: &[Direction<'_>]) {
    let share = |r: &Direction<'_>| {
        let [_, ect1, ect0, ce] = end(r).ecn.counts.codepoints;
        finite(ce as f64 / (ect0 + ect1 + ce) as f64)
    };
    t.f64("ce_share", rows.iter().map(share));
    let reported = |f: fn(&Marks) -> f64| {
        rows.iter().map(move |r| r.1.marks(r.2).filter(|m| m.packets + m.rounds > 0).map_or(f64::NAN, f))
    };
    t.f64("marks_told", reported(|marks| marks.packets as f64));
    t.f64("marked_bytes_told", reported(|marks| marks.bytes as f64));
    t.f64("marks_per_rtt", reported(|marks| finite(marks.in_rounds as f64 / marks.rounds as f64)));
    t.f64("alpha", reported(|marks| if marks.rounds > 0 { marks.alpha } else { f64::NAN }));
}

/// A violation: the number of its connection, the end that broke the rule, and its time if all packets of the connection
/// have times.
pub struct Broken {
    connection: usize,
    by: (IpAddr, u16),
    violation: Violation,
    timed: bool,
}

/// The listed violations of a connection.
pub fn broken_by(&(number, ref connection, timed): &Numbered<'_>) -> Vec<Broken> {
    let mut found = Vec::new();
    for (end, by) in connection.ends.iter().zip(connection.key.endpoints()) {
        let listed = end.violations.list().iter();
        found.extend(listed.map(|&violation| Broken { connection: number, by, violation, timed }));
    }
    found
}

/// Returns a row for each violation of a rule of `standard`, in the order of packets; `first` is as in [`connections`].
pub fn violations(mut rows: Vec<Broken>, first: u64, standard: Standard) -> Table {
    rows.retain(|row| row.violation.rule.section(standard).is_some());
    rows.sort_by_key(|row| row.violation.packet);
    let rule = || rows.iter().map(|row| row.violation.rule);
    let time = |row: &Broken| if_timed(row.timed, row.violation.time.saturating_sub(first) as f64 / 1e9);
    let mut t = Table::new("violations");
    t.u64("packet", rows.iter().map(|row| row.violation.packet));
    t.f64("time_s", rows.iter().map(time));
    t.u32("connection", rows.iter().map(|row| row.connection as u32));
    t.texts("by", rows.iter().map(|row| endpoint(row.by)));
    chosen(&mut t, "rule", rule().map(|rule| rule.name()));
    chosen(&mut t, "section", rule().map(|rule| rule.section(standard).unwrap_or_default()));
    chosen(&mut t, "says", rule().map(|rule| rule.text()));
    t
}

/// Returns a row for each interface of the file.
pub fn interfaces(found: &Analysis) -> Table {
    let all = &found.interfaces;
    let mut t = Table::new("interfaces");
    t.u32("interface", 0..all.len() as u32);
    t.texts("name", all.iter().map(|i| i.name.clone().unwrap_or_default()));
    t.u32("link_type", all.iter().map(|i| i.link_type.into()));
    t
}

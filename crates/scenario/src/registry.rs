//! Every law there is, of every crate: what a scenario can name.

use ecnlab_base::facts::Column;
use {ecnlab_aqm as aqm, ecnlab_tcp as tcp, ecnlab_traffic as traffic};

/// A law, or a kind of traffic, as documentation and command line list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// What it decides: "queue", "congestion", "slow_start", "recovery", "ecn" or "traffic".
    pub family: &'static str,
    /// Its name in a scenario.
    pub name: &'static str,
    /// Its name in reports.
    pub label: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined; "" if nowhere else.
    pub reference: &'static str,
    /// The key of a scenario that names it.
    pub key: &'static str,
    /// The key by which a table without the name of the law names it, if there is one.
    pub named_by: Option<&'static str>,
    /// Its source file and its page, from the root of the repository; kinds of traffic, which are
    /// no laws, have none.
    pub files: Option<(&'static str, &'static str)>,
    /// The columns that it adds: tables, and what they have of it.
    pub columns: [(&'static [&'static str], &'static [Column]); 2],
    /// More of a queue discipline.
    pub queue: Option<&'static aqm::Facts>,
}

/// No columns.
const NONE: [(&[&str], &[Column]); 2] = [(&[], &[]); 2];

/// Every law: queues, window laws, ends of slow start, recoveries, ECN feedback, then kinds of traffic.
pub fn laws() -> Vec<Law> {
    let queues = aqm::registry::ROWS.iter().map(|row| Law {
        family: "queue",
        name: row.facts.name,
        label: row.facts.label,
        summary: row.facts.summary,
        reference: row.facts.reference,
        key: "queue.NAME.discipline",
        named_by: row.facts.named_by,
        files: Some((row.source, row.page)),
        columns: [(&["links", "classes"], row.facts.means()), (&["queue_series", "class_series"], row.facts.values())],
        queue: Some(row.facts),
    });
    let tcps = tcp::registry::laws().map(|law| Law {
        family: law.family,
        name: law.facts.name,
        label: law.facts.label,
        summary: law.facts.summary,
        reference: law.facts.reference,
        key: match law.family {
            "congestion" => "tcp.NAME.congestion",
            "slow_start" => "tcp.NAME.slow_start",
            "recovery" => "tcp.NAME.recovery",
            _ => "tcp.NAME.ecn",
        },
        named_by: law.facts.named_by,
        files: Some((law.file, law.page)),
        columns: [(&["flow_series"], law.facts.columns), (&[], &[])],
        queue: None,
    });
    let kinds = traffic::ROWS.iter().map(|row| Law {
        family: "traffic",
        name: row.name,
        label: row.name,
        summary: row.about,
        reference: "",
        key: "flow.NAME.traffic",
        named_by: None,
        files: None,
        columns: NONE,
        queue: None,
    });
    queues.chain(tcps).chain(kinds).collect()
}

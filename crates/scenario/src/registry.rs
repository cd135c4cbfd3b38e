//! All laws of all crates that a scenario can name.

use ecnlab_base::facts::Column;
use {ecnlab_aqm as aqm, ecnlab_tcp as tcp, ecnlab_traffic as traffic};

/// A law or a kind of traffic, as listed in the documentation and on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// Family: "queue", "congestion", "slow_start", "recovery", "ecn" or "traffic".
    pub family: &'static str,
    /// Its name in a scenario.
    pub name: &'static str,
    /// Name in reports.
    pub label: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Reference of its definition; "" if it has none.
    pub reference: &'static str,
    /// Key of a scenario that selects it.
    pub key: &'static str,
    /// Key that selects it in a table without the name of the law, if there is one.
    pub named_by: Option<&'static str>,
    /// Its source file and page, from the root of the repository; `None` for kinds of traffic, which are not laws.
    pub files: Option<(&'static str, &'static str)>,
    /// Columns that it adds: the tables, and their additional columns.
    pub columns: [(&'static [&'static str], &'static [Column]); 2],
    /// Further properties of a law of TCP.
    pub tcp: Option<&'static tcp::Facts>,
    /// Further properties of a queue discipline.
    pub queue: Option<&'static aqm::Facts>,
}

/// No columns.
const NONE: [(&[&str], &[Column]); 2] = [(&[], &[]); 2];

/// Returns all laws: queues, window laws, ends of slow start, recoveries, ECN feedback; then kinds of traffic.
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
        tcp: None,
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
        tcp: Some(law.facts),
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
        tcp: None,
        queue: None,
    });
    queues.chain(tcps).chain(kinds).collect()
}

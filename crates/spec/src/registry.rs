//! Every law there is, of every crate: what a scenario can name.

use {ecnlab_aqm as aqm, ecnlab_tcp as tcp, ecnlab_traffic as traffic};

/// A law, or a kind of traffic, as documentation and command line list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// What it decides: "queue", "congestion", "slow_start", "recovery", "ecn" or "traffic".
    pub family: &'static str,
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The key of a scenario that names it.
    pub key: &'static str,
    /// Its source file and its page, from the root of the repository; kinds of traffic, which are
    /// no laws, have none.
    pub files: Option<(&'static str, &'static str)>,
}

/// Every law: queues, window laws, ends of slow start, recoveries, ECN feedback, then kinds of traffic.
pub fn laws() -> Vec<Law> {
    let queues = aqm::registry::ROWS.iter().map(|row| Law {
        family: "queue",
        name: row.name,
        about: row.about,
        key: "queue.NAME.discipline",
        files: Some((row.source, row.page)),
    });
    let tcps = tcp::registry::laws().map(|law| Law {
        family: law.family,
        name: law.name,
        about: law.summary,
        key: match law.family {
            "congestion" => "tcp.NAME.congestion",
            "slow_start" => "tcp.NAME.slow_start",
            "recovery" => "tcp.NAME.recovery",
            _ => "tcp.NAME.ecn",
        },
        files: Some((law.file, law.page)),
    });
    let kinds = traffic::ROWS.iter().map(|row| Law {
        family: "traffic",
        name: row.name,
        about: row.about,
        key: "flow.NAME.traffic",
        files: None,
    });
    queues.chain(tcps).chain(kinds).collect()
}

//! Static properties of a discipline.

use ecnlab_base::facts::Column;

use crate::record::columns::Columns;

/// The facts of a discipline, in its own file and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Name in scenarios: `discipline = "red"`.
    pub name: &'static str,
    /// Name in reports.
    pub label: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Its source: paper, RFC or code.
    pub reference: &'static str,
    /// Columns that it records.
    pub columns: Columns,
    /// Paths of its keys in the summary line of a queue: `*` matches every name of a table.
    pub shown: &'static [&'static str],
    /// Thresholds for which a warning is due if they are below the transmission time of a packet.
    pub acts_above: &'static [ActsAbove],
    /// Key that enables source quenches, if there is one.
    pub quenches: Option<&'static str>,
    /// Key that selects it in `discipline = { KEY = ... }`, if there is one.
    pub named_by: Option<&'static str>,
    /// Defaults for the common keys of queues: keys and their values in TOML.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Whether it is made of inner queues: tables `class.CLASS` with the keys of a queue.
    pub inner: bool,
    /// Whether its signals may be marks. If not, a queue with ECN enabled is rejected.
    pub marks: bool,
    /// Whether it serves flows in turn, so that a flow does not wait for the packets of others.
    pub separates_flows: bool,
    /// Whether the key `ecn` has an effect.
    pub uses_ecn: bool,
    /// Whether [`crate::Aqm::on_dequeue`] decides. It is not called for laws that decide only on arrivals.
    pub judges_departures: bool,
}

impl Facts {
    /// Properties of a discipline without special features, to be given a name.
    pub const PLAIN: Facts = Facts {
        name: "",
        label: "",
        summary: "",
        reference: "",
        columns: Columns::NONE,
        shown: &[],
        acts_above: &[],
        quenches: None,
        named_by: None,
        defaults: &[],
        inner: false,
        marks: true,
        separates_flows: false,
        uses_ecn: true,
        judges_departures: true,
    };
    /// Properties of a discipline made of the tables `class.CLASS`, which have the key `ecn` instead.
    pub const OF_CLASSES: Facts = Facts { inner: true, uses_ecn: false, ..Facts::PLAIN };

    /// Its columns of `queue_series` and `class_series`.
    pub const fn values(&self) -> &'static [Column] {
        self.columns.values
    }
    /// Its columns of `links` and `classes`.
    pub const fn means(&self) -> &'static [Column] {
        self.columns.means
    }
}

/// A delay or a length of the queue above which a law acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActsAbove {
    /// The key.
    pub key: &'static str,
    /// Consequence if the transmission of a single packet takes longer.
    pub consequence: &'static str,
}

impl ActsAbove {
    /// Threshold of the sojourn time or of a length.
    pub const fn late(key: &'static str) -> ActsAbove {
        let consequence = "every packet that waits for another one exceeds it, however short the queue is";
        ActsAbove { key, consequence }
    }
    /// Target of a delay controller.
    pub const fn aim(key: &'static str) -> ActsAbove {
        let consequence =
            "one waiting packet exceeds it, so that the probability of a signal rises until hardly any packet waits";
        ActsAbove { key, consequence }
    }
}

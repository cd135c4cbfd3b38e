//! What there is to know of a discipline without running it.

use ecnlab_base::facts::Column;

use crate::record::columns::Columns;

/// The facts of a discipline, in its own file and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What a scenario calls it: `discipline = "red"`.
    pub name: &'static str,
    /// What reports call it.
    pub label: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
    /// What it keeps for the record.
    pub columns: Columns,
    /// Its keys that a line about a queue has, as paths: `*` stands for every name of a table.
    pub shown: &'static [&'static str],
    /// Values below the time that a packet takes on a slow link are worth a warning.
    pub acts_above: &'static [ActsAbove],
    /// The key that makes it send source quenches, if there is one.
    pub quenches: Option<&'static str>,
    /// The key by which `discipline = { KEY = ... }` names it, if there is one.
    pub named_by: Option<&'static str>,
    /// What a scenario need not say of what every queue has: keys and their values in TOML.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Whether it is made of inner queues: tables `class.CLASS` with the keys of a queue.
    pub inner: bool,
    /// Whether its signals may be marks. If not, a queue that has ECN on is refused.
    pub marks: bool,
    /// Whether the key `ecn` has an effect.
    pub uses_ecn: bool,
    /// Whether [`crate::Aqm::on_dequeue`] has anything to say. Laws of arrivals alone pay nothing for departures.
    pub judges_departures: bool,
}

impl Facts {
    /// Those of a discipline without peculiarities, yet to be named.
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
        uses_ecn: true,
        judges_departures: true,
    };
    /// Those of a discipline made of the tables `class.CLASS`, which have the key `ecn` in its place.
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
    /// Its key.
    pub key: &'static str,
    /// What follows if a single packet takes longer to send.
    pub consequence: &'static str,
}

impl ActsAbove {
    /// Of the sojourn time, or of a length.
    pub const fn late(key: &'static str) -> ActsAbove {
        let consequence = "every packet that waits for another one exceeds it, however short the queue is";
        ActsAbove { key, consequence }
    }
    /// At which a controller of the delay aims.
    pub const fn aim(key: &'static str) -> ActsAbove {
        let consequence =
            "one waiting packet exceeds it, so that the probability of a signal rises until hardly any packet waits";
        ActsAbove { key, consequence }
    }
}

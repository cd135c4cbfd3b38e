//! Counters of a queue. They never decrease; a window is the difference of two readings.

use std::ops::{Add, AddAssign, Sub};

use ecnlab_wire::Ecn;

use crate::{DropReason, MarkReason};

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

/// Counts of packets by fate, for one ECN class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// Packets that arrived at the queue, including dropped ones.
    pub arrived: Tally,
    /// Number of packets that arrived with CE; zero in [`Group::not_ect`].
    pub arrived_ce: u64,
    /// Packets that left for the wire.
    pub departed: Tally,
    /// Packets set to CE by this queue.
    pub marks: Tally,
    /// Packets that the law signalled and that had arrived with CE.
    pub on_ce: Tally,
    /// Marks by a threshold above which all ECN-capable packets are marked.
    pub threshold: Tally,
    /// Marks caused by the congestion of another queue, through a law across inner queues.
    pub coupled: Tally,
    /// Packets signalled by a drop. ECN-capable packets only with `ecn` off or above RED's `mark_p`.
    pub early: Tally,
    /// Packets dropped by the law, ECN-capable or not.
    pub forced: Tally,
    /// Packets dropped because the queue was full.
    pub tail: Tally,
    /// Number of source quenches sent for these packets; only for ECN-capable ones.
    pub quenches: u64,
}

/// One flow group's packets, by ECN class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Packets that cannot carry CE.
    pub not_ect: Kind,
    /// Packets that can: ECT(0), ECT(1), CE.
    pub ect: Kind,
}

/// A queue's counters: one [`Group`] for each flow group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    groups: Vec<Group>,
}

impl Tally {
    fn count(&mut self, len: u32) {
        self.packets += 1;
        self.bytes += u64::from(len);
    }
}

impl Kind {
    /// Dropped packets, for any reason.
    pub fn dropped(&self) -> Tally {
        self.early + self.forced + self.tail
    }
    /// Packets still queued: arrived, and neither departed nor dropped.
    pub fn held(&self) -> Tally {
        self.arrived - self.departed - self.dropped()
    }

    #[inline]
    pub(crate) fn arrived(&mut self, len: u32, ecn: Ecn) {
        self.arrived.count(len);
        self.arrived_ce += u64::from(ecn == Ecn::Ce);
    }
    pub(crate) fn departed(&mut self, len: u32) {
        self.departed.count(len);
    }
    pub(crate) fn marked(&mut self, len: u32, why: MarkReason) {
        self.marks.count(len);
        match why {
            MarkReason::Law => {}
            MarkReason::Threshold => self.threshold.count(len),
            MarkReason::Coupled => self.coupled.count(len),
        }
    }
    pub(crate) fn signalled_ce(&mut self, len: u32) {
        self.on_ce.count(len);
    }
    pub(crate) fn quenched(&mut self) {
        self.quenches += 1;
    }
    pub(crate) fn drop(&mut self, len: u32, why: DropReason) {
        match why {
            DropReason::Early => self.early.count(len),
            DropReason::Forced => self.forced.count(len),
            DropReason::Tail => self.tail.count(len),
        }
    }
}

impl Group {
    /// Both classes together.
    pub fn all(&self) -> Kind {
        self.not_ect + self.ect
    }

    #[inline]
    pub(crate) fn kind(&mut self, capable: bool) -> &mut Kind {
        if capable { &mut self.ect } else { &mut self.not_ect }
    }
}

impl Counters {
    pub(crate) fn new(groups: usize) -> Counters {
        Counters { groups: vec![Group::default(); groups] }
    }
    /// Each flow group's counters, by the group's index.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }
    /// All groups together.
    pub fn total(&self) -> Group {
        self.groups.iter().fold(Group::default(), |sum, &group| sum + group)
    }
    /// Returns the counts since `earlier`, an earlier reading of the same queue.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters { groups: self.groups.iter().zip(&earlier.groups).map(|(&now, &then)| now - then).collect() }
    }

    #[inline]
    pub(crate) fn kind(&mut self, group: usize, capable: bool) -> &mut Kind {
        self.groups[group].kind(capable)
    }
}

/// Sums and differences go field by field.
macro_rules! fieldwise {
    ($($type:ident { $($field:ident),+ })*) => {$(
        impl Add for $type {
            type Output = $type;
            fn add(self, other: $type) -> $type {
                $type { $($field: self.$field + other.$field),+ }
            }
        }
        impl AddAssign for $type {
            fn add_assign(&mut self, other: $type) {
                *self = *self + other;
            }
        }
        impl Sub for $type {
            type Output = $type;
            fn sub(self, other: $type) -> $type {
                $type { $($field: self.$field - other.$field),+ }
            }
        }
    )*};
}
fieldwise! {
    Tally { packets, bytes }
    Kind { arrived, arrived_ce, departed, marks, on_ce, threshold, coupled, early, forced, tail, quenches }
    Group { not_ect, ect }
}

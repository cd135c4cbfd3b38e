//! Statistics of a queue with inner queues, and readings of its inner queues.

use ecnlab_base::Time;
use ecnlab_base::facts::Column;

use super::{Branch, Class, Node};
use crate::machine::books::Books;
use crate::machine::coupling::Coupling;
use crate::machine::scheduler::Backlog;
use crate::record::counters::Group;
use crate::record::interval::Departures;
use crate::{Across, Aqm, Item, Stats, Tally};

/// Reading of a named inner queue at one time.
#[derive(Clone, Debug)]
pub struct ClassReading {
    /// Path of its names from the outermost queue: `voice`, `rest/bulk`; "all" for the whole.
    pub name: String,
    /// Counts of its packets since the start.
    pub counts: Group,
    /// Since the last reading.
    pub stats: Stats,
}

impl ClassReading {
    /// Returns the counts since `earlier`, an earlier reading of the same queue. Statistics are unchanged.
    pub fn since(self, earlier: &ClassReading) -> ClassReading {
        ClassReading { counts: self.counts - earlier.counts, ..self }
    }
}

/// A named inner queue at one instant.
#[derive(Clone, Debug)]
pub struct ClassSample {
    /// Packets and bytes held.
    pub held: Tally,
    /// Values of its law in the requested columns; NaN for none.
    pub values: Vec<f64>,
}

impl<P: Item> Node<P> {
    /// Updates ticks and statistics to `now`.
    pub fn observe(&mut self, now: Time, books: &Books) {
        match self {
            Node::Leaf(fifo) => fifo.observe(now, books),
            Node::Tree(tree) => tree.made_mut().into_iter().for_each(|branch| branch.observe(now, books)),
        }
    }

    /// Packets and bytes, counted one by one; `None` if the counters of any inner queue do not balance.
    pub fn counted(&self) -> Option<Tally> {
        match self {
            Node::Leaf(fifo) => Some(fifo.counted()),
            Node::Tree(tree) => tree.made().map_or(Some(Tally::default()), Branch::counted),
        }
    }

    /// As `Fifo::cut_stats`.
    pub fn cut_stats(&mut self, passed: u64) -> Stats {
        match self {
            Node::Leaf(fifo) => fifo.cut_stats(passed),
            Node::Tree(tree) => tree.made_mut().map(Branch::cut_stats).unwrap_or_default(),
        }
    }

    /// Returns the departures since the start or the last cut, including `passed` additional ones of one FIFO.
    pub fn departures(&self, passed: u64) -> Departures {
        match self {
            Node::Leaf(fifo) => fifo.stats().departures(passed),
            Node::Tree(tree) => tree.made().map(|branch| branch.gauge.stats().departures(0)).unwrap_or_default(),
        }
    }

    /// Like [`Branch::class_names`]; empty for one FIFO.
    pub fn class_names(&self) -> Vec<String> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Tree(tree) => tree.made().map(Branch::class_names).unwrap_or_default(),
        }
    }

    /// Like [`Branch::cut_classes`]; empty for one FIFO.
    pub fn cut_classes(&mut self) -> Vec<ClassReading> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Tree(tree) => tree.made_mut().map(Branch::cut_classes).unwrap_or_default(),
        }
    }

    /// Like [`Branch::class_samples`]; empty for one FIFO.
    pub fn class_samples(&self, columns: &[Column]) -> Vec<ClassSample> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Tree(tree) => tree.made().map(|branch| branch.class_samples(columns)).unwrap_or_default(),
        }
    }

    /// As `Gauge::distinguish_groups`.
    pub fn distinguish_groups(&mut self, groups: usize) {
        match self {
            Node::Leaf(fifo) => fifo.distinguish_groups(groups),
            Node::Tree(tree) => tree.made_mut().into_iter().for_each(|branch| branch.gauge.distinguish_groups(groups)),
        }
    }

    /// As `Fifo::value`.
    pub fn value(&self, name: &str) -> Option<f64> {
        match self {
            Node::Leaf(fifo) => fifo.value(name),
            Node::Tree(tree) => tree.made()?.value(name),
        }
    }

    /// Whether source quenches are possible.
    pub fn speaks_back(&self) -> bool {
        match self {
            Node::Leaf(fifo) => fifo.law().speaks_back().is_some(),
            Node::Tree(tree) => tree.made().is_some_and(Branch::speaks_back),
        }
    }
}

impl<P: Item> Branch<P> {
    /// Updates ticks and statistics to `now`, including those of inner queues.
    pub fn observe(&mut self, now: Time, books: &Books) {
        self.gather(now);
        self.classes.iter_mut().for_each(|class| class.node.observe(now, books));
    }

    pub(super) fn gather(&mut self, now: Time) {
        while let Some(at) = self.coupling.as_ref().and_then(|coupling| coupling.due(now)) {
            self.integrate(at);
            self.coupling.iter_mut().for_each(Coupling::on_tick);
        }
        self.integrate(now);
    }

    fn integrate(&mut self, now: Time) {
        let elapsed = self.gauge.observe(now, self.held.packets, self.held.bytes);
        self.rows.observe(now);
        if let Some(coupling) = &mut self.coupling {
            coupling.law.elapsed(elapsed);
        }
    }

    /// Like `Fifo::cut_stats`; the inner queues keep their own statistics.
    pub fn cut_stats(&mut self) -> Stats {
        let law = self.coupling.as_mut().map(|coupling| &mut coupling.law);
        let (columns, integrals) = law.map_or((&[][..], Vec::new()), |law| (law.columns().means, law.cut()));
        self.gauge.cut(0, columns, integrals)
    }

    /// Like `Fifo::value`, for the law across the classes.
    pub fn value(&self, name: &str) -> Option<f64> {
        let law = &self.coupling.as_ref()?.law;
        let columns = law.columns().values.iter();
        columns.zip(law.values()).find(|(column, _)| column.name == name).map(|(_, value)| value)
    }

    /// [`Node::counted`].
    pub fn counted(&self) -> Option<Tally> {
        let mut sum = Tally::default();
        for class in &self.classes {
            let counted = class.node.counted()?;
            if class.counts.all().held() != counted {
                return None;
            }
            sum += counted;
        }
        (sum == self.held).then_some(sum)
    }

    /// Whether source quenches are possible.
    pub fn speaks_back(&self) -> bool {
        self.classes.iter().any(|class| class.node.speaks_back())
    }

    /// The length of the packet that is likely to be next.
    pub fn head_len(&self) -> Option<u32> {
        self.classes.iter().find_map(Backlog::head_len)
    }

    /// The names of the inner queues that have one, from the outermost on: `voice`, `rest/bulk`.
    pub fn class_names(&self) -> Vec<String> {
        let named = self.names.iter().zip(&self.classes);
        let of = |(name, class): (&String, &Class<P>)| {
            let inner = class.node.class_names().into_iter().map(|inner| format!("{name}/{inner}")).collect::<Vec<_>>();
            std::iter::once(name.clone()).chain(inner).collect::<Vec<_>>()
        };
        named.flat_map(of).chain(self.rows.names().cloned()).collect()
    }

    /// Returns readings in the order of [`Branch::class_names`], and resets the statistics.
    pub fn cut_classes(&mut self) -> Vec<ClassReading> {
        let named = self.names.iter().zip(&mut self.classes);
        let of = |(name, class): (&String, &mut Class<P>)| {
            let own = ClassReading { name: name.clone(), counts: class.counts, stats: class.node.cut_stats(0) };
            let inner = class
                .node
                .cut_classes()
                .into_iter()
                .map(|inner| ClassReading { name: format!("{name}/{}", inner.name), ..inner });
            std::iter::once(own).chain(inner).collect::<Vec<_>>()
        };
        let mut readings: Vec<ClassReading> = named.flat_map(of).collect();
        let counts: Vec<Group> = self.classes.iter().map(|class| class.counts).collect();
        let rows = self.rows.cut(&counts).into_iter();
        readings.extend(rows.map(|(name, counts, stats)| ClassReading { name, counts, stats }));
        readings
    }

    /// Returns samples in the order of [`Branch::class_names`], with the values of laws in `columns`.
    pub fn class_samples(&self, columns: &[Column]) -> Vec<ClassSample> {
        let named = self.classes.iter().take(self.names.len());
        let of = |class: &Class<P>| {
            let values = columns.iter().map(|column| class.node.value(column.name).unwrap_or(f64::NAN)).collect();
            let inner = class.node.class_samples(columns);
            let own = ClassSample { held: class.node.held(), values };
            std::iter::once(own).chain(inner).collect::<Vec<_>>()
        };
        let row = |held| ClassSample { held, values: vec![f64::NAN; columns.len()] };
        named.flat_map(of).chain(self.rows.held().map(row)).collect()
    }
}

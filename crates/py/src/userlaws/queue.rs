//! Python laws for one FIFO.

use std::borrow::Cow;
use std::sync::Arc;

use ecnlab_aqm::{Aqm, LinkContext, PacketView, Verdict, View, userlaw};
use ecnlab_base::{Dur, Length, Rng, Time};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::file::Law;
use super::methods::{self, Method, Object};
use super::views::{Link, Packet, Queue, Random};

/// Base class of laws for one FIFO.
pub const BASE: &str = "QueueLaw";

const ON_ENQUEUE: usize = 0;
const ON_DEQUEUE: usize = 1;
const ON_UNLIKE: usize = 2;
const ON_BEGIN: usize = 3;
const ON_FULL: usize = 4;
const ON_SHED: usize = 5;
const ON_EMPTY: usize = 6;
const ON_TICK: usize = 7;

/// In the order of the indices above.
pub const METHODS: &[Method] = &[
    ("on_enqueue", "packet, queue, now, random"),
    ("on_dequeue", "packet, queue, now, random"),
    ("on_unlike", "packet, queue, random"),
    ("on_begin", "link"),
    ("on_full", ""),
    ("on_shed", "packets"),
    ("on_empty", ""),
    ("on_tick", "queue"),
];

/// Valid seconds between ticks; an idle queue has ticks as well.
const TICKS: std::ops::RangeInclusive<f64> = 1e-5..=86_400.0;

/// Rejects a class that is not a valid law for one FIFO; returns the interval of its ticks.
pub fn check(class: &Bound<'_, PyAny>) -> Result<Option<Dur>, String> {
    methods::check(class, BASE, METHODS)?;
    methods::require(class, BASE, &METHODS[ON_ENQUEUE..=ON_DEQUEUE])?;
    let Some(tick) = class.getattr_opt("tick").ok().flatten().filter(|tick| !tick.is_none()) else { return Ok(None) };
    methods::require(class, BASE, &METHODS[ON_TICK..=ON_TICK])?;
    let seconds = tick.extract::<f64>().ok().filter(|seconds| TICKS.contains(seconds));
    let wrong = || format!("`tick` is {tick}; write seconds, from 10 us to a day, such as `tick = 0.01`");
    seconds.map(|seconds| Some(Dur::from_secs(seconds))).ok_or_else(wrong)
}

/// Creates objects of a law.
pub struct Maker {
    /// The law.
    pub law: Arc<Law>,
    /// Interval of its ticks.
    pub tick: Option<Dur>,
}

impl userlaw::Supply for Maker {
    fn object(&self, link: LinkContext) -> Box<dyn Aqm> {
        Python::attach(|py| {
            let object = Object::new(py, &self.law, BASE, METHODS);
            // The queue's own stream replaces this at the first call of the law.
            let random = Py::new(py, Random(Rng::named(0, ""))).ok();
            Box::new(QueueLaw { object, random, link, tick: self.tick }) as Box<dyn Aqm>
        })
    }
}

/// A law of one queue.
#[derive(Debug)]
struct QueueLaw {
    object: Object,
    /// The queue's random stream, as passed to the object.
    random: Option<Py<Random>>,
    link: LinkContext,
    /// Interval of its ticks.
    tick: Option<Dur>,
}

type Arguments<'py> = PyResult<Bound<'py, PyTuple>>;

impl QueueLaw {
    fn notify(&self, index: usize, arguments: impl for<'py> FnOnce(Python<'py>) -> Arguments<'py>) {
        if self.object.has(index) {
            Python::attach(|py| self.object.notify(py, index, arguments(py)));
        }
    }

    /// Returns the verdict of the method at `index`; the stream is appended to `arguments`.
    fn ask(
        &self,
        index: usize,
        rng: &mut Rng,
        arguments: impl for<'py> FnOnce(Python<'py>, Bound<'py, Random>) -> Arguments<'py>,
    ) -> Verdict {
        let (true, Some(random)) = (self.object.has(index), &self.random) else { return Verdict::Pass };
        let answer = Python::attach(|py| {
            let random = random.bind(py);
            if let Ok(mut stream) = random.try_borrow_mut() {
                stream.0 = rng.clone();
            }
            let returned = self.object.call(py, index, arguments(py, random.clone()))?;
            if let Ok(stream) = random.try_borrow() {
                *rng = stream.0.clone();
            }
            let verdict = verdict(&returned);
            if verdict.is_none() {
                self.object.refuse(&returned, index, VERDICTS);
            }
            verdict
        });
        answer.unwrap_or(Verdict::Pass)
    }
}

const VERDICTS: &str = "'pass', 'signal', 'signal-by-drop', 'drop', 'mark-if-capable' or 'compare'";

fn verdict(returned: &Bound<'_, PyAny>) -> Option<Verdict> {
    Some(match &*returned.extract::<Cow<'_, str>>().ok()? {
        "pass" => Verdict::Pass,
        "signal" => Verdict::Signal,
        "signal-by-drop" => Verdict::SignalByDrop,
        "drop" => Verdict::Drop,
        "mark-if-capable" => Verdict::MarkIfCapable,
        "compare" => Verdict::Compare,
        _ => return None,
    })
}

impl Aqm for QueueLaw {
    fn limited(&mut self, limit: Length) {
        let link = Link { context: self.link, limit };
        self.notify(ON_BEGIN, |py| (link,).into_pyobject(py));
    }

    fn on_enqueue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
        let (packet, view, now) = (Packet(*packet), Queue(*view), now.as_secs());
        self.ask(ON_ENQUEUE, rng, |py, random| (packet, view, now, random).into_pyobject(py))
    }

    fn on_unlike(&mut self, packet: &PacketView, view: &View, rng: &mut Rng) -> Verdict {
        let (packet, view) = (Packet(*packet), Queue(*view));
        self.ask(ON_UNLIKE, rng, |py, random| (packet, view, random).into_pyobject(py))
    }

    fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
        let (packet, view, now) = (Packet(*packet), Queue(*view), now.as_secs());
        self.ask(ON_DEQUEUE, rng, |py, random| (packet, view, now, random).into_pyobject(py))
    }

    fn on_full(&mut self) {
        self.notify(ON_FULL, |py| Ok(PyTuple::empty(py)));
    }

    fn on_shed(&mut self, packets: u32) {
        self.notify(ON_SHED, |py| (packets,).into_pyobject(py));
    }

    fn on_empty(&mut self) {
        self.notify(ON_EMPTY, |py| Ok(PyTuple::empty(py)));
    }

    fn tick(&self) -> Option<Dur> {
        self.tick
    }

    fn on_tick(&mut self, view: &View) {
        let view = Queue(*view);
        self.notify(ON_TICK, |py| (view,).into_pyobject(py));
    }
}

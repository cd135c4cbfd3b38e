//! Window laws in Python.

use std::borrow::Cow;
use std::sync::Arc;

use ecnlab_tcp::cc::{self, CcState, Codepoint, Pacing};
use ecnlab_tcp::outside;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::file::Law;
use super::methods::{self, Method, Object};
use super::views::{AckSample, CongestionEvent, Established, Sent, Window};

/// The base class of window laws.
pub const BASE: &str = "WindowLaw";

const GROW: usize = 0;
const ON_CONGESTION: usize = 1;
const ON_FURTHER_LOSS: usize = 2;
const ON_ESTABLISHED: usize = 3;
const ON_FEEDBACK: usize = 4;
const ON_ACK: usize = 5;
const ON_SENT: usize = 6;
const ON_UNDO: usize = 7;
const ON_IDLE_RESTART: usize = 8;
const PACING: usize = 9;
const CODEPOINT: usize = 10;
const LIMITS_RATE: usize = 11;

/// In the order of the indices above.
pub const METHODS: &[Method] = &[
    ("grow", "window, acked"),
    ("on_congestion", "window, event"),
    ("on_further_loss", "window"),
    ("on_established", "window, established"),
    ("on_feedback", "window, sample"),
    ("on_ack", "window, sample"),
    ("on_sent", "window, sent"),
    ("on_undo", "window, cwnd, ssthresh"),
    ("on_idle_restart", "window, restart"),
    ("pacing", "window"),
    ("codepoint", ""),
    ("limits_rate", ""),
];

/// Refuses a class that is no window law.
pub fn check(class: &Bound<'_, PyAny>) -> Result<(), String> {
    methods::check(class, BASE, METHODS)?;
    methods::require(class, BASE, &METHODS[GROW..=GROW])?;
    methods::require(class, BASE, &METHODS[ON_CONGESTION..=ON_CONGESTION])
}

/// Makes objects of a law.
pub struct Maker(pub Arc<Law>);

impl outside::Supply for Maker {
    fn object(&self, window: &cc::Window) -> Box<dyn outside::Object> {
        Python::attach(|py| {
            let object = Object::new(py, &self.0, BASE, METHODS);
            // Without memory for it, Python itself would be gone.
            Box::new(WindowLaw { view: Py::new(py, Window(*window)).ok(), object }) as Box<dyn outside::Object>
        })
    }
}

/// A law of one endpoint.
#[derive(Debug)]
struct WindowLaw {
    object: Object,
    /// The window as the object sees it.
    view: Option<Py<Window>>,
}

impl WindowLaw {
    /// Calls the method at `index`, if there is one, with the window and what `more` adds; what it sets is then the window.
    fn tell(
        &self,
        window: &mut cc::Window,
        index: usize,
        more: impl for<'py> FnOnce(With<'py>) -> Arguments<'py>,
    ) -> bool {
        let (true, Some(view)) = (self.object.has(index), &self.view) else { return false };
        Python::attach(|py| {
            let view = view.bind(py);
            if let Ok(mut seen) = view.try_borrow_mut() {
                seen.0 = *window;
            }
            self.object.tell(py, index, more((py, view.clone())));
            if let Ok(seen) = view.try_borrow() {
                *window = seen.0;
            }
        });
        true
    }

    /// What the method at `index` returns, read by `read`; the law's default if it has none.
    fn ask<T: Default>(
        &self,
        index: usize,
        window: Option<&cc::Window>,
        wanted: &str,
        read: impl FnOnce(&Bound<'_, PyAny>) -> Option<T>,
    ) -> T {
        let (true, Some(view)) = (self.object.has(index), &self.view) else { return T::default() };
        let answer = Python::attach(|py| {
            let view = view.bind(py);
            if let (Ok(mut seen), Some(window)) = (view.try_borrow_mut(), window) {
                seen.0 = *window;
            }
            let arguments = if window.is_some() { (view,).into_pyobject(py) } else { Ok(PyTuple::empty(py)) };
            let returned = self.object.call(py, index, arguments)?;
            let answer = read(&returned);
            if answer.is_none() {
                self.object.refuse(&returned, index, wanted);
            }
            answer
        });
        answer.unwrap_or_default()
    }
}

type With<'py> = (Python<'py>, Bound<'py, Window>);
type Arguments<'py> = PyResult<Bound<'py, PyTuple>>;

impl outside::Object for WindowLaw {
    fn grow(&mut self, window: &mut cc::Window, acked: u64) {
        self.tell(window, GROW, |(py, view)| (view, acked).into_pyobject(py));
    }

    fn on_congestion(&mut self, window: &mut cc::Window, event: &cc::CongestionEvent) {
        self.tell(window, ON_CONGESTION, |(py, view)| (view, CongestionEvent(*event)).into_pyobject(py));
    }

    fn on_further_loss(&mut self, window: &mut cc::Window) {
        self.tell(window, ON_FURTHER_LOSS, |(py, view)| (view,).into_pyobject(py));
    }

    fn on_established(&mut self, window: &mut cc::Window, begin: &cc::Established) {
        self.tell(window, ON_ESTABLISHED, |(py, view)| (view, Established(*begin)).into_pyobject(py));
    }

    fn on_feedback(&mut self, window: &mut cc::Window, sample: &cc::AckSample) {
        self.tell(window, ON_FEEDBACK, |(py, view)| (view, AckSample(*sample)).into_pyobject(py));
    }

    fn on_ack(&mut self, window: &mut cc::Window, sample: &cc::AckSample) {
        self.tell(window, ON_ACK, |(py, view)| (view, AckSample(*sample)).into_pyobject(py));
    }

    fn on_sent(&mut self, window: &mut cc::Window, sent: &cc::Sent) {
        self.tell(window, ON_SENT, |(py, view)| (view, Sent(*sent)).into_pyobject(py));
    }

    fn on_undo(&mut self, window: &mut cc::Window, before: CcState) -> bool {
        self.tell(window, ON_UNDO, |(py, view)| (view, before.cwnd, before.ssthresh).into_pyobject(py))
    }

    fn on_idle_restart(&mut self, window: &mut cc::Window, restart: u64) -> bool {
        self.tell(window, ON_IDLE_RESTART, |(py, view)| (view, restart).into_pyobject(py))
    }

    fn pacing(&self, window: &cc::Window) -> Option<Pacing> {
        let wanted = "None or (bytes a second, bytes at once), each 1 or more";
        self.ask(PACING, Some(window), wanted, |returned| {
            if returned.is_none() {
                return Some(None);
            }
            let (rate, quantum): (f64, f64) = returned.extract().ok()?;
            let possible = |x: f64| (1.0..=MOST_PACING).contains(&x).then_some(x as u64);
            Some(Some(Pacing { rate: possible(rate)?, quantum: possible(quantum)? }))
        })
    }

    fn codepoint(&self) -> Codepoint {
        self.ask(CODEPOINT, None, "'ect0' or 'ect1'", |returned| match &*returned.extract::<Cow<'_, str>>().ok()? {
            "ect0" => Some(Codepoint::Ect0),
            "ect1" => Some(Codepoint::Ect1),
            _ => None,
        })
    }

    fn limits_rate(&self) -> bool {
        self.ask(LIMITS_RATE, None, "True or False", |returned| returned.extract().ok())
    }
}

/// Bytes a second that no link has.
const MOST_PACING: f64 = 1e15;

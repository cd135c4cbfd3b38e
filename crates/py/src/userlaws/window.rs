//! User-defined window laws.

use std::borrow::Cow;
use std::sync::Arc;

use ecnlab_tcp::cc::{self, CcState, Codepoint, CongestionControl, Pacing};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::file::Law;
use super::methods::{self, Method, Object};
use super::views::{AckSample, CongestionEvent, Established, Sent, Window};

/// Base class of window laws.
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

/// Rejects a class that is not a valid window law.
pub fn check(class: &Bound<'_, PyAny>) -> Result<(), String> {
    methods::check(class, BASE, METHODS)?;
    methods::require(class, BASE, &METHODS[GROW..=GROW])?;
    methods::require(class, BASE, &METHODS[ON_CONGESTION..=ON_CONGESTION])
}

/// Creates objects of a law.
pub struct Maker(pub Arc<Law>);

impl cc::Supply for Maker {
    fn object(&self, window: cc::Window) -> Box<dyn CongestionControl> {
        Python::attach(|py| {
            let object = Object::new(py, &self.0, BASE, METHODS);
            // Fails only without memory, in which case Python itself would fail.
            Box::new(WindowLaw { window, view: Py::new(py, Window(window)).ok(), object }) as _
        })
    }
}

/// A law of one endpoint.
#[derive(Debug)]
struct WindowLaw {
    window: cc::Window,
    object: Object,
    /// The window as passed to the object.
    view: Option<Py<Window>>,
}

impl WindowLaw {
    /// Calls the method at `index`, if it exists, with the window and the arguments of `more`; the window that it sets
    /// is then used.
    fn notify(&mut self, index: usize, more: impl for<'py> FnOnce(With<'py>) -> Arguments<'py>) -> bool {
        let (true, Some(view)) = (self.object.has(index), &self.view) else { return false };
        Python::attach(|py| {
            let view = view.bind(py);
            if let Ok(mut seen) = view.try_borrow_mut() {
                seen.0 = self.window;
            }
            self.object.notify(py, index, more((py, view.clone())));
            if let Ok(seen) = view.try_borrow() {
                self.window = seen.0;
            }
        });
        true
    }

    /// Returns the result of the method at `index`, converted by `read`; the law's default if it does not exist. With
    /// `shown` the window is passed to it.
    fn ask<T: Default>(
        &self,
        index: usize,
        shown: bool,
        wanted: &str,
        read: impl FnOnce(&Bound<'_, PyAny>) -> Option<T>,
    ) -> T {
        let (true, Some(view)) = (self.object.has(index), &self.view) else { return T::default() };
        let answer = Python::attach(|py| {
            let view = view.bind(py);
            if let (Ok(mut seen), true) = (view.try_borrow_mut(), shown) {
                seen.0 = self.window;
            }
            let arguments = if shown { (view,).into_pyobject(py) } else { Ok(PyTuple::empty(py)) };
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

impl CongestionControl for WindowLaw {
    fn window(&self) -> &cc::Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut cc::Window {
        &mut self.window
    }

    fn grow(&mut self, acked: u64) {
        self.notify(GROW, |(py, view)| (view, acked).into_pyobject(py));
    }

    fn on_congestion(&mut self, event: &cc::CongestionEvent) {
        self.notify(ON_CONGESTION, |(py, view)| (view, CongestionEvent(*event)).into_pyobject(py));
    }

    fn on_further_loss(&mut self) {
        self.notify(ON_FURTHER_LOSS, |(py, view)| (view,).into_pyobject(py));
    }

    fn on_established(&mut self, begin: &cc::Established) {
        self.notify(ON_ESTABLISHED, |(py, view)| (view, Established(*begin)).into_pyobject(py));
    }

    fn on_feedback(&mut self, sample: &cc::AckSample) {
        self.notify(ON_FEEDBACK, |(py, view)| (view, AckSample(*sample)).into_pyobject(py));
    }

    fn on_ack(&mut self, sample: &cc::AckSample) {
        self.notify(ON_ACK, |(py, view)| (view, AckSample(*sample)).into_pyobject(py));
    }

    fn on_sent(&mut self, sent: &cc::Sent) {
        self.notify(ON_SENT, |(py, view)| (view, Sent(*sent)).into_pyobject(py));
    }

    fn on_undo(&mut self, before: CcState) {
        if !self.notify(ON_UNDO, |(py, view)| (view, before.cwnd, before.ssthresh).into_pyobject(py)) {
            self.window.undo(before);
        }
    }

    fn on_idle_restart(&mut self, restart: u64) {
        if !self.notify(ON_IDLE_RESTART, |(py, view)| (view, restart).into_pyobject(py)) {
            self.window.restart(restart);
        }
    }

    fn pacing(&self) -> Option<Pacing> {
        let wanted = "None or (bytes a second, bytes at once), each 1 or more";
        self.ask(PACING, true, wanted, |returned| {
            if returned.is_none() {
                return Some(None);
            }
            let (rate, quantum): (f64, f64) = returned.extract().ok()?;
            let possible = |x: f64| (1.0..=MOST_PACING).contains(&x).then_some(x as u64);
            Some(Some(Pacing { rate: possible(rate)?, quantum: possible(quantum)? }))
        })
    }

    fn codepoint(&self) -> Codepoint {
        self.ask(CODEPOINT, false, "'ect0' or 'ect1'", |returned| match &*returned.extract::<Cow<'_, str>>().ok()? {
            "ect0" => Some(Codepoint::Ect0),
            "ect1" => Some(Codepoint::Ect1),
            _ => None,
        })
    }

    fn limits_rate(&self) -> bool {
        self.ask(LIMITS_RATE, false, "True or False", |returned| returned.extract().ok())
    }
}

/// Bytes per second above any link rate.
const MOST_PACING: f64 = 1e15;

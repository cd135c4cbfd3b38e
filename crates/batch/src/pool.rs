//! Threads that do runs.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ecnlab_engine::{Outlets, run_into};
use ecnlab_scenario::Scenario;

use crate::metric::Metrics;

/// A run to do.
#[derive(Clone, Debug)]
pub struct Request {
    /// Returned with the answer.
    pub tag: u64,
    /// The scenario; replicates share it.
    pub scenario: Scenario,
    /// The seed.
    pub seed: u64,
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Answer {
    /// That of the request.
    pub tag: u64,
    /// The metrics, in the order of [`Metrics::names`].
    pub values: Result<Vec<f64>, Failure>,
}

/// Reason why a run has no metrics.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The engine refused or cancelled it.
    Run(ecnlab_engine::Error),
    /// The engine panicked, with this message: a defect of ecnlab.
    Panic(String),
}

/// Threads that do the runs submitted, in the order of submission.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    most: usize,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    metrics: Metrics,
    /// Bytes that the runs in progress may need together.
    memory: u64,
    state: Mutex<State>,
    submitted: Condvar,
    answered: Condvar,
    cancel: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    requests: VecDeque<Request>,
    answers: VecDeque<Answer>,
    /// Runs submitted whose answers have not been taken.
    open: usize,
    /// Bytes that the runs in progress need together.
    used: u64,
    closed: bool,
}

impl Pool {
    /// Creates a pool of at most `most` threads, which are started when there are runs for them. Runs that together need
    /// more than `memory` bytes wait for each other.
    pub fn new(metrics: Metrics, most: usize, memory: u64) -> Pool {
        let shared = Shared {
            metrics,
            memory,
            state: Mutex::default(),
            submitted: Condvar::new(),
            answered: Condvar::new(),
            cancel: AtomicBool::new(false),
        };
        Pool { shared: Arc::new(shared), most: most.max(1), threads: Vec::new() }
    }

    /// The metrics of each run.
    pub fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    /// Adds runs to do.
    pub fn submit(&mut self, requests: impl IntoIterator<Item = Request>) {
        let mut state = self.shared.lock();
        let before = state.requests.len();
        state.requests.extend(requests);
        state.open += state.requests.len() - before;
        // A run in progress keeps its thread busy.
        let wanted = (state.open - state.answers.len()).min(self.most);
        drop(state);
        while self.threads.len() < wanted {
            let shared = self.shared.clone();
            self.threads.push(std::thread::spawn(move || shared.work()));
        }
        self.shared.submitted.notify_all();
    }

    /// Number of runs whose answers have not been taken.
    pub fn open(&self) -> usize {
        self.shared.lock().open
    }

    /// Takes the answers there are; waits up to `limit` for the first. Empty after that time, and if no run is open.
    pub fn take(&self, limit: Duration) -> Vec<Answer> {
        let state = self.shared.lock();
        let waits = |state: &mut State| state.answers.is_empty() && state.open > 0;
        let (mut state, _) =
            self.shared.answered.wait_timeout_while(state, limit, waits).unwrap_or_else(PoisonError::into_inner);
        let taken: Vec<Answer> = state.answers.drain(..).collect();
        state.open -= taken.len();
        taken
    }

    /// Drops the runs that have not begun, and ends the others within some milliseconds. The pool cannot be used again.
    pub fn cancel(&self) {
        self.shared.cancel.store(true, Ordering::Relaxed);
        let mut state = self.shared.lock();
        state.open -= state.requests.len();
        state.requests.clear();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.cancel();
        self.shared.lock().closed = true;
        self.shared.submitted.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing left to do.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(Request { tag, scenario, seed }) = self.next() {
            let values = self.values(&scenario, seed);
            let mut state = self.lock();
            state.answers.push_back(Answer { tag, values });
            state.used -= scenario.memory();
            drop(state);
            self.answered.notify_one();
            self.submitted.notify_one();
        }
    }

    /// Returns the next run that fits into memory beside those in progress, or alone; `None` when the pool is closed.
    fn next(&self) -> Option<Request> {
        let fits = |state: &State, run: &Request| {
            state.used == 0 || state.used.saturating_add(run.scenario.memory()) <= self.memory
        };
        let waits = |state: &mut State| !state.closed && !state.requests.front().is_some_and(|run| fits(state, run));
        let mut state = self.submitted.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        let next = state.requests.pop_front()?;
        state.used += next.scenario.memory();
        Some(next)
    }

    fn values(&self, scenario: &Scenario, seed: u64) -> Result<Vec<f64>, Failure> {
        let mut plan = scenario.plan(seed);
        let wanted = |table: &str| self.metrics.reads(table);
        plan.packet_events = true;
        plan.record_only(&wanted);
        let outlets = Outlets { wanted: Some(&wanted), ..Outlets::default() };
        let run = || run_into(&plan, seed, &self.cancel, outlets).map(|output| self.metrics.of(&output.tables));
        catch_unwind(AssertUnwindSafe(run)).map_err(|panic| Failure::Panic(message(&*panic)))?.map_err(Failure::Run)
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_submitted_one_at_a_time_get_a_thread_each() {
        let text =
            include_str!("../../../examples/dumbbell.toml").replace("duration = \"60 s\"", "duration = \"10000 s\"");
        let scenario = ecnlab_scenario::parse_scenario("long", &text).unwrap();
        let mut pool = Pool::new(Metrics::new(&Default::default()), 2, u64::MAX);
        pool.submit([Request { tag: 0, scenario: scenario.clone(), seed: 1 }]);
        while !pool.shared.lock().requests.is_empty() {
            std::thread::yield_now();
        }
        pool.submit([Request { tag: 1, scenario, seed: 1 }]);
        assert_eq!(pool.threads.len(), 2);
        pool.cancel();
    }
}

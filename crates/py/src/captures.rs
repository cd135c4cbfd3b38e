//! Runs whose captures are written to files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use ecnlab_engine::capture::{Capture, Files, Interface, Settings, write_captures};
use ecnlab_engine::{Blocks, Error, Outlets, Output, Plan, run_into};
use ecnlab_scenario::{CapturePlan, Scenario};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::errors::run_error;

/// Reason why a captured run has no result.
pub enum Failure {
    /// The run failed.
    Run(Error),
    /// A file could not be written.
    Write(PathBuf, io::Error),
    /// The receiver of the tables' blocks raised this.
    Raised(PyErr),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Run(error) => run_error(&error),
            Failure::Raised(error) => error,
            Failure::Write(path, error) => match error.raw_os_error() {
                // errno, message and file name, as in Python's own OSError.
                Some(code) => PyOSError::new_err((code, error.to_string(), path)),
                None => PyOSError::new_err(format!("{}: {error}", path.display())),
            },
        }
    }
}

/// Runs `plan` of `scenario` into `outlets`, and writes its captures to `folder`.
pub fn run(
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
    cancel: &AtomicBool,
    folder: &Path,
    outlets: Outlets<'_>,
) -> Result<Output, Failure> {
    let captures = scenario.captures();
    let mut files = open(&captures, folder)?;
    let taps: Vec<Capture> = captures.into_iter().map(|capture| capture.tap).collect();
    let Outlets { blocks, wanted, watch, .. } = outlets;
    let blocks = blocks.map(|blocks| blocks as &mut dyn Blocks);
    let output = run_into(plan, seed, cancel, Outlets { captures: Some((&taps, &mut files)), blocks, wanted, watch });
    // A run stops when a write fails; the write error is then the reason.
    files.finish().map_err(|error| Failure::Write(folder.to_owned(), error))?;
    output.map_err(Failure::Run)
}

/// Returns the capture points of `scenario`: links, and points at them.
pub fn taps(scenario: &Scenario) -> BTreeSet<(usize, &'static str)> {
    let of = |capture: &CapturePlan| {
        let queue = if capture.tap.before_queue { "before" } else { "after" };
        let ends = |i: &Interface| [i.out.map(|link| (link, queue)), i.into.map(|link| (link, "end"))];
        capture.tap.interfaces.iter().flat_map(ends).flatten().collect::<Vec<_>>()
    };
    scenario.captures().iter().flat_map(of).collect()
}

/// Writes the captures of `scenario` to `folder`, from a guest's packet log.
pub fn of_guest(scenario: &Scenario, log: &Path, folder: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::Write(log.to_owned(), error);
    let files = create(&scenario.captures(), folder)?;
    write_captures(File::open(log).map_err(failed)?, files).map_err(failed)
}

fn open(captures: &[CapturePlan], folder: &Path) -> Result<Files<BufWriter<File>>, Failure> {
    let files = create(captures, folder)?;
    let all = captures.iter().zip(files).map(|(capture, (_, settings, file))| (&capture.tap, settings, file));
    Files::new(all).map_err(|error| Failure::Write(folder.to_owned(), error))
}

/// Creates the files of `captures` in `folder`.
pub fn create(captures: &[CapturePlan], folder: &Path) -> Result<Vec<(Capture, Settings, BufWriter<File>)>, Failure> {
    let one = |capture: &CapturePlan| {
        let path = folder.join(&capture.file);
        let file = File::create(&path).map_err(|error| Failure::Write(path, error))?;
        Ok((capture.tap.clone(), capture.settings, BufWriter::with_capacity(1 << 18, file)))
    };
    captures.iter().map(one).collect()
}

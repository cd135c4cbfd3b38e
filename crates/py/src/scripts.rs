//! Scripts of segments, played to the TCP endpoint.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ecnlab_script::{Failure, parse, run, settings};
use pyo3::prelude::*;

/// Name, rule and source of a case, and its failure.
type Played = (String, String, String, Option<String>);

/// Plays the scripts `files`: a row for each variant. A file that cannot be read has one row, without rule and source.
///
/// `roots` are the folders whose `include` has the included files; names are relative to the first.
#[pyfunction]
pub fn play_scripts(py: Python<'_>, roots: Vec<PathBuf>, files: Vec<PathBuf>) -> Vec<Played> {
    let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    py.detach(|| files.iter().flat_map(|file| play(&roots, file)).collect())
}

fn play(roots: &[&Path], file: &Path) -> Vec<Played> {
    match parse::read(roots, file) {
        Err(failure) => vec![(file.display().to_string(), String::new(), String::new(), Some(failure.to_string()))],
        Ok(cases) => cases
            .into_iter()
            .map(|case| {
                let held = settings::config(&case).and_then(|config| run::run(&Arc::new(config), &case));
                (case.name, case.rule, case.source, held.err().map(|failure: Failure| failure.to_string()))
            })
            .collect(),
    }
}

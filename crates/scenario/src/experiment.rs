//! An experiment: a scenario run over a grid, in several arms, with replicates.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};

use ecnlab_base::Rng;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::de::read;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file::Table as AnyTable;
use crate::grid::{Axis, Cell, Grid, read_set, set_twice};
use crate::metric::{Metric, read_metrics};
use crate::names;
use crate::path::Path;
use crate::report::{ReportFile, read_report};
use crate::scenario::{self, Scenario, hex};
use crate::stop::{StopFile, read_stop};
use crate::tables::check_format;
use crate::tree::Node;
use crate::userlaws::Supplier;

/// Maximum number of runs; more are assumed to be a typing error.
const MOST_RUNS: usize = 1_000_000;

/// Contents of an experiment file except its tables.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// Version of the format: 1.
    #[serde(rename = "format")]
    _format: u64,
    /// Title of the experiment, shown in reports. Default: the path of the file.
    title: Option<String>,
    /// Path of the scenario file, relative to the folder of this file.
    scenario: String,
    /// Number of runs of every point and arm, each with its own seed.
    replicates: u32,
    /// Seed from which the replicates' seeds are derived. Default 1.
    #[serde(default = "one")]
    seed: u64,
    /// Dotted keys of the scenario and the values they have in every run.
    #[serde(default, rename = "set")]
    #[schemars(with = "BTreeMap<String, Json>")]
    _set: Option<AnyTable>,
    /// Axes; every combination of their points is run.
    #[serde(default, rename = "grid")]
    #[schemars(with = "BTreeMap<String, crate::grid::AxisFile>")]
    _grid: BTreeMap<String, AnyTable>,
    /// The settings to compare, `set = { KEY = VALUE }`: every arm runs at every point with the same seeds, and
    /// results of arms are paired by replicate. Default: a single arm without name.
    #[serde(default, rename = "arm")]
    #[schemars(with = "BTreeMap<String, crate::grid::ArmFile>")]
    _arm: BTreeMap<String, AnyTable>,
    /// The numbers taken from each run.
    #[serde(default, rename = "metrics")]
    #[schemars(with = "BTreeMap<String, Metric>")]
    _metrics: BTreeMap<String, AnyTable>,
    /// Top of the summary and the page. It changes no run.
    #[serde(default, rename = "report")]
    #[schemars(with = "ReportFile")]
    _report: Option<AnyTable>,
    /// When a sweep stops, in place of `replicates`: as soon as its questions are decided.
    #[serde(default, rename = "stop")]
    #[schemars(with = "StopFile")]
    _stop: Option<AnyTable>,
}

fn one() -> u64 {
    1
}

/// An experiment. Its runs (points × arms × replicates) are expanded on demand.
#[derive(Clone, Debug)]
pub struct Experiment {
    path: String,
    title: String,
    seed: u64,
    axes: Vec<String>,
    metrics: BTreeMap<String, Json>,
    report: Json,
    stop: Json,
    /// The parsed file, for later error messages.
    tree: Arc<Node>,
    base: Scenario,
    grid: Arc<Grid>,
    /// Hash of each cell's scenario.
    hashes: Arc<Vec<[u8; 32]>>,
    /// Seed of each replicate.
    seeds: Vec<u64>,
    /// Recently used scenarios, by cell number.
    recent: Arc<Mutex<VecDeque<(usize, Scenario)>>>,
}

/// Number of cached scenarios, of about 60 kB each for 20 flows: those of most experiments, which a sweep reads several times.
const RECENT: usize = 80;

/// One run of an experiment.
#[derive(Clone, Debug)]
pub struct Run {
    /// The arm; `None` if the experiment has no arms.
    pub arm: Option<String>,
    /// Axis and label of its point, in alphabetical order of the axes.
    pub point: Vec<(String, String)>,
    /// Number of the replicate, from 0.
    pub replicate: u32,
    /// Seed of the replicate, identical at every point and in every arm, so that arms are paired.
    pub seed: u64,
    /// The scenario with the values of the point and arm.
    pub scenario: Scenario,
    /// Its [`Scenario::hash`].
    pub hash: String,
    /// 16 hexadecimal digits that depend only on the resolved scenario and the seed. Runs of an experiment share an id
    /// if their points do not differ in effect.
    pub id: String,
}

/// Parses the experiment file `path` with contents `text`; `read_file` returns the contents of the scenario file that
/// it names.
///
/// # Errors
/// All errors in both files, each with its line and a remedy.
pub fn parse_experiment(
    path: &str,
    text: &str,
    read_file: &dyn Fn(&FilePath) -> io::Result<String>,
) -> Result<Experiment, Diagnostics> {
    read_all(path, text, read_file, None)
}

/// [`parse_experiment`] for scenarios with laws in files, which `supplier` loads.
///
/// # Errors
/// As [`parse_experiment`], and errors of the supplier.
pub fn parse_experiment_with(
    path: &str,
    text: &str,
    read_file: &dyn Fn(&FilePath) -> io::Result<String>,
    supplier: Arc<dyn Supplier>,
) -> Result<Experiment, Diagnostics> {
    read_all(path, text, read_file, Some(supplier))
}

fn read_all(
    path: &str,
    text: &str,
    read_file: &dyn Fn(&FilePath) -> io::Result<String>,
    supplier: Option<Arc<dyn Supplier>>,
) -> Result<Experiment, Diagnostics> {
    let tree = Node::parse(path, text).map_err(Diagnostics::of)?;
    check_format(&tree).map_err(Diagnostics::of)?;
    let Parts { head, axes, arms, set, metrics, report, stop } = read_parts(&tree).map_err(Diagnostics::of)?;
    let scenario = read_scenario(path, &head.scenario, &tree, read_file, supplier)?;
    check_size(&head, &axes, arms.len(), &tree)?;
    let names = axes.iter().map(|axis| axis.name.clone()).collect();
    let grid = Grid { set, axes, arms };
    let hashes = spell_out(&scenario, &grid).map_err(Diagnostics::of)?;
    let experiment = Experiment {
        path: path.to_owned(),
        title: head.title.unwrap_or_else(|| path.to_owned()),
        seed: head.seed,
        axes: names,
        metrics,
        report,
        stop,
        tree: Arc::new(tree),
        base: scenario,
        grid: Arc::new(grid),
        hashes: Arc::new(hashes),
        seeds: Vec::new(),
        recent: Arc::default(),
    };
    Ok(experiment.with_replicates(head.replicates))
}

impl Experiment {
    /// Path of the experiment file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Title in the file; its path if it has none.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Seed from which the replicates' seeds are derived.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Number of runs per point and arm.
    pub fn replicates(&self) -> u32 {
        self.seeds.len() as u32
    }

    /// Names of the axes, in alphabetical order.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// Definitions of the metrics, by name.
    pub fn metrics(&self) -> &BTreeMap<String, Json> {
        &self.metrics
    }

    /// `[report]`: `primary`, `reference`, `smallest`, and `arms` and `metrics` in the order of the file.
    pub fn report(&self) -> &Json {
        &self.report
    }

    /// `[stop]`: `until`, `least` and `most`; null without it.
    pub fn stop(&self) -> &Json {
        &self.stop
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.hashes.len() * self.seeds.len()
    }

    /// Returns whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the distinct scenarios of its cells, in the order of the runs.
    ///
    /// # Errors
    /// Those of [`Experiment::run`].
    pub fn scenarios(&self) -> Result<Vec<Scenario>, Diagnostics> {
        let mut seen = HashSet::new();
        let first = (0..self.hashes.len()).filter(|&number| seen.insert(self.hashes[number]));
        first.map(|number| self.scenario(number, &self.grid.cell(number))).collect()
    }

    /// Converts findings of a later check, each (keys of a value, message, help), into errors located at the line of
    /// the value.
    ///
    /// `findings` must not be empty.
    pub fn refuse(&self, findings: &[(Vec<String>, String, String)]) -> Diagnostics {
        let diagnostic = |(keys, message, help): &(Vec<String>, String, String)| {
            let path = Path::of(&keys.iter().map(String::as_str).collect::<Vec<_>>());
            Diagnostic::new(self.tree.place_of(&path), &path, format!("`{path}`: {message}"), help)
        };
        Diagnostics::of(findings.iter().map(diagnostic).collect())
    }

    /// Iterates over all runs: points in alphabetical order of the axes, the last axis fastest, then arms, then
    /// replicates.
    ///
    /// # Errors
    /// Per run, the errors of [`Experiment::run`].
    pub fn runs(&self) -> impl ExactSizeIterator<Item = Result<Run, Diagnostics>> + DoubleEndedIterator {
        (0..self.len()).map(|index| self.run(index))
    }

    /// Returns the run at `index`, which is less than [`Experiment::len`].
    ///
    /// # Errors
    /// Errors of the scenario of its point and arm. There are none if the file was parsed; the check avoids ever
    /// running a different scenario.
    pub fn run(&self, index: usize) -> Result<Run, Diagnostics> {
        let (number, replicate) = (index / self.seeds.len(), index % self.seeds.len());
        let cell = self.grid.cell(number);
        Ok(Run {
            arm: cell.arm.clone(),
            point: cell.point.clone(),
            replicate: replicate as u32,
            seed: self.seeds[replicate],
            id: self.id(index),
            hash: hex(&self.hashes[number]),
            scenario: self.scenario(number, &cell)?,
        })
    }

    /// Returns the id of the run at `index`, as [`Run::id`].
    pub fn id(&self, index: usize) -> String {
        let (number, replicate) = (index / self.seeds.len(), index % self.seeds.len());
        run_id(&hex(&self.hashes[number]), self.seeds[replicate])
    }

    /// Returns the experiment with another number of replicates; common replicates are the same runs.
    pub fn with_replicates(mut self, replicates: u32) -> Experiment {
        self.seeds = (0..replicates).map(|r| Rng::named(self.seed, &format!("replicate.{r}")).u64()).collect();
        self
    }

    fn scenario(&self, number: usize, cell: &Cell) -> Result<Scenario, Diagnostics> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scenario)) = recent.iter().find(|(of, _)| *of == number) {
            return Ok(scenario.clone());
        }
        let scenario = self.base.with_entries(&cell.values).map_err(Diagnostics::of)?;
        recent.push_back((number, scenario.clone()));
        if recent.len() > RECENT {
            recent.pop_front();
        }
        Ok(scenario)
    }
}

/// Depends only on the resolved scenario and the seed.
fn run_id(hash: &str, seed: u64) -> String {
    hex(&Sha256::digest(format!("{hash} {seed}"))[..8])
}

/// The parts of an experiment file.
struct Parts {
    head: Head,
    axes: Vec<Axis>,
    arms: Vec<Cell>,
    set: Cell,
    metrics: BTreeMap<String, Json>,
    report: Json,
    stop: Json,
}

fn read_parts(tree: &Node) -> Result<Parts, Vec<Diagnostic>> {
    let mut found = names::of_experiment(tree);
    let head = read::<Head>(tree, &Path::default()).map_err(|wrong| found.extend(wrong)).ok();
    let axes = Axis::read_all(tree).map_err(|wrong| found.extend(wrong)).ok();
    let arms = Cell::read_arms(tree).map_err(|wrong| found.extend(wrong)).ok();
    let metrics = read_metrics(tree).map_err(|wrong| found.extend(wrong)).ok();
    let report = read_report(tree).map_err(|wrong| found.extend(wrong)).ok();
    let stop = read_stop(tree).map_err(|wrong| found.extend(wrong)).ok();
    found.extend(set_twice(tree, axes.as_deref().unwrap_or_default(), arms.as_deref().unwrap_or_default()));
    let set = Cell { values: read_set(tree, &Path::of(&["set"])), ..Cell::default() };
    if let Some(0) = head.as_ref().map(|h| h.replicates) {
        let path = Path::of(&["replicates"]);
        found.push(Diagnostic::new(tree.place_of(&path), &path, "`replicates` is 0", "write at least 1"));
    }
    match (head, axes, arms, metrics, report, stop) {
        (Some(head), Some(axes), Some(arms), Some(metrics), Some(report), Some(stop)) if found.is_empty() => {
            Ok(Parts { head, axes, arms, set, metrics, report, stop })
        }
        _ => Err(found),
    }
}

fn read_scenario(
    path: &str,
    name: &str,
    tree: &Node,
    read_file: &dyn Fn(&FilePath) -> io::Result<String>,
    supplier: Option<Arc<dyn Supplier>>,
) -> Result<Scenario, Diagnostics> {
    let file = FilePath::new(path).parent().unwrap_or(FilePath::new("")).join(name);
    let shown = file.to_string_lossy();
    let text = read_file(&file).map_err(|e| {
        let key = Path::of(&["scenario"]);
        let message = format!("`scenario`: cannot read `{shown}`: {e}");
        Diagnostic::new(tree.place_of(&key), &key, message, "the path starts at the folder of this file")
    })?;
    scenario::read(&shown, &text, supplier)
}

fn check_size(head: &Head, axes: &[Axis], arms: usize, tree: &Node) -> Result<(), Diagnostics> {
    let points = axes.iter().map(|axis| axis.points.len());
    let runs = points.fold(arms.max(1), usize::saturating_mul).saturating_mul(head.replicates as usize);
    if runs <= MOST_RUNS {
        return Ok(());
    }
    let path = Path::of(&["replicates"]);
    let message = format!("the experiment has {runs} runs");
    let help = format!("at most {MOST_RUNS} fit; write fewer replicates or points");
    Err(Diagnostic::new(tree.place_of(&path), &path, message, help).into())
}

/// Checks that every cell is a valid scenario, and returns the hashes.
fn spell_out(base: &Scenario, grid: &Grid) -> Result<Vec<[u8; 32]>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut hashes = Vec::with_capacity(grid.len());
    for number in 0..grid.len() {
        match base.with_entries(&grid.cell(number).values) {
            Ok(scenario) => hashes.push(scenario.digest()),
            // Cells share most of their values and thus their errors: each is reported once.
            Err(wrong) => found.extend(wrong.into_iter().filter(|w| !found.contains(w)).collect::<Vec<_>>()),
        }
    }
    if found.is_empty() { Ok(hashes) } else { Err(found) }
}

//! An experiment: a scenario, run over a grid, in arms, many times.

use std::collections::BTreeMap;
use std::io;
use std::path::Path as FilePath;

use ecnlab_base::Rng;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::de::read;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file::Table as AnyTable;
use crate::grid::{Axis, Cell, cells, read_set, set_twice};
use crate::metric::{Metric, read_metrics};
use crate::names;
use crate::path::Path;
use crate::scenario::{Scenario, hex, parse_scenario};
use crate::spec::check_format;
use crate::tree::Node;

/// More runs than this are taken for a slip of the keyboard.
const MOST_RUNS: usize = 1_000_000;

/// What an experiment file says, but for its tables.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// Version of the format: 1.
    #[serde(rename = "format")]
    _format: u64,
    /// What the experiment is about; shown in reports.
    title: Option<String>,
    /// The scenario file, from the folder of this file.
    scenario: String,
    /// Runs of every point and arm, each under a seed of its own.
    replicates: u32,
    /// From which the seeds of the replicates come; 1 by default.
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
    /// What is compared: every arm runs at every point under the same seeds.
    #[serde(default, rename = "arm")]
    #[schemars(with = "BTreeMap<String, crate::grid::ArmFile>")]
    _arm: BTreeMap<String, AnyTable>,
    /// The numbers taken from each run.
    #[serde(default, rename = "metrics")]
    #[schemars(with = "BTreeMap<String, Metric>")]
    _metrics: BTreeMap<String, AnyTable>,
}

fn one() -> u64 {
    1
}

/// An experiment, spelled out run by run.
#[derive(Clone, Debug)]
pub struct Experiment {
    title: String,
    seed: u64,
    replicates: u32,
    axes: Vec<String>,
    metrics: BTreeMap<String, Json>,
    /// The file, for who finds something wrong with what it says.
    tree: Node,
    scenarios: Vec<(Cell, Scenario)>,
    runs: Vec<Run>,
}

/// One run of an experiment.
#[derive(Clone, Debug)]
pub struct Run {
    /// The arm; `None` where the experiment has none.
    pub arm: Option<String>,
    /// Axis and label of its point, in alphabetical order of the axes.
    pub point: Vec<(String, String)>,
    /// Which replicate, from 0.
    pub replicate: u32,
    /// The seed: the replicate's, the same at every point and in every arm, so that arms are paired.
    pub seed: u64,
    /// The scenario with the values of this point and arm.
    pub scenario: Scenario,
    /// 16 hexadecimal digits that depend on the resolved scenario and the seed alone. Two runs of
    /// an experiment share it where their points make no difference.
    pub id: String,
}

/// Reads the experiment file `path`, whose text is `text`; `read_file` gives the text of the
/// scenario file it names.
///
/// # Errors
/// Everything found wrong in either file, each with its line and a remedy.
pub fn parse_experiment(
    path: &str,
    text: &str,
    read_file: &dyn Fn(&FilePath) -> io::Result<String>,
) -> Result<Experiment, Diagnostics> {
    let tree = Node::parse(path, text).map_err(Diagnostics::of)?;
    check_format(&tree).map_err(Diagnostics::of)?;
    let (head, axes, arms, set, metrics) = read_parts(&tree).map_err(Diagnostics::of)?;
    let scenario = read_scenario(path, &head.scenario, &tree, read_file)?;
    check_size(&head, &axes, arms.len(), &tree)?;
    let scenarios = spell_out(&scenario, cells(&set, &axes, &arms)).map_err(Diagnostics::of)?;
    let experiment = Experiment {
        title: head.title.unwrap_or_else(|| path.to_owned()),
        seed: head.seed,
        replicates: head.replicates,
        axes: axes.into_iter().map(|axis| axis.name).collect(),
        metrics,
        tree,
        scenarios,
        runs: Vec::new(),
    };
    Ok(experiment.with_replicates(head.replicates))
}

impl Experiment {
    /// What the file says it is about; its path if it says nothing.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// From which the seeds of the replicates come.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs of every point and arm.
    pub fn replicates(&self) -> u32 {
        self.replicates
    }

    /// Names of the axes, in alphabetical order.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// Definitions of the metrics, by name.
    pub fn metrics(&self) -> &BTreeMap<String, Json> {
        &self.metrics
    }

    /// The scenario of each cell, in the order of the runs.
    pub fn scenarios(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().map(|(_, scenario)| scenario)
    }

    /// What somebody who reads the file finds wrong with it: (keys of a value, message, help) each, pointed at the line of
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

    /// Every run: points in alphabetical order of the axes, the last axis fastest, then arms, then
    /// replicates.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The same with another number of replicates; those that both have are the same runs.
    pub fn with_replicates(mut self, replicates: u32) -> Experiment {
        self.replicates = replicates;
        let seeds: Vec<u64> = (0..replicates).map(|r| Rng::named(self.seed, &format!("replicate.{r}")).u64()).collect();
        self.runs.clear();
        for (cell, scenario) in &self.scenarios {
            for (replicate, &seed) in (0..).zip(&seeds) {
                self.runs.push(Run {
                    arm: cell.arm.clone(),
                    point: cell.point.clone(),
                    replicate,
                    seed,
                    scenario: scenario.clone(),
                    id: run_id(scenario.hash(), seed),
                });
            }
        }
        self
    }
}

/// Stable as long as the resolved scenario and the seed are.
fn run_id(hash: &str, seed: u64) -> String {
    hex(&Sha256::digest(format!("{hash} {seed}"))[..8])
}

type Parts = (Head, Vec<Axis>, Vec<Cell>, Cell, BTreeMap<String, Json>);

fn read_parts(tree: &Node) -> Result<Parts, Vec<Diagnostic>> {
    let mut found = names::of_experiment(tree);
    let head = read::<Head>(tree, &Path::default()).map_err(|wrong| found.extend(wrong)).ok();
    let axes = Axis::read_all(tree).map_err(|wrong| found.extend(wrong)).ok();
    let arms = Cell::read_arms(tree).map_err(|wrong| found.extend(wrong)).ok();
    let metrics = read_metrics(tree).map_err(|wrong| found.extend(wrong)).ok();
    found.extend(set_twice(tree, axes.as_deref().unwrap_or_default(), arms.as_deref().unwrap_or_default()));
    let set = Cell { values: read_set(tree, &Path::of(&["set"])), ..Cell::default() };
    if let Some(0) = head.as_ref().map(|h| h.replicates) {
        let path = Path::of(&["replicates"]);
        found.push(Diagnostic::new(tree.place_of(&path), &path, "`replicates` is 0", "write at least 1"));
    }
    match (head, axes, arms, metrics) {
        (Some(head), Some(axes), Some(arms), Some(metrics)) if found.is_empty() => Ok((head, axes, arms, set, metrics)),
        _ => Err(found),
    }
}

fn read_scenario(
    path: &str,
    name: &str,
    tree: &Node,
    read_file: &dyn Fn(&FilePath) -> io::Result<String>,
) -> Result<Scenario, Diagnostics> {
    let file = FilePath::new(path).parent().unwrap_or(FilePath::new("")).join(name);
    let shown = file.to_string_lossy();
    let text = read_file(&file).map_err(|e| {
        let key = Path::of(&["scenario"]);
        let message = format!("`scenario`: cannot read `{shown}`: {e}");
        Diagnostic::new(tree.place_of(&key), &key, message, "the path starts at the folder of this file")
    })?;
    parse_scenario(&shown, &text)
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

/// The scenario of every cell.
fn spell_out(base: &Scenario, cells: Vec<Cell>) -> Result<Vec<(Cell, Scenario)>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut all = Vec::new();
    for cell in cells {
        match base.with_entries(&cell.values) {
            Ok(scenario) => all.push((cell, scenario)),
            // Cells share most of their values, and so their mistakes: each is reported once.
            Err(wrong) => found.extend(wrong.into_iter().filter(|w| !found.contains(w)).collect::<Vec<_>>()),
        }
    }
    if found.is_empty() { Ok(all) } else { Err(found) }
}

"""A paper's README, made from its template and the points of a full run.

``README.in.md`` has references (`ecnlab.papers.references`) where ``README.md`` has numbers. ``quoted.json`` beside them holds
the quoted rows of a full run and what that run was of, so that the README can be made, and be held to it, without the run. Every other
``NAME.in.md`` of the folder becomes ``NAME.md`` in the same way::

    make readme PAPER=rfc2884 FROM=results/rfc2884    # after `ecnlab reproduce rfc2884 --full`
    make readme PAPER=rfc2884                         # after a change of words only

A test makes every README again, and checks that the experiments are those of the quoted run.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from ecnlab._core import ExperimentRun
from ecnlab.api.sweep import Sweep
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import known
from ecnlab.engines.protocol import PACKETS
from ecnlab.folder.atomic import write_bytes
from ecnlab.papers import engine_rows
from ecnlab.papers.analysis import Analysis, Stored, read_results, shapes
from ecnlab.papers.growing import seeds_of_points
from ecnlab.papers.inferred import Inferred
from ecnlab.papers.judge import both_sizes, verdicts
from ecnlab.papers.paper import Paper
from ecnlab.papers.published import Published, read_published
from ecnlab.papers.quoted import FORMAT, JUDGEMENTS, QUOTED, Evidence, dump, kept_rows, read_quoted
from ecnlab.papers.readings import TABLE as READINGS
from ecnlab.papers.references import fill
from ecnlab.papers.registry import find
from ecnlab.papers.tables import Feature, FeaturesFile
from ecnlab.runs.engine_by_name import answerer_of
from ecnlab.runs.sweep_runs import chosen, run_keys
from ecnlab.scenario.data_files import read_file
from ecnlab.scenario.files import read_experiment, read_text

TEMPLATE: Final = "README.in.md"
README: Final = "README.md"
ENDING: Final = ".in.md"
"""Ending of a template's name."""
UNBUILT: Final = "unbuilt.toml"
"""The list of features that the papers name and ecnlab does not have."""

NOTICE: Final = "<!-- Made by `make readme` from README.in.md and quoted.json: change those. -->\n"
KEPT: Final = engine_rows.TABLES
"""Tables whose quoted rows are kept if a results folder does not have them: not every full run uses the Linux kernel.
"""


def make(paper: str, results: Path | None = None) -> Path:
    """Write the README of ``paper``, and first, with the ``results`` of a full run, its quoted rows; return its path.

    Raises EcnlabError if the run is not a full one of the current experiments, or if a reference is wrong; OSError.
    """
    found, folder = find(paper)
    published = read_published(folder)
    if results is not None:
        write_bytes(folder / QUOTED, _quote(found, folder, published, results).encode())
    for name, text in render_all(folder, quoted_evidence(found, folder, published)).items():
        write_bytes(folder / name, text.encode())
    return folder / README


def render_all(folder: Path, evidence: Evidence) -> dict[str, str]:
    """The text of each page that has a template, by its name. Raises EcnlabError as `render` does."""
    templates = sorted(path.name for path in folder.glob(f"*{ENDING}"))
    return {name.removesuffix(ENDING) + ".md": render(folder, evidence, name) for name in templates}


def render(folder: Path, evidence: Evidence, template: str = TEMPLATE) -> str:
    """The text of the README, or of another page, with the run that it quotes below the title.

    Raises EcnlabError naming the template, the line and the reference that is wrong.
    """
    path = folder / template
    feature = partial(feature_text, folder.parent)
    names = {"unbuilt": feature, "inferred": partial(Inferred.read, folder)}
    title, _, rest = fill(read_text(path), evidence, path, names=names).partition("\n")
    quoted = evidence.about.get("ecnlab")
    source = (
        f"\n*Numbers quoted from full runs with ecnlab {quoted['version']}, commit {quoted['commit']}.*\n"
        if quoted
        else ""
    )
    return f"{NOTICE.replace(TEMPLATE, template)}{title}\n{source}{rest}"


def features(papers: Path) -> Mapping[str, Feature]:
    """The features by name. ``papers`` is the folder of all papers. Raises EcnlabError if the file is wrong; OSError."""
    return read_file(papers / UNBUILT, FeaturesFile).feature


def feature_text(papers: Path, name: str) -> str:
    """Return the README's statement about a feature. Raises EcnlabError if the list does not have it."""
    return known("feature", name, features(papers)).text.strip()


def quoted_evidence(paper: Paper, folder: Path, published: Published) -> Evidence:
    """Return the data for the template's references: ``quoted.json``."""
    held = read_quoted(folder / QUOTED)
    return Evidence.of(published, paper.grid, {}, held["run"], held["tables"])


def stale(paper: Paper, folder: Path) -> list[str]:
    """Return the reasons why ``quoted.json`` is outdated: one line per experiment or simulator result that has changed.

    An experiment has changed if the contents of its files differ, or if its first run, repeated, has other packet
    counts.
    """
    held = read_quoted(folder / QUOTED)["run"]["experiments"]
    today = _experiments(paper, folder)
    changed = [f"{name}: not in the full run that is quoted" for name in today if name not in held]
    changed += [f"{name}: quoted, but no experiment any more" for name in held if name not in today]
    for name in (name for name in today if name in held):
        what = [key for key in today[name] if today[name][key] != held[name].get(key)]
        changed += [f"{name}: {key} {held[name].get(key)}, today {today[name][key]}" for key in what]
    return changed + _stale_on_linux(paper, folder)


def _stale_on_linux(paper: Paper, folder: Path) -> list[str]:
    """Return a line for each experiment of both engines that is not as it was for the quoted rows."""
    kernel = read_quoted(folder / QUOTED)["run"].get("kernel")
    if kernel is None:
        return []
    held, today = kernel["experiments"], _kernel_experiments(paper, folder, full=kernel["full"])
    names = sorted(held.keys() | today.keys())
    return [
        f"{name}: on the kernel {held.get(name)}, today {today.get(name)}"
        for name in names
        if held.get(name) != today.get(name)
    ]


def _quote(paper: Paper, folder: Path, published: Published, results: Path) -> str:
    """Return ``quoted.json`` of the full run in ``results``: rows used by the template, description of the run.

    Of a quick run only the rows of both engines are taken, and its verdicts if the paper has a budget.
    """
    about = read_results(results)
    analysis = Stored(results / "analysis", about, shapes(paper.grid, published))
    of_kernel = _tables_of_kernel(paper, published, analysis)
    if not about["full"]:
        looked = about.get("looked", False)
        if looked and engine_rows.CELLS not in of_kernel:
            held = read_quoted(folder / QUOTED)
        else:
            held = _with_kernel(paper, folder, published, results, of_kernel)
        return dump(_with_quick(paper, folder, results, held, analysis["quick"]) if looked else held)
    again = [READINGS] if published.readings else []
    tables = {name: analysis[name] for name in ("points", *JUDGEMENTS, *again)} | of_kernel
    kept = kept_rows(folder, set(KEPT) - set(tables))
    _refuse_others(paper, folder, results, _full(paper, folder))
    run = _run(paper, folder, about, tables) | {"kept": {name: rows["of"] for name, rows in kept.items()}}
    run |= _kernel(paper, folder, results, about, of_kernel)
    evidence = Evidence.of(published, paper.grid, tables, run, {name: rows["rows"] for name, rows in kept.items()})
    render_all(folder, evidence)
    sizes = both_sizes(analysis["quick"], verdicts(tables["numbers"], tables["claims"]))
    return dump({"format": FORMAT, "run": run, "verdicts": sizes, "tables": evidence.quoted()})


def _run(paper: Paper, folder: Path, about: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the description of the quoted run."""
    answers = tables["claims"].unique("id", maintain_order=True)["answer"]
    tally = {"numbers": tables["numbers"]["verdict"], "claims": answers}
    return {
        "ecnlab": about["ecnlab"],
        "linux": about["linux"],
        "seed": about["seed"],
        "runs": about["runs"],
        "tally": {name: dict(sorted(column.value_counts().iter_rows())) for name, column in tally.items()},
        "experiments": _experiments(paper, folder),
    }


def _with_quick(
    paper: Paper, folder: Path, results: Path, held: Mapping[str, Any], quick: pl.DataFrame
) -> dict[str, Any]:
    """Return the quoted rows ``held`` with the ``quick`` verdicts of ``results``. Raises EcnlabError if an experiment has changed."""
    if changed := stale(paper, folder):
        raise EcnlabError(f"{folder / QUOTED}: {changed[0]}: `make readme PAPER={paper.name} FROM=` a full run first")
    _refuse_others(paper, folder, results, _full(paper, folder), whole=False)
    of_quick = dict(quick.iter_rows())
    sizes = {name: {**of, "quick": of_quick[name]} for name, of in held["verdicts"].items()}
    return {**held, "verdicts": sizes}


def _with_kernel(
    paper: Paper, folder: Path, published: Published, results: Path, of_kernel: dict[str, pl.DataFrame]
) -> dict[str, Any]:
    """Return the quoted rows as they are, but with those of both engines of a quick run.

    Raises EcnlabError if there are none, or those of a full run are quoted.
    """
    about = read_results(results)
    if engine_rows.CELLS not in of_kernel or not (folder / QUOTED).exists():
        raise EcnlabError(
            f"{results} holds the quick size: a README quotes the full one (`ecnlab reproduce {paper.name} --full`)"
        )
    held = read_quoted(folder / QUOTED)
    if held["run"].get("kernel", {}).get("full"):
        raise EcnlabError(
            f"{folder / QUOTED} has the kernel's rows of the full size: the quick size does not replace them"
        )
    held["run"] |= _kernel(paper, folder, results, about, of_kernel) | {
        "kept": {name: {key: about[key] for key in ("ecnlab", "linux")} for name in of_kernel}
    }
    evidence = Evidence.of(published, paper.grid, of_kernel, held["run"], held["tables"])
    render_all(folder, evidence)
    return held | {"tables": dict(sorted((held["tables"] | evidence.quoted(*of_kernel)).items()))}


def _kernel(
    paper: Paper, folder: Path, results: Path, about: Mapping[str, Any], of_kernel: Mapping[str, pl.DataFrame]
) -> dict[str, Any]:
    """Return the description of the kernel's runs: of ``results`` if they have some, else that which is quoted."""
    if engine_rows.CELLS in of_kernel:
        _refuse_others(paper, folder, results, _on_linux(paper, folder, full=about["full"]))
        return {"kernel": _described(paper, folder, about)}
    held = read_quoted(folder / QUOTED)["run"] if (folder / QUOTED).exists() else {}
    return {"kernel": held["kernel"]} if "kernel" in held else {}


def _tables_of_kernel(paper: Paper, published: Published, analysis: Analysis) -> dict[str, pl.DataFrame]:
    """Return the tables of ``analysis`` that need the kernel, by name; nothing if they are missing."""
    tables = {}
    if "linux" in analysis:
        tables["linux"] = analysis["linux"]
    if paper.compare and "linux_samples" in analysis:
        cells = paper.compare(analysis["linux_samples"], published.metrics)
        blank = [pl.lit("").alias(key) for key in paper.grid.keys if key not in cells.columns]
        tables[engine_rows.CELLS] = cells.with_columns(blank).select(list(engine_rows.schema(paper.grid)))
    return tables


def _described(paper: Paper, folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of the kernel's runs in the results that ``about`` describes: kernel, size, experiments."""
    return {
        "ecnlab": about["ecnlab"],
        "linux": about["linux"],
        "full": about["full"],
        "experiments": _kernel_experiments(paper, folder, full=about["full"]),
    }


def _kernel_experiments(paper: Paper, folder: Path, *, full: bool) -> dict[str, dict[str, Any]]:
    """Return for each experiment of both engines: seeds, runs of one engine, hash of its files."""
    found = {}
    for step in paper.on_linux:
        file, seeds = folder / f"{step.name}.toml", step.full if full else step.quick
        once = {run.id for run in read_experiment(file).with_replicates(1).runs}
        found[step.name] = {"replicates": seeds, "runs": len(once) * seeds, "files": _content_hash(file)}
    return found


def _content_hash(path: Path) -> str:
    """Return a hash of the values of an experiment file and its scenario, without comments, titles and layout."""
    experiment = tomllib.loads(read_text(path))
    scenario = tomllib.loads(read_text(path.parent / experiment["scenario"]))
    for table in (experiment, scenario):
        table.pop("title", None)
    experiment.pop("replicates", None)
    return hashlib.sha256(json.dumps([experiment, scenario], sort_keys=True, default=str).encode()).hexdigest()[:16]


def _refuse_others(
    paper: Paper, folder: Path, results: Path, sizes: Mapping[str, list[int]], *, whole: bool = True
) -> None:
    """Raise EcnlabError if an experiment in ``results`` has changed, or this simulator's result of its first run.

    ``sizes`` are by step the seeds of each point, which it must have if it is the ``whole``.
    """
    for step, seeds in sizes.items():
        experiment = read_experiment(folder / f"{step}.toml").with_replicates(max(seeds))
        done = Sweep.load(results / "sweeps" / step)
        remedy = f"`ecnlab reproduce {paper.name} --full` makes it anew"
        wanted = chosen(experiment, seeds)
        there, expected = set(done.runs["id"]), set(run_keys(experiment, wanted)["id"])
        if there != expected if whole else not there <= expected:
            raise EcnlabError(f"{results}: {step} is not today's experiment: {remedy}")
        one = experiment.run(0)
        first = done.table("queues").filter(pl.col("id") == one.id).collect()
        if _counts(first) != _first(one):
            raise EcnlabError(f"{results}: the first run of {step} is not what this simulator gives: {remedy}")


def _full(paper: Paper, folder: Path) -> dict[str, list[int]]:
    """By step the seeds of each point in the full size."""
    experiments = {step.name: read_experiment(folder / f"{step.name}.toml").with_replicates(1) for step in paper.steps}
    alike = {step.name: [step.full] * len(experiments[step.name]) for step in paper.steps}
    return alike | seeds_of_points(paper, read_published(folder), experiments) if paper.budget else alike


def _on_linux(paper: Paper, folder: Path, *, full: bool) -> dict[str, list[int]]:
    """By step of both engines the seeds of each point."""
    sizes = {step.name: step.full if full else step.quick for step in paper.on_linux}
    return {name: [n] * len(read_experiment(folder / f"{name}.toml").with_replicates(1)) for name, n in sizes.items()}


def _experiments(paper: Paper, folder: Path) -> dict[str, dict[str, Any]]:
    """Return for each experiment: seeds and runs of the full size, contents of its files, and counts of its first run."""
    found, seeds = {}, _full(paper, folder)
    for step in paper.steps:
        file = folder / f"{step.name}.toml"
        once = read_experiment(file).with_replicates(1).runs
        largest: dict[str, int] = {}
        for run, n in zip(once, seeds[step.name], strict=True):
            largest[run.id] = max(n, largest.get(run.id, 0))
        found[step.name] = {
            "replicates": step.full,
            "runs": sum(largest.values()),
            "files": _content_hash(file),
            "first": _first(once[0]),
        }
    return found


def _first(run: ExperimentRun) -> dict[str, int]:
    """Return the queue counts of ``run``, the first of an experiment, which is done again."""
    return _counts(answerer_of(PACKETS).tables(run.scenario, run.seed, events=False, captures=None)["queues"])


def _counts(queues: pl.DataFrame) -> dict[str, int]:
    """Return packets and bytes by fate, over all queues."""
    every = queues.filter(pl.col("group") == "all")
    return {name: int(every[name].sum()) for name in ("arrived", "departed_bytes", "marks", "dropped")}


def main(arguments: list[str]) -> int:
    """Make the README of the paper that is named first, from the results in the folder that is named second, if any."""
    try:
        paper, *results = arguments
        path = make(paper, Path(results[0]) if results else None)
    except (EcnlabError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

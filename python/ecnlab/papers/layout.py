"""Common layout of the pages of papers, around their own sections."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.analysis import Analysis
from ecnlab.papers.behind import SHOWN, TABLE, command
from ecnlab.papers.judge import verdicts
from ecnlab.papers.material import Material
from ecnlab.papers.networks import networks
from ecnlab.papers.paper import Paper
from ecnlab.papers.readings import TABLE as READINGS
from ecnlab.papers.readings import in_words
from ecnlab.papers.references import confidence
from ecnlab.papers.report_file import Report
from ecnlab.papers.tables import ChecklistFile, ChecklistRow
from ecnlab.papers.tables import Page as PageTexts
from ecnlab.report import Page, Row, Rows, Section, Table, Tally
from ecnlab.report.page import Cell
from ecnlab.report.tone import Tone
from ecnlab.report.words import counted
from ecnlab.scenario.data_files import read_file

AGREEMENT: Final = (
    "A number agrees if the measured mean lies within a margin of it and the interval is no wider than two margins. It "
    "differs if no value of the interval lies within the margin of it; if the whole interval then lies on its side of no effect, it has "
    "the same direction. Otherwise the runs are inconclusive."
)
ANSWERS: Final = (
    "A claim is asked at every place it speaks of. It holds (yes) if it is shown at all of them, and does not (no) if it is refuted at "
    "one; partly is for trends that hold on a part of their axis. Otherwise it is undecided."
)


IN_QUICK: Final = (
    "In the quick size the intervals of verdicts are of {level}; a number agrees only with its whole interval within the margin, and no "
    "trend holds partly: what few seeds decide is what the full size decides."
)

LOOKED: Final = (
    "In the quick size a point has more seeds where they decide a number or claim, as far as the budget of runs goes. The intervals of "
    "verdicts, of {level}, are valid at every look (docs/sequential.md), and a decision is that of the first look which decides; a number "
    "agrees only with its whole interval within the margin, and no trend holds partly."
)


def paper_page(folder: Path, tables: Analysis, paper: Paper) -> Page:
    """The report of the analysis in ``tables``, with the texts in the paper's ``folder``.

    Raises EcnlabError for a text that is wrong; OSError.
    """
    given = Material.read(folder, tables, paper.grid)
    report, about, made = Report.read(folder, paper, given), tables.about, tables.about["ecnlab"]
    page = report.contents.page
    return Page(
        title=page.title,
        kicker=f"ecnlab {made['version']} · {'full' if about['full'] else 'quick'} size",
        lede=page.lede.strip(),
        answer=report.answer(),
        tallies=[*_tallies(given), blocks.answers(blocks.by_claim(given.claims))],
        forest=blocks.distances(given.numbers.filter(~pl.col("metric").is_in(given.published.apart))),
        findings=report.findings(),
        facts=[
            ("simulated runs", f"{about['runs']:,}"),
            ("simulated time", f"{about['simulated_s'] / 3600:,.0f} h"),
            ("seeds per point", about["replicates"]),
            *_changed(given),
        ],
        sections=[
            *_printed(given, page),
            Section(
                "networks",
                "The networks",
                "Rates, delays and queues are those of the scenario files, in the direction of the traffic.",
                networks(folder),
                folded=True,
            ),
            *report.sections(),
            _checklist(given.published.paper, read_file(folder / "checklist.toml", ChecklistFile).row),
            _provenance(about, tables["departures"], tables["experiments"]),
        ],
        footer=f"Made by ecnlab {made['version']} (build {made['build']}) from the "
        "analysis tables in the folder of this page. "
        "The page is one file and needs no network.",
    )


def _tallies(given: Material) -> list[Tally]:
    """Verdicts of the printed numbers, those that are easy to meet apart."""
    easy = pl.col("metric").is_in(given.published.apart)
    counted, apart = given.numbers.filter(~easy)["verdict"], given.numbers.filter(easy)["verdict"]
    return [blocks.verdicts(counted), *([blocks.verdicts(apart, "that are easy to meet")] if apart.len() else [])]


def _changed(given: Material) -> list[tuple[str, str]]:
    """In the quick size: how many verdicts the full one changes."""
    rows = verdicts(given.numbers, given.claims).iter_rows()
    changed = sum(given.full.get(name, verdict) != verdict for name, verdict in rows)
    return [("verdicts that the full size changes", f"{changed} of {len(given.full)}")] if given.full else []


def _printed(given: Material, page: PageTexts) -> list[Section]:
    """Return all printed values with the measurements."""
    runs = _runs(given.tables)
    numbers = blocks.number_rows(
        given.numbers,
        given.published,
        given.reasons,
        page.context,
        given.grid,
        given.full,
        given.rules.level,
    )
    claims = blocks.claim_rows(given.claims, given.published, given.grid, given.reasons, given.full, given.rules.level)
    again = _again(given.tables)
    numbers, claims = (_with_runs(_with_readings(rows, again), given.folder, runs) for rows in (numbers, claims))
    text = LOOKED if given.rules.spread else IN_QUICK
    quick = f" {text.format(level=confidence(given.rules.level))}" if given.rules.strict else ""
    shown = [Section("claims", "The claims", ANSWERS + _together(given), claims)] if claims else []
    if numbers:
        agreement = f"{AGREEMENT}{quick} {page.agreement.strip()}"
        shown.insert(0, Section("numbers", "The printed numbers", agreement, numbers))
    return shown


def _runs(tables: Analysis) -> dict[str, list[Mapping[str, Any]]]:
    """The runs behind each number and claim by its id; nothing for results of a version that did not store them."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    if TABLE in tables:
        for row in tables[TABLE].iter_rows(named=True):
            found.setdefault(row["id"], []).append(row)
    return found


def _again(tables: Analysis) -> dict[str, str]:
    """By id the verdicts on a number or claim under other readings, in words; nothing for papers without readings."""
    if READINGS not in tables:
        return {}
    by_id = tables[READINGS].group_by(["id"], maintain_order=True)
    return {str(name): in_words(rows.to_dicts()) for (name,), rows in by_id}


def _with_readings(parts: list[Rows], again: Mapping[str, str]) -> list[Rows]:
    """Return the rows of ``parts`` with their verdicts under other readings."""

    def with_readings(row: Row) -> Row:
        return replace(row, facts=[*row.facts, ("other readings", again[row.name])]) if row.name in again else row

    return [replace(part, rows=[with_readings(row) for row in part.rows]) for part in parts]


def _with_runs(parts: list[Rows], folder: Path, runs: Mapping[str, list[Mapping[str, Any]]]) -> list[Rows]:
    """Return the rows of ``parts`` with the runs behind each and the command that captures one of them."""
    name, there = folder.resolve().name, folder.resolve().parent.name == "papers"
    files, paper = (f"papers/{name}", name) if there else (str(folder), shlex.quote(str(folder)))

    def with_runs(row: Row) -> Row:
        behind = [(f"{files}/{of['experiment']}.toml", _counted(of)) for of in runs.get(row.name, [])]
        return replace(row, runs=behind, command=command(paper, row.name)) if behind else row

    return [replace(part, rows=[with_runs(row) for row in part.rows]) for part in parts]


def _counted(behind: Mapping[str, Any]) -> str:
    more = ", …" if behind["runs"] > SHOWN else ""
    return f"{counted(behind['runs'], 'run')}: {behind['ids']}{more}"


def _together(given: Material) -> str:
    """The correction for the number of places, in words; nothing where each place stands alone."""
    if not given.published.together:
        return ""
    return (
        " A claim holds if the interval of each of its places shows it. It is refuted at the places that Holm's procedure "
        f"finds, with an error rate of {1.0 - given.rules.level:.0%} for all places of the claim."
    )


def _checklist(paper: str, rows: list[ChecklistRow]) -> Section:
    tones: dict[str, Tone] = {"shown": "yes", "not-run": "open", "not-reproducible": "no"}
    cells: list[list[Cell | str]] = [
        [
            Cell(row.what, lead=row.id),
            Cell(f"§{row.section}" if row.section[:1].isdigit() else row.section),
            Cell(row.state.replace("-", " "), tone=tones[row.state]),
            Cell(", ".join(row.by)),
            Cell(row.note),
        ]
        for row in rows
    ]
    table = Table(
        "Every row of the checklist, and what answers it.",
        ["row", "section", "state", "by", "note"],
        cells,
        folded=True,
    )
    return Section("checklist", "Checklist", f"{len(rows)} rows cover {paper}.", [table], folded=True)


def _provenance(about: Mapping[str, Any], departures: pl.DataFrame, experiments: pl.DataFrame) -> Section:
    made = about["ecnlab"]
    identity = Table(
        "Who made these results.",
        ["what", "value"],
        [
            ["version", made["version"]],
            ["build", made["build"]],
            ["commit", made["commit"] or "unknown"],
            ["size", "full" if about["full"] else "quick: a part of the full grid's seeds"],
            ["base seed", str(about["seed"])],
            *([f"without ECN in {name}", text] for name, text in about.get("ecn_fallback", {}).items()),
        ],
    )
    runs: list[list[Cell | str]] = [
        [
            row["experiment"],
            Cell(row["title"]),
            Cell(str(row["runs"]), True),
            Cell(str(row["replicates"]), True),
            Cell(row["spec"]),
        ]
        for row in experiments.iter_rows(named=True)
    ]
    changed: list[list[Cell | str]] = [
        [
            Cell(row["key"]),
            Cell(row["profile"]),
            Cell(row["profile_value"]),
            Cell(row["value"]),
            Cell(row["used_in"]),
            Cell(row["source"]),
        ]
        for row in departures.iter_rows(named=True)
    ]
    return Section(
        "provenance",
        "Provenance",
        "Every seed is derived from the base seed by the number of the replicate; the same replicate has the "
        "same seed in every arm and at "
        "every point. Replicates of a run with the same specification and seed give the same bytes.",
        [
            identity,
            Table(
                "Experiments, with the hash of all their specifications.",
                ["experiment", "title", "runs", "replicates", "specifications"],
                runs,
                folded=True,
            ),
            Table(
                "TCP settings that depart from their profile.",
                ["setting", "profile", "profile's value", "value here", "in", "source of the profile's value"],
                changed,
                folded=True,
            ),
        ],
        folded=True,
    )

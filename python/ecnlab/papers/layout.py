"""The page of a paper: what all of them have, around the sections of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.grid import Grid
from ecnlab.papers.networks import networks
from ecnlab.papers.paper import Stored
from ecnlab.papers.published import Published, read_published, read_toml
from ecnlab.papers.reasons import read_reasons
from ecnlab.papers.references import Evidence
from ecnlab.report import Finding, Page, Section, Table
from ecnlab.report.page import Cell, Tone


@dataclass(frozen=True, slots=True)
class Material:
    """All that the page of a paper is made from, read."""

    folder: Path
    grid: Grid
    tables: Stored
    published: Published
    points: pl.DataFrame
    numbers: pl.DataFrame
    claims: pl.DataFrame
    reasons: Mapping[str, str]

    def say(self, claim: str, statement: str) -> Finding:
        """A claim as one sentence of the summary."""
        return blocks.finding(self.claims, self.published, claim, statement)


def read_material(folder: Path, tables: Stored, grid: Grid) -> Material:
    """The analysis in ``tables`` with the texts in the paper's ``folder``. Raises EcnlabError for a text that is wrong."""
    published = read_published(folder)
    points, numbers, claims = tables["points"], tables["numbers"], tables["claims"]
    evidence = Evidence(published, grid, {"points": points, "numbers": numbers, "claims": claims})
    reasons = read_reasons(folder / "reasons.toml", evidence)
    return Material(folder, grid, tables, published, points, numbers, claims, reasons)


def paper_page(
    given: Material,
    *,
    title: str,
    lede: str,
    findings: Sequence[Finding],
    agreement: str,
    sections: Sequence[Section],
    context: Mapping[str, str],
) -> Page:
    """The report: the numbers and claims, ``sections``, the checklist and the provenance.

    ``agreement`` says when a printed number counts as met; ``context`` is as for `blocks.number_table`.
    """
    about, numbers = given.tables.about, given.numbers
    made = about["ecnlab"]
    return Page(
        title=title,
        kicker=f"ecnlab {made['version']} · {'full' if about['full'] else 'quick'} size",
        lede=lede,
        tallies=[blocks.verdicts(numbers["verdict"]), blocks.answers(blocks.by_claim(given.claims))],
        findings=findings,
        facts=[
            ("simulated runs", f"{about['runs']:,}"),
            ("simulated time", f"{about['simulated_s'] / 3600:,.0f} h"),
            ("seeds per point", about["replicates"]),
        ],
        sections=[
            Section(
                "numbers",
                "The printed numbers",
                agreement,
                [blocks.number_table(numbers, given.published, given.reasons, context, given.grid)],
            ),
            Section("claims", "The claims", "", [blocks.claim_table(given.claims, given.published, given.reasons)]),
            Section(
                "networks",
                "The networks",
                "Rates, delays and queues are those of the scenario files, in the direction of the traffic.",
                networks(given.folder),
            ),
            *sections,
            _checklist(given.published.paper, read_toml(given.folder / "checklist.toml")["row"]),
            _provenance(about, given.tables["departures"], given.tables["experiments"]),
        ],
        footer=f"Made by ecnlab {made['version']} (build {made['build']}) from the "
        "analysis tables beside this page. "
        "The page is one file and asks for nothing from the network.",
    )


def _checklist(paper: str, rows: list[dict[str, Any]]) -> Section:
    tones: dict[str, Tone] = {"shown": "yes", "not-reproducible": "no"}
    cells: list[list[Cell | str]] = [
        [
            Cell(row["what"], lead=row["id"]),
            Cell(f"§{row['section']}" if row["section"][:1].isdigit() else row["section"]),
            Cell(row["state"].replace("-", " "), tone=tones[row["state"]]),
            Cell(", ".join(row["by"])),
            Cell(row["note"]),
        ]
        for row in rows
    ]
    table = Table(
        "Every row of the checklist, and what answers it.",
        ["row", "section", "state", "by", "note"],
        cells,
        cards=True,
        folded=True,
    )
    return Section("checklist", "Checklist", f"{len(rows)} rows cover {paper}.", [table])


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
            *([f"without ECN in {name}", said] for name, said in about.get("ecn_fallback", {}).items()),
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
    )

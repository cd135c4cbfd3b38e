"""The page that links the reports of all papers, from their ``results.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ecnlab.papers import blocks
from ecnlab.papers.analysis import read_results
from ecnlab.report import Page, Section, Table
from ecnlab.report.page import Cell

COLUMNS: Final = ("paper", "printed numbers", "claims", "runs", "simulated", "size")


def index_page(out: Path, names: Sequence[str]) -> Page:
    """The page for the reports in the folders ``names`` of ``out``.

    Raises FolderError if one of them has no ``results.json``.
    """
    results = {name: read_results(out / name) for name in names}
    answers = {name: _answers(found) for name, found in results.items()}
    verdicts = {name: _verdicts(found) for name, found in results.items()}
    made = next(iter(results.values()))["ecnlab"]
    rows = [_row(name, found, verdicts[name], answers[name]) for name, found in results.items()]
    return Page(
        title="Papers, run again",
        kicker=f"ecnlab {made['version']}",
        lede="Each paper's experiments in one packet simulator, every printed number and claim beside what it measures "
        "now, with intervals.",
        tallies=[blocks.verdicts(chain(*verdicts.values())), blocks.answers(chain(*answers.values()))],
        findings=[],
        sections=[
            Section(
                "papers",
                "The papers",
                "Each report shows for every row the printed and the measured value, and the reason for any difference.",
                [Table("The reports.", COLUMNS, rows)],
            )
        ],
        footer=f"Made by ecnlab {made['version']} (build {made['build']}) from the results beside this page.",
    )


def _verdicts(results: Mapping[str, Any]) -> list[str]:
    """The verdicts of the printed numbers, without those that are easy to meet."""
    return [number["verdict"] for number in results["numbers"] if number["metric"] not in results["apart"]]


def _answers(results: Mapping[str, Any]) -> list[str]:
    """The answer to each claim; a claim may have several tests, all of which carry its answer."""
    return list({claim["id"]: claim["answer"] for claim in results["claims"]}.values())


def _row(name: str, results: Mapping[str, Any], verdicts: Sequence[str], answers: Sequence[str]) -> list[Cell | str]:
    paper = results["paper"]
    return [
        Cell(f"{paper['title']}. {paper['authors']}, {paper['date']}", lead=paper["name"], link=f"{name}/report.html"),
        Cell(_counts(Counter(verdicts), blocks.PLURAL)),
        Cell(_counts(Counter(answers), {answer: answer for answer in blocks.ANSWERS})),
        Cell(f"{results['runs']:,}", True),
        Cell(f"{results['simulated_s'] / 3600:,.0f} h", True),
        Cell("full" if results["full"] else "quick"),
    ]


def _counts(found: Counter[str], words: Mapping[str, str]) -> str:
    """How many there are of each, in the order and the words of ``words``."""
    return ", ".join(f"{found[key]} {word}" for key, word in words.items() if found[key]) or "none"

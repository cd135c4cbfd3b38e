"""The report of RFC 2884, from its analysis tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.published import Published, read_published, read_toml
from ecnlab.papers.reasons import read_reasons
from ecnlab.papers.rfc2884 import gains, sensitivity
from ecnlab.report import Finding, Page, Section, Table
from ecnlab.report.page import Cell, Tone

CONTEXT: Final = {
    "bulk_gain": "20 MB file",
    "transaction_gain": "5 KB responses",
    "transaction_ecn": "5 KB responses, ECN client",
    "jain": "300 s",
}


@dataclass(frozen=True, slots=True)
class Tables:
    """The analysis tables a report is made from, as `ecnlab.papers.reproduce` writes them."""

    folder: Path
    about: Mapping[str, Any]

    def __getitem__(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.folder / f"{name}.parquet")


def page(paper: Path, tables: Tables) -> Page:
    """The report of the analysis in ``tables``, with the texts in the folder ``paper``."""
    published = read_published(paper)
    points, numbers, claims = tables["points"], tables["numbers"], tables["claims"]
    reasons = read_reasons(paper / "reasons.toml", published, points)
    counts = dict(numbers["verdict"].value_counts().iter_rows())
    tally: list[tuple[str, Tone, int]] = [
        ("agree", "yes", counts.get("agrees", 0)),
        ("same direction", "partly", counts.get("same direction", 0)),
        ("differ", "no", counts.get("differs", 0)),
    ]
    sections = [
        Section(
            "numbers",
            "The printed numbers",
            "A number agrees if it lies inside the 95% interval of the measured mean, or if the mean lies "
            "within the margin "
            "stated in metrics.toml (5 points for a gain, 0.005 for a fairness index, 0.05 per second for a "
            "rate). It has the "
            "same direction if the whole interval lies on its side of no effect. The RFC prints neither "
            "intervals nor RED thresholds.",
            [blocks.number_table(numbers, published, reasons, CONTEXT)],
        ),
        Section("claims", "The claims", "", [blocks.claim_table(claims, published, reasons)]),
        gains.bulk(points, numbers, published),
        gains.transactions(points, numbers, published),
        gains.fairness(points, numbers, published),
        sensitivity.redistribution(points, published),
        sensitivity.envelope(points, numbers, published),
        sensitivity.variants(points, published),
        sensitivity.region(points, published, read_toml(paper / "red-settings.toml")),
        gains.evolution(tables["evolution_queue"], tables["evolution_windows"], tables.about["evolution"]),
        sensitivity.disciplines(points, published),
        _checklist(read_toml(paper / "checklist.toml")["row"]),
        _provenance(tables.about, tables["departures"], tables["experiments"]),
    ]
    about = tables.about
    return Page(
        title="RFC 2884, run again",
        kicker=f"ecnlab {about['ecnlab']['version']} · {'full' if about['full'] else 'quick'} size",
        lede=f"In {published.date} {published.authors} measured what explicit congestion notification does for "
        f"bulk and "
        "transactional TCP on a testbed of six machines. Here is the same testbed in a packet simulator, every "
        "printed number "
        "beside what it measures now, with intervals.",
        tally=tally,
        tally_caption=f"{numbers.height} printed numbers:",
        findings=_findings(claims, points, published),
        facts=[
            ("simulated runs", f"{about['runs']:,}"),
            ("simulated time", f"{about['simulated_s'] / 3600:,.0f} h"),
            ("seeds per point", about["replicates"]),
        ],
        sections=sections,
        footer=f"Made by ecnlab {about['ecnlab']['version']} (build {about['ecnlab']['build']}) from the "
        f"analysis tables beside this page. "
        "The page is one file and asks for nothing from the network.",
    )


def _findings(claims: pl.DataFrame, points: pl.DataFrame, published: Published) -> list[Finding]:
    def say(name: str, text: str) -> Finding:
        return blocks.finding(claims, published, name, text)

    return [
        _faster(points),
        sensitivity.left_over(points, published),
        say("R27.relative", "Bulk: the gain grows with congestion."),
        say("R28.grows", "Bulk: the gain grows with max_p."),
        say("R33.grows", "Transactions: the gain grows with congestion."),
        say("R34.grows", "Transactions: the gain grows with max_p."),
        say("R35", "The gain shrinks as transactions grow."),
        say("R29", "ECN flows hardly retransmit."),
    ]


def _faster(points: pl.DataFrame) -> Finding:
    """How many places of the main grids have a faster ECN client, by their intervals."""
    gains_ = points.filter(pl.col("metric").is_in(["bulk_gain", "transaction_gain"]))
    better, worse = gains_.filter(pl.col("low") > 0).height, gains_.filter(pl.col("high") < 0).height
    tone: Tone = "yes" if better == gains_.height else "no" if better < gains_.height / 2 else "partly"
    answer = {"yes": "Yes", "no": "No", "partly": "Mostly"}[tone]
    undecided = gains_.height - better - worse
    return Finding(
        answer,
        tone,
        "Among mixed flows the ECN client is faster.",
        f"In {better} of {gains_.height} settings (load, max_p, recovery, bulk and transactions); slower in "
        f"{worse}, undecided in {undecided}.",
    )


def _checklist(rows: list[dict[str, Any]]) -> Section:
    tones: dict[str, Tone] = {"shown": "yes", "not-reproducible": "no"}
    cells: list[list[Cell | str]] = [
        [
            Cell(row["what"], lead=row["id"]),
            Cell(f"§{row['section']}"),
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
    return Section("checklist", "Checklist", f"{len(rows)} rows cover what the RFC states.", [table])


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

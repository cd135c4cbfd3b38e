"""The report of RFC 2884, from its analysis tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from ecnlab.papers.layout import Material, paper_page, read_material
from ecnlab.papers.paper import Stored
from ecnlab.papers.published import read_toml
from ecnlab.papers.rfc2884 import linux, queues, readings, sections
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.told import Told
from ecnlab.report import Finding, Page
from ecnlab.report.page import Tone

CONTEXT: Final = {
    "bulk_gain": "20 MB file",
    "transaction_gain": "5 KB responses",
    "transaction_ecn": "5 KB responses, ECN client",
    "jain": "300 s",
}


def page(paper: Path, tables: Stored) -> Page:
    """The report of the analysis in ``tables``, with the texts in the folder ``paper``."""
    given = read_material(paper, tables, GRID)
    points, numbers, published = given.points, given.numbers, given.published
    told, settings = Told.read(paper, GRID, published, numbers), read_toml(paper / "red-settings.toml")
    return paper_page(
        given,
        title="RFC 2884, run again",
        lede=f"In {published.date} {published.authors} measured what explicit congestion notification does for "
        f"bulk and "
        "transactional TCP on a testbed of six machines. Here is the same testbed in a packet simulator, every "
        "printed number "
        "beside what it measures now, with intervals.",
        findings=_findings(given),
        agreement="A number agrees if it lies inside the 95% interval of the measured mean, or if the mean lies "
        "within the margin "
        "stated in metrics.toml (5 points for a gain, 0.005 for a fairness index, 0.05 per second for a "
        "rate). It has the "
        "same direction if the whole interval lies on its side of no effect. The RFC prints neither "
        "intervals nor RED thresholds.",
        context=CONTEXT,
        sections=[
            told.section("bulk", points),
            told.section("transactions", points),
            told.section("fairness", points),
            readings.readings(points, numbers, published),
            told.section("redistribution", points),
            told.section("envelope", points, tables=[sections.nearest(points, numbers, published)]),
            told.section("variants", points),
            told.section("region", points, tables=[sections.chosen(points, published, settings)]),
            queues.crowded(points, published),
            sections.evolution(tables["evolution_queue"], tables["evolution_windows"], tables.about["evolution"]),
            queues.tail_drop(points, published),
            linux.section(tables, points, numbers, published),
        ],
    )


def _findings(given: Material) -> list[Finding]:
    return [
        _faster(given.points),
        sections.left_over(given.points, given.published),
        readings.worth(given.points, given.numbers, given.published),
        given.say("R27.relative", "Bulk: the gain grows with congestion."),
        given.say("R28.grows", "Bulk: the gain grows with max_p."),
        given.say("R33.grows", "Transactions: the gain grows with congestion."),
        given.say("R34.grows", "Transactions: the gain grows with max_p."),
        given.say("R35", "The gain shrinks as transactions grow."),
        given.say("R29", "ECN flows hardly retransmit."),
        queues.four_faults(given.points, given.published),
        given.say("R22.degenerates", "RED degenerates into tail drop as flows grow."),
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

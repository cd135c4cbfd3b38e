"""The report of Akujobi et al., from its analysis tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from ecnlab.papers.akujobi import sections, settings
from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.layout import Material, paper_page, read_material
from ecnlab.papers.paper import Stored
from ecnlab.papers.told import Told
from ecnlab.report import Finding, Page

CONTEXT: Final = {"heavy_gain": "46 flows", "heavy_loss": "46 flows"}


def page(paper: Path, tables: Stored) -> Page:
    """The report of the analysis in ``tables``, with the texts in the folder ``paper``."""
    given = read_material(paper, tables, GRID)
    published, told = given.published, Told.read(paper, GRID, given.published, given.numbers)
    points = given.points.filter(pl.col("settings") == "")
    return paper_page(
        given,
        title="ECN and BECN combined, run again",
        lede="In 2003 Akujobi et al. let a congested router also tell the sender itself, by ICMP source quench, and "
        "simulated what that adds to ECN. The mechanism is historic: RFC 6633 has forbidden source quenches since "
        "2012. Here are the same networks, every printed number beside what it measures now, with intervals.",
        findings=_findings(given),
        agreement="A number agrees if it lies inside the 95% interval of the measured mean, or if the mean lies within "
        "the margin stated in metrics.toml (5 points for a gain, a tenth of a point for a loss, half a point for "
        "utilisation). It has the same direction if the whole interval lies on its side of no effect. The paper prints "
        "neither intervals nor how long it simulated.",
        context=CONTEXT,
        sections=[
            sections.mixed(points, told),
            sections.homogeneous(points, told),
            told.section("lossy", points),
            sections.web(points, told),
            settings.variants(points, published),
            settings.nearest(given),
            sections.evolution(tables["queue_15"], tables["queue_lossy"], tables["window_lossy"]),
        ],
    )


def _findings(given: Material) -> list[Finding]:
    return [
        given.say("A13.becn-over-ecn", "Heavy load: BECN gains more than ECN."),
        given.say("A13.eb40-over-ecn", "Heavy load: ECN+BECN (40 KB) gains more than ECN."),
        given.say("A13.eb20-over-ecn", "Heavy load: ECN+BECN (20 KB) gains more than ECN."),
        given.say("A14.below-ecn", "Heavy load: source quenches spare losses."),
        given.say("A02.becn", "At min_th ECN+BECN gains what BECN does."),
        given.say("A02.ecn", "At max_th ECN+BECN gains what ECN does."),
        given.say("A02.ecn-loss", "At max_th ECN+BECN loses what ECN does."),
        given.say("A15.eb40-below-eb20", "ECN+BECN (40 KB) uses less of the link than ECN+BECN (20 KB)."),
        given.say("A16.saving", "The threshold (40 KB) saves source quenches."),
        given.say("A16.goodput.ecn", "At 45 flows ECN+BECN (40 KB) has no better goodput than ECN."),
        given.say("A17", "At 15 flows the queue varies less under ECN+BECN (20 KB) than under ECN."),
        given.say("A18.becn-window", "Lost quenches: BECN's window surges."),
        given.say("A18.eb-unharmed", "Lost quenches: ECN+BECN's window does not suffer."),
        given.say("A18.eb-unharmed-queue", "Lost quenches: ECN+BECN's queue does not suffer."),
        given.say("A19.delay", "Web objects take longer under ECN, at every load."),
    ]

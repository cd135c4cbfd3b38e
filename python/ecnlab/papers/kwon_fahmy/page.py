"""The report of Kwon & Fahmy, from its analysis tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from ecnlab.papers.kwon_fahmy import sections
from ecnlab.papers.kwon_fahmy.grid import AS_IS, GRID, MORE_FTP, MORE_UDP
from ecnlab.papers.layout import paper_page, read_material
from ecnlab.papers.paper import Stored
from ecnlab.papers.told import Told
from ecnlab.report import Page

CONTEXT: Final[dict[str, str]] = {}

MORE: Final = (MORE_FTP, MORE_UDP)


def page(paper: Path, tables: Stored) -> Page:
    """The report of the analysis in ``tables``, with the texts in the folder ``paper``."""
    given = read_material(paper, tables, GRID)
    points, published = given.points, given.published
    told = Told.read(paper, GRID, published, given.numbers)
    return paper_page(
        given,
        title="ECN(α, β), run again",
        lede="Kwon and Fahmy let a sender keep 7/8 of its window on a mark and then grow by 0.2 packets a round trip, model "
        "its rate and the queue it leads to, and compare it with Reno on a network of seven switches. Here are their "
        "networks, as far as the slides describe them, with the models beside the measurements and an interval for "
        "every comparison.",
        findings=[
            sections.ordering(given.numbers),
            sections.values(given.numbers),
            given.say("W11.response.ab-reno.sign", "ECN(α, β) answers web requests sooner than Reno."),
            given.say("W11.ftp.ab-reno.sign", "ECN(α, β) gives FTP more goodput than Reno."),
            given.say("W11.drops.ab-ecn.sign", "ECN(α, β) loses fewer packets than Reno-ECN."),
            given.say("W12.outperforms", "With ten more sessions it beats Reno-ECN in web response (open question 8)."),
            sections.in_settings(given, "W09.rate-p", "B(RTT, p, r) gives the measured rate, within 20%."),
            sections.in_settings(given, "W09.rate-wide", "It does within 10% where windows are tens of packets."),
            sections.in_settings(given, "W09.queue", "The queue settles at the equilibrium, within 20%."),
            given.say("W05.longterm", "Over the long term the new response takes what Reno-ECN takes."),
        ],
        agreement="A number is the relative change between two printed values, or a value of the tables. It agrees if it lies "
        "inside the 95% interval of what is measured, a value also if it is within a tenth of the mean; a change has the same "
        "direction if the whole interval lies on its side of none. The slides describe neither the rates and delays of GFC-2 "
        "nor the web traffic nor RED's thresholds: the network is calibrated on Reno's row of slide 20, which is not judged.",
        context=CONTEXT,
        sections=[
            sections.calibration(points, published),
            sections.printed_tables(points, published, given.numbers),
            told.section("ten-more", points.filter(pl.col("test").is_in(MORE))),
            told.section("choices", points.filter(~pl.col("test").is_in(["", AS_IS, *MORE, "10 Mb/s"]))),
            sections.evolution(tables),
            told.section("rate", points),
            sections.equilibrium(points, published, tables),
            told.section("long-term", points),
        ],
    )

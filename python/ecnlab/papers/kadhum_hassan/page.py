"""The report of Kadhum & Hassan, from its analysis tables."""

from __future__ import annotations

from pathlib import Path

from ecnlab.papers.kadhum_hassan import answers
from ecnlab.papers.kadhum_hassan.grid import GRID, USERS
from ecnlab.papers.kadhum_hassan.series import over_time
from ecnlab.papers.layout import paper_page, read_material
from ecnlab.papers.paper import Stored
from ecnlab.report import Page


def page(paper: Path, tables: Stored) -> Page:
    """The report of the analysis in ``tables``, with the texts in the folder ``paper``."""
    given = read_material(paper, tables, GRID)
    points, published = given.points, given.published
    return paper_page(
        given,
        title="Drop-tail, RED and ECN-RED, run again",
        lede="Kadhum and Hassan sent 10 and 30 long TCP connections through one link of 0.7 Mb/s in ns-2.29, with "
        "drop-tail, RED and RED with ECN at its queue. Here are the same six cases, with every setting that ns-2.29 has "
        "by itself, and every printed number and claim beside what it measures now, with intervals.",
        findings=[
            answers.loss_finding(given, "10"),
            answers.loss_finding(given, "30"),
            answers.unit_finding(points, published),
            answers.buffer_finding(points, published),
            answers.marks_finding(points, published),
            given.say("K13.loss.10.ecn-red", "10 users: ECN-RED loses fewer packets than RED. Its loss over RED's:"),
            given.say("K08.goodput.ecn-droptail", "10 users: ECN-RED delivers more than drop-tail. Goodput, kb/s:"),
            given.say("K12.goodput.ecn-red", "30 users: ECN-RED delivers more than RED. Goodput, kb/s:"),
            given.say("K05.synchronised", "Drop-tail, 10 users: windows are highly synchronised. Their correlation:"),
            given.say("K09.synchronised", "Drop-tail, 30 users: windows are highly synchronised. Their correlation:"),
            given.say("K06.swing", "10 users: windows swing less with RED than with drop-tail. Difference, segments:"),
            given.say("K06.rtt", "10 users: the delay varies less with RED than with drop-tail. Difference, ms:"),
            given.say(
                "K10.oscillation", "30 users: the delay varies less with RED than with drop-tail. Difference, ms:"
            ),
            given.say("K11.rtt", "30 users: the delay varies less with ECN-RED than with RED. Difference, ms:"),
        ],
        agreement="A number agrees if it lies inside the 95% interval of the measured mean, or if the mean lies as near as "
        "the printed value was rounded: 0.5 packets for 7 and 8, 2.5 packets for 40, 75 and 80. Numbers are compared as "
        "they are printed, in packets; the next sections say in which reading they agree.",
        context={},
        sections=[
            answers.units(points, published),
            answers.arithmetic(points, published),
            answers.signals(points, published),
            answers.throughput(points, published),
            answers.synchronisation(points, published),
            answers.apart(points, published),
            answers.models(points, tables["predictions"], published),
            *(over_time(users, tables) for users in USERS),
        ],
    )

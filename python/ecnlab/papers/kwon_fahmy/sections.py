"""Sections of the report: the models beside the runs, the printed tables, and what the choices change."""

from __future__ import annotations

from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.kwon_fahmy.grid import ARMS, AS_IS, GRID, MORE_FTP, MORE_UDP
from ecnlab.papers.kwon_fahmy.measure import COLUMNS
from ecnlab.papers.layout import Material
from ecnlab.papers.published import Published
from ecnlab.papers.reasons import quantity
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Figure, Finding, Group, Section, Series
from ecnlab.report.page import Tone

FLOWS: Final = {label: float(label) for label in ("5", "10", "20", "30", "40")}
FLOWS_AXIS: Final = Axis("flows", [(value, label) for label, value in FLOWS.items()], log=True)
LOSS: Final = {"0": 0.0, "0.005": 0.005, "0.01": 0.01, "0.02": 0.02, "0.04": 0.04, "0.08": 0.08}
LOSS_AXIS: Final = Axis("loss on the wire", [(value, label) for label, value in LOSS.items() if value != 0.005])
MAX_P: Final = {label: float(label) for label in ("0.05", "0.1", "0.2")}
MAX_P_AXIS: Final = Axis("max_p", [(value, label) for label, value in MAX_P.items()], log=True)
GAINS: Final = [f"{metric}_gain" for metric in COLUMNS]


def ordering(numbers: pl.DataFrame) -> Finding:
    """How many printed differences of slide 20 have the sign that was printed, by their intervals."""
    rows = numbers.filter(pl.col("row") == "W11", pl.col("metric").is_in(["delay_gain", "ftp_gain", "drops_gain"]))
    sides = rows.select(
        ((pl.col("printed") > 0) & (pl.col("low") > 0) | (pl.col("printed") < 0) & (pl.col("high") < 0)).alias("same"),
        ((pl.col("printed") > 0) & (pl.col("high") < 0) | (pl.col("printed") < 0) & (pl.col("low") > 0)).alias("other"),
    )
    same, other = (int(sides[side].sum()) for side in ("same", "other"))
    tone: Tone = "yes" if same == rows.height else "no" if same < rows.height / 2 else "partly"
    return Finding(
        {"yes": "Yes", "partly": "Mostly", "no": "No"}[tone],
        tone,
        "The differences that slide 20 prints have the printed sign.",
        f"Response, FTP goodput and drop ratio of three pairs: {same} of {rows.height} decided as printed, {other} the "
        f"other way, {rows.height - same - other} undecided.",
    )


def in_settings(given: Material, claim: str, statement: str) -> Finding:
    """A claim of many places as one sentence: in how many it holds, and from where to where the error runs."""
    tests = given.claims.filter(pl.col("id") == claim)
    metric = given.published.metrics[tests["metric"][0]]
    holds = tests.filter(pl.col("outcome") == "yes").height
    by_size = tests.sort(pl.col("mean").abs())["mean"]
    best, worst = (quantity(error, metric) for error in (by_size[0], by_size[-1]))
    answer = tests["answer"][0]
    evidence = f"In {holds} of {tests.height} settings; errors from {best} to {worst}."
    return Finding(answer.capitalize(), blocks.ANSWERS[answer], statement, evidence)


def rate(points: pl.DataFrame, published: Published) -> Section:
    """Slide 16."""
    here, wide = points.filter(pl.col("test") == ""), points.filter(pl.col("test") == "10 Mb/s")
    over_p = [*_arms(at(here, "rate", {"loss": ""}), "flows", FLOWS), *_full(at(here, "rate_full", {}))]
    figures = [
        _error("Error over p", "1 Mb/s; more flows, smaller windows, larger p.", FLOWS_AXIS, over_p, published),
        _error(
            "Error over r",
            "20 flows; the wire's losses take the place of marks.",
            LOSS_AXIS,
            _arms(at(here, "rate", {"flows": ""}), "loss", LOSS),
            published,
        ),
        _error(
            "Error with large windows",
            "10 Mb/s; at 5 flows p is 0.001.",
            FLOWS_AXIS,
            [*_arms(at(wide, "rate", {}), "flows", FLOWS), *_full(at(wide, "rate_full", {}))],
            published,
        ),
    ]
    return Section(
        "rate",
        "The sending rate",
        "B(RTT, p, r), our derivation (docs/models.md), from each flow's own p, r and round trip, against the rate at which "
        "it sent. With twenty flows on 1 Mb/s a window is four or five packets, below what any of these models is for: "
        "only whole packets are sent, so that a window of 4.9 carries 4. Reduced windows in whole packets (ECN(α, β) as "
        "ns-2.1b6 would count) keep less than 7/8. With windows of tens of packets the error is a few percent.",
        [
            Group(figures),
            blocks.table_of(
                points.filter(pl.col("metric").is_in(["rate", "rate_full", "indications", "mark_share"])),
                published,
                "All settings",
                ["test", "arm", "flows", "loss"],
                GRID,
            ),
        ],
    )


def equilibrium(points: pl.DataFrame, published: Published) -> Section:
    """Slide 17."""
    load, settings = points.filter(pl.col("flows") != ""), points.filter(pl.col("min_th") != "")
    figures = []
    for metric, label in (("queue", "average queue, packets"), ("signals", "marked or dropped")):
        curves = [
            blocks.series(
                at(load, f"{metric}_{side}", {"arm": arm}), "flows", FLOWS, f"{GRID.named(arm)}, {side}", style
            )
            for style, (arm, side) in enumerate(
                (arm, side) for arm in ("reno", "ecn-ab-real") for side in ("measured", "predicted")
            )
        ]
        figures.append(
            blocks.figure(
                f"Equilibrium: {label}",
                "Lines and markers by arm and side; max_p 0.1, thresholds 28 and 84 packets.",
                FLOWS_AXIS,
                published.metrics[f"{metric}_measured"],
                curves,
                label=label,
            )
        )
    errors = [
        blocks.series(
            at(settings, "queue", {"arm": arm, "min_th": min_th}),
            "maxp",
            MAX_P,
            f"{GRID.named(arm)}, min_th {min_th}",
            style,
        )
        for style, (arm, min_th) in enumerate((arm, th) for arm in ("reno", "ecn-ab-real") for th in ("14", "28"))
    ]
    figures.append(
        blocks.figure(
            "Error of the queue over RED's settings", "20 flows.", MAX_P_AXIS, published.metrics["queue"], errors
        )
    )
    names = ["queue", "queue_measured", "queue_predicted", "signals", "signals_measured", "signals_predicted"]
    everything = points.filter(pl.col("metric").is_in(names))
    return Section(
        "equilibrium",
        "The equilibrium",
        "Where n flows of the model fill the link and gentle RED signals as often as they need, against the run. The model "
        "uses no measurement. Its senders are too fast where windows are small (above), so it asks for more signals than "
        "the run needs; because RED's p rises steeply, an error of p is a much smaller one of the queue.",
        [
            Group(figures),
            blocks.table_of(everything, published, "All settings", ["arm", "flows", "min_th", "maxp"], GRID),
        ],
    )


def printed_tables(points: pl.DataFrame, published: Published) -> Section:
    """Slide 20."""
    values = points.filter(pl.col("test") == AS_IS, pl.col("metric").is_in([*COLUMNS, "web_complete"]))
    gains = points.filter(pl.col("test") == AS_IS, pl.col("metric").is_in(GAINS))
    return Section(
        "table",
        "The table of slide 20",
        "FTP, web and UDP on GFC-2 at a tenth of its rates. At that scale the sums of goodput are near the printed ones "
        "(38.8 to 41.9, 2.8 to 2.9, 0.8 to 2.3 Mb/s), which supports the reading of the columns; the printed response of "
        "11 to 14 s is not reached, for want of the web traffic that was used.",
        [
            blocks.table_of(values, published, "What each response gives", ["arm"], GRID, folded=False),
            blocks.table_of(gains, published, "Compared under the same seeds", ["arm", "against"], GRID, folded=False),
        ],
    )


def ten_more(points: pl.DataFrame, published: Published) -> Section:
    """Slide 21 and open question 8."""
    tests = points.filter(pl.col("test").is_in([MORE_FTP, MORE_UDP]))
    changes = tests.filter(pl.col("metric").is_in(["udp_change", "ftp_change"]))
    gains = tests.filter(pl.col("metric").is_in(GAINS))
    values = tests.filter(pl.col("metric").is_in([*COLUMNS, "web_complete"]))
    return Section(
        "ten-more",
        "Ten more in mid-run",
        "The slide says ten more bulk-data sessions. Its table has twice the UDP goodput of slide 20 and 8% less FTP "
        "goodput: more FTP sessions cannot do that, more UDP sessions do. Both readings are run. The slide's sentence that "
        "ECN(α, β) outperforms Reno with and without ECN is not what its own table says of the web response (12.841 s "
        "against 12.082 s for Reno-ECN).",
        [
            blocks.table_of(changes, published, "With ten more, over without", ["test", "arm"], GRID, folded=False),
            blocks.table_of(
                gains, published, "Compared under the same seeds", ["test", "arm", "against"], GRID, folded=False
            ),
            blocks.table_of(values, published, "What each response gives", ["test", "arm"], GRID),
        ],
    )


def choices(points: pl.DataFrame, published: Published) -> Section:
    """What the slides leave open, chosen otherwise."""
    others = points.filter(
        ~pl.col("test").is_in(["", AS_IS, MORE_FTP, MORE_UDP, "10 Mb/s"]), pl.col("metric").is_in(GAINS)
    )
    return Section(
        "choices",
        "Other choices",
        "Slide 20 again with thresholds of 10 and 30 packets, with links of 2 ms, and with RED that drops above max_th.",
        [blocks.table_of(others, published, "Compared under the same seeds", ["test", "arm", "against"], GRID)],
    )


def long_term(points: pl.DataFrame, published: Published) -> Section:
    """Slide 11."""
    return Section(
        "long-term",
        "Side by side",
        "Ten flows with the new response and ten of Reno-ECN share the validation network. (1, 1/2) and (0.2, 7/8) have the "
        "same square-root law, and with real windows the same goodput. Where a reduced window is cut to whole packets, "
        "7/8 of 5 is 4, and the new response gets less.",
        [
            blocks.table_of(
                at(points, "share_gain", {}), published, "Goodput beside Reno-ECN", ["arm"], GRID, folded=False
            )
        ],
    )


def _arms(points: pl.DataFrame, axis: str, scale: dict[str, float]) -> list[Series]:
    return [
        blocks.series(points.filter(pl.col("arm") == arm), axis, scale, GRID.named(arm), style)
        for style, arm in enumerate(ARMS)
    ]


def _full(points: pl.DataFrame) -> list[Series]:
    return [blocks.series(points, "flows", FLOWS, "Reno, Padhye's full model", len(ARMS))]


def _error(title: str, caption: str, axis: Axis, curves: list[Series], published: Published) -> Figure:
    return blocks.figure(
        title, caption, axis, published.metrics["rate"], curves, label="predicted over measured, less one"
    )

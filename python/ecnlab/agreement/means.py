"""Comparison of the simulator and the Linux kernel: the same experiment in both, with the same seeds.

The margin is fixed before a run and stored with the results. A metric agrees if the 90 % interval of its ratio lies
within the margin: two one-sided tests at 5 % (Schuirmann, 1987). It differs if the interval lies outside; if the
interval overlaps the limit of the margin, more replicates are needed.
"""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab._core import Experiment
from ecnlab.agreement.shapes import compared_shape, ranked_shape
from ecnlab.api.sweep import Sweep
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.base.stats import Interval, paired_difference, ratio_of_means
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import LINUX, PACKETS, refuse_unless_random
from ecnlab.explain import LONGEST_S, explain
from ecnlab.folder.names import REMEDY
from ecnlab.folder.outputs import PAGE as PAGES
from ecnlab.folder.outputs import TABLE, write_named
from ecnlab.folder.sealed_json import read_json, write_json
from ecnlab.folder.shapes import Margin, insist
from ecnlab.folder.table_shapes import insist_on_shape
from ecnlab.folder.tables import read_table, table_bytes
from ecnlab.folder.verified import read_files, refuse_other_kind, write_files
from ecnlab.report import Chart, Finding, Line, Page, Section, Table, Tally, render
from ecnlab.report.page import Block, Cell
from ecnlab.report.tone import Tone
from ecnlab.report.words import counted
from ecnlab.runs.sweep import sweep
from ecnlab.runs.sweep_doing import Progress
from ecnlab.scenario.files import is_experiment, read_experiment, read_scenario, read_text
from ecnlab.scenario.metric_ranges import of_difference, of_metric, of_ratio

LEVEL: Final = 0.90
"""Two one-sided tests at 5 % are one interval of 90 %."""

MARGIN: Final = 0.1

PROFILE: Final = "linux-7"
"""The TCP of a scenario without an experiment: the kernel's, so that the engines differ and not the TCPs."""

KEPT: Final = ("congestion", "ecn_accepts")
"""Settings of its TCPs that such a scenario keeps: those that decide which law runs and which flows use ECN."""

CHARTS: Final = 6
"""Most cells whose evolution is drawn."""

AGREEMENT: Final = "agreement.parquet"
"""A row for each cell and metric."""

PAGE: Final = "agreement.html"

EXPLANATION: Final = "explanation.parquet"
"""The ranked differences in behaviour."""

STORED: Final = "agreement"
"""Value of `kind` in the ``files.json`` of an agreement."""

RANKED: Final = 40
"""Most rows of a cell's differences in behaviour on the page."""

TONES: Final[dict[str, Tone]] = {"agrees": "yes", "differs": "no", "open": "open"}
"""Verdicts, and their tones on the page."""

WORDS: Final = {"agrees": "agrees", "differs": "differs", "open": "inconclusive"}
"""Verdicts, and their words on the page."""


def agree(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    engine: Engine = LINUX,
    margin: float = MARGIN,
    replicates: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    explained: int = 0,
) -> Path:
    """Run the scenario or experiment ``file`` in simulator and kernel; write into ``out``, and return the page's path.

    ``out`` gets a sweep of each engine, ``agreement.parquet`` with a row per cell and metric, and ``agreement.html``.
    Existing runs are not repeated. With ``explained``, that number of replicates of each cell is run once more with
    captures, and ``explanation.parquet`` and a section of the page rank the differences in the engines' behaviour
    (docs/linux.md). Raises the errors of ``ecnlab.sweep``, FolderError if ``out`` was started with another margin, and
    EcnlabError for an ``engine`` that cannot be compared with the simulator: currently any but the kernel.
    """
    refuse_unless_random(engine, "an agreement")
    if engine == PACKETS:
        raise EcnlabError(f"the engine `{PACKETS}` cannot be compared with itself: name another, such as `{LINUX}`")
    folder = Path(out)
    question = read_question(Path(file))
    question = question if replicates is None else question.with_replicates(replicates)
    folder.mkdir(parents=True, exist_ok=True)
    refuse_other_kind(folder, STORED)
    _state(folder, margin)
    keep = ["queue_series", "flow_series"]

    def answers(of: Engine) -> Sweep:
        return sweep(
            question, folder / of, engine=of, replicates=replicates, workers=workers, keep=keep, progress=progress
        )

    linux, simulator = answers(engine), answers(PACKETS)
    rows = compare(simulator, linux, margin)
    write_named(folder / AGREEMENT, table_bytes(rows), TABLE, own=folder)
    page = folder / PAGE
    ranked = explain(question, engine, explained, progress or (lambda _done, _all: None)) if explained else None
    names = ["margin.json", AGREEMENT, page.name]
    if ranked is not None:
        write_named(folder / EXPLANATION, table_bytes(ranked), TABLE, own=folder)
        names.append(EXPLANATION)
    write_named(page, render(_page(simulator, linux, rows, margin, ranked)).encode(), PAGES, own=folder)
    remake = ["ecnlab", "agree", str(file), "--margin", str(margin), "--engine", engine, "--out", str(folder)]
    remake += [] if replicates is None else ["--replicates", str(replicates)]
    remake += ["--explain", "--captures", str(explained)] if explained else []
    write_files(folder, STORED, names, shlex.join(remake))
    return page


def stored_page(out: str | os.PathLike[str]) -> str:
    """Return the page of the agreement in the folder ``out`` as HTML text, drawn again from its tables.

    Raises FolderError, OSError.
    """
    folder = Path(out)
    files = read_files(folder)
    linux, simulator = Sweep.load(folder / LINUX), Sweep.load(folder / PACKETS)
    path = files.path(AGREEMENT)
    rows = insist_on_shape(path, read_table(path), compared_shape(simulator.axes))
    if rows.is_empty():
        raise FolderError(f"{path} is damaged (it has no rows): {REMEDY}")
    ranked = None
    if EXPLANATION in files.digests:
        path = files.path(EXPLANATION)
        ranked = insist_on_shape(path, read_table(path), ranked_shape(simulator.axes))
    return render(_page(simulator, linux, rows, float(rows["margin"][0]), ranked))


def _kept(own: Mapping[str, Any], kernel: Mapping[str, Any]) -> Iterator[str]:
    """Overrides for the TCPs ``own`` that `PROFILE` would give another value of `KEPT`."""
    for name, tcp in own.items():
        for key in KEPT:
            if isinstance(tcp[key], str) and tcp[key] != kernel[name][key]:
                yield f'"tcp.{name}.{key}" = "{tcp[key]}"'


def read_question(path: Path) -> Experiment:
    """Return the experiment in ``path``; for a scenario, an experiment with the metrics of every comparison.

    Raises SpecError, EcnlabError, OSError.
    """
    if is_experiment(read_text(path)):
        return read_experiment(path)
    scenario = read_scenario(path)
    spec, kernel = scenario.resolved, scenario.with_overrides({"profile": PROFILE}).resolved
    lines = [
        "format = 1",
        f"title = {_quoted(path.stem)}",
        f"scenario = {_quoted(path.name)}",
        "replicates = 8",
        "[set]",
    ]
    lines += [f'profile = "{PROFILE}"', *_kept(spec["tcp"], kernel["tcp"]), "[metrics]"]
    groups = sorted({flow["group"] for flow in spec["flow"].values() if flow.get("count") != 0})
    for name, column in (("goodput", "goodput_bps"), ("retransmits", "retransmits"), ("timeouts", "timeouts")):
        for group in groups:
            where = f"{{ group = {_quoted(group)} }}"
            key = _quoted(f"{name}_{group}")
            lines.append(f'{key} = {{ table = "flows", column = "{column}", where = {where}, aggregate = "sum" }}')
    for link in (name for name, table in sorted(spec["link"].items()) if table["queue"] != "default"):
        where = f'{{ link = {_quoted(link)}, group = "all" }}'
        for name, column in (("marks", "marks"), ("drops", "dropped")):
            key = _quoted(f"{name}_{link}")
            lines.append(f'{key} = {{ table = "queues", column = "{column}", where = {where}, aggregate = "sum" }}')
        for name, column in (("queue", "queue_mean_packets"), ("utilisation", "utilisation")):
            key, where = _quoted(f"{name}_{link}"), f"{{ link = {_quoted(link)} }}"
            lines.append(f'{key} = {{ table = "links", column = "{column}", where = {where} }}')
    return Experiment(str(path.with_name(f"agreement of {path.name}")), "\n".join(lines))


def _quoted(name: str) -> str:
    """``name`` as a TOML string: names, and those of files, may have quotes and spaces in them."""
    return json.dumps(name, ensure_ascii=False)


def compare(simulator: Sweep, linux: Sweep, margin: float) -> pl.DataFrame:
    """A row for each cell and metric: both means, difference and ratio with their intervals, and the verdict."""
    keys = ["arm", *simulator.axes, "metric"]
    both = simulator.metrics.join(
        linux.metrics, on=[*keys, "replicate"], suffix="_linux", nulls_equal=True, maintain_order="left"
    ).drop_nulls(["value", "value_linux"])
    rows = []
    for key, group in both.group_by(keys, maintain_order=True):
        ours, theirs = group["value"].to_numpy(), group["value_linux"].to_numpy()
        range_ = of_metric(simulator.manifest["metrics"], str(key[-1]))
        difference = of_difference(range_, range_).clip(paired_difference(ours, theirs, LEVEL))
        ratio = of_ratio(range_, range_).clip(ratio_to(ours, theirs))
        nothing = not ours.any() and not theirs.any()
        rows.append(
            dict(zip(keys, key, strict=True))
            | {"n": len(ours), PACKETS: ours.mean(), LINUX: theirs.mean()}
            | {"difference": difference.mean, "difference_low": difference.low, "difference_high": difference.high}
            | {"ratio": ratio.mean, "ratio_low": ratio.low, "ratio_high": ratio.high}
            | {"margin": margin, "verdict": "agrees" if nothing else judge(ratio, margin)}
        )
    if not rows:
        raise EcnlabError("the two engines have no metric in common: give the experiment [metrics] that Linux counts")
    return pl.DataFrame(rows)


def ratio_to(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> Interval:
    """Return the ratio of means with its interval; NaN if the mean of ``theirs`` is zero.

    Runs without any count have no spread, which does not prove a mean of zero: the interval is then that of runs of
    which one has the smallest count of the other engine.
    """
    if theirs.mean() == 0.0:
        return Interval(math.nan, math.nan, math.nan, 0, LEVEL)
    if ours.any():
        return ratio_of_means(ours, theirs, LEVEL)
    once = np.zeros_like(ours)
    once[0] = min(theirs[theirs != 0.0], key=abs)
    bound = ratio_of_means(once, theirs, LEVEL)
    return Interval(0.0, min(bound.low, 0.0), max(bound.high, 0.0), bound.n, LEVEL)


def judge(ratio: Interval, margin: float) -> str:
    """Return the verdict of a ratio's interval on whether it lies within ``margin`` of 1."""
    return judge_between(ratio, 1 - margin, 1 + margin)


def judge_between(interval: Interval, low: float, high: float) -> str:
    """Return "agrees" for an interval within ``low`` to ``high``, "differs" for one outside, else "open"."""
    if low <= interval.low and interval.high <= high:
        return "agrees"
    return "differs" if interval.high < low or interval.low > high else "open"


def _state(folder: Path, margin: float) -> None:
    """Write the margin down before anything is known. Raises FolderError if another one was."""
    path = folder / "margin.json"
    stated = {"margin": margin, "level": LEVEL}
    if path.exists() and read_json(path) != stated:
        there = insist(path, read_json(path), Margin)["margin"]
        raise FolderError(f"{folder} was begun with a margin of {there}: use that margin, or choose another folder")
    write_json(path, stated)


def _page(
    simulator: Sweep, linux: Sweep, rows: pl.DataFrame, margin: float, ranked: pl.DataFrame | None = None
) -> Page:
    keys = ["arm", *simulator.axes]
    cells = rows.select(keys).unique(maintain_order=True).rows()
    count = {verdict: rows.filter(pl.col("verdict") == verdict).height for verdict in TONES}
    tally: list[tuple[str, Tone, int]] = [
        ("agree", "yes", count["agrees"]),
        ("inconclusive", "open", count["open"]),
        ("differ", "no", count["differs"]),
    ]
    return Page(
        title=simulator.manifest["title"],
        kicker="Agreement",
        answer=f"{count['agrees']} of {rows.height} comparisons in {counted(len(cells), 'cell')} agree within {margin:.0%} of the "
        f"kernel's value; {count['differs']} differ and {count['open']} are inconclusive.",
        lede=f"The same scenarios in the simulator and on Linux {_kernels(linux)}, under the same seeds. The margin, "
        f"{margin:.0%} of the kernel's value, was stated before the first run.",
        tallies=[Tally(f"{rows.height} comparisons:", tally)],
        findings=_findings(rows),
        sections=[
            Section(
                "numbers",
                "Every comparison",
                "Means over replicates; ratio of simulator to Linux with its 90 % interval (Fieller).",
                [_table(cell, keys, rows) for cell in cells],
            ),
            *_substituted(linux),
            Section(
                "evolution",
                "Queue and window over time",
                f"One replicate, the same seed in both engines{'; the first cells' if len(cells) > CHARTS else ''}.",
                _charts(simulator, linux, cells[:CHARTS], keys),
            ),
            *([] if ranked is None else [_behaviour(ranked, cells, keys)]),
        ],
        footer=f"ecnlab {simulator.manifest['ecnlab']['version']}, {linux.manifest['wall'].get('seconds', 'an unknown number of')} s of Linux.",
    )


def _substituted(linux: Sweep) -> list[Section]:
    """The values of the scenarios that the kernel replaced by its own, if there are any."""
    found = linux.manifest.get("instead", [])
    if not found:
        return []
    rows: list[Sequence[Cell | str]] = [
        [one["key"], *(json.dumps(one[x]) for x in ("asked", "kernel"))] for one in found
    ]
    table = Table("Values in the scenario and on Linux", ["key", "scenario", "Linux"], rows)
    return [Section("substituted", "Substituted on Linux", "The kernel uses its own values for these keys.", [table])]


def _kernels(linux: Sweep) -> str:
    return str((linux.manifest.get("linux") or {}).get("kernel", ""))


def _findings(rows: pl.DataFrame) -> list[Finding]:
    """One for each metric: those that agree in the fewest cells first."""
    found = [rows.filter(pl.col("metric") == metric) for metric in rows["metric"].unique(maintain_order=True)]
    found.sort(key=lambda own: [(own["verdict"] == verdict).mean() for verdict in ("agrees", "open")])
    return [_finding(own) for own in found]


def _finding(own: pl.DataFrame) -> Finding:
    """The finding of one metric; ``own`` has a row for each cell."""
    metric, cells = own["metric"][0], own.height
    if cells == 1:
        row = own.row(0, named=True)
        means = f"Simulator {_number(row[PACKETS])}, Linux {_number(row[LINUX])}, ratio {_ratio(row)}."
        return Finding(WORDS[row["verdict"]], TONES[row["verdict"]], metric, means)
    agrees, differs = ((own["verdict"] == verdict).sum() for verdict in ("agrees", "differs"))
    tone: Tone = "yes" if agrees == cells else "no" if differs == cells else "partly"
    ratios = own["ratio"].drop_nans().drop_nulls()
    span = f"Ratios from {min(ratios):.3g} to {max(ratios):.3g}." if ratios.len() else "Linux counted none."
    return Finding(f"{agrees} of {cells} agree", tone, metric, span)


def _table(cell: tuple[Any, ...], keys: list[str], rows: pl.DataFrame) -> Table:
    own = rows.filter(*(pl.col(key).eq_missing(value) for key, value in zip(keys, cell, strict=True)))
    body: list[Sequence[Cell | str]] = [
        [
            row["metric"],
            _number(row[PACKETS]),
            _number(row[LINUX]),
            _ratio(row),
            Cell(WORDS[row["verdict"]], tone=TONES[row["verdict"]]),
        ]
        for row in own.iter_rows(named=True)
    ]
    return Table(_label(cell), ["metric", "simulator", "Linux", "ratio", "verdict"], body)


def _behaviour(ranked: pl.DataFrame, cells: list[tuple[Any, ...]], keys: list[str]) -> Section:
    head = ["group", "at", "quantity", "unit", "simulator", "Linux", "ratio", "standard errors"]
    blocks: list[Block] = []
    for cell in cells:
        own = ranked.filter(*(pl.col(key).eq_missing(value) for key, value in zip(keys, cell, strict=True)))
        body: list[Sequence[Cell | str]] = [
            [row["group"], row["place"], row["quantity"], row["unit"]]
            + ["none" if row[name] is None else _number(row[name]) for name in ("simulator", LINUX, "ratio", "score")]
            for row in own.head(RANKED).iter_rows(named=True)
        ]
        blocks.append(Table(_label(cell), head, body))
    return Section(
        "behaviour",
        "Differences in behaviour",
        "From captures of both engines, means per connection; the largest difference in standard errors first. At most "
        f"{LONGEST_S:.0f} s after the warm-up, and the first {RANKED} rows of each cell: {EXPLANATION} has all.",
        blocks,
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _ratio(row: dict[str, Any]) -> str:
    if math.isnan(row["ratio"]):
        return "undefined"
    if math.isinf(row["ratio_high"]):
        return f"{row['ratio']:.3f} (no bound)"
    return f"{row['ratio']:.3f} ({row['ratio_low']:.3f} to {row['ratio_high']:.3f})"


def _label(cell: tuple[Any, ...]) -> str:
    return ", ".join(str(value) for value in cell if value is not None) or "the scenario"


def _charts(simulator: Sweep, linux: Sweep, cells: list[tuple[Any, ...]], keys: list[str]) -> list[Block]:
    if any("queue_series" not in result.tables for result in (simulator, linux)):
        return ['Nothing was recorded: set sample = "100 ms" in the scenario.']
    blocks: list[Block] = []
    for cell in cells:
        for table, who, value, unit in (
            ("queue_series", "link", "packets", "packets"),
            ("flow_series", "flow", "cwnd_bytes", "bytes"),
        ):
            series = [_series(result, table, cell, keys) for result in (simulator, linux)]
            name = _busiest(series[1], who, value)
            if name is None:
                continue
            lines = [one.filter(pl.col(who) == name).select("tick", value) for one in series]
            joined = lines[0].join(lines[1], on="tick", how="inner", suffix="_linux").sort("tick")
            both = [
                Line("simulator", joined[value].cast(pl.Float64).to_list(), 0),
                Line("Linux", joined[f"{value}_linux"].cast(pl.Float64).to_list(), 1),
            ]
            times = [tick / 1000 for tick in joined["tick"]]
            what = "Queue" if table == "queue_series" else "Window"
            blocks.append(Chart(f"{what} of {name}: {_label(cell)}", "", times, both, unit))
    return blocks


def _series(result: Sweep, table: str, cell: tuple[Any, ...], keys: list[str]) -> pl.DataFrame:
    """A time series of the cell's first replicate, its times in whole milliseconds."""
    wanted = [pl.col(key).eq_missing(pl.lit(value)) for key, value in zip(keys, cell, strict=True)]
    rows = result.table(table).filter(pl.col("replicate") == 0, *wanted).collect()
    return rows.with_columns(tick=(pl.col("time_s") * 1000).round().cast(pl.Int64))


def _busiest(rows: pl.DataFrame, who: str, value: str) -> str | None:
    """Whose ``value`` moves most; of flows, the first."""
    if rows.is_empty():
        return None
    if who == "flow":
        return str(rows["flow"].min())
    means = rows.group_by(who).agg(pl.col(value).mean()).sort(value, who)
    return str(means[who][-1])

"""Calibration of ``ecnlab infer``: how often its regions have the truth, for papers whose settings are known.

Each synthetic paper has settings drawn from the prior. Its numbers are means of 1 or 10 runs with these settings and seeds of its own, rounded
to two digits, and one number is withheld. ``ecnlab infer`` gets the others. Prints the table of docs/infer.md; ``--write`` stores it there.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from ecnlab.inference.answer import answer
from ecnlab.inference.prior import Prior
from ecnlab.inference.question import Question, Target, read_question
from ecnlab.inference.running import do
from ecnlab.inference.waves import sample

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "infer.md"
BEGIN = "<!-- table of tests/tools/infer/calibrate.py -->\n"
END = "<!-- end of the table -->\n"

PRINTED_RUNS = (1, 10)
"""Runs behind each printed number."""

EXPERIMENT = """
format = 1
scenario = "dumbbell.toml"
replicates = 1
set = { "duration" = "8 s", "warmup" = "2 s", "sample" = "1 s", "link.bottleneck.rate" = "2 Mbps" }

[arm.ecn]
set = {}

[arm.plain]
set = { "tcp.default.ecn" = "off" }

[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
delay = { table = "links", column = "sojourn_mean_s", where = { link = "bottleneck" } }
resent = { table = "flows", column = "retransmits", aggregate = "sum" }
marked = { table = "queues", column = "marks", aggregate = "sum", where = { link = "bottleneck" } }
"""

QUESTION = """
format = 1
title = "A synthetic paper"
experiment = "experiment.toml"
seeds = 3

[unknown.min_th]
path = "queue.red.min_th"
range = ["2 packets", "20 packets"]

[unknown.ratio]
path = "queue.red.max_th"
times = "min_th"
range = [1.5, 4.0]

[unknown.rtt]
path = "link.exit.delay"
range = ["1 ms", "100 ms"]
log = true

[unknown.recovery]
path = "tcp.default.recovery"
values = ["newreno", "sack"]

[target]
delay = { metric = "delay", arm = "ecn", printed = 0 }
resent = { metric = "resent", arm = "plain", printed = 0 }
marked = { metric = "marked", arm = "ecn", printed = 0 }
gain = { metric = "goodput", arm = "ecn", against = "plain", reading = "gain", printed = 0 }
"""


def main() -> int:
    """Infer the settings of each paper."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=200)
    parser.add_argument("--settings", type=int, default=160)
    parser.add_argument("--write", action="store_true", help=f"store the table in {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = _table(_question(Path(folder)), options.papers, options.settings)
    print(table, end="")
    if options.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + table + "\n" + END + rest.partition(END)[2])
    return 0


def _question(folder: Path) -> Question:
    (folder / "dumbbell.toml").write_text((ROOT / "examples" / "dumbbell.toml").read_text())
    (folder / "experiment.toml").write_text(EXPERIMENT)
    (folder / "infer.toml").write_text(QUESTION)
    return read_question(folder / "infer.toml")


def _table(question: Question, papers: int, settings: int) -> str:
    return "\n".join(_part(question, papers, settings, runs) for runs in PRINTED_RUNS)


def _part(question: Question, papers: int, settings: int, runs: int) -> str:
    held, counts = dict.fromkeys(question.file.unknown, 0), {"stated": 0, "none": 0, "held out": 0}
    widths: dict[str, list[float]] = {name: [] for name in question.file.unknown}
    for number, (paper, truth) in enumerate(_papers(question, papers, runs)):
        found = sample(paper, None, settings=settings, waves=4, seed=number + 1, cache=False)
        given = answer(paper, found)
        counts["none"] += given.verdict == "none"
        if given.verdict == "these":
            counts["stated"] += 1
            for region in given.regions:
                held[region.name] += _has(paper, region.name, region.places, truth[region.name])
                widths[region.name].append(_width(region.places, question, region.name))
            counts["held out"] += all(one.agrees for one in given.predicted if one.target.held_out)
        print(f"\r{number + 1} of {papers} papers", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    stated = counts["stated"]
    rows = [
        f"| numbers of {runs} run{'s' * (runs > 1)} | papers | truth in the region | mean part of the prior |",
        "| --- | --- | --- | --- |",
        *(
            f"| {name} | {stated} | {_rate(held[name], stated)} | {100 * float(np.mean(widths[name])):.0f} % |"
            for name in held
        ),
        f"| all unknowns | {stated * len(held)} | {_rate(sum(held.values()), stated * len(held))} | |",
        f"| withheld number, 95 % interval | {stated} | {_rate(counts['held out'], stated)} | |",
    ]
    rest = f"\nOf {papers} papers {counts['none']} were answered *none*, and {papers - stated - counts['none']} had too few settings for regions.\n"
    return "\n".join(rows) + "\n" + rest


def _rate(k: int, n: int) -> str:
    return f"{100 * k / n:.1f} % ± {100 * 1.96 * math.sqrt(k * (n - k) / n**3):.1f} %"


def _papers(question: Question, papers: int, runs: int) -> Iterator[tuple[Question, dict[str, float]]]:
    """Yield questions about papers, with the coordinates of their settings."""
    random = np.random.default_rng(2026)
    truths = Prior(question.file.unknown).spread(papers, random)
    seeds = range(1_000_000, 1_000_000 + papers * max(PRINTED_RUNS))
    several = replace(question.file, seeds=max(PRINTED_RUNS))
    own = Question(question.path, several, question.experiment, question.cells)
    done = do(own, truths, seeds, threads=None, cache=False, cluster=None, progress=lambda _done, _all: None)
    for truth, values in zip(truths, done.values, strict=True):
        withheld = int(random.integers(len(question.file.target)))
        targets = {
            name: _printed(target, float(values[k, :runs].mean()), held_out=k == withheld)
            for k, (name, target) in enumerate(question.file.target.items())
        }
        file = replace(question.file, target=targets, printed_runs=runs)
        yield (
            Question(question.path, file, question.experiment, question.cells),
            dict(zip(question.file.unknown, map(float, truth), strict=True)),
        )


def _printed(target: Target, value: float, *, held_out: bool) -> Target:
    """Return ``target`` with ``value`` as a paper prints it."""
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 1) if value else 1.0
    return replace(target, printed=round(value / unit) * unit, rounding=unit, held_out=held_out)


def _has(question: Question, name: str, places: tuple[float, ...], truth: float) -> bool:
    if question.file.unknown[name].range:
        return places[0] <= truth <= places[1]
    return truth in places


def _width(places: tuple[float, ...], question: Question, name: str) -> float:
    unknown = question.file.unknown[name]
    return places[1] - places[0] if unknown.range else len(places) / len(unknown.values)


if __name__ == "__main__":
    sys.exit(main())

"""The page of an advice: ``advice.html``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ecnlab import _core
from ecnlab.advise.advice import RUNS, Advice
from ecnlab.advise.candidates import NONE, SHARE
from ecnlab.advise.question import WARMUP_S
from ecnlab.advise.variations import Variation
from ecnlab.advise.words import changes, interval, sentence
from ecnlab.folder.outputs import PAGE, write_named
from ecnlab.report import Page, Section, Table, render
from ecnlab.report.page import Cell
from ecnlab.report.tone import Tone

FILE: Final = "advice.html"

ECN: Final = {
    "half": "every second TCP flow of a group offers ECN (RFC 3168)",
    "on": "every TCP flow offers ECN (RFC 3168)",
    "off": "no TCP flow offers ECN",
}


def write_page(advice: Advice, variations: Sequence[Variation]) -> Path:
    """Write the page into the folder of the advice and return its path. Raises OSError."""
    path = advice.folder / FILE
    write_named(path, render(page(advice, variations)).encode("utf-8", "surrogatepass"), PAGE, own=advice.folder)
    return path


def page(advice: Advice, variations: Sequence[Variation]) -> Page:
    """Return the page."""
    question, line = advice.question, advice.question.line
    return Page(
        title=f"Which queue? {line.words}",
        kicker=f"ecnlab {_core.__version__}, advise, {question.seeds} seeds",
        answer=sentence(advice),
        lede=f"Means and 95 % intervals (Student's t over {question.seeds} seeds) of {question.measured_s} s after a warm-up of {WARMUP_S} s.",
        tallies=(),
        findings=(),
        sections=list(_sections(advice, variations)),
        footer=f"The runs are in {RUNS}, a sweep, in the folder of this page; the rule is in `ecnlab docs advise`.",
        facts=[
            ("line", f"{line.words}: {line.kind.about}"),
            ("buffers of the line", f"{1e3 * line.buffer_s:g} ms at the rate of each direction, drop-tail"),
            ("shapers", f"{100 * SHARE:g} % of the rates, downstream behind the line (ifb)"),
            ("senders", f"CUBIC of Linux 7; {ECN[question.ecn]}"),
        ],
    )


def _sections(advice: Advice, variations: Sequence[Variation]) -> Iterator[Section]:
    yield Section(
        "measures",
        "Candidates",
        "Smaller is better, except of rates. Waits are in both queues of the worse direction, for 98 % of the packets.",
        [_candidates(advice)],
    )
    if advice.lines:
        intro = f"For {advice.decision.advised}. Replace the names of the devices by yours."
        yield Section(
            "setup", "Set-up", intro, [Table("Commands", ("command",), [[Cell(one)] for one in advice.lines])]
        )
    if found := changes(advice, variations):
        yield Section("changes", "What would change the answer", "", list(found))
    most = advice.question.most_cost
    left_out = f"Candidates that cost more than {100 * most:g} % of a transfer are left out. " if most < 1.0 else ""
    rule = (
        f"The measures are compared in this order. {left_out}In each measure a "
        "candidate is out if it is worse than the best one by more than the smallest difference that matters: the whole interval "
        f"of the paired difference is beyond it. Intervals have the confidence 1 - 0.05/{advice.decision.family} (Bonferroni, all pairs and measures)."
    )
    yield Section("decision", "Decision", rule, [_comparisons(advice)])
    mix = [[Cell(app.name), Cell(app.about)] for app in advice.question.apps]
    yield Section("mix", "Applications", "", [Table("Mix", ("application", "traffic"), mix)])
    words = shlex.join(command(advice))
    yield Section(
        "repeat", "Command", "", [Table("Command", ("result", "command"), [[Cell("this page"), Cell(words)]])]
    )


def command(advice: Advice) -> list[str]:
    """Return the command that makes the advice again."""
    question, line = advice.question, advice.question.line
    words = ["ecnlab", "advise", "--link", line.kind.name, "--down", f"{line.down_bps / 1e6:g}Mbps"]
    words += [
        "--up",
        f"{line.up_bps / 1e6:g}Mbps",
        "--rtt",
        f"{1e3 * line.rtt_s:g}ms",
        "--buffer",
        f"{1e3 * line.buffer_s:g}ms",
    ]
    words += ["--mix", ",".join(app.name for app in question.apps), "--ecn", question.ecn]
    words += ["--cost", f"{100 * question.most_cost:g}"]
    return [
        *words,
        "--queues",
        ",".join(name for name in question.queues if name != NONE),
        "--seeds",
        str(question.seeds),
    ]


def page_table(advice: Advice) -> tuple[list[str], list[list[str]]]:
    """Return the table of candidates: column names and rows."""
    rows = [
        [name, _verdict(advice, name), *(interval(advice.mean(one, name), one.unit) for one in advice.measures)]
        for name in advice.question.queues
    ]
    return ["candidate", "decision", *(one.label for one in advice.measures)], rows


def _candidates(advice: Advice) -> Table:
    columns, rows = page_table(advice)
    cells = [
        [Cell(name), Cell(verdict, tone=_tone(advice, name)), *(Cell(text, numeric=True) for text in texts)]
        for name, verdict, *texts in rows
    ]
    return Table("Measures of the candidates", columns, cells)


def _tone(advice: Advice, name: str) -> Tone:
    return "yes" if name in advice.decision.equals else "plain"


def _verdict(advice: Advice, name: str) -> str:
    decision = advice.decision
    if name == decision.advised:
        return "advised"
    if name in decision.equals:
        return "no difference shown"
    if name in decision.too_costly:
        return "costs too much"
    return next(
        (f"worse: {one.measure.label}" for one in decision.comparisons if one.other == name and one.shown),
        "not defined",
    )


def _comparisons(advice: Advice) -> Table:
    rows = [
        [
            Cell(one.measure.label),
            Cell(one.other),
            Cell(one.best),
            Cell(interval(one.worse, one.measure.unit), numeric=True),
            Cell(f"{one.smallest:.3g} {one.measure.unit}", numeric=True),
            Cell("worse" if one.shown else "no difference shown", tone="no" if one.shown else "open"),
        ]
        for one in advice.decision.comparisons
    ]
    columns = ("measure", "candidate", "best", "worse by", "smallest that matters", "decision")
    return Table("Paired differences to the best candidate", columns, rows)

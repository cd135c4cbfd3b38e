"""Writes the table of docs/which-queue.md from runs of `ecnlab advise` for eight lines: ``make which-queue``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ecnlab.advise.advice import advise
from ecnlab.advise.candidates import candidates
from ecnlab.advise.line import line
from ecnlab.advise.mix import mix
from ecnlab.advise.page import write_page
from ecnlab.advise.question import Question
from ecnlab.advise.result import as_json, write_json

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "which-queue.md"
RESULTS: Final = ROOT / "results" / "which-queue"
MIX: Final = "call,web,download"
MARKS: Final = ("<!-- written by make which-queue -->\n", "<!-- end of make which-queue -->")

LINES: Final = (
    ("adsl", "16Mbps", "1Mbps", "40ms"),
    ("dsl", "50Mbps", "10Mbps", "30ms"),
    ("dsl", "100Mbps", "40Mbps", "30ms"),
    ("docsis", "200Mbps", "20Mbps", "30ms"),
    ("docsis", "400Mbps", "40Mbps", "20ms"),
    ("ethernet", "100Mbps", "100Mbps", "20ms"),
    ("lte", "36Mbps", "5Mbps", "50ms"),
    ("wifi", "40Mbps", "40Mbps", "30ms"),
)
"""Kind, rates and round trip of the lines."""


def answers() -> Iterator[dict[str, Any]]:
    """Advise on each line, and yield the answers."""
    for kind, down, up, rtt in LINES:
        began = time.monotonic()
        question = Question(line(kind, down, up, rtt, None), mix(MIX), candidates(None))
        advice = advise(question, RESULTS / question.line.name)
        write_page(advice, ())
        answer = {**as_json(advice, ()), "words": question.line.words}
        write_json(answer, advice.folder)
        print(f"{question.line.words}: {time.monotonic() - began:.0f} s", file=sys.stderr)  # noqa: T201
        yield answer


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from ("| line | advised | no difference shown to | answer |", "| --- | --- | --- | --- |")
    for one in found:
        others = ", ".join(f"`{name}`" for name in one["equals"] if name != one["advised"]) or "-"
        yield f"| {one['words']} | `{one['advised']}` | {others} | {one['answer']} |"
    for one in found:
        if one["tc"]:
            yield from ("", f"{one['words']}:", "", "```text", *one["tc"], "```")


def main() -> None:
    """Replace the generated part of the page."""
    begin, end = MARKS
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    after = rest[rest.index(end) :]
    PAGE.write_text(before + begin + "\n".join([*table(list(answers())), ""]) + after, encoding="utf-8")


if __name__ == "__main__":
    main()

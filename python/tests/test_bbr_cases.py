"""The 22 test cases of BBR: all hold, each can fail, and the page shows what they found."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from ecnlab.base.errors import EcnlabError
from ecnlab.cases import case, names, read
from ecnlab.cases.case import FOLDER
from ecnlab.cases.checks import Outcome, perform
from ecnlab.cases.export import events, qlog
from ecnlab.cli import cli

PAGE = Path(__file__).parents[2] / "docs" / "bbr3-cases.md"
WRITE = "ECNLAB_WRITE_CASES"
"""The environment variable with which the generated part of the page is written."""
GENERATED = re.compile(r"(?<=<!-- written by make schema -->\n).*(?=<!-- end -->)", re.DOTALL)

DEPARTURES = ("04-drain-time", "19-spurious-rto")
PLAIN = FOLDER / "10-probe-rtt.toml"


@cache
def performed(name: str) -> Outcome:
    """The outcome of the case ``name``."""
    return perform(case(name))


def test_there_are_22_cases_in_the_order_of_the_draft() -> None:
    assert [int(name[:2]) for name in names()] == list(range(1, 23))
    assert len({case(name).title for name in names()}) == 22
    assert tuple(name for name in names() if case(name).departure) == DEPARTURES


@pytest.mark.parametrize("name", names())
def test_every_check_holds(name: str) -> None:
    assert [result for result in performed(name).results if not result.holds] == []


@pytest.mark.parametrize("name", names())
def test_a_check_fails_in_the_wrong_scenario(name: str) -> None:
    assert not perform(case(name), case(name).wrong).holds


def test_a_state_that_never_comes_fails_a_check() -> None:
    outcome = perform(case("10"), {"duration": "4 s"})
    assert {result.found for result in outcome.results} == {
        "never: enter ProbeRTT",
        "never: leave ProbeRTT plus 100 ms",
    }


def test_exported_states_are_those_of_the_run() -> None:
    outcome = performed("10-probe-rtt")
    found = events(outcome)
    assert [event["new"] for event in found[:4]] == ["Startup", "Drain", "CRUISE", "REFILL"]
    assert [event["old"] for event in found[1:]] == [event["new"] for event in found[:-1]]
    # 200 ms and a round trip of 40 ms, in samples of 1 ms.
    begin, end = (next(e["time_ns"] for e in found if e[key] == "ProbeRTT") for key in ("new", "old"))
    assert 200e6 <= end - begin <= 241e6
    records = [json.loads(one) for one in qlog(outcome).split("\x1e")[1:]]
    states = [one["data"] for one in records if one.get("name") == "quic:congestion_state_updated"]
    assert states[:2] == [{"new": "Startup"}, {"old": "Startup", "new": "Drain"}] and len(states) == len(found)


# ---- files that are no cases ----


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text.replace("over =", "ovr ="),
            r"mine\.toml: check 3: unknown key `ovr`: did you mean `over`\?",
        ),
        (
            lambda text: text.replace("equals = 0.5\n", ""),
            r"check 2: it has no bound, and cannot fail: add equals, max",
        ),
        (lambda text: text.replace('"CRUISE"]', '"CRUSE"]'), r"check 6: there is no state `CRUSE`: there are Startup"),
        (lambda text: text.replace("[wrong]", "[right]"), r"unknown key `right`"),
        (lambda text: text.replace('title = "', 'heading = "', 1), r"unknown key `heading`: there are check"),
        (lambda text: re.sub(r'^tests = """.*?"""\n', "", text, flags=re.S | re.M), r"`tests` is missing: add it"),
        (lambda text: text.replace('title = "', 'title = 3 # "', 1), r"`title` is a int: write a str"),
        (lambda text: text.replace('claim = "2: after 5 s"\n', ""), r"check 1: `claim` is missing"),
        (lambda text: text + "[[", r"mine\.toml: not TOML"),
    ],
)
def test_what_is_no_case_is_refused(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(change(PLAIN.read_text()))
    with pytest.raises(EcnlabError, match=message):
        read(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text.replace('"bbr_cwnd_gain"', '"gain"'),
            r"there is no column `gain` of numbers in flow_series",
        ),
        (
            lambda text: text.replace('over = "min"', 'over = "least"'),
            r"mine: a check cannot be evaluated: KeyError\('least'\)",
        ),
        (
            lambda text: text.replace("within = 0.01", "by = 0.01"),
            r"mine: a check cannot be evaluated: KeyError\('within'\)",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_refused(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(change(PLAIN.read_text()))
    with pytest.raises(EcnlabError, match=message):
        perform(read(file))


def test_the_command_shows_checks_and_writes_files(tmp_path: Path) -> None:
    run = CliRunner().invoke
    shown = run(cli, ["vectors", "cases", "4", "--out", str(tmp_path)])
    assert shown.exit_code == 0 and "04-drain-time: Exiting DRAIN Based on Time" in shown.output
    assert "  holds  4: the first round after three ends DRAIN: 4 (equals 4)" in shown.output
    assert "  departure: Step 2 has a decrease by 10 %." in shown.output
    assert {path.name for path in tmp_path.iterdir()} == {"04-drain-time.jsonl", "04-drain-time.qlog", "files.json"}
    wrong = run(cli, ["vectors", "cases", "04-drain-time", "--wrong", "--json"])
    assert wrong.exit_code == 1 and json.loads(wrong.output)[0]["holds"] is False
    unknown = run(cli, ["vectors", "cases", "drain"])
    assert isinstance(unknown.exception, EcnlabError) and "there is no case `drain`" in str(unknown.exception)


# ---- the page ----


def test_the_page_shows_all_cases() -> None:
    outcomes = [performed(name) for name in names()]
    rows = "".join(map(_row, outcomes))
    made = f"| case | result | checks |\n| --- | --- | --- |\n{rows}\n" + "\n".join(map(_section, outcomes))
    page = PAGE.read_text()
    if os.environ.get(WRITE):
        PAGE.write_text(GENERATED.sub(lambda _: made, page))
    assert GENERATED.findall(PAGE.read_text()) == [made], f"write the page anew: {WRITE}=1 pytest {__file__}"


def _row(outcome: Outcome) -> str:
    one = outcome.case
    result = "departure" if one.departure else "holds" if outcome.holds else "fails"
    return f"| [{int(one.name[:2])}. {one.title}](#{one.name}) | {result} | {len(outcome.results)} |\n"


def _section(outcome: Outcome) -> str:
    one = outcome.case
    file = f"../python/ecnlab/cases/files/{one.name}.toml"
    checks = "".join(f"- {result.claim}: {result.found}\n" for result in outcome.results)
    more = [f"\n*Departure.* {one.departure.strip()}\n"] if one.departure else []
    more += [f"\n*Note.* {one.note.strip()}\n"] if one.note else []
    return f"### {one.name}\n\n[{one.title}]({file}). {one.tests}\n\n{checks}{''.join(more)}"

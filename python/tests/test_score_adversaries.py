"""Laws made for a good card, in ``adversaries/``: each fails the criterion that is there for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ecnlab.scoring import score, subject, subjects
from ecnlab.scoring.sheet import Kind, Sheet, built_in

HERE = Path(__file__).parent / "adversaries"

SHORT = {
    "deep-buffer": ("40 s", "20 s"),
    "equal-delay": ("30 s", "10 s"),
    "ecn": ("15 s", "5 s"),
    "harm-fast": ("60 s", "20 s"),
    "tunnel": ("20 s", "8 s"),
    "loss": ("30 s", "5 s"),
}
"""Duration and warm-up of the scenarios that are run here."""


def short(kind: Kind, name: str, case: str, seeds: int) -> Sheet:
    """The sheet of one scenario with short runs and the cases that begin with ``case``."""
    whole = built_in(kind).only([name])
    duration, warmup = SHORT[name]
    (one,) = whole.scenarios
    cases = [each for each in one.cases if each.name.startswith(case)]
    made = replace(one, duration={"quick": duration}, warmup=warmup, cases=cases)
    return replace(whole, scenarios=[made], replicates={"quick": seeds})


def outcomes(kind: Kind, law: str, name: str, folder: Path, case: str = "", seeds: int = 3) -> dict[str, str]:
    """Outcomes by criterion and case of a law in one scenario."""
    sheet = short(kind, name, case, seeds)
    argument = str(HERE / law) if "." in law else law
    quiet = lambda _name: lambda _done, _all: None  # noqa: E731
    card = score(subjects(sheet, subject(argument, kind)), folder, sheet, workers=2, progress=quiet)
    return {f"{row['name']} {row['case']}".strip(): row["outcome"] for row in card["scenarios"][0]["criteria"]}


def test_a_share_of_the_buffer_grows_with_it_and_codel_does_not(tmp_path: Path) -> None:
    share = outcomes("aqm", "queues.py:ShareOfBuffer", "deep-buffer", tmp_path / "share")
    assert share["deep-delay 8 BDP"] == "no" and share["utilisation 1 BDP"] == "yes"
    assert set(outcomes("aqm", "codel", "deep-buffer", tmp_path / "codel").values()) == {"yes"}
    assert outcomes("aqm", "droptail", "deep-buffer", tmp_path / "fifo")["deep-delay 8 BDP"] == "no"


def test_a_short_fifo_is_no_better_than_itself_and_codel_is(tmp_path: Path) -> None:
    fifo = outcomes("aqm", "short_fifo.toml", "equal-delay", tmp_path / "fifo")
    assert fifo == {"equal-goodput": "yes", "equal-bursts": "no"}
    assert set(outcomes("aqm", "codel", "equal-delay", tmp_path / "codel").values()) == {"yes"}


def test_signals_without_end_leave_the_link_unused(tmp_path: Path) -> None:
    found = outcomes("aqm", "queues.py:AlwaysSignals", "ecn", tmp_path)
    assert (found["delay ecn on"], found["utilisation ecn on"]) == ("yes", "no")


@pytest.mark.slow
@pytest.mark.parametrize(("law", "seeds"), [("senders.py:TwoFaced", 3), ("highspeed", 8)])
def test_a_law_that_is_reno_in_small_windows_harms_reno_in_large_ones(law: str, seeds: int, tmp_path: Path) -> None:
    # HighSpeed TCP leaves Reno 0.38 (0.30 to 0.49) of 1: three seeds do not decide.
    assert outcomes("cc", law, "harm-fast", tmp_path, "Reno, 100 ms", seeds)["harm-reno Reno, 100 ms"] == "no"


def test_four_segments_for_ever_harm_nobody_and_take_nothing(tmp_path: Path) -> None:
    found = outcomes("cc", "senders.py:FourSegments", "harm-fast", tmp_path, "Reno, 20 ms")
    assert found == {"harm-reno Reno, 20 ms": "yes", "own-share Reno, 20 ms": "no"}


def test_a_sender_that_ignores_marks_fills_a_queue_that_marks(tmp_path: Path) -> None:
    assert outcomes("cc", "senders.py:IgnoresMarks", "tunnel", tmp_path)["marked-queue no tunnel"] == "no"


def test_a_floor_of_20_segments_does_not_back_off_as_loss_rises(tmp_path: Path) -> None:
    assert outcomes("cc", "senders.py:Floor", "loss", tmp_path, "20 %")["load 20 %"] == "no"

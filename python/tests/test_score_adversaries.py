"""Laws made for a good card, in ``adversaries/``: each fails the criterion that is there for it, whatever paths are drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ecnlab.scoring import score, subject, subjects
from ecnlab.scoring.sheet import Kind, Sheet, built_in

HERE = Path(__file__).parent / "adversaries"

SHORT = {
    "deep-buffer": ("30 s", "15 s"),
    "equal-delay": ("30 s", "10 s"),
    "ecn": ("15 s", "5 s"),
    "cubic": ("40 s", "15 s"),
    "startup": ("40 s", "10 s"),
    "udp-mixed": ("30 s", "10 s"),
    "both-ways": ("20 s", "8 s"),
    "home": ("30 s", "10 s"),
    "tunnel": ("20 s", "8 s"),
    "loss": ("30 s", "5 s"),
    "congestion": ("20 s", "8 s"),
    "short-flows": ("20 s", "5 s"),
    "harm-marking": ("30 s", "10 s"),
    "harm": ("40 s", "10 s"),
    "no-feedback": ("30 s", "22 s"),
    "harm-fast": ("60 s", "20 s"),
    "shallow": ("20 s", "10 s"),
    "media": ("40 s", "10 s"),
}
"""Duration and warm-up of the scenarios that are run here for a shorter time than on a card."""

SEEDS = [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
"""Seeds of drawn paths."""


def short(kind: Kind, name: str, case: str, within: str, number: int) -> Sheet:
    """The sheet of one scenario with short runs, the cases that begin with ``case``, and ``number`` paths of one class or seeds."""
    whole = built_in(kind).only([name])
    (one,) = whole.scenarios
    duration, warmup = (one.duration["full"], one.warmup) if "after" in case else SHORT[name]
    cases = [replace(each, size="") for each in one.cases if each.name.startswith(case)]
    made = replace(one, duration={"quick": duration}, warmup=warmup, cases=cases)
    assert whole.draws is not None
    draws = replace(whole.draws, classes={within: whole.draws.classes[within]}, number={"quick": [number]})
    return replace(whole, scenarios=[made], replicates={"quick": number}, draws=draws)


def outcomes(
    kind: Kind,
    law: str,
    name: str,
    folder: Path,
    *,
    case: str = "",
    within: str = "BDP of 35 to 160",
    number: int = 6,
    seed: int = 1,
) -> dict[str, set[str]]:
    """Outcomes by criterion, over the cases of a law in one scenario."""
    sheet = short(kind, name, case, within, number)
    argument = str(HERE / law) if "." in law else law
    quiet = lambda _name: lambda _done, _all: None  # noqa: E731
    card = score(subjects(sheet, subject(argument, kind)), folder, sheet, seed=seed, workers=2, progress=quiet)
    found: dict[str, set[str]] = {}
    for row in card["scenarios"][0]["criteria"]:
        found.setdefault(row["name"], set()).add(row["outcome"])
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_share_of_the_buffer_grows_with_it_and_codel_does_not(seed: int, tmp_path: Path) -> None:
    for law in ("queues.py:ShareOfBuffer", "queues.py:OnlyAtTenMbps", "droptail"):
        found = outcomes("aqm", law, "deep-buffer", tmp_path / law.rpartition(":")[2], seed=seed)
        assert found == {"deep-delay": {"no"}, "every-deep-delay": {"no"}, "utilisation-few": {"yes"}}, law
    assert outcomes("aqm", "codel", "deep-buffer", tmp_path / "codel", seed=seed)["deep-delay"] == {"yes"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_short_fifo_is_no_better_than_itself_and_codel_is(seed: int, tmp_path: Path) -> None:
    fifo = outcomes("aqm", "short_fifo.toml", "equal-delay", tmp_path / "fifo", seed=seed)
    assert fifo == {"equal-goodput": {"yes"}, "equal-bursts": {"no"}, "equal-datagrams": {"no"}}
    codel = outcomes("aqm", "codel", "equal-delay", tmp_path / "codel", seed=seed)
    assert codel == {"equal-goodput": {"yes"}, "equal-bursts": {"yes"}, "equal-datagrams": {"yes"}}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("law", ["FirstPackets", "EmptiesItself"])
def test_a_fifo_that_spares_the_first_packets_or_empties_itself_loses_bursts(
    law: str, seed: int, tmp_path: Path
) -> None:
    chosen = {"within": "BDP below 35", "number": 8, "seed": seed}
    found = outcomes("aqm", f"queues.py:{law}", "equal-delay", tmp_path, **chosen)
    assert found["equal-bursts"] != {"no"} and found["equal-datagrams"] == {"no"}


def test_the_delay_of_a_call_counts_only_if_the_call_arrives(tmp_path: Path) -> None:
    found = outcomes("aqm", "queues.py:DropsTheCall", "congestion", tmp_path / "drops", case="mild", number=4)
    assert {name for name, outcome in found.items() if outcome != {"yes"}} == {"call-kept"}


def test_a_queue_that_serves_one_flow_starves_the_others(tmp_path: Path) -> None:
    found = outcomes("aqm", "queues.py:Favourite", "congestion", tmp_path, case="mild", number=4)
    assert (found["call-delay"], found["call-kept"], found["equal-shares"]) == ({"yes"}, {"yes"}, {"no"})


@pytest.mark.parametrize("law", ["codel", "pie", "fq_codel"])
def test_laws_of_rfcs_keep_the_call_and_the_shares_of_flows(law: str, tmp_path: Path) -> None:
    found = outcomes("aqm", law, "congestion", tmp_path, case="mild", number=4)
    assert found["call-kept"] == found["equal-shares"] == {"yes"}


FAULTS = [
    ("OneFlow", "cubic", "call-delay", {"number": 6}),
    ("ThreeToFiveFlows", "deep-buffer", "every-deep-delay", {"within": "BDP below 35", "number": 24}),
    ("RefusesConnections", "startup", "responses", {"case": "IW 10", "number": 4}),
    ("LocksOut", "congestion", "timeouts", {"case": "mild", "number": 4}),
    ("OnlyEcn", "ecn", "equal-shares", {"case": "half", "number": 4}),
    ("NoDatagrams", "udp-mixed", "udp-share", {"number": 6}),
    ("ThinsAcks", "both-ways", "acks", {"number": 4}),
    ("YoungFirst", "home", "bulk", {"number": 4}),
]
"""A CoDel with a fault, the scenario and the criterion that show it, and the runs."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("law", "name", "criterion", "chosen"), FAULTS, ids=[law for law, *_ in FAULTS])
def test_a_codel_with_a_fault_fails_the_criterion_that_codel_meets(
    law: str, name: str, criterion: str, chosen: dict, seed: int, tmp_path: Path
) -> None:
    found = outcomes("aqm", f"codels.py:{law}", name, tmp_path / "fault", seed=seed, **chosen)
    assert "no" in found[criterion], found
    codel = outcomes("aqm", "codels.py:Codel", name, tmp_path / "codel", seed=seed, **chosen)
    assert codel[criterion] == {"yes"}, codel


def test_signals_without_end_leave_the_link_unused(tmp_path: Path) -> None:
    found = outcomes("aqm", "queues.py:AlwaysSignals", "ecn", tmp_path, number=3)
    assert found["call-delay"] == {"yes"} and "no" in found["utilisation"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("law", ["senders.py:TwoFaced", "senders.py:LongPaths"])
def test_a_law_that_is_reno_on_some_paths_harms_reno_on_others(law: str, seed: int, tmp_path: Path) -> None:
    drawn = outcomes("cc", law, "harm", tmp_path / "drawn", case="Reno", within="BDP above 160", number=8, seed=seed)
    assert drawn["harm-reno"] != {"yes"}
    fast = outcomes("cc", law, "harm-fast", tmp_path / "fast", case="Reno, 100 Mbps, 100 ms", number=3, seed=seed)
    assert fast["harm-reno"] == {"no"}


@pytest.mark.slow
def test_a_law_that_changes_after_two_minutes_harms_reno_from_then_on(tmp_path: Path) -> None:
    found = outcomes("cc", "senders.py:AfterTwoMinutes", "harm-fast", tmp_path, case="Reno, after", number=3)
    assert found["harm-reno"] == {"no"}


@pytest.mark.parametrize("seed", SEEDS)
def test_four_segments_for_ever_harm_nobody_and_take_nothing(seed: int, tmp_path: Path) -> None:
    found = outcomes("cc", "senders.py:FourSegments", "harm", tmp_path, case="Reno", seed=seed)
    assert (found["harm-reno"], found["own-share"]) == ({"yes"}, {"no"})


def test_a_sender_that_ignores_marks_fills_a_queue_that_marks(tmp_path: Path) -> None:
    assert outcomes("cc", "senders.py:IgnoresMarks", "tunnel", tmp_path, number=3)["marked-queue"] == {"no"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_floor_of_20_segments_does_not_back_off_as_loss_rises(seed: int, tmp_path: Path) -> None:
    assert outcomes("cc", "senders.py:Floor", "loss", tmp_path, case="20 %", seed=seed)["load"] == {"no"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_timer_that_does_not_double_does_not_back_off_without_feedback(seed: int, tmp_path: Path) -> None:
    assert outcomes("cc", "no_backoff.toml", "no-feedback", tmp_path, seed=seed) == {"load": {"no"}}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sender_that_responds_to_marks_on_one_path_harms_reno_on_others(seed: int, tmp_path: Path) -> None:
    chosen = {"case": "Reno", "within": "BDP below 35", "seed": seed}
    found = outcomes("cc", "senders.py:MarksAtFortyMs", "harm-marking", tmp_path, **chosen)
    assert found["every-reno"] == {"no"}


@pytest.mark.parametrize("seed", SEEDS)
def test_harm_on_short_paths_only_is_not_passed_although_the_mean_does_not_fail(seed: int, tmp_path: Path) -> None:
    chosen = {"case": "Reno", "within": "BDP below 35", "number": 16, "seed": seed}
    found = outcomes("cc", "senders.py:ShortPaths", "harm", tmp_path / "short", **chosen)
    assert "yes" not in found["every-reno"] and found["harm-reno"] != {"no"}
    assert outcomes("cc", "cubic", "harm", tmp_path / "cubic", **chosen)["every-reno"] == {"yes"}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_initial_window_of_80_segments_loses_much_of_it(seed: int, tmp_path: Path) -> None:
    found = outcomes("cc", "senders.py:WholeFile", "short-flows", tmp_path, within="BDP below 35", seed=seed)
    assert found["kept"] == {"no"} and "no" not in found["completion"]


FAULTY = [
    ("DeepBuffers", "media", "call-kept", "8 BDP"),
    ("FirstSeconds", "shallow", "loss", "start"),
    ("Pulses", "shallow", "loss", "later"),
]
"""A Reno with a fault, the scenario, the criterion that shows it, and the case."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("law", "name", "criterion", "case"), FAULTY, ids=[law for law, *_ in FAULTY])
def test_a_reno_with_a_fault_fails_the_criterion_that_reno_meets(
    law: str, name: str, criterion: str, case: str, seed: int, tmp_path: Path
) -> None:
    chosen = {"case": case, "within": "BDP below 35", "number": 24, "seed": seed}
    assert outcomes("cc", f"senders.py:{law}", name, tmp_path / "fault", **chosen)[criterion] == {"no"}
    assert outcomes("cc", "senders.py:Reno", name, tmp_path / "reno", **chosen)[criterion] == {"yes"}

"""``ecnlab score l4s``: its scenarios are valid for every window law, and known results come out of tiny versions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import mostly_slow

from ecnlab import _core
from ecnlab.scenario import sketched
from ecnlab.scoring import building, read, score, subject, subjects
from ecnlab.scoring.card import Card
from ecnlab.scoring.sheet import Sheet, built_in

SENDERS = [name for name in _core.laws()["congestion"] if "copy" not in sketched.sketched("sender", name)]

LAWS = '''
from ecnlab.userlaws import CongestionEvent, Window, WindowLaw

class Never(WindowLaw):
    """ECT(1), and a window that grows as slow start does and never falls."""

    def codepoint(self) -> str:
        return "ect1"

    def grow(self, window: Window, acked: int) -> None:
        window.cwnd += acked

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        pass
'''

SHORT = {
    "codepoint": ("3 s", "1 s"),
    "feedback": ("6 s", "2 s"),
    "loss": ("8 s", "2 s"),
    "reno-loss": ("12 s", "4 s"),
    "reno-marks": ("12 s", "4 s"),
    "small-rtt": ("6 s", "2 s"),
    "marks": ("16 s", "6 s"),
    "coupling": ("12 s", "4 s"),
    "bursts": ("8 s", "4 s"),
    "bakeoff": ("25 s", "15 s"),
}
"""Duration and warm-up of the scenarios that are run here."""

CASES = {
    "loss": ["2 %"],
    "reno-marks": ["RED", "CoDel"],
    "marks": ["4 Mbps", "100 Mbps"],
    "coupling": ["4 Mbps, 20 ms", "4 Mbps, 20 ms, step 6 ms"],
    "bakeoff": ["FQ-CoDel, 10 ms", "one queue, 10 ms"],
}
"""Their cases; of others all."""


def short(names: Sequence[str], replicates: int = 3) -> Sheet:
    """The sheet of the scenarios ``names``, with short runs and few cases."""
    whole = built_in("l4s").only(names)
    runs = [
        replace(
            one,
            duration={"quick": SHORT[one.name][0]},
            warmup=SHORT[one.name][1],
            cases=[case for case in one.cases if case.name in CASES.get(one.name, [case.name])],
        )
        for one in whole.scenarios
    ]
    return replace(whole, scenarios=runs, replicates={"quick": replicates})


def scored(sender: str, folder: Path, names: Sequence[str], replicates: int = 3) -> Card:
    sheet = short(names, replicates)
    return score(
        subjects(sheet, subject(sender, "l4s")),
        folder,
        sheet,
        workers=2,
        progress=lambda _name: lambda _done, _all: None,
    )


@pytest.fixture(scope="module")
def prague(tmp_path_factory: pytest.TempPathFactory) -> Card:
    """The card of Prague, which has CUBIC as the reference, and DCTCP."""
    return scored("prague", tmp_path_factory.mktemp("prague"), list(SHORT))


def criteria(card: Card, scenario: str, arm: str = "") -> dict[tuple[str, str], dict]:
    """The criteria of a scenario by name and case: of the subject, or of the incumbent ``arm``."""
    one = next(one for one in card["scenarios"] if one["name"] == scenario)
    return {(row["name"], row["case"]): row for row in (one["incumbents"][arm] if arm else one)["criteria"]}


def verdicts(card: Card, arm: str = "") -> dict[str, str]:
    return {one["name"]: (one["incumbents"][arm] if arm else one)["verdict"] for one in card["scenarios"]}


# ---- the sheet


@pytest.mark.parametrize("sender", mostly_slow(SENDERS, "prague"))
def test_every_scenario_is_valid_for_every_window_law(sender: str, tmp_path: Path) -> None:
    sheet = built_in("l4s")
    assert len(sheet.scenarios) == 12
    for one in sheet.scenarios:
        made = building.write(tmp_path, sheet, one, subjects(sheet, subject(sender, "l4s")), "quick")
        assert len(made) == 4 * len(one.cases) * sheet.replicates["quick"]
        assert {c.measure for c in one.criteria} <= set(building.metrics(one))
        cases = {case.name for case in one.cases}
        assert {name for c in one.criteria for name in c.cases} <= cases
        assert {c.against for c in one.criteria} <= {*sheet.arms, "itself", *cases}


def test_a_case_changes_the_queue_and_keeps_its_limit(tmp_path: Path) -> None:
    sheet = built_in("l4s").only(["reno-marks", "bakeoff"])
    for one in sheet.scenarios:
        made = building.write(tmp_path, sheet, one, subjects(sheet, subject("prague", "l4s")), "quick")
        queues = [scenario.resolved["queue"]["bottleneck"] for scenario in made.scenarios]
        named = ("pie", "red", "codel") if one.name == "reno-marks" else ("dualpi2", "fq_codel")
        assert {queue["discipline"] for queue in queues} == set(named)
        assert {(queue["limit"], queue["ecn"]) for queue in queues} == {(f"{one.limit(one.cases[0])} packets", True)}


def test_a_python_law_has_the_tcp_that_counts_marks(tmp_path: Path) -> None:
    (tmp_path / "laws.py").write_text(LAWS)
    assert subject(f"{tmp_path / 'laws.py'}:Never", "l4s").parameters["profile"] == "l4s"
    assert subject(f"{tmp_path / 'laws.py'}:Never", "cc").parameters["ecn"] == "rfc3168"


# ---- known results


@pytest.mark.slow
def test_prague_sends_ect1_and_the_others_do_not(prague: Card) -> None:
    assert verdicts(prague)["codepoint"] == "meets"
    assert [verdicts(prague, arm)["codepoint"] for arm in ("reference", "dctcp")] == ["fails", "fails"]
    assert criteria(prague, "codepoint", "reference")["l4s-share", ""]["mean"] == 0
    assert "in the classic queue" in criteria(prague, "codepoint", "reference")["l4s-share", ""]["reason"]


@pytest.mark.slow
def test_rfc_3168_reports_marks_several_times(prague: Card) -> None:
    assert [verdicts(prague, arm)["feedback"] for arm in ("", "dctcp")] == ["meets", "meets"]
    assert criteria(prague, "feedback", "reference")["feedback-most", ""]["low"] > 2000


@pytest.mark.slow
def test_prague_fails_coexistence_with_reno_in_one_classic_queue(prague: Card) -> None:
    for arm in ("", "dctcp"):
        found = criteria(prague, "reno-marks", arm)
        assert [found["coexist", case]["outcome"] for case in ("RED", "CoDel")] == ["no", "no"]
        assert min(found["coexist", case]["low"] for case in ("RED", "CoDel")) > 5
        assert verdicts(prague, arm)["reno-loss"] == "meets"
    assert criteria(prague, "reno-marks", "reference")["coexist", "RED"]["high"] < 4


@pytest.mark.slow
def test_prague_reduces_on_loss_and_has_a_short_queue(prague: Card) -> None:
    assert {name: verdicts(prague)[name] for name in ("loss", "bursts", "small-rtt")} == {
        "loss": "meets",
        "bursts": "meets",
        "small-rtt": "meets",
    }
    assert criteria(prague, "bursts", "reference")["burst-delay", ""]["low"] > 0.005
    assert criteria(prague, "small-rtt", "reference")["small-window", ""]["low"] > 0.01


@pytest.mark.slow
def test_the_bake_off_has_prague_ahead_of_cubic_in_one_queue_only(prague: Card) -> None:
    found = criteria(prague, "bakeoff")
    assert found["coupled-most", "one queue, 10 ms"]["low"] > 4 > 1.2 > found["coupled-most", "FQ-CoDel, 10 ms"]["high"]


@pytest.mark.slow
def test_cubic_has_fewer_marks_in_a_round_trip_as_the_rate_grows_and_prague_has_not(prague: Card) -> None:
    # Three runs of CUBIC with few marks at 4 Mbps give the ratio no interval.
    assert criteria(prague, "marks", "reference")["marks-least", "100 Mbps"]["mean"] < 0.2
    assert criteria(prague, "marks")["marks-least", "100 Mbps"]["low"] > 0.5


@pytest.mark.slow
def test_a_step_below_the_time_of_a_packet_leaves_l4s_little(prague: Card) -> None:
    found = criteria(prague, "coupling")
    assert found["coupled-least", "4 Mbps, 20 ms"]["high"] < 0.2
    assert found["coupled-least", "4 Mbps, 20 ms, step 6 ms"]["low"] > 0.5


@pytest.mark.slow
def test_a_law_that_never_reduces_fails(tmp_path: Path) -> None:
    (tmp_path / "laws.py").write_text(LAWS)
    card = scored(f"{tmp_path / 'laws.py'}:Never", tmp_path / "card", ["codepoint", "loss", "reno-loss"], replicates=6)
    assert verdicts(card) == {"codepoint": "meets", "loss": "fails", "reno-loss": "fails"}


def test_marks_do_not_apply_to_a_sender_without_ecn(tmp_path: Path, scenario: Path) -> None:
    card = scored(f"{scenario}:plain", tmp_path, ["codepoint", "feedback"])
    assert verdicts(card) == {"codepoint": "fails", "feedback": "not applicable"}
    assert "does not use ECN" in card["scenarios"][1]["why_not"]


# ---- the command


@pytest.mark.slow
def test_the_command_writes_the_card_into_a_folder_of_its_own(cli, tmp_path: Path) -> None:
    done = cli("score", "l4s", "cubic", "--scenario", "codepoint", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    card = read(tmp_path / "results" / "score-l4s-cubic", "l4s")
    assert done.stdout.splitlines() == card["summary"] and card["kind"] == "score l4s"
    assert "CUBIC in 1 scenario of RFC 9331: 0 meet" in done.stdout and "1 fails: codepoint (l4s-share " in done.stdout
    assert (card["left_out"], card["incumbents"]) == (11, ["prague", "dctcp"])
    page = (tmp_path / "results" / "score-l4s-cubic" / "card.html").read_text()
    for text in ("§4.1", "ECT(1) on data", "score l4s cubic", "Incumbents"):
        assert text in page

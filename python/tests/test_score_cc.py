"""``ecnlab score cc``: its scenarios are valid for every window law, and known results come out of tiny versions of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import mostly_slow
from drawn import drawing

from ecnlab import SpecError, _core
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.scenario import sketched
from ecnlab.scoring import building, judging, read, score, subject, subjects, write, write_page
from ecnlab.scoring.card import Card
from ecnlab.scoring.sheet import Sheet, built_in, limit_packets, read_limits

SENDERS = [name for name in _core.laws()["congestion"] if "copy" not in sketched.sketched("sender", name)]

LAWS = """
from ecnlab.userlaws import CongestionEvent, Window, WindowLaw

class Never(WindowLaw):
    \"\"\"Grows as slow start does, and never reduces.\"\"\"

    def grow(self, window: Window, acked: int) -> None:
        window.cwnd += acked

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        pass

class Aimd(WindowLaw):
    \"\"\"One segment more per RTT, half the window on congestion, one segment after a timeout.\"\"\"

    def grow(self, window: Window, acked: int) -> None:
        acked = min(acked, 2 * window.mss)
        window.cwnd += acked if window.cwnd < window.ssthresh else window.mss * acked / window.cwnd

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        half = min(window.cwnd, event.in_flight) / 2
        window.ssthresh = max(int(half), 2 * window.mss)
        window.cwnd = window.mss if event.why == "timeout" else window.ssthresh
"""

SHORT = {
    "loss": ("12 s", "2 s"),
    "standing-queue": ("20 s", "8 s"),
    "shallow": ("8 s", "3 s"),
    "harm": ("20 s", "6 s"),
    "harm-marking": ("20 s", "6 s"),
    "incast": ("1 s", "0 s"),
}
"""Duration and warm-up of the scenarios that are run here."""


def short(names: Sequence[str], seeds: int = 3) -> Sheet:
    """The sheet of the scenarios ``names``, with short runs; of losses only 10 %."""
    whole = built_in("cc").only(names)
    runs = [
        replace(one, duration={"quick": SHORT[one.name][0]}, warmup=SHORT[one.name][1])
        if one.name != "loss"
        else replace(one, duration={"quick": SHORT[one.name][0]}, warmup=SHORT[one.name][1], cases=one.cases[1:2])
        for one in whole.scenarios
    ]
    return replace(drawing(whole, seeds), scenarios=runs, replicates={"quick": seeds})


def scored(sender: str, folder: Path, names: Sequence[str], seeds: int = 3) -> Card:
    sheet = short(names, seeds)
    return score(
        subjects(sheet, subject(sender, "cc")),
        folder,
        sheet,
        workers=2,
        progress=lambda _name: lambda _done, _all: None,
    )


@pytest.fixture
def laws(tmp_path: Path) -> Path:
    path = tmp_path / "laws.py"
    path.write_text(LAWS)
    return path


@pytest.fixture(scope="module")
def bbr(tmp_path_factory: pytest.TempPathFactory) -> Card:
    return scored("bbr", tmp_path_factory.mktemp("bbr"), ["loss", "shallow", "incast"])


def criteria(card: Card, scenario: str, arm: str = "") -> dict[str, dict]:
    """The criteria of a scenario by name: of the subject, or of the incumbent ``arm``."""
    one = next(one for one in card["scenarios"] if one["name"] == scenario)
    return {row["name"]: row for row in (one["incumbents"][arm] if arm else one)["criteria"]}


def verdicts(card: Card) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in card["scenarios"]}


# ---- the sheet


@pytest.mark.parametrize("sender", mostly_slow(SENDERS, "bbr"))
def test_every_scenario_is_valid_for_every_window_law(sender: str, tmp_path: Path) -> None:
    sheet = built_in("cc").of_size("quick")
    assert len(sheet.scenarios) == 25
    for one in sheet.scenarios:
        made = building.write(tmp_path, sheet, one, subjects(sheet, subject(sender, "cc")), "quick")
        assert len(made) == 3 * sum(len(case.paths) or sheet.replicates["quick"] for case in one.cases)
        assert {c.measure for c in one.criteria} <= set(building.metrics(one))
        cases = {case.of for case in built_in("cc").only([one.name]).scenarios[0].cases}
        assert {name for c in one.criteria for name in c.cases} <= cases
        against = {"itself", "standard", *(judging.UNITS if one.drawn else ())}
        assert {c.against for c in one.criteria} <= {*sheet.arms, *cases, *against}
        assert (one.weight == "report") == (one.section[0] == "7" or one.name == "bufferbloat")


def test_arms_change_the_sender_and_cases_the_incumbent(tmp_path: Path) -> None:
    sheet = built_in("cc").only(["harm"]).of_size("quick")
    made = building.write(tmp_path, sheet, sheet.scenarios[0], subjects(sheet, subject("dctcp", "cc")), "quick")
    tcps = [
        (one.resolved["flow"]["subject"]["tcp_from"], one.resolved["flow"]["incumbent"]["tcp_from"])
        for one in made.scenarios
    ]
    assert set(tcps) == {(arm, other) for arm in sheet.arms for other in ("reference", "cubic")}
    runs = {run.arm: run.scenario.resolved["tcp"] for run in made.runs}
    tables = runs["subject"]
    assert [tables[arm]["ecn"] for arm in sheet.arms] == ["dctcp", "rfc3168", "rfc3168"]
    assert runs["reference"]["subject"] == tables["reference"]  # so that its runs are the same on all cards
    assert {tables[arm]["recovery"] for arm in sheet.arms} == {"rack"}


def test_buffers_are_multiples_of_the_product_of_rate_and_rtt() -> None:
    # 40e6 * 0.04 / 12000 = 133.3, a quarter of it 33.3; 10e6 * 0.04 / 12000 = 33.3, twice it 66.7; 500e3 * 0.01 / 12000 = 0.417, * 24 = 10
    assert [limit_packets("40 Mbps", "40 ms", 0.25), limit_packets("10 Mbps", "40 ms", 2.0)] == [33, 67]
    limits = {one.name: one.limit(one.cases[0]) for one in built_in("cc").scenarios}
    assert (limits["small-bdp"], limits["satellite"], limits["incast"]) == (10, 500, 67)
    (fast,) = built_in("cc").only(["harm-fast"]).of_size("quick").scenarios
    assert [fast.limit(case) for case in fast.cases] == [167, 833, 167, 833]


def test_a_criterion_compares_with_the_arm_that_it_names() -> None:
    scenario = built_in("cc").only(["harm"]).of_size("quick").scenarios[0]
    values = {
        (arm, case.name, measure): [own] * len(case.paths)
        for arm, own in (("subject", 3.0), ("reference", 6.0), ("cubic", 10.0))
        for case in scenario.cases
        for measure in ("goodput_incumbent_bps", "least_incumbent_bps", "goodput_subject_bps")
    }
    means = {one.criterion.name: one.measured.mean for one in judging.judge(scenario, values) if one.measured}
    assert (means["harm-reno"], means["harm-cubic"], means["own-share"]) == pytest.approx((0.5, 0.3, 0.5))
    own = {one.criterion.name: one.measured.mean for one in judging.judge(scenario, values, "cubic") if one.measured}
    assert (own["harm-reno"], own["harm-cubic"]) == pytest.approx((10 / 6, 1.0))


# ---- known results


def test_bbr_fails_loss_in_a_shallow_buffer_and_does_not_back_off_as_loss_rises(bbr: Card) -> None:
    assert all(
        law in str(bbr[arm]["parameters"]["congestion"])
        for arm, law in {"subject": "bbr", "reference": "reno", "cubic": "cubic"}.items()
    )
    assert {name: verdicts(bbr)[name] for name in ("loss", "shallow")} == {"loss": "fails", "shallow": "fails"}
    assert criteria(bbr, "shallow")["loss"]["low"] > 5 and criteria(bbr, "loss")["load"]["low"] > 5
    assert " fail: shallow (loss " in bbr["summary"][1] and ", loss (load " in bbr["summary"][1]
    assert all(criteria(bbr, "shallow", arm)["loss"]["outcome"] == "yes" for arm in ("reference", "cubic"))


@pytest.mark.slow
def test_dctcp_and_prague_fail_harm_in_one_marking_queue(tmp_path: Path) -> None:
    for sender in ("dctcp", "prague"):
        card = scored(sender, tmp_path / sender, ["harm-marking"], seeds=6)
        found = criteria(card, "harm-marking")
        assert verdicts(card) == {"harm-marking": "fails"}
        assert (found["harm-reno"]["outcome"], found["harm-cubic"]["outcome"]) == ("no", "no")
        assert criteria(card, "harm-marking", "cubic")["harm-reno"]["outcome"] == "yes"


@pytest.mark.slow
def test_reno_meets_what_it_is_compared_with(tmp_path: Path) -> None:
    card = scored("reno", tmp_path, ["standing-queue", "harm"], 6)
    assert set(verdicts(card).values()) == {"meets"} and card["summary"][1] == "no scenario fails"
    assert criteria(card, "harm")["harm-reno"]["mean"] == 1.0


def test_a_law_that_never_reduces_fails_and_a_short_aimd_meets(laws: Path, tmp_path: Path) -> None:
    names = ("standing-queue", "shallow")
    bad = scored(f"{laws}:Never", tmp_path / "bad", names)
    assert verdicts(bad) == dict.fromkeys(names, "fails")
    good = scored(f"{laws}:Aimd", tmp_path / "good", names)
    assert "fails" not in verdicts(good).values() and verdicts(good)["shallow"] == "meets"


def test_a_marking_queue_does_not_apply_to_a_sender_without_ecn(tmp_path: Path, scenario: Path) -> None:
    card = scored(f"{scenario}:plain", tmp_path, ["harm-marking"])
    assert verdicts(card) == {"harm-marking": "not applicable"}
    assert "does not use ECN" in card["scenarios"][0]["why_not"]
    assert card["subject"]["given"]["profile"] == "modern" and card["summary"][3].endswith("no scenario was run")


# ---- the card


def test_the_card_is_read_as_written_and_has_the_incumbents(bbr: Card, tmp_path: Path) -> None:
    write(bbr, tmp_path)
    assert read(tmp_path, "cc") == bbr == json.loads(json.dumps(bbr))
    with pytest.raises(FolderError, match="is no card of format 2: score the queue again"):
        read(tmp_path)
    assert bbr["kind"] == "score cc" and bbr["cubic"]["label"] == "CUBIC" and bbr["incumbents"] == ["cubic"]
    page = write_page(bbr, tmp_path).read_text()
    for text in ("BBR in 3 scenarios of RFC 9743", "Incumbents", "CUBIC by the same criteria: meets", "score cc bbr"):
        assert text in page
    assert "--against" not in page and "§7 incast" in page


def test_the_command_prints_the_incumbents_and_takes_other_limits(cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[criterion.no-collapse]\nat_least = 1.5\n")
    done = cli("score", "cc", "reno", "--scenario", "incast", "--criteria", "mine.toml", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == read(tmp_path / "results" / "score-reno", "cc")["summary"]
    assert "1 fails: §7 incast (no-collapse 1, at least 1.5)" in done.stdout and len(done.stdout.splitlines()) == 6
    refused = cli("score", "cc", "cubik")
    assert refused.returncode == 2 and "there is no window law 'cubik'; did you mean `cubic`?" in refused.stderr


def test_a_wrong_sender_is_refused_with_its_remedy(tmp_path: Path, scenario: Path, laws: Path) -> None:
    for argument, kind, message in (
        (str(scenario), EcnlabError, "has the senders .*: write"),
        (f"{scenario}:none", EcnlabError, r"has no table \[tcp.none\] or \[quic.none\]; there are"),
        (str(laws), EcnlabError, "no class is named"),
        (str(tmp_path / "none.toml"), OSError, "none.toml"),
    ):
        with pytest.raises(kind, match=message):
            subject(argument, "cc")
    criteria = tmp_path / "criteria.toml"
    criteria.write_text("[criterion.delay]\nat_most = 1\n")
    with pytest.raises(EcnlabError, match=r"unknown key `criterion\.delay`"):
        read_limits(criteria, built_in("cc"))
    (tmp_path / "broken.py").write_text("class Law:\n    pass\n")
    with pytest.raises(SpecError, match=r"broken\.py"):
        scored(f"{tmp_path / 'broken.py'}:Law", tmp_path / "card", ["incast"])

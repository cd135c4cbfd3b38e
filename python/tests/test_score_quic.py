"""``ecnlab score`` of QUIC stacks: the subject that an argument names, its arm, and what does not apply to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from drawn import drawing

from ecnlab import EcnlabError, FolderError
from ecnlab.scoring import building, score, subject, subjects
from ecnlab.scoring.card import Card
from ecnlab.scoring.sheet import Kind, built_in

BOTH = """
format = 1
title = "TCP and QUIC"
duration = "1 s"
link.l = { from = "a", to = "b", rate = "1 Mbps", delay = "1 ms" }
flow.f = { from = "a", to = "b", traffic = "ftp", tcp = "one" }
tcp.one = { congestion = "reno" }
quic.two = { stack = "noq", ecn = false }
"""


@pytest.fixture
def both(tmp_path: Path) -> Path:
    path = tmp_path / "both.toml"
    path.write_text(BOTH)
    return path


def scored(kind: Kind, argument: str, folder: Path, name: str, duration: str, warmup: str) -> Card:
    """The card of ``argument`` in the scenario ``name`` with short runs, two seeds."""
    whole = built_in(kind).only([name])
    runs = [replace(one, duration={"quick": duration}, warmup=warmup) for one in whole.scenarios]
    sheet = replace(whole, scenarios=runs, replicates={"quick": 2})
    made = subjects(sheet, subject(argument, kind))
    return score(made, folder, sheet, workers=2, progress=lambda _name: lambda _done, _all: None)


def test_an_argument_names_a_stack_and_its_controller() -> None:
    made = subject("quic:noq/newreno", "cc")
    assert made.quic
    assert (made.name, made.label, made.argument) == ("noq-newreno", "noq/newreno", "quic:noq/newreno")
    assert made.parameters == {"stack": "noq", "congestion": "newreno"}


def test_a_file_names_a_stack_beside_tcps(both: Path) -> None:
    made = subject(f"{both}:two", "l4s")
    assert (made.label, made.quic, made.parameters) == ("noq/cubic", True, {"stack": "noq", "ecn": False})
    assert not subject(f"{both}:one", "l4s").quic


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("quic:quinn", "quic:quinn: names no stack with a controller: write quic:STACK/CONTROLLER"),
        ("quic:quin/cubic", "cannot be `quin`; did you mean `quinn`"),
        ("quic:quinn/cubix", "cannot be `cubix`; did you mean `cubic`"),
        ("quic:noq/bbr", 'results would differ between runs; set "cubic" or "newreno"'),
        ("FILE", "has the senders one, two: write"),
        ("FILE:three", r"has no table \[tcp.three\] or \[quic.three\]; there are one, two"),
    ],
)
def test_other_arguments_are_refused_with_a_remedy(argument: str, message: str, both: Path) -> None:
    with pytest.raises(EcnlabError, match=message):
        subject(argument.replace("FILE", str(both)), "cc")


def test_a_name_in_both_tables_is_refused(both: Path) -> None:
    both.write_text(BOTH.replace("quic.two", "quic.one"))
    with pytest.raises(EcnlabError, match=r"has both \[tcp.one\] and \[quic.one\]: rename one"):
        subject(f"{both}:one", "cc")


def test_only_the_subjects_arm_has_quic(tmp_path: Path) -> None:
    sheet = drawing(built_in("cc").only(["harm"]), 1).of_size("quick")
    (scenario,) = sheet.scenarios

    def by_arm(argument: str) -> dict[str, list[str]]:
        made = building.write(tmp_path / argument, sheet, scenario, subjects(sheet, subject(argument, "cc")), "quick")
        for run in made.runs:
            flows = run.scenario.resolved["flow"]
            assert ("quic_from" in flows["subject"]) == (run.arm == "subject" and "/" in argument)
            assert "quic_from" not in flows["incumbent"]
        return {arm: [run.scenario.hash for run in made.runs if run.arm == arm] for arm in sheet.arms}

    stack, law = by_arm("quic:quinn/cubic"), by_arm("bbr")
    assert [stack[arm] == law[arm] for arm in sheet.arms] == [False, True, True]  # so that their runs are cached once


def test_a_folder_with_runs_of_another_controller_is_refused(tmp_path: Path) -> None:
    sheet = built_in("cc").only(["outage"]).of_size("quick")
    (scenario,) = sheet.scenarios
    (tmp_path / scenario.name).mkdir()
    building.write(tmp_path, sheet, scenario, subjects(sheet, subject("quic:quinn/cubic", "cc")), "quick")
    with pytest.raises(FolderError, match="has runs of another sender"):
        building.write(tmp_path, sheet, scenario, subjects(sheet, subject("quic:quinn/bbr", "cc")), "quick")


def test_a_card_has_the_parameters_of_the_stack(tmp_path: Path) -> None:
    card = scored("cc", "quic:quinn/cubic", tmp_path, "small-bdp", "12 s", "2 s")
    (one,) = card["scenarios"]
    assert card["subject"]["parameters"]["stack"] == "quinn"
    assert card["reference"]["parameters"]["congestion"] == "reno"
    goodput = {row["sender"]: row["mean"] for row in one["measures"] if row["measure"] == "goodput_bps"}
    assert 0 < goodput["subject"] < 5e5  # the link's rate
    assert goodput["subject"] not in (goodput["reference"], goodput["cubic"])


@pytest.mark.parametrize(
    ("name", "argument", "why"),
    [
        ("feedback", "quic:quinn/cubic", "flows over QUIC have no `bytes_marked`"),
        ("marks", "quic:quinn/cubic", "flows over QUIC have no `rtt_mean_s`"),
        ("feedback", "FILE:two", 'the sender does not use ECN: its `ecn` is "off" or false'),
    ],
)
def test_scenarios_that_need_tcp_or_ecn_are_not_applicable(
    name: str, argument: str, why: str, both: Path, tmp_path: Path
) -> None:
    card = scored("l4s", argument.replace("FILE", str(both)), tmp_path / "card", name, "2 s", "1 s")
    (one,) = card["scenarios"]
    assert (one["verdict"], one["why_not"]) == ("not applicable", why)

"""Scenarios of RFC 9743 with tunnels, boxes, a call or a path that changes: known results come out of short runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from drawn import drawing

import ecnlab
from ecnlab.scoring import building, score, subject, subjects
from ecnlab.scoring.card import Card
from ecnlab.scoring.sheet import Sheet, built_in

SHORT = {"media": ("40 s", "8 s"), "tunnel": ("20 s", "8 s"), "pie": ("30 s", "10 s")}
"""Duration and warm-up of the scenarios that are run here as cards."""


def short(name: str) -> Sheet:
    """The sheet of one scenario, with short runs."""
    whole = built_in("cc").only([name])
    runs = [replace(one, duration={"quick": SHORT[name][0]}, warmup=SHORT[name][1]) for one in whole.scenarios]
    return replace(drawing(whole, 3), scenarios=runs, replicates={"quick": 3})


def scored(sender: str, folder: Path, name: str) -> Card:
    sheet = short(name)
    quiet = lambda _name: lambda _done, _all: None  # noqa: E731
    return score(subjects(sheet, subject(sender, "cc")), folder, sheet, workers=2, progress=quiet)


def measure(card: Card, name: str, case: str = "", sender: str = "subject") -> float:
    """The mean of a measure in the only scenario of a card."""
    rows = {(row["case"], row["sender"], row["measure"]): row["mean"] for row in card["scenarios"][0]["measures"]}
    return rows[case, sender, name]


def outcomes(card: Card, arm: str = "") -> dict[str, str]:
    """Outcomes by criterion in the only scenario of a card: of the subject, or of ``arm``."""
    one = card["scenarios"][0]
    return {row["name"]: row["outcome"] for row in (one["incumbents"][arm] if arm else one)["criteria"]}


def flow(name: str, folder: Path, group: str, **overrides: Any) -> dict[str, Any]:
    """The row of ``flows`` of ``group`` after one run of a scenario with Reno as the subject."""
    sheet = built_in("cc").only([name])
    building.write(folder, sheet, sheet.scenarios[0], subjects(sheet, subject("reno", "cc")), "quick")
    run = ecnlab.run(folder / f"{name}.scenario.toml", overrides=overrides)
    return next(row for row in run.flows.iter_rows(named=True) if row["group"] == group)


@pytest.mark.slow
def test_a_call_loses_twice_as_much_next_to_bbr_as_next_to_reno(tmp_path: Path) -> None:
    card = scored("bbr", tmp_path, "media")
    assert measure(card, "call_loss") > 2 * measure(card, "call_loss", sender="reference") > 0
    assert outcomes(card)["call-loss"] != "yes"
    assert set(outcomes(card, "reference").values()) == {"yes"}


def test_a_tunnel_hands_on_marks_or_leaves_only_losses(tmp_path: Path) -> None:
    card = scored("cubic", tmp_path, "tunnel")
    assert set(outcomes(card).values()) == {"yes"}
    for case in ("no tunnel", "RFC 6040"):
        assert measure(card, "loss", case) == 0 < measure(card, "mark_rate", case) < 0.01
    # Marks that no sender gets: CoDel marks most packets, and the buffer of 4 BDP fills until it overflows.
    assert measure(card, "mark_rate", "RFC 2003") > 0.3 and measure(card, "loss", "RFC 2003") > 0
    assert measure(card, "delay_mean_s", "RFC 2003") > 10 * measure(card, "delay_mean_s", "RFC 6040")


def test_dctcp_does_not_meet_harm_in_pie_as_cubic_does(tmp_path: Path) -> None:
    card = scored("dctcp", tmp_path, "pie")
    assert outcomes(card)["harm-cubic"] != "yes" and outcomes(card)["harm-reno"] != "yes"
    assert outcomes(card, "cubic")["harm-reno"] == "yes"


@pytest.mark.parametrize(("boxes", "share"), [(["hides"], (0.0, 0.2)), ([], (0.3, 0.7))])
def test_a_receiver_that_hides_marks_takes_the_rate_of_an_honest_one(
    boxes: list[str], share: tuple[float, float], tmp_path: Path
) -> None:
    goodputs = {
        group: flow("lying-receiver", tmp_path, group, **{"link.lying.boxes": boxes})
        for group in ("subject", "incumbent")
    }
    honest = goodputs["incumbent"]["goodput_bps"] / sum(row["goodput_bps"] for row in goodputs.values())
    assert share[0] <= honest <= share[1]
    assert (goodputs["subject"]["ece_received"] == 0) == bool(boxes) and goodputs["incumbent"]["ece_received"] > 0


@pytest.mark.parametrize(("reorder", "recoveries"), [(True, 5), (False, 0)])
def test_each_fall_of_the_delay_reorders_once(reorder: bool, recoveries: int, tmp_path: Path) -> None:
    # Falls at 15, 25, 35, 45 and 55 s of the 50 s measured. 25 packets are overtaken: more than three duplicate ACKs. Nothing is lost.
    overrides = {
        "link.access.jitter.reorder": reorder,
        "tcp.subject.recovery": "sack",
        "tcp.subject.receive_buffer": "120 kB",
        "tcp.subject.receive_window": "fixed",
        "queue.bottleneck.limit": "5000 packets",
    }
    found = flow("path-change", tmp_path, "tcp", **overrides)
    assert (found["fast_recoveries"], found["timeouts"]) == (recoveries, 0)
    assert (found["duplicate_bytes_received"] > 0) == reorder

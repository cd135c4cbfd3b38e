"""Scenarios of RFC 7928 with traffic, cases or places of their own: their files are as the RFC has them, known results come out of short runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ecnlab.scoring import building, score, subject, subjects
from ecnlab.scoring.card import Card
from ecnlab.scoring.sheet import Sheet, built_in, flows

MSS = 1448

SHORT = {
    "scheduler": ("20 s", "8 s"),
    "startup": ("40 s", "10 s"),
    "background": ("40 s", "15 s"),
    "both-ways": ("20 s", "8 s"),
    "two-bottlenecks": ("15 s", "8 s"),
}
"""Duration and warm-up of the scenarios that are run here."""


def short(names: Sequence[str]) -> Sheet:
    """The sheet of the scenarios ``names``, with short runs."""
    whole = built_in().only(names)
    runs = [replace(one, duration={"quick": SHORT[one.name][0]}, warmup=SHORT[one.name][1]) for one in whole.scenarios]
    return replace(whole, scenarios=runs, replicates={"quick": 3})


def scored(queue: str, folder: Path, names: Sequence[str]) -> Card:
    quiet = lambda _name: lambda _done, _all: None  # noqa: E731
    return score(subjects(built_in(), subject(queue)), folder, short(names), workers=2, progress=quiet)


@pytest.fixture(scope="module")
def codel(tmp_path_factory: pytest.TempPathFactory) -> Card:
    return scored("codel", tmp_path_factory.mktemp("codel"), list(SHORT))


def measure(card: Card, scenario: str, name: str, queue: str = "subject", case: str = "") -> float:
    """The mean of a measure."""
    one = next(one for one in card["scenarios"] if one["name"] == scenario)
    key = (case, queue, name)
    return next(row["mean"] for row in one["measures"] if (row["case"], row["queue"], row["measure"]) == key)


def outcomes(card: Card, scenario: str) -> set[tuple[str, str]]:
    """Names and outcomes of the criteria of a scenario."""
    one = next(one for one in card["scenarios"] if one["name"] == scenario)
    return {(row["name"], row["outcome"]) for row in one["criteria"]}


def made(name: str, folder: Path, queue: str = "codel") -> list[dict]:
    """The resolved tables of the quick runs of a scenario with the first seed: of drop-tail, then of the subject, case by case."""
    sheet = built_in().only([name]).of_size("quick")
    found = building.write(folder, sheet, sheet.scenarios[0], subjects(sheet, subject(queue)), "quick")
    return [one.resolved for one in found.scenarios]


# ---- the files


def test_the_full_size_has_more_rtts_and_each_case_its_own_delay() -> None:
    (rtt,) = built_in().only(["rtt"]).scenarios
    assert [case.name for case in rtt.cases] == [f"RTT {ms} ms" for ms in (5, 20, 50, 200, 560)]
    for case in rtt.cases:
        # Both ways through the second access link and the bottleneck of 1 ms.
        delay = 2 * (float(case.set["link.second.delay"].removesuffix(" ms")) + 1)
        assert case.name == f"RTT {delay:g} ms" and case.rtt in ("", f"{delay:g} ms")
        assert (delay > 100) == bool(case.rtt)
    sizes = {size: built_in().only(["rtt"]).of_size(size).scenarios[0].cases for size in ("quick", "full")}
    assert [case.name for case in sizes["quick"]] == ["RTT 5 ms", "RTT 560 ms"] and len(sizes["full"]) == 5


def test_the_cases_of_the_mix_have_the_traffic_of_their_digits(tmp_path: Path) -> None:
    (mix,) = built_in().only(["mix"]).scenarios
    cases = {case.name: case for case in mix.cases}
    runs = made("mix", tmp_path)
    assert [case.name for case in mix.cases] == ["1111", "0111", "0110", "1110"] and len(runs) == 8
    for case, run in zip([case for case in mix.cases for _arm in range(2)], runs, strict=True):
        counts = [run["flow"][name].get("count", 1) for name in ("video", "web", "cbr", "bulk")]
        assert "".join(map(str, counts)) == case.name
    assert {c.name for c in mix.criteria if c.applies_to(cases["0110"])} == {"pages-light", "pages-kept"}
    assert {c.name for c in mix.criteria if c.applies_to(cases["1111"])} == {
        "call-mean-delay",
        "utilisation-few",
        "pages",
        "pages-kept",
    }


def test_short_flows_have_11_to_99_packets_and_both_initial_windows(tmp_path: Path) -> None:
    runs = made("startup", tmp_path)
    sizes = {tuple(run["flow"]["short"]["traffic"]["response"]["uniform"]) for run in runs}
    assert sizes == {(f"{11 * MSS} B", f"{99 * MSS} B")}
    assert [run["tcp"]["short"]["initial_window"] for run in runs][::2] == [3, 10]
    assert {run["tcp"]["newreno"]["initial_window"] for run in runs} == {3}


def test_the_queue_is_in_both_directions_and_at_both_bottlenecks(tmp_path: Path) -> None:
    for arm, run in zip(("reference", "subject"), made("both-ways", tmp_path), strict=True):
        link = run["link"]["bottleneck"]
        assert (link["queue"], link["reverse"]["queue"]) == (arm, arm)
        assert [run["flow"][name]["count"] for name in ("tcp", "back")] == [6, 6]
    for arm, run in zip(("reference", "subject"), made("two-bottlenecks", tmp_path), strict=True):
        assert [run["link"][name]["queue"] for name in ("first", "bottleneck")] == [arm, arm]
        assert run["queue"][arm]["limit"] == "208 packets"
        counts = [run["flow"][name]["count"] for name in ("through", "entering")]
        assert sum(counts) == flows("mild", built_in().congestion, 208) == 15 and counts[1] - counts[0] == 1


def test_a_scheduler_has_the_queue_for_each_flow_and_the_card_its_parameters(codel: Card, tmp_path: Path) -> None:
    for arm, law, run in zip(("reference", "subject"), ("droptail", "codel"), made("scheduler", tmp_path), strict=True):
        queue = run["queue"][arm]
        assert (queue["discipline"], queue["rounds"], queue["limit"]) == ("fq", "drr", "10240 packets")
        assert (queue["class"]["each"]["discipline"], queue["class"]["each"]["limit"]) == (law, "83 packets")
    assert codel["scenarios"][0]["name"] == "scheduler"
    assert codel["subject"]["parameters"]["discipline"] == "codel"
    assert codel["subject"]["parameters"]["target"] == "5 ms"


# ---- known results


def test_drr_gives_tcp_half_of_the_link_and_the_law_sets_its_delay(codel: Card) -> None:
    # 10 Mbps in two equal shares; of a packet of 1514 B, 1448 B are goodput.
    assert measure(codel, "scheduler", "goodput_tcp_bps", "reference") == pytest.approx(5e6 * 1448 / 1514, rel=0.03)
    # 83 packets of 1514 B at 5 Mbps: 201 ms.
    assert measure(codel, "scheduler", "tcp_delay_p99_s", "reference") == pytest.approx(0.2, rel=0.1)
    assert outcomes(codel, "scheduler") >= {("tcp-delay", "yes"), ("utilisation", "yes")}
    assert measure(codel, "scheduler", "tcp_delay_p99_s") < 0.03


def test_a_short_flow_gains_by_a_short_queue_and_by_a_larger_window(codel: Card) -> None:
    assert ("startup", "yes") in outcomes(codel, "startup") and ("startup", "no") not in outcomes(codel, "startup")
    for queue in ("subject", "reference"):
        three, ten = (measure(codel, "startup", "completion_s", queue, case) for case in ("IW 3", "IW 10"))
        assert three > ten > 0.3  # the handshake, the request and at least two round trips of slow start


def test_a_short_queue_takes_from_ledbat_the_delay_that_it_yields_to(codel: Card) -> None:
    # Behind drop-tail NewReno keeps a queue far above the target of 5 ms; behind CoDel, whose target is 5 ms, LEDBAT is as Reno.
    assert measure(codel, "background", "ledbat_share", "reference") < 0.05
    assert measure(codel, "background", "ledbat_share") > 0.2


def test_measures_of_the_other_direction_are_those_of_an_equal_one(codel: Card) -> None:
    for there, back in (("utilisation", "back_utilisation"), ("delay_p99_s", "back_delay_p99_s")):
        for queue in ("subject", "reference"):
            first, second = (measure(codel, "both-ways", name, queue) for name in (there, back))
            assert first == pytest.approx(second, rel=0.25) and first > 0


def test_both_bottlenecks_queue_and_the_law_shortens_both(codel: Card) -> None:
    assert measure(codel, "two-bottlenecks", "first_utilisation", "reference") > 0.8
    assert measure(codel, "two-bottlenecks", "utilisation", "reference") > 0.9
    for name in ("delay_p99_s", "first_delay_p99_s"):
        assert measure(codel, "two-bottlenecks", name) < 0.6 * measure(codel, "two-bottlenecks", name, "reference")

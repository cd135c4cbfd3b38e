"""``ecnlab score aqm|cc --engine linux``: a card of runs on the kernel, where one has been built, and cards of both engines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from drawn import drawing

import ecnlab
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.base.types import Engine
from ecnlab.linux.kernel import find
from ecnlab.scoring import building, compare, score, subject, subjects, write, write_badge, write_page
from ecnlab.scoring.card import Card
from ecnlab.scoring.engines import refuse_other, words
from ecnlab.scoring.sheet import SUBJECT, Sheet, built_in

FAST: Final = "every 100 ms"
SLOW: Final = "every 20 s"
LIMITS: Final = {
    ("codel", FAST): {"utilisation": 0.05, "sojourn_mean_s": 0.1, "sojourn_p99_s": 0.1},
    ("fq_codel", FAST): {"utilisation": 0.05, "sojourn_mean_s": 0.1, "sojourn_p99_s": 0.1},
    # Utilisation depends on the window that PIE's random drops leave after slow start.
    ("pie", FAST): {"utilisation": 0.4, "sojourn_mean_s": 0.25, "sojourn_p99_s": 0.1},
    # After the fall to a tenth, retransmissions are dropped, too: the simulator's NewReno has timeouts, Linux's RACK has none.
    ("codel", SLOW): {"utilisation": 0.2, "sojourn_mean_s": 0.35, "sojourn_p99_s": 0.35},
}
"""Largest distance of the ratio of simulator and kernel from 1, for one run of RFC 7928 §8.2.6."""


@pytest.fixture(scope="module")
def kernel() -> str:
    """The version of the kernel."""
    try:
        return str(find().about["version"])
    except EcnlabError as error:
        pytest.skip(f"{error} (`make linux`)")


def short(*names: str) -> Sheet:
    """The sheet of the scenarios ``names``, with short runs and three seeds."""
    whole = built_in().only(names)
    runs = [replace(one, duration={"quick": "4 s"}, warmup="2 s") for one in whole.scenarios]
    return replace(drawing(whole, 3), scenarios=runs, replicates={"quick": 3})


def scored(queue: str, folder: Path, *names: str, engine: Engine = "linux") -> Card:
    return score(
        subjects(built_in(), subject(queue)),
        folder,
        short(*names),
        workers=2,
        engine=engine,
        progress=lambda _name: lambda _done, _all: None,
    )


@pytest.fixture(scope="module")
def cards(kernel: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Card]]:
    """The folder of a card of each engine, and the cards."""
    folder = tmp_path_factory.mktemp("cards")
    names = {"linux": ("newreno", "udp-above"), "packets": ("newreno", "udp-above")}
    return folder, {engine: scored("codel", folder / engine, *names[engine], engine=engine) for engine in names}  # type: ignore[arg-type]


def test_the_card_names_the_engine_and_has_the_measures_of_the_kernel(
    cards: tuple[Path, dict[str, Card]], kernel: str
) -> None:
    card = cards[1]["linux"]
    assert card["engine"]["name"] == "linux" and card["engine"]["kernel"] == kernel
    assert card["summary"][0].startswith(f"CoDel in 2 scenarios of RFC 7928 on Linux {kernel}: ")
    one, other = (cards[1][engine]["scenarios"][0]["measures"] for engine in ("linux", "packets"))
    measures = {(row["queue"], row["measure"]) for row in one}
    assert measures == {(row["queue"], row["measure"]) for row in other}
    assert all(row["mean"] is not None and row["n"] == 3 for row in one)
    # A value of the scenario that the kernel replaced by its own, if any, is in the card once.
    keys = [entry["key"] for entry in card["instead"]]
    assert len(keys) == len(set(keys))


def test_a_scenario_that_the_kernel_does_not_run_is_not_applicable_with_the_key(
    cards: tuple[Path, dict[str, Card]],
) -> None:
    linux, packets = (cards[1][engine]["scenarios"][1] for engine in ("linux", "packets"))
    assert linux["verdict"] == "not applicable" and packets["verdict"] != "not applicable"
    assert "`flow.udp.traffic`: the Linux engine does not send `cbr`" in linux["why_not"]
    assert linux["criteria"] == linux["measures"] == []


def test_a_queue_that_the_kernel_lacks_has_no_applicable_scenario(kernel: str, tmp_path: Path) -> None:
    (tmp_path / "law.py").write_text(
        "from ecnlab.userlaws import QueueLaw\n\nclass Step(QueueLaw):\n"
        "    def on_enqueue(self, packet, queue, now, random):\n        return 'pass'\n"
    )
    for queue, name in (("cobalt", "cobalt"), (f"{tmp_path / 'law.py'}:Step", "user-defined")):
        card = scored(queue, tmp_path / name, "newreno")
        assert card["verdicts"]["not applicable"] == 1
        assert f"`queue.subject`: the Linux engine has no `{name}`" in card["scenarios"][0]["why_not"]


def test_page_and_badge_name_the_kernel_and_the_commands_its_engine(
    cards: tuple[Path, dict[str, Card]], kernel: str, tmp_path: Path
) -> None:
    linux, packets = (write_page(cards[1][engine], tmp_path).read_text() for engine in ("linux", "packets"))
    assert f"Linux {kernel} in virtual time" in linux and "--engine linux" in linux
    assert "simulator" in packets and "--engine" not in packets
    assert f"on Linux {kernel}: " in write_badge(cards[1]["linux"], tmp_path).read_text()


def test_a_folder_with_runs_of_the_other_engine_is_refused_and_stays_as_it_is(
    cards: tuple[Path, dict[str, Card]],
) -> None:
    folder, both = cards
    for engine, other in (("linux", "packets"), ("packets", "linux")):
        before = {path: path.read_bytes() for path in (folder / engine).rglob("*") if path.is_file()}
        with pytest.raises(
            FolderError, match=f"runs of the engine `{engine}`, not of `{other}`: choose another folder"
        ):
            # Also in a scenario of which it has no runs.
            scored("codel", folder / engine, "cubic", engine=other)  # type: ignore[arg-type]
        assert before == {path: path.read_bytes() for path in (folder / engine).rglob("*") if path.is_file()}
        refuse_other(folder / engine, engine)  # type: ignore[arg-type]
    again = scored("codel", folder / "linux", "newreno", "udp-above")
    assert again == both["linux"]


def test_cards_of_both_engines_are_compared_and_the_engines_stated(
    cards: tuple[Path, dict[str, Card]], kernel: str, tmp_path: Path
) -> None:
    for engine, card in cards[1].items():
        (tmp_path / engine).mkdir()
        write(card, tmp_path / engine)
    found = compare(tmp_path / "packets", tmp_path / "linux")
    assert f"the cards differ in engine (simulator; Linux {kernel} in virtual time)" in found.lines[2]
    assert len(found.pairs) == 3 and not any(pair.why_not for pair in found.pairs)  # three classes of the BDP


@pytest.mark.slow
def test_a_card_of_a_sender_has_the_measures_of_the_kernel(kernel: str, tmp_path: Path) -> None:
    whole = built_in("cc").only(["small-bdp", "reordering"])
    runs = [replace(one, duration={"quick": "20 s"}, warmup="5 s") for one in whole.scenarios]
    sheet = replace(whole, scenarios=runs, replicates={"quick": 1})
    of = subjects(sheet, subject("cubic", "cc"))
    both = {
        engine: score(
            of, tmp_path / engine, sheet, workers=2, engine=engine, progress=lambda _name: lambda _done, _all: None
        )
        for engine in ("packets", "linux")
    }
    assert both["linux"]["summary"][0].startswith(f"CUBIC in 2 scenarios of RFC 9743 on Linux {kernel}: ")
    why_not = {one["name"]: one["why_not"] for one in both["linux"]["scenarios"]}
    assert why_not == {
        "small-bdp": "",
        "reordering": "`link.bottleneck.jitter`: netem implements it differently",
    }
    own, linux = (
        {(row["sender"], row["measure"]): row["mean"] for row in card["scenarios"][0]["measures"]}
        for card in both.values()
    )
    assert own.keys() == linux.keys() and None not in linux.values() and own != linux
    for arm in sheet.arms:
        assert linux[arm, "goodput_bps"] == pytest.approx(own[arm, "goodput_bps"], rel=0.1)


def test_the_command_for_senders_has_the_engine(cli, kernel: str, tmp_path: Path) -> None:
    done = cli("score", "cc", "reno", "--engine", "linux", "--scenario", "reordering")
    assert (
        done.returncode == 0
        and f"on Linux {kernel}: 0 meet" in done.stdout
        and "1 not applicable: §7 reordering" in done.stdout
    )
    assert (tmp_path / "results" / "score-reno-linux" / "card.json").is_file()


def test_a_card_without_an_engine_is_of_the_simulator() -> None:
    assert words({}) == words({"engine": {"name": "packets"}}) == "simulator"


def test_the_command_states_what_is_not_applicable_and_has_a_folder_of_its_own(
    cli, kernel: str, tmp_path: Path
) -> None:
    done = cli("score", "aqm", "codel", "--engine", "linux", "--scenario", "udp-above", "--json")
    assert done.returncode == 0, done.stderr
    card = json.loads(done.stdout)
    assert card["engine"]["kernel"] == kernel and card["verdicts"]["not applicable"] == 1
    assert (tmp_path / "results" / "score-codel-linux" / "card.json").is_file()
    again = cli("score", "aqm", "codel", "--engine", "linux", "--scenario", "udp-above")
    assert (
        "not applicable: udp-above: " in again.stderr
        and "`flow.udp.traffic`: the Linux engine does not send `cbr`" in again.stderr
    )
    refused = cli("score", "aqm", "codel", "--engine", "model")
    assert refused.returncode == 2 and "a card needs runs with several seeds" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("queue", "case"), LIMITS)
def test_a_rate_that_changes_gives_the_measures_of_the_simulator(
    queue: str, case: str, kernel: str, tmp_path: Path
) -> None:
    whole = built_in().only(["varying-rate"])
    one = replace(whole.scenarios[0], duration={"quick": "45 s" if case == SLOW else "40 s"}, warmup="15 s")
    made = building.write(tmp_path, whole, one, subjects(whole, subject(queue)), "quick")
    every = next(of.set["link.bottleneck.rate"]["every"] for of in one.cases if of.name == case)
    links = (run.scenario.resolved["link"]["bottleneck"] for run in map(made.run, range(len(made))))
    index = next(i for i, link in enumerate(links) if (link["queue"], link["rate"]["every"]) == (SUBJECT, every))
    run = made.run(index)
    own, linux = (
        ecnlab.run(run.scenario, run.seed, engine=engine).table("links").filter(link="bottleneck").row(0, named=True)
        for engine in ("packets", "linux")
    )
    for measure, limit in LIMITS[queue, case].items():
        assert own[measure] == pytest.approx(linux[measure], rel=limit), measure

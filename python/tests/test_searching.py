"""Searches: choices, harm by arithmetic, maps that do not depend on interruptions, smaller scenarios, finds that replay."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from random import Random

import pytest
from conftest import Cli, ecnlab_command, unlocked

from ecnlab import searching
from ecnlab.base.errors import FolderError
from ecnlab.cli.search import EVALUATIONS
from ecnlab.scoring.sheet import SUBJECT, Kind
from ecnlab.searching import confirming, exploring, finds, harm, path, path_harms, shrinking
from ecnlab.searching.choices import Choices, changed, crossed, simpler
from ecnlab.searching.evaluator import Evaluator
from ecnlab.searching.harm import Values
from ecnlab.searching.law_space import COLUMNS, LawSpace
from ecnlab.searching.path import FACTORS
from ecnlab.searching.path import Path as DrawnPath
from ecnlab.searching.space import Candidate

PLANTED = Path(__file__).parent / "planted"
PUBLISHED = Path(__file__).parents[2] / "examples" / "finds"


def quiet(_name: str) -> Callable[[int, int], None]:
    return lambda _done, _all: None


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates of at most 2 Mbps, generations of 16 points and few seeds: a search of some seconds."""
    monkeypatch.setattr(path, "RATES", (1, 2))
    for module in (exploring, searching.searching):
        monkeypatch.setattr(module, "SIZE", 16)
    monkeypatch.setattr(shrinking, "SEEDS", 1)
    monkeypatch.setattr(finds, "SEEDS", 4)


# ---- choices


def test_a_choice_is_that_of_the_genes_or_the_simplest_and_without_both_it_is_drawn() -> None:
    choices = Choices({"a": 4})
    assert choices.pick("a", "xyz") == "y" and choices.pick("b", "xyz") == "x"  # 4 mod 3 = 1
    assert choices.made == {"a": 1, "b": 0}
    drawn = {Choices({}, Random(seed)).pick("b", "xyz") for seed in range(20)}
    assert drawn == {"x", "y", "z"}
    often = [Choices({}, Random(seed)).perhaps("b", range(100)) for seed in range(200)]
    assert 70 < often.count(0) < 130


def test_descendants_have_some_choices_of_their_parents_and_draw_the_others() -> None:
    genes = {"a": 1, "b": 2, "c": 3, "d": 4}
    children = [changed(genes, Random(seed)) for seed in range(50)]
    assert all(child.items() <= genes.items() for child in children)
    assert {len(child) for child in children} == {1, 2, 3}
    assert changed({"a": 1}, Random(1)) == {}
    assert crossed({"a": 1}, {"b": 2}, Random(1)) == {"a": 1, "b": 2}
    assert simpler({"a": 2, "b": 0}) == [{"a": 0, "b": 0}, {"a": 1, "b": 0}]


def test_the_command_states_the_number_of_points_that_a_search_has() -> None:
    assert EVALUATIONS == searching.EVALUATIONS


def test_the_simplest_scenario_has_one_transfer_and_no_changes() -> None:
    for kind in ("aqm", "cc"):
        space = searching.of_law(kind, "pie" if kind == "aqm" else "bbr")
        one = space.candidate(Choices({}))
        made = space.path(one)
        assert one.cell == (COLUMNS.index(40), 0) and len(made.flows) == 1 and not made.link
        assert one.words[0] == "10 Mbps, RTT 40 ms, 1 BDP of buffer" and made.limit == 33  # 10e6 * 0.04 / 12000


# ---- harm


def drawn(rates: Sequence[tuple[float, float]], **flows: int) -> DrawnPath:
    made = DrawnPath(duration=10, rtt=40, rates=rates, limit=10)
    for name, count in flows.items():
        made.transfers(name, "any", count)
    return made


def test_the_mean_rate_is_that_of_the_second_half_and_the_change_the_largest_ratio() -> None:
    made = drawn([(0.0, 50), (2.0, 10), (8.0, 5)])
    assert made.rate == pytest.approx((3 * 10e6 + 2 * 5e6) / 5)  # from 5 to 8 s, and from 8 to 10 s
    assert made.change == 8  # 50 / 10 = 5
    assert drawn([(0.0, 10)]).change == 1
    made.turns = 0.1, 0.25
    assert made.least == 1.25 and made.rate == pytest.approx(0.625 * (3 * 10e6 + 2 * 5e6) / 5)


def test_a_rate_in_turns_a_later_rtt_and_a_far_server_are_in_the_scenario() -> None:
    space = searching.of_law("aqm", "pie")
    names = ("turns", "turns.depth", "rtt.later", "others", "others.rtt", "bursts")
    one = space.candidate(Choices(dict.fromkeys(names, 1)))
    links = space.scenario(one, SUBJECT).resolved["link"]
    assert links["bottleneck"]["rate"] == {"square": ["10 Mbps", "2.5 Mbps"], "every": "200 ms"}
    assert links["access"]["delay"] == {"steps": [["0 s", "19 ms"], ["5 s", "9 ms"]]}
    assert links["far"]["delay"] == "19 ms"
    assert one.cell == (COLUMNS.index(40), FACTORS.index(4))
    assert one.words[:3] == [
        "10 Mbps, RTT 40 ms, 1 BDP of buffer",
        "in turns of 0.1 s the rate is 2.5 Mbps",
        "RTT 20 ms from 5 s on",
    ]


def test_harm_is_a_ratio_to_the_best_other_law_with_what_counts_as_none_added_to_both() -> None:
    kinds = {one.harm.name: one for one in path_harms.HARMS["aqm"]}
    made = drawn([(0.0, 10)], flows=4)
    delay, use = (kinds[name].harm for name in ("delay", "use"))
    ms, rate = (kinds[name].scale(made) for name in ("delay", "use"))
    others: list[Values] = [{"delay_s": 0.045, "goodput_bps": 4e6}, {"delay_s": 0.015, "goodput_bps": 9e6}]
    assert delay.of(ms, {"delay_s": 0.095}, others) == pytest.approx(100 / 20)
    assert use.of(rate, {"goodput_bps": 1e6}, others) == pytest.approx(9.5e6 / 1.5e6)
    assert delay.most(ms, {"delay_s": 0.095}) == pytest.approx(100 / 5)
    assert use.most(rate, {"goodput_bps": 1e6}) == pytest.approx(10.5e6 / 1.5e6)
    assert delay.of(ms, {"delay_s": None}, others) == 1.0 == delay.of(ms, {"delay_s": 0.1}, [{}])
    assert harm.mean([2.0, 8.0]) == pytest.approx(4.0)


def test_a_find_holds_if_nineteen_of_twenty_seeds_show_it() -> None:
    found = confirming.of_seeds([4.0] * 19 + [0.9], 20)
    assert found.holds and found.harmful == 19 and found.low < 4.0 * (0.9 / 4.0) ** (1 / 20) < found.high
    assert not confirming.of_seeds([4.0] * 18 + [0.9] * 2, 20).holds
    assert confirming.of_seeds([2.0] * 5, 5).holds
    assert not confirming.of_seeds([2.0] * 14, 20).holds  # six seeds have no value
    values: dict[str, list[float | None]] = {SUBJECT: [0.1, 0.1], "pie": [0.02, None], "codel": [0.05, 0.045]}
    measured, best = finds.confirmed(values, SUBJECT, "high", 0.005)
    assert measured.times == pytest.approx((105 / 25 * 105 / 50) ** 0.5) and best == "pie"


# ---- the search


class Counted(Evaluator):
    """An evaluator without runs: a delay of 10 ms for each simple unit of trouble, 5 ms with other laws."""

    def values(self, wanted: Sequence[tuple[Candidate, str, int]]) -> list[Values]:
        return [{"delay_s": self.delay(one) if arm == SUBJECT else 0.005} for one, arm, _seed in wanted]

    def delay(self, one: Candidate) -> float:
        assert isinstance(self._space, LawSpace)
        made = self._space.path(one)
        return 0.1 if made.rtt == 160 and "udp" in made.flows else 0.005


def test_points_with_more_harm_replace_others_and_are_found_from_them() -> None:
    space = searching.of_law("aqm", "pie")
    archive = searching.Archive()
    with Counted(space) as runs:
        exploring.explore(space, runs, archive, evaluations=256, seed=1, after=lambda _: None)
    assert archive.generation == 4 and archive.evaluations == 256
    assert {place[1] for place in archive.cells} == {COLUMNS.index(160)} and {place[0] for place in archive.cells} == {
        "delay"
    }
    assert len(archive.cells) > 2 and all(one.harm == pytest.approx(10.5) for one in archive.cells.values())
    assert archive.runs < 256 * 4  # others run only where they matter


def test_what_does_not_matter_is_taken_out_of_a_scenario() -> None:
    space = searching.of_law("aqm", "pie")
    genes = {"rtt": path.RTTS.index(160), "udp": 2, "rate": 4, "changes": 3, "flows": 3, "flows.count": 5, "outage": 1}
    with Counted(space) as runs:
        one = shrinking.shrink(space, runs, space.candidate(Choices(genes)), "delay", 1)
    assert one and one.words == ["10 Mbps, RTT 160 ms, 1 BDP of buffer", "1 × CUBIC", "UDP at 5 Mbps"]


def searched(folder: Path, evaluations: int, argument: str = "codel") -> dict[str, object]:
    searching.search(searching.of_law("aqm", argument), folder, evaluations=evaluations, workers=2, progress=quiet)
    found: dict[str, object] = json.loads((folder / "search.json").read_text())
    return found


def test_a_search_that_is_continued_has_the_same_maps_and_finds_as_one_that_was_not(
    small: None, tmp_path: Path
) -> None:
    assert searched(tmp_path / "one", 16)["evaluations"] == 16
    searched(tmp_path / "one", 32)
    whole = searched(tmp_path / "whole", 32)
    assert (tmp_path / "one" / "search.json").read_bytes() == (tmp_path / "whole" / "search.json").read_bytes()
    assert whole["cells"] and whole["finds"]
    for name in whole["finds"]:  # type: ignore[attr-defined]
        for file in ("scenario.toml", "find.toml", "find.json"):
            one, other = (tmp_path / search / "find" / name / file for search in ("one", "whole"))
            assert one.read_bytes() == other.read_bytes()
    with pytest.raises(FolderError, match="another law, of another state of its file"):
        searched(tmp_path / "one", 16, "pie")


@pytest.mark.slow
@pytest.mark.parametrize("after", [4, 15])
def test_a_search_killed_at_any_moment_and_called_again_has_the_same_maps_and_finds(after: int, tmp_path: Path) -> None:
    def command(folder: str) -> list[str]:
        return ecnlab_command("search", "cc", "reno", "--evaluations", 128, "--out", tmp_path / folder)

    with subprocess.Popen(command("killed"), start_new_session=True, stderr=subprocess.DEVNULL) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    unlocked(tmp_path / "killed")
    for folder in ("killed", "whole"):
        subprocess.run(command(folder), check=True, timeout=300, capture_output=True)
    files = [
        path.relative_to(tmp_path / "whole") for path in sorted((tmp_path / "whole").rglob("*.*")) if path.is_file()
    ]
    same = [path for path in files if path.suffix in {".json", ".toml"} and path.name != "manifest.json"]
    assert Path("search.json") in same and len(same) > 3
    assert [
        one for one in same if (tmp_path / "killed" / one).read_bytes() != (tmp_path / "whole" / one).read_bytes()
    ] == []


def test_the_command_prints_its_finds_and_replays_one(small: None, cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    searched(folder, 64)
    done = cli("search", "aqm", "codel", "--evaluations", 64, "--out", folder)
    record = json.loads((folder / "search.json").read_text())
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split("CoDel has a ")) == len(record["finds"]) + 1 and done.stderr.endswith("search.html\n")
    page = unescape((folder / "search.html").read_text())
    assert all(one["sentence"] in page for one in record["finds"].values())
    name, find = next(iter(record["finds"].items()))
    again = cli("search", "replay", folder / "find" / name, "--seeds", 4)
    assert again.returncode == 0 and again.stdout.startswith(f"CoDel has a {find['measure']} of ")
    ran = cli("run", folder / "find" / name / "scenario.toml")
    assert ran.returncode == 0, ran.stderr
    (folder / "find" / name / "find.json").write_text("{}")
    for wrong, message in ((folder / "find" / name, "has the format None"), (tmp_path, "has no find.json")):
        failed = cli("search", "replay", wrong)
        assert failed.returncode == 2 and message in failed.stderr
    (folder / "search.json").write_text("[]")
    failed = cli("search", "aqm", "codel", "--evaluations", 64, "--out", folder)
    assert failed.returncode == 2 and "not the record of a search" in failed.stderr


@pytest.mark.parametrize("folder", sorted(PUBLISHED.iterdir()), ids=lambda path: path.name)
def test_a_published_find_has_its_harm_in_both_engines(folder: Path) -> None:
    stored, kernel = finds.read(folder), json.loads((folder / "on-linux.json").read_text())
    for record in (stored, kernel):
        assert record["confirmed"]["harmful"] >= 19 and record["confirmed"]["seeds"] == 20
    again = finds.replay(folder, seeds=5)
    assert again["confirmed"]["harmful"] >= 4  # of 5, as 19 of 20
    assert again["confirmed"]["times"] == pytest.approx(stored["confirmed"]["times"], rel=0.5)


def test_the_page_of_many_laws_has_the_finds_and_maps_of_each(small: None, tmp_path: Path) -> None:
    found = {
        name: searching.search(
            searching.of_law("aqm", name), tmp_path / name, evaluations=16, workers=2, progress=quiet
        )
        for name in ("codel", "pie")
    }
    finds = sum(len(one.finds) for one in found.values())
    kernel = {"confirmed": {"times": 2.0, "low": 1.5, "high": 2.5}}
    first = next(iter(found["codel"].finds))
    (tmp_path / "codel" / "find" / first / "on-linux.json").write_text(json.dumps(kernel))
    page = unescape(searching.write_index(found, tmp_path).read_text())
    assert f"{finds} finds for 2 queues" in page and "2 (1.5 to 2.5)" in page
    for name, one in found.items():
        assert page.count(f'href="#{name}"') >= len(one.finds) and f'id="{name}"' in page
        assert all(record["sentence"] in page for record in one.finds.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "law", "harms"),
    [
        ("cc", "senders.py:IgnoresMarks", {"others", "delay"}),
        ("cc", "senders.py:Unscaled", {"alone"}),
        ("cc", "senders.py:StaysSmall", {"alone"}),
        ("aqm", "queues.py:Milliseconds", {"delay"}),
        ("aqm", "queues.py:OneRate", {"delay"}),
    ],
)
def test_a_planted_defect_is_found(kind: Kind, law: str, harms: set[str], tmp_path: Path) -> None:
    space = searching.of_law(kind, str(PLANTED / law))
    found = searching.search(space, tmp_path, evaluations=128, progress=quiet)
    assert harms <= found.finds.keys()
    assert all(found.finds[name]["confirmed"]["low"] > 1.5 for name in harms)


def test_a_law_that_raises_an_error_ends_the_search_with_the_path(small: None, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from ecnlab.userlaws import QueueLaw\n\n\n"
        "class Bad(QueueLaw):\n"
        "    def on_enqueue(self, packet, queue, now, random):\n"
        "        return 1 / max(3 - queue.packets, 0) and 'pass'\n"
    )
    done = cli("search", "aqm", tmp_path / "bad.py:Bad", "--evaluations", 8, "--out", tmp_path / "bad")
    assert done.returncode == 7 and "division by zero" in done.stderr and "find/error/scenario.toml" in done.stderr
    command = done.stderr.partition("`ecnlab ")[2].partition("`")[0].split()
    again = cli(*command)
    assert again.returncode == 7 and "division by zero" in again.stderr


def test_a_law_that_fits_no_path_is_an_error_and_one_that_fits_some_is_searched(
    small: None, cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "slow.toml").write_text(
        'format = 1\nduration = "1 s"\n'
        '[link.l]\nfrom = "a"\nto = "b"\nrate = "100 Mbps"\ndelay = "1 ms"\nqueue = "q"\n'
        '[queue.q]\ndiscipline = "tbf"\nrate = "20 Mbps"\nburst = "3 kB"\nlimit = "9 packets"\n'
        '[flow.f]\nfrom = "a"\nto = "b"\ntraffic = "ftp"\n'
    )
    done = cli("search", "aqm", tmp_path / "slow.toml", "--evaluations", 8, "--out", tmp_path / "slow")
    assert done.returncode == 2 and "rate" in done.stderr


def test_a_search_of_a_law_whose_file_has_changed_is_not_continued(small: None, tmp_path: Path) -> None:
    law = tmp_path / "law.py"
    text = (PLANTED / "queues.py").read_text()
    law.write_text(text)
    searched(tmp_path / "one", 4, f"{law}:OneRate")
    law.write_text(text.replace("0.010", "0.011"))
    with pytest.raises(FolderError, match="of another state of its file"):
        searched(tmp_path / "one", 4, f"{law}:OneRate")

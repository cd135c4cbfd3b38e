"""`ecnlab search space`: the file with its errors, points and their cells, a small search, its finds, and its continuation."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Cli

from ecnlab import searching
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.runs.scenario_files import with_paths
from ecnlab.scenario.files import read_experiment
from ecnlab.searching import FileSpace, exploring, finds, search_file, shrinking
from ecnlab.searching.choices import Choices, simpler
from ecnlab.searching.search_file import Choice

EXAMPLE = Path(__file__).parents[2] / "examples" / "search"

SCENARIO = """format = 1
title = "One link"
duration = "2 s"
warmup = "1 s"
[link.pipe]
from = "a"
to = "b"
rate = "2 Mbps"
delay = "10 ms"
queue = "red"
[queue.red]
discipline = "red"
limit = "60 packets"
min_th = "5 packets"
max_th = "30 packets"
max_p = 0.1
[queue.codel]
discipline = "codel"
limit = "60 packets"
[flow.f]
from = "a"
to = "b"
traffic = "ftp"
"""

EXPERIMENT = """format = 1
scenario = "scenario.toml"
replicates = 2
[set]
"tcp.default.profile" = "linux-7"
[arm.codel]
set = { "link.pipe.queue" = "codel" }
[arm.red]
set = { "link.pipe.queue" = "red" }
[metrics]
delay = { table = "links", column = "sojourn_mean_s", where = { link = "pipe" } }
use = { table = "links", column = "utilisation" }
less = { difference = ["use", "delay"] }
"""

SEARCH = """format = 1
title = "Where does RED lose?"
experiment = "experiment.toml"
law = "red"

[choice.rate]
path = "link.pipe.rate"
values = [
  "2 Mbps",
  "500 kbps",
  "1 Mbps",
]

[choice.min_th]
path = "queue.red.min_th"
range = ["5 packets", "28 packets"]
steps = 4

[choice.flows]
points = [{ label = "one", set = {} }, { label = "three", set = { "flow.f.count" = 3 } }]

[harm.delay]
metric = "delay"
worse = "high"
least = "5 ms"
"""


def quiet(_name: str) -> Callable[[int, int], None]:
    return lambda _done, _all: None


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A search with generations of 8 points and few seeds."""
    for module in (exploring, searching.searching):
        monkeypatch.setattr(module, "SIZE", 8)
    monkeypatch.setattr(shrinking, "SEEDS", 1)
    monkeypatch.setattr(finds, "SEEDS", 4)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    (tmp_path / "search.toml").write_text(SEARCH)
    return tmp_path / "search.toml"


# ---- the file


@pytest.mark.parametrize(
    ("of", "to", "message"),
    [
        ("law =", "lwa =", ": no key is called 'lwa'; did you mean 'law'?"),
        ('law = "red"', 'law = "rde"', ":4: law: no arm is called 'rde'; did you mean 'red'?"),
        (
            'path = "link.pipe.rate"',
            'path = "link.pipe.rate"\nrange = [1, 2]',
            ": choice.rate: a choice needs one of 'range', 'values' and 'points'",
        ),
        ('["5 packets", "28 packets"]', '["5 packets", "28 kB"]', ":16: choice.min_th.range: the ends of 'range' and 'step' have"),
        ("steps = 4", "steps = 1", ": choice.min_th: a choice needs two or more values"),
        ('"500 kbps"', '"2 Mbps"', ":8: choice.rate.values: two values have the same label"),
        (
            '"1 Mbps"',
            '"1 Mpbs"',
            ":8: choice.rate.values: '1 Mpbs' in the arm red: `link.pipe.rate`: `1 Mpbs` is not a rate",
        ),
        (
            '"28 packets"]',
            '"31 packets"]',
            ":16: choice.min_th.range: '31 packets' in the arm red: `queue.red.min_th`: 31 packets must be less than max_th, 30 packets",
        ),
        ('"queue.red.min_th"', '"link.pipe.queue"\nvalues = ["red", "codel"]', "a choice needs one of"),
        ('"flow.f.count" = 3', '"link.pipe.rate" = "9 Mbps"', ":19: choice.flows: rate sets 'link.pipe.rate', too"),
        ('metric = "delay"', 'metric = "dealy"', ":23: harm.delay.metric: no metric is called 'dealy'; did you mean 'delay'?"),
        ('metric = "delay"', 'metric = "less"', ":23: harm.delay.metric: less can be negative, and harm is a ratio"),
        ('least = "5 ms"', 'least = "5 kB"', ":25: harm.delay.least: '5 kB' is no value above 0 of delay, whose unit is s: write one such as \"1 ms\""),
        ('least = "5 ms"', "least = 0", ":25: harm.delay.least: 0 is no value above 0"),
        ('least = "5 ms"', "least = nan", ":25: harm.delay.least: nan is no value above 0"),
        ('"1 Mbps"', "inf", ":8: choice.rate.values: a value is no text, finite number, true or false"),
        ("steps = 4", "steps = 1000000000", ": choice.min_th: 'steps' is at most 100"),
        ("[harm.delay]", "[harm.error]", "harm.error: a kind of harm is the name of a folder"),
        ('least = "5 ms"', 'least = "5 ms"\n[map]\ncolumns = "rate"\nrows = "flow"', ":28: map.rows: no choice is called 'flow'; did you mean 'flows'?"),
    ],
)  # fmt: skip
def test_an_error_names_file_line_key_and_remedy(file: Path, of: str, to: str, message: str) -> None:
    assert of in SEARCH
    file.write_text(SEARCH.replace(of, to))
    with pytest.raises(EcnlabError) as error:
        FileSpace(file)
    assert str(error.value).startswith(str(file)) and message in str(error.value)


def test_choices_without_effect_and_experiments_with_a_grid_are_errors(file: Path) -> None:
    for text, message in (
        (EXPERIMENT.replace('link.pipe.queue" =', 'link.pipe.rate" = "1 Mbps", "link.pipe.queue" ='), ":6: choice.rate: changes no scenario"),
        (f'{EXPERIMENT}[grid.d]\npath = "duration"\nvalues = ["3 s"]\n', ":3: experiment: .* has the grid d: make it choices"),
        (EXPERIMENT.replace('[arm.red]\nset = { "link.pipe.queue" = "red" }\n', ""), ":3: experiment: .* has not two arms"),
    ):  # fmt: skip
        (file.parent / "experiment.toml").write_text(text)
        with pytest.raises(EcnlabError, match=message):
            FileSpace(file)


def test_a_range_has_its_ends_and_short_values_between() -> None:
    assert list(Choice(path="a", range=("5 kB", "60 kB"), log=True, steps=4).options()) == [
        "5 kB",
        "11 kB",  # 5 * 12^(1/3) = 11.4
        "26 kB",  # 5 * 12^(2/3) = 26.2
        "60 kB",
    ]
    assert [*Choice(path="a", range=(1, 3)).options().values()] == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert list(Choice(path="a", range=(0.1, 0.2), steps=3).options()) == ["0.1", "0.15", "0.2"]


def test_axes_are_in_order_of_size_if_their_values_have_one() -> None:
    assert search_file.ordered(["2 Mbps", "500 kbps", "1 Gbps"]) == ["500 kbps", "2 Mbps", "1 Gbps"]
    assert search_file.ordered(["8", "16", "1"]) == ["1", "8", "16"]
    assert search_file.ordered(["none", "ten", "2"]) == ["none", "ten", "2"]


# ---- points


def test_the_first_values_are_the_simplest_point_and_choices_apply_before_the_arm(file: Path) -> None:
    space = FileSpace(file)
    assert space.subject == "red" and space.others == ["codel"] and space.link == "pipe"
    simplest = space.candidate(Choices({}))
    assert simplest.words == ["rate 2 Mbps", "min_th 5 packets", "flows one"]
    assert space.columns.labels == ["500 kbps", "1 Mbps", "2 Mbps"] and simplest.cell == (2, 0)
    one = space.candidate(Choices({"rate": 1, "min_th": 2, "flows": 1}))
    assert one.cell == (0, 2) and one.words == [
        "rate 500 kbps",
        "min_th 20 packets",
        "flows three",
    ]  # 5 + 2/3 * 23 = 20.3
    assert simpler(one.genes)[0] == {"rate": 0, "min_th": 2, "flows": 1}
    found = space.scenario(one, "codel").resolved
    assert found["link"]["pipe"]["queue"] == "codel" and found["link"]["pipe"]["rate"] == "500 kbps"
    assert found["queue"]["red"]["min_th"] == "20 packets" and found["flow"]["f"]["count"] == 3


# ---- the search


def searched(file: Path, out: str, evaluations: int) -> Path:
    searching.search(FileSpace(file), file.parent / out, evaluations=evaluations, workers=2, progress=quiet)
    return file.parent / out


def test_a_find_replays_and_a_search_continues_unless_a_file_or_the_build_has_changed(
    file: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = searched(file, "one", 8)
    searched(file, "one", 16)
    whole = searched(file, "whole", 16)
    for name in ("search.json", "find/delay/scenario.toml", "find/delay/find.toml", "find/delay/find.json"):
        assert (one / name).read_bytes() == (whole / name).read_bytes()
    record = json.loads((one / "search.json").read_text())
    assert sorted(record["space"]["files"]) == ["experiment.toml", "scenario.toml", "search.toml"]
    assert record["finds"]["delay"]["confirmed"]["harmful"] == 4 and record["finds"]["delay"]["arm"] == "red"
    again = cli("search", "replay", one / "find" / "delay", "--seeds", 4)
    assert again.returncode == 0 and again.stdout.startswith("red has a delay of "), again.stderr
    experiment = read_experiment(one / "find" / "delay" / "find.toml")
    space = FileSpace(file)
    point = space.candidate(Choices(_genes(space, record["finds"]["delay"]["path"])))
    hashes = {run.arm: run.scenario.hash for run in experiment.runs}
    assert hashes == {arm: space.scenario(point, arm).hash for arm in ("codel", "red")}
    (file.parent / "scenario.toml").write_text(SCENARIO.replace("10 ms", "11 ms"))
    with pytest.raises(FolderError, match="of another state of its files"):
        searched(file, "one", 16)
    (file.parent / "scenario.toml").write_text(SCENARIO)
    monkeypatch.setattr(searching.searching, "build", lambda: "other")
    with pytest.raises(FolderError, match=r"by another build of ecnlab .*--out, or remove"):
        searched(file, "one", 16)


def _genes(space: FileSpace, words: list[str]) -> dict[str, int]:
    """The choices that give ``words``."""
    return {
        name: next(number for number in range(4) if space.candidate(Choices({name: number})).words[place] == words[place])
        for place, name in enumerate(("rate", "min_th", "flows"))
    }  # fmt: skip


def test_combinations_that_the_scenario_refuses_are_no_points(file: Path) -> None:
    both = SEARCH.replace('"queue.red.min_th"', '"queue.red.max_th"').replace("5 packets", "20 packets")
    late = '[choice.least]\npath = "queue.red.min_th"\nvalues = ["15 packets", "25 packets"]\n'
    file.write_text(both + late)  # 25 packets is not below 20 packets
    assert (searched(file, "out", 8) / "search.json").is_file()
    never = both.replace('range = ["20 packets", "28 packets"]\nsteps = 4', 'values = ["26 packets", "27 packets"]')
    file.write_text(never + late.replace('"15 packets"', '"28 packets"').replace("25 packets", "29 packets"))
    with pytest.raises(EcnlabError, match=r"(?s)refuses all 8 points of the first generation; the first: .*max_th"):
        searched(file, "never", 8)


def test_files_of_laws_are_found_from_the_folder_of_a_find(file: Path, cli: Cli) -> None:
    (file.parent / "laws").mkdir()
    shutil.copy(Path(__file__).parent / "planted" / "queues.py", file.parent / "laws")
    text = EXPERIMENT.replace(
        '"link.pipe.queue" = "red"', '"queue.red" = { discipline = { python = "laws/queues.py:OneRate" } }'
    )
    (file.parent / "experiment.toml").write_text(text)
    file.write_text(SEARCH.replace("[choice.min_th]\npath", '[choice.delay]\npath = "link.pipe.delay"\nvalues = ["10 ms", "5 ms"]\n[choice.min_th]\npath'))  # fmt: skip
    space = FileSpace(file)
    assert "laws/queues.py" in space.question()["space"]["files"]
    folder = file.parent / "deep" / "find"
    finds.write(folder, space, space.candidate(Choices({})), space.harms[0], 1)
    assert '"../../laws/queues.py:OneRate"' in (folder / "find.toml").read_text()
    assert cli("check", folder / "find.toml").returncode == 0


def test_paths_of_laws_and_traces_are_changed_and_names_are_not() -> None:
    tables = {
        "link": {"csv": {"rate": {"csv": "a.csv"}, "from": "a"}},
        "queue.q.discipline.python": "b.py:C",
        "flow": [{"delay": {"mahimahi": "d"}}],
    }
    assert with_paths(tables, lambda path: Path("..") / path) == {
        "link": {"csv": {"rate": {"csv": "../a.csv"}, "from": "a"}},
        "queue.q.discipline.python": "../b.py:C",
        "flow": [{"delay": {"mahimahi": "../d"}}],
    }


def test_the_example_is_a_valid_space() -> None:
    space = FileSpace(EXAMPLE / "red.toml")
    assert space.subject == "red" and space.columns.labels[0] == "1 Mbps"

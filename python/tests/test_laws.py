"""The facts of laws come from the core, a file of Python has what Linux and the closed forms have of one, and no other knows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from ecnlab import _core, laws
from ecnlab.columns import FLOW_SERIES, LINKS, QUEUE_SERIES, TABLES
from ecnlab.laws.kinds import Drops
from ecnlab.linux.disciplines import qdisc
from ecnlab.linux.findings import Findings

SOURCES = Path(laws.__file__).parents[1]
KNOWN = {family: members for family, members in _core.laws().items() if family in laws.FAMILIES}

CAPTURES = ("trace/", "cli/trace.py", "types.py")
"""The analysis of captures has standards by the names of laws, and a column for SACK."""


def test_each_file_is_of_a_law_of_the_registry() -> None:
    for family in laws.FAMILIES:
        files = {path.stem for path in (SOURCES / "laws" / family).glob("*.py")} - {"__init__"}
        assert files <= {name.replace("-", "_").replace("+", "_plus") for name in KNOWN[family]}, family


def test_every_file_has_what_its_family_has_and_none_is_empty() -> None:
    found = (laws.queues(), laws.windows(), laws.recoveries(), laws.feedbacks())
    for kind, members in zip(laws.FAMILIES.values(), found, strict=True):
        assert members and all(isinstance(law, kind) and law != kind() for law in members.values())


def test_columns_of_laws_stand_in_the_tables() -> None:
    for name, table in (("links", LINKS), ("queue_series", QUEUE_SERIES), ("flow_series", FLOW_SERIES)):
        assert set(laws.columns(name)) < set(table)


def test_every_law_has_a_label_a_summary_and_a_reference_or_is_ours() -> None:
    ours = set()
    for family, members in _core.laws().items():
        for name, facts in members.items():
            assert facts["label"] and facts["summary"], name
            if not facts["reference"] and family != "traffic":
                ours.add(f"{family} {name}")
    assert ours == {"queue external", "queue classes", "congestion external"}


def test_a_law_that_the_core_does_not_know_is_called_as_scenarios_call_it() -> None:
    assert laws.label("ecn", "ecn-becn") == "ECN+BECN"
    assert laws.label("congestion", "my-law") == "my-law"


def test_a_line_about_a_queue_has_the_keys_that_its_law_shows() -> None:
    assert laws.shown({"discipline": "codel", "target": "5 ms", "interval": "100 ms", "mtu": "1514 B"}) == [
        "target 5 ms",
        "interval 100 ms",
    ]
    shares = {"a": {"rate": "1 Mbps", "ceil": "2 Mbps"}, "b": {"rate": "3 Mbps"}}
    assert laws.shown({"discipline": "htb", "sharing": shares}) == ["a rate 1 Mbps", "b rate 3 Mbps", "a ceil 2 Mbps"]
    assert laws.shown({"discipline": "droptail"}) == []


def test_a_queue_acts_above_the_value_of_its_table_or_of_its_profile() -> None:
    assert [row[:2] for row in laws.acts_above({"discipline": "step", "threshold": "1 ms"})] == [("threshold", "1 ms")]
    dual = {"discipline": "dualpi2", "profile": "linux", "target": "15 ms"}
    assert [row[:2] for row in laws.acts_above(dual)] == [("step_thresh", "1 ms"), ("target", "15 ms")]
    assert [row[0] for row in laws.acts_above(dual | {"profile": "rfc9332"})] == ["target"]
    assert laws.acts_above({"discipline": "red", "min_th": "5 packets"}) == []


def test_drops_of_red_are_not_told_apart_by_the_kernel_those_of_pie_are_and_a_fifo_has_one_kind() -> None:
    counters = {"packets": 100, "drops": 7, "full": 3}
    assert laws.discipline("red").drops(counters) == Drops(early=None, forced=None, tail=3)
    assert laws.discipline("pie").drops(counters) == Drops(early=4, forced=0, tail=3)
    assert laws.discipline("droptail").drops(counters) == Drops(early=0, forced=0, tail=7)


def test_a_queue_that_the_kernel_has_not_got_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    here = dict(laws.queues()) | {"toy": laws.kinds.Queue()}
    monkeypatch.setattr(laws, "queues", lambda: here)
    found = Findings()
    assert qdisc({"discipline": "toy"}, "q", 10**6, found) == ""
    assert found._refused == [
        (
            "queue.q.discipline",
            "`queue.q`: the Linux engine has no `toy`",
            "it has droptail, red, codel, pie, choke, fq_codel, fq_pie, tbf, cake, dualpi2 and sfb",
        )
    ]


def test_shared_code_asks_for_no_law_by_name() -> None:
    settings = next(iter(_core.profiles().values()))["settings"]  # `sack` is a setting, too, and `classes` a table
    names = {name for members in KNOWN.values() for name in members} - set(settings) - set(TABLES)
    asked = [f"{where} names {name}" for path in shared() for where, name in named(path) if name in names]
    assert not asked, "laws named by what all share: " + ", ".join(asked)


def test_the_search_for_names_finds_them(tmp_path: Path) -> None:
    source = tmp_path / "asks.py"
    source.write_text(
        'from ecnlab.laws.queue import red\nimport ecnlab.laws.ecn.becn\n__all__ = ["sack"]\nif law == "rack": ...\n'
    )
    assert [name for _, name in named(source)] == ["red", "becn", "rack"]


def shared() -> Iterator[Path]:
    """Sources that are no law's, no single paper's and not the analysis of captures."""
    for path in sorted(SOURCES.rglob("*.py")):
        inside = path.relative_to(SOURCES).as_posix()
        of_a_law = inside.startswith("laws/") and inside.count("/") == 2
        of_a_paper = inside.startswith("papers/") and inside.count("/") == 2
        if not of_a_law and not of_a_paper and not inside.startswith(CAPTURES):
            yield path


def named(path: Path) -> Iterator[tuple[str, str]]:
    """(place, word) of every text constant of a source, and of what it imports from the folders of laws."""
    tree = ast.parse(path.read_text())
    listed = [n.value for n in ast.walk(tree) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"]
    skipped = {id(inner) for value in listed for inner in ast.walk(value)}
    for node in ast.walk(tree):
        words: list[str] = []
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            words = [node.value]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ecnlab.laws."):
            words = [*(node.module or "").split(".")[3:], *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            words = [part for a in node.names if a.name.startswith("ecnlab.laws.") for part in a.name.split(".")[3:]]
        yield from ((f"{path.name}:{node.lineno}", word.replace("_", "-")) for word in words)

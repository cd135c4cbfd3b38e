"""The facts of laws come from the core, a file of Python has what Linux and the closed forms have of one, and no other knows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ecnlab import _core, laws
from ecnlab.folder.columns import FLOW_SERIES, LINKS, QUEUE_SERIES, TABLES
from ecnlab.laws.kernel.findings import Findings
from ecnlab.linux import kernel
from ecnlab.linux.disciplines import qdisc

SOURCES = Path(laws.__file__).parents[1]
KNOWN = {family: members for family, members in _core.laws().items() if family in laws.FAMILIES}

CAPTURES = ("trace/", "cli/trace.py", "base/types.py")
"""The analysis of captures has standards by the names of laws, and a column for SACK."""

TOOLS_OF_LINKS = {"tbf"}
"""Laws whose discipline in the kernel is also what makes a link: its rate, on Linux."""

NO_LAWS = {"IFF_NO_PI"}
"""Identifiers of the kernel that have a law's name as a part and another meaning: packet information of a TUN device."""

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^#(?!include|define)[^\n]*", re.DOTALL | re.MULTILINE)
"""A comment in C, or in the kernel's configuration."""


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
    assert ours == {"queue user-defined", "queue classes", "congestion user-defined"}


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
    known = names()
    any_name = re.compile(rf"\b({'|'.join(map(re.escape, known))})\b")
    sources = [path for path in shared() if any_name.search(path.read_text().replace("_", "-"))]
    asked = [f"{where} names {name}" for path in sources for where, name in named(path) if name in known]
    assert not asked, "laws named by what all share: " + ", ".join(asked)


def test_the_guest_the_kernels_configuration_and_patches_name_no_law() -> None:
    sources = {path.name: path.read_text() for kind in "ch" for path in SOURCES.rglob(f"*.{kind}")}
    sources |= {path.name: path.read_text() for path in SOURCES.rglob("*.config")}
    sources |= {f"patch {one.name}": f"{one.name} {' '.join(map(' '.join, one.edits))}" for one in kernel.PATCHES}
    assert {"queues.c", "guest.h", "line.c", "kernel.config", "patch hz-1000"} <= set(sources)
    found = [f"{where} names {name}" for where, text in sources.items() for name in sorted(words(text) & names())]
    assert not [one for one in found if one.split()[-1] not in TOOLS_OF_LINKS], found


def test_the_search_for_names_in_other_sources_finds_them() -> None:
    assert words('if (!strcmp(kind, "red")) {}') & names() == {"red"}
    assert words("struct tc_fq_codel_xstats codel = {0}; /* pie */\n// sfb") & names() == {"fq", "fq-codel", "codel"}
    assert words("CONFIG_NET_SCH_CHOKE=y\n# cake\n# CONFIG_NET_SCH_DUALPI2 is not set") & names() == {"choke"}
    assert words("net/sched/sch_sfb.c") & names() == {"sfb"}
    assert not words("int shared, pieces, dropped; next_red2();") & names()


def names() -> set[str]:
    """Names of laws that mean nothing else: `sack` is a setting, too, and `classes` a table."""
    settings = next(iter(_core.profiles().values()))["settings"]
    own = {name for members in KNOWN.values() for name in members} - set(settings) - set(TABLES)
    return {name.replace("_", "-") for name in own}


def words(text: str) -> set[str]:
    """The identifiers in ``text`` outside comments, and the parts of them that ``_`` separates, as laws are called."""
    found: set[str] = set()
    for identifier in set(re.findall(r"\w+", COMMENT.sub("", text))) - NO_LAWS:
        parts = identifier.lower().split("_")
        found |= {"-".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    return found


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
        of_a_law = inside.startswith(tuple(f"laws/{family}/" for family in laws.FAMILIES))
        of_a_paper = inside.startswith("papers/") and inside.count("/") == 2
        if not of_a_law and not of_a_paper and not inside.startswith(CAPTURES):
            yield path


def named(path: Path) -> Iterator[tuple[str, str]]:
    """(place, word) of every text constant of a source, and of what it imports from the folders of laws."""
    tree = ast.parse(path.read_text())
    listed = [
        n.value for n in ast.walk(tree) if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__"
    ]
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

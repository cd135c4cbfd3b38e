"""A law is one file in Python, too: each law of the registry has its file, and what all share asks for none by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ecnlab import _core, laws
from ecnlab.columns import LINKS, QUEUE_SERIES, TABLES
from ecnlab.errors import EcnlabError
from ecnlab.linux import kernel
from ecnlab.linux.disciplines import qdisc
from ecnlab.linux.findings import Findings

SOURCES = Path(laws.__file__).parents[1]
KNOWN = {family: members for family, members in _core.laws().items() if family in laws.FAMILIES}

CAPTURES = ("trace/", "cli/trace.py", "types.py")
"""The analysis of captures has standards by the names of laws, and a column for SACK."""

TOOLS_OF_LINKS = {"tbf"}
"""Laws whose discipline in the kernel is also what makes a link: its rate, on Linux."""

NO_LAWS = {"IFF_NO_PI"}
"""Identifiers of the kernel that have a law's name as a part and another meaning: packet information of a TUN device."""

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^#(?!include|define)[^\n]*", re.DOTALL | re.MULTILINE)
"""A comment in C, or in the kernel's configuration."""


def test_each_law_of_the_registry_has_its_file_and_no_other_has() -> None:
    for family, members in KNOWN.items():
        files = {path.stem for path in (SOURCES / "laws" / family).glob("*.py")} - {"__init__"}
        # The scheme "off" is the absence of one.
        assert files == {name.replace("-", "_").replace("+", "_plus") for name in members}, family


def test_every_file_tells_what_its_family_tells() -> None:
    told = (laws.queues(), laws.windows(), laws.slow_starts(), laws.recoveries(), laws.feedbacks())
    for kind, members in zip(laws.FAMILIES.values(), told, strict=True):
        assert members and all(isinstance(law, kind) for law in members.values())


def test_columns_of_laws_stand_in_the_tables() -> None:
    assert set(laws.columns("links")) < set(LINKS)
    assert set(laws.columns("queue_series")) < set(QUEUE_SERIES)


def test_a_law_without_a_file_is_called_as_scenarios_call_it() -> None:
    assert laws.label("ecn-becn", laws.feedbacks()) == "ECN+BECN"
    assert laws.label("my-law", laws.windows()) == "my-law"


def test_a_queue_without_a_file_is_told_which_to_write() -> None:
    with pytest.raises(EcnlabError, match=r"ecnlab/laws/queue/my_queue\.py"):
        laws.discipline("my-queue")


def test_a_queue_that_the_kernel_has_not_got_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    here = dict(laws.queues()) | {"toy": laws.kinds.Queue(label="Toy")}
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
    asked = [f"{where} names {name}" for path in shared() for where, name in named(path) if name in known]
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

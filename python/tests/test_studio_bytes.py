"""The studio's module, in Node, beside the native simulator: the same bytes in every column of every table."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_studio import document

from ecnlab import EcnlabError, Experiment, Scenario, SpecError
from ecnlab._core import laws
from ecnlab.studio.opened import address, traces

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "studio/build/wasm/ecnlab_studio_bg.wasm"

pytestmark = [
    pytest.mark.skipif(not MODULE.exists(), reason="the studio is not built: `make studio`"),
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]

WIDTHS = {"UInt64": "Q", "UInt32": "I", "Float64": "d", "Boolean": "?"}


def values(column: tuple[Any, Any]) -> list[Any]:
    """The values of a column as the extension module returns it: a list, or bytes with a type or with names."""
    if isinstance(column[0], bytes):
        return [column[1][code] for (code,) in struct.iter_unpack("<I", column[0])]
    if isinstance(column[1], bytes):
        return [value for (value,) in struct.iter_unpack("<" + WIDTHS[column[0]], column[1])]
    return list(column[1])


def digest(column: tuple[Any, Any]) -> str:
    """SHA-256 of a column, by the rule in studio/test/digests.mjs."""
    here = values(column)
    if isinstance(column[0], bytes) or column[0] == "String":
        content = json.dumps(here, separators=(",", ":"), ensure_ascii=False).encode()
    elif column[0] == "Float64":
        nan = float("nan")
        content = struct.pack(f"<{len(here)}d", *(nan if value is None or value != value else value for value in here))
    else:
        content = struct.pack(f"<{len(here)}Q", *map(int, here))
    return hashlib.sha256(content).hexdigest()


def native(scenario: Scenario, seed: int) -> dict[str, str]:
    tables = scenario.run(seed)
    return {f"{table}.{name}": digest(column) for table, columns in tables.items() for name, column in columns.items()}


def case(name: str, scenario: Scenario, folder: Path, seed: int) -> dict[str, Any]:
    return {"name": name, "text": scenario.to_toml(), "files": dict(traces(scenario.resolved, folder)), "seed": seed}


def in_node(cases: list[dict[str, Any]]) -> dict[str, Any]:
    """The answers of studio/test/digests.mjs to `cases`, by their names."""
    done = subprocess.run(
        ["node", ROOT / "studio/test/digests.mjs"], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(scenarios: dict[str, Scenario], folder: Path = ROOT, seed: int = 1) -> list[str]:
    """The scenarios whose bytes differ, each with its first column that does."""
    found = in_node([case(name, scenario, folder, seed) for name, scenario in scenarios.items()])
    differ = []
    for name, scenario in scenarios.items():
        here, there = native(scenario, seed), found[name]
        assert "error" not in there, (name, there)
        wrong = [
            column
            for column in here.keys() | there["digests"].keys()
            if here.get(column) != there["digests"].get(column)
        ]
        differ += [f"{name}: {min(wrong)} and {len(wrong) - 1} more"] if wrong else []
        assert there["hash"] == scenario.hash, name
    return differ


LINK = """
format = 1
duration = "{duration} s"
warmup = "1 s"
sample = "100 ms"
packets = {packets}
[link.bottleneck]
from = "router"
to = "client"
rate = "{rate} Mbps"
delay = {{ uniform = ["{delay} ms", "{more} ms"] }}
loss = {loss}
queue = "q"
[link.access]
from = "server"
to = "router"
rate = "1 Gbps"
delay = "1 ms"
[queue.q]
discipline = "{discipline}"
limit = "{limit} packets"
{marks}
"""
FLOW = """
[tcp.{law}{index}]
profile = "{profile}"
congestion = "{law}"
ecn = "{ecn}"
[flow.f{index}]
from = "server"
to = "client"
count = {count}
traffic = {traffic}
tcp = "{law}{index}"
start = {{ uniform = ["0 s", "1 s"] }}
"""
TRAFFIC = ('"ftp"', '{ kind = "crr", request = "200 B", response = "20 kB", think = "200 ms" }', '"web"')


def drawn(number: int) -> str:
    """A scenario drawn from `number`: any queue, up to three kinds of senders, of any window law; it may have errors."""
    draw = random.Random(number)
    known = laws()
    text = LINK.format(
        duration=draw.choice((3, 8)),
        packets=draw.choice(("true", "false")),
        rate=draw.choice((1, 5, 20)),
        delay=draw.choice((2, 20)),
        more=draw.choice((21, 80)),
        loss=draw.choice((0, 0, 0.01)),
        discipline=draw.choice(sorted(known["queue"])),
        limit=draw.choice((20, 100, 400)),
        marks=draw.choice(("ecn = true", "")),
    )
    for index in range(draw.randint(1, 3)):
        text += FLOW.format(
            index=index,
            profile=draw.choice(("modern", "linux-7", "l4s")),
            law=draw.choice(sorted(known["congestion"])),
            ecn=draw.choice(("off", "rfc3168", "accecn")),
            count=draw.choice((1, 1, 4)),
            traffic=draw.choice(TRAFFIC),
        )
    return text


def random_scenarios(wanted: int, first: int = 0) -> dict[str, Scenario]:
    """The first `wanted` valid scenarios of `drawn` from `first` on."""
    found: dict[str, Scenario] = {}
    for number in range(first, first + 100 * wanted):
        name = f"random-{number}"
        try:
            found[name] = Scenario(name, drawn(number))
        except SpecError:
            continue
        if len(found) == wanted:
            return found
    raise AssertionError(f"only {len(found)} of the scenarios are valid")


def test_random_scenarios_have_the_same_bytes() -> None:
    assert compare(random_scenarios(6)) == []


@pytest.mark.slow
def test_two_hundred_random_scenarios_have_the_same_bytes() -> None:
    assert compare(random_scenarios(200, 1000)) == []


def examples() -> dict[str, Scenario]:
    """Each example: a scenario, or the first two of an experiment. Those with QUIC or Python are left out."""
    found: dict[str, Scenario] = {}
    for path in sorted((ROOT / "examples").glob("*.toml")):
        text = path.read_text()
        if "python = " in text or "quic" in path.name:
            continue
        if "scenario = " in text:
            scenarios = Experiment(str(path), text).scenarios
            found |= {f"{path.name} {number}": scenario for number, scenario in enumerate(scenarios[:2])}
        else:
            found[path.name] = Scenario(str(path), text)
    return found


@pytest.mark.slow
def test_the_examples_have_the_same_bytes() -> None:
    assert compare(examples(), ROOT / "examples") == []


def test_the_module_reads_the_scenarios_that_links_open_and_refuses_the_others() -> None:
    cases, linked = [], set()
    for path in sorted((ROOT / "examples").rglob("*.toml")):
        name, text, files = str(path), path.read_text(), {}
        try:
            files = document(address(path))["files"]
            linked.add(name)
        except (EcnlabError, SpecError):
            pass
        cases.append({"name": name, "text": text, "files": files, "seed": None})
    found = in_node(cases)
    assert {name for name, answer in found.items() if "error" not in answer} == linked

"""A small scenario and experiment, and the command line as a user calls it."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from forked_cli import ForkedCli

from ecnlab.base import locks
from ecnlab.base.errors import EcnlabError
from ecnlab.folder.names import LOCK
from ecnlab.linux.kernel import Kernel, find

os.environ["ECNLAB_CACHE"] = "off"  # also for processes that tests begin; `test_cache.py` has caches of its own

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell has put the tests into the background

os.fsync = lambda _descriptor: None  # tests wait for no disk: none ends the machine


def mostly_slow(values: Iterable[Any], *fast: Any) -> list[Any]:
    """The parameters ``values`` of a test; all but those of ``fast`` are of `make slow`."""
    return [value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in values]


def first_fast(number: int, values: Sequence[Any]) -> list[Any]:
    """The parameters ``values`` of a test, tuples if it has several; all after the first ``number`` are of `make slow`."""
    rest = (value if isinstance(value, tuple) else (value,) for value in values[number:])
    return [*values[:number], *(pytest.param(*value, marks=pytest.mark.slow) for value in rest)]


def imported(path: Path) -> ModuleType:
    """The module in the file ``path``, which is not of the package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCENARIO = """\
format = 1
title = "two flows, one pipe"
duration = "4 s"
warmup = "1 s"
sample = "100 ms"
profile = "modern"

[link.pipe]
from = "r1"
to = "r2"
rate = "2 Mbps"
delay = "10 ms"
queue = "red"

[link.left]
from = "server"
to = "r1"
rate = "10 Mbps"
delay = "1 ms"

[link.right]
from = "r2"
to = "client"
rate = "10 Mbps"
delay = "1 ms"

[queue.red]
discipline = "red"
limit = "60 packets"
min_th = "5 packets"
max_th = "15 packets"
max_p = 0.1
weight = 0.002
ecn = true

[tcp.ecn]
ecn = "rfc3168"

[tcp.plain]
ecn = "off"

[flow.marked]
from = "server"
to = "client"
traffic = "ftp"
tcp = "ecn"
start = { uniform = ["0 s", "100 ms"] }

[flow.dropped]
from = "server"
to = "client"
traffic = "ftp"
tcp = "plain"
start = { uniform = ["0 s", "100 ms"] }
"""

EXPERIMENT = """\
format = 1
title = "marks against drops"
scenario = "pipe.toml"
replicates = 3
seed = 1

[grid.max_p]
path = "queue.red.max_p"
values = [0.02, 0.1]
labels = ["low", "high"]

[arm.red]
set = {}

[arm.blind]
set = { "queue.red.ecn" = false }

[metrics]
marked = { table = "flows", column = "goodput_bps", where = { group = "marked" }, aggregate = "mean" }
dropped = { table = "flows", column = "goodput_bps", where = { group = "dropped" }, aggregate = "mean" }
advantage = { ratio = ["marked", "dropped"], minus_one = true }
"""

Cli = Callable[..., subprocess.CompletedProcess[str]]


def kernel_or_skip() -> Kernel:
    """The kernel that `make linux` has built; without one the test is skipped."""
    try:
        return find()
    except EcnlabError as error:
        pytest.skip(f"{error} (`make linux`)")


def unlocked(folder: Path) -> None:
    """Wait until the workers of a killed command have ended, of which the last one releases the lock of its results."""
    if folder.exists():
        with (folder / LOCK).open("w") as lock:
            locks.acquire(lock.fileno(), wait=True)


def ecnlab_command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "ecnlab", *map(str, arguments)]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "pipe.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def experiment(scenario: Path) -> Path:
    path = scenario.with_name("gain.toml")
    path.write_text(EXPERIMENT)
    return path


@pytest.fixture
def slow_experiment(experiment: Path) -> Path:
    """Twelve runs of which each takes long enough to be interrupted."""
    scenario = experiment.with_name("pipe.toml")
    scenario.write_text(SCENARIO.replace('"4 s"', '"2000 s"').replace('sample = "100 ms"\n', ""))
    return experiment


@pytest.fixture(scope="session")
def forked() -> Iterator[ForkedCli]:
    """The command line in forks of one process; `cli` is that in the folder of the test."""
    with ForkedCli() as made:
        yield made


@pytest.fixture
def cli(tmp_path: Path, forked: ForkedCli) -> Cli:
    """The command line in a process of its own, in the folder of the test."""
    return lambda *arguments: forked.call([str(argument) for argument in arguments], tmp_path)


def assert_same_bytes(a: Path, b: Path) -> None:
    """Two folders hold the same Parquet files, byte for byte."""
    names = sorted(path.name for path in a.glob("*.parquet"))
    assert names
    assert names == sorted(path.name for path in b.glob("*.parquet"))
    assert [name for name in names if (a / name).read_bytes() != (b / name).read_bytes()] == []

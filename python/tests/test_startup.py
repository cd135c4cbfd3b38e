"""What `import ecnlab` and the command line load before they have anything to do: counted, as times differ by machine."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from conftest import first_fast

import ecnlab
from ecnlab.cli.lazy_commands import MODULES

HEAVY = {"jinja2", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "rich", "scipy"}
"""None is needed before there is a table, a figure or a page to make."""

REPORT = "import sys; print(*sorted(sys.modules), file=sys.stderr)"

SCENARIO = """
format = 1
duration = "1 s"

link.l = { from = "a", to = "b", rate = "1 Mbps", delay = "1 ms" }
flow.f = { from = "a", to = "b", traffic = "ftp" }
"""


def loaded(code: str, folder: Path | None = None) -> set[str]:
    """Which of `HEAVY` a fresh process has loaded after ``code``."""
    return HEAVY & {name.partition(".")[0] for name in modules(code, folder)}


@cache
def modules(code: str, folder: Path | None = None) -> frozenset[str]:
    """The names of all modules that a fresh process has loaded after ``code``."""
    guarded = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n{REPORT}"
    answer = subprocess.run([sys.executable, "-c", guarded], capture_output=True, text=True, check=True, cwd=folder)
    return frozenset(answer.stderr.splitlines()[-1].split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scenario `x.toml`."""
    made = tmp_path_factory.mktemp("startup")
    (made / "x.toml").write_text(SCENARIO)
    return made


def command(*arguments: str) -> str:
    return f"from ecnlab.cli import main; main({list(arguments)!r})"


def test_the_search_sees_what_is_loaded() -> None:
    assert loaded("import numpy") == {"numpy"}
    assert {"numpy", "polars"} <= loaded(
        "import ecnlab; ecnlab.base.lazy_imports.pl.Series; ecnlab.base.lazy_imports.np.array"
    )


def test_importing_the_package_loads_no_heavy_library() -> None:
    assert loaded("import ecnlab; ecnlab.run; ecnlab.sweep; ecnlab.load; ecnlab.trace; ecnlab.check") == set()


@pytest.mark.parametrize("code", ["import ecnlab", command("--help")])
def test_threads_are_not_loaded_before_they_are_needed(code: str) -> None:
    assert "concurrent.futures" not in modules(code)


@pytest.mark.parametrize(
    "arguments",
    first_fast(
        8,
        [
            ["check", "x.toml"],
            ["--help"],
            ["--version"],
            ["run", "--help"],
            ["laws"],
            ["schema"],
            ["sweep", "missing.toml"],
            ["show", "missing"],
            ["sweep", "--help"],
            ["show", "--help"],
            ["trace", "--help"],
            ["probe", "--help"],
            ["agree", "--help"],
            ["reproduce", "--help"],
            ["linux", "build", "--help"],
            ["profiles", "modern"],
            ["run", "missing.toml"],
            ["run", "--unknown"],
        ],
    ),
    ids=" ".join,
)
def test_a_command_without_tables_loads_no_heavy_library(arguments: list[str], folder: Path) -> None:
    assert loaded(command(*arguments), folder) == set()


@pytest.mark.parametrize("name", ["run", "check"])
def test_a_command_loads_no_other_command(name: str, folder: Path) -> None:
    there = modules(command(name, "x.toml"), folder)
    assert {module for module in MODULES.values() if f"ecnlab.cli.{module}" in there} == {name}


UNUSED = (
    *("ecnlab.api.loading", "ecnlab.api.sweep", "ecnlab.results.sweep", "ecnlab.runs.cluster", "ecnlab.runs.sweep"),
    "ecnlab.scenario.built",
)
"""Prefixes of modules that a run does not need."""


def test_a_run_loads_nothing_of_sweeps(folder: Path) -> None:
    there = modules(command("run", "x.toml"), folder)
    assert "ecnlab.runs.run" in there
    assert not [name for name in there if name.startswith(UNUSED)]


def test_importing_the_package_loads_no_run() -> None:
    assert "ecnlab.runs.run" not in modules("import ecnlab")


@pytest.mark.parametrize("name", ["scenario.read_scenario", "runs.sweep.sweep"])
def test_packages_are_found_without_an_import_of_their_own(name: str) -> None:
    subprocess.run([sys.executable, "-c", f"import ecnlab; ecnlab.{name}"], capture_output=True, check=True)


def test_every_name_of_the_package_is_there() -> None:
    """In a fresh process: a module with the name of a function would replace it."""
    code = "import ecnlab, ecnlab.trace.memory; from ecnlab import *; print([getattr(ecnlab, name) for name in ecnlab.__all__])"
    wanted = f"{code}; assert callable(ecnlab.trace) and set(ecnlab.__all__) <= set(dir(ecnlab)); ecnlab.sweep.__call__"
    subprocess.run([sys.executable, "-c", wanted], capture_output=True, check=True)
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = ecnlab.runn  # type: ignore[attr-defined]


def test_a_run_loads_the_file_of_its_own_queue_discipline(folder: Path) -> None:
    queue = 'queue.q = { discipline = "codel", limit = "100 packets" }\n'
    (folder / "codel.toml").write_text(SCENARIO.replace('delay = "1 ms"', 'delay = "1 ms", queue = "q"') + queue)
    files = "ecnlab.laws.queue."
    for scenario, own in (("x.toml", set()), ("codel.toml", {"codel"})):
        there = modules(command("run", scenario), folder)
        assert {name.removeprefix(files) for name in there if name.startswith(files)} == own
    assert list(folder.glob("results/codel*/manifest.json"))


def test_the_help_loads_every_command() -> None:
    assert {f"ecnlab.cli.{module}" for module in MODULES.values()} <= modules(command("--help"))


def test_a_small_run_loads_polars_only(folder: Path) -> None:
    assert loaded(command("run", "x.toml", "--json"), folder) == {"polars"}
    assert loaded(command("run", "x.toml"), folder) == {"polars"}


WAITING = """
import sys, time
from ecnlab.base.provenance import maker
from ecnlab.engines.packets import Packets
from ecnlab.runs.run import run

def tables(*arguments, **options):
    for _ in range(1000):
        if maker.cache_info().currsize and "polars" in sys.modules:
            return simulate(*arguments, **options)
        time.sleep(0.01)
    raise TimeoutError

simulate, Packets.tables = Packets.tables, tables
run("x.toml")
"""
"""A run whose simulation does not begin before its binary is hashed and Polars begins to load."""


def test_polars_loads_and_the_binary_is_hashed_during_the_simulation(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", WAITING], capture_output=True, check=True, cwd=folder)


def test_a_long_series_loads_no_numpy(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO.replace("duration", 'sample = "20 us"\nduration'))
    assert loaded(command("run", "x.toml"), tmp_path) == {"polars"}

"""No file of the package imports itself by way of others, and packages import in one order."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ecnlab

SOURCES = Path(ecnlab.__file__).parent
DESIGN = Path(__file__).parents[2] / "docs" / "design.md"

ORDER = (
    *("base", "models", "laws", "engines", "folder", "report", "scenario", "results", "linux"),
    *("plots", "stages", "api", "runs", "prediction", "explain", "trace", "probing", "agreement", "scoring"),
    *("searching", "vectors", "cases", "inference", "papers", "advise", "studio", "cli"),
)
"""The packages of ecnlab: each imports only those before it."""

ALONE = {"ecnlab", "ecnlab.__main__", "ecnlab.userlaws"}
"""The modules in no package: the two entry points, and base classes that users import."""


def test_no_imports_run_in_a_circle() -> None:
    """Files of one package, except those of papers, may name each other's types; of several packages not, by their order."""
    graph = imports(SOURCES, types=False)
    assert "ecnlab.folder.columns" in graph["ecnlab.folder.tables"]  # the search sees something
    in_order(graph)


def test_papers_import_no_types_in_a_circle() -> None:
    in_order({module: there for module, there in imports(SOURCES).items() if package(module) == "papers"})


def test_a_circle_is_found_where_a_function_closes_it(tmp_path: Path) -> None:
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "one.py").write_text("from toy import two\n")
    (folder / "two.py").write_text("def later():\n    from toy.one import name\n")
    with pytest.raises(AssertionError, match=r"toy\.(one|two) -> toy\.(one|two)"):
        in_order(imports(folder))
    typing_only = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from toy.one import name\n"
    (folder / "two.py").write_text(typing_only)
    in_order(imports(folder, types=False))
    assert imports(folder)["toy.two"] == {"toy.one"}


def test_packages_import_only_packages_before_them() -> None:
    graph = imports(SOURCES)
    assert {package(module) for module in graph.keys() - ALONE} == set(ORDER)
    assert not graph["ecnlab.userlaws"]
    assert upward(graph, ORDER) == []


def test_an_import_against_the_order_is_found() -> None:
    graph = {"ecnlab.base.errors": {"ecnlab.runs.run"}, "ecnlab.runs.run": {"ecnlab", "ecnlab.base.errors"}}
    assert upward(graph, ("base", "runs")) == ["ecnlab.base.errors -> ecnlab.runs.run", "ecnlab.runs.run -> ecnlab"]


def test_the_design_states_the_order() -> None:
    assert f"`{' ← '.join(ORDER)}`" in DESIGN.read_text()


def package(module: str) -> str:
    """The package of ecnlab that ``module`` is in; of `ALONE` its own name."""
    return module.partition(".")[2].partition(".")[0]


def upward(graph: Mapping[str, set[str]], order: Sequence[str]) -> list[str]:
    """The imports from a package of one that is not before it in ``order``."""
    return [
        f"{module} -> {imported}"
        for module, found in sorted(graph.items())
        for imported in sorted(found)
        if module not in ALONE and (imported in ALONE or order.index(package(imported)) > order.index(package(module)))
    ]


def in_order(graph: Mapping[str, set[str]]) -> None:
    """Fails, naming a circle, if there is one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError("imports run in a circle: " + " -> ".join(reversed(error.args[1]))) from error


def imports(package: Path, *, types: bool = True) -> dict[str, set[str]]:
    """By module, the modules of ``package`` that it imports at its top or in a function; without ``types`` when it runs."""
    files = {_name(path, package): path for path in package.rglob("*.py")}
    found = {
        name: {_module(*one, files) for one, of_types in _imported(path.read_text()) if types or not of_types}
        for name, path in files.items()
    }
    return {name: (there - {name}) & files.keys() for name, there in found.items()}


def _module(source: str, name: str, files: Mapping[str, Path]) -> str:
    """The module among ``files`` that ``from source import name`` loads, or ``import source`` without a name."""
    inner = f"{source}.{name}"
    # The simulator is a module that is no file of Python.
    return inner if inner in files else "" if name == "_core" else source


def _name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _imported(text: str) -> list[tuple[tuple[str, str], bool]]:
    """The modules that ``text`` imports, each with a name in it, and whether for types only.

    The tree is not kept: Python's collector would visit it again and again.
    """
    return list(_of_node(ast.parse(text), False))


def _of_node(node: ast.AST, types: bool) -> Iterator[tuple[tuple[str, str], bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue  # has no imports
        if isinstance(child, ast.Import):
            yield from (((alias.name, ""), types) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (((child.module or "", alias.name), types) for alias in child.names)
        of_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        yield from _of_node(child, types or of_types)

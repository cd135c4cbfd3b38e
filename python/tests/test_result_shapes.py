"""Reproductions, agreements, quoted rows and logs of vectors with a changed key or column: an error with its place, never a defect."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl
import pytest
from changed_folders import changed_columns, changed_json, changes, each
from conftest import EXPERIMENT, SCENARIO
from small_paper import SMALL, in_place_of_the_papers

import ecnlab
from ecnlab.agreement import means
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.cli import main
from ecnlab.folder import digests
from ecnlab.folder.outputs import TABLE, write_named
from ecnlab.folder.tables import table_bytes
from ecnlab.folder.verified import write_files
from ecnlab.papers import readme, registry
from ecnlab.papers.analysis import Stored, shapes
from ecnlab.papers.paper import Drawn
from ecnlab.papers.published import read_published
from ecnlab.vectors.export import export
from ecnlab.vectors.vector import vector

SPARSE = 149
"""Of the changes, one in so many is tested; `make slow` tests all."""

DRAWN = Drawn({"curve": pl.DataFrame({"time_s": [0.0, 1.0], "window": [1.0, 2.0]})}, {"drawn": "nothing"})


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Iterator[Path]:
    """A folder with a reproduction of the small paper, the paper with its quoted rows, and an agreement."""
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patch:
        paper = in_place_of_the_papers(folder, SCENARIO, patch)
        patch.setitem(registry.PAPERS, "small", replace(SMALL, draw=lambda _sweeps: DRAWN))
        (paper / "README.in.md").write_text('{{ point("goodput", maxp=0.1).n }}, \n')
        ecnlab.papers.reproduce("small", folder / "full", full=True)
        readme.make("small", folder / "full")
        ecnlab.papers.reproduce("small", folder / "paper")
        yield _with_agreement(folder)


def _with_agreement(folder: Path) -> Path:
    (folder / "gain.toml").write_text(EXPERIMENT)
    (folder / "pipe.toml").write_text(SCENARIO)
    question = means.read_question(folder / "gain.toml")
    both = [ecnlab.sweep(question, folder / "agreement" / one, replicates=2) for one in ("packets", "linux")]
    rows = means.compare(*both, 0.1)
    ranked = pl.DataFrame({"arm": rows["arm"], **{axis: rows[axis] for axis in both[0].axes}}).unique(
        maintain_order=True
    )
    text = {"group": "data", "place": "a", "quantity": "ACKs", "unit": "count"}
    numbers = {"simulator": 2.0, "linux": 1.0, "ratio": 2.0, "score": 3.5, "n": 2, "n_linux": 2}
    ranked = ranked.with_columns(pl.lit(value).alias(name) for name, value in {**text, **numbers}.items())
    stored = {means.AGREEMENT: rows, means.EXPLANATION: ranked}
    for name, table in stored.items():
        write_named(folder / "agreement" / name, table_bytes(table), TABLE, own=folder / "agreement")
    write_files(folder / "agreement", means.STORED, stored, "ecnlab agree gain.toml")
    return folder


def all_changes(folder: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    for name, depth in (("results.json", 4), ("files.json", 2), ("linux/manifest.json", 3)):
        if (folder / name).exists():
            yield from changed_json(folder, name, depth)
    for path in sorted(one for one in folder.rglob("*.parquet") if "sweeps" not in one.parts):
        yield from changed_columns(folder, path.relative_to(folder).as_posix())


def report(folder: Path, page: Path, capsys) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder), "--out", str(page)])
    return int(ended.value.code or 0), capsys.readouterr().err


def check(results: Path, kind: str, scratch: Path, step: int, monkeypatch, capsys) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the process is the test runner's
    assert report(results / kind, scratch / "whole.html", capsys) == (0, "")
    wrong, refused = [], 0
    for what in each(results / kind, scratch / kind, lambda folder: islice(all_changes(folder), 0, None, step)):
        code, said = report(scratch / kind, scratch / "page.html", capsys)
        refused += code == 2
        if code not in (0, 2) or "Traceback" in said:
            wrong.append((what, code, said[-200:]))
    assert wrong == []
    assert refused


@pytest.mark.parametrize("kind", ["paper", "agreement"])
def test_no_change_of_a_stored_result_is_a_defect(kind, results, tmp_path, monkeypatch, capsys):
    check(results, kind, tmp_path, SPARSE, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["paper", "agreement"])
def test_no_change_at_all_of_a_stored_result_is_a_defect(kind, results, tmp_path, monkeypatch, capsys):
    check(results, kind, tmp_path, 1, monkeypatch, capsys)


def test_the_error_names_file_and_column_with_a_number_that_is_none(results, tmp_path):
    said = []
    wanted = ("analysis/samples.parquet: value is NaN", "analysis/curve.parquet: window is NaN")
    changed = ["analysis/samples.parquet", "analysis/curve.parquet"]
    for _ in each(results / "paper", tmp_path / "paper", lambda folder: _chosen(folder, changed, wanted)):
        found = Stored(
            tmp_path / "paper" / "analysis", {}, shapes(SMALL.grid, read_published(results / "papers/small"))
        )
        with pytest.raises(FolderError) as error:
            [found[name] for name in ("samples", "curve")]
        said.append(str(error.value))
    assert ["samples.parquet is damaged (column `value` has NaN)" in said[0], len(said)] == [True, 2]
    assert "curve.parquet is damaged (column `window` has NaN)" in said[1]


def _chosen(folder: Path, names: list[str], wanted: tuple[str, ...]) -> Iterator[tuple[str, Callable[[], None]]]:
    return (one for name in names for one in changed_columns(folder, name) if one[0] in wanted)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_json_with_a_number_that_is_none_is_damaged(number, results, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the process is the test runner's
    shutil.copytree(results / "paper", tmp_path / "paper")
    about = digests.unseal((tmp_path / "paper" / "results.json").read_bytes())
    data = digests.seal({**about, "simulated_s": "HERE"}).replace(b'"HERE"', number.encode())
    blank = re.sub(rb'"digest": "\w+"', f'"digest": "{digests.BLANK}"'.encode(), data)
    (tmp_path / "paper" / "results.json").write_bytes(
        blank.replace(digests.BLANK.encode(), digests.of_bytes(blank).encode())
    )
    code, said = report(tmp_path / "paper", tmp_path / "page.html", capsys)
    assert (code, f"results.json is damaged (it has {number}" in said) == (2, True)


def test_no_change_of_quoted_rows_is_a_defect(results, tmp_path):
    held = json.loads((results / "papers" / "small" / "quoted.json").read_text())
    refused = 0
    for what, changed in islice(changes(held, 5), 0, None, 3):
        (tmp_path / "quoted.json").write_text(json.dumps(changed()))
        try:
            made = readme.quoted_evidence(SMALL, tmp_path, read_published(results / "papers" / "small"))
            assert made.about["runs"], what
        except EcnlabError as error:
            assert str(tmp_path / "quoted.json") in str(error), what
            refused += 1
    assert refused > 20


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("codel-control-law", 9),
        *(pytest.param(name, 1, marks=pytest.mark.slow) for name in ("codel-control-law", "rto-backoff")),
    ],
)
def test_no_change_of_an_exported_vector_is_a_defect(name, step, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the process is the test runner's
    (path,) = export(vector(name), tmp_path, ["jsonl"])
    lines = path.read_text().splitlines()
    codes = set()
    for at in (0, 1, len(lines) - 1):
        for what, changed in islice(changes(json.loads(lines[at]), 2), 0, None, step):
            file = tmp_path / "changed.jsonl"
            file.write_text("\n".join([*lines[:at], json.dumps(changed()), *lines[at + 1 :]]))
            with pytest.raises(SystemExit) as ended:
                main(["vectors", "check", str(file)])
            said = capsys.readouterr()
            assert ended.value.code in (0, 1, 2) and "Traceback" not in said.err, what
            assert ended.value.code != 2 or f"{file}:" in said.err, what
            codes.add(ended.value.code)
    assert 2 in codes

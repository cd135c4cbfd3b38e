"""Folders whose digests match but whose content ecnlab did not write: an error with file and key, never a defect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from changed_folders import changed_columns, changed_json, each, sealed, store
from conftest import EXPERIMENT, SCENARIO, mostly_slow

import ecnlab
from ecnlab.base.errors import FolderError
from ecnlab.cli import main
from ecnlab.folder import digests
from ecnlab.folder.spec_hash import _number, insist_on_hash
from ecnlab.scoring.card_shape import insist_on_card

SPARSE = 1201
"""Of the changes, one in so many is tested; `make slow` tests all."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    (folder / "pipe.toml").write_text(SCENARIO)
    (folder / "gain.toml").write_text(EXPERIMENT)
    ecnlab.run(folder / "pipe.toml", out=folder / "run", events=True)
    ecnlab.sweep(folder / "gain.toml", folder / "sweep", replicates=3)
    return folder


def commands(kind: str, folder: Path) -> list[list[str]]:
    page = ["report", str(folder), "--out", str(folder.parent / "page.html")]
    plot = ["plot", str(folder), "--out", str(folder.parent / "plot.svg")]
    return [["show", str(folder)], ["show", str(folder), "flows"], ["compare", str(folder), str(folder)], page, plot]


def all_changes(folder: Path) -> Iterator:
    for name, depth in (("manifest.json", 5), ("specs.json", 5), ("tables/made.json", 3)):
        if (folder / name).exists():
            yield from changed_json(folder, name, depth)
    for path in sorted(folder.rglob("*.parquet")):
        yield from changed_columns(folder, path.relative_to(folder).as_posix())


def check(folders: Path, kind: str, scratch: Path, step: int, monkeypatch, capsys) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the process is the test runner's
    wrong, refused = [], 0
    for what in each(folders / kind, scratch / kind, lambda folder: islice(all_changes(folder), 0, None, step)):
        for command in commands(kind, scratch / kind):
            with pytest.raises(SystemExit) as ended:
                main(command)
            said = capsys.readouterr().err
            refused += ended.value.code == 2
            if ended.value.code not in (0, 2, None) or "Traceback" in said:
                wrong.append((what, command[0], said[-200:]))
    assert wrong == []
    assert refused


@pytest.mark.parametrize("kind", mostly_slow(["run", "sweep"], "run"))
def test_no_change_of_a_stored_folder_is_a_defect(kind, folders, tmp_path, monkeypatch, capsys):
    check(folders, kind, tmp_path, SPARSE, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_no_change_at_all_of_a_stored_folder_is_a_defect(kind, folders, tmp_path, monkeypatch, capsys):
    check(folders, kind, tmp_path, 1, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("run", lambda m: m["tables"].update(flows=7), "`tables[...]` is wrong: expected `object`, got `int`"),
        ("run", lambda m: m.pop("seed"), "it lacks `seed`"),
        ("run", lambda m: m.update(wall=7), "`wall` is wrong"),
        ("run", lambda m: m["ecnlab"].pop("version"), "it lacks `ecnlab.version`"),
        ("run", lambda m: m["spec"]["link"]["pipe"].update(loss=0.5), "`spec` does not match its `spec_hash`"),
        ("sweep", lambda m: m["metrics"].pop("marked"), "`metrics.advantage` is no metric"),
        ("sweep", lambda m: m["metrics"].update(a={"ratio": ["a", "a"]}), "`metrics.a` is no metric"),
        ("sweep", lambda m: m.update(axes=["max_p", 3]), "`axes[1]` is wrong: expected `str`, got `int`"),
    ],
)
def test_the_error_names_the_key(kind, change, said, folders, tmp_path):
    (tmp_path / "copy").mkdir()
    manifest = json.loads((folders / kind / "manifest.json").read_bytes())
    change(manifest)
    (tmp_path / "copy" / "manifest.json").write_bytes(sealed(manifest))
    with pytest.raises(FolderError) as error:
        ecnlab.load(tmp_path / "copy")
    assert said in str(error.value) and str(tmp_path / "copy" / "manifest.json") in str(error.value)


def test_the_error_names_the_column_and_the_rows(folders, tmp_path):
    def only(folder: Path) -> Iterator:
        wanted = ("links.parquet: link removed", "links.parquet: link of another", "links.parquet: empty")
        return (one for one in changed_columns(folder, "links.parquet") if one[0].startswith(wanted))

    said = []
    for _ in each(folders / "run", tmp_path / "run", only):
        with pytest.raises(FolderError) as error:
            ecnlab.load(tmp_path / "run").table("links")
        said.append(str(error.value))
    assert "links.parquet is damaged (it lacks the column `link`)" in said[0]
    assert "column `link` is Float64, not text" in said[1]
    assert "rows, its manifest states" in said[2] or "it has 0 rows" in said[2]


def test_other_runs_are_not_those_of_the_manifest(folders, tmp_path):
    import shutil

    import polars as pl

    shutil.copytree(folders / "sweep", tmp_path / "sweep")
    runs = tmp_path / "sweep" / "tables" / "runs.parquet"
    pl.read_parquet(runs).with_columns(id=pl.lit("0" * 16)).write_parquet(runs)
    store(tmp_path / "sweep", "tables/runs.parquet", runs.read_bytes())
    with pytest.raises(FolderError, match=r"runs.parquet is damaged \(its ids are not those of the table"):
        ecnlab.load(tmp_path / "sweep").runs  # noqa: B018


def test_numbers_are_hashed_as_the_core_writes_them(tmp_path):
    written = {1e-5: "0.00001", -2.5e-5: "-0.000025", 1.5e-7: "1.5e-7", 1e16: "1e16", 1e15: "1000000000000000.0"}
    assert {number: _number(number) for number in written} == written
    with pytest.raises(FolderError, match="does not match"):
        insist_on_hash(tmp_path, {"a": 1e-5}, "0" * 64)


LAW = {"name": "n", "argument": "n", "label": "N", "source": "s", "given": {}, "parameters": {}}
CARD = {
    "format": 1,
    "kind": "score aqm",
    "ecnlab": {"version": "0"},
    "engine": {"name": "packets"},
    "instead": [],
    "source": "RFC 7928",
    "size": "quick",
    "seed": 1,
    "replicates": 3,
    "left_out": 0,
    "criteria": None,
    "subject": LAW,
    "reference": LAW,
    "verdicts": {"meets": 1},
    "scenarios": [],
    "summary": ["a", "b", "c"],
}


@pytest.mark.parametrize("key", CARD)
def test_a_card_without_a_key_or_with_another_type_is_refused(key, tmp_path):
    insist_on_card(tmp_path, CARD, "queue")
    other = {**CARD, key: 1.5}
    without = {name: value for name, value in CARD.items() if name != key}
    optional = key in ("engine", "instead", "left_out", "criteria", "summary")
    for changed in [other] if optional else [without, other]:
        with pytest.raises(FolderError, match=f"`{key}`"):
            insist_on_card(tmp_path, changed, "queue")


def test_a_sealed_file_whose_content_is_no_object_is_damaged(tmp_path):
    from ecnlab.folder.sealed_json import read_json

    data = b'[{"digest": "' + digests.BLANK.encode() + b'"\n}\n}'
    path = tmp_path / "x.json"
    path.write_bytes(data.replace(digests.BLANK.encode(), digests.of_bytes(data).encode()))
    with pytest.raises(FolderError, match="is damaged"):
        read_json(path)

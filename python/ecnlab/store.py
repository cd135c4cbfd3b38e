"""Files of a result folder: written whole or not at all, read with a reason when they cannot be.

The layout is described in ``docs/run-folder.md``.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import polars as pl

from ecnlab._core import __version__
from ecnlab.columns import TABLES, units
from ecnlab.differences import differences
from ecnlab.engines import PACKETS
from ecnlab.errors import FolderError

FORMAT: Final = 1
"""Version of the folder format. A reader refuses any other."""

MANIFEST: Final = "manifest.json"

MADE: Final = "made.json"
"""Beside the merged tables of a sweep: by which build, and which tables were asked for."""

OURS: Final = frozenset({*TABLES, "prediction", "timing", "runs", "metrics"})
"""Every table that a folder may have."""

LOCK: Final = ".lock"
"""Held by the process that writes into a sweep's folder."""

REMEDY: Final = "remove the folder and run again"
"""What to do where a folder is not what was written."""

MOST_TOLD: Final = 5
"""Differences of two specifications that are told one by one."""

KINDS: Final = ("run", "sweep")

NOTHING: Final = type(None)

NEEDED: Final[dict[str, tuple[type, ...]]] = {
    "title": (str, NOTHING),
    "ecnlab": (dict,),
    "tables": (dict,),
}
"""What readers need of every manifest."""

NEEDED_BY: Final[dict[str, dict[str, tuple[type, ...]]]] = {
    "run": {"spec_hash": (str,), "spec": (dict,), "seed": (int, NOTHING), "events": (bool,), "wall": (dict,)},
    "sweep": {"complete": (bool,), "axes": (list,), "metrics": (dict,), "replicates": (int,), "seed": (int,)},
}
"""And of those of each kind."""


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` so that ``path`` is either what it was or complete, whatever interrupts.

    Raises OSError (folder not writable, disk full).
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        path.write_bytes(data)  # a pipe or a terminal, in whose place no file must come
        return
    path = behind_links(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def write_json(path: Path, value: object) -> None:
    """Write ``value`` as JSON, readable by a person."""
    write_bytes(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def write_table(path: Path, frame: pl.DataFrame) -> None:
    """Write ``frame`` as Parquet (zstd): equal frames give equal bytes.

    Raises OSError as any write does; Polars, writing by itself, hides the reason in an error of its own.
    """
    data = io.BytesIO()
    frame.write_parquet(data, compression="zstd", row_group_size=1 << 20)
    write_bytes(path, data.getvalue())


def read_json(path: Path) -> Any:
    """The JSON in ``path``. Raises FolderError if it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{path} is damaged ({error}): remove the folder and run again") from error


def read_manifest(folder: Path, kind: str | None = None) -> dict[str, Any]:
    """The manifest of a result folder of this format, of ``kind`` ("run" or "sweep") if given.

    Raises FolderError when the folder is missing, holds no result, or one of another format or kind.
    """
    path = folder / MANIFEST
    if not path.is_file():
        what = "is no folder" if folder.exists() else "does not exist"
        raise FolderError(f"{folder} {'holds no result (no manifest.json)' if folder.is_dir() else what}")
    manifest = read_json(path)
    if not isinstance(manifest, dict) or manifest.get("kind") not in KINDS:
        raise FolderError(f"{folder} holds no result of ecnlab: {MANIFEST} is something else's")
    if manifest.get("format") != FORMAT:
        maker = manifest.get("ecnlab")
        made_by = maker.get("version", "unknown") if isinstance(maker, dict) else "unknown"
        raise FolderError(
            f"{folder} has folder format {manifest.get('format')}, made by ecnlab {made_by}; this ecnlab reads format "
            f"{FORMAT}: use that version, or run again into another folder"
        )
    if kind is not None and manifest["kind"] != kind:
        raise FolderError(f"{folder} holds a {manifest['kind']}, not a {kind}")
    _insist_on_keys(path, manifest)
    # Folders from before there were several engines do not say which.
    return {**manifest, "engine": manifest.get("engine", PACKETS)}


def _insist_on_keys(path: Path, manifest: Mapping[str, Any]) -> None:
    """Raise FolderError unless the manifest in ``path`` has what readers of its kind need, of the types they need."""
    for key, kind in (NEEDED | NEEDED_BY[manifest["kind"]]).items():
        if key not in manifest or not isinstance(manifest[key], kind):
            what = "lacks" if key not in manifest else "has another kind of value in"
            raise FolderError(f"{path} is damaged (it {what} `{key}`): remove the folder and run again")
    if strange := [name for name in manifest["tables"] if not re.fullmatch(r"\w+", name)]:
        raise FolderError(f"{path} is damaged (no table is called {strange[0]!r}): remove the folder and run again")


def refuse_other(folder: Path, asked: Mapping[str, Any], spec: Mapping[str, Any] | None = None) -> None:
    """Raise FolderError unless ``folder`` is free or holds a result whose manifest has every value of ``asked``.

    It says what differs; in the specification if ``spec`` is the one asked for.
    """
    if _is_free(folder):
        return
    there = read_manifest(folder)
    if any(there.get(key) != value for key, value in asked.items()):
        held = f"another {there['kind']} ({there['title']!r}, engine `{there['engine']}`)"
        differ = "; ".join(_differing(there, asked, spec))
        raise FolderError(f"{folder} holds {held}: {differ}; choose another folder, or remove that one first")


def _differing(there: Mapping[str, Any], asked: Mapping[str, Any], spec: Mapping[str, Any] | None) -> list[str]:
    """How what a manifest is of differs from what is asked: "seed: 1 there, 2 asked for"."""
    keys = [key for key in asked if there.get(key) != asked[key]]
    said = [f"{key}: {there.get(key)} there, {asked[key]} asked for" for key in keys if key != "spec_hash"]
    if "spec_hash" in keys:
        places = list(differences(there.get("spec"), spec)) if spec is not None else []
        more = [f"and {len(places) - MOST_TOLD} keys more"] if len(places) > MOST_TOLD else []
        said += (
            ["the specification (there against asked for): " + ", ".join([*places[:MOST_TOLD], *more])]
            if places
            else ["another specification"]
        )
    version = there["ecnlab"].get("version")
    return [*said, f"made by ecnlab {version}"] if version != __version__ else said


def _is_free(folder: Path) -> bool:
    """Whether ``folder`` is missing or empty. What a sweep that was killed at once hides in it is nothing."""
    ours = re.compile(rf"{re.escape(LOCK)}|\..*\.partial")
    return not folder.exists() or (folder.is_dir() and all(ours.fullmatch(path.name) for path in folder.iterdir()))


def describe(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """What a manifest says of ``tables``: rows, types and units."""
    return {
        name: {
            "rows": frame.height,
            "types": {column: str(dtype) for column, dtype in frame.schema.items()},
            "units": units(name),
        }
        for name, frame in tables.items()
    }


class StoredTables(Mapping[str, pl.DataFrame]):
    """Tables in a folder, each read when first asked for."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self._folder = folder
        self._names = names
        self._read: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._read:
            self._read[name] = read_table(self._folder / f"{name}.parquet")
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_table(path: Path) -> pl.DataFrame:
    """The table in ``path``. Raises FolderError if it is missing or damaged."""
    insist_on_table(path)
    try:
        return pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise FolderError(f"{path} is damaged, cut off or changed since it was written: {REMEDY}") from error


def insist_on_table(path: Path) -> None:
    """Raise FolderError if there is no file ``path``, a table that the manifest beside it names."""
    if not path.is_file():
        raise FolderError(f"{path} is missing, though the folder's {MANIFEST} names it: {REMEDY}")


def missing_table(name: str, present: Mapping[str, object]) -> FolderError:
    """Why there is no table ``name``, said to somebody who asked for it."""
    if name not in TABLES:
        return FolderError(f"no table is called {name!r}; there are {', '.join(present)}")
    remedies = {
        "queue_series": 'set sample = "100 ms" in the scenario',
        "flow_series": 'set sample = "100 ms" in the scenario',
        "objects": "it is of web traffic, of which this has none; or keep it when sweeping (keep=, --keep)",
        "packets": "run with events=True (--events), or set packets = true in the scenario",
    }
    remedy = remedies.get(name, "keep it when sweeping (keep=, --keep)")
    return FolderError(f"table {name!r} was not recorded: {remedy}")


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A scratch folder that becomes ``folder`` when the block ends well, and vanishes when it does not.

    Where ``folder`` is a link the folder behind it is meant. What others have put into it stays.
    """
    folder = behind_links(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    scratch.mkdir()
    try:
        yield scratch
        replace_folder(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def behind_links(path: Path) -> Path:
    """What ``path`` leads to, so that what is written does not take the place of a link."""
    return path.resolve() if path.is_symlink() else path


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """A folder beside ``folder`` that vanishes when the block ends."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = folder.with_name(f".{folder.name}.{os.getpid()}.scratch")
    scratch.mkdir()
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def link_or_copy(source: Path, target: Path) -> None:
    """Make ``target`` the same file as ``source``, or a copy where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def replace_folder(new: Path, folder: Path) -> None:
    """Put ``new`` in the place of ``folder``; the old one is gone only once the new one stands."""
    old = folder.with_name(f".{folder.name}.old")
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    try:
        new.rename(folder)
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise
    if old.exists():
        for strange in _strangers(old):
            if not (folder / strange.name).exists():
                strange.rename(folder / strange.name)
    shutil.rmtree(old, ignore_errors=True)


def _strangers(folder: Path) -> list[Path]:
    """What in a folder of results was not put there by ecnlab."""
    ours = {MANIFEST, "captures", MADE, *(f"{name}.parquet" for name in OURS)}
    return [path for path in folder.iterdir() if path.name not in ours and not path.name.endswith(".partial")]


def restore_folder(folder: Path) -> None:
    """Undo a replacement that was interrupted between its two renames."""
    old = folder.with_name(f".{folder.name}.old")
    if old.exists() and not folder.exists():
        old.rename(folder)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold ``folder`` against a second process that would write into it. Raises FolderError if one does."""
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderError(f"another process is writing into {folder}") from error
        yield

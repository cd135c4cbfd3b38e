"""Files of a result folder: written whole or not at all, read with a reason when they cannot be.

The layout is described in ``docs/run-folder.md``.
"""

from __future__ import annotations

import errno
import fcntl
import io
import itertools
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from ecnlab._core import __version__
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.base.lazy_imports import pl
from ecnlab.engines.protocol import PACKETS
from ecnlab.folder import digests
from ecnlab.folder.columns import TABLES, units
from ecnlab.folder.differences import differences

FORMAT: Final = 2
"""Version of the folder format. A reader refuses any other."""

MANIFEST: Final = "manifest.json"

FILES: Final = "files.json"
"""The digests of a folder that is neither a run nor a sweep: a reproduction or an agreement."""

MADE: Final = "made.json"
"""Beside the merged tables of a sweep and beside its parts: by which build, and which tables were asked for."""

OURS: Final = frozenset({*TABLES, "prediction", "timing", "runs", "metrics"})
"""Every table that a folder may have."""

CAPTURES: Final = "captures"
"""The folder of a run folder that holds its capture files."""

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


_REMAKE: Final = re.compile(rb'"remake": "([^"\\\\\n]+)"')

ROW_GROUP: Final = 1 << 20
"""Rows of a table that are written together."""


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write ``data`` so that ``path`` is either what it was or complete, whatever interrupts.

    That holds for a loss of power, too, unless it is not to be ``durable``. Raises OSError (folder not writable, disk full).
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        path.write_bytes(data)  # a pipe or a terminal, in whose place no file must come
        return
    path = behind_links(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        rename(partial, path, durable=durable)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def write_named(path: Path, data: bytes) -> None:
    """As `write_bytes`, for a ``path`` that the user has named: a figure, a page.

    Raises EcnlabError if it is a link to a file of another kind, such as a manifest, which would be overwritten.
    """
    if path.is_symlink() and (there := behind_links(path)).is_file() and there.suffix.lower() != path.suffix.lower():
        raise EcnlabError(f"{path} is a link to {there}, which would be overwritten: name another file")
    write_bytes(path, data)


def rename(old: Path, new: Path, *, durable: bool = True) -> None:
    """Give ``old`` the name ``new``, in the place of what has it; both in one folder. Raises OSError."""
    old.replace(new)
    if durable:
        sync(new.parent)


def sync(path: Path) -> None:
    """Have the disk hold what was written to the file or folder ``path``, before anything after this is. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems have nothing to sync in a folder, and say so.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write ``value`` as JSON, readable by a person, with its digest at the end."""
    write_bytes(path, digests.seal(value))


def write_entries(path: Path, entries: Iterable[tuple[str, Any]]) -> None:
    """Write a JSON object of ``entries``, which are not held, with its digest at the end, as `write_json` does."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            digest = digests.Running(file)
            digest.write(b"{\n")
            for key, value in entries:
                digest.write(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n".encode())
            digest.finish()
            file.flush()
            os.fsync(file.fileno())
        rename(partial, path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def pieces(rows: pl.LazyFrame, size: int = 1 << 18) -> Iterator[pl.DataFrame]:
    """The ``rows``, some at a time."""
    for start in itertools.count(0, size):
        piece = rows.slice(start, size).collect()
        if piece.height or not start:
            yield piece
        if piece.height < size:
            return


def write_table(path: Path, frame: pl.DataFrame, *, durable: bool = True) -> None:
    """Write ``frame`` as Parquet (zstd): equal frames give equal bytes.

    Raises OSError as any write does; Polars, writing by itself, hides the reason in an error of its own.
    """
    write_bytes(path, table_bytes(frame), durable=durable)


def table_bytes(frame: pl.DataFrame) -> bytes:
    """``frame`` as Parquet."""
    data = io.BytesIO()
    frame.write_parquet(data, compression="zstd", row_group_size=ROW_GROUP)
    return data.getvalue()


def join_tables(parts: list[Path], path: Path, row_group: int) -> None:
    """Write the tables in ``parts`` under each other into ``path``, holding ``row_group`` rows. Raises OSError."""
    needed = sum(part.stat().st_size for part in parts)
    if shutil.disk_usage(path.parent).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    try:
        pl.scan_parquet(parts).sink_parquet(path, compression="zstd", row_group_size=row_group)
    except pl.exceptions.PolarsError as error:
        raise OSError(errno.EIO, f"cannot be written: {error}", str(path)) from error


def read_json(path: Path) -> dict[str, Any]:
    """The JSON in ``path``, without its digest. Raises FolderError if it is none, or not as it was written; OSError."""
    return digests.unseal(_read_sealed(path))


def read_plain_json(path: Path) -> dict[str, Any]:
    """The JSON in ``path``, which may have no digest. Raises FolderError if it is none; OSError."""
    try:
        return digests.unseal(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{path} is damaged ({error}): remove the folder and run again") from error


def _read_sealed(path: Path) -> bytes:
    data = path.read_bytes()
    if digests.is_sealed(data):
        return data
    reason = "its digest is not that of its content" if digests.is_sealed(data) is False else _no_seal(data)
    raise _damaged(path, reason)


def _damaged(path: Path, reason: str) -> FolderError:
    """The error for a sealed file that cannot be trusted, with the command that it says made it."""
    found = _REMAKE.search(path.read_bytes())
    said = found[1].decode(errors="replace") if found else ""
    remedy = f"it names `{said}` as the command that makes it again" if said else "run the command that made it again"
    return FolderError(f"{path} is damaged ({reason}): {remedy}; or remove the folder first")


def _no_seal(data: bytes) -> str:
    try:
        json.loads(data)
    except (ValueError, RecursionError) as error:
        return str(error)
    return "it has no digest"


def read_manifest(folder: Path, kind: str | None = None) -> dict[str, Any]:
    """The manifest of a result folder of this format, of ``kind`` ("run" or "sweep") if given.

    Raises FolderError when the folder is missing, holds no result, or one of another format or kind.
    """
    path = folder / MANIFEST
    if not path.is_file():
        what = "is no folder" if folder.exists() else "does not exist"
        raise FolderError(f"{folder} {'holds no result (no manifest.json)' if folder.is_dir() else what}")
    manifest = _stated(path)
    if manifest.get("format") != FORMAT:
        maker = manifest.get("ecnlab")
        made_by = maker.get("version", "unknown") if isinstance(maker, dict) else "unknown"
        raise FolderError(
            f"{folder} has folder format {manifest.get('format')}, made by ecnlab {made_by}; this ecnlab reads format "
            f"{FORMAT}: use that version, or run again into another folder"
        )
    manifest = read_json(path)
    if kind is not None and manifest["kind"] != kind:
        raise FolderError(f"{folder} holds a {manifest['kind']}, not a {kind}")
    _insist_on_keys(path, manifest)
    # Folders from before there were several engines do not say which.
    return {**manifest, "engine": manifest.get("engine", PACKETS)}


def _stated(path: Path) -> dict[str, Any]:
    """What a manifest says, its digest not yet looked at. Raises FolderError if it is none of ours."""
    try:
        manifest = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(manifest, dict) or manifest.get("kind") not in KINDS:
        raise FolderError(f"{path.parent} holds no result of ecnlab: ecnlab did not write its {MANIFEST}")
    return dict(manifest)


def _insist_on_keys(path: Path, manifest: Mapping[str, Any]) -> None:
    """Raise FolderError unless the manifest in ``path`` has what readers of its kind need, of the types they need."""
    for key, kind in (NEEDED | NEEDED_BY[manifest["kind"]]).items():
        if key not in manifest or not isinstance(manifest[key], kind):
            what = "lacks" if key not in manifest else "has another kind of value in"
            raise FolderError(f"{path} is damaged (it {what} `{key}`): remove the folder and run again")
    if strange := [name for name in manifest["tables"] if not re.fullmatch(r"\w+", name)]:
        raise FolderError(f"{path} is damaged (no table is called {strange[0]!r}): remove the folder and run again")


def damaged_manifest(folder: Path, signs: Iterable[str]) -> bool:
    """Whether the manifest of ``folder`` is damaged, and yet has all of ``signs``: it was that of what they stand for."""
    path = folder / MANIFEST
    if not path.is_file():
        return False
    data = path.read_bytes()
    return not digests.is_sealed(data) and all(sign.encode() in data for sign in signs)


def refuse_other(folder: Path, asked: Mapping[str, Any], spec: Mapping[str, Any] | None = None) -> None:
    """Raise FolderError unless ``folder`` is free or holds a result whose manifest has every value of ``asked``.

    It says what differs; in the specification if ``spec`` is the one asked for.
    """
    if _is_free(folder) or damaged_manifest(folder, _signs(asked)):
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


def _signs(asked: Mapping[str, Any]) -> list[str]:
    """What a manifest that says ``asked`` has in its text, though a bit of it be flipped elsewhere."""
    format_ = f'"format": {FORMAT}'
    return [format_, *(f'"{key}": {json.dumps(value)}' for key, value in asked.items())]


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


def describe_stored(tables: Mapping[str, Path]) -> dict[str, Any]:
    """``describe`` of tables in files, which are not read as a whole."""
    found = {}
    for name, path in tables.items():
        rows = pl.scan_parquet(path)
        columns = {column: str(dtype) for column, dtype in rows.collect_schema().items()}
        found[name] = {"rows": rows.select(pl.len()).collect().item(), "types": columns, "units": units(name)}
    return found


class Files:
    """The files of a result folder with the digests that its manifest has of them.

    A file is verified when it is asked for, and not again while it does not change.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.digests: dict[str, str] = manifest.get("files", {})
        """By path in the folder."""
        self.remake = str(manifest.get("wall", {}).get("remake") or "the command that made it")

    def path(self, name: str) -> Path:
        """The file ``name``, which is as it was written. Raises FolderError if not, OSError if it cannot be read."""
        path = self.folder / name
        try:
            digest = digests.of_file(path)
        except FileNotFoundError as error:
            raise self.damage(name, "missing") from error
        if digest != self.digests.get(name):
            raise self.damage(name, "damaged")
        return path

    def damage(self, name: str, what: str) -> FolderError:
        """The error that says that the file ``name`` is ``what``, and how to get it again."""
        how = "is missing" if what == "missing" else "is damaged (its digest is not the manifest's)"
        return FolderError(f"{self.folder / name} {how}: `{self.remake}` makes it again")

    def damaged(self) -> list[FolderError]:
        """What is wrong with any of the files."""
        found = []
        for name in self.digests:
            try:
                self.path(name)
            except FolderError as error:
                found.append(error)
        return found


def write_files(folder: Path, kind: str, names: Iterable[str], remake: str) -> None:
    """Write the digests of the files ``names`` of a ``folder`` that is neither a run nor a sweep. Raises OSError."""
    files = {name: digests.of_file(folder / name) for name in sorted(names)}
    write_json(folder / FILES, {"format": FORMAT, "kind": kind, "files": files, "wall": {"remake": remake}})


def read_files(folder: Path) -> Files:
    """The files in ``folder`` as `write_files` knows them. Raises FolderError, OSError."""
    return Files(folder, read_json(folder / FILES))


def verify(folder: Path) -> tuple[int, list[FolderError]]:
    """How many stored files ``folder`` and all below it have, and what is wrong with any of them.

    Raises FolderError if there is no result of ecnlab.
    """
    count, wrong = 0, []
    heads = sorted(path for name in (MANIFEST, FILES) for path in folder.rglob(name))
    heads = [path for path in heads if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not heads:
        raise FolderError(
            f"{folder} holds no result (no {MANIFEST})" if folder.is_dir() else f"{folder} does not exist"
        )
    for head in heads:
        count += 1
        try:
            files = read_files(head.parent) if head.name == FILES else Files(head.parent, read_manifest(head.parent))
        except FolderError as error:
            wrong.append(error)
        else:
            count += len(files.digests)
            wrong += files.damaged()
    return count, wrong


def refuse_damaged_capture(path: Path) -> None:
    """Raise FolderError if ``path`` is a capture of a stored run or sweep, and not as it was written."""
    for folder in path.absolute().parents[1:3] if str(path) != "-" else ():
        name = path.absolute().relative_to(folder).as_posix()
        if not name.startswith("captures/") or not (folder / MANIFEST).is_file():
            continue
        try:
            ours = "files" in _stated(folder / MANIFEST)
        except FolderError:
            ours = False
        files = Files(folder, read_manifest(folder)) if ours else None
        if files and name in files.digests:
            files.path(name)


class StoredTables(Mapping[str, "pl.DataFrame"]):
    """Tables in a folder, each read when first asked for."""

    def __init__(self, files: Files, names: Iterable[str], under: str = "") -> None:
        self._files = files
        self._names = list(names)
        self._under = under
        self._read: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._read:
            self._read[name] = read_table(self.path(name))
        return self._read[name]

    def path(self, name: str) -> Path:
        """The file of the table ``name``, verified. Raises FolderError, OSError."""
        return self._files.path(f"{self._under}{name}.parquet")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_table(path: Path) -> pl.DataFrame:
    """The table in ``path``. Raises FolderError if it is missing or no table."""
    insist_on_table(path)
    try:
        return pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise FolderError(f"{path} is damaged, cut off or changed since it was written: {REMEDY}") from error


def insist_on_table(path: Path) -> None:
    """Raise FolderError if there is no file ``path``, a table that the manifest beside it names."""
    if not path.is_file():
        raise FolderError(f"{path} is missing, though the folder's {MANIFEST} names it: {REMEDY}")


def digests_of(folder: Path, under: str = "") -> dict[str, str]:
    """The digest of every file in ``folder`` by its path, with ``under`` in front; of hidden ones and manifests none."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path: path.relative_to(folder) for path in files}
    return {
        f"{under}{name.as_posix()}": digests.of_file(path)
        for path, name in names.items()
        if name != Path(MANIFEST) and not any(part.startswith(".") for part in name.parts)
    }


def missing_table(name: str, present: Mapping[str, object]) -> FolderError:
    """Why there is no table ``name``, said to somebody who asked for it."""
    if name not in TABLES:
        return FolderError(f"no table is called {name!r}; there are {', '.join(present)}")
    quantiles = "set quantiles = true in a queue, or give a link a queue of classes; or keep it when sweeping (--keep)"
    remedies = {
        "queue_series": 'set sample = "100 ms" in the scenario',
        "flow_series": 'set sample = "100 ms" in the scenario',
        "objects": "it is of web traffic, of which this has none; or keep it when sweeping (keep=, --keep)",
        "packets": "run with events=True (--events), or set packets = true in the scenario",
        **dict.fromkeys(("classes", "sojourns", "sojourn_bins"), quantiles),
    }
    remedy = remedies.get(name, "keep it when sweeping (keep=, --keep)")
    return FolderError(f"table {name!r} was not recorded: {remedy}")


@contextmanager
def whole_folder(folder: Path, *, durable: bool = True) -> Iterator[Path]:
    """A scratch folder that becomes ``folder`` when the block ends well, and vanishes when it does not.

    Where ``folder`` is a link the folder behind it is meant. What others have put into it stays.
    """
    folder = behind_links(folder)
    with _scratch(folder, "partial") as scratch:
        yield scratch
        if durable:
            for path in sorted(scratch.rglob("*"), reverse=True):
                sync(path)
            sync(scratch)
        replace_folder(scratch, folder, durable=durable)


@contextmanager
def scratch_folder(folder: Path, kind: str = "scratch") -> Iterator[Path]:
    """A folder beside ``folder`` that vanishes when the block ends; one of each ``kind``."""
    with _scratch(folder, kind) as scratch:
        yield scratch


@contextmanager
def _scratch(folder: Path, kind: str) -> Iterator[Path]:
    """A folder beside ``folder``, locked, so that those that a killed process left are known, and removed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{folder.name}.*.{kind}"):
        with suppress(OSError), _locked(left):
            shutil.rmtree(left)
    scratch = folder.with_name(f".{folder.name}.{os.getpid()}.{kind}")
    scratch.mkdir()
    try:
        with _locked(scratch):
            yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def behind_links(path: Path) -> Path:
    """What ``path`` leads to, so that what is written does not take the place of a link. Raises OSError for a loop."""
    try:
        return path.resolve() if path.is_symlink() else path
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of ``folder``. Raises OSError if another holds it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def link_or_copy(source: Path, target: Path) -> None:
    """Make ``target`` the same file as ``source``, or a copy where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def replace_folder(new: Path, folder: Path, *, durable: bool = True) -> None:
    """Put ``new`` in the place of ``folder``; the old one is gone only once the new one stands."""
    old = folder.with_name(f".{folder.name}.old")
    if folder.exists():
        _clear_away(old, folder)
        rename(folder, old, durable=durable)
    try:
        rename(new, folder, durable=durable)
    except BaseException:
        if old.exists() and not folder.exists():
            rename(old, folder, durable=durable)
        raise
    _clear_away(old, folder)


def _clear_away(old: Path, folder: Path) -> None:
    """Remove ``old``, in whose place is ``folder``. What others have put into it goes there."""
    if not old.exists():
        return
    for name in _strangers(old):
        if not (folder / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            (old / name).rename(folder / name)
    shutil.rmtree(old, ignore_errors=True)


def _strangers(folder: Path) -> list[str]:
    """What in a folder of results was not put there by ecnlab; of captures, what the manifest does not have."""
    ours = {MANIFEST, FILES, CAPTURES, MADE, *(f"{name}.parquet" for name in OURS)}
    found = [path.name for path in folder.iterdir() if path.name not in ours and not path.name.endswith(".partial")]
    if not (folder / CAPTURES).is_dir():
        return found
    with suppress(OSError, ValueError, FolderError, AttributeError):
        ours.update(_stated(folder / MANIFEST).get("files", {}))
    return found + [name for path in (folder / CAPTURES).iterdir() if (name := f"{CAPTURES}/{path.name}") not in ours]


def restore_folder(folder: Path) -> None:
    """Undo a replacement that was interrupted between its two renames."""
    old = folder.with_name(f".{folder.name}.old")
    if old.exists() and not folder.exists():
        rename(old, folder)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold ``folder`` against a second process that would write into it. Raises FolderError if one does."""
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderError(f"another process is writing into {folder}") from error
        yield

"""The files of a result folder, each verified against the digest that its manifest has of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from ecnlab.base.errors import FolderError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder import digests
from ecnlab.folder.manifest import read_manifest, stated
from ecnlab.folder.names import CARD, FILES, FORMAT, MANIFEST
from ecnlab.folder.outputs import write_named
from ecnlab.folder.sealed_json import read_json, write_json
from ecnlab.folder.shapes import FilesList, insist
from ecnlab.folder.table_shapes import insist_on_columns, insist_on_rows
from ecnlab.folder.tables import read_table, table_schema


class Files:
    """The files of a result folder with their digests from the manifest.

    A file is verified when it is used, and not again while it is unchanged.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.digests: dict[str, str] = manifest.get("files", {})
        """By path in the folder."""
        self.remake = str(manifest.get("wall", {}).get("remake") or "the command that made it")

    def path(self, name: str) -> Path:
        """Return the verified path of the file ``name``.

        Raises FolderError if it is damaged, OSError if it cannot be read.
        """
        path = self.folder / name
        if path.exists() and not path.is_file():
            raise self.damage(name, "no file")
        try:
            digest = digests.of_file(path)
        except FileNotFoundError as error:
            raise self.damage(name, "missing") from error
        if digest != self.digests.get(name):
            raise self.damage(name, "damaged")
        return path

    def is_intact(self, name: str) -> bool:
        """Return whether the file ``name`` is as written, or unknown. Raises OSError."""
        return name not in self.digests or digests.of_file(self.folder / name) == self.digests[name]

    def damage(self, name: str, what: Literal["missing", "no file", "damaged"]) -> FolderError:
        """Return the error that the file ``name`` is ``what``, with the remedy."""
        how = {
            "missing": "is missing",
            "no file": "is damaged (it is a folder, a device or a pipe)",
            "damaged": "is damaged (its digest is not the manifest's)",
        }[what]
        return FolderError(f"{self.folder / name} {how}: `{self.remake}` makes it again")

    def damaged(self) -> list[FolderError]:
        """Return the damage of any of the files."""
        found = []
        for name in self.digests:
            try:
                self.path(name)
            except FolderError as error:
                found.append(error)
        return found


def write_files(
    folder: Path, kind: str, names: Iterable[str], remake: str, others: Mapping[str, str] | None = None
) -> None:
    """Write the digests of the files ``names`` of a ``folder`` that is neither a run nor a sweep. Raises OSError.

    ``others`` are digests of further files, as they were when these were written.
    """
    found = {**(others or {}), **{name: digests.of_file(folder / name) for name in names}}
    files = dict(sorted(found.items()))
    write_json(folder / FILES, {"format": FORMAT, "kind": kind, "files": files, "wall": {"remake": remake}})


def refuse_other_kind(folder: Path, kind: str) -> None:
    """Raise FolderError if ``folder`` is that of a run or sweep, or has another ``kind`` of result. Damaged digests count as none."""
    if (folder / MANIFEST).is_file():
        raise FolderError(f"{folder} has a run or a sweep: choose another folder with --out")
    if not (folder / FILES).is_file():
        return
    try:
        there = read_json(folder / FILES).get("kind")
    except FolderError:
        return
    if there != kind:
        raise FolderError(
            f"{folder} has a result of another kind ({there}, not {kind}): choose another folder with --out"
        )


def read_files(folder: Path) -> Files:
    """The files in ``folder`` as `write_files` knows them. Raises FolderError, OSError."""
    return Files(folder, _stored_files(folder))


def lists(folder: Path, name: str) -> bool:
    """Return whether `write_files` recorded the file ``name`` in ``folder``; damaged digests record none. Raises OSError."""
    try:
        return name in read_files(folder).digests
    except (FolderError, FileNotFoundError):
        return False


def stored_kind(folder: Path) -> str:
    """Return the kind of the result in ``folder``, as `write_files` recorded it. Raises FolderError, OSError."""
    return str(_stored_files(folder)["kind"])


def _stored_files(folder: Path) -> dict[str, Any]:
    return insist(folder / FILES, read_json(folder / FILES), FilesList)


def replace_file(folder: Path, name: str, data: bytes) -> None:
    """Write the file ``name``, which `write_files` recorded in ``folder``, again. Raises FolderError, OSError."""
    stored = _stored_files(folder)
    write_named(folder / name, data, [Path(name).suffix], own=folder)
    write_files(folder, stored["kind"], [name], stored["wall"].get("remake", ""), stored["files"])


def verify(folder: Path) -> tuple[int, list[FolderError]]:
    """Return the number of stored files in ``folder`` and below, and the damage of any of them.

    Raises FolderError if there is no result of ecnlab.
    """
    count, wrong = 0, []
    heads = sorted(path for name in (MANIFEST, FILES, CARD) for path in folder.rglob(name))
    heads = [path for path in heads if path.name != CARD or not path.with_name(FILES).exists()]
    heads = [path for path in heads if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not heads:
        raise FolderError(
            f"{folder} holds no result (no {MANIFEST})" if folder.is_dir() else f"{folder} does not exist"
        )
    for head in heads:
        count += 1
        try:
            files = _files_of(head)
        except FolderError as error:
            wrong.append(error)
        else:
            count += len(files.digests)
            wrong += files.damaged()
    return count, wrong


def _files_of(head: Path) -> Files:
    """The files that ``head`` lists: a manifest, digests, or a card from before cards had digests. Raises FolderError."""
    if head.name == MANIFEST:
        return Files(head.parent, read_manifest(head.parent))
    return read_files(head.parent) if head.name == FILES else Files(head.parent, read_json(head))


def refuse_damaged_capture(path: Path) -> None:
    """Raise FolderError if ``path`` is a capture of a stored run or sweep, and damaged."""
    for folder in path.absolute().parents[1:3] if str(path) != "-" else ():
        name = path.absolute().relative_to(folder).as_posix()
        if not name.startswith("captures/") or not (folder / MANIFEST).is_file():
            continue
        try:
            ours = "files" in stated(folder / MANIFEST)
        except FolderError:
            ours = False
        files = Files(folder, read_manifest(folder)) if ours else None
        if files and name in files.digests:
            files.path(name)


class StoredTables(Mapping[str, "pl.DataFrame"]):
    """Tables in a folder, each read on first use."""

    def __init__(
        self,
        files: Files,
        names: Iterable[str],
        under: str = "",
        *,
        rows: Mapping[str, int] | None = None,
        axes: Iterable[str] | None = None,
    ) -> None:
        """``rows`` are the tables' numbers of rows, ``axes`` those of a sweep; see `table_shapes`."""
        self._files = files
        self._rows = rows or {}
        self._axes = axes
        self._names = list(names)
        self._under = under
        self._read: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._read:
            path = self.path(name)
            read = read_table(path)
            insist_on_rows(path, name, read, self._rows.get(name))
            self._read[name] = read
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names  # that of `Mapping` reads the table

    def path(self, name: str) -> Path:
        """The file of the table ``name``, verified, with its columns. Raises FolderError, OSError."""
        path = self._files.path(f"{self._under}{name}.parquet")
        insist_on_columns(path, name, table_schema(path), self._axes)
        return path

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def digests_of(folder: Path, under: str = "") -> dict[str, str]:
    """The digest of every file in ``folder`` by its path, with ``under`` in front; of hidden ones and manifests none."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path: path.relative_to(folder) for path in files}
    return {
        f"{under}{name.as_posix()}": digests.of_file(path)
        for path, name in names.items()
        if name != Path(MANIFEST) and not any(part.startswith(".") for part in name.parts)
    }

"""Files that a user names for output: pages, figures, tables. They never replace a stored result."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.folder.atomic import behind_links, write_bytes
from ecnlab.folder.names import CAPTURES, CARD, FILES, LOCK, MADE, MANIFEST, OURS, PARTS, RESULTS, SPECS

PAGE: Final = (".html", ".htm")
"""Endings of a page."""

TABLE: Final = (".parquet",)

TOML: Final = (".toml",)

_TABLES: Final = frozenset(f"{name}.parquet" for name in OURS)

_OF_HEAD: Final[dict[str, frozenset[str]]] = {
    MANIFEST: frozenset({MANIFEST, SPECS, LOCK, *_TABLES, *(f"tables/{name}" for name in (*_TABLES, MADE))}),
    FILES: frozenset({FILES, RESULTS}),
    CARD: frozenset({CARD, "badge.svg", "card.html"}),
}
"""Files of a result, by the file that identifies its folder; the files that this one lists belong to it, too."""


def write_new(files: Mapping[Path, bytes], remedy: str) -> None:
    """Write ``files``, contents by path, which the user can edit afterwards. A file with the same content stays as it is.

    Raises EcnlabError with the ``remedy`` before the first is written if one exists with another content; as
    `refuse_output` does, and OSError.
    """
    missing = {path: content for path, content in files.items() if not path.is_file()}
    for path, content in files.items():
        refuse_output(path, [path.suffix])
        if path not in missing and (path.stat().st_size != len(content) or path.read_bytes() != content):
            raise EcnlabError(f"{path} exists with another content: {remedy}")
    for path, content in missing.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_named(path, content, [path.suffix])


def write_named(path: Path, data: bytes, endings: Collection[str], *, own: Path | None = None) -> None:
    """Write ``data`` to ``path``, which the user has named, or whose folder the user has named. Raises as `refuse_output` does, and OSError."""
    refuse_output(path, endings, own=own)
    write_bytes(path, data)


def refuse_output(path: Path, endings: Collection[str], *, own: Path | None = None) -> None:
    """Raise EcnlabError unless ``path`` can be written without the loss of a stored result.

    It must have one of ``endings``. It must not be a device or a pipe, a link out of its folder or to another kind of file, or
    a file of a stored result; ``own`` is the folder of the result that the caller writes, whose files it may replace.
    """
    target = behind_links(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise EcnlabError(f"{path} is a device or a pipe, not a file: choose another file")
    if path.suffix.lower() not in endings:
        *others, last = endings
        named = f"{', '.join(others)} or {last}" if others else last
        raise EcnlabError(f"{path}: the name of this file must end with {named}: choose another name")
    if path.is_symlink():
        _refuse_link(path, target)
    if (folder := _result_with(target, own)) is not None:
        raise EcnlabError(f"{path} belongs to the result in {folder} and would be overwritten: choose another file")


def _refuse_link(path: Path, target: Path) -> None:
    inside = target.parent == path.parent.resolve()
    if not inside or target.suffix.lower() != path.suffix.lower():
        raise EcnlabError(f"{path} is a link to {target}, which would be overwritten: choose another file")


def _result_with(target: Path, own: Path | None) -> Path | None:
    """The folder of the result that stores ``target``, or None. Results within results count, except for ``own``."""
    path = target.parent.resolve() / target.name
    owned = own.resolve() if own is not None else None
    for folder in path.parents:
        if folder != owned and _stores(folder, path.relative_to(folder).as_posix()):
            return folder
    return None


def _stores(folder: Path, name: str) -> bool:
    """Return whether ``name``, relative to ``folder``, is a file of a result there."""
    for head, names in _OF_HEAD.items():
        if (folder / head).is_file() and (name in names or name in _listed(folder / head)):
            return True
    if not (folder / MANIFEST).is_file():
        return False
    return name.startswith((f"{PARTS}/", f"{CAPTURES}/")) and (folder / name).is_file() and not name.endswith(PAGE)


def _listed(head: Path) -> Collection[str]:
    """The files that ``head`` lists, even if it is damaged elsewhere."""
    with suppress(ValueError, RecursionError, AttributeError):
        return frozenset(json.loads(head.read_bytes()).get("files", ()))
    return ()

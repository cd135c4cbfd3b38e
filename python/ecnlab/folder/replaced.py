"""Folders written whole or not at all: scratch folders, locks, and the replacement of one folder by another."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ecnlab.base import locks
from ecnlab.base.errors import FolderError
from ecnlab.folder import atomic
from ecnlab.folder.atomic import behind_links
from ecnlab.folder.manifest import stated
from ecnlab.folder.names import CAPTURES, FILES, LOCK, MADE, MANIFEST, OURS


@contextmanager
def whole_folder(folder: Path, *, durable: bool = True) -> Iterator[Path]:
    """Create a scratch folder that replaces ``folder`` when the block succeeds, and is removed otherwise.

    If ``folder`` is a link, its target is replaced. Foreign files in it are kept.
    """
    folder = behind_links(folder)
    with _scratch(folder, "partial") as scratch:
        yield scratch
        if durable:
            for path in sorted(scratch.rglob("*"), reverse=True):
                atomic.sync(path)
            atomic.sync(scratch)
        replace_folder(scratch, folder, durable=durable)


@contextmanager
def scratch_folder(folder: Path, kind: str = "scratch") -> Iterator[Path]:
    """Create a folder in the parent of ``folder`` that is removed when the block ends; one per ``kind``."""
    with _scratch(folder, kind) as scratch:
        yield scratch


@contextmanager
def _scratch(folder: Path, kind: str) -> Iterator[Path]:
    """Create a locked folder beside ``folder``; those left by a killed process are recognised and removed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Without locks a folder that a running process uses looks like one that was left.
    for left in folder.parent.glob(f".{folder.name}.*.{kind}") if locks.exist() else ():
        with suppress(OSError), _locked(left):
            shutil.rmtree(left)
    scratch = folder.with_name(f".{folder.name}.{os.getpid()}.{kind}")
    scratch.mkdir()
    try:
        with _locked(scratch):
            yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Acquire the lock of ``folder``. Raises OSError if another process holds it."""
    if not locks.exist():  # nor can a folder be opened there
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        locks.acquire(descriptor)
        yield
    finally:
        os.close(descriptor)


def replace_folder(new: Path, folder: Path, *, durable: bool = True) -> None:
    """Replace ``folder`` by ``new``; the old one is removed only after the new one is in place."""
    old = folder.with_name(f".{folder.name}.old")
    if folder.exists():
        _clear_away(old, folder)
        atomic.rename(folder, old, durable=durable)
    try:
        atomic.rename(new, folder, durable=durable)
    except BaseException:
        if old.exists() and not folder.exists():
            atomic.rename(old, folder, durable=durable)
        raise
    _clear_away(old, folder)


def _clear_away(old: Path, folder: Path) -> None:
    """Remove ``old``, which ``folder`` has replaced. Foreign files in it are moved to ``folder``."""
    if not old.exists():
        return
    for name in _strangers(old):
        if not (folder / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            (old / name).rename(folder / name)
    shutil.rmtree(old, ignore_errors=True)


def _strangers(folder: Path) -> list[str]:
    """Return the files in a result folder that ecnlab did not write; for captures, those not in the manifest."""
    ours = {MANIFEST, FILES, CAPTURES, MADE, *(f"{name}.parquet" for name in OURS)}
    found = [path.name for path in folder.iterdir() if path.name not in ours and not path.name.endswith(".partial")]
    if not (folder / CAPTURES).is_dir():
        return found
    with suppress(OSError, ValueError, FolderError, AttributeError):
        ours.update(stated(folder / MANIFEST).get("files", {}))
    return found + [name for path in (folder / CAPTURES).iterdir() if (name := f"{CAPTURES}/{path.name}") not in ours]


def restore_folder(folder: Path) -> None:
    """Undo a replacement that was interrupted between its two renames."""
    old = folder.with_name(f".{folder.name}.old")
    if old.exists() and not folder.exists():
        atomic.rename(old, folder)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Lock ``folder`` against a second writing process. Raises FolderError if there is one."""
    with (folder / LOCK).open("w") as lock:
        try:
            locks.acquire(lock.fileno())
        except BlockingIOError as error:
            raise FolderError(f"another process is writing into {folder}") from error
        yield

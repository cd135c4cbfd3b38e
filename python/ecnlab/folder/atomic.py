"""Atomic file writes: complete or not at all, even if interrupted."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write ``data`` so that ``path`` is either unchanged or complete, even if interrupted.

    This includes a loss of power, unless not ``durable``. Raises OSError (folder not writable, disk full).
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        path.write_bytes(data)  # a pipe or a terminal must not be replaced by a file
        return
    with whole_file(behind_links(path), durable=durable) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that becomes ``path`` when the block ends well, and is removed otherwise. Raises OSError that names ``path``."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        rename(partial, path, durable=durable)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def rename(old: Path, new: Path, *, durable: bool = True) -> None:
    """Rename ``old`` to ``new``, replacing it; both in one folder. Raises OSError."""
    old.replace(new)
    if durable:
        sync(new.parent)


def sync(path: Path) -> None:
    """Flush the file or folder ``path`` to disk, before any later operation. Raises OSError.

    Does nothing on Windows, which can neither open a folder nor flush a file that is open for reading only.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot sync a folder and report an error.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def behind_links(path: Path) -> Path:
    """Return the target of ``path``, so that writing does not replace a link. Raises OSError for a loop."""
    try:
        return path.resolve() if path.is_symlink() else path
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


def link_or_copy(source: Path, target: Path) -> None:
    """Make ``target`` the same file as ``source``, or a copy where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)

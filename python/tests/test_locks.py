"""Locks of folders, and what systems without ``fcntl`` do instead."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ecnlab.base import locks
from ecnlab.base.errors import FolderError
from ecnlab.folder.replaced import only_writer, whole_folder

WITHOUT = "import sys; sys.modules['fcntl'] = None\n"
"""Makes ``import fcntl`` fail, as on Windows."""

EVERY_MODULE = """
import importlib, pkgutil, ecnlab
found = [each.name for each in pkgutil.walk_packages(ecnlab.__path__, "ecnlab.") if not each.name.endswith("__main__")]
for name in found:
    importlib.import_module(name)
assert "ecnlab.linux.wall.container" in found
try:
    import fcntl
except ImportError:
    print("none has fcntl")
"""

WRITE = """
from pathlib import Path
from ecnlab.folder.replaced import only_writer, whole_folder
with whole_folder(Path("result")) as scratch:
    (scratch / "a").write_text("a")
with only_writer(Path("result")):
    print(sorted(str(path) for path in Path().rglob("*")))
"""


def python(code: str, folder: Path) -> str:
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_every_module_imports_without_fcntl(tmp_path: Path) -> None:
    # Dask's locks need a module of Windows in its place.
    assert python("import distributed\n" + WITHOUT + EVERY_MODULE, tmp_path) == "none has fcntl\n"


def test_folders_are_written_without_locks_and_scratch_folders_of_others_remain(tmp_path: Path) -> None:
    (tmp_path / ".result.1.partial").mkdir()
    found = python(WITHOUT + WRITE, tmp_path)
    assert "'result/a'" in found and "'.result.1.partial'" in found


def test_folders_are_written_on_windows_which_cannot_open_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def open_file(path: str | os.PathLike[str], *arguments: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *arguments)

    monkeypatch.setattr("os.open", open_file)
    monkeypatch.setattr("ecnlab.base.locks.exist", lambda: False)
    monkeypatch.setattr("sys.platform", "win32")
    with whole_folder(tmp_path / "result") as scratch:
        (scratch / "a").write_text("a")
    assert (tmp_path / "result" / "a").read_text() == "a"


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with only_writer(tmp_path), pytest.raises(FolderError, match="another process is writing"), only_writer(tmp_path):
        pass


def test_a_lock_is_exclusive_while_its_file_is_open(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path, os.O_RDONLY) for _ in range(2))
    try:
        locks.acquire(first)
        with pytest.raises(BlockingIOError):
            locks.acquire(second)
        os.close(first)
        locks.acquire(second)
    finally:
        os.close(second)


def test_leftovers_are_removed_where_there_are_locks(tmp_path: Path) -> None:
    (tmp_path / ".result.1.partial").mkdir()
    with whole_folder(tmp_path / "result"):
        pass
    assert not (tmp_path / ".result.1.partial").exists()

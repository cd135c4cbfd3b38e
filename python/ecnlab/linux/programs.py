"""Programs of this machine for the guest's file system."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path


def install(program: Path, root: Path) -> None:
    """Put ``program`` into ``bin`` of the file system ``root``, and where they belong the libraries that it needs."""
    target = root / "bin" / program.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(program.resolve(), target)
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+) \(0x", listed):
        _copy_library(library, root / library.lstrip("/"))


def _copy_library(library: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(library, target)
    target.chmod(0o755)

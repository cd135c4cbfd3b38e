"""The guest's program and file system, compiled once and kept with the kernels."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.linux.build import build_container, build_root, missing_for_guest
from ecnlab.linux.kernel import cache, digest, guest_sources

CONTAINER: Final = "container"


@dataclass(frozen=True)
class Guest:
    """The programs on the machine's kernel."""

    folder: Path

    @property
    def root(self) -> Path:
        """Initial contents of a run's file system."""
        return self.folder / "root"

    @property
    def container(self) -> Path:
        """Return the program that starts it in new namespaces."""
        return self.folder / CONTAINER


def prepare() -> Guest:
    """The guest of these sources, compiled if it has not been. Raises EcnlabError, with a remedy for all that is missing."""
    folder = cache() / f"guest-{digest(*guest_sources())}"
    if not folder.exists():
        lacking = missing_for_guest()
        if lacking:
            raise EcnlabError("the hosts cannot be made:\n" + "\n".join(f"  {line}" for line in lacking))
        scratch = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        build_root(scratch / "root")
        build_container(scratch / CONTAINER)
        try:
            scratch.rename(folder)
        except OSError:
            # Another process has been faster, with the same.
            shutil.rmtree(scratch, ignore_errors=True)
    return Guest(folder)

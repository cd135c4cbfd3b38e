"""The captures of a sweep's runs: ``captures/<id>/`` in its folder, those of a run whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ecnlab._core import ExperimentRun, Scenario
from ecnlab.folder import digests
from ecnlab.folder.names import CAPTURES
from ecnlab.folder.replaced import whole_folder
from ecnlab.scenario.files import with_captures


class Taps:
    """Capture points of each run of a sweep: those of its scenario, and ``places`` (links or nodes)."""

    def __init__(self, folder: Path, places: Iterable[str]) -> None:
        self._folder = folder / CAPTURES
        self._places = tuple(places)

    def clean(self) -> None:
        """Remove incomplete files of a process that was killed. Only for the holder of the writer's lock."""
        for scratch in self._folder.glob(".*.partial"):
            shutil.rmtree(scratch)

    def tapped(self, run: ExperimentRun) -> Scenario:
        """Return the scenario of ``run`` with all its captures. Raises SpecError if a place does not exist."""
        return with_captures(run.scenario, self._places)

    def lack(self, run: str, scenario: Scenario, known: Mapping[str, str]) -> bool:
        """Return whether a capture of ``run`` is missing, or does not match its digest in ``known``."""
        return any(not self._intact(self._folder / run / name, known.get(name)) for name in scenario.captures)

    def _intact(self, path: Path, digest: str | None) -> bool:
        try:
            return digests.of_file(path) == digest
        except OSError:
            return False

    @contextmanager
    def written(self, run: str, scenario: Scenario) -> Iterator[Path | None]:
        """A folder for the captures of ``run``, which stays if the block ends well; None if it has none."""
        if scenario.captures:
            with whole_folder(self._folder / run) as scratch:
                yield scratch
        else:
            yield None

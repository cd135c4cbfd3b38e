"""The runs of a sweep that are in the user's cache: taken from there before workers begin, and stored when they end."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from time import perf_counter
from typing import Final

from ecnlab._core import Experiment, ExperimentRun
from ecnlab.base.lazy_imports import np
from ecnlab.folder import size_limits
from ecnlab.folder.cache import MAX_ENTRY, Cache, key
from ecnlab.folder.finished_runs import Parts
from ecnlab.folder.part_files import first_id, is_single, small_parts
from ecnlab.runs import scenario_files
from ecnlab.runs.block import Outcome
from ecnlab.runs.captures import Taps
from ecnlab.runs.sweep_doing import Executor, Todo

SECONDS: Final = 1.0
"""Shortest time between two times of storing finished runs."""

HELD: Final = 64 * 10**6
"""Bytes of parts from the cache that are merged without being stored first."""

REST: Final = 50
"""Time between them relative to the time that the last one took."""


class Remembered:
    """Runs of ``experiment`` in ``cache``, as their parts. Not those with captures or user-defined laws, which may read other files."""

    def __init__(self, cache: Cache, experiment: Experiment, parts: Parts, tapping: Taps) -> None:
        self._cache, self._experiment, self._parts, self._tapping = cache, experiment, parts, tapping
        self._cell: tuple[str, bool] = ("", False)
        self._new: dict[str, bytes] = {}
        self._whole = set[str]()
        self._next = perf_counter() + SECONDS
        self._requested = (",".join(parts.tables), str(size_limits.limit()))

    def has_first(self) -> bool:
        """Return whether the cache has the first run of the experiment, and probably others."""
        first = self._key(self._experiment.run(0)) if self._cache.on else None
        return first is not None and any(self._cache.get([first]))

    def recall(self, todo: Todo) -> int:
        """Take the runs of ``todo`` that the cache has from it, and add them to the parts. Return their number.

        They are stored, so that no run is lost whose end was reported, unless nothing is left to do.
        """
        there, waiting, size = list[int](), list[tuple[bytes, list[str]]](), 0

        def store() -> None:
            for part in waiting:
                self._parts.store(*part)
            waiting.clear()

        for data, places in self._found(todo):
            there += places
            waiting.append((data, [self._experiment.id(int(todo.indices[place])) for place in places]))
            size += len(data)
            if size > HELD:
                store()
        todo.indices = np.delete(todo.indices, there)
        if todo.indices.size:
            store()
        for part in waiting:
            self._parts.hold(*part)
        return len(there)

    def _found(self, todo: Todo) -> Iterator[tuple[bytes, list[int]]]:
        """Yield the parts in the cache that have runs of ``todo``, with the places of these."""
        places = dict[bytes, int]()

        def keys() -> Iterator[bytes]:
            for place, index in enumerate(todo.indices):
                if one := self._key(self._experiment.run(int(index))):
                    places[one] = place
                    yield one

        blocks = dict[bytes, list[int]]()
        for one, data in self._cache.get(keys()) if self._cache.on else ():
            if len(data) == len(one):
                blocks.setdefault(data, []).append(places[one])
            else:
                yield data, [places[one]]
        for one, data in self._cache.get(blocks) if blocks else ():
            yield data, blocks[one]

    def noting(self, executor: Executor) -> Executor:
        """Return ``executor``, with its finished runs stored in the cache."""
        return _Noting(executor, self) if self._cache.on else executor

    def note(self, run: ExperimentRun) -> None:
        """Store ``run``, which has ended, at once or with later ones."""
        if one := self._key(run):
            self._new[run.id] = one
        if perf_counter() >= self._next:
            self.store()

    def store(self) -> None:
        """Store the finished runs that the cache does not have yet."""
        began = perf_counter()
        if self._new:
            self._cache.put(self._entries())
        self._new = {}
        now = perf_counter()
        self._next = now + max(SECONDS, REST * (now - began))

    def _entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Entries of the finished runs: their part, or the key of the entry that has their part."""
        for name, runs, data in small_parts(self._parts.folder, self._has_new, MAX_ENTRY):
            found = [self._new[run] for run in runs if run in self._new]
            if is_single(name):
                yield found[0], data
            elif found:
                block = key("block", name)
                yield block, data
                yield from ((one, block) for one in found)
                if len(found) == len(runs):
                    self._whole.add(name)

    def _has_new(self, name: str) -> bool:
        """Return whether the part ``name`` may have runs to store."""
        return first_id(name) in self._new if is_single(name) else name not in self._whole

    def _key(self, run: ExperimentRun) -> bytes | None:
        """The key of ``run``; None if the cache must not have it."""
        if self._cell[0] != run.hash:
            kept = not scenario_files.laws(run.scenario) and not self._tapping.tapped(run).captures
            self._cell = (run.hash, kept)
        return key("part", run.hash, str(run.seed), run.id, *self._requested) if self._cell[1] else None


class _Noting:
    """An executor whose finished runs are stored in the cache."""

    def __init__(self, executor: Executor, remembered: Remembered) -> None:
        self._executor, self._remembered = executor, remembered

    def outcomes(self, runs: Iterator[ExperimentRun], number: int) -> Generator[Outcome, None, None]:
        """Do ``runs``, and yield each as it ends."""
        with closing(self._executor.outcomes(runs, number)) as outcomes:
            try:
                for run, error in outcomes:
                    if error is None:
                        self._remembered.note(run)
                    yield run, error
            finally:
                self._remembered.store()

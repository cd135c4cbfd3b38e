"""Many runs in threads of this process, each reduced to its metrics: for searches and other questions over spaces."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ecnlab._core import Experiment, Pool, Scenario
from ecnlab.base.errors import EcnlabError, RunError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.cache import BLOCK, Cache, key, settings
from ecnlab.runs import scenario_files
from ecnlab.runs.cluster import Cluster, connection
from ecnlab.runs.cluster_metrics import MetricsPool
from ecnlab.runs.sweep_doing import Progress, cores
from ecnlab.scenario import metrics as metric_checks
from ecnlab.scenario.built import Overrides
from ecnlab.scenario.files import is_experiment, read_experiment, read_scenario, read_text
from ecnlab.scenario.metrics import Metrics

Points: TypeAlias = "Sequence[Overrides] | pl.DataFrame"
"""Values by dotted key for each point; or a table with a column for each key."""

Values: TypeAlias = Mapping[str, float | None]
"""The metrics of a run by name; None where a metric is not defined."""


class Outcome(NamedTuple):
    """A run that has ended."""

    run: int
    """Its number: runs are counted from 0 in the order in which they were submitted."""
    seed: int
    values: Values


class Batch:
    """Runs of variants of one scenario, submitted in any number and at any time, with results as they end.

    It knows nothing of the search or plan that submits them::

        with ecnlab.Batch("dumbbell.toml", {"p99": {"table": "links", "column": "sojourn_p99_s"}}) as batch:
            batch.submit([{"queue.red.max_p": 0.1}], seeds=range(1, 9))
            for run, seed, values in batch.results():
                ...  # may submit more

    Threads of this process do the runs, as many at a time as fit into memory; a run leaves nothing but its metrics, which equal
    those of a sweep to the last bit. Metrics that the user's cache has are results without a run (``docs/cache.md``).
    """

    def __init__(
        self,
        scenario: str | os.PathLike[str] | Scenario,
        metrics: Metrics,
        *,
        threads: int | None = None,
        cache: bool = True,
        cluster: Cluster | None = None,
    ) -> None:
        """``metrics`` are definitions as in an experiment file, ``threads`` the runs at a time (default: one a core).

        Without ``cache`` the user's cache is not used. The workers of ``cluster`` do the runs, if it is given.

        Raises SpecError and MetricError as reading a file does; EcnlabError for a scenario with user-defined laws, which run in
        processes of their own (`ecnlab.sweep`).
        """
        self.scenario = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
        """The scenario of points without overrides."""
        self._metrics = {name: dict(definition) for name, definition in metrics.items()}
        _refuse_laws(self.scenario)
        metric_checks.check(self._metrics)
        pool = Pool(self._metrics, threads or cores())
        self._names = pool.metrics
        self._pool = MetricsPool(self._metrics, self._names, cluster) if cluster else pool
        self._checked = set[str]()
        self._seeds: list[int] = []
        self._cache = Cache(settings() if cache else None)
        self._definitions = json.dumps(self._metrics)
        self._hits: list[Outcome] = []
        self._ended = deque[tuple[int, list[float | None] | str]]()
        self._keys = dict[int, bytes]()
        self._new: list[tuple[bytes, bytes]] = []

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    @property
    def open(self) -> int:
        """Number of runs whose results have not been taken."""
        return self._pool.open + len(self._hits) + len(self._ended)

    def submit(self, points: Points = ({},), seeds: Iterable[int] = (1,)) -> range:
        """Add the runs of each of ``points`` with each of ``seeds``; return their numbers, seeds fastest.

        Raises SpecError for a point that is no valid scenario, MetricError for a metric that it does not have.
        """
        each = list(seeds)
        # All points are read before the first run begins.
        scenarios = [self.scenario.with_overrides(dict(point)) if point else self.scenario for point in _rows(points)]
        first = len(self._seeds)
        for scenario in scenarios:
            self.add(scenario, each)
        return range(first, len(self._seeds))

    def add(self, scenario: Scenario, seeds: Sequence[int]) -> range:
        """Add the runs of ``scenario`` with each of ``seeds``; return their numbers. Raises MetricError for a metric that it does not have."""
        if scenario.hash not in self._checked:
            _refuse_laws(scenario)
            metric_checks.check_in(self._metrics, [scenario])
            self._checked.add(scenario.hash)
        runs = range(len(self._seeds), len(self._seeds) + len(seeds))
        self._seeds += seeds
        for some in self._recall(scenario, runs) if self._cache.on else [runs]:
            self._pool.submit(some.start, scenario, self._seeds[some.start : some.stop])
        return runs

    def _recall(self, scenario: Scenario, runs: range) -> list[range]:
        """Note the results of ``runs`` that the cache has; return the ranges of the others."""
        keys = {run: key("metrics", self._definitions, scenario.hash, str(self._seeds[run])) for run in runs}
        known = dict(self._cache.get(set(keys.values())))
        others: list[range] = []
        for run, one in keys.items():
            if one in known:
                self._hits.append(self._outcome(run, json.loads(known[one])))
                continue
            self._keys[run] = one
            if others and others[-1].stop == run:
                others[-1] = range(others[-1].start, run + 1)
            else:
                others.append(range(run, run + 1))
        return others

    def _outcome(self, run: int, values: Sequence[float | None]) -> Outcome:
        return Outcome(run, self._seeds[run], dict(zip(self._names, values, strict=True)))

    def _note(self, run: int, values: Sequence[float | None]) -> None:
        """Store the metrics of ``run`` in the cache, at once or with later ones."""
        if one := self._keys.pop(run, None):
            self._new.append((one, json.dumps(list(values)).encode()))
        if len(self._new) >= BLOCK:
            self._store()

    def _store(self) -> None:
        new, self._new = self._new, []
        self._cache.put(new)

    def results(self) -> Iterator[Outcome]:
        """Yield the runs that end, until none is open; those submitted meanwhile are among them.

        Raises RunError for a run without a result, naming it; the others can still be taken. Cancelled after `cancel`.
        On a cluster also EcnlabError and OSError, as a sweep does.
        """
        try:
            while self.open:
                while self._hits:
                    yield self._hits.pop()
                self._ended += self._pool.take() if self._pool.open else []
                while self._ended:
                    run, values = self._ended.popleft()
                    if isinstance(values, str):
                        raise RunError(f"run {run} (seed {self._seeds[run]}): {values}")
                    self._note(run, values)
                    yield self._outcome(run, values)
        finally:
            self._store()

    def cancel(self) -> None:
        """End all runs within some milliseconds. The batch cannot be used again."""
        self._pool.cancel()
        self._hits.clear()
        self._ended.clear()
        self._cache.close()


def batch(
    scenario: str | os.PathLike[str] | Scenario | Experiment,
    points: Points = ({},),
    seeds: Iterable[int] = (1,),
    metrics: Metrics | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cache: bool = True,
    cluster: str | Cluster | None = None,
) -> pl.DataFrame:
    """Return the metrics of the runs of ``scenario`` at each of ``points`` with each of ``seeds``, one row a run and metric.

    ``points`` are dotted keys with values, or a table with a column for each key; ``metrics`` are definitions as in an experiment
    file, ``threads`` the runs at a time (default: one a core); ``progress`` is called with (runs done, runs in all). Columns: the
    keys of the points, ``seed``, ``metric`` and ``value``, which is null where the metric is not defined. Nothing is stored but the
    metrics, in the user's cache, unless ``cache`` is false (``docs/cache.md``).
    ``cluster`` is the address of a Dask scheduler, or ``"local"``: its workers do the runs, with the same values (``docs/cluster.md``).
    Of an experiment (a file, or one already read) all is in the file, and the columns are those of ``Sweep.metrics``.

    Values equal those of `ecnlab.sweep` to the last bit. Raises as `Batch` and its methods do.
    """
    report = progress or (lambda _done, _all: None)
    read = _read(scenario)
    if isinstance(read, Experiment):
        return _of_experiment(read, threads, report, cache, cluster)
    if metrics is None:
        raise EcnlabError("a batch of a scenario needs `metrics`, definitions as in an experiment file")
    rows, each = _rows(points), list(seeds)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    with (
        connection(cluster, threads) as connected,
        Batch(read, metrics, threads=threads, cache=cache, cluster=connected) as runs,
    ):
        runs.submit(rows, each)
        found = _all(runs, len(rows) * len(each), report)
    places = [[row.get(key) for row in rows for _ in each] for key in keys]
    return _long(dict(zip(keys, places, strict=True)) | {"seed": each * len(rows)}, found, list(metrics))


def _of_experiment(
    experiment: Experiment, threads: int | None, report: Progress, cache: bool, cluster: str | Cluster | None
) -> pl.DataFrame:
    names = list(experiment.metrics)
    runs = [experiment.run(index) for index in range(len(experiment))]
    with (
        connection(cluster, threads) as connected,
        Batch(runs[0].scenario, experiment.metrics, threads=threads, cache=cache, cluster=connected) as doing,
    ):
        for run in runs:
            doing.add(run.scenario, [run.seed])
        found = _all(doing, len(runs), report)
    places: dict[str, list[Any]] = {"arm": [run.arm for run in runs]}
    places |= {axis: [run.point[axis] for run in runs] for axis in experiment.axes}
    return _long(places | {"replicate": [run.replicate for run in runs]}, found, names)


def _read(scenario: str | os.PathLike[str] | Scenario | Experiment) -> Scenario | Experiment:
    if isinstance(scenario, Scenario | Experiment):
        return scenario
    return read_experiment(scenario) if is_experiment(read_text(scenario)) else read_scenario(scenario)


def _rows(points: Points) -> list[Overrides]:
    return list(points.to_dicts() if isinstance(points, pl.DataFrame) else points)


def _all(runs: Batch, number: int, report: Progress) -> list[Values]:
    """Return the metrics of the ``number`` runs, in the order of submission."""
    found = dict[int, Values]()
    report(0, number)
    for run, _, values in runs.results():
        found[run] = values
        report(len(found), number)
    return [found[run] for run in range(number)]


def _long(places: Mapping[str, Sequence[Any]], found: Sequence[Values], metrics: Sequence[str]) -> pl.DataFrame:
    """Return a row for each run and metric: columns ``places``, ``metric`` and ``value``."""
    kinds = {"arm": pl.String, "replicate": pl.UInt32, "seed": pl.UInt64}
    repeated = {name: [value for value in values for _ in metrics] for name, values in places.items()}
    columns = [pl.Series(name, values, dtype=kinds.get(name)) for name, values in repeated.items()]
    names = pl.Series("metric", [*metrics] * len(found), dtype=pl.String)
    return pl.DataFrame(
        [*columns, names, pl.Series("value", [row[name] for row in found for name in metrics], dtype=pl.Float64)]
    )


def _refuse_laws(scenario: Scenario) -> None:
    if files := scenario_files.laws(scenario):
        raise EcnlabError(
            f"{scenario.path}: {', '.join(files)} has user-defined laws, which run in processes of their own: use ecnlab.sweep"
        )

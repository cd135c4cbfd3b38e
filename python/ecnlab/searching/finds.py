"""A find in its folder: the scenario, the experiment that shows the harm beside the other laws, and what it gave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ecnlab._core import Experiment
from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import PACKETS
from ecnlab.folder.outputs import TOML, write_named
from ecnlab.runs.batch import batch
from ecnlab.runs.scenario_files import laws
from ecnlab.runs.sweep import sweep
from ecnlab.scenario.built import toml_value
from ecnlab.scenario.files import read_experiment
from ecnlab.searching import confirming, harm
from ecnlab.searching.confirming import SEEDS, Confirmed
from ecnlab.searching.harm import Harm
from ecnlab.searching.space import Candidate, Space

SCENARIO: Final = "scenario.toml"
EXPERIMENT: Final = "find.toml"
RECORD: Final = "find.json"

REPLAYED: Final = "on-{engine}.json"
"""The record of runs by another engine."""

FORMAT: Final = 2


def write_scenario(folder: Path, space: Space, one: Candidate, about: str, arm: str = "") -> None:
    """Write the scenario of ``one`` into ``folder`` as `Space.written` gives it, with a comment."""
    folder.mkdir(parents=True, exist_ok=True)
    comment = "\n".join([f"# {about}", *(f"# - {words}" for words in one.words)])
    text = f"{comment}\n\n{space.written(one, folder, arm)}"
    write_named(folder / SCENARIO, text.encode(), TOML, own=folder)


def write(folder: Path, space: Space, one: Candidate, kind: Harm, seed: int) -> None:
    """Write the scenario of ``one`` and its experiment, whose seeds begin at ``seed``, into ``folder``."""
    law = space.labels[space.subject]
    write_scenario(folder, space, one, f"{law}: {kind.words}, {kind.side} with the other laws of find.toml.")
    tables = {
        "format": 1,
        "title": f"{law} beside {space.against}",
        "scenario": SCENARIO,
        "replicates": SEEDS,
        "seed": seed,
        "arm": {arm: {"set": values} for arm, values in space.sets(folder).items()},
        "metrics": space.metrics(one),
    }
    written = "\n".join(f"{key} = {toml_value(value, key)}" for key, value in tables.items()) + "\n"
    write_named(folder / EXPERIMENT, written.encode(), TOML, own=folder)


def measured(
    folder: Path, metric: str, seeds: int | None = None, engine: Engine = PACKETS, workers: int | None = None
) -> dict[str, list[float | None]]:
    """By arm, the values of ``metric`` of the experiment in ``folder``, one for each of its first ``seeds`` replicates (default: all).

    Raises as `sweep` does.
    """
    experiment = read_experiment(folder / EXPERIMENT)
    experiment = experiment.with_replicates(seeds) if seeds else experiment
    rows = _metrics(experiment, engine, workers).filter(pl.col("metric") == metric).sort("replicate")
    return {arm: rows.filter(pl.col("arm") == arm)["value"].to_list() for arm in dict.fromkeys(rows["arm"])}


def _metrics(experiment: Experiment, engine: Engine, workers: int | None) -> pl.DataFrame:
    if engine == PACKETS and not any(map(laws, experiment.scenarios)):
        return batch(experiment, threads=workers, cache=False)
    with TemporaryDirectory() as scratch:
        return sweep(experiment, Path(scratch) / "runs", engine=engine, workers=workers).metrics


def confirm(folder: Path, space: Space, one: Candidate, kind: Harm, workers: int | None) -> dict[str, Any] | None:
    """The record of the find ``one``, which `write` has written into ``folder``; None if its seeds do not show the harm, or too little."""
    values = measured(folder, kind.metric, workers=workers)
    least = one.scales[kind.name].least
    found, best = confirmed(values, space.subject, kind.worse, least)
    record = {
        "format": FORMAT,
        "harm": kind.name,
        "measure": kind.words,
        "metric": kind.metric,
        "unit": kind.unit,
        "worse": kind.worse,
        "least": least,
        "arm": space.subject,
        "best": best,
        "labels": dict(space.labels),
        "means": {arm: mean(some) for arm, some in values.items()},
        "confirmed": found.as_json(),
        "path": list(one.words),
    }
    return {**record, "sentence": sentence(record)} if found.holds and found.times > harm.MATTERS else None


def confirmed(
    values: Mapping[str, Sequence[float | None]], law: str, worse: str, least: float
) -> tuple[Confirmed, str]:
    """The harm of the values of the arm ``law`` beside the best of the others, and the arm that is the best in the mean.

    Raises EcnlabError if no seed has values of both.
    """
    best = min if worse == "high" else max
    others = {arm: some for arm, some in values.items() if arm != law}
    harms = [
        harm.times(worse, own, best(there), least)
        for own, *rest in zip(values[law], *others.values(), strict=True)
        if own is not None and (there := [one for one in rest if one is not None])
    ]
    if not harms:
        raise EcnlabError("no run has a value of the law and of another")
    return confirming.of_seeds(harms, len(values[law])), best(others, key=lambda arm: mean(others[arm]))


def mean(values: Sequence[float | None]) -> float:
    """The mean of the values that are defined; 0 if none is."""
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else 0.0


def read(folder: Path) -> dict[str, Any]:
    """The record of the find in ``folder``. Raises EcnlabError if it has none."""
    path = folder / RECORD
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise EcnlabError(
            f"{folder} has no {RECORD}: name the folder of a find, such as results/search-codel/find/delay"
        ) from None
    except ValueError as error:
        raise EcnlabError(f"{path}: not JSON: {error}: run the search again") from error
    if record.get("format") != FORMAT:
        raise EcnlabError(f"{path}: has the format {record.get('format')!r}, and not {FORMAT}: run the search again")
    return record


def value(number: float, unit: str) -> str:
    """A measure with its unit."""
    match unit:
        case "s":
            return f"{number:.3g} s" if number >= 1 else f"{1e3 * number:.3g} ms"
        case "bit/s":
            return f"{1e-6 * number:.3g} Mbps"
        case "share":
            return f"{100 * number:.2g} %"
        case _:
            return f"{number:.3g} {unit}".removesuffix(" ratio").rstrip()


def sentence(record: Mapping[str, Any]) -> str:
    """The harm of a find, with its numbers and its path."""
    own, best = (value(record["means"][arm], record["unit"]) for arm in (record["arm"], record["best"]))
    found, labels = record["confirmed"], record["labels"]
    least = value(record["least"], record["unit"])
    return (
        f"{labels[record['arm']]} has a {record['measure']} of {own}, {labels[record['best']]} on the same path {best}: "
        f"{found['times']:.3g} times ({found['low']:.3g} to {found['high']:.3g}) as bad, with {least} added to both; "
        f"{found['harmful']} of {found['seeds']} seeds. Path: {'; '.join(record['path'])}."
    )


def replay(
    folder: Path, engine: Engine = PACKETS, seeds: int | None = None, workers: int | None = None
) -> dict[str, Any]:
    """The record of the find in ``folder`` with what its runs give now; `REPLAYED` gets it if ``engine`` is another one.

    Raises as `read` and `measured` do.
    """
    record = read(folder)
    values = measured(folder, record["metric"], seeds, engine, workers)
    found, best = confirmed(values, record["arm"], record["worse"], record["least"])
    means = {arm: mean(some) for arm, some in values.items()}
    again = {**record, "best": best, "means": means, "confirmed": found.as_json(), "holds": found.holds}
    again["sentence"] = sentence(again)
    if engine != PACKETS:
        write_named(folder / REPLAYED.format(engine=engine), _json(again), (".json",), own=folder)
    return again


def store(folder: Path, record: Mapping[str, Any]) -> None:
    """Write ``record`` into the folder of its find."""
    write_named(folder / RECORD, _json(record), (".json",), own=folder)


def _json(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode()

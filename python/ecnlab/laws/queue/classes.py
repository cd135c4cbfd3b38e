"""A tree of queues: classes, each with a discipline of its own, and a scheduler."""

from __future__ import annotations

from typing import Any, Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.twin import OWN, Inner, Twin, child, classless, drr, in_order, one_mtu, whole_limit
from ecnlab.laws.kinds import Queue, Table

MAX_BANDS: Final = 16
"""Classes of ``prio`` and ``ets`` (TCQ_PRIO_BANDS, TCQ_ETS_MAX_BANDS)."""

MAP: Final = "priomap" + " 0" * 16


def _twin(queue: Table, path: str, inner: Inner, found: Findings) -> Twin:
    """``prio`` for strict order, ``drr`` for rounds, ``ets`` for strict order with rounds in its last class."""
    only_tail(queue, path, found)
    classes = in_order(queue["class"])
    whole_limit(queue, [table for _, table in classes], path, found)
    if queue["schedule"] == "strict" and _is_rounds(classes[-1][1]):
        return _ets(classes, path, inner, found)
    twins = _leaves(classes, path, inner, found)
    match queue["schedule"]:
        case "drr":
            return drr(
                [(twin, number(table["turn"])) for twin, (_, table) in zip(twins, classes, strict=True)], path, found
            )
        case "strict":
            _check_bands(len(twins), path, found)
            return _bands(f"prio bands {max(2, len(twins))} {MAP}", twins, path, found)
        case other:
            found.refuse_value(f"{path}.schedule", other, 'write "strict" or "drr"')
            return Twin("")


def _is_rounds(table: Table) -> bool:
    return bool(table["discipline"] == "classes" and table["schedule"] == "drr")


def _ets(classes: list[tuple[str, Any]], path: str, inner: Inner, found: Findings) -> Twin:
    *strict, (name, last) = classes
    within = f"{path}.class.{name}"
    only_tail(last, within, found)
    rounds = in_order(last["class"])
    whole_limit(last, [table for _, table in rounds], within, found)
    twins = [*_leaves(strict, path, inner, found), *_leaves(rounds, within, inner, found)]
    _check_bands(len(twins), path, found)
    quanta = " ".join(str(number(table["turn"])) for _, table in rounds)
    return _bands(f"ets bands {len(twins)} strict {len(strict)} quanta {quanta} {MAP}", twins, path, found)


def _leaves(classes: list[tuple[str, Any]], path: str, inner: Inner, found: Findings) -> list[Twin]:
    named = [(f"{path}.class.{name}", table) for name, table in classes]
    return [classless(inner(table, at), at, found) for at, table in named]


def _bands(words: str, twins: list[Twin], path: str, found: Findings) -> Twin:
    below = [line for i, twin in enumerate(twins) for line in child(f"{OWN:x}:{i + 1:x}", i, twin)]
    return Twin(words, tuple(below), OWN, one_mtu(twins, path, found))


def _check_bands(count: int, path: str, found: Findings) -> None:
    if count > MAX_BANDS:
        help_ = f"write at most {MAX_BANDS}"
        found.refuse(f"{path}.class", f"`{path}`: the kernel has {MAX_BANDS} bands, got {count}", help_)


LAW: Final = Queue(
    kernel_options=("NET_SCH_PRIO", "NET_SCH_DRR", "NET_SCH_ETS"),
    twin=_twin,
    twins={
        '`schedule = "drr"`': "`drr`",
        '`schedule = "strict"`': "`prio`",
        '`schedule = "strict"`, whose last class is `classes` with `schedule = "drr"`': "`ets`",
    },
)

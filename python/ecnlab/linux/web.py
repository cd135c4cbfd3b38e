"""Web traffic for the guest: the sessions that the simulator draws, as statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

import polars as pl

from ecnlab.base.types import Drawn, DrawnObject, DrawnWeb

TIMES: Final = {f"{what}_ns": pl.Int64 for what in ("asked", "answered", "transferred")}
"""Columns that may have nothing but blanks."""


def overlapping(traffic: Mapping[str, Any]) -> bool:
    """Return whether a page may start before the objects of the previous one have been transferred."""
    return traffic.get("page_spacing") == "start-to-start"


def sessions(flow: int, web: DrawnWeb, *, overlapping: bool) -> Iterator[str]:
    """Return a statement per object, in the order of sessions, pages and objects.

    Its pause is the time before its request: for the first object of a session, since the start of the run; for the
    first of another page, since the previous page started or, if pages do not overlap, was completed; otherwise since
    the request for the previous object.
    """
    objects = sorted(web["objects"], key=lambda one: (one["session"], one["page"], one["index"]))
    for _, session in groupby(objects, key=lambda one: one["session"]):
        since = 0
        for _, page in groupby(session, key=lambda one: one["page"]):
            requested = list(page)
            times = [since, *(_ns(one) for one in requested)]
            for one, before in zip(requested, times[:-1], strict=True):
                yield _object(flow, one, _ns(one) - before)
            since = times[1] if overlapping else times[-1]


def _ns(one: DrawnObject) -> int:
    return one["asked_ps"] // 1000


def _object(flow: int, one: DrawnObject, pause: int) -> str:
    words = (flow, one["session"], one["page"], one["server"], one["client"], one["bytes"], pause)
    return f"object {' '.join(map(str, words))}"


def objects(rows: pl.DataFrame, named: pl.DataFrame, drawn: Drawn, warmup_ns: int) -> pl.DataFrame:
    """The table of objects from the guest's ``rows``; ``named`` has flow, name and group."""
    where: dict[str, list[str]] = {"server": [], "client": []}
    for row in rows.iter_rows(named=True):
        web = drawn["flows"][row["flow"]]["web"]
        where["server"].append(drawn["nodes"][web["servers"][row["server"]]])
        where["client"].append(drawn["nodes"][web["clients"][row["client"]]])
    seconds = [(pl.col(f"{what}_ns") / 1e9).alias(f"{what}_s") for what in ("asked", "answered", "transferred")]
    return (
        rows.with_columns(
            *seconds,
            pl.Series("from", where["server"], dtype=pl.String),
            pl.Series("to", where["client"], dtype=pl.String),
            delay_s=(pl.col("transferred_ns") - pl.col("asked_ns")) / 1e9,
            complete=pl.col("transferred_ns").is_not_null(),
            measured=(pl.col("transferred_ns") >= warmup_ns).fill_null(value=False),
        )
        .join(named.select("flow", "name", "group"), on="flow", maintain_order="left")
        .sort("flow", "number")
    )

"""Captures analysed: what tcptrace reports, with ECN.

>>> import ecnlab
>>> capture = ecnlab.trace("x.pcapng")  # doctest: +SKIP
>>> capture.directions.filter(pl.col("ce") > 0)  # doctest: +SKIP

``docs/trace.md`` says what every column means and how it is found.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab import _core, store
from ecnlab.engines import frames
from ecnlab.errors import EcnlabError
from ecnlab.types import Standard


class Trace:
    """What a capture holds. All tables are Polars frames; their columns are in ``docs/trace.md``."""

    def __init__(self, path: Path, found: dict[str, Any], filter: str | None, standard: Standard) -> None:  # noqa: A002
        self.path = path
        """The capture; "-" for standard input."""
        self.totals: dict[str, int | None] = found["totals"]
        """Packets by kind, and the times of the first and the last in nanoseconds since 1970."""
        self.damage: str | None = found["damage"]
        """Why the capture could not be read to its end, and where it was; None if it could."""
        self.standard = standard
        """The text whose rules were checked."""
        self.filter = filter
        """Which packets were wanted; None for all."""
        self.tables: dict[str, pl.DataFrame] = frames(found["tables"])
        """Every table by name."""

    def __repr__(self) -> str:
        return f"Trace({str(self.path)!r}, connections={self.connections.height}, packets={self.totals['packets']})"

    @property
    def connections(self) -> pl.DataFrame:
        """One row a connection."""
        return self.tables["connections"]

    @property
    def directions(self) -> pl.DataFrame:
        """Two rows a connection: what each end sent, that of the opener first."""
        return self.tables["directions"]

    @property
    def violations(self) -> pl.DataFrame:
        """One row a packet that breaks a rule of ECN."""
        return self.tables["violations"]

    @property
    def interfaces(self) -> pl.DataFrame:
        """One row an interface of the capture."""
        return self.tables["interfaces"]

    def only(self, connection: int) -> Trace:
        """The same of one connection. Raises EcnlabError if there is none of that number."""
        if not 0 <= connection < self.connections.height:
            raise EcnlabError(f"there is no connection {connection}: the capture has {self.connections.height}, from 0")
        chosen = Trace.__new__(Trace)
        chosen.__dict__.update(self.__dict__)
        chosen.tables = {
            name: table.filter(pl.col("connection") == connection) if "connection" in table.columns else table
            for name, table in self.tables.items()
        }
        return chosen

    def series(self, connection: int, *, most: int = 20_000) -> pl.DataFrame:
        """The packets of one connection, at most ``most`` rows of each kind: what a time-sequence graph draws.

        Reads the capture again. Raises EcnlabError for standard input, which cannot be.
        """
        if str(self.path) == "-":
            raise EcnlabError("standard input cannot be read twice: write it to a file first")
        columns, _ = _core.trace_series(self.path, connection, filter=self.filter, most=most)
        return frames({"series": columns})["series"]

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the tables as Parquet files into ``folder``, which is made if need be. Raises OSError."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            store.write_table(target / f"{name}.parquet", table)
        return target


def trace(
    path: str | os.PathLike[str],
    *,
    filter: str | None = None,  # noqa: A002
    standard: Standard = "rfc3168",
) -> Trace:
    """Analyse the capture ``path``: pcap or pcapng, also compressed; "-" is standard input.

    ``filter`` chooses packets (``"host 10.0.0.1 and not port 22"``), ``standard`` the text whose rules are checked:
    "rfc3168" or "rfc2481".

    Raises TraceFailure if it is no capture or the filter cannot be understood, OSError if it cannot be read, FolderError if
    it is of a stored run or sweep, and not as it was written. One that is
    cut off or damaged is analysed up to there, and ``damage`` says where.
    """
    store.refuse_damaged_capture(Path(path))
    found = _core.trace(Path(path), filter=filter, standard=standard)
    return Trace(Path(path), found, filter, standard)


def changes(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> pl.DataFrame:
    """What happened to the ECN bits of the packets that two captures share, on the way from ``first`` to ``second``.

    One row for each connection's direction and change: codepoints ``before`` and ``after``, the ECN flags that differ, and
    how many packets. Raises as ``trace`` does, and TraceFailure also for a capture that ends early.
    """
    for path in (first, second):
        store.refuse_damaged_capture(Path(path))
    return frames({"changes": _core.trace_changes(Path(first), Path(second))["changes"]})["changes"]

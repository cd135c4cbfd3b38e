"""Captures analysed: what tcptrace reports, with ECN.

>>> import ecnlab
>>> capture = ecnlab.trace("x.pcapng")  # doctest: +SKIP
>>> capture.directions.filter(pl.col("ce") > 0)  # doctest: +SKIP

``docs/trace.md`` defines every column.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from ecnlab import _core
from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.types import Standard
from ecnlab.base.user_files import refuse_special
from ecnlab.engines.frames import frames
from ecnlab.folder.outputs import TABLE, refuse_output, write_named
from ecnlab.folder.tables import table_bytes
from ecnlab.folder.verified import refuse_damaged_capture
from ecnlab.trace.findings import absence, doubts
from ecnlab.trace.memory import for_connections
from ecnlab.trace.standard import of_packets, of_run

AT_A_TIME: Final = 4096
"""Connections of which tables are made at a time."""

TABLES: Final = ("connections", "directions", "violations", "interfaces", "datagrams")
"""The tables of an analysis."""

OF_CAPTURE: Final = ("interfaces", "datagrams")
"""Tables of the whole capture, not of connections."""

SAVED: Final = (*TABLES, "verdicts")
"""Files of ``--parquet``, without ".parquet"."""


class Trace:
    """Contents of a capture. All tables are Polars frames; their columns are in ``docs/trace.md``."""

    def __init__(
        self,
        path: Path,
        found: _core.Traced,
        filter: str | None,  # noqa: A002
        standard: Standard,
        chosen: range | None = None,
        decapsulate: str | None = None,
        standard_reason: str | None = None,
    ) -> None:
        self.path = path
        """The capture; "-" for standard input."""
        self.totals: dict[str, int | None] = found.totals()
        """Packets by kind, and the times of the first and the last in nanoseconds since 1970."""
        self.damage: str | None = found.damage
        """Why the capture could not be read to its end, and where it was; None if it could."""
        self.standard = standard
        """The text whose rules were checked."""
        self.standard_reason = standard_reason
        """Why this text was chosen; None if the user named it."""
        self.filter = filter
        """Which packets were wanted; None for all."""
        self.decapsulate = decapsulate
        """The tunnels over UDP that were opened; None for none."""
        self.warnings: list[str] = doubts(self.totals, found.copies(), found.untimed())
        """Sentences about times and packets of the capture that make numbers wrong."""
        self._found = found
        self._chosen = range(len(found)) if chosen is None else chosen

    def __repr__(self) -> str:
        return f"Trace({str(self.path)!r}, connections={len(self._chosen)}, packets={self.totals['packets']})"

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by name. Tables are built on first use and need about 1.3 kB per connection."""
        return self._tables(self._chosen)

    @property
    def whole(self) -> bool:
        """Return whether it has all connections of the capture, and the capture was read to its end."""
        return len(self._chosen) == len(self._found) and self.damage is None

    @property
    def absence(self) -> str | None:
        """Why there is no TCP connection, and what to do next; None if there are some."""
        return None if len(self._found) else absence(self.totals, self._found.unread(), self.filter)

    @property
    def connections(self) -> pl.DataFrame:
        """One row a connection."""
        return self.tables["connections"]

    @property
    def directions(self) -> pl.DataFrame:
        """Two rows per connection: the data sent by each end, the opener first."""
        return self.tables["directions"]

    @property
    def violations(self) -> pl.DataFrame:
        """One row a packet that breaks a rule of ECN."""
        return self.tables["violations"]

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row for the directions with the same verdict on ECN, of all connections: red first, then amber, green, grey."""
        return frames(self._found.verdicts(self._chosen.start, self._chosen.stop))["verdicts"]

    @cached_property
    def sums(self) -> dict[str, int]:
        """Sums over both directions of all connections, by the names of the columns of `directions`."""
        return dict(self._found.sums(self._chosen.start, self._chosen.stop))

    @cached_property
    def negotiations(self) -> dict[str, int]:
        """Number of connections with each value of the column ``ecn`` of `connections`."""
        return dict(self._found.negotiations(self._chosen.start, self._chosen.stop))

    @property
    def interfaces(self) -> pl.DataFrame:
        """One row an interface of the capture."""
        return self.tables["interfaces"]

    @cached_property
    def datagrams(self) -> pl.DataFrame:
        """One row a flow of UDP, in one direction."""
        return frames(self._found.tables(0, 0))["datagrams"]

    def only(self, connection: int) -> Trace:
        """The same of one connection. Raises EcnlabError if there is none of that number."""
        if connection not in self._chosen:
            count = len(self._found)
            raise EcnlabError(f"there is no connection {connection}: the capture has {count}, from 0")
        chosen = range(connection, connection + 1)
        return Trace(self.path, self._found, self.filter, self.standard, chosen, self.decapsulate, self.standard_reason)

    def largest(self) -> int | None:
        """The number of the connection with the most packets; None if there is no connection."""
        return self._chosen[0] if len(self._chosen) == 1 else self._found.largest()

    def glimpse(self, rows: int) -> dict[str, tuple[pl.DataFrame, int]]:
        """Return up to ``rows`` connections, directions with data and violations, the number of each, and ``rules``.

        If there are more connections, those with violations come first, then those with most packets. ``rules`` has one
        row per broken rule.

        Only tables of the connections shown are built, even for a capture with millions of connections.
        """
        if len(self._chosen) <= AT_A_TIME:
            sent = self.directions.filter(pl.col("data_packets") > 0)
            whole = {"connections": self.connections, "directions": sent, "violations": self.violations}
            if self.connections.height > rows:
                order = self.connections.sort(["violations", "packets"], descending=True, maintain_order=True)
                whole["connections"] = order
                whole["directions"] = order.select("connection").join(
                    sent, on="connection", maintain_order="left_right"
                )
            rules = self.violations.group_by("rule", "says", maintain_order=True).agg(
                pl.len().alias("packets"), pl.col("connection").n_unique().alias("connections")
            )
            whole["rules"] = rules.select("rule", "packets", "connections", "says").sort("packets", descending=True)
            return {name: (table.head(rows), table.height) for name, table in whole.items()}
        sending, ends = self._found.with_data(rows)
        breaking, broken = self._found.with_violations(rows)
        sent = self._tables(sending)["directions"].filter(pl.col("data_packets") > 0)
        first = self._tables(range(min(rows, len(self._chosen))))["connections"]
        return {
            "connections": (first, len(self._chosen)),
            "directions": (sent.head(rows), ends),
            "violations": (self._tables(breaking)["violations"].head(rows), broken),
        }

    def json_rows(self, name: str) -> Iterator[str]:
        """The rows of table ``name`` as JSON objects with commas between them, in parts.

        A part has the rows of `AT_A_TIME` connections. Violations, which are sorted by packet, are one part.
        """
        first, end = self._chosen.start, self._chosen.stop
        step = max(end - first, 1) if name in ("violations", *OF_CAPTURE) else AT_A_TIME
        for start in range(first, max(end, first + 1), step):
            yield self._found.json(name, start, min(start + step, end))

    def _tables(self, numbers: Iterable[int]) -> dict[str, pl.DataFrame]:
        if isinstance(numbers, range):
            starts = range(numbers.start, max(numbers.stop, numbers.start + 1), AT_A_TIME)
            parts = [self._found.tables(start, min(start + AT_A_TIME, numbers.stop)) for start in starts]
        else:
            parts = [self._found.tables(number, number + 1) for number in numbers] or [self._found.tables(0, 0)]
        made = [frames(part) for part in parts]
        tables = {name: pl.concat(part[name] for part in made) for name in made[0] if name not in OF_CAPTURE}
        tables["violations"] = tables["violations"].sort("packet", maintain_order=True)
        return tables | {name: made[0][name] for name in OF_CAPTURE}

    def series(self, connection: int, *, most: int = 20_000) -> pl.DataFrame:
        """Return the packets of one connection, at most ``most`` rows of each kind, for a time-sequence graph.

        Reads the capture again. Raises EcnlabError for standard input, which cannot be read twice.
        """
        if str(self.path) == "-":
            raise EcnlabError("standard input cannot be read twice: write it to a file first")
        columns, _ = _core.trace_series(
            self.path, connection, filter=self.filter, most=most, decapsulate=self.decapsulate
        )
        return frames({"series": columns})["series"]

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the tables as Parquet files into ``folder``, which is made if need be. Raises EcnlabError, OSError."""
        target = Path(folder)
        for name in SAVED:
            refuse_output(target / f"{name}.parquet", TABLE)
        target.mkdir(parents=True, exist_ok=True)
        for name, table in {**self.tables, "verdicts": self.verdicts}.items():
            write_named(target / f"{name}.parquet", table_bytes(table), TABLE)
        return target


def trace(
    path: str | os.PathLike[str],
    *,
    filter: str | None = None,  # noqa: A002
    standard: Standard | None = None,
    memory: int | None = None,
    decapsulate: str | None = None,
) -> Trace:
    """Analyse the capture ``path``: pcap or pcapng, also compressed; "-" is standard input.

    ``filter`` chooses packets (``"host 10.0.0.1 and not port 22"``), ``standard`` the text whose rules are checked:
    "rfc3168", "rfc2481", "rfc8257" (DCTCP) or "rfc9331" (L4S); without it the capture decides, and ``standard_reason`` states
    why. ``memory`` is how many bytes its connections may take, by default three quarters of what the
    machine has available. ``decapsulate`` opens tunnels over UDP: "vxlan", "geneve", "vxlan:8472" (another port), or a list
    with commas.

    A capture without TCP connections is returned like others: its tables are empty, and ``absence`` states why.

    Raises TraceFailure if it is no capture, ``filter`` or ``decapsulate`` cannot be understood, or the filter names an interface
    that the capture does not have; OSError if it cannot be read, FolderError if
    it is of a stored run or sweep, and not as it was written. One that is cut off or damaged, or whose connections take more
    than ``memory``, is analysed up to there, and ``damage`` states where.
    """
    refuse_damaged_capture(Path(path))
    guessed = of_run(Path(path)) if standard is None else None
    requested = standard or (guessed[0] if guessed else None)
    found = _core.trace(
        Path(path),
        filter=filter,
        standard=requested or "rfc3168",
        memory=for_connections() if memory is None else memory,
        decapsulate=decapsulate,
    )
    chosen, reason = (standard, None) if standard else guessed or of_packets(found.ect1())
    return Trace(Path(path), found, filter, chosen, decapsulate=decapsulate, standard_reason=reason)


def compared(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> dict[str, pl.DataFrame]:
    """Compare two captures of the same packets, on the path from ``first`` to ``second``.

    ``changes`` is as `changes` returns it. ``paths`` has one row per direction of a connection: packets found at both
    places, packets, bytes and CE found only at one, and the delays from ``first`` to ``second`` by their clocks. ``lost``
    has the first 256 packets of each direction that were found only at one place or in part, those with CE before
    others. Raises as `changes` does.
    """
    for path in (first, second):
        refuse_special(Path(path), "a capture that can be compared")
        refuse_damaged_capture(Path(path))
    return frames(_core.trace_changes(Path(first), Path(second)))


def changes(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> pl.DataFrame:
    """Return the changes of the ECN bits of packets in both captures, on the path from ``first`` to ``second``.

    One row per direction of a connection and change: codepoints ``before`` and ``after``, the ECN flags that differ,
    and the number of packets. Raises as ``trace`` does, and TraceFailure also for a capture that ends early.
    """
    return compared(first, second)["changes"]

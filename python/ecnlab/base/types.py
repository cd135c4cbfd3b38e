"""Types of the values passed to and from ``ecnlab._core``."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Few: TypeAlias = tuple[str, list[int] | list[float | None] | list[bool] | list[str]]
"""A short column: the name of its Polars type, and its values; None is missing."""

Packed: TypeAlias = tuple[str, bytes]
"""A long column: the name of its Polars type, and its values as little-endian bytes; NaN is missing."""

Column: TypeAlias = Few | Packed | tuple[bytes, list[str]]
"""A column of a table: a short one, or a long one, or long text as its codes (four little-endian bytes each) and names."""

Engine: TypeAlias = Literal["packets", "model", "linux", "linux-wall"]
"""Name of the engine, see ``ecnlab.engines.protocol``."""

FileKind: TypeAlias = Literal["scenario", "experiment"]

Place: TypeAlias = Literal["before", "after", "end"]
"""Where packets are captured at a link: before or after its queue, or at its end."""

Standard: TypeAlias = Literal["rfc3168", "rfc2481", "rfc8257", "rfc9331"]
"""A text with the rules of ECN."""


class Diagnostic(TypedDict):
    """One thing wrong with a file."""

    path: str
    line: int
    column: int
    key: str
    message: str
    help: str
    table: NotRequired[str]
    """A table, as TOML, that is accepted in place of the one with the errors."""


class Departure(TypedDict):
    """A TCP setting that departs from its profile."""

    key: str
    profile: str
    profile_value: Any
    value: Any
    source: str


class DrawnChanges(TypedDict, total=False):
    """Changes of one direction of a link up to the end of a run; only those that it has are present."""

    rate: list[tuple[int, int]]
    """Starts in picoseconds and rates in bits per second from then on; 0 in an outage that holds packets."""
    delay: list[tuple[int, int]]
    """Starts in picoseconds and delays in picoseconds from then on."""
    lost: list[tuple[int, int]]
    """Starts and ends in picoseconds of outages in which the packets that are sent are lost."""


DrawnLink = TypedDict(
    "DrawnLink",
    {
        "name": str,
        "table": str,
        "reverse": bool,
        "from": int,
        "to": int,
        "delay_ps": int,
        "changes": NotRequired[DrawnChanges],
    },
)
"""One direction of a link in a run: ends by number of the node, delay in picoseconds; the longest of one that changes."""


class DrawnObject(TypedDict):
    """An object of web traffic: server and client by their index in the lists of `DrawnWeb`."""

    session: int
    page: int
    index: int
    server: int
    client: int
    bytes: int
    asked_ps: int
    """Request time if transfers took no time."""


class DrawnWeb(TypedDict):
    """The sessions of web traffic: nodes by number, and the requested objects."""

    servers: list[int]
    clients: list[int]
    objects: list[DrawnObject]


DrawnFlow = TypedDict(
    "DrawnFlow", {"name": str, "table": str, "from": int, "to": int, "start_ps": int, "web": NotRequired[DrawnWeb]}
)
"""A flow of a run: ends by number of the node, start in picoseconds; ``web`` of web traffic only."""


class Drawn(TypedDict):
    """Every node, link and flow of a run by name, with the random draws of the seed."""

    nodes: list[str]
    links: list[DrawnLink]
    flows: list[DrawnFlow]


class Instead(TypedDict):
    """A value of a scenario that an engine replaces by its own."""

    key: str
    asked: object
    kernel: object


class Setting(TypedDict):
    """A profile's value for one TCP setting."""

    value: Any
    source: str


class Profile(TypedDict):
    """A TCP profile: a value for every setting."""

    summary: str
    settings: dict[str, Setting]

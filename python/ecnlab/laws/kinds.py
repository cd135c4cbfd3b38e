"""What Linux and the closed forms have of a law, by its family. What is left out, they have not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from ecnlab.laws.kernel.findings import Findings
    from ecnlab.laws.kernel.twin import Inner, Twin
    from ecnlab.models.red import ControlLaw

Table: TypeAlias = Mapping[str, Any]
"""A table of a resolved scenario: ``[queue.NAME]``, ``[tcp.NAME]``, or a window law with its parameters."""

Kind: TypeAlias = Literal["number", "text", "flag"]
"""What a column holds: numbers, names, or yes and no."""


class Column(NamedTuple):
    """A column's unit and meaning. ``unit`` is "" for names, identifiers and flags."""

    unit: str
    meaning: str
    kind: Kind = "number"
    fraction: bool = False
    """Whether a column whose unit counts things holds fractions: an average."""
    above_one: bool = False
    """Whether a column in the unit "ratio" can be above 1: a factor, not a share or a probability."""


@dataclass(frozen=True, slots=True)
class Place:
    """A ``[queue.NAME]`` before a link: what a closed form needs to know."""

    name: str
    settings: Table
    wire_bytes: float
    """Size of the packets that the link carries."""
    rate_bps: float
    ecn: bool
    """Whether any flow is ECN-capable."""

    def packets(self, length: float, unit: str) -> float:
        """``length`` in packets on the wire; ``unit`` is "packets" or one of bytes."""
        return length if unit == "packets" else length / self.wire_bytes


class Counts(NamedTuple):
    """What the kernel counts of a queue: marks, and drops by cause. None: it adds the drops up with those of another cause."""

    marks: int
    early_drops: int | None
    forced_drops: int | None
    tail_drops: int | None


def _only_full(drops: int, _own: bytes) -> Counts:
    """The queue drops what finds it full, and nothing else."""
    return Counts(0, 0, 0, drops)


@dataclass(frozen=True, slots=True)
class Queue:
    """What Linux and the closed forms have of a queue discipline."""

    qdisc: Callable[[Table, str, int | None, Findings], str] | None = None
    """What follows ``tc qdisc add ... handle 10:`` for its table at a path, before a link of a rate in bit/s."""
    attached: bool = False
    """Whether ``qdisc`` is for the guest, which asks the kernel itself: the kind, and TYPE:BYTES:VALUE of each attribute."""
    twin: Callable[[Table, str, Inner, Findings], Twin] | None = None
    """The kernel's discipline that draws no random number and does the same to every packet, for its table at a path."""
    kernel: tuple[str, ...] = ()
    """What Linux calls its ``qdisc`` (TCA_KIND): one of these, by its settings."""
    kernel_options: tuple[str, ...] = ()
    """Options of the kernel's configuration, without ``CONFIG_``, for its ``qdisc`` and ``twin``."""
    kernel_note: str = ""
    """What docs/linux.md remarks on its ``qdisc``."""
    counts: Callable[[int, bytes], Counts] = _only_full
    """Reads the kernel's statistics: all drops, and the discipline's own (TCA_STATS_APP). Raises XstatsError if these have not
    the layout that it knows."""
    uncounted: tuple[str, ...] = ()
    """The fields of its ``counts`` that are None."""
    twins: Mapping[str, str] = field(default_factory=dict)
    """What Linux calls its ``twin``, by the settings that it stands for, both as docs/linux.md has them; without, as ``kernel``."""
    control_law: Callable[[Place], ControlLaw] | None = None
    """Its closed form. Raises NotCoveredError for settings that the form does not have."""
    acts_above: Callable[[Table], dict[str, str]] | None = None
    """The delays and lengths above which it acts, by key, where its table leaves them out or has them for nothing."""


@dataclass(frozen=True, slots=True)
class Window:
    """What Linux and the closed forms have of a window law."""

    kernel: str = ""
    """What Linux calls it (TCP_CONGESTION)."""
    kernel_has: Table = field(default_factory=dict)
    """Its parameters in Linux, which no scenario can change. None: it has no such parameter. Another `profile` than that of
    Linux is substituted, another value of any other parameter is refused."""
    profile: str = ""
    """Its parameter `profile` where a scenario leaves it out, if it has one."""
    kernel_options: tuple[str, ...] = ()
    """Options of the kernel's configuration, without ``CONFIG_``, for it."""
    kernel_note: str = ""
    """What docs/linux.md remarks on it."""
    kernel_ecn: str = ""
    """The ECN feedback that Linux uses with it at both ends, whatever ``net.ipv4.tcp_ecn`` is (TCP_CONG_NEEDS_ECN)."""
    kernel_slow_start: str = "standard"
    """What ends its slow start in Linux, as ``slow_start`` of a scenario names it."""
    response: Callable[[Table], tuple[float, float]] | None = None
    """With its parameters: segments a round trip by which the window grows after a mark, and the part that a mark keeps."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What Linux and the closed forms have of a loss recovery scheme."""

    kernel_without_sack: Literal["", "like", "same"] = ""
    """Whether it is what Linux does where SACK is not permitted, or is like it."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What Linux and the closed forms have of an ECN feedback scheme."""

    tcp_ecn: int | None = None
    """The value of net.ipv4.tcp_ecn that comes nearest to it: 1 negotiates ECN, 3 AccECN."""
    kernel: str = ""
    """The feedback that Linux has with this ``tcp_ecn``."""
    halves_on_mark: bool = False
    """Whether a mark is one indication of congestion a round trip, as the closed forms take it."""

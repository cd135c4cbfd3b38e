"""Classes that describe a law's Linux counterpart and closed form, one per family. Omitted fields: it has none."""

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
"""Type of a column: numbers, names or booleans."""


class Column(NamedTuple):
    """A column's unit and meaning. ``unit`` is "" for names, identifiers and flags."""

    unit: str
    meaning: str
    kind: Kind = "number"
    fraction: bool = False
    """Whether a column of counts or bytes has a floating-point type: it holds averages, or values can be missing."""
    above_one: bool = False
    """Whether a column in the unit "ratio" can be above 1: a factor, not a share or a probability."""


@dataclass(frozen=True, slots=True)
class Place:
    """A ``[queue.NAME]`` in front of a link: the inputs of a closed form."""

    name: str
    settings: Table
    wire_bytes: float
    """Size of packets on the link, in bytes."""
    rate_bps: float
    ecn: bool
    """Whether any flow is ECN-capable."""

    def packets(self, length: float, unit: str) -> float:
        """Return ``length`` in packets on the wire; ``unit`` is "packets" or a unit of bytes."""
        return length if unit == "packets" else length / self.wire_bytes


class Counts(NamedTuple):
    """The kernel's counts of a queue: marks, and drops by cause. None: counted together with another cause."""

    marks: int
    early_drops: int | None
    forced_drops: int | None
    tail_drops: int | None


def _only_full(drops: int, _own: bytes) -> Counts:
    """Return the counts of a queue that drops only when it is full."""
    return Counts(0, 0, 0, drops)


@dataclass(frozen=True, slots=True)
class Queue:
    """Linux counterpart and closed form of a queue discipline."""

    qdisc: Callable[[Table, str, int | None, Findings], str] | None = None
    """Returns the arguments after ``tc qdisc add ... handle 10:`` for its table at a path, in front of a link of a rate in bit/s."""
    attached: bool = False
    """Whether ``qdisc`` is for the guest program, which configures the kernel itself: the kind, then TYPE:BYTES:VALUE per attribute."""
    tc: Callable[[Table, str, Findings], str] | None = None
    """Where ``attached``, returns the arguments after ``tc qdisc add ... handle 10:`` for a later tc that knows the discipline."""
    twin: Callable[[Table, str, Inner, Findings], Twin] | None = None
    """Returns the deterministic kernel discipline that treats every packet the same way, for its table at a path."""
    kernel: tuple[str, ...] = ()
    """Linux's names of its ``qdisc`` (TCA_KIND): one of these, depending on its settings."""
    kernel_options: tuple[str, ...] = ()
    """Options of the kernel's configuration, without ``CONFIG_``, for its ``qdisc`` and ``twin``."""
    kernel_note: str = ""
    """Remark on its ``qdisc`` in docs/linux.md."""
    counts: Callable[[int, bytes], Counts] = _only_full
    """Reads the kernel's statistics: all drops, and the discipline's own (TCA_STATS_APP). Raises XstatsError if these do not have
    the expected layout."""
    uncounted: tuple[str, ...] = ()
    """Fields of its ``counts`` that are None."""
    twins: Mapping[str, str] = field(default_factory=dict)
    """Linux's names of its ``twin`` by settings, as docs/linux.md shows them; if empty, as in ``kernel``."""
    control_law: Callable[[Place], ControlLaw] | None = None
    """Its closed form. Raises NotCoveredError for settings that the form does not cover."""
    acts_above: Callable[[Table], dict[str, str]] | None = None
    """Returns the delays and lengths above which it acts, by key, where its table omits them or sets them without effect."""


@dataclass(frozen=True, slots=True)
class Window:
    """Linux counterpart and closed form of a window law."""

    kernel: str = ""
    """Name in Linux (TCP_CONGESTION)."""
    kernel_has: Table = field(default_factory=dict)
    """Its parameters in Linux, which a scenario cannot change. None: Linux has no such parameter. A `profile` other than that of
    Linux is substituted, another value of any other parameter is refused."""
    profile: str = ""
    """Default of its parameter `profile`, if it has one."""
    kernel_options: tuple[str, ...] = ()
    """Options of the kernel's configuration that it needs, without ``CONFIG_``."""
    kernel_note: str = ""
    """Remark in docs/linux.md."""
    kernel_ecn: str = ""
    """ECN feedback that Linux uses with it at both ends, regardless of ``net.ipv4.tcp_ecn`` (TCP_CONG_NEEDS_ECN)."""
    kernel_ecn_control: object = "scheme"
    """Packets that are ECN-capable in Linux with it, as a value of ``ecn_control`` in scenarios."""
    kernel_gso_max_segs: int | None = None
    """Segments of a burst from the hosts of the Linux engine, as `gso_max_segs` in scenarios. None: it does not pace."""
    kernel_slow_start: str = "standard"
    """End of its slow start in Linux, as a value of ``slow_start`` in scenarios."""
    response: Callable[[Table], tuple[float, float]] | None = None
    """Returns, from its parameters, the window's growth in segments per RTT after a mark, and the factor of the reduction on a mark."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """Linux counterpart of a loss recovery scheme."""

    kernel_without_sack: Literal["", "like", "same"] = ""
    """Whether it is, or resembles, Linux's recovery without SACK."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Linux counterpart of an ECN feedback scheme, and its effect in closed forms."""

    tcp_ecn: int | None = None
    """Closest value of net.ipv4.tcp_ecn: 1 negotiates ECN, 3 AccECN."""
    kernel: str = ""
    """Feedback that Linux uses with this ``tcp_ecn``."""
    accepted_by: Mapping[str, int] = field(default_factory=dict)
    """net.ipv4.tcp_ecn of a host that accepts this feedback, by the feedback that it offers, if that is less."""
    halves_on_mark: bool = False
    """Whether marks are at most one congestion indication per RTT, as the closed forms assume."""

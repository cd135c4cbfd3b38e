"""The cells of the crosscheck: one dumbbell each, said once for ns-2 and once for ecnlab."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Cell:
    """One set-up that both simulators run."""

    name: str
    scenario: Path
    groups: tuple[str, ...]
    """Flow groups, by the same names on both sides."""
    red: bool
    mean_packet: int | None = None
    """Bytes by which an average in bytes is divided, as ns-2 reports it; None for an average in packets."""
    overrides: dict[str, object] = field(default_factory=dict)
    """What this cell changes in the ecnlab scenario."""
    ns2: dict[str, object] = field(default_factory=dict)
    """Options of dumbbell.tcl."""


RECOVERIES = {"reno": "Reno", "newreno": "Newreno", "sack": "Sack1", "tahoe": "Tahoe"}
"""Loss recovery: ecnlab's name and ns-2's agent."""

TEN_FLOWS = {"access_spread": 0.008, "spread": 1, "start": 0, "end": 100, "warmup": 20, "window": 64, "segment": 1000}
RED = {"queue": "RED", "limit": 50, "min_th": 5, "max_th": 15, "weight": 0.002, "max_p": 0.1}
MIXED = {
    **RED,
    "tcp": "Reno", "rate": 1.5e6, "delay": 0.016, "access_rate": 10e6, "access_delay": 0.002,
    "exit_rate": 10e6, "exit_delay": 0.002, "shared_source": 1, "background": 4, "background_spread": 5,
    "plain": 1, "ecn": 1, "start": 20, "spread": 1, "end": 320, "warmup": 30,
    "segment": 1448, "window": 100, "limit": 60,
}  # fmt: skip
AUTOMATIC = {
    **MIXED,
    "min_th": 0, "max_th": 0, "weight": -1, "bytes": 1, "queue_in_bytes": 1, "mean_packet": 500, "mark_p": 0.1,
    "limit": 200, "background": 16,
}  # fmt: skip
ONE_LINK = {
    "tcp": "Reno", "rate": 0.7e6, "delay": 0.020, "access_rate": 10e6, "access_delay": 0.001, "access_spread": 0.004,
    "exit_rate": 1e12, "exit_delay": 0, "start": 0, "end": 50, "warmup": 10, "segment": 552, "window": 58, "limit": 100,
    "initial_rto": 6, "max_rto": 100000, "precise_halves": 0,
}  # fmt: skip
"""Kadhum & Hassan's network; the last line is what ns-2.29 has otherwise than 2.35."""
RED_229 = {"queue": "RED", "weight": -1, "bytes": 1, "queue_in_bytes": 1, "mean_packet": 500, "mark_p": 0.1}


def _dumbbell(recovery: str, kind: str) -> Cell:
    """Ten flows of one kind through a 10 Mbit/s bottleneck."""
    ecn = kind == "red-ecn"
    group = "ecn" if ecn else "plain"
    ns2 = TEN_FLOWS | ({"queue": "DropTail", "limit": 50} if kind == "drop-tail" else RED)
    return Cell(
        name=f"{recovery}/{kind}",
        scenario=HERE / "dumbbell.toml",
        groups=(group,),
        red=kind != "drop-tail",
        overrides={
            "tcp.sender.recovery": recovery,
            "tcp.sender.sack": recovery == "sack",
            "tcp.sender.ecn": "rfc2481" if ecn else "off",
            "flow.bulk.group": group,
            "link.bottleneck.queue": "tail" if kind == "drop-tail" else "red",
        },
        ns2=ns2 | {"tcp": RECOVERIES[recovery], group: 10},
    )


def _one_link(users: int, kind: str) -> Cell:
    """One of the six cases of Kadhum & Hassan: the scenario of the paper's folder, profile ns-2.29."""
    ecn, tail = kind == "red-ecn", kind == "drop-tail"
    group = "ecn" if ecn else "plain"
    low, high = (0, 0) if users == 10 else (60, 80)
    spread = 7 if users == 10 else 0.2
    overrides: dict[str, object] = {
        "tcp.sender.ecn": "rfc2481" if ecn else "off",
        # 58 packets, a whole number as in ns-2.
        "tcp.sender.receive_buffer": "32016 B",
        "flow.user.group": group,
        "flow.user.count": users,
        "flow.user.start": {"uniform": ["0 s", f"{spread} s"]},
        "link.bottleneck.queue": "tail" if tail else "red",
        "queue.red.ecn": ecn,
        # ns-2.35 has no forced drop past twice max_th; a packet is dropped there all the same, by chance 1.
        "queue.red.above": "mark",
    }
    if users == 30:
        overrides |= {"queue.red.min_th": "30 kB", "queue.red.max_th": "40 kB"}
    red = {"min_th": low, "max_th": high}
    return Cell(
        name=f"kadhum-{users}/{kind}",
        scenario=HERE.parents[2] / "papers" / "kadhum-hassan" / "bottleneck.toml",
        groups=(group,),
        red=not tail,
        mean_packet=500,
        overrides=overrides,
        ns2=ONE_LINK | ({"queue": "DropTail"} if tail else RED_229 | red) | {"spread": spread, group: users},
    )


def cells() -> list[Cell]:
    """Every cell, in the order of the report."""
    ten = [_dumbbell(recovery, kind) for recovery in RECOVERIES for kind in ("drop-tail", "red", "red-ecn")]
    mixed = Cell("mixed/red", HERE / "mixed.toml", ("background", "plain", "ecn"), red=True, ns2=MIXED)
    automatic = Cell(
        "mixed/red-automatic", HERE / "mixed.toml", ("background", "plain", "ecn"), red=True, mean_packet=500,
        overrides={"link.bottleneck.queue": "automatic", "flow.background.count": 16}, ns2=AUTOMATIC,
    )  # fmt: skip
    paper = [_one_link(users, kind) for users in (10, 30) for kind in ("drop-tail", "red", "red-ecn")]
    return [*ten, mixed, automatic, *paper]

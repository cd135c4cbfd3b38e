"""The ``tc`` lines that set a candidate up on a home router: egress on its device, ingress by an ``ifb`` device."""

from __future__ import annotations

from typing import Final

from ecnlab.advise.candidates import NONE, QUEUES, SHARE, direction
from ecnlab.advise.line import PTM, Kind, Line

ETHERNET: Final = 14
"""Header of Ethernet in bytes, which the kernel counts before the overhead of ``stab`` (man tc-stab)."""

DEVICE: Final = "eth0"
IFB: Final = "ifb0"


def lines(name: str, line: Line) -> list[str]:
    """Return the commands for the candidate ``name``; none for that without a shaper. ``eth0`` stands for the line's device."""
    if name == NONE:
        return []
    return [
        f"# {line.words}: {DEVICE} is the device of the line",
        *_shaper(DEVICE, name, line, line.up_bps, ingress=False),
        f"ip link add {IFB} type ifb",
        f"ip link set {IFB} up",
        *_shaper(IFB, name, line, line.down_bps, ingress=True),
        f"tc qdisc add dev {DEVICE} handle ffff: ingress",
        f"tc filter add dev {DEVICE} parent ffff: matchall action mirred egress redirect dev {IFB}",
    ]


def _shaper(device: str, name: str, line: Line, rate_bps: float, *, ingress: bool) -> list[str]:
    shaped = SHARE * rate_bps
    if "shapes" in QUEUES[name]:
        words = f"cake bandwidth {_rate(shaped)} {_cake(line.kind)}{' ingress' if ingress else ''}"
        return [f"tc qdisc replace dev {device} root {words}"]
    rate = _rate(shaped * PTM[0] / PTM[1] if line.kind.framing == "ptm" else shaped)
    return [
        f"tc qdisc replace dev {device} root handle 1: {_stab(line.kind)}htb default 1",
        f"tc class add dev {device} parent 1: classid 1:1 htb rate {rate} ceil {rate}",
        f"tc qdisc add dev {device} parent 1:1 handle 10: {_leaf(name, line, rate_bps)}",
    ]


def _cake(kind: Kind) -> str:
    framing = {"plain": "noatm"}.get(kind.framing, kind.framing)
    return f"overhead {kind.overhead} mpu {kind.mpu} {framing}"


def _stab(kind: Kind) -> str:
    """Return the size table of ``kind``. PTM, which it lacks, is in the rate of the class."""
    if kind.framing == "plain" and not kind.overhead:
        return ""
    layer = "atm" if kind.framing == "atm" else "ethernet"
    return f"stab overhead {kind.overhead - ETHERNET} mpu {kind.mpu} linklayer {layer} "


def _leaf(name: str, line: Line, rate_bps: float) -> str:
    """Return the words of ``tc`` for the inner queue, with Linux's defaults."""
    queue = direction(name, line, rate_bps, ingress=False).queue
    ecn = "" if "always_marks" in QUEUES[name] else " ecn"
    return f"{name} limit {queue['limit'].split()[0]}{ecn}"


def _rate(bps: float) -> str:
    return f"{round(bps / 1e3)}kbit"

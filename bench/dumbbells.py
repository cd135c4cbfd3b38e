"""Delivered packets per second on the same dumbbells as ns-2, on one core, in turn.

Timed is the event loop of both programs: ecnlab's reading of the scenario and ns-2's set-up in Tcl are not in it. With
``--clock cpu`` the processor time of the whole processes counts. A delivered packet is a segment that reached its application
in order, over the whole run.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

from measuring import HERE, ROOT, Options, Row, alternate, execute, medians, missing

DUMBBELL = ROOT / "tests" / "tools" / "crosscheck" / "dumbbell.tcl"
TARGETS = {"c": 5.5, "d": 12.0}

# Scenario c: 100 Mbit/s, 50 flows. The keys are those of dumbbell.tcl; c.toml and d.toml say the same.
NS2_C = {
    "rate": 100e6, "delay": 0.016, "access_rate": 1e9, "access_delay": 0.002, "exit_rate": 1e9, "exit_delay": 0.002,
    "queue": "RED", "limit": 1000, "min_th": 100, "max_th": 300, "weight": 0.0002, "max_p": 0.1, "tcp": "Reno",
    "segment": 1460, "window": 2000, "ecn": 50, "start": 0, "spread": 1, "end": 100, "warmup": 0, "monitor": 0,
}  # fmt: skip
# Scenario d: 1 Gbit/s, 500 flows on 50 pairs of hosts, where ns-2 is faster than on 500.
NS2 = {
    "c": NS2_C,
    "d": NS2_C | {
        "rate": 1e9, "access_rate": 1e10, "exit_rate": 1e10, "limit": 10000, "min_th": 1000, "max_th": 3000,
        "weight": 0.00002, "ecn": 500, "hosts": 50, "end": 20,
    },
}  # fmt: skip


def rows(options: Options) -> list[Row]:
    """Return a row for each scenario: packets per second relative to ns-2."""
    return [_row(name, options) for name in NS2]


def _row(name: str, options: Options) -> Row:
    measure, target = f"{name}: packets/s relative to ns-2", TARGETS[name]
    if not shutil.which("ns"):
        return missing(measure, "ns", "ns2", target, unit="x", at_most=False)
    pairs = [word for key, value in (NS2[name] | {"seed": 1}).items() for word in (f"-{key}", str(value))]
    commands = {
        "ecnlab": options.bench(HERE / f"{name}.toml", 1),
        "ns-2": options.pinned(["ns", str(DUMBBELL), *pairs]),
    }
    rates = alternate({side: rate(command, options.clock) for side, command in commands.items()}, options.repeat)
    middle = medians(rates)
    return Row(measure, middle["ecnlab"] / middle["ns-2"], target, "x", False, details={"packets_per_second": rates})


def rate(command: list[str], clock: str) -> Callable[[], float]:
    """Return a function that runs ``command`` and returns its packets per second."""

    def measure() -> float:
        run = execute(command)
        result = run.result()
        packets = result["packets"] if "packets" in result else sum(g["acked"] for g in result["groups"].values())
        return float(packets / (run.cpu if clock == "cpu" else result["wall_s"]))

    return measure

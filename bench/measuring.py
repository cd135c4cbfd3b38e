"""What all rows of `make bench` share: a row, the options, processes with their times, slopes and medians."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent

os.environ["ECNLAB_CACHE"] = "off"  # also for the commands that are measured


@dataclass(frozen=True)
class Options:
    """Settings of a measurement.

    ``repeat`` is the number of timed runs, ``core`` the processor core of single-threaded programs, ``binary`` the
    program `ecnlab-bench`. ``clock`` is "wall" for elapsed time, or "cpu" for the user and system time of whole
    processes, which depends less on the load of the machine.
    """

    repeat: int
    core: int
    binary: Path
    clock: str = "wall"

    def bench(self, *arguments: object) -> list[str]:
        """Return the command that runs `ecnlab-bench` on the core."""
        return self.pinned([str(self.binary), *map(str, arguments)])

    def pinned(self, command: Sequence[str]) -> list[str]:
        """Return ``command`` restricted to the core."""
        return ["taskset", "--cpu-list", str(self.core), *command]


@dataclass(frozen=True)
class Row:
    """One measured value next to its target.

    ``value`` is None if it was not measured; ``note`` then has the reason. ``target`` is a maximum if ``at_most``, else a
    minimum, and None if the measure has none. ``details`` has the figures from which ``value`` was computed.
    """

    measure: str
    value: float | None
    target: float | None = None
    unit: str = ""
    at_most: bool = True
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the value meets the target; None without a value or a target."""
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target

    def as_json(self) -> dict[str, Any]:
        """Return the fields and ``met``, for JSON."""
        return asdict(self) | {"met": self.met}


def missing(measure: str, program: str, package: str, target: float | None = None, **kinds: Any) -> Row:
    """Return the row of a measure whose peer ``program`` is not installed."""
    return Row(measure, None, target, note=f"{program} is not installed (Debian's {package})", **kinds)


@dataclass(frozen=True)
class Finished:
    """A process that has ended: standard output, elapsed time, and user and system time, in seconds."""

    output: str
    wall: float
    cpu: float

    def result(self) -> dict[str, Any]:
        """Return the JSON object on the last line of the output."""
        found: dict[str, Any] = json.loads(self.output.splitlines()[-1])
        return found


def execute(
    command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Finished:
    """Run a command to its end.

    Raises CalledProcessError, with standard error, if it fails.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, cwd=folder, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = [_whole(file) for file in (output, errors)]
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command), *texts)
    return Finished(texts[0], wall, used.ru_utime + used.ru_stime)


def _whole(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode())


def alternate(sides: Mapping[str, Callable[[], float]], repeat: int) -> dict[str, list[float]]:
    """Measure each side ``repeat`` times, in turn, so that other work on the machine falls on all of them."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeat):
        for name, measure in sides.items():
            found[name].append(measure())
    return found


def medians(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the median of each side."""
    return {name: statistics.median(values) for name, values in found.items()}


def slope(small: tuple[float, float], large: tuple[float, float]) -> float:
    """Return the change of y per unit of x between two points (x, y).

    Raises ValueError if both have the same x.
    """
    if small[0] == large[0]:
        raise ValueError(f"two measurements at {small[0]} have no slope")
    return (large[1] - small[1]) / (large[0] - small[0])


def table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table: measure, value, target, and "missed" or the note."""
    cells = [(row.measure, _value(row), _target(row), _remark(row)) for row in rows]
    cells.insert(0, ("measure", "value", "target", ""))
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    return [
        f"{measure:{widths[0]}}  {value:>{widths[1]}}  {target:>{widths[2]}}  {remark}".rstrip()
        for measure, value, target, remark in cells
    ]


def _value(row: Row) -> str:
    return "-" if row.value is None else f"{number(row.value)} {row.unit}".rstrip()


def _target(row: Row) -> str:
    return "" if row.target is None else f"{'<=' if row.at_most else '>='} {number(row.target)} {row.unit}".rstrip()


def _remark(row: Row) -> str:
    return "; ".join(word for word in ("missed" if row.met is False else "", row.note) if word)


def number(value: float) -> str:
    """Return ``value`` with three significant digits, or all digits before the decimal point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"

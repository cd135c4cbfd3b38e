"""Grades the lab "AIMD and RED": runs each notebook of a folder, checks its answers and writes a row of a CSV file.

    python grade.py submissions grades.csv --students names.txt

A submission is ``NAME.ipynb``, or ``NAME.py`` with the same definitions. Each one runs in a process and a temporary folder
of its own, with a limit on time and memory; a cell that fails is reported, and the next one runs. Sixty complete solutions
take about three minutes of CPU. The CSV has a column with 1 or 0 for each exercise, ``points``, and ``reason``: why
points are missing. ``names.txt`` has a name a line: a name without a submission gets a row, too.

**Submissions are programs and run with your rights.** Grade in a container or with an account that has nothing to lose.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral, Real
from pathlib import Path
from typing import Any

MEMORY = 4 << 30
"""Address space of a submission, bytes."""

SCENARIO = "dumbbell.toml"
"""The scenario of the exercises."""

LONGEST = 600
"""Characters of a reason at most."""

Names = dict[str, Any]


class WrongError(Exception):
    """An answer is wrong; the message states how it is checked."""


def near(found: Any, wanted: float, what: str) -> None:
    """Raise WrongError if ``found``, a number of Python or NumPy, is not ``wanted``, to one part in a million."""
    if not isinstance(found, Real) or not math.isclose(found, wanted, rel_tol=1e-6, abs_tol=1e-9):
        raise WrongError(f"{what} is {found!r}, not {wanted:g}")


def link(overrides: dict[str, Any]) -> dict[str, Any]:
    """Return the row of the bottleneck of a run of ``dumbbell.toml``."""
    import ecnlab

    return ecnlab.run("dumbbell.toml", overrides=overrides).links.filter(link="bottleneck").row(0, named=True)


def step(names: Names) -> None:
    """Check exercise 1."""
    for window, congested, wanted in ((10, False, 11), (10, True, 5), (1.5, True, 1), (1, True, 1)):
        near(names["step"](window, congested), wanted, f"step({window}, {congested})")


def mean_window(names: Names) -> None:
    """Check exercise 2: the square-root law, or its usual rounding 1.22."""
    for p in (0.04, 0.001):
        found, wanted = names["mean_window"](p), math.sqrt(1.5 / p)
        if not isinstance(found, Real) or not abs(found / wanted - 1) <= 0.01:
            raise WrongError(f"mean_window({p}) is {found!r}, not {wanted:.4g}")


def buffer(names: Names) -> None:
    """Check exercise 3 by two runs."""
    packets = names["buffer"]
    if not isinstance(packets, Integral) or not 2 <= packets <= 1000:
        raise WrongError(f"buffer is {packets!r}, not a whole number of packets from 2 to 1000")
    one = {"node.source.count": 1, "node.sink.count": 1, "flow.bulk.count": 1, "tcp.default.congestion": "reno"}
    for limit, enough in ((packets, True), (packets // 2, False)):
        fifo = {"queue.red": {"discipline": "droptail", "limit": f"{limit} packets"}, "duration": "40 s"}
        busy = link({**one, **fifo})["utilisation"]
        if (busy >= 0.97) is not enough:
            raise WrongError(f"with {limit} packets the link is busy for {busy:.1%} of the time")


def average(names: Names) -> None:
    """Check exercise 4."""
    for before, queue, weight, wanted in ((10, 20, 0.5, 15), (0, 8, 0.25, 2), (7, 7, 0.002, 7)):
        near(names["average"](before, queue, weight), wanted, f"average({before}, {queue}, {weight})")


def probability(names: Names) -> None:
    """Check exercise 5."""
    for mean, wanted in ((4, 0), (10, 0), (20, 0.05), (29, 0.095), (30, 1), (99, 1)):
        near(names["probability"](mean, 10, 30, 0.1), wanted, f"probability({mean}, 10, 30, 0.1)")


def settings(names: Names) -> None:
    """Check exercise 6 by a run."""
    keys, allowed = names["settings"], {f"queue.red.{key}" for key in ("min_th", "max_th", "max_p")}
    if not isinstance(keys, dict) or set(keys) != allowed:
        raise WrongError(f"settings is not a dict with the keys {', '.join(sorted(allowed))}")
    found = link(keys)
    if found["queue_mean_packets"] >= 12 or found["utilisation"] < 0.97:
        raise WrongError(f"{found['queue_mean_packets']:.1f} packets, the link is busy for {found['utilisation']:.1%}")


def is_pair(value: Any) -> bool:
    """Return whether ``value`` is a list, a tuple or an array of two."""
    return not isinstance(value, str | dict | set) and hasattr(value, "__len__") and len(value) == 2


def compared(names: Names) -> None:
    """Check exercise 7 by two runs with a seed drawn for each submission."""
    import ecnlab

    seed = secrets.randbelow(2**32)
    call = f"compared({seed})"
    found = names["compared"](seed)
    if not is_pair(found) or not all(map(is_pair, found)):
        raise WrongError(f"{call} is {found!r}, not two pairs")
    for ecn, (retransmits, goodput) in zip((True, False), found, strict=True):
        overrides = {"duration": "20 s", "queue.red.ecn": ecn}
        flows = ecnlab.run("dumbbell.toml", seed, overrides=overrides).flows
        kind = "marks" if ecn else "drops"
        near(retransmits, flows["retransmits"].sum(), f"{call}: retransmissions with {kind}")
        near(goodput, flows["goodput_bps"].sum() / 1e6, f"{call}: goodput with {kind}")


CHECKS: dict[str, Callable[[Names], None]] = {
    "step": step,
    "mean_window": mean_window,
    "buffer": buffer,
    "average": average,
    "probability": probability,
    "settings": settings,
    "compared": compared,
}
"""The checks by the name that the submission defines."""


def cells(file: Path) -> list[str]:
    """Return the code cells of a submission. Raises WrongError if it is not a notebook."""
    try:
        text = file.read_text()
        if file.suffix == ".py":
            return [text]
        found = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        return ["".join(source) for source in found]
    except (ValueError, TypeError, KeyError, OSError) as error:
        raise WrongError(f"the file is not a notebook: {type(error).__name__}") from None


def examine(file: Path) -> dict[str, str]:
    """Run the submission ``file`` in this process; return why points are missing, by exercise or cell."""
    reasons, names = {}, {"__name__": "submission"}
    for number, cell in enumerate(cells(file), 1):
        lines = [line for line in cell.splitlines() if not line.startswith(("!", "%"))]
        try:
            exec(compile("\n".join(lines), f"cell {number}", "exec"), names)
        except (Exception, SystemExit) as error:
            reasons[f"cell {number}"] = f"{type(error).__name__}: {error}"
    for name, check in CHECKS.items():
        try:
            if names.get(name, ...) is ...:
                raise WrongError("no answer")
            check(names)
        except WrongError as wrong:
            reasons[name] = str(wrong)
        except (Exception, SystemExit) as error:
            reasons[name] = f"{type(error).__name__}: {error}"
    return reasons


def graded(file: Path, scenario: Path, seconds: float) -> dict[str, Any]:
    """Return the row of the submission ``file``, which runs in a process of its own for at most ``seconds``."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(scenario, Path(folder) / SCENARIO)
        answer = Path(folder) / "reasons.json"
        command = [sys.executable, str(Path(__file__).resolve()), "--one", str(file.resolve()), str(answer)]
        try:
            done = subprocess.run(command, cwd=folder, timeout=seconds, capture_output=True, check=False)
            reasons = json.loads(answer.read_text())
        except subprocess.TimeoutExpired:
            reasons = {"submission": f"not finished after {seconds:g} s"}
        except (OSError, ValueError):
            reasons = {"submission": f"its process ended with code {done.returncode} without a result"}
    return row(file.stem, file.name, reasons)


def row(student: str, file: str, reasons: dict[str, str]) -> dict[str, Any]:
    """Return a row of the CSV file; a reason of the whole submission leaves no points."""
    points = {name: int(name not in reasons and "submission" not in reasons) for name in CHECKS}
    why = "; ".join(f"{where}: {reason}" for where, reason in reasons.items())
    about = {"student": student, "file": file, **points, "points": sum(points.values())}
    return about | {"reason": " ".join(why.split())[:LONGEST]}


def grade(folder: Path, scenario: Path, students: list[str], seconds: float, workers: int) -> list[dict[str, Any]]:
    """Return a row for each submission in ``folder`` and each of ``students`` without one, in the order of names."""
    files = sorted(file for file in folder.iterdir() if file.suffix in {".ipynb", ".py"})
    with ThreadPoolExecutor(workers) as pool:
        rows = list(pool.map(lambda file: graded(file, scenario, seconds), files))
    missing = sorted(set(students) - {file.stem for file in files})
    rows += [row(student, "", {"submission": "none"}) for student in missing]
    return sorted(rows, key=lambda one: one["student"])


def limit_memory() -> None:
    """Limit the address space of this process, on systems that can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def found(scenario: Path | None) -> Path:
    """Return the path of ``scenario``, or of `SCENARIO` here or beside this program. Raises FileNotFoundError."""
    places = [scenario] if scenario else [Path(SCENARIO), Path(__file__).with_name(SCENARIO)]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise FileNotFoundError(f"there is no {places[0]}: `ecnlab examples copy dumbbell` copies it")


def main() -> None:
    """Grade a folder and write the CSV file; with ``--one``, examine one submission in this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", type=Path)
    parser.add_argument("grades", type=Path)
    parser.add_argument("--students", type=Path, help="a file with a name a line")
    parser.add_argument("--scenario", type=Path, help="`dumbbell.toml`; without it, that here or beside this program")
    parser.add_argument("--seconds", type=float, default=120, help="limit of a submission")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        limit_memory()
        try:
            reasons = examine(asked.submissions)
        except WrongError as wrong:
            reasons = {"submission": str(wrong)}
        asked.grades.write_text(json.dumps(reasons))
        return
    try:
        students = asked.students.read_text().split("\n") if asked.students else []
        names = [name.strip() for name in students if name.strip()]
        with asked.grades.open("w", newline="") as out:
            writer = csv.DictWriter(out, ["student", "file", *CHECKS, "points", "reason"])
            writer.writeheader()
            writer.writerows(grade(asked.submissions, found(asked.scenario), names, asked.seconds, asked.workers))
    except (OSError, UnicodeDecodeError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()

"""Installs the wheel of ``build/wheels`` into an empty environment and runs the commands of a newcomer, without the checkout.

The commands run in an empty folder outside the checkout, without PYTHONPATH. Each must exit with the expected code and
print the expected text, and leave its files. The times of the steps and the sizes of the packages are printed; the check
fails above `LIMIT_MB`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
WHEELS = ROOT / "build" / "wheels"
ENVIRONMENT = ROOT / "build" / "installed"

LIMIT_MB = 300.0
"""Size of ecnlab with its base dependencies, 10^6 bytes; without pip, which ``python -m venv`` installs."""

PAPER = "rfc2884"
PAPER_S = 300.0
"""Time for the first finished runs of the paper, seconds; a limit for a hanging command."""


class FailedError(Exception):
    """A step did not do what it should; the message states what it did."""


class Installed:
    """An environment with the wheel, and a folder in which its commands run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        timed("python -m venv", [sys.executable, "-m", "venv", ENVIRONMENT], folder)
        self.python = ENVIRONMENT / "bin" / "python"

    def install(self, wanted: str) -> None:
        """Installs the wheel with its dependencies; ``wanted`` has the extras in brackets, or nothing."""
        command = [self.python, "-m", "pip", "install", "--quiet", f"{wheel()}{wanted}"]
        timed(f"pip install ecnlab{wanted}", command, self.folder)

    def ecnlab(self, words: str, expected: str, code: int = 0) -> None:
        """Runs ``ecnlab words``: its output must match the regular expression ``expected``."""
        command = [ENVIRONMENT / "bin" / "ecnlab", *words.split()]
        timed(f"ecnlab {words}", command, self.folder, expected, code)

    def sizes(self) -> Counter[str]:
        """10^6 bytes of each package, with its libraries and metadata."""
        found: Counter[str] = Counter()
        for entry in next(ENVIRONMENT.glob("lib/python*/site-packages")).iterdir():
            name = re.sub(r"(-[0-9].*)?\.(dist-info|libs)$|\.py$", "", entry.name).removeprefix("_").lower()
            files = [path for path in entry.rglob("*") if path.is_file()] if entry.is_dir() else [entry]
            found[name.replace("_runtime_32", "")] += sum(path.stat().st_size for path in files) / 1e6
        return found


def main() -> None:
    """Runs all steps; the exit code is 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true", help=f"wait for the whole of {PAPER}, some minutes")
    asked = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="ecnlab-") as folder:
            check(Installed(Path(folder)), whole=asked.whole)
    except FailedError as failed:
        sys.exit(f"install-check failed: {failed}")


def check(installed: Installed, *, whole: bool) -> None:
    """The steps, in the order of a newcomer."""
    empty = installed.sizes()
    installed.install("")
    base = added(installed, empty)
    write(empty, "in the empty environment")
    write(base, "installed with ecnlab")
    where = "import ecnlab, pathlib; print(pathlib.Path(ecnlab.__file__).parents[0])"
    timed("import ecnlab", [installed.python, "-c", where], installed.folder, rf"^{re.escape(str(ENVIRONMENT))}/")
    if base.total() > LIMIT_MB:
        raise FailedError(f"ecnlab and its dependencies have {base.total():.0f} MB, more than {LIMIT_MB:.0f}")
    commands(installed)
    reproduce(installed, whole=whole)
    installed.install("[plots]")
    installed.ecnlab("plot results/mine queue -o queue.svg", "")
    holds(installed.folder / "queue.svg", "<svg")
    write(added(installed, empty + base), "added by [plots]")


def added(installed: Installed, before: Counter[str]) -> Counter[str]:
    """Sizes of the packages that are not in ``before``."""
    return Counter({name: size for name, size in installed.sizes().items() if name not in before})


def commands(installed: Installed) -> None:
    """Help, examples, a run with its report, a user-defined law, and the error without Matplotlib."""
    installed.ecnlab("--help", "A laboratory for congestion notification")
    installed.ecnlab("examples", r"What does ECN gain over drops\?")
    installed.ecnlab("examples copy dumbbell", r"^dumbbell\.toml$")
    installed.ecnlab("run dumbbell.toml --out results/mine", "")
    installed.ecnlab("show results/mine", "bottleneck")
    installed.ecnlab("report results/mine", "")
    holds(installed.folder / "results" / "mine" / "report.html", "<svg")
    installed.ecnlab("plot results/mine queue -o queue.csv", "")
    holds(installed.folder / "queue.csv", ",")
    installed.ecnlab("plot results/mine queue -o queue.svg", r"pip install 'ecnlab\[plots\]'", code=2)
    installed.ecnlab("examples copy userlaws", r"^laws/reno\.py$")
    installed.ecnlab("run userlaws.toml --out results/laws --json", r'"goodput_bps"')
    installed.ecnlab("reproduce rfc2885", f"no paper is called 'rfc2885'; there are {PAPER}", code=2)


def reproduce(installed: Installed, *, whole: bool) -> None:
    """Starts the paper; without ``whole``, interrupts it once runs are finished, and asks for the report of these."""
    if whole:
        installed.ecnlab(f"reproduce {PAPER}", "")
        holds(installed.folder / "results" / PAPER / "report.html", "<svg")
        return
    began = time.monotonic()
    with (installed.folder / "log").open("wb") as log:
        command = [str(ENVIRONMENT / "bin" / "ecnlab"), "reproduce", PAPER]
        child = subprocess.Popen(command, cwd=installed.folder, env=environment(), stdout=log, stderr=log)
        try:
            while child.poll() is None and not finished(installed) and time.monotonic() < began + PAPER_S:
                time.sleep(0.2)
            child.send_signal(signal.SIGINT)
            code = child.wait(timeout=60)
        finally:
            child.kill()
    runs = finished(installed)
    if code != 130 or not runs:
        text = (installed.folder / "log").read_text(errors="replace")
        raise FailedError(f"`ecnlab reproduce {PAPER}` ended with {code} and {len(runs)} finished runs:\n{text}")
    tell(time.monotonic() - began, f"ecnlab reproduce {PAPER}: interrupted after {len(runs)} finished runs")
    sweep = runs[0].parents[1].relative_to(installed.folder)
    installed.ecnlab(f"report {sweep} -o part.html", "")
    holds(installed.folder / "part.html", "<svg")


def finished(installed: Installed) -> list[Path]:
    """The stored runs of the paper."""
    return list(installed.folder.glob(f"results/{PAPER}/sweeps/*/parts/[0-9a-f]*.parquet"))


def timed(name: str, command: list[Path | str], folder: Path, expected: str = "", code: int = 0) -> None:
    """Runs ``command``; raises FailedError unless it exits with ``code`` and its output matches ``expected``."""
    began = time.monotonic()
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    text = f"{done.stdout}{done.stderr}"
    if done.returncode != code or not re.search(expected, text, re.MULTILINE):
        raise FailedError(f"`{name}` exited with {done.returncode}, expected {code} and {expected!r}; output:\n{text}")
    tell(time.monotonic() - began, name)


def environment() -> dict[str, str]:
    """The environment of this process, without variables that could lead Python to the checkout."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "ECNLAB_"))
    }
    return {**kept, "PATH": os.pathsep.join([str(ENVIRONMENT / "bin"), os.environ.get("PATH", os.defpath)])}


def wheel() -> Path:
    """The wheel that ``make wheel`` has built."""
    found = sorted(WHEELS.glob("ecnlab-*.whl"))
    if len(found) != 1:
        raise FailedError(f"{WHEELS.relative_to(ROOT)} has {len(found)} wheels instead of one: `make wheel` builds it")
    return found[0]


def holds(path: Path, text: str) -> None:
    """Raises FailedError unless ``path`` exists and has ``text``."""
    if not path.is_file() or text not in path.read_text(encoding="utf-8"):
        raise FailedError(f"{path.name} does not exist or has no {text!r}")


def write(sizes: Counter[str], name: str) -> None:
    """Prints the size of each package of at least 0.1 MB, the largest first, and the total."""
    for package, size in sizes.most_common():
        if size >= 0.1:
            print(f"{size:8.1f} MB  {package}")
    print(f"{sizes.total():8.1f} MB  {name}", flush=True)


def tell(seconds: float, name: str) -> None:
    """Prints the time of a step."""
    print(f"{seconds:8.1f} s   {name}", flush=True)


if __name__ == "__main__":
    main()

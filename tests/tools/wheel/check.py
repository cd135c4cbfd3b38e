"""Installs the wheel of ``build/wheels`` into an empty environment and runs the commands of a newcomer, without the checkout.

The commands run in an empty folder outside the checkout, without PYTHONPATH. Each must exit with the expected code and
print the expected text, and leave its files. The times of the steps and the sizes of the packages are printed; the check
fails above `LIMIT_MB`.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import tasks
from installed import ENVIRONMENT, FailedError, Installed, sdist, timed

LIMIT_MB = 270.0
"""Size of ecnlab with its base dependencies, 10^6 bytes, without compiled modules; these have another 28 MB, of 300 in all."""


def main() -> None:
    """Runs all steps; the exit code is 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true", help=f"wait for the whole of {tasks.PAPER}, some minutes")
    parser.add_argument(
        "--sdist", action="store_true", help="only build the source distribution, and import the result"
    )
    asked = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="ecnlab-") as folder:
            if asked.sdist:
                check_sdist(Installed(Path(folder)))
            else:
                check(Installed(Path(folder)), whole=asked.whole)
    except FailedError as failed:
        sys.exit(f"install-check failed: {failed}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:8.1f} s   CPU time of all commands")


def check(installed: Installed, *, whole: bool) -> None:
    """The steps, in the order of a newcomer."""
    installed.install("")
    base = installed.sizes()
    write(base, "installed with ecnlab")
    imports(installed)
    if base.total() > LIMIT_MB:
        raise FailedError(f"ecnlab and its dependencies have {base.total():.0f} MB, more than {LIMIT_MB:.0f}")
    laws_and_errors(installed)
    task("First figure", tasks.first_figure, installed)
    write(added(installed, base), "added by [plots]")
    task("Researcher: three queues over seeds", tasks.researcher, installed)
    task("Lecturer: the sawtooth of AIMD", tasks.lecturer, installed)
    task("Implementer: violations in a capture", tasks.implementer, installed)
    task("Engineer: a queue at a given rate", tasks.engineer, installed)
    task("Student: a scenario in the studio", tasks.student, installed)
    task("Reader: a paper's first runs", partial(tasks.reader, whole=whole), installed)


def check_sdist(installed: Installed) -> None:
    """Builds a wheel from the source distribution, which needs Rust, and does a run and an example with it."""
    installed.install("", sdist())
    imports(installed)
    installed.ecnlab("examples copy dumbbell", r"^dumbbell\.toml$")
    installed.ecnlab("run dumbbell.toml --out results/mine", "bottleneck")


def imports(installed: Installed) -> None:
    """Imports ecnlab from the environment, and from nowhere else."""
    where = "import ecnlab, pathlib; print(pathlib.Path(ecnlab.__file__).parents[0])"
    timed("import ecnlab", [installed.python, "-c", where], installed.folder, rf"^{re.escape(str(ENVIRONMENT))}/")


def laws_and_errors(installed: Installed) -> None:
    """Help, a table of a run without Matplotlib and the error that names it, a user-defined law, an unknown paper."""
    installed.ecnlab("--help", "A laboratory for congestion notification")
    installed.ecnlab("examples copy userlaws", r"^laws/reno\.py$")
    installed.edit("userlaws.toml", duration='"5 s"', warmup='"1 s"')
    installed.ecnlab("run userlaws.toml --out results/laws --json", r'"goodput_bps"')
    installed.ecnlab("show results/laws", "bottleneck")
    installed.ecnlab("plot results/laws queue -o queue.csv", "")
    installed.has("queue.csv", ",")
    installed.ecnlab("plot results/laws queue -o queue.svg", r"pip install 'matplotlib>=", code=2)
    installed.ecnlab("reproduce rfc2885", f"no paper is called 'rfc2885'; there are {tasks.PAPER}", code=2)


def task(title: str, steps: Callable[[Installed], None], installed: Installed) -> None:
    """Runs a task, and prints its title, its steps and its time."""
    print(title)
    began = time.monotonic()
    steps(installed)
    print(f"{time.monotonic() - began:8.1f} s   in all", flush=True)


def added(installed: Installed, before: Counter[str]) -> Counter[str]:
    """Sizes of the packages that are not in ``before``."""
    return Counter({name: size for name, size in installed.sizes().items() if name not in before})


def write(sizes: Counter[str], name: str) -> None:
    """Prints the size of each package of at least 0.1 MB, the largest first, and the total."""
    for package, size in sizes.most_common():
        if size >= 0.1:
            print(f"{size:8.1f} MB  {package}")
    print(f"{sizes.total():8.1f} MB  {name}", flush=True)


if __name__ == "__main__":
    main()

"""Tasks of newcomers with the installed wheel: a first figure, and one task for each kind of user."""

from __future__ import annotations

import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Final

from installed import ENVIRONMENT, FailedError, Installed, environment, report

PAPER: Final = "rfc2884"
PAPER_S: Final = 300.0
"""Time for the first finished runs of the paper, seconds; a limit for a hanging command."""

QUEUES: Final = """
format = 1
title = "Three queues"
scenario = "dumbbell.toml"
replicates = 3
seed = 1

[set]
duration = "5 s"
warmup = "1 s"

[grid.queue]
points = [
  { label = "droptail", set = { "queue.red" = { discipline = "droptail", limit = "100 packets" } } },
  { label = "red", set = {} },
  { label = "codel", set = { "queue.red" = { discipline = "codel", limit = "100 packets", ecn = true } } },
]

[metrics]
sojourn = { table = "links", column = "sojourn_mean_s", aggregate = "mean", where = { link = "bottleneck" } }
"""
"""The researcher's experiment: three queues, three seeds each."""


def first_figure(installed: Installed) -> None:
    """A figure of one's own, in at most four commands with the installation."""
    installed.commands.clear()
    installed.install("[plots]")
    installed.ecnlab("new --rate 10Mbps --rtt 40ms --queue codel --senders cubic --duration 10s --out first.toml", "")
    installed.ecnlab("run first.toml --out results/first", "bottleneck")
    installed.ecnlab("plot results/first queue -o first.svg", "first.svg")
    installed.has("first.svg", "<svg")
    if len(installed.commands) > 4:
        raise FailedError(f"the first figure takes {len(installed.commands)} commands: {installed.commands}")


def researcher(installed: Installed) -> None:
    """Compares three queues over seeds, and draws the means with their intervals."""
    installed.ecnlab("examples copy dumbbell", r"^dumbbell\.toml$")
    (installed.folder / "queues.toml").write_text(QUEUES, encoding="utf-8")
    installed.ecnlab("sweep queues.toml --out results/queues", r"codel +sojourn +[0-9.]+ ± [0-9.]+ ms +3")
    installed.ecnlab("plot results/queues effect --metric sojourn --by queue -o queues.svg", "queues.svg")
    installed.has("queues.svg", "<svg")


def lecturer(installed: Installed) -> None:
    """Draws the sawtooth of AIMD from an example for a class."""
    installed.ecnlab("examples", r"What does ECN gain over drops\?")
    installed.ecnlab("examples copy lab --out class", r"lab\.ipynb$")
    installed.ecnlab("examples copy lab-solutions --out solutions", r"grade\.py$")
    installed.ecnlab("examples copy dumbbell --out lecture", r"dumbbell\.toml$")
    installed.ecnlab("run lecture/dumbbell.toml --out results/lecture", "")
    installed.ecnlab("plot results/lecture cwnd --flow bulk[0] -o sawtooth.svg", "sawtooth.svg")
    installed.has("sawtooth.svg", "<svg")


def implementer(installed: Installed) -> None:
    """Finds the packets of a capture that break a rule of RFC 3168: DCTCP does."""
    installed.ecnlab("examples copy coexist", r"^coexist\.toml$")
    installed.edit("coexist.toml", duration='"3 s"', warmup='"1 s"')
    installed.ecnlab("run coexist.toml --capture bottleneck --out results/capture", "")
    capture = "results/capture/captures/bottleneck.pcapng"
    installed.ecnlab(f"trace {capture} --standard rfc3168 --html violations.html", r"^ect-on-syn +[0-9]+ +1 ")
    installed.has("violations.html", "<svg")
    # A capture of a stored run is checked by the rules of its scheme.
    installed.ecnlab(f"trace {capture}", r"^rules of RFC 8257 .*\n.* 0 packets listed")


def engineer(installed: Installed) -> None:
    """Examines a queue at the rate of a link."""
    installed.ecnlab(
        "new --rate 40Mbps --rtt 20ms --queue dualpi2 --senders prague,cubic --duration 5s", "scenario.toml"
    )
    installed.ecnlab("run scenario.toml --out results/link", "prague")
    installed.ecnlab("report results/link", "report.html")
    installed.has("results/link/report.html", "<svg")


def reader(installed: Installed, *, whole: bool) -> None:
    """Reproduces a paper; without ``whole``, interrupts it once runs are finished, and reads the report of these."""
    if whole:
        installed.ecnlab(f"reproduce {PAPER}", "")
        installed.has(f"results/{PAPER}/report.html", "<svg")
        return
    began = time.monotonic()
    with (installed.folder / "log").open("wb") as log:
        command = [str(ENVIRONMENT / "bin" / "ecnlab"), "reproduce", PAPER]
        child = subprocess.Popen(
            command, cwd=installed.folder, env=environment(), stdout=log, stderr=log, preexec_fn=interruptible
        )
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
    report(time.monotonic() - began, f"ecnlab reproduce {PAPER}: interrupted after {len(runs)} finished runs")
    sweep = runs[0].parents[1].relative_to(installed.folder)
    installed.ecnlab(f"report {sweep} -o part.html", "")
    installed.has("part.html", "<svg")


def student(installed: Installed) -> None:
    """Opens a scenario in the studio, whose server has the files of the wheel."""
    installed.ecnlab("examples copy coexist --out studio", r"coexist\.toml$")
    began = time.monotonic()
    command = [str(ENVIRONMENT / "bin" / "ecnlab"), "studio", "studio/coexist.toml", "--no-browser"]
    site = next(ENVIRONMENT.glob("lib/python*/site-packages/ecnlab/studio/site"))
    child = subprocess.Popen(command, cwd=installed.folder, env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        printed = child.stdout.readline() if child.stdout else ""
        address, found, _ = printed.partition("#/bench?s=1.")
        if not found:
            raise FailedError(f"`ecnlab studio` printed {printed!r}, and no address with the scenario")
        files = [path for path in site.rglob("*") if path.is_file()]
        for path in files:
            with urllib.request.urlopen(f"{address}{path.relative_to(site)}") as answer:
                if answer.read() != path.read_bytes():
                    raise FailedError(f"`ecnlab studio` serves another {path.name} than the wheel has")
    finally:
        child.kill()
        child.wait()
    report(time.monotonic() - began, f"ecnlab studio: {len(files)} files")


def interruptible() -> None:
    """Let SIGINT end the process: jobs that a shell has started in the background ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finished(installed: Installed) -> list[Path]:
    """The stored runs of the paper."""
    return list(installed.folder.glob(f"results/{PAPER}/sweeps/*/parts/[0-9a-f]*.arrows"))

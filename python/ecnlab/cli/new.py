"""``ecnlab new``: a commented scenario from options, or from answers."""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from ecnlab._core import SpecError
from ecnlab.base import package_data
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import console
from ecnlab.cli.options import File, Replicates, examples
from ecnlab.folder.outputs import TOML, refuse_output, write_new
from ecnlab.scenario.files import checked
from ecnlab.scenario.sketched import SKETCHES, Sketch, sketch, sketched, text
from ecnlab.scenario.sketched_sweep import experiment, queues

DEFAULTS: Final = {
    "rate": "40 Mbps",
    "rtt": "20 ms",
    "queue": SKETCHES["default"]["queue"],
    "senders": SKETCHES["default"]["senders"],
    "duration": "30 s",
}
"""Answers to the questions, by option."""

QUESTIONS: Final = {
    "rate": "Rate of the bottleneck",
    "rtt": "Round trip without queueing",
    "queue": "Queue discipline (`ecnlab laws` lists them)",
    "senders": "Window laws of the senders, with commas",
    "duration": "Simulated time",
}


OPTIONS: Final = {
    r"queue\..*\.discipline": "--queue",
    r"duration|warmup|sample|flow\..*": "--duration",
    r"link\..*\.rate": "{rate}",
    r"link\..*\.delay": "--rtt",
    r"queue\..*": "{rate} and --rtt",
    r"tcp\..*": "--senders",
    r".*": "{rate}, --rtt or --duration",
}
"""Options by the keys that depend on them: patterns, of which the first applies. {rate} stands for --rate or --down and --up."""


@click.command()
@click.option("--rate", help="Rate of the bottleneck. [default: 40 Mbps]")
@click.option("--down", help="Rate to the receivers of an asymmetric line, with --up; instead of --rate.")
@click.option("--up", help="Rate from the receivers of an asymmetric line, with --down.")
@click.option("--rtt", help="Round trip without queueing. [default: 20 ms]")
@click.option("--queue", help="Queue discipline of the bottleneck. [default: fq_codel]")
@click.option("--senders", help="Window laws, with commas; a flow for each. [default: cubic]")
@click.option("--duration", help="Simulated time. [default: 30 s]")
@click.option("--sweep", metavar="queues=A,B", help="Also write an experiment that compares queue disciplines.")
@click.option("--seeds", type=Replicates, default=10, show_default=True, help="Runs of each discipline, with --sweep.")
@click.option("--out", type=File, help="File to write. [default: scenario.toml]")
@examples("""
      ecnlab new
      ecnlab new --rate 40Mbps --rtt 20ms --queue fq_codel --senders prague,cubic --duration 30s --out first.toml
      ecnlab new --down 50Mbps --up 10Mbps --rtt 20ms --senders prague,cubic --sweep queues=fq_codel,cake --out line.toml
""")
def new(out: Path | None, sweep: str | None, seeds: int, **given: str | None) -> None:
    """Write a commented scenario of senders that share a bottleneck.

    Without options, on a terminal, it asks for each value. An existing file is not replaced.
    """
    if out is None and not sweep and not any(given.values()) and sys.stdin.isatty():
        given = {key: click.prompt(question, default=DEFAULTS[key], err=True) for key, question in QUESTIONS.items()}
    compared = queues(sweep) if sweep else []
    if compared and not given["queue"]:
        given["queue"] = compared[0]
    given["rate"], up = _rates(given["rate"], given.pop("down", None), given.pop("up", None))
    chosen = sketch(**{key: given[key] or default for key, default in DEFAULTS.items()}, up=up)
    path = out or Path("scenario.toml")
    refuse_output(path, TOML)
    files = {Path(path.name): text(chosen).encode(), **_laws(chosen)}
    rates = "--down and --up" if up else "--rate"
    _refuse_what_check_refuses(files, path.name, rates)
    todo = ["ecnlab", "run", str(path)]
    if compared:
        beside = path.with_name(f"{path.stem}-sweep.toml")
        files[Path(beside.name)] = experiment(chosen, path.name, compared, seeds).encode()
        _refuse_what_check_refuses(files, beside.name, rates)
        todo = ["ecnlab", "sweep", str(beside)]
    written = {path.parent / name: content for name, content in files.items()}
    write_new(written, "choose another file with --out")
    for file in written:
        console.say(str(file))
    console.complain(f"next: {shlex.join(todo)}")


def _rates(rate: str | None, down: str | None, up: str | None) -> tuple[str | None, str]:
    """Rate of the bottleneck, and that of its other direction or "". Raises EcnlabError for a wrong set of options."""
    if rate is not None and (down is not None or up is not None):
        raise EcnlabError("--rate is of both directions: write only --rate, or --down and --up of an asymmetric line")
    if (down is None) != (up is None):
        given, other = ("--up", "--down") if down is None else ("--down", "--up")
        raise EcnlabError(f"{given} needs {other}, the rate of the other direction; --rate is of both directions")
    if down is None or up is None:
        return rate, ""
    for option, value in (("--down", down), ("--up", up)):
        if not value.strip():
            raise EcnlabError(f'{option} is empty: write a rate such as "10 Mbps"')
    return down, up


def _refuse_what_check_refuses(files: Mapping[Path, bytes], name: str, rate: str) -> None:
    """Raise EcnlabError with the option whose value makes the scenario ``name`` one that `ecnlab check` refuses.

    ``files`` are by their paths relative to the future folder. ``rate`` are the options of the rate.
    """
    with tempfile.TemporaryDirectory(prefix="ecnlab-") as scratch:
        for path, content in files.items():
            (Path(scratch) / path).parent.mkdir(exist_ok=True)
            (Path(scratch) / path).write_bytes(content)
        try:
            checked(Path(scratch) / name)
        except SpecError as error:
            first = error.diagnostics[0]
            raise EcnlabError(f"{_option(first['key'], rate)}: {first['message']}; {first['help']}") from error


def _option(key: str, rate: str) -> str:
    """The options that ``key`` of the scenario depends on; ``rate`` are those of the rate."""
    return next(options for pattern, options in OPTIONS.items() if re.fullmatch(pattern, key)).format(rate=rate)


def _laws(chosen: Sketch) -> dict[Path, bytes]:
    """The Python files of user-defined laws in the scenario, as they are in the examples."""
    own = [sketched("queue", chosen.queue), *(sketched("sender", name) for name in chosen.senders)]
    names = [law["copy"] for law in own if "copy" in law]
    if not names:
        return {}
    source = package_data.folder("examples") / "laws"
    return {Path("laws") / name: (source / name).read_bytes() for name in names}

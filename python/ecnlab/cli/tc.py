"""``ecnlab tc``: the queues and hosts of a scenario as lines for Linux."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ecnlab.base.safe_text import one_line
from ecnlab.cli import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, as_json, examples, no_python
from ecnlab.linux.tc_hosts import hosts
from ecnlab.linux.tc_lines import Part, Requested, queues
from ecnlab.scenario.files import read_scenario


@click.command()
@click.argument("file", type=File)
@click.option(
    "--link", metavar="NAME", help="Only this link; NAME~reverse is its way back. [default: all with a queue]"
)
@click.option(
    "--dev",
    "devices",
    multiple=True,
    metavar="DEVICE",
    help="The device of the link, or LINK=DEVICE for each of several. [default: eth0, eth1, ...]",
)
@click.option("--ingress", is_flag=True, help="Shape what the device receives, through an ifb.")
@click.option("--emulate", is_flag=True, help="Also write delays and losses, as netem, for a laboratory.")
@no_python
@as_json
@examples("""
      ecnlab tc first.toml
      ecnlab tc first.toml --link bottleneck --dev wan0 --ingress
""")
def tc(file: Path, link: str | None, devices: tuple[str, ...], ingress: bool, emulate: bool, as_json: bool) -> None:
    """Write the tc, ip and sysctl lines for the queues, links and hosts of the scenario FILE.

    The lines are a shell script; each part names its machine. What Linux lacks is a comment in it, with the reason. The exit code
    is 1 if Linux lacks a whole queue.

    A scenario with user-defined laws names files whose code is executed, with your rights, when the scenario is read: for files
    that you do not trust give --no-python.
    """
    scenario = read_scenario(file)
    of_links = queues(scenario, Requested(link, devices, ingress, emulate))
    of_hosts = hosts(scenario)
    if as_json:
        console.write_json(
            {
                "file": str(file),
                "links": [_json(part) for part in of_links],
                "hosts": [_json(part) for part in of_hosts],
            }
        )
    else:
        for line in _script(file, of_links, of_hosts):
            console.say(line)
    if any(part.missing for part in of_links):
        raise SystemExit(NO)


def _json(part: Part) -> dict[str, Any]:
    return {
        **part.names,
        "nodes": list(part.nodes),
        "about": part.about,
        "lines": list(part.lines),
        "missing": part.missing,
        "lacking": [{"key": key, "message": message, "help": remedy} for key, message, remedy in part.refused],
        "substituted": list(part.substituted),
        "notes": list(part.notes),
    }


def _script(file: Path, of_links: Sequence[Part], of_hosts: Iterable[Part]) -> Iterator[str]:
    yield _comment(f"Queues and hosts of {file} for Linux, as root. Each part is for the machines that it names.")
    if not of_links:
        yield ""
        yield "# No link of the scenario has a queue of its own: Linux's default is left in place. --link NAME writes one."
    for part in (*of_links, *of_hosts):
        yield ""
        yield from _part(part)


def _part(part: Part) -> Iterator[str]:
    yield _comment(f"On {', '.join(part.nodes)}: {part.about}" if part.nodes else part.about)
    for _, message, remedy in part.refused:
        yield _comment(f"  Linux cannot have this: {message}{'; ' if remedy else ''}{remedy}")
    for entry in part.substituted:
        yield _comment(f"  {console.substituted(entry)}")
    for note in part.notes:
        yield _comment(f"  {note}")
    if part.missing:
        yield "#   No lines: Linux has no such queue."
    yield from part.lines


def _comment(text: str) -> str:
    """A comment of one line, whatever names and titles of the scenario contain."""
    return f"# {one_line(text)}"

"""``ecnlab probe``: TBIT's tests of the ECN of servers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ecnlab import probing
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import console
from ecnlab.cli.options import File, as_json, examples, no_python


@click.command()
@click.argument("file", type=File, required=False)
@click.option("--flow", "flows", multiple=True, help="Probe only the server of this flow. Can be repeated.")
@click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True, help="Seed of all random streams."
)
@click.option(
    "--boxes", is_flag=True, help="Instead of FILE, probe a server behind each kind of box and print a Markdown table."
)
@click.option(
    "--host",
    metavar="HOST:PORT",
    help="Instead of FILE, probe a real server; `:PORT` and `[::1]:PORT` are this machine.",
)
@click.option(
    "--request", default=probing.REQUEST, help="Request to send to the real server. [default: an HTTP request for /]"
)
@no_python
@as_json
@examples("""
      ecnlab probe hostile.toml
      ecnlab probe hostile.toml --flow 'page[3]' --json
      ecnlab probe --host :8080                     a server on this machine; needs root
      ecnlab probe --host '[2001:db8::1]:80'        over IPv6
      ecnlab probe --boxes                          the table of `ecnlab docs probe`
""")
def probe(
    file: Path | None,
    flows: tuple[str, ...],
    seed: int,
    boxes: bool,
    host: str | None,
    request: str,
    as_json: bool,
) -> None:
    """Test the ECN of servers as TBIT does: those of the scenario FILE, or a real one.

    Does it answer a SYN with ECN, echo CE, stop at CWR, send CWR and slow down after ECE? Does the path change codepoints?
    No packet leaves the machine without --host.
    """
    if [file is not None, boxes, host is not None].count(True) != 1:
        raise EcnlabError("no server to probe: give a scenario FILE, --host or --boxes")
    if host is None:
        requested = probing.probe(file or probing.BOXES, flows, seed)
    else:
        requested = {host: probing.probe_host(*_host_and_port(host), request)}
    if as_json:
        console.write_json(requested)
    elif boxes:
        sys.stdout.write(probing.markdown(probing.table(requested)))
    else:
        _show(requested)


def _host_and_port(text: str) -> tuple[str, int]:
    """Split HOST:PORT, whose HOST may be an IPv6 address in brackets. Raises EcnlabError."""
    name, _, port = text.rpartition(":")
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    if not port.isdecimal() or not 0 < int(port) < 1 << 16 or (":" in name) != (bare != name):
        raise EcnlabError(
            f"--host {text}: write HOST:PORT, such as 192.0.2.1:80 or [2001:db8::1]:80, or :8080 for this machine"
        )
    return bare, int(port)


def _show(requested: dict[str, probing.Answers]) -> None:
    console.write_frame(probing.table(requested), "servers", 1 << 20)
    found = {tuple(finding) for answers in requested.values() for finding in answers["findings"]}
    for name, meaning in sorted(found):
        console.say(f"{name}: {meaning}")
    for server, answers in requested.items():
        for why in answers["unclear"]:
            console.say(f"{server}: {why}")

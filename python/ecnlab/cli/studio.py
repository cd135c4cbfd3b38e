"""``ecnlab studio``: the laboratory in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from ecnlab.cli import console
from ecnlab.cli.options import File, examples
from ecnlab.studio.opened import address
from ecnlab.studio.server import serve


@click.command()
@click.argument("path", type=File, required=False, metavar="[FILE|FOLDER]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of 127.0.0.1. [default: a free one]")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
@examples("""
      ecnlab studio
      ecnlab studio dumbbell.toml
      ecnlab studio results/dumbbell
      ecnlab studio --no-browser --port 8000
""")
def studio(path: Path | None, port: int, no_browser: bool) -> None:
    """Open the studio, with the scenario FILE or with the run in FOLDER, in a browser. Ends with Ctrl-C.

    Everything is simulated in the browser; the server only has the files of the page and is reachable from this machine only.
    """
    end = address(path) if path else ""
    with serve(port) as server:
        place = f"http://127.0.0.1:{server.server_port}/{end}"
        console.say(place)
        if not no_browser:
            webbrowser.open(place)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            console.say("")

"""``ecnlab laws``, ``profiles`` and ``schema``: lists of the available choices."""

from __future__ import annotations

import click

from ecnlab import _core
from ecnlab.base.errors import EcnlabError
from ecnlab.base.types import FileKind
from ecnlab.cli import console
from ecnlab.cli.options import as_json, examples


@click.command()
@as_json
def laws(as_json: bool) -> None:
    """List all laws: queue disciplines, window laws, ends of slow start, loss recoveries, ECN feedback, kinds of traffic."""
    known = _core.laws()
    if as_json:
        console.write_json(known)
    else:
        for family, members in known.items():
            console.say(family)
            for name, facts in members.items():
                console.say(f"  {name:10} {facts['summary']}")


@click.command()
@click.argument("name", required=False)
@as_json
@examples("""
      ecnlab profiles
      ecnlab profiles linux-2.0
""")
def profiles(name: str | None, as_json: bool) -> None:
    """List the TCP profiles, or every value of the profile NAME with its source."""
    known = _core.profiles()
    if name is not None and name not in known:
        raise EcnlabError(f"no profile is called {name!r}; there are {', '.join(known)}")
    if as_json:
        console.write_json(known if name is None else known[name])
    elif name is None:
        for each, profile in known.items():
            console.say(f"{each:10} {profile['summary']}")
    else:
        for key, entry in known[name]["settings"].items():
            console.say(f"{key} = {entry['value']!r}\n    {entry['source']}")


@click.command()
@click.argument("kind", type=click.Choice(["scenario", "experiment"]), default="scenario")
@examples("""
      ecnlab schema > scenario.schema.json
      ecnlab schema experiment
""")
def schema(kind: FileKind) -> None:
    """Write the JSON schema of scenario or experiment files, for editors."""
    console.write_json(_core.schema(kind))

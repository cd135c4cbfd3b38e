"""``ecnlab laws``, ``profiles`` and ``schema``: lists of the available choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ecnlab import _core
from ecnlab.base import package_data
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess_law
from ecnlab.base.types import FileKind
from ecnlab.cli import console
from ecnlab.cli.options import as_json, examples
from ecnlab.cli.pages import text


@click.command()
@click.argument("name", required=False)
@as_json
@examples("""
      ecnlab laws
      ecnlab laws fq_codel
""")
def laws(name: str | None, as_json: bool) -> None:
    """List all laws, or print the page of the law NAME: its keys, defaults and sources.

    The families are queue disciplines, window laws, ends of slow start, loss recoveries, ECN feedback and kinds of traffic.
    """
    known = _core.laws()
    if name is not None:
        _show_law(known, name, as_json=as_json)
    elif as_json:
        console.write_json(known)
    else:
        for family, members in known.items():
            console.say(family)
            for name, facts in members.items():
                console.say(f"  {name:10} {facts['summary']}")


def _show_law(known: Mapping[str, Mapping[str, Any]], name: str, *, as_json: bool) -> None:
    """Print the page of a law, or its facts by family as JSON."""
    found = {family: members[name] for family, members in known.items() if name in members}
    if not found:
        names = (law for members in known.values() for law in members)
        raise EcnlabError(f"no law is called {name!r}{guess_law(name, names)}; `ecnlab laws` lists all laws")
    page = package_data.folder("docs/laws") / f"{name}.md"
    if as_json:
        console.write_json(found)
    elif page.is_file():
        console.say(text(page))
    else:
        for family, facts in found.items():
            console.say(f"{name} ({family}): {facts['summary']}")


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

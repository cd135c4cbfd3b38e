"""``ecnlab cache``: the user's cache of runs."""

from __future__ import annotations

import click

from ecnlab.cli import console
from ecnlab.cli.options import as_json, examples
from ecnlab.folder.cache import VARIABLE, opened, settings
from ecnlab.folder.size_limits import size


@click.command()
@click.option("--clear", is_flag=True, help="Remove all entries.")
@as_json
@examples(f"""
      ecnlab cache
      ecnlab cache --clear
      {VARIABLE}=off ecnlab sweep gain.toml      without the cache
      {VARIABLE}="10 GB" ecnlab sweep gain.toml  with another limit
""")
def cache(clear: bool, as_json: bool) -> None:
    """Show where the cache of runs is, its entries, size and limit.

    Sweeps take runs of the same simulator, scenario and seed from it instead of doing them again.
    """
    chosen = settings()
    if chosen is None:
        console.write_json({"path": None}) if as_json else console.say("the cache is off")
        return
    with opened() as results:
        if clear:
            results.clear()
        entries, contents = results.count()
    on_disk = chosen.file.stat().st_size if chosen.file.exists() else 0
    if as_json:
        found = {
            "path": str(chosen.file),
            "entries": entries,
            "contents": contents,
            "size": on_disk,
            "limit": int(chosen.limit),
        }
        console.write_json(found)
        return
    console.say(f"path     {chosen.file}")
    console.say(f"entries  {entries}, {size(contents)}")
    console.say(f"size     {size(on_disk)} of at most {size(chosen.limit)}")

"""``ecnlab vectors``: test vectors for other implementations."""

from __future__ import annotations

import contextlib
import json
import tomllib
from pathlib import Path
from typing import Any

import click

from ecnlab.base.quantities import TIMES, quantity
from ecnlab.cli import console
from ecnlab.cli.cases import cases
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, as_json, examples
from ecnlab.vectors import names as all_names
from ecnlab.vectors import vector
from ecnlab.vectors.compare import Checked, Departure, Tolerance
from ecnlab.vectors.compare import check as compare
from ecnlab.vectors.export import FORMATS
from ecnlab.vectors.export import export as write


class Time(click.ParamType[int]):
    """A time with its unit, such as "1 ms", in nanoseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return nanoseconds; fail for an invalid time."""
        if isinstance(value, int):
            return value
        text = str(value)
        number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
        unit = text[len(number) :]
        if unit in TIMES:
            with contextlib.suppress(ValueError, OverflowError):
                time = round(quantity(f"{number.strip()} {unit}") * 1e9)
                if time >= 0:
                    return time
        return self.fail(f"{text!r} is not a time: write a number and its unit, such as 1ms", param, ctx)


def _override(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, object]:
    """Return dotted keys with their values, which are TOML or plain text."""
    found: dict[str, object] = {}
    for one in given:
        key, sign, text = one.partition("=")
        if not sign or not key.strip():
            raise click.BadParameter(f"{one!r} is not KEY=VALUE, such as 'tcp.default.min_rto=200 ms'")
        try:
            found[key.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            found[key.strip()] = text.strip()
    return found


@click.group()
def vectors() -> None:
    """Test vectors of congestion control, ECN feedback and queues, each for a rule of an RFC."""


vectors.add_command(cases)


@vectors.command("list")
@as_json
@examples("""
      ecnlab vectors list
""")
def list_(as_json: bool) -> None:
    """List the vectors with their RFC sections."""
    found = [vector(name) for name in all_names()]
    if as_json:
        keys = ("name", "version", "kind", "title", "shows")
        console.write_json([{key: getattr(one, key) for key in keys} | {"rfcs": list(one.rfcs)} for one in found])
        return
    wide = max(len(one.name) for one in found)
    for one in found:
        console.say(f"{one.name:{wide}}  version {one.version}  {one.title} ({', '.join(one.rfcs)})")


@vectors.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--out", type=File, default=Path("vectors"), show_default=True, help="Folder of the files.")
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="Write only this format. Can be repeated. [default: all three]",
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_override,
    help="Change a key of the scenario: the log of an implementation that departs. Can be repeated.",
)
@examples("""
      ecnlab vectors export
      ecnlab vectors export codel-control-law --format jsonl --out here
      ecnlab vectors export rto-backoff --out mutated --set 'tcp.default.min_rto=200 ms'
""")
def export(names: tuple[str, ...], out: Path, formats: tuple[str, ...], overrides: dict[str, object]) -> None:
    """Write the vectors NAME, or all, as JSON lines, qlog and pcapng."""
    chosen = [vector(name) for name in names or all_names()]
    wanted = [name for name in FORMATS if name in (formats or FORMATS)]
    for one in chosen:
        for path in write(one, out, wanted, overrides):
            console.say(str(path))


@vectors.command()
@click.argument("file", type=File)
@click.option(
    "--bytes", "size", type=click.IntRange(0), default=0, show_default=True, help="Tolerance of fields in bytes."
)
@click.option("--time", "time", type=Time(), default="0ns", show_default=True, help="Tolerance of fields in time.")
@as_json
@examples("""
      ecnlab vectors check mine.jsonl
      ecnlab vectors check mine.jsonl --bytes 1 --time 1ms
""")
def check(file: Path, size: int, time: int, as_json: bool) -> None:
    """Compare FILE, the log of another implementation (- is standard input), with its vector, and show the first departure."""
    checked = compare(file, Tolerance(size, time))
    if as_json:
        console.write_json(_as_json(checked))
    elif checked.departure is None:
        one = checked.vector
        console.say(f"{file}: {checked.compared} events are those of `{one.name}` version {one.version}")
    else:
        _show_departure(file, checked, checked.departure)
    if checked.departure is not None:
        raise SystemExit(NO)


def _show_departure(file: Path, checked: Checked, found: Departure) -> None:
    one = checked.vector
    console.say(f"{file}:{found.line}: departs from `{one.name}` version {one.version}")
    console.say(f"  field     {found.field}")
    console.say(f"  expected  {json.dumps(found.expected)}")
    console.say(f"  got       {json.dumps(found.got)}")
    console.say(f"  rule      {found.rule.name} ({found.rule.source})")
    console.say(f"            {found.rule.statement}")
    if found.wanted is not None:
        console.say(f"  event     {json.dumps(found.wanted)}")
    console.say("events before it:" if found.before else "no events before it")
    for line in found.before:
        console.say(f"  {line.number}: {json.dumps(line.event)}")


def _as_json(checked: Checked) -> dict[str, Any]:
    one, found = checked.vector, checked.departure
    departure = found and {
        "line": found.line,
        "field": found.field,
        "expected": found.expected,
        "got": found.got,
        "rule": {"name": found.rule.name, "source": found.rule.source, "statement": found.rule.statement},
        "event": found.wanted,
        "before": [{"line": line.number, "event": line.event} for line in found.before],
    }
    return {"vector": one.name, "version": one.version, "compared": checked.compared, "departure": departure}

"""``ecnlab agree``: comparison of the simulator with another engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ecnlab.base.lazy_imports import pl
from ecnlab.base.types import Engine
from ecnlab.cli import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, Workers, as_json, engine_option, examples, no_cache, no_python
from ecnlab.cli.resume import resumable
from ecnlab.engines.protocol import LINUX
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.outputs import PAGE, refuse_output, write_named
from ecnlab.folder.tables import read_table
from ecnlab.folder.verified import read_files

if TYPE_CHECKING:
    from ecnlab.agreement.packets import Trace


@click.command()
@click.argument("file", type=File)
@click.option(
    "--margin",
    type=click.FloatRange(0.0, 1.0, True, True),
    help="Largest accepted distance of the ratio from 1. [default: 0.1]",
)
@click.option(
    "--replicates",
    type=click.IntRange(2, 10**6),
    help="Number of replicates. [default: 8, or as in the experiment]",
)
@click.option("--out", type=File, help="Folder for the runs and the page. [default: results/NAME-agreement]")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@engine_option("Engine to compare with the simulator.", LINUX)
@click.option("--explain", is_flag=True, help="Also rank the differences in packet behaviour between the two engines.")
@click.option(
    "--captures", type=click.IntRange(1, 1_000), help="With --explain: number of replicates to capture. [default: 1]"
)
@click.option(
    "--packets",
    is_flag=True,
    help="Compare the marks, drops and departure times of each packet at the queues of a scenario.",
)
@click.option("--traces", type=click.IntRange(1, 1_000), help="With --packets: number of random traces. [default: 20]")
@click.option("--seed", type=click.IntRange(0, 2**63), help="With --packets: seed of the first trace. [default: 1]")
@click.option("--html", type=File, help="With --packets: file to write a page of the comparison to.")
@no_cache
@no_python
@as_json
@examples("""
      ecnlab agree dumbbell.toml
      ecnlab agree dumbbell.toml --packets --traces 200
      ecnlab agree papers/rfc2884/agree.toml --replicates 16 --margin 0.05
""")
def agree(
    file: Path,
    margin: float | None,
    replicates: int | None,
    out: Path | None,
    workers: int | None,
    engine: Engine,
    explain: bool,
    captures: int | None,
    packets: bool,
    traces: int | None,
    seed: int | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Run the scenario or experiment FILE in the simulator and in another engine, and compare the results.

    Runs that the folder already has are not done again: after an interruption, the same command continues.

    With --explain, the first replicate of each cell is run once more with captures in both engines, and the differences in
    behaviour (ACKs, bursts, reductions, round-trip times) are ranked by their size relative to their noise.

    With --packets, the same random packets are sent to each queue that a link of the scenario names and to the same
    discipline in the Linux kernel, and marks, drops and departure times are compared. Exit code 1 if anything differs.
    """
    from ecnlab.agreement.means import EXPLANATION, MARGIN
    from ecnlab.agreement.means import agree as compare_engines

    if packets:
        _refuse("--packets", {"--margin": margin, "--replicates": replicates, "--out": out, "--workers": workers})
        _refuse("--packets", {"--explain": explain or None, "--captures": captures})
        if engine != LINUX:
            raise click.UsageError(f"--packets compares with the engine `{LINUX}`")
        _agree_on_packets(file, traces or TRACES, 1 if seed is None else seed, html, as_json)
        return
    _refuse("agree without --packets", {"--traces": traces, "--seed": seed, "--html": html})
    if captures is not None and not explain:
        raise click.UsageError("--captures needs --explain: it is the number of replicates to capture")
    explained = (captures or 1) if explain else 0
    margin = MARGIN if margin is None else margin
    folder = out or Path("results") / f"{file.stem}-agreement"
    with resumable(folder), console.progress(file.stem) as report:
        page = compare_engines(
            file,
            folder,
            engine=engine,
            margin=margin,
            replicates=replicates,
            workers=workers,
            progress=report,
            explained=explained,
        )
    files = read_files(folder)
    rows = read_table(files.path("agreement.parquet"))
    ranked = read_table(files.path(EXPLANATION)) if explain else None
    instead = read_manifest(folder / engine, "sweep").get("instead", [])
    if as_json:
        found = {"page": str(page), "comparisons": rows.to_dicts(), "instead": instead}
        console.write_json(found if ranked is None else found | {"behaviour": ranked.to_dicts()})
        return
    console.write_frame(rows.drop("margin"), f"agreement within {margin:g}", rows.height)
    if ranked is not None:
        _show_ranked(ranked)
    for entry in instead:
        console.say(console.substituted(entry))
    console.say(f"page: {page}")


RANKED = 20
"""Maximum number of differences in behaviour shown per cell."""


def _show_ranked(ranked: pl.DataFrame) -> None:
    keys = ranked.columns[: ranked.columns.index("group")]
    for cell in ranked.partition_by(keys, maintain_order=True):
        names = [str(value) for value in cell.row(0)[: len(keys)] if value is not None]
        shown = cell.drop(*keys, "n", "n_linux").with_columns(pl.col("score").round(1))
        console.write_frame(shown.head(RANKED), ": ".join(["behaviour", *names]), RANKED)


TRACES = 20
"""Default number of random traces per queue."""

SHOWN = 3
"""Maximum number of traces per queue whose first difference is shown."""


def _refuse(what: str, options: dict[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"{what} does not take {name}: leave it out")


def _agree_on_packets(file: Path, traces: int, seed: int, html: Path | None, as_json: bool) -> None:
    from ecnlab.agreement.packets import agree as replay
    from ecnlab.agreement.packets_page import packets_page

    if html:
        refuse_output(html, PAGE)
    found = replay(file, traces=traces, seed=seed)
    if html:
        write_named(html, packets_page(file, found).encode(), PAGE)
    if as_json:
        console.write_json(
            [
                {
                    "link": trace.question.link,
                    "queue": trace.question.queue,
                    "discipline": trace.question.law,
                    "tc": trace.question.twin.words,
                    "seed": trace.seed,
                    "packets": len(trace.fates),
                    "dropped": sum(fate.ours is None for fate in trace.fates),
                    "differences": trace.differences,
                }
                for trace in found
            ]
        )
    else:
        for name in dict.fromkeys(trace.question.link for trace in found):
            _show([trace for trace in found if trace.question.link == name])
    if any(trace.differences for trace in found):
        raise SystemExit(NO)


def _show(traces: list[Trace]) -> None:
    question = traces[0].question
    fates = [fate for trace in traces for fate in trace.fates]
    different = [trace for trace in traces if trace.differences]
    dropped = sum(fate.ours is None for fate in fates)
    marked = sum(fate.ours is not None and fate.ours.tos != fate.arrival.tos for fate in fates)
    console.say(f"{question.link}: {question.law} compared with `{question.twin.words}`")
    console.say(f"  {len(traces)} traces, {len(fates)} packets, {dropped} dropped, {marked} marked in the simulator")
    console.say(f"  {sum(fate.differs for fate in fates)} packets differ, in {len(different)} traces")
    for entry in question.instead if different else ():
        console.say(f"  {entry['key']} is {entry['asked']!r} in the simulator and {entry['kernel']!r} in the kernel")
    for trace in different[:SHOWN]:
        console.say(f"  seed {trace.seed}, {trace.differences} packets, the first of them:")
        console.say("\n".join(f"    {line}" for line in trace.first().splitlines()))

"""``ecnlab reproduce``: the experiments of a paper."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ecnlab.cli import console
from ecnlab.cli.cluster import cluster_at, cluster_option
from ecnlab.cli.options import File, Workers, examples, no_cache
from ecnlab.cli.resume import resumable

if TYPE_CHECKING:
    from ecnlab.papers.row import RowRun


@click.command()
@click.argument("paper")
@click.option("--full", is_flag=True, help="Run the whole grid. Without it, a smaller size that takes a few minutes.")
@click.option(
    "--linux", "on_linux", is_flag=True, help="Also run the experiments that the paper has for the Linux kernel."
)
@click.option("--row", metavar="ID", help="Do one run behind this printed number or claim, and capture its packets.")
@click.option("--out", type=File, help="Folder for results and report. [default: results/PAPER; for `all`: results]")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@cluster_option
@no_cache
@examples("""
      ecnlab reproduce rfc2884
      ecnlab reproduce rfc2884 --full --out results/rfc2884-full
      ecnlab reproduce rfc2884 --linux        after `ecnlab linux build`
      ecnlab reproduce rfc2884 --row R34.1    the packets of one run behind a printed number
      ecnlab reproduce all
""")
def reproduce(
    paper: str,
    full: bool,
    on_linux: bool,
    row: str | None,
    out: Path | None,
    workers: int | None,
    address: str | None,
) -> None:
    """Run the experiments of PAPER and write a report that compares printed and measured values.

    PAPER is a name, or a folder as `ecnlab paper new` writes it; `all` means every paper of ecnlab, each in its own folder, and an index of their reports. Finished runs are not
    repeated: after an interruption, the same command continues.
    """
    from ecnlab import papers  # the report's libraries take a second to load

    if row is not None:
        _refuse_beside_row(paper, {"--full": full, "--linux": on_linux, "--workers": workers, "--cluster": address})
        _show_row(papers.run_row(paper, row, out or Path("results") / Path(paper).resolve().name))
        return
    if paper == "all":
        folder = out or Path("results")
        with resumable(folder), cluster_at(address, workers) as cluster, console.progresses() as begin:
            page = papers.reproduce_all(
                folder, full=full, linux=on_linux, workers=workers, progress=begin, cluster=cluster
            )
    else:
        folder = out or Path("results") / Path(paper).resolve().name
        with resumable(folder), cluster_at(address, workers) as cluster, console.progress(paper) as report:
            page = papers.reproduce(
                paper, folder, full=full, linux=on_linux, workers=workers, progress=report, cluster=cluster
            )
    console.say(f"report: {page}")


def _refuse_beside_row(paper: str, given: Mapping[str, object]) -> None:
    """Raise UsageError for options that a single run does not have."""
    if paper == "all":
        raise click.UsageError("`--row` is a row of one paper: name the paper in place of `all`")
    if wrong := [option for option, value in given.items() if value]:
        raise click.UsageError(f"`--row` does one run in the simulator: leave `{wrong[0]}` out")


def _show_row(found: RowRun) -> None:
    width = max(len(label) for label, _ in found.facts)
    for label, text in found.facts:
        console.say(f"{label:{width}}  {text}")
    console.say(f"stored in {found.folder}")
    for capture in found.captures:
        console.say(f"packets: {shlex.join(['ecnlab', 'trace', str(capture)])}")

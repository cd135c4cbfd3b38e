"""``ecnlab reproduce``: the experiments of a paper."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab.cli import console
from ecnlab.cli.cluster import cluster_at, cluster_option
from ecnlab.cli.options import File, Workers, examples
from ecnlab.cli.resume import resumable


@click.command()
@click.argument("paper")
@click.option("--full", is_flag=True, help="Run the whole grid. Without it, a smaller size that takes a few minutes.")
@click.option(
    "--linux", "on_linux", is_flag=True, help="Also run the experiments that the paper has for the Linux kernel."
)
@click.option("--out", type=File, help="Folder for results and report. [default: results/PAPER; for `all`: results]")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@cluster_option
@examples("""
      ecnlab reproduce rfc2884
      ecnlab reproduce rfc2884 --full --out results/rfc2884-full
      ecnlab reproduce rfc2884 --linux        after `ecnlab linux build`
      ecnlab reproduce all
""")
def reproduce(
    paper: str, full: bool, on_linux: bool, out: Path | None, workers: int | None, address: str | None
) -> None:
    """Run the experiments of PAPER and write a report that compares printed and measured values.

    PAPER `all` means every paper, each in its own folder, and an index of their reports. Finished runs are not
    repeated: after an interruption, the same command continues.
    """
    from ecnlab import papers  # the report's libraries take a second to load

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

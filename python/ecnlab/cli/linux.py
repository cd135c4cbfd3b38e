"""``ecnlab linux``: the kernel that the engine ``linux`` runs."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab.base.systems import require_linux
from ecnlab.cli import console
from ecnlab.cli.options import File, Workers, examples


@click.group()
def linux() -> None:
    """The Linux kernel as an engine, in virtual time. No root needed."""


@linux.command()
@click.option("--source", type=File, help="Kernel source: a folder or a .tar.xz. [default: Debian's, downloaded]")
@click.option("--jobs", type=Workers, default=2, show_default=True, help="Number of compiler processes in parallel.")
@examples("""
      ecnlab linux build
      ecnlab linux build --source linux-7.3.tar.xz --jobs 8
""")
def build(source: Path | None, jobs: int) -> None:
    """Build the kernel once and boot it as a check. No root needed; takes about six CPU minutes."""
    require_linux("the build of the kernel")
    from ecnlab.linux.build import build as build_kernel

    kernel = build_kernel(source, jobs, console.now_and_then())
    console.say(f"Linux {kernel.about['version']} is ready: {kernel.folder}")

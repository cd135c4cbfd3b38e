"""Follows docs/new-law.md in a copy of the sources: creates, adds and runs what the page says, in its order.

What a command prints is compared with what the page says that it prints. The one stand-in is for ``make build``, which
here builds without optimisation: a minute or two instead of many, and the same results. Compiled dependencies are those of
this checkout (``target``).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from steps import Run, StaleError, read

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "new-law.md"
COPY = ROOT / "build" / "newlaw"
TARGET = ROOT / "target"

BUILD = "make build"
SCHEMA = "make schema"
"""What of make may run in the copy, besides the build: its virtual environment is this checkout's, which no command may change."""
BUILT = "--assume-old=.venv/.core"
"""Keeps make from installing the copy into that environment."""


def main() -> None:
    """Follows the page; the exit code is 1 where it is stale."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    begun = time.monotonic()
    try:
        steps = read(PAGE.read_text())
        copy_sources()
        for step in steps:
            if isinstance(step, Run):
                run(step)
            else:
                print(step.path, flush=True)
                step.apply(COPY)
    except StaleError as stale:
        sys.exit(f"{PAGE.relative_to(ROOT)}: {stale}")
    commands = sum(isinstance(step, Run) for step in steps)
    print(f"{len(steps) - commands} blocks applied, {commands} commands run: {time.monotonic() - begun:.0f} s")


def copy_sources() -> None:
    """Makes the copy of the files that git knows, with the environment of this checkout."""
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name)
    (COPY / ".venv").symlink_to(ROOT / ".venv")


def run(step: Run) -> None:
    """Runs a command of the page and compares what it prints. Raises StaleError."""
    print(f"$ {step.command}", flush=True)
    if step.command.startswith("make ") and step.command not in (BUILD, SCHEMA):
        raise StaleError(f"`{step.command}` would change the environment of this checkout: tell of it in a sentence")
    if step.command in (BUILD, SCHEMA):
        build()
    if step.command != BUILD:
        command = step.command.replace(SCHEMA, f"{SCHEMA} {BUILT}")
        step.compare(printed(command, refused=step.refused))


def build() -> None:
    """The simulator of the copy, unoptimised, where its Python finds it."""
    printed("cargo build --quiet --package ecnlab-py")
    made = next(path for name in ("lib_core.so", "lib_core.dylib") if (path := TARGET / "debug" / name).exists())
    shutil.copy2(made, COPY / "python" / "ecnlab" / "_core.abi3.so")


def printed(command: str, *, refused: bool = False) -> str:
    """What a command prints in the copy, errors too. Raises StaleError if it fails, or does not where it is ``refused``."""
    here = {"CARGO_TARGET_DIR": str(TARGET), "PYTHONPATH": str(COPY / "python"), "COLUMNS": "120"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=COPY,
        env={**os.environ, **here},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if (done.returncode != 0) != refused:
        raise StaleError(f"{command}\nended with exit code {done.returncode}:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main()

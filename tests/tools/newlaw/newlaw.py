"""Follows docs/new-law.md and docs/new-hook.md, each in a copy of the sources: creates, adds and runs the blocks in their order.

The output of a command is compared with the output on the page. The one stand-in is for ``make build``, which
here builds without optimisation: a minute or two instead of many, and the same results. Compiled dependencies are those of
this checkout (``target``). At the end of a page, a file of the copy that has changed since it was made must be one that the
page creates or adds to, or that ``make schema`` writes. Then the blocks are removed, and no file may differ.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from steps import Run, StaleError, Step, read

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "docs" / "new-law.md", ROOT / "docs" / "new-hook.md"]
COPY = ROOT / "build" / "newlaw"
TARGET = ROOT / "target"

BUILD = "make build"
SCHEMA = "make schema"
"""What of make may run in the copy, besides the build: its virtual environment is this checkout's, which no command may change."""
BUILT = "--assume-old=.venv/.core"
"""Keeps make from installing the copy into that environment."""


def main() -> None:
    """Follows the pages; the exit code is 1 where one is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "pages", metavar="PAGE", nargs="*", type=Path, default=PAGES, help="pages to follow (default: both)"
    )
    for page in parser.parse_args().pages:
        try:
            report = follow(page)
        except StaleError as stale:
            sys.exit(f"{page.name}: {stale}")
        print("\n".join([f"{page.name}: {report[0]}", *(f"  {line}" for line in report[1:])]), flush=True)


def follow(page: Path) -> list[str]:
    """Follows a page in a fresh copy. Returns lines on its steps and on the files that it changes. Raises StaleError."""
    begun = time.monotonic()
    steps = read(page.read_text())
    copied = copy_sources()
    generated: set[str] = set()
    for step in steps:
        if not isinstance(step, Run):
            print(step.path, flush=True)
            step.apply(COPY)
        elif step.command == SCHEMA:
            before = differing(copied)
            run(step)
            generated |= differing(copied) - before
        else:
            run(step)
    commands = sum(isinstance(step, Run) for step in steps)
    took = f"{len(steps) - commands} blocks applied, {commands} commands run: {time.monotonic() - begun:.0f} s"
    changed = differing(copied)
    check_stated(changed, steps, generated)
    lines = [took, *summary(changed - generated), *([f"{len(generated)} files generated"] if generated else [])]
    take_back(steps, copied)
    return [*lines, "taken back: no file differs from this checkout"]


def take_back(steps: list[Step], copied: dict[str, str]) -> None:
    """Removes all blocks, the last first, and generates again. Raises StaleError if a file of the copy differs from ``copied``."""
    for step in reversed(steps):
        if not isinstance(step, Run):
            step.take_back(COPY)
    if any(isinstance(step, Run) and step.command == SCHEMA for step in steps):
        run(Run(SCHEMA, refused=False))
    if left := differing(copied):
        raise StaleError(f"files that differ after all blocks were taken back: {', '.join(sorted(left))}")


def check_stated(changed: set[str], steps: list[Step], generated: set[str]) -> None:
    """Raises StaleError unless the steps name every changed file that is not generated."""
    stated = {step.path for step in steps if not isinstance(step, Run)}
    if others := sorted(changed - stated - generated):
        raise StaleError(f"files changed that no block names: {', '.join(others)}")


def summary(changed: set[str]) -> list[str]:
    """A line for the sources of each crate, in the order of their names, and one for all other files."""
    folders: dict[str, list[str]] = {}
    for path in sorted(changed):
        source = re.match(r"crates/\w+/src(?=/)", path)
        folders.setdefault(source[0] if source else "", []).append(path)
    others = folders.pop("", [])
    lines = [
        f"{len(paths)} files in {folder}: {', '.join(path.removeprefix(f'{folder}/') for path in paths)}"
        for folder, paths in folders.items()
    ]
    return lines + ([f"{len(others)} other files: {', '.join(others)}"] if others else [])


def copy_sources() -> dict[str, str]:
    """Makes the copy of the files that git tracks, with the environment of this checkout. Returns their hashes by name."""
    shutil.rmtree(COPY, ignore_errors=True)
    tracked = [name for name in git("ls-files", tree=ROOT) if (ROOT / name).is_file()]
    for name in tracked:
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, COPY / name)
    (COPY / ".venv").symlink_to(ROOT / ".venv")
    return hashes(tracked)


def hashes(names: Iterable[str]) -> dict[str, str]:
    """The hashes of those of the files that the copy has."""
    present = (name for name in names if (COPY / name).is_file())
    return {name: hashlib.sha256((COPY / name).read_bytes()).hexdigest() for name in present}


def differing(copied: dict[str, str]) -> set[str]:
    """Files that differ from those with the hashes of ``copied``: changed, deleted, or created and not ignored by git."""
    created = git("ls-files", "--others", "--exclude-standard", "--exclude=/.venv", tree=COPY)
    now = hashes(copied)
    return {*created, *(name for name, before in copied.items() if now.get(name) != before)}


def git(*arguments: str, tree: Path) -> list[str]:
    """The files that a command of git lists, with the index of this checkout for the files in ``tree``."""
    of_checkout = ["git", "rev-parse", "--absolute-git-dir"]
    folder = subprocess.run(of_checkout, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    command = ["git", f"--git-dir={folder}", *arguments, "-z"]
    listed = subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout
    return list(filter(None, listed.split("\0")))


def run(step: Run) -> None:
    """Runs a command of the page and compares what it prints. Raises StaleError."""
    print(f"$ {step.command}", flush=True)
    if step.command.startswith("make ") and step.command not in (BUILD, SCHEMA):
        raise StaleError(f"`{step.command}` would change the environment of this checkout: describe it in a sentence")
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

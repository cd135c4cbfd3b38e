"""An environment with the wheel of ``build/wheels``, in which commands run without the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
WHEELS = ROOT / "build" / "wheels"
ENVIRONMENT = ROOT / "build" / "installed"


class FailedError(Exception):
    """A step did not do what it should; the message states what it did."""


class Installed:
    """An environment with the wheel, and a folder in which its commands run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[str] = []
        """Commands that a user has typed so far."""
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        timed("python -m venv", [sys.executable, "-m", "venv", "--without-pip", ENVIRONMENT], folder)
        self.python = ENVIRONMENT / "bin" / "python"

    def install(self, wanted: str, archive: Path | None = None) -> None:
        """Installs ``archive`` (by default the wheel) with its dependencies; ``wanted`` has the extras in brackets, or nothing.

        Python compiles the modules when they are first imported, which takes less time than all of them.
        """
        self.commands.append(f"pip install 'ecnlab{wanted}'")
        pip = [sys.executable, "-m", "pip", "--python", self.python]
        command = [*pip, "install", "--quiet", "--no-compile", f"{archive or wheel()}{wanted}"]
        timed(self.commands[-1], command, self.folder)

    def ecnlab(self, words: str, expected: str, code: int = 0) -> None:
        """Runs ``ecnlab words``: its output must match the regular expression ``expected``."""
        self.commands.append(f"ecnlab {words}")
        command = [ENVIRONMENT / "bin" / "ecnlab", *words.split()]
        timed(self.commands[-1], command, self.folder, expected, code)

    def has(self, file: str, text: str) -> None:
        """Raises FailedError unless ``file`` exists and has ``text``."""
        path = self.folder / file
        if not path.is_file() or text not in path.read_text(encoding="utf-8"):
            raise FailedError(f"{file} does not exist or has no {text!r}")

    def edit(self, file: str, **values: str) -> None:
        """Replaces the values of top-level keys in a scenario, as a user does in an editor."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        for key, value in values.items():
            text, found = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
            if found != 1:
                raise FailedError(f"{file} has {found} lines `{key} = `")
        path.write_text(text, encoding="utf-8")

    def sizes(self) -> Counter[str]:
        """10^6 bytes of each package, with its libraries and metadata."""
        found: Counter[str] = Counter()
        for entry in next(ENVIRONMENT.glob("lib/python*/site-packages")).iterdir():
            name = re.sub(r"(-[0-9].*)?\.(dist-info|libs)$|\.py$", "", entry.name).removeprefix("_").lower()
            files = [path for path in entry.rglob("*") if path.is_file()] if entry.is_dir() else [entry]
            found[name.replace("_runtime_32", "")] += sum(path.stat().st_size for path in files) / 1e6
        return found


def timed(name: str, command: list[Path | str], folder: Path, expected: str = "", code: int = 0) -> None:
    """Runs ``command``; raises FailedError unless it exits with ``code`` and its output matches ``expected``."""
    began = time.monotonic()
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    text = f"{done.stdout}{done.stderr}"
    if done.returncode != code or not re.search(expected, text, re.MULTILINE):
        raise FailedError(f"`{name}` exited with {done.returncode}, expected {code} and {expected!r}; output:\n{text}")
    report(time.monotonic() - began, name)


def environment() -> dict[str, str]:
    """The environment of this process, without variables that could lead Python to the checkout."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "ECNLAB_"))
    }
    return {**kept, "PATH": os.pathsep.join([str(ENVIRONMENT / "bin"), os.environ.get("PATH", os.defpath)])}


def wheel() -> Path:
    """The wheel that ``make wheel`` has built."""
    return _built("ecnlab-*.whl")


def sdist() -> Path:
    """The source distribution that ``make wheel`` has built."""
    return _built("ecnlab-*.tar.gz")


def _built(pattern: str) -> Path:
    found = sorted(WHEELS.glob(pattern))
    if len(found) != 1:
        raise FailedError(f"{WHEELS.relative_to(ROOT)} has {len(found)} of {pattern}, not one: `make wheel` builds it")
    return found[0]


def report(seconds: float, name: str) -> None:
    """Prints the time of a step."""
    print(f"{seconds:8.1f} s   {name}", flush=True)

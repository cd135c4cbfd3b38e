"""Takes each law away, and asks the compiler and mypy whether anything misses it or stays behind without use.

"A law is one file" (docs/design.md, law 2) means that a copy of the sources without a law's file, its line in the
folder's index and its rows in the registry is a whole program: no other code asks for the law, and no type, function
or constant is there for its sake alone. A method or a field of what laws share may have one user. Laws that others are
built on stay, and so does what is no law but the way in which scenarios put laws together. A file in Python that it has goes
too: every module that remains is imported and type-checked.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PLACE = ROOT / "build" / "without-a-law"
INDEX = {
    "crates/aqm/src/laws": "crates/aqm/src/laws/mod.rs",
    "crates/aqm/src/across": "crates/aqm/src/across/mod.rs",
    "crates/aqm/src/composed": "crates/aqm/src/composed/mod.rs",
    "crates/tcp/src/cc": "crates/tcp/src/cc/mod.rs",
    "crates/tcp/src/slow_start": "crates/tcp/src/slow_start/mod.rs",
    "crates/tcp/src/ecn": "crates/tcp/src/ecn/mod.rs",
    "crates/tcp/src/recovery": "crates/tcp/src/recovery/mod.rs",
    "crates/tcp/src/recovery/linux": "crates/tcp/src/recovery/linux/mod.rs",
}
"""Folders of laws, each with the file that declares its modules."""
QUEUES = ("crates/aqm/src/laws", "crates/aqm/src/across", "crates/aqm/src/composed")
"""Folders of queue disciplines: a law of one may be built on a law of another."""
FAMILIES = dict.fromkeys(QUEUES, "queue") | {"crates/tcp/src/cc": "congestion"}
"""Folders of python/ecnlab/laws for the laws of a folder, where the folder's own name is not the family's."""
ROWS = dict.fromkeys(QUEUES, r'\s*"[\w-]+": {module}::(\w+);') | {"crates/tcp/src/cc": r"\s*(\w+)\({module}::"}
"""A row of a registry: of a queue, of a window law. The group is the law's type."""
SCHEME = r"\s*(\w+), {module},"
"""The same, of a scheme of any other kind."""
LANGUAGE = {Path("crates/aqm/src/composed/classes.rs"): "scenarios say trees of queues with it"}
"""Files with a row that are no laws, and why they stay."""

IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path.insert(0, "")
import ecnlab
from ecnlab import laws
for module in pkgutil.walk_packages(ecnlab.__path__, "ecnlab."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for family in (laws.queues, laws.windows, laws.recoveries, laws.feedbacks):
    family()
"""
"""Imports every module of the copy in the current folder, and reads the files of all laws."""


@dataclass(frozen=True)
class Law:
    """A law's source file; several rows of the registry may name it."""

    folder: Path
    module: str

    @property
    def source(self) -> Path:
        """The file, from the root."""
        return self.folder / f"{self.module}.rs"

    @property
    def registry(self) -> Path:
        """Where its rows are, from the root."""
        if self.folder.as_posix() in ROWS:
            return Path(INDEX[self.folder.as_posix()])
        return Path(*self.folder.parts[:3], "registry.rs")

    def row(self, line: str) -> re.Match[str] | None:
        """A line of the registry, if it is a row of the law."""
        part = "/".join([*self.folder.parts[4:], self.module])
        return re.match(ROWS.get(self.folder.as_posix(), SCHEME).format(module=part), line)


def python_files(law: Law) -> list[Path]:
    """Where the law may have files in Python, from the root: one for each name that its rows give it."""
    family = FAMILIES.get(law.folder.as_posix()) or law.folder.parts[3]
    lines = [line for line in (ROOT / law.registry).read_text().splitlines() if law.row(line)]
    names = [re.findall(r'"([\w+-]+)"', line)[0] for line in lines]
    stems = [name.replace("-", "_").replace("+", "_plus") for name in dict.fromkeys(names)]
    return [Path("python/ecnlab/laws", family, f"{stem}.py") for stem in stems]


def main() -> None:
    """Tries every law that can be taken away; the exit code is 1 if one left something behind."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    files = [Law(Path(folder), file.stem) for folder in INDEX for file in sorted((ROOT / folder).glob("*.rs"))]
    for source, why in LANGUAGE.items():
        print(f"{source}: stays: {why}", flush=True)
    laws = [law for law in files if rows(law) and law.source not in LANGUAGE]
    failed = 0
    for law in laws:
        builders = [other.module for other in laws if other != law and builds_on(other, law)]
        complaints = [] if builders else compile_without(law)
        failed += bool(complaints)
        answer = f"stays: {', '.join(builders)} built on it" if builders else "MISSED" if complaints else "not missed"
        print("\n  ".join([f"{law.source}: {answer}", *complaints]), flush=True)
    print(f"{len(laws)} laws, {failed} of them more than file and rows")
    sys.exit(failed > 0)


def rows(law: Law) -> list[re.Match[str]]:
    """The law's rows in the registry."""
    return [row for line in (ROOT / law.registry).read_text().splitlines() if (row := law.row(line))]


def builds_on(law: Law, base: Law) -> bool:
    """Whether a law's file names the other's module or a type of it."""
    if law.folder != base.folder and not {law.folder.as_posix(), base.folder.as_posix()} <= set(QUEUES):
        return False
    code = (ROOT / law.source).read_text().split("#[cfg(test)]")[0]
    code = "\n".join(line for line in code.splitlines() if not line.lstrip().startswith("//"))
    types = {name for row in rows(base) for name in row.groups() if name}
    own = {name for row in rows(law) for name in row.groups() if name}
    return any(re.search(rf"\b{name}\b", code) for name in (types | {base.module}) - own - {law.module})


def compile_without(law: Law) -> list[str]:
    """What the compiler has against a copy of the sources that has everything but the law."""
    copy(law)
    command = ["cargo", "check", "--workspace", "--quiet", "--message-format=json"]
    command += ["--target-dir", str(PLACE / "target")]
    done = subprocess.run(command, cwd=PLACE / "sources", capture_output=True, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    said = [m["message"] for m in messages if m.get("reason") == "compiler-message"]
    complaints = [f"{where(m)}: {m['message']}" for m in said if m["spans"] and not of_a_part(m)]
    return complaints or ([done.stderr] if done.returncode else python_without())


def python_without() -> list[str]:
    """What Python and mypy have against the copy: it is imported whole, with the simulator of this checkout."""
    python = PLACE / "sources" / "python"
    shutil.copy2(ROOT / "python" / "ecnlab" / "_core.abi3.so", python / "ecnlab")
    command = ["-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", PLACE / "mypy", "ecnlab"]
    for arguments in (["-c", IMPORT_ALL], command):
        done = subprocess.run([sys.executable, *arguments], cwd=python, capture_output=True, text=True)
        if done.returncode:
            return [(done.stderr or done.stdout).strip()]
    return []


def of_a_part(message: dict[str, Any]) -> bool:
    """Whether a warning is of methods or fields without use, or of an import, which says nothing of what it names."""
    code = (message["code"] or {}).get("code")
    of_parts = re.match("(multiple )?(method|field|associated item)", message["message"])
    return code == "unused_imports" or (code == "dead_code" and of_parts is not None)


def where(message: dict[str, Any]) -> str:
    """File and line of a compiler's message."""
    return f"{message['spans'][0]['file_name']}:{message['spans'][0]['line_start']}"


def copy(law: Law) -> None:
    """Makes the sources without the law."""
    sources = PLACE / "sources"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "crates", "bench", "examples", "Cargo.toml", "Cargo.lock", "schema", "python/ecnlab"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    shutil.rmtree(sources, ignore_errors=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, sources / name)
    (sources / law.source).unlink()
    shutil.rmtree(sources / law.folder / law.module, ignore_errors=True)
    for file in python_files(law):
        (sources / file).unlink(missing_ok=True)
    drop_lines(sources / INDEX[law.folder.as_posix()], lambda line: line == f"pub mod {law.module};")
    drop_lines(sources / law.registry, lambda line: law.row(line) is not None)


def drop_lines(file: Path, unwanted: Callable[[str], bool]) -> None:
    """Takes lines out of a file; there must be some."""
    lines = file.read_text().splitlines()
    kept = [line for line in lines if not unwanted(line)]
    if kept == lines:
        sys.exit(f"{file}: has no line to take away")
    file.write_text("\n".join(kept) + "\n")


if __name__ == "__main__":
    main()

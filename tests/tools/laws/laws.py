"""Removes each law from a copy of the sources (``build/laws``), and asks the compiler and Python what misses it or is left without use.

A law is one file (docs/design.md, invariant 2): without its file and folder, its module declaration, its registry rows and its
files in Python the sources are a whole program, and no type, function or constant is left that only this law used. A method or
a field may have had one user. Laws that use a removed one are named; any other complaint is a failure.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
COPY = ROOT / "build" / "laws"
TCP = "crates/tcp/src"
SCHEME = r'\s*\w+, (?P<module>[\w/]+), "(?P<name>.+?)", \w+;'
QUEUE = r'\s*"(?P<name>.+?)": (?P<module>\w+)::\w+;'
FAMILIES = [
    ("queue", "crates/aqm/src/laws", "crates/aqm/src/laws/mod.rs", QUEUE),
    ("queue", "crates/aqm/src/across", "crates/aqm/src/across/mod.rs", QUEUE),
    ("queue", "crates/aqm/src/composed", "crates/aqm/src/composed/mod.rs", QUEUE),
    ("congestion", f"{TCP}/cc", f"{TCP}/cc/mod.rs", r'\s*\w+\((?P<module>\w+)::\w+\), "(?P<name>.+?)", \w+;'),
    ("slow_start", f"{TCP}/slow_start", f"{TCP}/registry.rs", SCHEME),
    ("recovery", f"{TCP}/recovery", f"{TCP}/registry.rs", SCHEME),
    ("ecn", f"{TCP}/ecn", f"{TCP}/registry.rs", SCHEME),
]
"""Family, folder of its laws, file of its registry rows, and the form of a row."""
LANGUAGE = {"crates/aqm/src/composed/classes.rs": "scenarios have trees of queues by it"}
"""Files with a row that are no laws, and why they stay."""
IMPORT_ALL = """
import importlib, pkgutil, ecnlab
from ecnlab import laws
for module in pkgutil.walk_packages(ecnlab.__path__, "ecnlab."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for members in (laws.queues, laws.windows, laws.recoveries, laws.feedbacks):
    members()
"""


@dataclass
class Law:
    """A law's source file, from the root, and what the sources have of it elsewhere."""

    source: str
    registry: str
    rows: list[str] = field(default_factory=list)
    python: list[str] = field(default_factory=list)

    def has(self, file: str) -> bool:
        """Whether a file is the law's or in its folder."""
        return file == self.source or file.startswith(f"{self.source.removesuffix('.rs')}/")


def main() -> None:
    """Removes every law in turn; the exit code is 1 if something misses one, or one leaves something behind."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for source, why in LANGUAGE.items():
        print(f"{source}: stays: {why}")
    laws = find()
    copy_sources()
    if broken := [described(message) for message in compiled()]:
        sys.exit("\n  ".join(["with all laws:", *broken]))
    failed = 0
    for law in laws:
        users, complaints = check_without(law, laws)
        failed += bool(complaints)
        verdict = "MISSED" if complaints else f"used by {', '.join(users)} only" if users else "not missed"
        print("\n  ".join([f"{law.source}: {verdict}", *complaints]), flush=True)
    print(f"{len(laws)} laws, {failed} of them more than their own files and rows")
    sys.exit(failed > 0)


def find() -> list[Law]:
    """The laws, in the order of the registries."""
    found: dict[str, Law] = {}
    for family, folder, registry, form in FAMILIES:
        for line in (ROOT / registry).read_text().splitlines():
            row = re.fullmatch(form, line)
            source = row and f"{folder}/{row['module']}.rs"
            # Families may share a registry: a row of another one has no file in this folder.
            if not row or not source or source in LANGUAGE or not (ROOT / source).exists():
                continue
            law = found.setdefault(source, Law(source, registry))
            law.rows.append(line)
            python = f"python/ecnlab/laws/{family}/{row['name'].replace('-', '_').replace('+', '_plus')}.py"
            law.python += [python] * (ROOT / python).exists()
    return list(found.values())


def copy_sources() -> None:
    """Makes the copy of the files that git tracks, with the native module of this checkout."""
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name)
    shutil.copy2(ROOT / "python/ecnlab/_core.abi3.so", COPY / "python/ecnlab")


def check_without(law: Law, laws: list[Law]) -> tuple[list[str], list[str]]:
    """The laws that do not compile without this one, and all other complaints."""
    changed = remove(law)
    try:
        messages = compiled()
    finally:
        for file, text in changed.items():
            (COPY / file).write_text(text)
    users = [law for law in laws if any(m["level"] == "error" and law.has(place(m)) for m in messages)]
    names = [Path(user.source).stem for user in users]
    others = [m for m in messages if m["level"] != "error" or not any(user.has(place(m)) for user in users)]
    return names, [described(m) for m in others] or ([] if users else python_complaints(law))


def remove(law: Law) -> dict[str, str]:
    """Removes the law from the copy. Returns the text of each changed or deleted file as it was."""
    module = Path(law.source)
    declaring = str(module.parent / "mod.rs")
    lists: dict[str, list[str]] = {declaring: [], law.registry: []}
    lists[declaring].append(f"pub mod {module.stem};")
    lists[law.registry] += law.rows
    own = [str(path.relative_to(COPY)) for path in (COPY / module.with_suffix("")).rglob("*.rs")]
    changed = {file: (COPY / file).read_text() for file in [law.source, *own, *lists]}
    for file, lines in lists.items():
        kept = [line for line in changed[file].splitlines() if line not in lines]
        if len(kept) != len(changed[file].splitlines()) - len(lines):
            sys.exit(f"{file}: does not have each of these lines once: {lines}")
        (COPY / file).write_text("\n".join([*kept, ""]))
    for file in [law.source, *own]:
        (COPY / file).unlink()
    return changed


def compiled() -> list[dict[str, Any]]:
    """What the compiler has against the copy, without unused methods, associated items, fields and imports."""
    command = ["cargo", "check", "--workspace", "--quiet", "--message-format=json"]
    done = subprocess.run([*command, "--target-dir", ROOT / "target"], cwd=COPY, capture_output=True, text=True)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    messages = [m["message"] for m in said if m["reason"] == "compiler-message" and m["message"]["spans"]]
    if done.returncode and not messages:
        sys.exit(done.stderr)
    return [message for message in messages if not of_a_part(message)]


def of_a_part(message: dict[str, Any]) -> bool:
    """Whether a warning is of methods or fields without use, or of an import, which says nothing of what it names."""
    code = (message["code"] or {}).get("code")
    parts = re.match("(multiple )?(method|field|associated )", message["message"])
    return code == "unused_imports" or (code == "dead_code" and parts is not None)


def place(message: dict[str, Any]) -> str:
    """The file of a compiler's message, from the root."""
    return str(message["spans"][0]["file_name"])


def described(message: dict[str, Any]) -> str:
    """A compiler's message with its place."""
    return f"{place(message)}:{message['spans'][0]['line_start']}: {message['message']}"


def python_complaints(law: Law) -> list[str]:
    """What Python and mypy have against the copy without the law's files in Python."""
    if not law.python:
        return []
    files = {COPY / file: (ROOT / file).read_text() for file in law.python}
    for file in files:
        file.unlink()
    typed = ["-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(COPY / "mypy"), "ecnlab"]
    try:
        for arguments in (["-c", IMPORT_ALL], typed):
            done = subprocess.run([sys.executable, *arguments], cwd=COPY / "python", capture_output=True, text=True)
            if done.returncode:
                return [(done.stderr or done.stdout).strip()]
        return []
    finally:
        for file, text in files.items():
            file.write_text(text)


if __name__ == "__main__":
    main()

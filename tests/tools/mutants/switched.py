"""All mutants of a crate in one build.

cargo-mutants lists the mutants; it would build the crate for each. Here each function with mutants becomes a `match` on
the number of the active mutant: one arm for each mutant, and one for the function as it is. An environment variable
activates one mutant for a run of the tests. What cannot be switched in this way (a constant, a `const fn`, a function that
returns `impl Trait`) is left to cargo-mutants.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VARIABLE = "ECNLAB_MUTANT"
ONCE = {"ECNLAB_SCRIPTS_ONCE": "1"}
"""Whether the scripts of TCP can fail at all, no mutant changes."""
NONE = 0
"""No mutant is active."""
SWITCH = f"""
#[doc(hidden)]
pub mod mutants_of_this_build {{
    static ACTIVE: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("{VARIABLE}").ok().and_then(|n| n.parse().ok()).unwrap_or({NONE}));
    pub fn active() -> u32 {{
        *ACTIVE
    }}
}}
"""
CAUGHT, MISSED, TIMEOUT, UNVIABLE = "CaughtMutant", "MissedMutant", "Timeout", "Unviable"
"""What becomes of a mutant, in the words of cargo-mutants."""
LEAST_CPU = 5
LONGER = 5
"""A mutant loops whose tests take so many times the CPU seconds that they take without one, and at least the former."""
EVERY = ("--include-ignored",)
"""Arguments of a test binary: with the tests of `make slow`."""
HANGS = 600.0
"""Seconds after which a mutant hangs that takes no CPU time."""
BUILDS = 30
"""Each build may find further mutants that are no valid Rust: borrows are checked when all types are right."""
TEXT = re.compile("delete field (name|label|summary|reference) from struct Facts")
"""Mutants without text for people, which no rule reads. Those that take a field away pass cargo-mutants' `exclude_re`."""
TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | b?r(?P<hash>\#*)".*?"(?P=hash) | b?"(?:\\.|[^"\\])*" | b?'(?:\\.[^']*|[^'\\])' | [{}]""",
    re.VERBOSE | re.DOTALL,
)
"""What a search for braces must step over, and the braces."""


@dataclass
class Mutant:
    """A change of some text, with its number in the build."""

    number: int
    name: str
    file: str
    function: tuple[int, int]
    """Offsets of the function in its file."""
    span: tuple[int, int]
    """Offsets of what is replaced."""
    replacement: str


@dataclass
class Build:
    """The mutants that the sources of a build hold, and where."""

    mutants: dict[int, Mutant]
    lines: dict[str, list[tuple[int, int, list[int]]]] = field(default_factory=dict)
    """Of each file: first line, last line, and the mutants there, those of single arms first."""


def listed(root: Path, part: str, files: list[str]) -> list[dict[str, Any]]:
    """The mutants of a crate as cargo-mutants lists them, without `TEXT`; of some of its files, if any are named."""
    command = ["cargo", "mutants", "--list", "--json", "--package", f"ecnlab-{part}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"cargo mutants --list: {done.stderr.strip()}")
    found: list[dict[str, Any]] = [one for one in json.loads(done.stdout) if not TEXT.search(one["name"])]
    if unknown := set(files) - {one["file"] for one in found}:
        sys.exit(f"--file {min(unknown)}: no mutants of ecnlab-{part} there")
    return [one for one in found if not files or one["file"] in files]


def mutate(root: Path, part: str, place: Path, jobs: int, files: list[str]) -> tuple[dict[str, str], list[str]]:
    """What became of each mutant by its name with its place; and the names of those that could not be switched."""
    sources = copy(root, place)
    originals: dict[str, str] = {}
    mutants: list[Mutant] = []
    rest: list[str] = []
    for number, one in enumerate(listed(root, part, files), 1):
        text = originals.setdefault(one["file"], (sources / one["file"]).read_text())
        mutant = read(number, one, text) if one["function"] else None
        if mutant is not None and can_switch(text[slice(*mutant.function)]):
            mutants.append(mutant)
        else:
            rest.append(one["name"])
    out_of_others(mutants)
    ends: dict[str, str] = {}
    left = {mutant.number: mutant for mutant in mutants}
    print(f"{part}: {len(left)} mutants in one build, {len(rest)} each in its own", flush=True)
    tests = build(sources, part, originals, left, ends, rest, place)
    where = sources / "crates" / part
    times = {test: seconds(test, where) for test in tests}
    # A mutant that a quick test notices needs no slow one.
    limits = {test: max(LEAST_CPU, round(LONGER * times[test])) for test in sorted(tests, key=times.__getitem__)}
    with ThreadPoolExecutor(jobs) as pool:
        work = {mutant.name: pool.submit(end, mutant, limits, where) for mutant in left.values()}
        for done, (name, future) in enumerate(work.items(), 1):
            ends[name] = future.result()
            if done % 100 == 0 or ends[name] == MISSED:
                print(f"{part}: {done} of {len(work)}{f', missed: {name}' if ends[name] == MISSED else ''}", flush=True)
    return ends, rest


def copy(root: Path, place: Path) -> Path:
    """A copy of what git knows of the sources, since tests read more than their crate."""
    sources = place / "sources"
    shutil.rmtree(sources, ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (root / name).is_file():
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, sources / name)
    return sources


def read(number: int, one: dict[str, Any], text: str) -> Mutant:
    """A mutant from cargo-mutants' list; columns count characters from 1."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def span(of: dict[str, Any]) -> tuple[int, int]:
        a, b = (starts[of[end]["line"] - 1] + of[end]["column"] - 1 for end in ("start", "end"))
        return a, b

    function = span(one["function"]["span"])
    return Mutant(number, one["name"], one["file"], function, span(one["span"]), one["replacement"])


def out_of_others(mutants: list[Mutant]) -> None:
    """A function inside another one that is switched, of an `impl` there, is switched with that one."""
    for mutant in mutants:
        around = (other.function for other in mutants if other.file == mutant.file and within(mutant, other))
        mutant.function = min(around, default=mutant.function)


def within(mutant: Mutant, other: Mutant) -> bool:
    """Whether the function of the one stands in the function of the other, and is not that."""
    (a, b), (c, d) = mutant.function, other.function
    return c < a and b < d


def can_switch(function: str) -> bool:
    """Whether a function may ask at run time which mutant is active, in arms of one type."""
    signature = function[: body(function)[0]]
    return re.search(r"\bconst fn\b|->\s*(.*\b)?impl\b", signature, re.DOTALL) is None


def body(function: str) -> tuple[int, int]:
    """Offsets between the braces of a function's body, which ends the text."""
    opened: list[int] = []
    for token in TOKEN.finditer(function):
        if token[0] == "{":
            opened.append(token.end())
        elif token[0] == "}":
            start = opened.pop()
            if not opened and not function[token.end() :].strip():
                return start, token.start()
    raise ValueError(f"no body: {function[:80]}")


def switch(text: str, mutants: Iterable[Mutant], where: list[tuple[int, int, list[int]]]) -> str:
    """The text of a file with its mutants; `where` takes the lines of each."""
    functions: dict[tuple[int, int], list[Mutant]] = {}
    for mutant in mutants:
        functions.setdefault(mutant.function, []).append(mutant)
    out, at = "", 0
    for (start, stop), inside in sorted(functions.items()):
        first, last = (start + offset for offset in body(text[start:stop]))
        out += text[at:first] + "\n"
        top = out.count("\n") + 1
        out += "match crate::mutants_of_this_build::active() {\n"
        for mutant in inside:
            a, b = mutant.span
            arm = f"{mutant.number} => {{ {text[first:a]}{mutant.replacement}{text[b:last]} \n}}\n"
            line = out.count("\n") + 1
            where.append((line, line + arm.count("\n") - 1, [mutant.number]))
            out += arm
        out += f"_ => {{ {text[first:last]} \n}}\n}}\n"
        where.append((top, out.count("\n") + 1, [mutant.number for mutant in inside]))
        at = last
    # Each arm would have a copy of what is inlined into it, and that of what is inlined there.
    return (out + text[at:]).replace("#[inline(always)]", "#[inline(never)]")


def build(
    sources: Path,
    part: str,
    originals: dict[str, str],
    left: dict[int, Mutant],
    ends: dict[str, str],
    rest: list[str],
    place: Path,
) -> list[Path]:
    """The test binaries with all mutants in `left`; what is no valid Rust leaves it for `ends` or `rest`."""
    for _ in range(BUILDS):
        made = Build(left)
        for file, text in originals.items():
            inside = [mutant for mutant in left.values() if mutant.file == file]
            (sources / file).write_text(switch(text, inside, made.lines.setdefault(file, [])))
        library = sources / "crates" / part / "src" / "lib.rs"
        library.write_text(library.read_text().split(SWITCH)[0] + SWITCH)
        command = ["cargo", "test", "--package", f"ecnlab-{part}", "--lib", "--tests", "--no-run"]
        command += ["--message-format=json", "--target-dir", str(place / "target")]
        quick = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_OPT_LEVEL": "1", "RUSTFLAGS": "--cap-lints=allow"}
        done = subprocess.run(command, cwd=sources, env=os.environ | quick, capture_output=True, text=True)
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode == 0:
            return [Path(m["executable"]) for m in messages if m.get("executable")]
        errors = [m["message"] for m in messages if m.get("message", {}).get("level") == "error"]
        taken = [take_out(error, made, ends, rest) for error in errors]
        if not any(taken):
            sys.exit("\n".join(error["rendered"] for error in errors) or done.stderr)
    sys.exit(f"{part}: mutants that are no valid Rust after {BUILDS} builds")


def take_out(error: dict[str, Any], made: Build, ends: dict[str, str], rest: list[str]) -> bool:
    """Takes those mutants out of the build that an error is about; whether there were any."""
    for span in error["spans"]:
        for first, last, numbers in made.lines.get(span["file_name"], []):
            if span["is_primary"] and first <= span["line_start"] <= last:
                for mutant in filter(None, (made.mutants.pop(number, None) for number in numbers)):
                    if len(numbers) == 1:
                        ends[mutant.name] = UNVIABLE
                    else:
                        rest.append(mutant.name)
                return True
    return False


def seconds(test: Path, where: Path) -> float:
    """CPU seconds of a test binary with no mutant; it must pass."""
    before = os.times()
    done = subprocess.run([test, *EVERY], cwd=where, env=environment(NONE), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{test.name} fails without a mutant:\n{done.stdout}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def end(mutant: Mutant, limits: dict[Path, int], where: Path) -> str:
    """What becomes of a mutant before the tests, of which those go first that are named for its file."""
    file = Path(mutant.file)
    name = file.parent.name if file.stem == "mod" else file.stem
    for arguments in ([name], []):
        for test, limit in limits.items():
            found = one_run([str(test), *EVERY, *arguments], limit, where, mutant.number)
            if found != MISSED:
                return found
    return MISSED


def one_run(test: list[str], limit: int, where: Path, number: int) -> str:
    """What becomes of a mutant before one test binary, which ends at the first test that fails."""
    command = ["sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", *test]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=where, env=environment(number), stdout=pipe, stderr=nothing, text=True, errors="replace"
    ) as run:
        assert run.stdout is not None
        timer = threading.Timer(HANGS, run.kill)
        timer.start()
        failed = any(line.rstrip().endswith("FAILED") for line in run.stdout)
        timer.cancel()
        if failed:
            run.kill()
            return CAUGHT
    if -run.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return TIMEOUT
    return CAUGHT if run.returncode != 0 else MISSED


def environment(number: int) -> dict[str, str]:
    """One mutant is active."""
    return os.environ | ONCE | {VARIABLE: str(number), "RUST_TEST_THREADS": "1"}

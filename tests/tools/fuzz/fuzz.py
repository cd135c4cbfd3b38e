"""libFuzzer on the targets of crates/fuzz, with coverage, on the stable toolchain.

    fuzz.py run [--seconds N] [TARGET ...]     N seconds in all, split between the targets
    fuzz.py minimise [TARGET ...]              the smallest inputs that reach every edge become the corpus
    fuzz.py add TARGET FILE ...                files become part of the corpus, by their names

The corpus is in tests/data/corpus, an archive for each target; `tar -tf` lists one. `run` unpacks it to build/fuzz/corpus, with the
seeds that crates/fuzz/src/seeds.rs makes, and keeps new inputs in build/fuzz/found. It writes an input that breaks a target to
build/fuzz/crashes, and exits with 1. Otherwise it ends with the coverage marks that neither the corpus nor a kept input reaches.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import archive

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build" / "fuzz"
CORPUS = BUILD / "corpus"
"""The corpus as files, for libFuzzer."""
FLAGS = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
]
"""What makes rustc count edges and hand comparisons to libFuzzer: LLVM's SanitizerCoverage."""
LIMITS = ["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1"]
LONGEST = {"pcap": 8192, "pcapng": 8192, "scenario": 4096, "experiment": 4096, "simulation": 4096}
"""Bytes of an input; 2048 where nothing is said."""
KEPT = {"pcap": 640, "pcapng": 640, "scenario": 768, "experiment": 512, "simulation": 768}
"""Bytes of an input that the corpus in the repository takes; 256 where nothing is said."""


def main() -> None:
    """Carries out the verb."""
    names = archive.targets()
    arguments = parsed(names)
    for name in set(arguments.targets) - set(names):
        sys.exit(f"there is no target {name}: one of {', '.join(names)}")
    targets = arguments.targets or names
    if arguments.verb == "add":
        add(targets[0], arguments.files)
        return
    program = build()
    unpack(targets)
    if arguments.verb == "minimise":
        for target in targets:
            minimise(program, target)
        return
    seconds = max(1, arguments.seconds // len(targets))
    broken = [target for target in targets if not run(program, target, seconds)]
    if broken:
        sys.exit(f"broken: {', '.join(broken)}; the inputs are in {BUILD / 'crashes'}")
    report_marks(targets)


def parsed(names: list[str]) -> argparse.Namespace:
    """The command line: a verb, targets, and what else the verb takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="run | minimise | add")
    for verb in ("run", "minimise"):
        verbs.add_parser(verb).add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(names))
    verbs.choices["run"].add_argument("--seconds", type=int, default=600, help="of the whole run (600)")
    add = verbs.add_parser("add")
    add.add_argument("targets", nargs=1, metavar="TARGET", help=", ".join(names))
    add.add_argument("files", nargs="+", type=Path, metavar="FILE")
    return parser.parse_args()


def add(target: str, files: list[Path]) -> None:
    """Stores files as inputs of a target, by their names."""
    archive.write(target, archive.read(target) | {file.name: file.read_bytes() for file in files})


def unpack(targets: list[str]) -> None:
    """Writes the inputs of targets to files, those that are generated too."""
    for target in targets:
        shutil.rmtree(CORPUS / target, ignore_errors=True)
    command = ["cargo", "run", "--quiet", "--package", "ecnlab-fuzz", "--bin", "corpus", "--", str(CORPUS), *targets]
    subprocess.run(command, cwd=ROOT, check=True)


def build() -> Path:
    """The fuzzer, instrumented. The host is named as a target so that build scripts are not."""
    said = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    host = re.search(r"^host: (\S+)$", said, re.MULTILINE)
    assert host, said
    command = ["cargo", "build", "--quiet", "--profile", "fuzz", "--package", "ecnlab-fuzz", "--features", "libfuzzer"]
    command += ["--bin", "libfuzzer", "--target", host[1], "--target-dir", str(BUILD / "target")]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"RUSTFLAGS": " ".join(FLAGS)})
    return BUILD / "target" / host[1] / "fuzz" / "libfuzzer"


def run(program: Path, target: str, seconds: int) -> bool:
    """Looks for inputs that break the target for so long; whether there was none."""
    found, crashes, log = BUILD / "found" / target, BUILD / "crashes", BUILD / f"{target}.log"
    found.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(parents=True, exist_ok=True)
    command = [program, found, CORPUS / target, f"-max_total_time={seconds}", f"-artifact_prefix={crashes}/{target}-"]
    command += [f"-max_len={LONGEST.get(target, 2048)}", *dictionary(target), *LIMITS]
    with log.open("w") as out:
        code = fuzzer(target, command, out)
    text = log.read_text(errors="replace")
    counted = re.findall(r"^stat::number_of_executed_units: (\d+)", text, re.MULTILINE)
    edges = re.findall(r" cov: (\d+)", text)
    print(
        f"{target}: {counted[-1] if counted else '?'} inputs in {seconds} s, {edges[-1] if edges else '?'} edges, "
        f"{'no find' if code == 0 else f'BROKEN, see {log}'}",
        flush=True,
    )
    return code == 0


def report_marks(targets: list[str]) -> None:
    """Prints the coverage marks that no input of these targets reaches, of the corpus and of ``build/fuzz/found``."""
    command = ["cargo", "run", "--quiet", "--package", "ecnlab-fuzz", "--features", "coverage-marks"]
    command += ["--bin", "reached", "--", str(BUILD / "found"), *targets]
    reached = set(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split())
    named = marks()
    print(f"coverage marks: {len(named & reached)} of {len(named)} reached")
    for name in sorted(named - reached):
        print(f"  never reached: {name}")


def marks() -> set[str]:
    """The names of all coverage marks; those of crates/base are examples."""
    sources = [path for path in ROOT.glob("crates/*/src/**/*.rs") if not path.is_relative_to(ROOT / "crates" / "base")]
    return {name for path in sources for name in re.findall(r'coverage_mark!\("([^"]+)"\)', path.read_text())}


def dictionary(target: str) -> list[str]:
    """Words of the format, for the targets that read text."""
    path = Path(__file__).with_name("toml.dict")
    return [f"-dict={path}"] if target in {"scenario", "experiment", "simulation", "endpoint", "pair", "queue"} else []


def minimise(program: Path, target: str) -> None:
    """Stores few inputs that reach every edge that the corpus and the finds reach. Inputs that have names stay."""
    corpus, found, merged = CORPUS / target, BUILD / "found" / target, BUILD / "merged" / target
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    found.mkdir(parents=True, exist_ok=True)
    for path in corpus.iterdir():
        if not is_found(path.name):
            shutil.copy2(path, merged / path.name)
    with (BUILD / f"{target}-merge.log").open("w") as out:
        command = [program, "-set_cover_merge=1", "-use_counters=0", merged, corpus, found]
        command += [f"-max_len={KEPT.get(target, 256)}", *LIMITS]
        if fuzzer(target, command, out):
            sys.exit(f"{target}: the merge failed, see {out.name}")
    kept = {name: content for name, content in archive.read(target).items() if not is_found(name)}
    kept |= {path.name: path.read_bytes() for path in merged.iterdir() if is_found(path.name)}
    archive.write(target, kept)
    print(f"{target}: {len(kept)} stored inputs of {sum(map(len, kept.values()))} bytes", flush=True)


def is_found(name: str) -> bool:
    """Whether libFuzzer named an input, by its SHA-1."""
    return re.fullmatch("[0-9a-f]{40}", name) is not None


def fuzzer(target: str, command: list[str | Path], out: object) -> int:
    """Runs libFuzzer on a target; its exit code."""
    environment = os.environ | {"ECNLAB_FUZZ_TARGET": target}
    return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=environment).returncode  # type: ignore[call-overload, no-any-return]


if __name__ == "__main__":
    main()

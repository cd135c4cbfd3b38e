"""libFuzzer on the targets of crates/fuzz, with coverage, on the stable toolchain.

    fuzz.py run [--seconds N] [TARGET ...]     N seconds in all, split between the targets
    fuzz.py minimise [TARGET ...]              what was found becomes part of the corpus, and the corpus small

`run` reads the corpus in tests/fuzz/corpus and keeps what it finds beside it in build/fuzz/found. An input that breaks a
target is written to build/fuzz/crashes, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
BUILD = ROOT / "build" / "fuzz"
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
    names = sorted(path.name for path in CORPUS.iterdir())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "minimise"])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(names))
    parser.add_argument("--seconds", type=int, default=600, help="of the whole run (600)")
    # Targets behind an option, as `make fuzz` has them.
    arguments = parser.parse_intermixed_args()
    for name in set(arguments.targets) - set(names):
        parser.error(f"there is no target {name}: one of {', '.join(names)}")
    targets = arguments.targets or names
    program = build()
    if arguments.verb == "minimise":
        for target in targets:
            minimise(program, target)
        return
    seconds = max(1, arguments.seconds // len(targets))
    broken = [target for target in targets if not run(program, target, seconds)]
    if broken:
        sys.exit(f"broken: {', '.join(broken)}; the inputs are in {BUILD / 'crashes'}")


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


def dictionary(target: str) -> list[str]:
    """Words of the format, for the targets that read text."""
    path = ROOT / "tests" / "fuzz" / "toml.dict"
    return [f"-dict={path}"] if target in {"scenario", "experiment", "simulation", "endpoint", "pair", "queue"} else []


def minimise(program: Path, target: str) -> None:
    """Few inputs that reach every edge that the corpus and the finds reach. What was put there by name stays."""
    corpus, merged = CORPUS / target, BUILD / "merged" / target
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    found = BUILD / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    before = [path for path in corpus.iterdir() if not is_found(path)]
    for path in before:
        shutil.copy2(path, merged / path.name)
    with (BUILD / f"{target}-merge.log").open("w") as out:
        command = [program, "-set_cover_merge=1", "-use_counters=0", merged, corpus, found]
        command += [f"-max_len={KEPT.get(target, 256)}", *LIMITS]
        if fuzzer(target, command, out):
            sys.exit(f"{target}: the merge failed, see {out.name}")
    for path in corpus.iterdir():
        if is_found(path):
            path.unlink()
    for path in merged.iterdir():
        if is_found(path):
            shutil.copy2(path, corpus / path.name)
    kept = list(corpus.iterdir())
    print(f"{target}: {len(kept)} inputs of {sum(path.stat().st_size for path in kept)} bytes", flush=True)


def is_found(path: Path) -> bool:
    """Whether libFuzzer named it, by its SHA-1."""
    return re.fullmatch("[0-9a-f]{40}", path.name) is not None


def fuzzer(target: str, command: list[str | Path], out: object) -> int:
    """Runs libFuzzer on a target; its exit code."""
    environment = os.environ | {"ECNLAB_FUZZ_TARGET": target}
    return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=environment).returncode  # type: ignore[call-overload, no-any-return]


if __name__ == "__main__":
    main()

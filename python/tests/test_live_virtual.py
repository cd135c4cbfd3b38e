"""Our TCP and that of the virtual-time kernel: the transfers of crates/live/tests/interop, run inside of it.

Skipped, with a word, where `make linux` has built no kernel. `make live` asks for 100 MB each way and for the figures.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ecnlab.errors import EcnlabError, RunError
from ecnlab.linux.kernel import Kernel, find
from ecnlab.linux.machine import boot

HOUSE = Path(__file__).parents[2]

BYTES = os.environ.get("ECNLAB_LIVE_BYTES")

DELAY_US = 2000
"""Of each way: in virtual time packets would otherwise take none, and windows and timers meant nothing."""

TRANSFERS = 23

ONE = "modern/client/ecn-agreed/both"


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    try:
        return find()
    except EcnlabError as error:
        pytest.skip(f"{error} (`make linux`)")


@pytest.fixture(scope="module")
def program() -> Path:
    """The program of the transfers. Asked of the workspace as `cargo test --workspace` has built it."""
    command = ["cargo", "test", "--workspace", "--test", "interop", "--no-run", "--message-format", "json"]
    done = subprocess.run(
        [*command, *(["--release"] if BYTES else [])], cwd=HOUSE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made = [json.loads(line) for line in done.stdout.splitlines()]
    return next(Path(one["executable"]) for one in made if one.get("executable"))


def transfers(
    kernel: Kernel, program: Path, seed: int, *words: str, delay_us: int = DELAY_US
) -> tuple[str, dict[str, bytes]]:
    """What the transfers have said that ``words`` name, and their captures."""
    size = BYTES or "2000000"
    environment = {
        "BYTES": size,
        "SEED": str(seed),
        "DELAY_US": str(delay_us),
        "CAPTURES": "/out",
    }
    lines = [
        "host live",
        *(f"env ECNLAB_LIVE_{name} {value}" for name, value in environment.items()),
        f"exec live /bin/{program.name} {' '.join(words)}".rstrip(),
        "run 0 0 0 1000000",
    ]
    plan = {"plan": "".join(f"{line}\n" for line in lines)}
    with boot(kernel, plan, seed, 120 + int(size) / 1e5, programs=[program]) as out:
        captures = {path.stem: path.read_bytes() for path in out.glob("*.pcapng")}
        return (out / "setup").read_text(), captures


def test_every_transfer_passes(kernel, program, capsys):
    said, captures = transfers(kernel, program, 1)
    assert f"{TRANSFERS} passed; 0 failed; 0 ignored" in said
    assert len(captures) == TRANSFERS
    if BYTES:
        with capsys.disabled():
            figures = re.findall(r"^test \S+ +\.\.\. (.*)$", said, re.MULTILINE)
            sys.stdout.write("\n".join(["", f"In virtual time, {DELAY_US / 1000:.0f} ms each way:", *figures, ""]))


def test_the_seed_decides_on_every_byte(kernel, program):
    first, again, other = (transfers(kernel, program, seed, "--exact", ONE)[1] for seed in (1, 1, 2))
    assert list(first) == [ONE.replace("/", "_")]
    assert first == again
    assert first != other


def test_a_transfer_that_fails_is_told(kernel, program):
    # No SYN is answered within the day that a packet takes, and in virtual time nobody waits for that.
    with pytest.raises(RunError, match=r"failed in live.*\n(.*\n)*the connection ended early, after 0 bytes"):
        transfers(kernel, program, 1, "--exact", ONE, delay_us=86_400_000_000)

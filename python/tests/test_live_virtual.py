"""Our TCP and that of the virtual-time kernel: the transfers of crates/live/tests/interop, run inside of it.

Skipped, with a word, where `make linux` has built no kernel. `make live` asks for 100 MB each way and for the figures.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import kernel_or_skip, mostly_slow

from ecnlab.base.errors import RunError
from ecnlab.linux.kernel import Kernel
from ecnlab.linux.machine import boot

HOUSE = Path(__file__).parents[2]

BYTES = os.environ.get("ECNLAB_LIVE_BYTES")

TESTS = 25

TSHARK = shutil.which("tshark")


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return kernel_or_skip()


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
    kernel: Kernel, program: Path, seed: int, *words: str, size: str = BYTES or "2000000"
) -> tuple[str, dict[str, bytes]]:
    """What the transfers have said that ``words`` name, and their captures."""
    environment = {"BYTES": size, "SEED": str(seed), "CLOCK": "virtual", "CAPTURES": "/out"}
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


@pytest.mark.slow
def test_every_transfer_passes(kernel, program, capsys):
    said, captures = transfers(kernel, program, 1)
    assert f"{TESTS} passed; 0 failed; 0 ignored" in said
    assert len(captures) == TESTS + 1  # of one both ends
    if BYTES:
        with capsys.disabled():
            figures = re.findall(r"^test \S+ +\.\.\. (.*)$", said, re.MULTILINE)
            sys.stdout.write("\n".join(["", "In virtual time:", *figures, ""]))


@pytest.mark.parametrize(
    "name", mostly_slow(["modern/client/ecn-agreed/both", "becn"], "modern/client/ecn-agreed/both")
)
def test_the_seed_decides_on_every_byte(kernel, program, name):
    first, again, other = (transfers(kernel, program, seed, "--exact", name, size="500000")[1] for seed in (1, 1, 2))
    assert first
    assert first == again
    assert first != other


def test_a_transfer_that_fails_is_told(kernel, program):
    # Too little for the wire to do its worst.
    with pytest.raises(RunError, match=r"failed in live.*\n(.*\n)*the wire did not do its worst"):
        transfers(kernel, program, 1, "--exact", "modern/client/ecn-off/up", size="1000")


@pytest.mark.slow
@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt install tshark)")
def test_tshark_sees_the_source_quenches(kernel, program, tmp_path):
    file = tmp_path / "becn.pcapng"
    file.write_bytes(transfers(kernel, program, 1, "--exact", "becn")[1]["becn_sender"])
    checks = ["-o", "ip.check_checksum:TRUE"]
    fields = ["ip.src", "ip.dst", "icmp.type", "icmp.code", "icmp.checksum.status", "tcp.dstport"]
    words = [TSHARK, "-n", "-r", str(file), *checks, "-Y", "icmp", "-T", "fields", "-E", "occurrence=f"]
    done = subprocess.run(
        [*words, *(word for field in fields for word in ("-e", field))], capture_output=True, text=True, check=True
    )
    # From the router in front of the narrow link to the sender, type 4, a good checksum, about a segment for the receiver.
    assert set(done.stdout.splitlines()) == {"10.0.1.1\t10.0.0.2\t4\t0\t1\t5001"}

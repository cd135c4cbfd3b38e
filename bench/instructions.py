"""Instructions per delivered packet on c's network, by Valgrind's callgrind, as the slope of two run lengths.

The slope between 5 s and 15 s leaves out the start of the program, the reading of the scenario and most of slow start. The
counts do not depend on the load of the machine; they depend on the compiler. The queues and senders are those of `make perf`.

The rows of overflow are d's network with 500 flows and a limit of 1,000 packets in place of 10,000, so that full queues drop
packets all the time: FQ-CoDel with 65,536 queues relative to 64, and CAKE with 8 tins of 1,024 queues (`diffserv8`) relative to
one tin (`besteffort`), in both of which all flows have one tin. If the drop from the longest queue scanned all queues, the ratios
would grow with their number. The target is at most 1.3: a scan of 65,536 queues would take hundreds of times as long.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from measuring import HERE, Options, Row, execute, missing, slope
from perf import with_table, workload

LENGTHS = ("5 s", "15 s")
OVERFLOW_LENGTHS = ("2 s", "4 s")
RED_MAX = 2_300.0
RELATIVE_MAX = 1.3
COMPARED = ("fq_codel", "dualpi2", "cake", "cubic-accecn")
BBR3 = "c with BBRv3 and drop-tail: instructions relative to Reno with the same profile"
FQ_CODEL = 'discipline = "fq_codel"\nlimit = "1000 packets"\nflows = {}'
CAKE = 'discipline = "cake"\nmemory = "2076000 B"\ndiffserv = "{}"'
OVERFLOWING = {
    "overflow of FQ-CoDel: 65,536 queues relative to 64": (FQ_CODEL.format(64), FQ_CODEL.format(65_536)),
    "overflow of CAKE: 8,192 queues relative to 1,024": (CAKE.format("besteffort"), CAKE.format("diffserv8")),
}
"""Tables of the bottleneck's queue with few and with many queues; 1,000 packets are 2,076 bytes each of CAKE's memory."""


def rows(options: Options) -> list[Row]:
    """Return the instructions per packet with RED, and of other queues and senders relative to it."""
    first = "c: instructions per packet"
    if not shutil.which("valgrind"):
        return [missing(first, "valgrind", "valgrind", RED_MAX)]
    text = (HERE / "c.toml").read_text()
    red = per_packet(options, text, LENGTHS)
    found = [Row(first, red, RED_MAX)]
    for name in COMPARED:
        each = per_packet(options, workload(text, name), LENGTHS)
        details = {"instructions_per_packet": each}
        found.append(
            Row(f"c with {name}: instructions relative to RED", each / red, RELATIVE_MAX, "x", details=details)
        )
    return found


def bbr3(options: Options) -> list[Row]:
    """Return the instructions per packet of BBRv3 relative to Reno, with the same queue and the same keys besides."""
    if not shutil.which("valgrind"):
        return [missing(BBR3, "valgrind", "valgrind", RELATIVE_MAX, unit="x")]
    text = workload((HERE / "c.toml").read_text(), "bbr3")
    reno = text.replace('"bbr3"', '"reno"')
    assert reno != text, "the workload bbr3 has no sender of that name"
    texts = {"bbr3": text, "reno": reno}
    figures = {law: per_packet(options, text, LENGTHS) for law, text in texts.items()}
    details = {"instructions_per_packet": figures}
    return [Row(BBR3, figures["bbr3"] / figures["reno"], RELATIVE_MAX, "x", details=details)]


def overflow(options: Options) -> list[Row]:
    """Return the instructions per packet of overflowing queues with many inner queues relative to few."""
    if not shutil.which("valgrind"):
        return [missing(measure, "valgrind", "valgrind", RELATIVE_MAX, unit="x") for measure in OVERFLOWING]
    text = (HERE / "d.toml").read_text()
    found = []
    for measure, tables in OVERFLOWING.items():
        few, many = (per_packet(options, with_table(text, "queue.red", keys), OVERFLOW_LENGTHS) for keys in tables)
        details = {"instructions_per_packet": {"few": few, "many": many}}
        found.append(Row(measure, many / few, RELATIVE_MAX, "x", details=details))
    return found


def per_packet(options: Options, text: str, lengths: tuple[str, str]) -> float:
    """Return the additional instructions per additional packet of the longer of two runs of the scenario ``text``."""
    short, long = (_count(options, with_duration(text, length)) for length in lengths)
    return slope(short, long)


def with_duration(text: str, duration: str) -> str:
    """Return the scenario with another duration."""
    return re.sub(r"^duration = .*", f'duration = "{duration}"', text, flags=re.M)


def _count(options: Options, text: str) -> tuple[int, int]:
    """Return the delivered packets and the instructions of a run."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, counts = Path(folder, "scenario.toml"), Path(folder, "counts")
        scenario.write_text(text)
        counted = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", "--quiet"]
        run = execute([*counted, str(options.binary), str(scenario)])
        return run.result()["packets"], instructions(counts.read_text())


def instructions(counts: str) -> int:
    """Return the total of a file of callgrind's.

    Raises ValueError if the file has no line `summary:` or `totals:`.
    """
    found = re.search(r"^(?:summary|totals):\s*(\d+)", counts, flags=re.M)
    if not found:
        raise ValueError("callgrind's file has no total")
    return int(found[1])

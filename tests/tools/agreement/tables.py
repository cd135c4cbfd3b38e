"""The tables of docs/closed-loops.md from a run of queues.toml.

    ecnlab agree tests/tools/agreement/queues.toml --margin 0.05 --out results/queues-agreement
    python tests/tools/agreement/tables.py results/queues-agreement docs/closed-loops.md

Everything between the page's lines `<!-- tables -->` and `<!-- end of tables -->` is replaced.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

SHOWN = {
    "drops": "drops",
    "marks": "marks",
    "queue": "mean queue",
    "carried": "carried",
    "goodput_ecn": "goodput ECN",
    "goodput_plain": "goodput plain",
}
MARK = {"agrees": "", "open": " o", "differs": " **d**"}
BEGIN, END = "<!-- tables -->\n", "<!-- end of tables -->\n"
FEW = 5.0


def main() -> int:
    """Write the tables of the folder named first into the page named second."""
    rows = pl.read_parquet(Path(sys.argv[1], "agreement.parquet"))
    page = Path(sys.argv[2])
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + "\n".join(lines(rows)) + "\n" + END + rest.split(END)[1])
    return 0


def lines(rows: pl.DataFrame) -> Iterator[str]:
    """The counts of verdicts, then a table for each law and round trip."""
    laws = rows["law"].unique(maintain_order=True).to_list()
    total = {verdict: rows.filter(verdict=verdict).height for verdict in MARK}
    yield (
        f"\nOf {rows.height} rows {total['agrees']} agree, {total['open']} are inconclusive and {total['differs']} differ.\n"
    )
    yield "| law | agree | inconclusive | differ |\n| --- | --- | --- | --- |"
    for law in laws:
        yield f"| {law} | " + " | ".join(str(rows.filter(law=law, verdict=v).height) for v in MARK) + " |"
    yield (
        '\nThe tables have the ratio of simulator to kernel with its 90 % interval. "o" is inconclusive, **d** differs. Where the '
        'kernel\'s mean is\nbelow 5 or the ratio is unbounded, the cell shows both means, simulator : kernel; "none" is none in '
        "either. `retransmits`, which the run\nhas too, follow the drops."
    )
    for law in laws:
        for rtt in rows["rtt"].unique(maintain_order=True):
            yield f"\n**{law}, {rtt}**\n"
            yield "| queue | " + " | ".join(SHOWN.values()) + " |\n" + "| --- " * (len(SHOWN) + 1) + "|"
            cell = rows.filter(law=law, rtt=rtt)
            for queue in cell["queue"].unique(maintain_order=True):
                found = {row["metric"]: row for row in cell.filter(queue=queue).iter_rows(named=True)}
                yield f"| {queue} | " + " | ".join(_cell(name, found[name]) for name in SHOWN) + " |"


def _cell(name: str, row: dict[str, Any]) -> str:
    mark = MARK[row["verdict"]]
    if row["packets"] == row["linux"] == 0:
        return "none"
    if row["linux"] < FEW or not math.isfinite(row["ratio_high"]):
        return f"{row['packets']:.3g} : {row['linux']:.3g}{mark}"
    if name == "carried":
        return f"{row['ratio']:.3f}{mark}"
    return f"{row['ratio']:.2f} ({row['ratio_low']:.2f}-{row['ratio_high']:.2f}){mark}"


if __name__ == "__main__":
    sys.exit(main())
